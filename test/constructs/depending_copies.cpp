// SPDX-License-Identifier: BSL-1.0
// depend clauses of target_memcpy, target_memcpy_rect and target_memset, on one device and between two.
#include "support/devices.hpp"
#include "support/gate.hpp"
#include "support/sanitizers.hpp"
#include "support/started.hpp"

#include <omp_co/omp_co.hpp>

#include <boost/asio/error.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <optional>
#include <vector>

namespace depending_copies_test {

namespace asio = boost::asio;
namespace data = boost::unit_test::data;
using namespace omp_co_test;
using omp_co::depend_in;
using omp_co::depend_inout;
using omp_co::depend_out;
using omp_co::detach;
using omp_co::errc;

omp_co::device_buffer<int> make(omp_co::device dev, std::size_t n)
{
    return omp_co::sync_wait(omp_co::allocate<int>(dev, n));
}

auto const plus_one = [](int* p) { p[0] += 1; };

BOOST_AUTO_TEST_SUITE(copies_with_dependences)

// Around and around: in, on to the second device, out, and the host in between.
BOOST_DATA_TEST_CASE(a_ring_over_two_devices, data::make(device_kinds) ^ data::make({0, 1, 2, 3, 4, 5, 6}),
                     kind, i)
{
    test_device const one = kind.make();
    test_device const two = device_kinds[static_cast<std::size_t>(i + 1) % 7].make();
    auto a = make(one, 4);
    auto b = make(two, 4);
    std::vector<int> x(4, 0);
    starter s;
    omp_co::external_event begin;
    s.start(omp_co::taskwait(depend_out(x), detach(begin)));
    for (int k = 0; k < 5; ++k) {
        s.start(omp_co::target_memcpy(a, x, depend_in(x), depend_out(a), omp_co::name("in")));
        s.start(omp_co::target(one, plus_one, omp_co::is_device_ptr(a.get()), depend_inout(a)));
        s.start(omp_co::target_memcpy(b, a, depend_in(a), depend_out(b)));
        s.start(omp_co::target(two, plus_one, omp_co::is_device_ptr(b.get()), depend_inout(b)));
        s.start(omp_co::target_memcpy(x, b, depend_in(b), depend_inout(x)));
        s.start(omp_co::target(two, plus_one, omp_co::tofrom(x), depend_inout(x)));
        s.start(omp_co::host_task([p = x.data()] { p[0] += 1; }, depend_inout(x)));
    }
    begin.fulfill();
    BOOST_TEST(s.run());
    BOOST_TEST(x[0] == 20);
}

BOOST_DATA_TEST_CASE(bytes_and_boxes, data::make(device_kinds), kind)
{
    test_device const one = kind.make();
    test_device const two(workers(1));
    auto a = make(one, 100);
    auto b = make(two, 100);
    std::vector<int> x(6, 7);
    starter s;
    omp_co::external_event begin;
    s.start(omp_co::taskwait(depend_out(a, b), detach(begin)));
    auto const box = [](omp_co::device d, int* p, std::size_t at) {
        return omp_co::device_box(d, omp_co::section2d(p, {10, 10}, {at, at}, {2, 3}));
    };
    s.start(omp_co::target_memset(a, 1, depend_inout(a)));
    s.start(omp_co::target_memset(b, 0, depend_inout(b)));
    s.start(omp_co::target_memcpy_rect(box(two, b.get(), 4), box(one, a.get(), 2), depend_in(a),
                                       depend_inout(b)));
    s.start(omp_co::target_memcpy_rect(omp_co::section2d(x.data(), {2, 3}, {0, 0}, {2, 3}),
                                       box(two, b.get(), 5), depend_in(b), depend_out(x)));
    begin.fulfill();
    BOOST_TEST(s.run());
    BOOST_TEST(x[0] == 0x01010101);
    BOOST_TEST(x[1] == 0x01010101);
    BOOST_TEST(x[2] == 0);
    BOOST_TEST(x[3] == 0);
}

// While it waits nothing is on either device.
BOOST_AUTO_TEST_CASE(a_deferred_copy_between_devices_can_be_cancelled)
{
    test_device const one(workers(1)), two(workers(1));
    auto a = make(one, 1);
    auto b = make(two, 1);
    int x = 0;
    journal said;
    starter s;
    omp_co::external_event event;
    s.start(omp_co::taskwait(depend_out(x), detach(event)));
    started& copy = s.start(omp_co::target_memcpy(b, a, depend_in(x), depend_out(b)));
    started const& next = s.start(omp_co::target(two, said.note(1), depend_in(b)));
    BOOST_TEST(one.get().statistics().in_flight == 0U);
    BOOST_TEST(two.get().statistics().in_flight == 0U);
    copy.cancel();
    s.io.poll();
    BOOST_TEST(copy.failed_with(asio::error::operation_aborted));
    event.fulfill();
    (void)s.run();
    BOOST_TEST(next.failed_with(errc::predecessor_failed));
    BOOST_TEST(said.lines().empty());
}

// Its place ends once, with what became of it.
BOOST_AUTO_TEST_CASE(a_copy_that_fails_fails_its_successors)
{
    std::optional<test_device> one(workers(1));
    test_device const two(workers(1));
    int x = 0, y = 0;
    journal said;
    starter s;
    omp_co::diagnostics why, none;
    omp_co::external_event event;
    auto b = make(two, 1);
    auto a = make(*one, 1);
    s.start(omp_co::taskwait(depend_out(x), detach(event)));
    started const& copy = s.start(omp_co::target_memcpy(b, a, depend_in(x), depend_out(y),
                                                        omp_co::name("across"), omp_co::explain(why)));
    started const& next = s.start(omp_co::target(two, said.note(1), depend_in(y)));
    started const& wrong =
        s.start(omp_co::target_memcpy(b.section(1, 1), a, omp_co::name("nowhere"), omp_co::explain(none)));
    a.reset();
    one.reset();
    event.fulfill();
    (void)s.run();
    BOOST_TEST(copy.failed_with(errc::device_lost));
    BOOST_TEST(why.message().find("across: ") == 0U, why.message());
    BOOST_TEST(next.failed_with(errc::predecessor_failed));
    BOOST_TEST(wrong.failed_with(errc::invalid_argument));
    BOOST_TEST(none.message().find("nowhere: ") == 0U, none.message());
    BOOST_TEST(s.start(omp_co::target(two, said.note(2), depend_inout(x, y))).over() == false);
    (void)s.run();
    BOOST_TEST((said.lines() == std::vector<int>{2}));
}

// A chain of copies on devices without a thread ends in one go, but not one inside the other.
BOOST_AUTO_TEST_CASE(a_long_chain_of_copies)
{
    test_device const one(workers(0)), two(workers(0));
    auto a = make(one, 1);
    auto b = make(two, 1);
    int const links = rounds(16'000);
    starter s;
    omp_co::external_event event;
    s.start(omp_co::taskwait(depend_out(a), detach(event)));
    s.start(omp_co::target_memset(a, 1, depend_inout(a)));
    for (int i = 0; i < links; ++i) s.start(omp_co::target_memcpy(b, a, depend_inout(a)));
    s.io.poll();
    event.fulfill();
    BOOST_TEST(s.run());
    int out = 0;
    s.start(omp_co::target_memcpy(out, b));
    BOOST_TEST(s.run());
    BOOST_TEST(out == 0x01010101);
}

// What is on the host counts, too.
BOOST_AUTO_TEST_CASE(regions_that_run_on_the_initial_device)
{
    test_device const dev(workers(1));
    std::vector<int> x(4, 1);
    starter s;
    for (int k = 0; k < 10; ++k) {
        s.start(omp_co::target(dev, plus_one, omp_co::tofrom(x), depend_inout(x)));
        s.start(omp_co::target(
            dev, [](int* p) { p[0] *= 2; }, omp_co::tofrom(x), omp_co::if_(false), depend_inout(x)));
        s.start(omp_co::target(omp_co::initial_device(), plus_one, omp_co::tofrom(x), depend_inout(x)));
    }
    BOOST_TEST(s.run());
    int expected = 1;
    for (int k = 0; k < 10; ++k) expected = (expected + 1) * 2 + 1;
    BOOST_TEST(x[0] == expected);
}

// An if clause changes where a task runs, not that it has a place.
BOOST_DATA_TEST_CASE(a_motion_that_is_left_out_keeps_its_place, data::make({false, true}), on_queue)
{
    test_device const dev(workers(1));
    omp_co::queue q(dev);
    std::vector<int> x(4, 1);
    std::vector<int> other(4, 1);
    auto const left_out = [&](auto const& place, std::vector<int>& v) {
        return omp_co::target_update(place, omp_co::to(v), omp_co::if_(false), depend_inout(v));
    };
    auto const op = on_queue ? left_out(q, x) : left_out(dev.get(), x);
    starter s;
    omp_co::external_event event;
    started& first = s.start(omp_co::taskwait(depend_out(x), detach(event)));
    started& second = s.start(op);
    started& third = s.start(omp_co::taskwait(depend_inout(x)));
    started& cancelled = s.start(op);
    started& behind_it = s.start(omp_co::taskwait(depend_inout(x)));
    started& fails = s.start(omp_co::host_task([] { throw 1; }, depend_out(other)));
    started& behind_that = s.start(on_queue ? left_out(q, other) : left_out(dev.get(), other));
    s.io.poll();
    for (started const* each : {&first, &second, &third, &cancelled, &behind_it}) BOOST_TEST(!each->over());
    BOOST_TEST(fails.over());
    BOOST_TEST(behind_that.over() != on_queue); // there it comes behind the others too
    cancelled.cancel();
    s.io.poll();
    BOOST_TEST(cancelled.failed_with(asio::error::operation_aborted));
    BOOST_TEST(!third.over());
    event.fulfill();
    (void)s.run();
    for (started const* each : {&first, &second, &third}) BOOST_TEST(each->well());
    for (started const* each : {&behind_it, &behind_that})
        BOOST_TEST(each->failed_with(errc::predecessor_failed));
    BOOST_TEST(dev.get().statistics().copies_in == 0U);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace depending_copies_test
