// SPDX-License-Identifier: BSL-1.0
// Loops that sleep are woken in time, at next to no cost, and large copies do not hold them up.
#include "cuda_backend/bed.hpp"
#include "support/outcome.hpp"

#include <algorithm>
#include <boost/asio.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <chrono>
#include <ctime>
#include <thread>
#include <vector>

namespace progress_test {

namespace asio = boost::asio;
namespace data = boost::unit_test::data;
using namespace cuda_test;
using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;
using omp_co_test::outcome;

using int_kernel = omp_co::kernel<void(int*)>;
int_kernel const increment("increment", image);

std::chrono::nanoseconds thread_time()
{
    timespec t{};
    (void)::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
}

std::chrono::nanoseconds process_time()
{
    timespec t{};
    (void)::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
}

BOOST_AUTO_TEST_SUITE(progress)

// Forty kernels of 5 ms on one entry: each region ends when its kernel does, and not all at the end.
BOOST_TEST_DECORATOR(*boost::unit_test::precondition(simulated))
BOOST_DATA_TEST_CASE(a_sleeping_loop_is_woken_for_each_region, data::make(cuda_varieties), v)
{
    bed dev(v);
    int x = 0;
    BOOST_TEST(!outcome(omp_co::target_enter_data(dev, omp_co::to(x))));
    BOOST_TEST(!outcome(increment.prepare(dev)));
    simulator::set("KERNEL_US", "5000");
    asio::io_context io;
    std::vector<clock_type::duration> ends;
    constexpr std::size_t regions = 40;
    auto const begin = clock_type::now();
    auto const spent = thread_time();
    auto const run = [&]() -> asio::awaitable<void> {
        for (std::size_t i = 0; i < regions; ++i) {
            co_await omp_co::target(dev, increment, omp_co::tofrom(x));
            ends.push_back(clock_type::now() - begin);
        }
    };
    asio::co_spawn(io, run(), asio::detached);
    io.run();
    BOOST_REQUIRE(ends.size() == regions);
    BOOST_TEST((ends.back() < regions * 5ms + 250ms));
    BOOST_TEST((thread_time() - spent < 60ms));
    simulator::set("KERNEL_US", "0");
    BOOST_TEST(!outcome(omp_co::target_exit_data(dev, omp_co::from(x))));
    BOOST_TEST(x == static_cast<int>(regions));
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(simulated))
BOOST_DATA_TEST_CASE(regions_in_flight_end_one_by_one, data::make(cuda_varieties), v)
{
    bed dev(v, {{"CONCURRENT_KERNELS", "1"}});
    std::vector<int> x(20, 0);
    BOOST_TEST(!outcome(increment.prepare(dev)));
    for (int& each : x) BOOST_TEST(!outcome(omp_co::target_enter_data(dev, omp_co::to(each))));
    simulator::set("KERNEL_US", "5000");
    asio::io_context io;
    std::vector<clock_type::duration> ends;
    auto const begin = clock_type::now();
    for (int& each : x)
        omp_co::target(dev, increment, omp_co::tofrom(each))(
            asio::bind_executor(io, [&](omp_co::error_code) { ends.push_back(clock_type::now() - begin); }));
    io.run();
    BOOST_REQUIRE(ends.size() == x.size());
    std::size_t late = 0;
    for (std::size_t i = 0; i < ends.size(); ++i) late += ends[i] > (i + 1) * 5ms + 20ms;
    BOOST_TEST(late <= 2U);
    simulator::set("KERNEL_US", "0");
    for (int& each : x) BOOST_TEST(!outcome(omp_co::target_exit_data(dev, omp_co::from(each))));
}

// The host function that would wake the loop never runs: a slow check does.
BOOST_AUTO_TEST_CASE(a_wake_up_that_never_comes_costs_a_tenth_of_a_second,
                     *boost::unit_test::precondition(simulated))
{
    bed dev;
    int x = 0;
    BOOST_TEST(!outcome(increment.prepare(dev)));
    simulator::set("KERNEL_US", "20000");
    simulator::set("LOSE_HOST_FUNCTIONS", "1000");
    auto const begin = clock_type::now();
    BOOST_TEST(!outcome(omp_co::target(dev, increment, omp_co::tofrom(x))));
    BOOST_TEST((clock_type::now() - begin < 400ms));
    BOOST_TEST(x == 1);
}

BOOST_AUTO_TEST_CASE(an_idle_device_costs_nothing)
{
    bed dev;
    std::vector<int> x(1 << 20, 0);
    BOOST_TEST(!outcome(omp_co::target(dev, increment, omp_co::tofrom(x))));
    std::this_thread::sleep_for(20ms);
    auto const spent = process_time();
    std::this_thread::sleep_for(500ms);
    BOOST_TEST((process_time() - spent < 5ms));
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(simulated))
BOOST_DATA_TEST_CASE(a_large_copy_of_pageable_memory_leaves_the_loop_free, data::make(cuda_varieties), v)
{
    bed dev(v, {{"KERNEL_US", "20000"}});
    std::vector<int> x((64 << 20) / sizeof(int), 1);
    BOOST_TEST(!outcome(increment.prepare(dev)));
    asio::io_context io;
    bool over = false;
    std::vector<clock_type::duration> late;
    auto const copy = [&]() -> asio::awaitable<void> {
        co_await omp_co::target(dev, increment, omp_co::tofrom(x));
        over = true;
    };
    auto const tick = [&]() -> asio::awaitable<void> {
        asio::steady_timer timer(io);
        while (!over) {
            auto const due = clock_type::now() + 1ms;
            timer.expires_at(due);
            co_await timer.async_wait(asio::use_awaitable);
            late.push_back(clock_type::now() - due);
        }
    };
    asio::co_spawn(io, tick(), asio::detached);
    asio::co_spawn(io, copy(), asio::detached);
    io.run();
    BOOST_TEST(x[0] == 2);
    BOOST_REQUIRE(late.size() > 10U);
    std::sort(late.begin(), late.end());
    BOOST_TEST((late[late.size() * 9 / 10] < 5ms));
}

BOOST_AUTO_TEST_CASE(pinned_memory_goes_to_the_driver_as_it_is, *boost::unit_test::precondition(simulated))
{
    bed dev;
    std::vector<int, omp_co::cuda::pinned_allocator<int>> x(1 << 20, 1);
    BOOST_TEST(!outcome(omp_co::target(dev, increment, omp_co::tofrom(x))));
    BOOST_TEST(x[0] == 2);
    BOOST_TEST(simulator::count("cuMemcpyHtoDAsync_v2") == 1U);
    std::vector<int> y(1 << 20, 1);
    {
        auto const pinned = omp_co::cuda::pin(y);
        BOOST_TEST(static_cast<bool>(pinned));
        BOOST_TEST(!outcome(omp_co::target(dev, increment, omp_co::tofrom(y))));
    }
    BOOST_TEST(simulator::count("cuMemcpyHtoDAsync_v2") == 2U);
    BOOST_TEST(!outcome(omp_co::target(dev, increment, omp_co::tofrom(y))));
    BOOST_TEST(simulator::count("cuMemcpyHtoDAsync_v2") > 3U);
    BOOST_TEST(y[0] == 3);
}

BOOST_AUTO_TEST_CASE(steady_state_allocates_no_device_memory, *boost::unit_test::precondition(simulated))
{
    bed dev;
    int x = 0;
    for (int i = 0; i < 50; ++i) BOOST_TEST(!outcome(omp_co::target(dev, increment, omp_co::tofrom(x))));
    unsigned long const before = simulator::count("cuMemAllocFromPoolAsync");
    for (int i = 0; i < 50; ++i) BOOST_TEST(!outcome(omp_co::target(dev, increment, omp_co::tofrom(x))));
    BOOST_TEST(simulator::count("cuMemAllocFromPoolAsync") == before);
    BOOST_TEST(x == 100);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace progress_test
