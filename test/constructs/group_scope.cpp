// SPDX-License-Identifier: BSL-1.0
// What belongs to a task_group and what does not: its destructor and its cancellation meet its own members only.
#include "support/bound_handler.hpp"
#include "support/devices.hpp"
#include "support/gate.hpp"
#include "support/kernels.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/detached.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <optional>
#include <thread>
#include <vector>

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

BOOST_AUTO_TEST_SUITE_END()
