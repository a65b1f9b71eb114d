// SPDX-License-Identifier: BSL-1.0
// What becomes of the successors of a construct that failed or was cancelled.
#include "support/devices.hpp"
#include "support/gate.hpp"
#include "support/started.hpp"

#include <omp_co/omp_co.hpp>

#include <array>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

namespace failed_dependences_test {

namespace asio = boost::asio;
namespace data = boost::unit_test::data;
using namespace asio::experimental::awaitable_operators;
using namespace omp_co_test;
using omp_co::depend_all;
using omp_co::depend_in;
using omp_co::depend_inout;
using omp_co::depend_out;
using omp_co::errc;
using omp_co::even_if_failed;

auto const aborted = asio::error::operation_aborted;

auto throws_behind(gate& g)
{
    return [p = &g] {
        p->pass();
        throw std::runtime_error("on purpose");
    };
}

BOOST_AUTO_TEST_SUITE(failed_dependences)

// On the same device they are enqueued already, on another one they are not.
BOOST_AUTO_TEST_CASE(successors_fail_and_theirs_too)
{
    test_device const d0(workers(2)), d1(workers(1));
    int x = 0, y = 0, z = 0;
    gate g;
    journal said;
    starter s;
    omp_co::diagnostics why, elsewhere;
    started const& first = s.start(omp_co::target(d0, throws_behind(g), depend_out(x)));
    started const& same = s.start(omp_co::target(d0, said.note(1), depend_inout(x), depend_out(y),
                                                 omp_co::name("same"), omp_co::explain(why)));
    started const& other = s.start(omp_co::target(d1, said.note(2), depend_in(x), depend_out(z),
                                                  omp_co::name("other"), omp_co::explain(elsewhere)));
    started const& third = s.start(omp_co::target(d1, said.note(3), depend_in(y)));
    started const& task = s.start(omp_co::host_task(said.note(4), depend_in(z)));
    started const& all_the_same = s.start(omp_co::target(d1, said.note(5), depend_in(y, z, even_if_failed)));
    started const& behind_it = s.start(omp_co::target(d0, said.note(6), depend_inout(y)));
    BOOST_TEST(g.wait_entered(1));
    g.open();
    (void)s.run();
    BOOST_TEST(first.failed_with(errc::kernel_failed));
    for (started const* each : {&same, &other, &third, &task, &behind_it})
        BOOST_TEST(each->failed_with(errc::predecessor_failed));
    BOOST_TEST(all_the_same.well());
    // The kernel of `same` was on the device already, and may have run.
    for (int k : {2, 3, 4, 6}) BOOST_TEST(!said.says(k));
    BOOST_TEST(said.says(5));
    BOOST_TEST(why.message().find("a region that it depends on failed") != std::string::npos);
    BOOST_TEST(why.message().find("same: ") == 0U);
    BOOST_TEST(elsewhere.message().find("a region that it depends on failed") != std::string::npos);
    // All that is over, and counts no more.
    BOOST_TEST(s.start(omp_co::target(d0, said.note(7), depend_inout(x, y, z))).over() == false);
    (void)s.run();
    BOOST_TEST(said.says(7));
}

// It is behind a region of its device that is enqueued, and behind the host.
BOOST_AUTO_TEST_CASE(a_deferred_successor_on_the_same_device_fails)
{
    test_device const dev(workers(2));
    int x = 0, h = 0;
    gate g;
    journal said;
    starter s;
    omp_co::external_event event;
    started const& first = s.start(omp_co::target(dev, throws_behind(g), depend_out(x)));
    s.start(omp_co::taskwait(depend_out(h), omp_co::detach(event)));
    started const& next = s.start(omp_co::target(dev, said.note(1), depend_in(x, h)));
    BOOST_TEST(g.wait_entered(1));
    g.open();
    BOOST_TEST(eventually([&] {
        s.io.restart();
        s.io.poll();
        return first.over();
    }));
    BOOST_TEST(!next.over());
    event.fulfill();
    (void)s.run();
    BOOST_TEST(first.failed_with(errc::kernel_failed));
    BOOST_TEST(next.failed_with(errc::predecessor_failed));
    BOOST_TEST(said.lines().empty());
}

// What was deferred may be refused when its time has come.
BOOST_AUTO_TEST_CASE(one_that_is_refused_fails_its_successors)
{
    test_device const d0(workers(1)), d1(workers(1));
    std::vector<int> x(4, 0);
    int h = 0;
    journal said;
    starter s;
    omp_co::external_event event;
    omp_co::diagnostics why;
    s.start(omp_co::taskwait(depend_out(h), omp_co::detach(event)));
    started const& refused = s.start(omp_co::target(
        d0, [](int*) {}, omp_co::tofrom(x, omp_co::present), depend_in(h), depend_out(x),
        omp_co::explain(why)));
    started const& same = s.start(omp_co::target(d0, said.note(1), depend_in(x)));
    started const& other = s.start(omp_co::target(d1, said.note(2), depend_in(x)));
    started const& well = s.start(omp_co::target(d1, said.note(3), depend_inout(x, even_if_failed)));
    event.fulfill();
    (void)s.run();
    BOOST_TEST(refused.failed_with(errc::not_present));
    BOOST_TEST(!why.empty());
    BOOST_TEST(same.failed_with(errc::predecessor_failed));
    BOOST_TEST(other.failed_with(errc::predecessor_failed));
    BOOST_TEST(well.well());
    BOOST_TEST((said.lines() == std::vector<int>{3}));
}

enum class fate { cancelled, refused, predecessor_failed };

struct ending {
    char const* name;
    fate what;
    bool everything; ///< it depends on all

    friend std::ostream& operator<<(std::ostream& out, ending const& e) { return out << e.name; }
};

std::array<ending, 6> const endings{{
    {"cancelled", fate::cancelled, false},
    {"refused", fate::refused, false},
    {"its predecessor failed", fate::predecessor_failed, false},
    {"one behind all is cancelled", fate::cancelled, true},
    {"one behind all is refused", fate::refused, true},
    {"what one behind all depends on failed", fate::predecessor_failed, true},
}};

// Of two predecessors one is still at work on the device when it ends without having run: who comes behind it comes behind
// that one too.
BOOST_DATA_TEST_CASE(one_that_never_ran_keeps_its_place, data::make(endings), how)
{
    test_device const d0(workers(2)), d1(workers(1));
    int x = 0, y = 0, h = 0;
    std::vector<int> absent(1, 0);
    gate g;
    journal said;
    starter s;
    omp_co::external_event event;
    started const& at_work = s.start(omp_co::target(d0, said.note_behind(g, 1), depend_in(x)));
    started const& host = s.start(omp_co::taskwait(depend_out(h), omp_co::detach(event)));
    started* const middle = &[&]() -> started& {
        auto const never = [p = &said](int*) { p->add(2); };
        if (how.everything) {
            if (how.what == fate::refused)
                return s.start(
                    omp_co::target(d0, never, omp_co::tofrom(absent, omp_co::present), depend_all()));
            return s.start(omp_co::target(d0, said.note(2), depend_all()));
        }
        if (how.what == fate::refused)
            return s.start(omp_co::target(d0, never, omp_co::tofrom(absent, omp_co::present), depend_in(h),
                                          depend_out(x, y)));
        return s.start(omp_co::target(d0, said.note(2), depend_in(h), depend_out(x, y)));
    }();
    started const& other = s.start(omp_co::target(d1, said.note(3), depend_in(y, even_if_failed)));
    started const& same = s.start(omp_co::target(d0, said.note(4), depend_in(y, even_if_failed)));
    started const& fails = s.start(omp_co::target(d1, said.note(5), depend_in(y)));
    BOOST_TEST(g.wait_entered(1));
    if (how.what == fate::cancelled) {
        middle->cancel();
        s.io.restart();
        s.io.poll();
        BOOST_TEST(middle->failed_with(aborted)); // though what it depends on goes on
        BOOST_TEST(!fails.over());
    }
    event.fulfill(how.what == fate::predecessor_failed ? make_error_code(errc::kernel_failed)
                                                       : omp_co::error_code());
    BOOST_TEST(eventually([&] {
        s.io.restart();
        s.io.poll();
        return middle->over() && host.over();
    }));
    // One that starts only now is behind it as well.
    started const& late = s.start(omp_co::target(d1, said.note(6), depend_in(y, even_if_failed)));
    started const& afresh =
        s.start(omp_co::target(d1, said.note(7), depend_in(y))); // but that failure is past
    leave_time_to_do_it_wrong();
    s.io.restart();
    s.io.poll();
    BOOST_TEST(said.lines().empty());
    g.open();
    (void)s.run();
    BOOST_TEST(at_work.well());
    if (how.what == fate::cancelled) BOOST_TEST(middle->failed_with(aborted));
    if (how.what == fate::refused) BOOST_TEST(middle->failed_with(errc::not_present));
    if (how.what == fate::predecessor_failed) BOOST_TEST(middle->failed_with(errc::predecessor_failed));
    BOOST_TEST(other.well());
    BOOST_TEST(same.well());
    BOOST_TEST(late.well());
    BOOST_TEST(afresh.well());
    BOOST_TEST(fails.failed_with(errc::predecessor_failed));
    BOOST_TEST(said.at(1) == 0U);
    BOOST_TEST(said.lines().size() == 5U);
}

// It is its await alone that ends with operation_aborted.
BOOST_AUTO_TEST_CASE(cancelling_an_accepted_one_fails_no_successor)
{
    test_device const d0(workers(1)), d1(workers(1));
    int x = 0;
    gate g;
    journal said;
    starter s;
    started& first = s.start(omp_co::target(d0, said.note_behind(g, 1), depend_out(x)));
    started const& other = s.start(omp_co::target(d1, said.note(2), depend_inout(x)));
    started const& task = s.start(omp_co::host_task(said.note(3), depend_in(x)));
    BOOST_TEST(g.wait_entered(1));
    first.cancel();
    s.io.poll();
    BOOST_TEST(!first.over());
    g.open();
    (void)s.run();
    BOOST_TEST(first.failed_with(aborted));
    BOOST_TEST(other.well());
    BOOST_TEST(task.well());
    BOOST_TEST((said.lines() == std::vector<int>{1, 2, 3}));
}

// Also by total cancellation: it has had no effect.
BOOST_AUTO_TEST_CASE(a_deferred_one_ends_by_its_slot)
{
    test_device const dev(workers(1));
    int h = 0;
    journal said;
    starter s;
    omp_co::external_event event;
    s.start(omp_co::taskwait(depend_out(h), omp_co::detach(event)));
    started& next = s.start(omp_co::target(dev, said.note(1), depend_inout(h)));
    started& task = s.start(omp_co::host_task(said.note(2), depend_inout(h)));
    next.signal.emit(asio::cancellation_type::total);
    s.io.poll();
    BOOST_TEST(next.failed_with(aborted));
    task.cancel();
    s.io.poll();
    BOOST_TEST(task.failed_with(aborted));
    event.fulfill();
    (void)s.run();
    next.cancel(); // too late, and harmless
    BOOST_TEST(said.lines().empty());
}

BOOST_AUTO_TEST_CASE(cancelling_a_group_ends_its_deferred_members)
{
    test_device const dev(workers(1));
    int h = 0;
    journal said;
    starter s;
    omp_co::external_event event;
    started const& host = s.start(omp_co::taskwait(depend_out(h), omp_co::detach(event)));
    omp_co::task_group group(s.io.get_executor());
    for (int k = 0; k < 3; ++k) group.spawn(omp_co::target(dev, said.note(k), depend_inout(h)));
    group.spawn(omp_co::host_task(said.note(3), depend_in(h)));
    test_device const other(workers(1));
    auto const here = omp_co::sync_wait(omp_co::allocate<int>(dev, 1));
    auto const there = omp_co::sync_wait(omp_co::allocate<int>(other, 1));
    int copied = 5;
    group.spawn(omp_co::target_memcpy(there, here, depend_in(h)));
    group.spawn(omp_co::target_memcpy(omp_co::section(&copied, 0, 1), here, depend_in(h)));
    omp_co::queue q(dev);
    group.spawn(omp_co::target(q, said.note(4), depend_inout(h)));
    group.spawn(omp_co::target(q, said.note(5)));
    started const& waited = s.start(group.wait());
    group.cancel();
    BOOST_TEST(eventually([&] {
        s.io.restart();
        s.io.poll();
        return waited.over();
    }));
    BOOST_TEST(waited.failed_with(aborted));
    BOOST_TEST(!host.over());
    event.fulfill();
    (void)s.run();
    BOOST_TEST(host.well());
    BOOST_TEST(said.lines().empty());
    BOOST_TEST(copied == 5);
    BOOST_TEST(other.get().statistics().in_flight == 0U);
}

asio::awaitable<void> until_timer(asio::io_context& io, omp_co::device dev, journal& said, int& h,
                                  bool& timed)
{
    asio::steady_timer timer(io, std::chrono::milliseconds(1));
    auto const op = omp_co::target(dev, said.note(1), depend_inout(h));
    auto const won = co_await (op(asio::use_awaitable) || timer.async_wait(asio::use_awaitable));
    timed = won.index() == 1;
}

BOOST_AUTO_TEST_CASE(a_timer_ends_a_deferred_one_and_its_successors_fail)
{
    test_device const dev(workers(1));
    int h = 0;
    journal said;
    starter s;
    omp_co::external_event event;
    bool timed = false;
    started const& host = s.start(omp_co::taskwait(depend_out(h), omp_co::detach(event)));
    asio::co_spawn(s.io, until_timer(s.io, dev, said, h, timed),
                   [](std::exception_ptr e) { BOOST_TEST(!e); });
    s.io.poll(); // it has its place
    started const& next = s.start(omp_co::target(dev, said.note(2), depend_inout(h)));
    BOOST_TEST(eventually([&] {
        s.io.restart();
        s.io.poll();
        return timed;
    }));
    BOOST_TEST(!host.over());
    event.fulfill();
    (void)s.run();
    BOOST_TEST(next.failed_with(errc::predecessor_failed));
    BOOST_TEST(said.lines().empty());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace failed_dependences_test
