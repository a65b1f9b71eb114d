// SPDX-License-Identifier: BSL-1.0
// Every construct with every completion token, and without any usable execution context.

// Under -fsanitize=address g++ 12 takes the empty initiation object inside Asio's use_future for uninitialised.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include "support/devices.hpp"
#include "support/findings.hpp"
#include "support/gate.hpp"
#include "support/kernels.hpp"
#include "support/loops.hpp"

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <future>
#include <vector>

namespace tokens_test {

namespace asio = boost::asio;
namespace data = boost::unit_test::data;
using namespace asio::experimental::awaitable_operators;
using namespace omp_co_test;
using namespace std::chrono_literals;
using omp_co::error_code;

constexpr auto fail = [](std::size_t, int*) { throw std::runtime_error("on purpose"); };

template <class Future>
bool ready(Future& f)
{
    return f.wait_for(20s) == std::future_status::ready;
}

// Each token starts the operation once more; `value` tells what it did.
template <class Operation>
asio::awaitable<void> await_in_each_way(Operation op, findings& f)
{
    co_await op(asio::use_awaitable);
    auto [ec] = co_await op(asio::as_tuple(asio::use_awaitable));
    f.check(!ec, "as_tuple");
    auto [again] = co_await op(asio::as_tuple(asio::deferred));
    f.check(!again, "as_tuple(deferred)");
    auto later = op(asio::deferred);
    co_await std::move(later);
    Operation named(op);
    co_await std::move(named);
}

template <class Operation>
void start_in_each_way(Operation const& op)
{
    findings f;
    auto future = op(asio::use_future);
    BOOST_TEST(ready(future));
    BOOST_CHECK_NO_THROW(future.get());

    // No executor at all: the library's thread calls it.
    std::promise<error_code> plain;
    op([&](error_code ec) { plain.set_value(ec); });
    auto called = plain.get_future();
    BOOST_TEST(ready(called));
    BOOST_TEST(!called.get());

    asio::io_context io;
    int calls = 0;
    auto const count = [&](error_code ec) { calls += !ec; };
    op(asio::bind_executor(io, count));
    op(asio::deferred)(asio::bind_executor(io, count));
    op(asio::any_completion_handler<void(error_code)>(asio::bind_executor(io, count)));
    op(asio::bind_executor(asio::any_completion_executor(io.get_executor()), count));
    op(asio::bind_executor(asio::any_io_executor(io.get_executor()), count));
    BOOST_TEST(calls == 0);
    io.run();
    BOOST_TEST(calls == 5);

    io.restart();
    bool ended = false;
    asio::co_spawn(io, await_in_each_way(op, f), [&](std::exception_ptr e) { ended = !e; });
    io.run();
    BOOST_TEST(ended);
}

// The same in fewer ways, for what differs in nothing that a token could see: each is a compiled operation more.
template <class Operation>
void start_in_some_ways(Operation const& op)
{
    std::promise<error_code> plain;
    op([&](error_code ec) { plain.set_value(ec); });
    BOOST_TEST(!plain.get_future().get());
    asio::io_context io;
    int calls = 0;
    op(asio::any_completion_handler<void(error_code)>(
        asio::bind_executor(io, [&](error_code ec) { calls += !ec; })));
    asio::co_spawn(
        io, [](Operation named) -> asio::awaitable<void> { co_await std::move(named); }(op),
        [&](std::exception_ptr e) { calls += !e; });
    io.run();
    BOOST_TEST(calls == 2);
}

// What one start_in_each_way starts: a future, a plain call, 5 on the loop, 5 awaited.
constexpr int starts = 12;
// And start_in_some_ways.
constexpr int few = 3;

BOOST_AUTO_TEST_SUITE(tokens)

BOOST_DATA_TEST_CASE(target_takes_any_token, data::make(device_kinds), kind)
{
    test_device const dev = kind.make();
    std::vector<int> v(8, 0);
    start_in_each_way(omp_co::target(dev, increment, omp_co::range(8), omp_co::tofrom(v)));
    BOOST_TEST(v[0] == starts);
    BOOST_TEST(v[7] == starts);
}

BOOST_DATA_TEST_CASE(data_constructs_take_any_token, data::make(copying_kinds), kind)
{
    test_device const dev = kind.make();
    std::vector<int> v(8, 5);
    start_in_some_ways(omp_co::target_enter_data(dev, omp_co::to(v)));
    v[0] = 6;
    start_in_some_ways(omp_co::target_update(dev, omp_co::to(v)));
    v[0] = 0;
    BOOST_TEST(dev.get().statistics().mapped_ranges == 1U);
    start_in_some_ways(omp_co::target_exit_data(dev, omp_co::from(v)));
    BOOST_TEST(v[0] == 6);
    BOOST_TEST(dev.get().statistics().mapped_ranges == 0U);
    BOOST_TEST(dev.get().statistics().copies_in == 1U + few);
}

BOOST_DATA_TEST_CASE(groups_take_any_token, data::make(device_kinds), kind)
{
    test_device const dev = kind.make();
    std::vector<int> v(8, 0);
    std::vector<int> w(8, 0);
    auto const one = omp_co::target(dev, increment, omp_co::range(8), omp_co::tofrom(v));
    auto const two = omp_co::target(dev, increment, omp_co::range(8), omp_co::tofrom(w));
    start_in_each_way(omp_co::when_all(one, two));
    BOOST_TEST(v[7] == starts);
    BOOST_TEST(w[7] == starts);
    start_in_some_ways(omp_co::when_all(std::vector(1, one)));
    BOOST_TEST(v[7] == starts + few);
    start_in_some_ways(omp_co::when_all(std::vector(0, one)));
    BOOST_TEST(v[7] == starts + few);

    asio::thread_pool pool(1);
    omp_co::task_group group(pool.get_executor());
    group.spawn(two);
    start_in_some_ways(group.wait());
    BOOST_TEST(w[7] == starts + 1);
}

BOOST_AUTO_TEST_CASE(an_error_reaches_every_kind_of_token)
{
    test_device const dev(workers(1));
    std::vector<int> v(8, 0);
    auto const op = omp_co::target(dev, fail, omp_co::range(8), omp_co::tofrom(v));
    auto const failed = [](boost::system::system_error const& e) {
        return e.code() == omp_co::errc::kernel_failed;
    };
    BOOST_CHECK_EXCEPTION(op(asio::use_future).get(), boost::system::system_error, failed);
    std::promise<error_code> plain;
    op([&](error_code ec) { plain.set_value(ec); });
    BOOST_TEST((plain.get_future().get() == omp_co::errc::kernel_failed));
    BOOST_CHECK_EXCEPTION(omp_co::sync_wait(op), boost::system::system_error, failed);
    BOOST_CHECK_EXCEPTION(omp_co::when_all(op, op)(asio::use_future).get(), boost::system::system_error,
                          failed);
}

// With no context there is no way to ask but the effect.
BOOST_DATA_TEST_CASE(detached_runs_without_anybody_waiting, data::make(device_kinds), kind)
{
    test_device const dev = kind.make();
    static std::atomic<int> ran; // nobody waits for the kernel: it may outlive this function's frame
    ran = 0;
    auto count = [](std::size_t) { ++ran; };
    omp_co::target(dev, count, omp_co::range(8))(asio::detached);
    omp_co::when_all(omp_co::target(dev, count, omp_co::range(8)))(asio::detached);
    asio::io_context io;
    omp_co::target(dev, count, omp_co::range(8))(asio::bind_executor(io, asio::detached));
    BOOST_TEST(eventually([&] { return ran.load() == 24; }));
    io.run();
}

// Waits until the library's thread has come back from the handlers that it has called: one that went on in a context of
// ours may still be inside that context's post, which must be over before the context goes.
void settle_library_thread()
{
    omp_co::target(omp_co::initial_device(), [] {})(asio::use_future).get();
}

asio::awaitable<void> race_and_join(omp_co::device dev, bool parallel_groups, findings& f)
{
    std::vector<int> v(8, 0);
    std::vector<int> w(8, 0);
    auto const one = omp_co::target(dev, increment, omp_co::range(8), omp_co::tofrom(v));
    auto const two = omp_co::target(dev, increment, omp_co::range(8), omp_co::tofrom(w));
    asio::steady_timer timer(co_await asio::this_coro::executor, std::chrono::hours(1));

    auto const won = co_await (one(asio::use_awaitable) || timer.async_wait(asio::use_awaitable));
    f.check(won.index() == 0 && v[7] == 1, "the region ends before the timer");

    co_await (one(asio::use_awaitable) && two(asio::use_awaitable));
    f.check(v[7] == 2 && w[7] == 1, "both have run");

    co_await (omp_co::when_all(one, two)(asio::use_awaitable) || timer.async_wait(asio::use_awaitable));
    f.check(v[7] == 3 && w[7] == 2, "a group as one operation");

    omp_co::task_group group(co_await asio::this_coro::executor);
    group.spawn(two);
    co_await (group.wait()(asio::use_awaitable) || timer.async_wait(asio::use_awaitable));
    f.check(w[7] == 3, "and a task_group");

    if (!parallel_groups) co_return;
    auto [order, first, second] =
        co_await asio::experimental::make_parallel_group(one(asio::deferred), two(asio::deferred))
            .async_wait(asio::experimental::wait_for_all(), asio::use_awaitable);
    f.check(order.size() == 2 && !first && !second && v[7] == 4 && w[7] == 4, "a parallel group");

    std::vector<decltype(one(asio::deferred))> many;
    many.push_back(one(asio::deferred));
    many.push_back(one(asio::deferred));
    auto [ranks, codes] = co_await asio::experimental::make_parallel_group(many).async_wait(
        asio::experimental::wait_for_one_error(), asio::use_awaitable);
    f.check(ranks.size() == 2 && !codes[0] && !codes[1] && v[7] == 6, "a parallel group of a range");
}

BOOST_DATA_TEST_CASE(operators_and_parallel_groups_work_where_handlers_are_sequential,
                     data::make(loop_kinds) * data::make(device_kinds), loop_kind, kind)
{
    if (!loop_kind.sequential) return; // Asio's own signals need a strand there
    findings f;
    test_device const dev = kind.make();
    auto const loop = loop_kind.make();
    bool ended = false;
    // Asio's parallel groups give their members no executor, so that they come from the library's thread.
    bool const unlocked = std::string_view(loop_kind.name) == "io_context, unsafe";
    asio::co_spawn(loop->executor(), race_and_join(dev, !unlocked, f),
                   [&](std::exception_ptr e) { ended = !e; });
    loop->run();
    BOOST_TEST(ended);
    settle_library_thread();
    BOOST_TEST(f.made() == (unlocked ? 4U : 6U));
}

// The loop has nothing else to do, and the handler's executor is all that says whose it is.
BOOST_DATA_TEST_CASE(a_pending_operation_keeps_its_loop_running, data::make(loop_kinds), loop_kind)
{
    if (std::string_view(loop_kind.name) == "io_context, unsafe")
        return; // an erased executor is served elsewhere
    test_device const dev(workers(1));
    gate g;
    std::vector<int> v(8, 0);
    auto const loop = loop_kind.make();
    std::atomic<int> calls{0};
    auto const count = [&](error_code ec) { calls += !ec; };
    asio::any_io_executor const ex = loop->executor();
    omp_co::target(dev, g.kernel(),
                   omp_co::tofrom(v))(asio::bind_executor(asio::any_completion_executor(ex), count));
    auto const behind = omp_co::target(dev, increment, omp_co::range(8), omp_co::tofrom(v));
    behind(asio::any_completion_handler<void(error_code)>(asio::bind_executor(ex, count)));
    omp_co::when_all(behind, behind)(asio::bind_executor(ex, count));
    std::thread opener([&] {
        (void)g.wait_entered(1);
        std::this_thread::sleep_for(20ms); // the loop goes to sleep meanwhile
        g.open();
    });
    loop->run();
    opener.join();
    settle_library_thread();
    BOOST_TEST(calls == 3);
}

BOOST_AUTO_TEST_CASE(waiting_for_a_group_keeps_the_waiting_loop_running)
{
    test_device const dev(workers(1));
    gate g;
    std::vector<int> v(8, 0);
    asio::thread_pool members(1);
    omp_co::task_group group(members.get_executor());
    group.spawn(omp_co::target(dev, g.kernel(), omp_co::tofrom(v)));
    asio::io_context io;
    bool called = false;
    group.wait()(asio::bind_executor(io, [&](error_code ec) { called = !ec; }));
    std::thread opener([&] {
        (void)g.wait_entered(1);
        std::this_thread::sleep_for(20ms);
        g.open();
    });
    io.run();
    opener.join();
    BOOST_TEST(called);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tokens_test
