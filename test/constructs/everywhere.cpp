// SPDX-License-Identifier: BSL-1.0
// Every construct, awaited, on every device and in every kind of event loop.
#include "support/devices.hpp"
#include "support/findings.hpp"
#include "support/kernels.hpp"
#include "support/loops.hpp"
#include "support/sanitizers.hpp"

#include <atomic>
#include <boost/asio/detached.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <thread>
#include <vector>

namespace everywhere_test {

namespace asio = boost::asio;
namespace data = boost::unit_test::data;
using namespace omp_co_test;
using omp_co::error_code;

asio::awaitable<void> use_target(omp_co::device dev, findings& f)
{
    std::vector<int> v(33, 1);
    co_await omp_co::target(dev, increment, omp_co::range(v.size()), omp_co::tofrom(v));
    f.check(v[0] == 2 && v[32] == 2, "target ran for each index and copied back");
    auto named = omp_co::target(dev, increment, omp_co::range(v.size()), omp_co::tofrom(v));
    co_await named(asio::use_awaitable);
    co_await std::move(named);
    f.check(v[0] == 4 && v[32] == 4, "an operation is a value that can be started again");
}

asio::awaitable<void> use_data(omp_co::device dev, bool copies, findings& f)
{
    std::vector<int> v(17, 1);
    int scalar = 5;
    co_await omp_co::target_enter_data(dev, omp_co::to(v), omp_co::alloc(scalar));
    f.check(dev.is_present(v.data()) && dev.is_present(&v[16]), "enter data maps the whole range");
    co_await omp_co::target(dev, increment, omp_co::range(v.size()), omp_co::alloc(v));
    f.check(!copies || v[3] == 1, "mapped data stays on the device");
    auto bring = omp_co::target_update(dev, omp_co::from(v));
    co_await std::move(bring);
    f.check(v[3] == 2, "update from brings it");
    v[3] = 40;
    co_await omp_co::target_update(dev, omp_co::to(v));
    co_await omp_co::target(dev, increment, omp_co::range(v.size()), omp_co::alloc(v));
    auto leave = omp_co::target_exit_data(dev, omp_co::from(v), omp_co::release(scalar));
    co_await std::move(leave);
    f.check(v[3] == 41 && v[0] == 3, "exit data brings what the device has");
}

asio::awaitable<void> use_target_data(omp_co::device dev, findings& f)
{
    std::vector<int> v(8, 1);
    auto body = [&]() -> asio::awaitable<int> {
        co_await omp_co::target(dev, increment, omp_co::range(v.size()), omp_co::alloc(v));
        co_return 7;
    };
    int const value = co_await omp_co::target_data(dev, omp_co::tofrom(v), body);
    f.check(value == 7, "target_data returns its body's value");
    f.check(v[7] == 2, "and copies back");
    auto nothing = [&]() -> asio::awaitable<void> { co_return; };
    co_await omp_co::target_data(dev, omp_co::alloc(v), nothing);
}

asio::awaitable<void> use_when_all(omp_co::device dev, findings& f)
{
    std::array<std::vector<int>, 4> v;
    for (auto& each : v) each.assign(8, 0);
    auto op = [&](std::size_t i) {
        return omp_co::target(dev, increment, omp_co::range(8), omp_co::tofrom(v[i]));
    };
    co_await omp_co::when_all(op(0), op(1));
    std::vector<decltype(op(0))> many;
    for (std::size_t i = 0; i < v.size(); ++i) many.push_back(op(i));
    co_await omp_co::when_all(many);
    many.clear();
    co_await omp_co::when_all(many);
    co_await omp_co::when_all();
    auto nested =
        omp_co::when_all(omp_co::when_all(op(0), op(1)), op(2), omp_co::when_all(many), omp_co::when_all());
    co_await std::move(nested);
    f.check(v[0][7] == 3 && v[1][0] == 3 && v[2][5] == 2 && v[3][5] == 1,
            "when_all waits for every operation");
}

asio::awaitable<void> use_task_group(omp_co::device dev, findings& f)
{
    std::array<std::vector<int>, 3> v;
    for (auto& each : v) each.assign(8, 0);
    omp_co::task_group group(co_await asio::this_coro::executor);
    auto task = [](omp_co::device d, std::vector<int>& x) -> asio::awaitable<void> {
        for (int k = 0; k < 3; ++k)
            co_await omp_co::target(d, increment, omp_co::range(8), omp_co::tofrom(x));
    };
    co_await group.wait();
    for (int round = 1; round <= 2; ++round) {
        for (auto& each : v) group.spawn(task(dev, each));
        co_await group.wait();
        f.check(v[0][7] == round * 4 - 1 && v[2][0] == round * 4 - 1, "a group waits for its coroutines");
        for (auto& each : v)
            group.spawn(omp_co::target(dev, increment, omp_co::range(8), omp_co::tofrom(each)));
        co_await group.wait();
        f.check(v[0][7] == round * 4 && v[2][0] == round * 4, "and for its operations, again and again");
    }
}

asio::awaitable<void> use_all(omp_co::device dev, bool copies, findings& f)
{
    auto const mine = co_await asio::this_coro::executor;
    co_await use_target(dev, f);
    co_await use_data(dev, copies, f);
    co_await use_target_data(dev, f);
    co_await use_when_all(dev, f);
    co_await use_task_group(dev, f);
    auto const* strand = mine.target<asio::strand<asio::io_context::executor_type>>();
    f.check(strand == nullptr || strand->running_in_this_thread(), "a coroutine stays on its strand");
    auto const* loop = mine.target<asio::io_context::executor_type>();
    f.check(loop == nullptr || loop->running_in_this_thread(), "and in its loop");
}

BOOST_AUTO_TEST_SUITE(everywhere)

BOOST_DATA_TEST_CASE(every_construct_works_in_every_loop_on_every_device,
                     data::make(loop_kinds) * data::make(device_kinds), loop_kind, kind)
{
    findings f;
    test_device const dev = kind.make();
    std::size_t const mapped = dev.get().statistics().mapped_ranges;
    constexpr int coroutines = 3;
    std::atomic<int> ended{0};
    auto const loop = loop_kind.make();
    for (int i = 0; i < coroutines; ++i)
        asio::co_spawn(loop->executor(), use_all(dev, kind.copies, f), [&](std::exception_ptr e) {
            f.check(!e, "no operation failed");
            ++ended;
        });
    loop->run();
    BOOST_TEST(ended == coroutines);
    BOOST_TEST(f.made() >= static_cast<std::size_t>(coroutines) * 8);
    BOOST_TEST(dev.get().statistics().mapped_ranges == mapped);
    BOOST_TEST(dev.get().statistics().in_flight == 0);
}

// No other thread may touch such a loop, so a group must not wait through the library's thread.
BOOST_DATA_TEST_CASE(a_task_group_is_waited_for_in_a_loop_without_locks, data::make(device_kinds), kind)
{
    findings f;
    test_device const dev = kind.make();
    asio::io_context io(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE);
    bool ended = false;
    asio::co_spawn(io, use_task_group(dev, f), [&](std::exception_ptr e) { ended = !e; });
    io.run_for(std::chrono::seconds(2));
    BOOST_TEST(ended);
}

BOOST_DATA_TEST_CASE(sync_wait_needs_no_loop, data::make(device_kinds), kind)
{
    findings f;
    test_device const dev = kind.make();
    std::vector<int> v(9, 1);
    omp_co::sync_wait(omp_co::target(dev, increment, omp_co::range(9), omp_co::tofrom(v)));
    BOOST_TEST(v[8] == 2);
    omp_co::sync_wait(omp_co::when_all());
    omp_co::sync_wait(use_all(dev, kind.copies, f));
    auto value = []() -> asio::awaitable<std::unique_ptr<int>> { co_return std::make_unique<int>(3); };
    BOOST_TEST(*omp_co::sync_wait(value()) == 3);
    auto fails = []() -> asio::awaitable<void> {
        throw std::domain_error("mine");
        co_return;
    };
    BOOST_CHECK_THROW(omp_co::sync_wait(fails()), std::domain_error);
    BOOST_CHECK_EXCEPTION(
        omp_co::sync_wait(omp_co::target(dev, increment, omp_co::range(-1), omp_co::tofrom(v))),
        boost::system::system_error,
        [](auto const& e) { return e.code() == omp_co::errc::invalid_argument; });
}

// Pitfall 21: a device belongs to nobody's loop.
BOOST_DATA_TEST_CASE(loops_of_several_threads_share_one_device, data::make(device_kinds), kind)
{
    findings f;
    test_device const dev = kind.make();
    std::vector<std::thread> threads;
    std::atomic<int> ended{0};
    for (auto const& each : {loop_kinds[0], loop_kinds[1], loop_kinds[7]})
        threads.emplace_back([&f, &dev, &kind, &ended, make = each.make] {
            auto const loop = make();
            for (int i = 0; i < 3; ++i)
                asio::co_spawn(loop->executor(), use_all(dev, kind.copies, f), [&](std::exception_ptr e) {
                    f.check(!e, "no operation failed");
                    ++ended;
                });
            loop->run();
        });
    for (std::thread& t : threads) t.join();
    BOOST_TEST(ended == 9);
    BOOST_TEST(dev.get().statistics().in_flight == 0);
}

// Pitfall 19: whoever notices a completion, the coroutine goes on where it belongs.
BOOST_AUTO_TEST_CASE(completions_noticed_by_other_threads_resume_on_the_own_strand)
{
    findings f;
    test_device const dev(workers(2));
    std::atomic<bool> over{false};
    // A thread that polls all devices all the time, and so takes most completions away from their loop.
    std::thread busy([&] {
        std::vector<int> v(4, 0);
        while (!over) omp_co::sync_wait(omp_co::target(dev, increment, omp_co::range(4), omp_co::tofrom(v)));
    });
    asio::io_context io;
    auto const strand = asio::make_strand(io);
    int plain = 0; // no lock: the strand is one
    int const each = rounds(400);
    std::vector<std::vector<int>> sets(8, std::vector<int>(16, 0));
    for (auto& set : sets)
        asio::co_spawn(
            strand,
            [&]() -> asio::awaitable<void> {
                for (int k = 0; k < each; ++k) {
                    co_await omp_co::target(dev, increment, omp_co::range(16), omp_co::tofrom(set));
                    f.check(strand.running_in_this_thread(), "on its strand");
                    ++plain;
                }
            },
            asio::detached);
    std::vector<std::thread> runners;
    for (int i = 0; i < 3; ++i) runners.emplace_back([&] { io.run(); });
    io.run();
    for (std::thread& t : runners) t.join();
    over = true;
    busy.join();
    BOOST_TEST(plain == each * 8);
    for (auto const& set : sets) BOOST_TEST(set[15] == each);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace everywhere_test
