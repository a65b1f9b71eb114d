// SPDX-License-Identifier: BSL-1.0
// Queues whose ends come at a bad time, queues that are full, and queues that are used for long.
#include "support/bound_handler.hpp"
#include "support/devices.hpp"
#include "support/findings.hpp"
#include "support/kernels.hpp"
#include "support/outcome.hpp"
#include "support/pending.hpp"
#include "support/sanitizers.hpp"
#include "support/sentinel.hpp"
#include "support/settle.hpp"

#include <boost/asio/detached.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <malloc.h>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace queue_lifetime_test {

namespace asio = boost::asio;
namespace data = boost::unit_test::data;
using namespace omp_co_test;
using namespace std::chrono_literals;
using omp_co::errc;
using omp_co::error_code;

constexpr std::size_t limit = 256; // constructs of a queue in flight from which on awaits last

std::thread open_later(gate& g)
{
    return std::thread([&g] {
        std::this_thread::sleep_for(20ms);
        g.open();
    });
}

void nothing_is_left(omp_co::device dev)
{
    BOOST_TEST(settle(dev));
    BOOST_TEST(dev.statistics().mapped_ranges == 0U);
    BOOST_TEST(dev.statistics().device_bytes == 0U);
}

BOOST_AUTO_TEST_SUITE(queue_lifetime)

BOOST_DATA_TEST_CASE(what_is_in_flight_goes_on_when_its_queue_goes, data::make({1U, 2U}), n)
{
    test_device const dev(workers(n));
    gate g;
    std::vector<int> v(64, 1);
    std::vector<int> x(100'000, 3);
    std::optional<omp_co::queue> q(std::in_place, dev.get());
    BOOST_TEST(early(omp_co::target_enter_data(*q, omp_co::to(v))));
    BOOST_TEST(early(omp_co::target(*q, g.kernel(), omp_co::tofrom(v)))); // 2
    BOOST_TEST(early(omp_co::target(*q, increment, omp_co::range(64), omp_co::tofrom(v))));
    pending unread(omp_co::target(
        *q, [](int const* p, int* to) { *to += p[99'999]; }, omp_co::to(x), omp_co::tofrom(v))); // 6
    pending back(omp_co::target_exit_data(*q, omp_co::from(v)));
    q.reset();
    BOOST_TEST(back.stays());
    omp_co::queue another(dev); // with a stream of its own
    BOOST_TEST(early(omp_co::target(another, [] {})));
    g.open();
    BOOST_TEST(unread.ends_well());
    BOOST_TEST(back.ends_well());
    BOOST_TEST(v[0] == 6);
    BOOST_TEST(v[63] == 2);
    nothing_is_left(dev);
}

BOOST_AUTO_TEST_CASE(a_deferred_construct_keeps_its_queue)
{
    test_device const dev(workers(1));
    std::vector<int> v(64, 1);
    int flag = 0;
    omp_co::external_event ready;
    pending task(omp_co::host_task([] {}, omp_co::detach(ready), omp_co::depend_out(flag)));
    std::optional<omp_co::queue> q(std::in_place, dev.get());
    pending a(omp_co::target(*q, increment, omp_co::range(64), omp_co::tofrom(v), omp_co::depend_in(flag)));
    pending b(omp_co::target(*q, increment, omp_co::range(64), omp_co::tofrom(v)));
    q.reset();
    BOOST_TEST(a.stays());
    ready.fulfill();
    BOOST_TEST(task.ends_well());
    BOOST_TEST(a.ends_well());
    BOOST_TEST(b.ends_well());
    BOOST_TEST(v[63] == 3);
    nothing_is_left(dev);
}

BOOST_AUTO_TEST_CASE(a_queue_can_be_moved_with_work_in_flight)
{
    test_device const dev(workers(1));
    test_device const other(workers(1));
    gate g;
    std::vector<int> v(64, 1);
    omp_co::queue first(dev);
    BOOST_TEST(early(omp_co::target_enter_data(first, omp_co::to(v))));
    BOOST_TEST(early(omp_co::target(first, g.kernel(), omp_co::tofrom(v))));
    omp_co::queue second(std::move(first));
    BOOST_TEST((second.where() == dev.get()));
    BOOST_TEST((first.where() == omp_co::device()));
    BOOST_TEST((outcome(omp_co::target(first, [] {})) == errc::device_lost));
    BOOST_TEST(early(omp_co::target(second, increment, omp_co::range(64), omp_co::tofrom(v))));
    first = omp_co::queue(other);
    BOOST_TEST(early(omp_co::target(first, g.kernel(), omp_co::alloc(v)))); // another device's
    std::swap(first, second);
    BOOST_TEST((first.where() == dev.get()));
    pending back(omp_co::target_exit_data(first, omp_co::from(v)));
    BOOST_TEST(back.stays());
    second = std::move(first); // and what that one had goes on
    g.open();
    BOOST_TEST(back.ends_well());
    BOOST_TEST(v[0] == 3);
    BOOST_TEST(!outcome(second.synchronize()));
    nothing_is_left(dev);
    nothing_is_left(other);
}

// Destroyed with its loop while it waits, and while what it was told of is still held.
BOOST_DATA_TEST_CASE(a_loop_that_goes_waits_for_its_own_awaits,
                     data::make({1U, 2U}) * data::make({false, true}), n, behind_host)
{
    test_device const dev(workers(n));
    gate g;
    std::atomic<int> alive{0};
    int flag = 0;
    omp_co::external_event never;
    std::thread opener;
    std::optional<pending> task(std::in_place);
    if (behind_host) task->start(omp_co::host_task([] {}, omp_co::detach(never), omp_co::depend_out(flag)));
    bool finished = false;
    {
        std::optional<asio::io_context> io(std::in_place);
        auto body = [&]() -> asio::awaitable<void> {
            sentinel const here(alive);
            std::vector<int> v(64, 1);
            omp_co::queue q(dev);
            co_await omp_co::target_enter_data(q, omp_co::to(v));
            co_await omp_co::target(q, g.kernel(), omp_co::tofrom(v));
            if (behind_host)
                co_await omp_co::target(q, increment, omp_co::range(64), omp_co::tofrom(v),
                                        omp_co::depend_in(flag));
            co_await omp_co::target_exit_data(q, omp_co::from(v));
            finished = true;
        };
        asio::co_spawn(*io, body(), asio::detached);
        BOOST_TEST(eventually([&] {
            io->poll();
            return g.entered() == 1;
        }));
        if (behind_host) { // only what is deferred is left
            g.open();
            BOOST_TEST(eventually([&] { return g.left() == 1; }));
        } else {
            opener = open_later(g);
        }
        io.reset();
        BOOST_TEST(alive == 0);
        BOOST_TEST((behind_host || g.left() == 1));
    }
    if (opener.joinable()) opener.join();
    BOOST_TEST(!finished);
    never.fulfill();
    if (behind_host) BOOST_TEST(task->ends_well());
    BOOST_TEST(settle(dev));
}

BOOST_DATA_TEST_CASE(a_device_that_goes_drains_its_queues, data::make({1U, 2U}) * data::make({false, true}),
                     n, queue_first)
{
    auto dev = std::make_unique<omp_co::host::virtual_device>(workers(n));
    gate g;
    std::vector<int> v(64, 1);
    std::optional<omp_co::queue> q(std::in_place, dev->get());
    BOOST_TEST(early(omp_co::target_enter_data(*q, omp_co::to(v))));
    BOOST_TEST(early(omp_co::target(*q, g.kernel(), omp_co::tofrom(v))));
    BOOST_TEST(early(omp_co::target(*q, increment, omp_co::range(64), omp_co::tofrom(v))));
    pending back(omp_co::target_exit_data(*q, omp_co::from(v)));
    if (queue_first) q.reset();
    std::thread opener = open_later(g);
    dev.reset();
    BOOST_TEST(g.left() == 1);
    opener.join();
    BOOST_TEST(back.ends_well());
    BOOST_TEST(v[0] == 3);
    if (!queue_first) BOOST_TEST((outcome(omp_co::target(*q, [] {})) == errc::device_lost));
}

BOOST_AUTO_TEST_CASE(a_deferred_construct_whose_device_goes_is_refused)
{
    auto dev = std::make_unique<omp_co::host::virtual_device>(workers(1));
    int flag = 0;
    std::vector<int> v(64, 1);
    omp_co::external_event ready;
    pending task(omp_co::host_task([] {}, omp_co::detach(ready), omp_co::depend_out(flag)));
    omp_co::queue q(*dev);
    pending a(omp_co::target(q, increment, omp_co::range(64), omp_co::tofrom(v), omp_co::depend_in(flag)));
    pending b(omp_co::target(q, increment, omp_co::range(64), omp_co::tofrom(v)));
    dev.reset();
    ready.fulfill();
    BOOST_TEST(task.ends_well());
    BOOST_TEST(a.ends());
    BOOST_TEST(b.ends());
    BOOST_TEST((a.code() == errc::device_lost), a.code().message());
    BOOST_TEST((b.code() == errc::device_lost), b.code().message());
    BOOST_TEST(v[0] == 1);
}

// One that was told early has nothing of the program's any more, and one that is deferred has nothing yet.
BOOST_DATA_TEST_CASE(a_group_that_goes_waits_for_its_members_on_queues, data::make({0, 1, 2}), kind_of_member)
{
    test_device const dev(workers(1));
    gate g;
    asio::io_context io;
    int flag = 0;
    std::vector<int> v(64, 1);
    omp_co::external_event never;
    pending task(omp_co::host_task([] {}, omp_co::detach(never), omp_co::depend_out(flag)));
    omp_co::queue q(dev);
    BOOST_TEST(early(omp_co::target_enter_data(q, omp_co::to(v))));
    std::thread opener;
    {
        omp_co::task_group group(io.get_executor());
        group.spawn(omp_co::target(q, g.kernel(), omp_co::tofrom(v)));
        if (kind_of_member == 1)
            group.spawn(omp_co::target(q, increment, omp_co::range(64), omp_co::from(v, omp_co::always)));
        if (kind_of_member == 2)
            group.spawn(
                omp_co::target(q, increment, omp_co::range(64), omp_co::tofrom(v), omp_co::depend_in(flag)));
        if (kind_of_member == 2) // deferred too, behind that one
            group.spawn(omp_co::target(q, increment, omp_co::range(64), omp_co::tofrom(v)));
        io.poll();
        BOOST_TEST(g.wait_entered(1));
        opener = open_later(g);
    }
    BOOST_TEST((kind_of_member != 1 || g.left() == 1));
    opener.join();
    io.run();
    if (kind_of_member == 1) BOOST_TEST(v[0] == 3);
    never.fulfill();
    BOOST_TEST(task.ends_well());
    BOOST_TEST(!outcome(omp_co::target_exit_data(q, omp_co::from(v))));
    BOOST_TEST(v[0] == (kind_of_member == 1 ? 3 : 2)); // what was deferred has no effect
    nothing_is_left(dev);
}

BOOST_DATA_TEST_CASE(cancelling_an_await_takes_no_work_back, data::make({1U, 2U}), n)
{
    test_device const dev(workers(n));
    gate g;
    asio::io_context io;
    std::vector<int> v(64, 1);
    asio::cancellation_signal early_signal;
    asio::cancellation_signal late_signal;
    std::optional<error_code> one;
    std::optional<error_code> two;
    omp_co::queue q(dev);
    BOOST_TEST(early(omp_co::target_enter_data(q, omp_co::to(v))));
    omp_co::target(q, g.kernel(),
                   omp_co::tofrom(v))(bound(early_signal.slot(), io, [&](error_code ec) { one = ec; }));
    omp_co::target_update(q,
                          omp_co::from(v))(bound(late_signal.slot(), io, [&](error_code ec) { two = ec; }));
    BOOST_TEST(eventually([&] { return io.poll(), one.has_value(); }));
    BOOST_TEST((one && !*one));
    early_signal.emit(asio::cancellation_type::terminal);
    late_signal.emit(asio::cancellation_type::terminal);
    io.poll();
    BOOST_TEST(!two.has_value()); // the device may still write
    g.open();
    io.run();
    BOOST_TEST((two && *two == asio::error::operation_aborted));
    BOOST_TEST(v[0] == 2);
    BOOST_TEST(!outcome(omp_co::target_exit_data(q, omp_co::release(v))));
    nothing_is_left(dev);
}

// Another thread runs the kernels, so the program would run away from it.
BOOST_DATA_TEST_CASE(a_full_queue_holds_the_next_await, data::make({1U, 2U}), n)
{
    test_device const dev(workers(n));
    gate g;
    asio::io_context io;
    int const all = rounds(10'000);
    int awaited = 0;
    std::size_t most = 0;
    std::vector<int> v(8, 0);
    omp_co::queue q(dev);
    BOOST_TEST(early(omp_co::target_enter_data(q, omp_co::to(v))));
    BOOST_TEST(!outcome(q.synchronize()));
    auto body = [&]() -> asio::awaitable<void> {
        co_await omp_co::target(q, g.kernel(), omp_co::tofrom(v));
        for (awaited = 1; awaited < all; ++awaited) {
            co_await omp_co::target(q, increment, omp_co::range(8), omp_co::tofrom(v));
            most = std::max(most, dev.get().statistics().in_flight);
        }
    };
    findings f;
    asio::co_spawn(io, body(), [&](std::exception_ptr e) { f.check(!e, "no error"); });
    auto const end = std::chrono::steady_clock::now() + 20s;
    while (dev.get().statistics().in_flight <= limit && std::chrono::steady_clock::now() < end) io.poll();
    for (int i = 0; i < 20; ++i) {
        io.poll();
        std::this_thread::sleep_for(100us);
    }
    BOOST_TEST(awaited == static_cast<int>(limit));
    BOOST_TEST(dev.get().statistics().in_flight == limit + 1);
    g.open();
    io.run();
    BOOST_TEST(awaited == all);
    BOOST_TEST(most <= limit + 1);
    BOOST_TEST(!outcome(omp_co::target_exit_data(q, omp_co::from(v))));
    BOOST_TEST(v[0] == all);
    BOOST_TEST(v[7] == all - 1);
    nothing_is_left(dev);
}

// Who does not await is not stopped, and all are told in the end.
BOOST_DATA_TEST_CASE(a_thousand_constructs_that_nobody_awaits, data::make({0U, 1U, 2U}), n)
{
    test_device const dev(workers(n));
    gate g;
    if (n == 0) g.open();
    asio::io_context io;
    std::vector<int> v(8, 0);
    std::vector<int> order;
    omp_co::queue q(dev);
    BOOST_TEST(early(omp_co::target_enter_data(q, omp_co::to(v))));
    omp_co::task_group group(io.get_executor());
    group.spawn(omp_co::target(q, g.kernel(), omp_co::tofrom(v)));
    for (int k = 0; k < 1'000; ++k)
        group.spawn(omp_co::target(q, increment, omp_co::range(8), omp_co::tofrom(v)));
    for (int k = 0; k < 1'000; ++k)
        omp_co::target(q, increment, omp_co::range(8), omp_co::tofrom(v))(
            asio::bind_executor(io, [&order, k](error_code) { order.push_back(k); }));
    if (n != 0) BOOST_TEST(dev.get().statistics().in_flight >= 2'001U);
    io.poll();
    if (n != 0) BOOST_TEST(order.size() < 1'000U);
    g.open();
    pending all(group.wait());
    io.restart();
    io.run();
    BOOST_TEST(all.ends_well());
    BOOST_TEST(order.size() == 1'000U);
    BOOST_TEST(std::is_sorted(order.begin(), order.end()));
    BOOST_TEST(!outcome(omp_co::target_exit_data(q, omp_co::from(v))));
    BOOST_TEST(v[0] == 2'001);
    nothing_is_left(dev);
}

// Its data is read late, and is known to be read while the queue has no room: it has waited longer than those behind it.
BOOST_DATA_TEST_CASE(one_whose_data_is_read_late_waits_for_room_before_the_others, data::make({400, 1'000}),
                     behind)
{
    test_device const dev(workers(3));
    std::vector<char> large(std::size_t{1} << 20, 'x');
    std::vector<int> order;
    asio::io_context io;
    omp_co::queue q(dev);
    gate first;
    gate second;
    auto const note = [&](int i) {
        return asio::bind_executor(io, [&order, i](error_code ec) { order.push_back(ec ? -1 : i); });
    };
    auto const passes = [gp = &second](char const*) { gp->pass(); };
    omp_co::target(q, [gp = &first] { gp->pass(); })(note(0));
    omp_co::target(q, passes, omp_co::to(large))(note(1));
    for (int i = 0; i < behind; ++i) omp_co::target(q, [] {})(note(2 + i));
    BOOST_REQUIRE(first.wait_entered(1));
    first.open();
    BOOST_REQUIRE(second.wait_entered(1));
    for (int i = 0; i < 4; ++i) BOOST_TEST(!outcome(omp_co::target(dev, [] {}))); // looks at all streams
    second.open();
    BOOST_TEST(!outcome(q.synchronize()));
    io.run();
    BOOST_REQUIRE(order.size() == std::size_t(behind) + 2);
    BOOST_TEST(std::count(order.begin(), order.end(), -1) == 0);
    auto const late = std::find(order.begin(), order.end(), 1);
    auto const full = std::find(order.begin(), order.end(), behind + 1);
    BOOST_TEST((late < full));
    nothing_is_left(dev);
}

// The end belongs to what has begun.
BOOST_DATA_TEST_CASE(a_data_region_keeps_its_queue, data::make({0U, 1U, 2U}) * data::make({false, true}), n,
                     before)
{
    test_device const dev(workers(n));
    std::vector<int> v(64, 1);
    std::optional<omp_co::queue> q(std::in_place, dev);
    asio::io_context io;
    std::exception_ptr failure;
    auto body = [&]() -> asio::awaitable<void> {
        co_await omp_co::target(dev, increment, omp_co::range(64), omp_co::tofrom(v));
        q.reset();
        BOOST_TEST(settle(dev));
    };
    asio::co_spawn(io, omp_co::target_data(*q, omp_co::tofrom(v), body),
                   [&](std::exception_ptr e) { failure = std::move(e); });
    if (before) q.reset();
    io.run();
    BOOST_TEST(!failure);
    BOOST_TEST(v[0] == 2);
    BOOST_TEST(v[63] == 2);
    nothing_is_left(dev);
}

BOOST_DATA_TEST_CASE(what_nobody_waits_for_is_retired_by_the_next_use,
                     data::make({1U, 2U}) * data::make({0, 1, 2}), n, use)
{
    test_device const dev(workers(n));
    gate g;
    std::vector<int> v(64, 1);
    omp_co::queue q(dev);
    BOOST_TEST(early(omp_co::target(q, g.kernel(), omp_co::alloc(v))));
    for (int k = 0; k < 100; ++k) BOOST_TEST(early(omp_co::target(q, [] {})));
    BOOST_TEST(dev.get().statistics().in_flight == 101U);
    g.open();
    BOOST_TEST(eventually([&] { return g.left() == 1; }));
    if (use == 0) BOOST_TEST(!outcome(q.synchronize()));
    if (use == 1)
        BOOST_TEST(eventually(
            [&] { return !outcome(omp_co::target(dev, [] {})) && dev.get().statistics().in_flight <= 1; }));
    if (use == 2)
        BOOST_TEST(eventually(
            [&] { return !outcome(omp_co::target(q, [] {})) && dev.get().statistics().in_flight <= 33; }));
    nothing_is_left(dev);
}

BOOST_DATA_TEST_CASE(a_queue_can_be_used_for_ever, data::make({0U, 1U, 2U}), n)
{
    test_device const dev(workers(n));
    asio::io_context io;
    int const all = rounds(100'000);
    std::vector<int> v(64, 0);
    std::vector<int> x(64, 1);
    std::size_t before = 0;
    std::size_t most = 0;
    auto body = [&]() -> asio::awaitable<void> {
        omp_co::queue q(dev);
        co_await omp_co::target_enter_data(q, omp_co::to(v));
        auto const plus = [](std::size_t i, int* p, int const* a) { p[i] += a[i]; };
        for (int k = 0; k < all; ++k) {
            if (k == all / 10) before = ::mallinfo2().uordblks;
            co_await omp_co::target(q, plus, omp_co::range(64), omp_co::tofrom(v), omp_co::to(x));
            most = std::max(most, dev.get().statistics().in_flight);
        }
        co_await omp_co::target_exit_data(q, omp_co::from(v));
    };
    findings f;
    asio::co_spawn(io, body(), [&](std::exception_ptr e) { f.check(!e, "no error"); });
    io.run();
    auto const after = ::mallinfo2().uordblks;
    if (!OMP_CO_TEST_SANITIZED)
        // Less than the smallest heap block for each. What 256 regions in flight need is kept for the next ones, and how
        // many there have been at a time is up to the machine.
        BOOST_TEST(after < before + 24U * static_cast<std::size_t>(all - all / 10));
    BOOST_TEST(most <= limit + 1);
    BOOST_TEST(v[0] == all);
    BOOST_TEST(v[63] == all);
    nothing_is_left(dev);
}

// Each has a stream, which the next one gets.
BOOST_DATA_TEST_CASE(queues_come_and_go, data::make({0U, 1U, 2U}), n)
{
    test_device const dev(workers(n));
    std::vector<int> v(64, 0);
    int const all = rounds(500);
    BOOST_TEST(!outcome(omp_co::target_enter_data(dev, omp_co::to(v))));
    for (int k = 0; k < all; ++k) {
        omp_co::queue q(dev);
        BOOST_TEST(early(omp_co::target(q, increment, omp_co::range(64), omp_co::tofrom(v))));
        omp_co::queue other(dev);
        BOOST_TEST(early(omp_co::target(other, increment, omp_co::range(64), omp_co::tofrom(v))));
    }
    BOOST_TEST(!outcome(omp_co::target_exit_data(dev, omp_co::from(v))));
    BOOST_TEST(v[0] == 2 * all);
    nothing_is_left(dev);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace queue_lifetime_test
