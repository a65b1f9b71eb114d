// SPDX-License-Identifier: BSL-1.0
// Constructs of queues with depend clauses, and those that run on the host: what is deferred keeps its place in its queue.
#include "support/bound_handler.hpp"
#include "support/devices.hpp"
#include "support/outcome.hpp"
#include "support/pending.hpp"
#include "support/settle.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <exception>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace queue_depend_test {

namespace asio = boost::asio;
namespace data = boost::unit_test::data;
using namespace omp_co_test;
using omp_co::errc;
using omp_co::error_code;

auto const twice = [](std::size_t i, int* p) { p[i] *= 2; };
auto const five_more = [](std::size_t i, int* p) { p[i] += 5; };

BOOST_AUTO_TEST_SUITE(queue_depend)

BOOST_DATA_TEST_CASE(one_that_waits_for_the_host_keeps_those_behind_it, data::make({0U, 1U, 2U}), n)
{
    test_device const dev(workers(n));
    std::vector<int> v(64, 1);
    int flag = 0;
    omp_co::queue q(dev);
    BOOST_TEST(early(omp_co::target_enter_data(q, omp_co::to(v))));
    omp_co::external_event ready;
    pending task(omp_co::host_task([] {}, omp_co::detach(ready), omp_co::depend_out(flag)));
    pending a(omp_co::target(q, twice, omp_co::range(64), omp_co::tofrom(v), omp_co::depend_in(flag))); // 2
    pending b(omp_co::target(q, five_more, omp_co::range(64), omp_co::tofrom(v)));                      // 7
    pending c(q.synchronize());
    pending beside(
        omp_co::target(dev, twice, omp_co::range(64), omp_co::tofrom(v))); // has its place before them
    BOOST_TEST(beside.ends_well());                                        // 2
    BOOST_TEST(a.stays());
    BOOST_TEST(b.stays());
    BOOST_TEST(c.stays());
    ready.fulfill();
    for (pending* p : {&task, &a, &b, &c}) BOOST_TEST(p->ends_well());
    BOOST_TEST(early(omp_co::target(q, twice, omp_co::range(64), omp_co::tofrom(v))));
    BOOST_TEST(!outcome(omp_co::target_exit_data(q, omp_co::from(v))));
    BOOST_TEST(v[5] == 18);
}

// depend_all() is about what has depend clauses. A queue's constructs may have places in the same graph for other reasons.
BOOST_DATA_TEST_CASE(what_has_no_clause_does_not_come_behind_all, data::make({0U, 1U, 2U}), n)
{
    test_device const dev(workers(n));
    test_device const other(workers(1));
    omp_co::queue q(dev);
    omp_co::device_buffer<int> const here = omp_co::sync_wait(omp_co::allocate<int>(dev, 8));
    omp_co::device_buffer<int> const there = omp_co::sync_wait(omp_co::allocate<int>(other, 8));
    omp_co::external_event event;
    pending all(omp_co::host_task([] {}, omp_co::depend_all(), omp_co::detach(event)));
    BOOST_TEST(!outcome(omp_co::target(
        q, [] {}, omp_co::if_(false))));
    BOOST_TEST(!outcome(omp_co::target_memcpy(q, here, there)));
    BOOST_TEST(!outcome(q.synchronize()));
    BOOST_TEST(all.stays());
    event.fulfill(make_error_code(errc::kernel_failed));
    BOOST_TEST(all.ends());
}

BOOST_DATA_TEST_CASE(all_do_not_fail_for_what_has_no_clause, data::make({0U, 1U, 2U}), n)
{
    test_device const dev(workers(n));
    omp_co::queue q(dev);
    int flag = 0;
    omp_co::external_event event;
    pending task(omp_co::taskwait(omp_co::depend_out(flag), omp_co::detach(event)));
    pending first(omp_co::target(
        q, [] {}, omp_co::depend_in(flag)));
    pending throwing(omp_co::target(
        q, [] { throw 1; }, omp_co::if_(false))); // behind it in the queue
    pending all(omp_co::taskwait(omp_co::depend_all()));
    BOOST_TEST(all.stays());
    event.fulfill();
    BOOST_TEST(task.ends_well());
    BOOST_TEST(first.ends_well());
    BOOST_TEST(throwing.ends());
    BOOST_TEST((throwing.code() == errc::kernel_failed));
    BOOST_TEST(all.ends_well());
}

BOOST_DATA_TEST_CASE(one_that_is_cancelled_while_it_waits_lets_the_others_go, data::make({0U, 1U, 2U}), n)
{
    test_device const dev(workers(n));
    std::vector<int> v(64, 1);
    int flag = 0;
    omp_co::queue q(dev);
    BOOST_TEST(early(omp_co::target_enter_data(q, omp_co::to(v))));
    omp_co::external_event ready;
    pending task(omp_co::host_task([] {}, omp_co::detach(ready), omp_co::depend_out(flag)));
    asio::io_context io;
    asio::cancellation_signal signal;
    error_code told;
    omp_co::target(q, twice, omp_co::range(64), omp_co::tofrom(v),
                   omp_co::depend_in(flag))(bound(signal.slot(), io, [&](error_code ec) { told = ec; }));
    pending b(omp_co::target(q, five_more, omp_co::range(64), omp_co::tofrom(v))); // 6
    BOOST_TEST(b.stays());
    signal.emit(asio::cancellation_type::terminal);
    io.run();
    BOOST_TEST((told == asio::error::operation_aborted));
    BOOST_TEST(b.ends_well()); // although the task has not ended
    BOOST_TEST(early(omp_co::target(q, twice, omp_co::range(64), omp_co::tofrom(v)))); // 12
    BOOST_TEST(!outcome(omp_co::target_update(q, omp_co::from(v))));
    BOOST_TEST(v[5] == 12);
    ready.fulfill();
    BOOST_TEST(task.ends_well());
}

// The order is that of all before it, not only of the one that has gone.
BOOST_DATA_TEST_CASE(one_that_is_cancelled_lets_nobody_overtake, data::make({0U, 1U, 2U}), n)
{
    test_device const dev(workers(n));
    std::vector<int> v(64, 1);
    int flag = 0;
    int other = 0;
    omp_co::queue q(dev);
    BOOST_TEST(early(omp_co::target_enter_data(q, omp_co::to(v))));
    omp_co::external_event ready;
    omp_co::external_event never;
    pending task(omp_co::host_task([] {}, omp_co::detach(ready), omp_co::depend_out(flag)));
    pending second(omp_co::host_task([] {}, omp_co::detach(never), omp_co::depend_out(other)));
    pending a(omp_co::target(q, twice, omp_co::range(64), omp_co::tofrom(v), omp_co::depend_in(flag))); // 2
    asio::io_context io;
    asio::cancellation_signal signal;
    error_code told;
    omp_co::target(q, twice, omp_co::range(64), omp_co::tofrom(v),
                   omp_co::depend_in(other))(bound(signal.slot(), io, [&](error_code ec) { told = ec; }));
    pending c(omp_co::target(q, five_more, omp_co::range(64), omp_co::tofrom(v))); // 7
    signal.emit(asio::cancellation_type::terminal);
    io.run();
    BOOST_TEST((told == asio::error::operation_aborted));
    BOOST_TEST(c.stays());
    pending d(omp_co::target(q, twice, omp_co::range(64), omp_co::tofrom(v))); // 14
    BOOST_TEST(d.stays());
    ready.fulfill();
    for (pending* p : {&task, &a, &c, &d}) BOOST_TEST(p->ends_well());
    BOOST_TEST(!outcome(omp_co::target_update(q, omp_co::from(v))));
    BOOST_TEST(v[5] == 14);
    never.fulfill();
    BOOST_TEST(second.ends_well());
}

// Also where the end must wait for what its queue has before it.
BOOST_DATA_TEST_CASE(the_end_of_a_data_region_cannot_be_cancelled, data::make({false, true}), total)
{
    test_device const dev(workers(1));
    std::vector<int> v(64, 1);
    int flag = 0;
    omp_co::queue q(dev);
    omp_co::external_event ready;
    pending task(omp_co::host_task([] {}, omp_co::detach(ready), omp_co::depend_out(flag)));
    std::optional<pending> inside;
    auto body = [&]() -> asio::awaitable<void> {
        inside.emplace(
            omp_co::target(q, twice, omp_co::range(64), omp_co::tofrom(v), omp_co::depend_in(flag)));
        co_return;
    };
    asio::io_context io;
    asio::cancellation_signal signal;
    std::optional<bool> well;
    asio::co_spawn(
        io, omp_co::target_data(q, omp_co::tofrom(v), body),
        asio::bind_cancellation_slot(signal.slot(), [&](std::exception_ptr e) { well = e == nullptr; }));
    BOOST_TEST(eventually([&] {
        io.poll();
        return inside.has_value();
    }));
    io.poll();
    signal.emit(total ? asio::cancellation_type::total : asio::cancellation_type::terminal);
    io.poll();
    BOOST_TEST(!well.has_value());
    ready.fulfill();
    BOOST_TEST(task.ends_well());
    BOOST_TEST(inside->ends_well());
    BOOST_TEST(eventually([&] {
        io.restart();
        io.poll();
        return well.has_value();
    }));
    BOOST_TEST(well.value_or(false));
    BOOST_TEST(v[0] == 2);
    BOOST_TEST(!dev.get().is_present(v.data()));
}

// Its loop goes, and the end does not come: the counts are dropped.
BOOST_AUTO_TEST_CASE(an_end_that_waits_when_its_loop_goes_drops_the_counts)
{
    test_device const dev(workers(1));
    std::vector<int> v(64, 1);
    int flag = 0;
    omp_co::queue q(dev);
    omp_co::external_event ready;
    pending task(omp_co::host_task([] {}, omp_co::detach(ready), omp_co::depend_out(flag)));
    BOOST_TEST(!outcome(omp_co::target_enter_data(dev, omp_co::to(v))));
    std::optional<pending> inside;
    {
        asio::io_context io;
        auto body = [&]() -> asio::awaitable<void> {
            inside.emplace(omp_co::target(
                q, [] {}, omp_co::depend_in(flag)));
            co_return;
        };
        asio::co_spawn(io, omp_co::target_data(q, omp_co::to(v), body), asio::detached);
        BOOST_TEST(eventually([&] {
            io.poll();
            return inside.has_value();
        }));
        io.poll();
    }
    ready.fulfill();
    BOOST_TEST(task.ends_well());
    BOOST_TEST(inside->ends_well());
    BOOST_TEST(settle(dev));
    BOOST_TEST(dev.get().is_present(v.data()));
    BOOST_TEST(!outcome(omp_co::target_exit_data(dev, omp_co::release(v))));
    BOOST_TEST(!dev.get().is_present(v.data()));
    BOOST_TEST(dev.get().statistics().device_bytes == 0U);
}

// Cancelled while it waits, it gives its place to what runs on the host, whose end ends what depends on that.
BOOST_DATA_TEST_CASE(what_runs_on_the_host_behind_a_cancelled_one_has_ended_when_it_has,
                     data::make({0U, 1U, 2U}), n)
{
    test_device const dev(workers(n));
    int flag = 0;
    int y = 0;
    omp_co::queue q(dev);
    omp_co::external_event ready;
    pending task(omp_co::host_task([] {}, omp_co::detach(ready), omp_co::depend_out(flag)));
    asio::io_context io;
    asio::cancellation_signal signal;
    std::optional<error_code> cancelled;
    omp_co::target(
        q, [] {}, omp_co::depend_in(flag))(asio::bind_cancellation_slot(
        signal.slot(), asio::bind_executor(io, [&](error_code ec) { cancelled = ec; })));
    pending here(omp_co::target(
        q, [] {}, omp_co::if_(false), omp_co::depend_out(y)));
    pending after(omp_co::target(
        dev, [] {}, omp_co::depend_in(y)));
    BOOST_TEST(after.stays());
    signal.emit(asio::cancellation_type::total);
    io.run();
    BOOST_TEST((cancelled == asio::error::operation_aborted));
    BOOST_TEST(here.ends_well());
    BOOST_TEST(after.ends_well());
    ready.fulfill();
    BOOST_TEST(task.ends_well());
    BOOST_TEST(!outcome(q.synchronize()));
}

// What was refused has no place in the order, also while what it depends on is in flight.
BOOST_AUTO_TEST_CASE(one_that_is_refused_holds_nobody_up)
{
    test_device const dev(workers(1));
    gate g;
    std::vector<int> v(64, 1);
    int flag = 0;
    int other = 0;
    omp_co::queue q(dev);
    BOOST_TEST(early(omp_co::target_enter_data(q, omp_co::to(v))));
    BOOST_TEST(early(omp_co::target(q, g.kernel(), omp_co::tofrom(v), omp_co::depend_out(flag))));
    pending refused(omp_co::target(q, twice, omp_co::range(1), omp_co::tofrom(other, omp_co::present),
                                   omp_co::depend_in(flag)));
    BOOST_TEST(refused.ends());
    BOOST_TEST((refused.code() == errc::not_present), refused.code().message());
    pending next(omp_co::target(q, twice, omp_co::range(64), omp_co::tofrom(v), omp_co::depend_out(other)));
    BOOST_TEST(next.ends_well());
    g.open();
    BOOST_TEST(!outcome(omp_co::target_exit_data(q, omp_co::from(v))));
    BOOST_TEST(v[0] == 4);
}

// Its data is where it is, and it is waited for.
BOOST_DATA_TEST_CASE(a_construct_that_runs_on_the_host_has_its_place_too, data::make({0U, 1U, 2U}), n)
{
    test_device const dev(workers(n));
    gate g;
    if (n == 0) g.open();
    std::vector<int> v(64, 1);
    std::thread::id where;
    int on_host = 0;
    omp_co::queue q(dev);
    BOOST_TEST(early(omp_co::target_enter_data(q, omp_co::to(v))));
    BOOST_TEST(early(omp_co::target(q, g.kernel(), omp_co::tofrom(v)))); // 2
    pending back(omp_co::target_update(q, omp_co::from(v)));
    auto const look = [](int const* p, int* seen, std::thread::id* id) {
        *seen = p[0];
        *id = std::this_thread::get_id();
    };
    pending here(omp_co::target(q, look, omp_co::to(v), omp_co::from(on_host), omp_co::from(where),
                                omp_co::if_(false)));
    pending behind(omp_co::target(q, twice, omp_co::range(64), omp_co::tofrom(v))); // 4
    if (n != 0) {
        BOOST_TEST(here.stays());
        BOOST_TEST(behind.stays());
    }
    g.open();
    for (pending* p : {&back, &here, &behind}) BOOST_TEST(p->ends_well());
    BOOST_TEST(on_host == 2);
    BOOST_TEST((where != std::thread::id()));
    pending nothing(omp_co::target_update(q, omp_co::to(v), omp_co::if_(false)));
    BOOST_TEST(nothing.ends_well());
    BOOST_TEST(early(omp_co::target(q, [] { throw 1; })));
    omp_co::diagnostics why;
    pending not_run(omp_co::target(q, look, omp_co::to(v), omp_co::from(on_host), omp_co::from(where),
                                   omp_co::if_(false), omp_co::explain(why)));
    BOOST_TEST(not_run.ends());
    BOOST_TEST((not_run.code() == errc::kernel_failed), not_run.code().message());
    BOOST_TEST(!why.empty());
    pending fails(omp_co::target(
        q, [] { throw 1; }, omp_co::if_(false)));
    BOOST_TEST(fails.ends());
    BOOST_TEST((fails.code() == errc::kernel_failed), fails.code().message());
    BOOST_TEST(early(omp_co::target(q, twice, omp_co::range(64), omp_co::tofrom(v)))); // 8: it was told
    BOOST_TEST(!outcome(omp_co::target_exit_data(q, omp_co::from(v))));
    BOOST_TEST(v[0] == 8);
    BOOST_TEST(on_host == 2);
}

// It never had a place in the queue.
BOOST_AUTO_TEST_CASE(one_whose_predecessor_fails_says_so_and_stops_nothing)
{
    test_device const dev(workers(1));
    std::vector<int> v(64, 1);
    int flag = 0;
    omp_co::queue q(dev);
    BOOST_TEST(early(omp_co::target_enter_data(q, omp_co::to(v))));
    omp_co::external_event ready;
    pending task(omp_co::host_task([] {}, omp_co::detach(ready), omp_co::depend_out(flag)));
    omp_co::diagnostics why;
    pending a(omp_co::target(q, twice, omp_co::range(64), omp_co::tofrom(v), omp_co::depend_in(flag),
                             omp_co::explain(why)));
    pending b(omp_co::target(q, five_more, omp_co::range(64), omp_co::tofrom(v))); // 6
    ready.fulfill(make_error_code(errc::invalid_argument));
    BOOST_TEST(task.ends());
    BOOST_TEST(a.ends());
    BOOST_TEST((a.code() == errc::predecessor_failed), a.code().message());
    BOOST_TEST(!why.empty());
    BOOST_TEST(b.ends_well());
    BOOST_TEST(!outcome(omp_co::target_exit_data(q, omp_co::from(v))));
    BOOST_TEST(v[5] == 6);
}

// It was started when nobody knew of the failure, so it relies on what was skipped. What is started afterwards does not.
BOOST_DATA_TEST_CASE(what_waits_while_a_failure_is_told_is_skipped, data::make({1U, 2U}), n)
{
    test_device const dev(workers(n));
    gate g;
    std::vector<int> v(64, 1);
    int flag = 0;
    bool on_host = false;
    omp_co::queue q(dev);
    BOOST_TEST(early(omp_co::target_enter_data(q, omp_co::to(v))));
    BOOST_TEST(early(omp_co::target(q, g.failing())));
    pending told(q.synchronize());
    omp_co::external_event ready;
    pending task(omp_co::host_task([] {}, omp_co::detach(ready), omp_co::depend_out(flag)));
    omp_co::diagnostics why;
    pending a(omp_co::target(q, twice, omp_co::range(64), omp_co::tofrom(v), omp_co::depend_in(flag),
                             omp_co::explain(why)));
    pending here(omp_co::target(
        q, [&] { on_host = true; }, omp_co::if_(false)));
    pending b(omp_co::target(q, twice, omp_co::range(64), omp_co::tofrom(v)));
    g.open();
    BOOST_TEST(told.ends());
    BOOST_TEST((told.code() == errc::kernel_failed), told.code().message());
    pending c(omp_co::target(q, five_more, omp_co::range(64), omp_co::tofrom(v))); // 6
    BOOST_TEST(a.stays());
    BOOST_TEST(c.stays());
    ready.fulfill();
    BOOST_TEST(task.ends_well());
    for (pending* p : {&a, &here, &b}) {
        BOOST_TEST(p->ends());
        BOOST_TEST((p->code() == errc::predecessor_failed), p->code().message());
    }
    BOOST_TEST(why.message().find("queue") != std::string::npos, why.message());
    BOOST_TEST(c.ends_well());
    BOOST_TEST(!outcome(q.synchronize()));
    BOOST_TEST(!outcome(omp_co::target_exit_data(q, omp_co::from(v))));
    BOOST_TEST(v[5] == 6);
    BOOST_TEST(!on_host);
    BOOST_TEST(settle(dev));
    BOOST_TEST(dev.get().statistics().device_bytes == 0U);
}

// What a failure skipped may be heard of late, by one that runs well. That is no new failure: what is started behind goes on.
BOOST_DATA_TEST_CASE(what_was_skipped_and_is_told_late_skips_nothing_more, data::make({1U, 2U}), n)
{
    test_device const dev(workers(n));
    gate g;
    gate at_work;
    std::vector<int> v(64, 1);
    int flag = 0;
    omp_co::queue q(dev);
    BOOST_TEST(early(omp_co::target_enter_data(q, omp_co::to(v))));
    BOOST_TEST(early(omp_co::target(q, g.failing())));
    pending told(q.synchronize());
    BOOST_TEST(early(omp_co::target(q, twice, omp_co::range(64), omp_co::tofrom(v)))); // skipped
    g.open();
    BOOST_TEST(told.ends());
    BOOST_TEST((told.code() == errc::kernel_failed), told.code().message());
    BOOST_TEST(settle(dev));
    pending late(q.synchronize());
    BOOST_TEST(early(omp_co::target(q, at_work.kernel(), omp_co::tofrom(v)))); // 2
    omp_co::external_event ready;
    pending task(omp_co::host_task([] {}, omp_co::detach(ready), omp_co::depend_out(flag)));
    pending deferred(
        omp_co::target(q, five_more, omp_co::range(64), omp_co::tofrom(v), omp_co::depend_in(flag))); // 7
    pending all(q.synchronize());
    BOOST_TEST(late.ends());
    BOOST_TEST((late.code() == errc::predecessor_failed), late.code().message());
    ready.fulfill();
    BOOST_TEST(task.ends_well());
    BOOST_TEST(all.stays()); // one is at work
    at_work.open();
    BOOST_TEST(deferred.ends_well());
    BOOST_TEST(all.ends_well());
    BOOST_TEST(!outcome(omp_co::target_exit_data(q, omp_co::from(v))));
    BOOST_TEST(v[0] == 7);
}

// Nobody else ends the mapping.
BOOST_DATA_TEST_CASE(an_end_that_waits_while_a_failure_is_told_ends_the_mapping_and_copies_nothing,
                     data::make({1U, 2U}), n)
{
    test_device const dev(workers(n));
    gate g;
    std::vector<int> v(64, 1);
    int flag = 0;
    omp_co::queue q(dev);
    omp_co::external_event ready;
    pending task(omp_co::host_task([] {}, omp_co::detach(ready), omp_co::depend_out(flag)));
    auto const bad = [gp = &g](int* p) {
        p[0] = 7;
        gp->pass();
        throw 1;
    };
    std::optional<pending> told;
    std::optional<pending> deferred;
    std::optional<error_code> end;
    asio::io_context io;
    auto body = [&]() -> asio::awaitable<void> {
        co_await omp_co::target(q, bad, omp_co::tofrom(v));
        told.emplace(q.synchronize());
        deferred.emplace(omp_co::target(
            q, [] {}, omp_co::depend_in(flag)));
    };
    asio::co_spawn(io, omp_co::target_data(q, omp_co::tofrom(v), body), [&](std::exception_ptr e) {
        end.emplace();
        try {
            if (e) std::rethrow_exception(e);
        } catch (boost::system::system_error const& failed) {
            end = failed.code();
        }
    });
    BOOST_TEST(eventually([&] {
        io.poll();
        return deferred.has_value();
    }));
    io.poll();
    g.open();
    BOOST_TEST(told->ends());
    BOOST_TEST((told->code() == errc::kernel_failed), told->code().message());
    ready.fulfill();
    BOOST_TEST(task.ends_well());
    BOOST_TEST(deferred->ends());
    BOOST_TEST((deferred->code() == errc::predecessor_failed), deferred->code().message());
    BOOST_TEST(eventually([&] {
        io.poll();
        return end.has_value();
    }));
    BOOST_TEST((end == errc::predecessor_failed));
    BOOST_TEST(v[0] == 1);
    BOOST_TEST(!dev.get().is_present(v.data()));
    BOOST_TEST(
        !outcome(omp_co::target(q, twice, omp_co::range(64), omp_co::tofrom(v)))); // it stopped nothing
    BOOST_TEST(v[0] == 2);
    BOOST_TEST(settle(dev));
    BOOST_TEST(dev.get().statistics().device_bytes == 0U);
}

// A dependence names what a construct does, not when its await is over.
BOOST_DATA_TEST_CASE(successors_wait_for_the_work_and_not_for_the_await, data::make({false, true}), fails)
{
    test_device const dev(workers(2));
    test_device const other(workers(1));
    gate g;
    std::vector<int> v(64, 1);
    int flag = 0;
    bool ran = false;
    omp_co::queue q(dev);
    omp_co::queue elsewhere(other);
    BOOST_TEST(early(omp_co::target(
        q,
        [gp = &g, fails] {
            gp->pass();
            if (fails) throw 1;
        },
        omp_co::depend_out(flag))));
    auto const note = [&] { ran = true; };
    pending task(omp_co::host_task(note, omp_co::depend_in(flag)));
    pending there(
        omp_co::target(elsewhere, five_more, omp_co::range(64), omp_co::tofrom(v), omp_co::depend_in(flag)));
    pending here(omp_co::target(
        dev, [] {}, omp_co::depend_in(flag)));
    BOOST_TEST(task.stays());
    BOOST_TEST(there.stays());
    BOOST_TEST(here.stays());
    g.open();
    for (pending* p : {&task, &there, &here}) {
        BOOST_TEST(p->ends());
        BOOST_TEST((p->code() == (fails ? make_error_code(errc::predecessor_failed) : error_code())),
                   p->code().message());
    }
    BOOST_TEST(ran == !fails);
    BOOST_TEST(v[0] == (fails ? 1 : 6));
    BOOST_TEST(!!outcome(q.synchronize()) == fails);
}

// Each is the next one's turn: not a call deeper each.
BOOST_DATA_TEST_CASE(any_number_of_constructs_on_the_host_wait_in_turn, data::make({0U, 1U}), n)
{
    test_device const dev(workers(n));
    int flag = 0;
    omp_co::queue const q(dev);
    omp_co::external_event event;
    pending task(omp_co::host_task([] {}, omp_co::detach(event), omp_co::depend_out(flag)));
    asio::io_context io;
    omp_co::task_group group(io.get_executor());
    group.spawn(omp_co::target(
        q, [] {}, omp_co::depend_in(flag), omp_co::if_(false)));
    for (int i = 0; i < 20'000; ++i)
        group.spawn(omp_co::target(
            q, [] {}, omp_co::if_(false)));
    pending all(group.wait());
    event.fulfill();
    BOOST_TEST(task.ends_well());
    io.run();
    BOOST_TEST(all.ends_well());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace queue_depend_test
