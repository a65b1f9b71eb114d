// SPDX-License-Identifier: BSL-1.0
// Cancelling ends an await early at best, and never before the device has let go of the memory.
#include "support/bound_handler.hpp"
#include "support/devices.hpp"
#include "support/findings.hpp"
#include "support/gate.hpp"
#include "support/kernels.hpp"
#include "support/settle.hpp"
#include "support/strict_handler.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

namespace cancellation_test {

namespace asio = boost::asio;
namespace data = boost::unit_test::data;
using namespace asio::experimental::awaitable_operators;
using namespace omp_co_test;
using namespace std::chrono_literals;
using asio::cancellation_type;
using omp_co::error_code;

struct asked_for {
    char const* name;
    cancellation_type type;
    bool counts;

    friend std::ostream& operator<<(std::ostream& out, asked_for const& a) { return out << a.name; }
};

std::array<asked_for, 4> const types{{
    {"terminal", cancellation_type::terminal, true},
    {"partial", cancellation_type::partial, true},
    {"total", cancellation_type::total, false},
    {"all", cancellation_type::all, true},
}};

template <class Gate>
void open_soon(asio::io_context& io, Gate& g, std::optional<asio::steady_timer>& timer)
{
    timer.emplace(io, 20ms);
    timer->async_wait([&g](error_code) { g.open(); });
}

BOOST_AUTO_TEST_SUITE(cancellation)

// Pitfall 1, and the handler may destroy at once what was mapped.
BOOST_DATA_TEST_CASE(a_cancelled_region_ends_once_the_device_is_quiescent, data::make(types), asked)
{
    test_device const dev(workers(1));
    asio::io_context io;
    asio::cancellation_signal signal;
    gate g;
    auto v = std::make_unique<std::vector<int>>(1 << 12, 3);
    int first = 0;
    error_code result;
    bool finished = false;
    omp_co::target(dev, g.kernel(), omp_co::tofrom(*v))(bound(signal.slot(), io, [&](error_code ec) {
        result = ec;
        finished = g.left() == 1;
        first = v->front();
        v.reset();
    }));
    BOOST_TEST(g.wait_entered(1));
    signal.emit(asked.type);
    io.poll();
    BOOST_TEST(!finished);
    std::optional<asio::steady_timer> timer;
    open_soon(io, g, timer);
    io.run();
    BOOST_TEST(finished);
    BOOST_TEST(first == 4); // its effects have happened all the same
    BOOST_TEST((result == (asked.counts ? error_code(asio::error::operation_aborted) : error_code())),
               result.message());
    BOOST_TEST(dev.get().statistics().mapped_ranges == 0U);
    signal.emit(asked.type); // after the completion: nothing
}

// It has had no effect, which is what total asks for.
BOOST_DATA_TEST_CASE(a_deferred_region_ends_at_once_whatever_is_asked, data::make(types), asked)
{
    test_device const dev(workers(1));
    asio::io_context io;
    asio::cancellation_signal signal;
    int x = 0;
    omp_co::external_event event;
    omp_co::taskwait(omp_co::depend_out(x),
                     omp_co::detach(event))(asio::bind_executor(io, [](error_code) {}));
    std::vector<int> v(8, 3);
    std::optional<error_code> result;
    omp_co::target(dev, increment, omp_co::range(8), omp_co::tofrom(v),
                   omp_co::depend_in(x))(bound(signal.slot(), io, [&](error_code ec) { result = ec; }));
    io.poll();
    signal.emit(asked.type);
    io.poll();
    BOOST_TEST((result == asio::error::operation_aborted));
    event.fulfill();
    io.run();
    BOOST_TEST(v[0] == 3);
}

BOOST_AUTO_TEST_CASE(an_error_of_the_device_beats_the_cancellation)
{
    test_device const dev(workers(1));
    asio::io_context io;
    asio::cancellation_signal signal;
    gate g;
    std::vector<int> v(8, 3);
    error_code result;
    auto const throws = [p = &g](int*) {
        p->pass();
        throw std::runtime_error("on purpose");
    };
    omp_co::target(dev, throws,
                   omp_co::tofrom(v))(bound(signal.slot(), io, [&](error_code ec) { result = ec; }));
    signal.emit(cancellation_type::terminal);
    g.open();
    io.run();
    BOOST_TEST((result == omp_co::errc::kernel_failed));
}

BOOST_DATA_TEST_CASE(a_signal_may_be_late_or_gone, data::make(device_kinds), kind)
{
    test_device const dev = kind.make();
    asio::io_context io;
    std::vector<int> v(8, 0);
    auto const op = omp_co::target(dev, increment, omp_co::range(8), omp_co::tofrom(v));
    int calls = 0;
    auto const count = [&](error_code ec) { calls += !ec; };

    asio::cancellation_signal signal;
    op(bound(signal.slot(), io, count));
    io.run();
    io.restart();
    signal.emit(cancellation_type::terminal); // the operation's memory is long gone
    op(bound(signal.slot(), io, count));
    io.run();
    io.restart();
    {
        asio::cancellation_signal gone;
        op(bound(gone.slot(), io, count));
        omp_co::when_all(op, op)(bound(asio::cancellation_slot(), io, count));
    }
    io.run();
    BOOST_TEST(calls == 4);

    // The handler owns the signal that cancels it.
    io.restart();
    auto own = std::make_shared<asio::cancellation_signal>();
    std::weak_ptr<asio::cancellation_signal> watch = own;
    auto slot = own->slot();
    op(bound(slot, io, [&, own = std::move(own)](error_code ec) {
        calls += !ec;
        own->emit(cancellation_type::terminal);
    }));
    io.run();
    BOOST_TEST(calls == 5);
    BOOST_TEST(watch.expired());
}

// A slot holds no part of the operation: whoever owns the signal may keep it for as long as he likes.
BOOST_DATA_TEST_CASE(a_signal_that_outlives_the_operation_keeps_nothing_of_it, data::make({0, 1, 2}), which)
{
    test_device const dev(workers(1));
    std::vector<int> v(8, 0);
    auto const op = omp_co::target(dev, increment, omp_co::range(8), omp_co::tofrom(v));
    for (bool abandoned : {false, true}) {
        asio::cancellation_signal signal;
        handler_record r;
        r.slot = signal.slot();
        {
            asio::io_context io;
            omp_co::task_group group(io.get_executor());
            group.spawn(op);
            if (which == 0) r.start(op, io.get_executor());
            if (which == 1) r.start(omp_co::when_all(op, op), io.get_executor());
            if (which == 2) r.start(group.wait(), io.get_executor());
            if (!abandoned) io.run();
            BOOST_TEST(r.calls == (abandoned ? 0 : 1));
        }
        BOOST_TEST(r.memory.live == 0);
        BOOST_TEST(r.alive == 0);
        BOOST_TEST(r.where.work == 0);
        signal.emit(cancellation_type::terminal);
    }
}

BOOST_DATA_TEST_CASE(cancelling_a_group_waits_for_all_its_members, data::make({0, 1}), tasks)
{
    test_device const dev(workers(1));
    asio::io_context io;
    asio::cancellation_signal signal;
    gate g;
    std::array<std::vector<int>, 3> v;
    for (auto& each : v) each.assign(8, 0);
    omp_co::task_group group(io.get_executor());
    auto op = [&](std::size_t i) { return omp_co::target(dev, g.kernel(), omp_co::tofrom(v[i])); };
    error_code result;
    int left = 0;
    bool called = false;
    auto done = [&](error_code ec) {
        called = true;
        result = ec;
        left = g.left();
    };
    if (tasks != 0) {
        for (std::size_t i = 0; i < v.size(); ++i) group.spawn(op(i));
        group.wait()(bound(signal.slot(), io, done));
    } else {
        omp_co::when_all(op(0), op(1), op(2))(bound(signal.slot(), io, done));
    }
    BOOST_TEST(g.wait_entered(1));
    signal.emit(cancellation_type::terminal);
    io.poll();
    BOOST_TEST(!called);
    std::optional<asio::steady_timer> timer;
    open_soon(io, g, timer);
    io.run();
    BOOST_TEST(called);
    BOOST_TEST((result == asio::error::operation_aborted), result.message());
    BOOST_TEST(left == 3);
    for (auto const& each : v) BOOST_TEST(each[0] == 1);

    // Used again, the group knows nothing of it.
    if (tasks == 0) return;
    called = false;
    io.restart();
    group.spawn(op(0));
    group.wait()(asio::bind_executor(io, done));
    io.run();
    BOOST_TEST(called);
    BOOST_TEST(!result);
}

BOOST_AUTO_TEST_CASE(a_deadline_leaves_no_region_behind)
{
    findings f;
    test_device const dev(workers(1));
    asio::io_context io;
    std::atomic<bool> quiet{true};
    auto const slow = [q = &quiet](std::size_t i, int* p) {
        q->store(false);
        if (i == 0) std::this_thread::sleep_for(50ms);
        p[i] = 1;
        q->store(true);
    };
    bool ended = false;
    asio::co_spawn(
        io,
        [&]() -> asio::awaitable<void> {
            asio::steady_timer timer(io, 5ms);
            {
                std::vector<int> v(64, 0);
                auto const op = omp_co::target(dev, slow, omp_co::range(1), omp_co::tofrom(v));
                auto const won = co_await (op(asio::use_awaitable) || timer.async_wait(asio::use_awaitable));
                f.check(won.index() == 1, "the timer wins");
            }
            f.check(quiet, "nothing runs any more");
            f.check(dev.get().statistics().in_flight == 0, "nothing is in flight");
            std::vector<int> w(8, 0);
            co_await omp_co::target(dev, increment, omp_co::range(8), omp_co::tofrom(w));
            f.check(w[7] == 1, "the coroutine goes on");
        },
        [&](std::exception_ptr e) { ended = !e; });
    io.run();
    BOOST_TEST(ended);
}

// The mapping has taken effect although the await says operation_aborted: nobody but the construct can undo it.
BOOST_AUTO_TEST_CASE(target_data_cancelled_in_its_entry_leaves_no_mapping)
{
    test_device const dev(workers(1));
    asio::io_context io;
    gate g;
    std::vector<int> v(8, 1);
    std::vector<int> blocker(8, 1);
    asio::cancellation_signal signal;
    std::exception_ptr failure;
    bool entered = false;
    auto body = [&]() -> asio::awaitable<void> {
        entered = true;
        co_return;
    };
    omp_co::target(dev, g.kernel(), omp_co::tofrom(blocker))(asio::bind_executor(io, [](error_code) {}));
    BOOST_TEST(g.wait_entered(1));
    asio::co_spawn(io, omp_co::target_data(dev, omp_co::tofrom(v), body),
                   asio::bind_cancellation_slot(signal.slot(), [&](std::exception_ptr e) { failure = e; }));
    io.poll();
    signal.emit(cancellation_type::terminal);
    std::optional<asio::steady_timer> timer;
    open_soon(io, g, timer);
    io.run();
    BOOST_TEST((failure != nullptr));
    BOOST_TEST(!entered);
    BOOST_TEST(v[0] == 1);
    BOOST_TEST(dev.get().statistics().mapped_ranges == 0U);
    BOOST_TEST(settle(dev));
    BOOST_TEST(dev.get().statistics().device_bytes == 0U);
}

BOOST_AUTO_TEST_CASE(target_data_cancelled_in_its_body_copies_back_and_tells)
{
    findings f;
    test_device const dev(workers(1));
    asio::io_context io;
    gate g;
    std::vector<int> v(8, 1);
    asio::cancellation_signal signal;
    error_code result;
    bool state_kept = false;
    auto body = [&]() -> asio::awaitable<void> {
        auto [ec] =
            co_await omp_co::target(dev, g.kernel(), omp_co::alloc(v))(asio::as_tuple(asio::use_awaitable));
        result = ec;
    };
    asio::co_spawn(
        io,
        [&]() -> asio::awaitable<void> {
            co_await asio::this_coro::throw_if_cancelled(false);
            co_await omp_co::target_data(dev, omp_co::tofrom(v), body);
            auto const state = co_await asio::this_coro::cancellation_state;
            state_kept = state.cancelled() == cancellation_type::terminal;
        },
        asio::bind_cancellation_slot(signal.slot(),
                                     [&](std::exception_ptr e) { f.check(!e, "no exception leaves"); }));
    while (g.entered() == 0) io.run_one_for(1ms);
    signal.emit(cancellation_type::terminal);
    std::optional<asio::steady_timer> timer;
    open_soon(io, g, timer);
    io.run();
    BOOST_TEST((result == asio::error::operation_aborted));
    BOOST_TEST(state_kept);
    BOOST_TEST(v[0] == 2); // the end always runs
    BOOST_TEST(dev.get().statistics().mapped_ranges == 0U);
}

// With Asio's usual state, in which every await after the request throws, and with a body that swallows the request.
BOOST_DATA_TEST_CASE(target_data_ends_its_mapping_however_its_body_is_cancelled, data::make({false, true}),
                     swallows)
{
    test_device const dev(workers(1));
    asio::io_context io;
    std::vector<int> v(8, 1);
    bool ended = false;
    bool won = false;
    auto body = [&]() -> asio::awaitable<void> {
        co_await omp_co::target(dev, increment, omp_co::range(8), omp_co::alloc(v));
        asio::steady_timer never(io, 1h);
        if (swallows)
            co_await never.async_wait(asio::as_tuple(asio::use_awaitable));
        else
            co_await never.async_wait(asio::use_awaitable);
    };
    asio::co_spawn(
        io,
        [&]() -> asio::awaitable<void> {
            asio::steady_timer deadline(io, 20ms);
            auto const first = co_await (omp_co::target_data(dev, omp_co::tofrom(v), body) ||
                                         deadline.async_wait(asio::use_awaitable));
            won = first.index() == 1;
        },
        [&](std::exception_ptr e) { ended = !e; });
    io.run();
    BOOST_TEST(ended);
    BOOST_TEST((won || swallows));
    BOOST_TEST(v[0] == 2);
    BOOST_TEST(dev.get().statistics().mapped_ranges == 0U);
    BOOST_TEST(settle(dev));
    BOOST_TEST(dev.get().statistics().device_bytes == 0U);
}

BOOST_AUTO_TEST_CASE(the_end_of_target_data_cannot_be_cancelled)
{
    test_device const dev(workers(1));
    asio::io_context io;
    gate g;
    std::vector<int> v(8, 1);
    std::vector<int> blocker(8, 1);
    asio::cancellation_signal signal;
    bool good = false;
    auto body = [&]() -> asio::awaitable<void> {
        co_await omp_co::target(dev, increment, omp_co::range(8), omp_co::alloc(v));
        // Keeps the device busy, so that the end is in flight when the request comes.
        omp_co::target(dev, g.kernel(), omp_co::tofrom(blocker))(asio::bind_executor(io, [](error_code) {}));
    };
    asio::co_spawn(io, omp_co::target_data(dev, omp_co::tofrom(v), body),
                   asio::bind_cancellation_slot(signal.slot(), [&](std::exception_ptr e) { good = !e; }));
    while (g.entered() == 0) io.run_one_for(1ms);
    io.poll();
    signal.emit(cancellation_type::terminal);
    std::optional<asio::steady_timer> timer;
    open_soon(io, g, timer);
    io.run();
    BOOST_TEST(good);
    BOOST_TEST(v[0] == 2);
    BOOST_TEST(dev.get().statistics().mapped_ranges == 0U);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace cancellation_test
