// SPDX-License-Identifier: BSL-1.0
// What belongs to a task_group and what does not: its destructor and its cancellation meet its own members only.
#include "support/bound_handler.hpp"
#include "support/devices.hpp"
#include "support/gate.hpp"
#include "support/kernels.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace group_scope_test {

namespace asio = boost::asio;
using namespace omp_co_test;
using namespace std::chrono_literals;
using asio::cancellation_type;
using omp_co::error_code;

BOOST_AUTO_TEST_SUITE(group_scope)

BOOST_AUTO_TEST_CASE(a_group_that_goes_waits_for_no_region_of_others)
{
    for (unsigned n : {0U, 1U}) {
        std::vector<int> v(8, 0), w(8, 0), x(8, 0);
        gate unrelated;
        gate member;
        test_device const other(workers(1));
        test_device const same(workers(2));
        test_device const inline_one(workers(0));
        asio::io_context io;
        omp_co::target(other, unrelated.kernel(), omp_co::tofrom(v))(asio::detached);
        omp_co::target(same, unrelated.kernel(), omp_co::tofrom(w))(asio::detached);
        std::thread busy([&] { // an inline device that another thread runs
            omp_co::sync_wait(omp_co::target(inline_one, unrelated.kernel(), omp_co::tofrom(x)));
        });
        BOOST_TEST(unrelated.wait_entered(3));
        auto own = std::make_unique<std::vector<int>>(8, 0);
        std::thread opener;
        {
            omp_co::task_group group(io.get_executor());
            auto const op = omp_co::target(same, member.kernel(), omp_co::tofrom(*own));
            if (n == 0)
                group.spawn(op);
            else
                group.spawn([](auto o) -> asio::awaitable<void> { co_await std::move(o); }(op));
            io.poll();
            BOOST_TEST(member.wait_entered(1));
            opener = std::thread([&] {
                std::this_thread::sleep_for(20ms);
                member.open();
            });
        }
        BOOST_TEST(member.left() == 1);
        BOOST_TEST((*own)[0] == 1);
        BOOST_TEST(unrelated.left() == 0);
        own.reset();
        unrelated.open();
        opener.join();
        busy.join();
        io.run();
    }
}

// A member's group has gone only when its coroutine has: the outer one waits for both.
BOOST_AUTO_TEST_CASE(a_group_that_goes_waits_for_groups_in_it)
{
    for (int depth : {1, 2}) {
        test_device const dev(workers(1));
        asio::io_context io;
        gate g;
        auto own = std::make_unique<std::vector<int>>(8, 0);
        std::thread opener;
        std::function<asio::awaitable<void>(int)> const nested = [&](int more) -> asio::awaitable<void> {
            omp_co::task_group inner(co_await asio::this_coro::executor);
            if (more > 1)
                inner.spawn(nested(more - 1));
            else
                inner.spawn(omp_co::target(dev, g.kernel(), omp_co::tofrom(*own)));
            co_await inner.wait();
        };
        {
            omp_co::task_group outer(io.get_executor());
            outer.spawn(nested(depth));
            BOOST_TEST(eventually([&] {
                io.poll();
                return g.entered() == 1;
            }));
            opener = std::thread([&] {
                std::this_thread::sleep_for(20ms);
                g.open();
            });
        }
        BOOST_TEST(g.left() == 1);
        BOOST_TEST((*own)[0] == 1);
        own.reset();
        opener.join();
        io.restart();
        io.run();
    }
}

// A member may put its own strand around what it does.
BOOST_AUTO_TEST_CASE(a_group_that_goes_waits_for_what_is_behind_strands)
{
    for (bool const inner : {false, true}) {
        test_device const dev(workers(1));
        gate member;
        asio::io_context io;
        auto own = std::make_unique<std::vector<int>>(8, 0);
        auto const region = [&]() -> asio::awaitable<void> {
            co_await omp_co::target(dev, member.kernel(), omp_co::tofrom(*own));
        };
        auto const strand_of = [](asio::any_io_executor const& ex) { return asio::make_strand(ex); };
        auto const member_of = [&]() -> asio::awaitable<void> {
            asio::any_io_executor const strand = strand_of(co_await asio::this_coro::executor);
            if (!inner) {
                co_await asio::co_spawn(strand, region(), asio::use_awaitable);
            } else {
                omp_co::task_group within(strand);
                within.spawn(region());
                co_await within.wait();
            }
        };
        std::thread opener;
        {
            omp_co::task_group group(io.get_executor());
            group.spawn(member_of());
            BOOST_TEST(eventually([&] {
                io.poll();
                return member.entered() == 1;
            }));
            opener = std::thread([&] {
                std::this_thread::sleep_for(20ms);
                member.open();
            });
        }
        BOOST_TEST(member.left() == 1);
        own.reset();
        opener.join();
        io.restart();
        io.run();
    }
}

BOOST_AUTO_TEST_CASE(a_cancelled_group_runs_no_function_that_has_not_begun)
{
    asio::io_context io;
    bool ran = false;
    std::optional<error_code> ended;
    {
        omp_co::task_group group(io.get_executor());
        group.spawn(omp_co::host_task([&] { ran = true; }));
        group.spawn(omp_co::taskwait());
        group.cancel();
        group.wait()(asio::bind_executor(io, [&](error_code ec) { ended = ec; }));
        io.run();
        BOOST_TEST((ended == asio::error::operation_aborted));
        BOOST_TEST(!ran);
        group.spawn(omp_co::host_task([&] { ran = true; }));
    }
    io.restart();
    io.run();
    BOOST_TEST(!ran); // the group, and what its functions use, has gone
}

BOOST_AUTO_TEST_CASE(what_a_member_failed_with_beats_the_cancellation)
{
    test_device const dev(workers(1));
    asio::io_context io;
    gate g;
    int x = 0;
    omp_co::external_event event;
    omp_co::taskwait(omp_co::depend_out(x),
                     omp_co::detach(event))(asio::bind_executor(io, [](error_code) {}));
    std::optional<error_code> ended;
    omp_co::task_group group(io.get_executor());
    group.spawn(omp_co::target(
        dev, [] {}, omp_co::depend_in(x))); // deferred: ends first
    group.spawn(omp_co::target(dev, [p = &g] {
        p->pass();
        throw 1;
    }));
    BOOST_TEST(g.wait_entered(1));
    group.cancel();
    group.wait()(asio::bind_executor(io, [&](error_code ec) { ended = ec; }));
    io.poll();
    g.open();
    event.fulfill();
    io.run();
    BOOST_TEST((ended == omp_co::errc::kernel_failed));
}

// The slot of a wait that is over says nothing to the next one.
BOOST_AUTO_TEST_CASE(a_late_signal_of_one_wait_does_not_cancel_the_next)
{
    test_device const dev(workers(1));
    asio::io_context io;
    gate g;
    std::vector<int> v(8, 0);
    asio::cancellation_signal first;
    asio::cancellation_signal second;
    std::optional<error_code> one;
    std::optional<error_code> two;
    omp_co::task_group group(io.get_executor());
    group.spawn(omp_co::target(dev, increment, omp_co::range(8), omp_co::tofrom(v)));
    group.wait()(bound(first.slot(), io, [&](error_code ec) { one = ec; }));
    io.run();
    BOOST_TEST((one && !*one));
    group.spawn(omp_co::target(dev, g.kernel(), omp_co::tofrom(v)));
    group.wait()(bound(second.slot(), io, [&](error_code ec) { two = ec; }));
    BOOST_TEST(g.wait_entered(1));
    first.emit(cancellation_type::terminal);
    g.open();
    io.restart();
    io.run();
    BOOST_TEST((two && !*two));
}

// Who cancels is told so; who waits beside him learns what became of the members.
BOOST_AUTO_TEST_CASE(each_wait_has_a_cancellation_of_its_own)
{
    test_device const dev(workers(1));
    asio::io_context io;
    gate g;
    std::vector<int> v(8, 0);
    asio::cancellation_signal signal;
    std::optional<error_code> cancelled;
    std::optional<error_code> other;
    omp_co::task_group group(io.get_executor());
    asio::steady_timer never(io, 1h);
    group.spawn([](asio::steady_timer& t) -> asio::awaitable<void> {
        co_await t.async_wait(asio::as_tuple(asio::use_awaitable));
        co_await asio::this_coro::throw_if_cancelled(false);
    }(never));
    group.wait()(bound(signal.slot(), io, [&](error_code ec) { cancelled = ec; }));
    group.wait()(asio::bind_executor(io, [&](error_code ec) { other = ec; }));
    io.poll();
    signal.emit(cancellation_type::terminal);
    io.run();
    BOOST_TEST((cancelled && *cancelled == asio::error::operation_aborted));
    BOOST_TEST((other && !*other));
}

/// Is cancelled when it has become a member and has not been started.
template <class Operation>
struct cancelled_at_start {
    using one_region = typename Operation::one_region;

    omp_co::task_group& group;
    Operation op;

    template <class Token>
    auto operator()(Token&& token) const
    {
        group.cancel();
        return op(std::forward<Token>(token));
    }
};

BOOST_AUTO_TEST_CASE(a_member_is_cancelled_while_it_starts)
{
    test_device const dev(workers(1));
    asio::io_context io;
    omp_co::external_event event;
    std::vector<int> v(8, 0);
    std::optional<error_code> result;
    omp_co::taskwait(omp_co::depend_out(v), omp_co::detach(event))(asio::bind_executor(io, asio::detached));
    omp_co::task_group group(io.get_executor());
    auto const op =
        omp_co::target(dev, increment, omp_co::range(8), omp_co::tofrom(v), omp_co::depend_inout(v));
    group.spawn(cancelled_at_start<std::remove_const_t<decltype(op)>>{group, op});
    group.wait()(asio::bind_executor(io, [&](error_code ec) { result = ec; }));
    BOOST_TEST(eventually([&] {
        io.restart();
        io.poll();
        return result.has_value();
    }));
    BOOST_TEST((result && *result == asio::error::operation_aborted));
    event.fulfill();
    io.restart();
    io.run();
    BOOST_TEST(v[0] == 0);
}

// A member may be on its way to its device, or to its place among the dependences, when the cancellation comes.
BOOST_AUTO_TEST_CASE(a_group_is_cancelled_while_others_spawn)
{
    test_device const dev(workers(1));
    asio::thread_pool loop(2);
    omp_co::external_event event;
    int h = 0;
    std::atomic<int> run{0};
    auto const kernel = [count = &run](int*) { count->fetch_add(1); };
    std::array<int, 2> data{};
    auto const held = omp_co::taskwait(omp_co::depend_out(h),
                                       omp_co::detach(event))(asio::bind_executor(loop, asio::use_future));
    {
        omp_co::task_group group(loop.get_executor());
        std::vector<std::thread> threads;
        for (int& mine : data)
            threads.emplace_back([&group, &dev, &kernel, &h, &mine] {
                for (int i = 0; i < 200; ++i)
                    group.spawn(omp_co::target(dev, kernel, omp_co::tofrom(mine), omp_co::depend_in(h)));
            });
        for (int i = 0; i < 50; ++i) group.cancel();
        for (std::thread& t : threads) t.join();
        group.cancel();
        auto ended = group.wait()(asio::bind_executor(loop, asio::use_future));
        BOOST_REQUIRE(
            (ended.wait_for(10s) == std::future_status::ready)); // though what they wait for never came
        BOOST_CHECK_EXCEPTION(ended.get(), boost::system::system_error,
                              [](auto const& e) { return e.code() == asio::error::operation_aborted; });
    }
    BOOST_TEST(run == 0);
    event.fulfill();
    held.wait();
    loop.join();
    BOOST_TEST(dev.get().statistics().regions == 0u);
}

// What is no operation of omp_co's is cancelled by its slot, on its strand.
BOOST_AUTO_TEST_CASE(a_group_takes_operations_of_others)
{
    asio::io_context io;
    asio::steady_timer never(io, 1h);
    auto const sleep = [&never](auto token) { return never.async_wait(std::move(token)); };
    omp_co::task_group group(io.get_executor());
    std::optional<error_code> result;
    group.spawn(sleep);
    group.wait()(asio::bind_executor(io, [&](error_code ec) { result = ec; }));
    io.poll();
    BOOST_TEST(!result);
    group.cancel();
    io.run();
    BOOST_TEST((result && *result == asio::error::operation_aborted));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace group_scope_test
