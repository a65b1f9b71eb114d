// SPDX-License-Identifier: BSL-1.0
// Queues on CUDA devices: what is told early there, what is ordered, and what becomes of errors.
#include "cuda_backend/bed.hpp"
#include "support/outcome.hpp"
#include "support/started.hpp"

#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace queues_test {

namespace data = boost::unit_test::data;
using namespace cuda_test;
using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;
using omp_co::errc;
using omp_co_test::outcome;
using omp_co_test::starter;

omp_co::kernel<void(int*)> const increment("increment", omp_co::host::variant([](int* p) { ++*p; }), image);
omp_co::kernel<void(int const*, int*)> const
    add_from("add_from", omp_co::host::variant([](int const* a, int* b) { *b += *a; }), image);

BOOST_AUTO_TEST_SUITE(queues_on_cuda)

BOOST_DATA_TEST_CASE(constructs_run_in_order, data::make(varieties), v)
{
    bed const dev(v);
    int x = 1;
    {
        omp_co::queue const q(dev);
        BOOST_TEST(!outcome(omp_co::target_enter_data(q, omp_co::to(x))));
        for (int k = 0; k < 300; ++k) { // more than there is room for
            BOOST_TEST(!outcome(omp_co::target(q, increment, omp_co::tofrom(x))));
            if (k % 30 == 0)
                BOOST_TEST(!outcome(omp_co::target(q, add_from, omp_co::to(x), omp_co::tofrom(x))));
        }
        BOOST_TEST(!outcome(omp_co::target_exit_data(q, omp_co::from(x))));
    }
    int expected = 1;
    for (int k = 0; k < 300; ++k) {
        ++expected;
        if (k % 30 == 0) expected *= 2;
    }
    BOOST_TEST(x == expected);
    BOOST_TEST(dev.now().mapped_ranges == 0U);
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(simulated))
BOOST_DATA_TEST_CASE(only_what_brings_something_back_waits_for_slow_kernels, data::make(cuda_varieties), v)
{
    bed const dev(v, {{"KERNEL_US", "100000"}});
    BOOST_TEST(!outcome(increment.prepare(dev.get())));
    int x = 1;
    {
        omp_co::queue const q(dev);
        BOOST_TEST(!outcome(omp_co::target_enter_data(q, omp_co::to(x))));
        auto const begin = clock_type::now();
        for (int k = 0; k < 3; ++k) BOOST_TEST(!outcome(omp_co::target(q, increment, omp_co::tofrom(x))));
        BOOST_TEST((clock_type::now() - begin < 200ms));
        BOOST_TEST(!outcome(omp_co::target_update(q, omp_co::from(x))));
        BOOST_TEST((clock_type::now() - begin >= 299ms));
        BOOST_TEST(x == 4);
        BOOST_TEST(!outcome(omp_co::target_exit_data(q, omp_co::release(x))));
    }
}

// Up to 64 KiB are staged when they are submitted, more by the helper; from 256 KiB on the queue has no copy of its own.
// Pinned memory of that size is read by the device itself.
constexpr std::size_t sizes[]{4, 40 << 10, 100 << 10, 256 << 10, (256 << 10) + 4, 3 << 20};

BOOST_DATA_TEST_CASE(data_may_be_changed_right_after_the_await,
                     data::make(cuda_varieties) * data::make(sizes) * data::make({false, true}), v, bytes,
                     pinned)
{
    bed const dev(v, {{"KERNEL_US", "2000"}});
    std::vector<int> x(bytes / sizeof(int), 1);
    int y = 0;
    BOOST_TEST(!outcome(omp_co::target(dev.get(), increment, omp_co::tofrom(y))));
    std::optional<omp_co::cuda::pinned> pages;
    if (pinned) pages.emplace(omp_co::cuda::pin(x));
    {
        omp_co::queue const q(dev);
        BOOST_TEST(!outcome(omp_co::target_enter_data(q, omp_co::to(y))));
        for (int round = 1; round <= 3; ++round) {
            BOOST_TEST(!outcome(omp_co::target(q, increment, omp_co::tofrom(y)))); // they wait behind it
            std::fill(x.begin(), x.end(), round);
            BOOST_TEST(!outcome(omp_co::target_enter_data(q, omp_co::to(x))));
            std::fill(x.begin(), x.end(), -1);
            BOOST_TEST(!outcome(omp_co::target(q, add_from, omp_co::to(x), omp_co::tofrom(y))));
            BOOST_TEST(!outcome(omp_co::target_update(q, omp_co::to(x))));
            std::fill(x.begin(), x.end(), -2);
            BOOST_TEST(!outcome(omp_co::target_exit_data(q, omp_co::from(x))));
            BOOST_TEST((std::count(x.begin(), x.end(), -1) == static_cast<long>(x.size())));
        }
        BOOST_TEST(!outcome(omp_co::target_exit_data(q, omp_co::from(y))));
    }
    BOOST_TEST(y == 1 + 3 + 1 + 2 + 3);
    BOOST_TEST(dev.now().mapped_ranges == 0U);
}

// What a region reads itself, and a box of rows: no copy of the queue's, and a signal in the middle.
BOOST_DATA_TEST_CASE(a_kernel_reads_what_was_there_when_it_was_started,
                     data::make(varieties) * data::make(sizes), v, bytes)
{
    bed const dev(v, {{"KERNEL_US", "2000"}});
    std::vector<int> x(bytes / sizeof(int), 0);
    int y = 0;
    {
        omp_co::queue const q(dev);
        BOOST_TEST(!outcome(omp_co::target_enter_data(q, omp_co::to(y))));
        for (int k = 1; k <= 5; ++k) {
            x[0] = k;
            BOOST_TEST(!outcome(omp_co::target(q, add_from, omp_co::to(x), omp_co::tofrom(y))));
        }
        BOOST_TEST(!outcome(omp_co::target_exit_data(q, omp_co::from(y))));
    }
    BOOST_TEST(y == 15);
    BOOST_TEST(dev.now().device_bytes == 0U);
}

// Its effect is on the host at once, so whoever has awaited it looks for it there.
BOOST_AUTO_TEST_CASE(pinned_memory_that_a_kernel_reaches_waits)
{
    bed const dev(varieties[0], {{"KERNEL_US", "20000"}});
    std::vector<int, omp_co::cuda::pinned_allocator<int>> x(4, 1);
    omp_co::queue const q(dev);
    int* const there = static_cast<int*>(omp_co::cuda::where_is(x.data()).on_device);
    BOOST_REQUIRE(there != nullptr);
    BOOST_TEST(!outcome(omp_co::target(q, increment, omp_co::is_device_ptr(there))));
    BOOST_TEST(x[0] == 2);
    auto own = omp_co::sync_wait(omp_co::allocate<int>(dev.get(), 4));
    BOOST_TEST(!outcome(omp_co::target(q, increment, omp_co::is_device_ptr(own.get()))));
    if (simulator::present()) BOOST_TEST(dev.now().in_flight == 1U); // not waited for
    BOOST_TEST(!outcome(q.synchronize()));
}

BOOST_DATA_TEST_CASE(free_regions_keep_the_order_of_shared_data, data::make(varieties), v)
{
    bed const dev(v, {{"KERNEL_US", "2000"}});
    int x = 1;
    {
        omp_co::queue const q(dev);
        BOOST_TEST(!outcome(omp_co::target_enter_data(q, omp_co::to(x))));
        for (int k = 0; k < 5; ++k) {
            BOOST_TEST(!outcome(omp_co::target(q, increment, omp_co::tofrom(x))));
            BOOST_TEST(!outcome(omp_co::target(dev.get(), add_from, omp_co::to(x), omp_co::tofrom(x))));
        }
        BOOST_TEST(!outcome(omp_co::target_exit_data(q, omp_co::from(x))));
    }
    int expected = 1;
    for (int k = 0; k < 5; ++k) expected = (expected + 1) * 2;
    BOOST_TEST(x == expected);
}

// As many as do not fit on a page of signals.
BOOST_DATA_TEST_CASE(a_hundred_queues_at_once, data::make(varieties), v)
{
    bed const dev(v, {{"KERNEL_US", "20000"}});
    BOOST_TEST(!outcome(increment.prepare(dev.get())));
    std::vector<int> x(100);
    std::vector<omp_co::queue> queues;
    for (std::size_t i = 0; i < x.size(); ++i) {
        queues.emplace_back(dev.get());
        x[i] = static_cast<int>(i);
    }
    starter s;
    for (std::size_t i = 0; i < x.size(); ++i)
        s.start(omp_co::target(queues[i], increment, omp_co::tofrom(x[i])));
    BOOST_TEST(s.run());
    for (std::size_t i = 0; i < x.size(); ++i) BOOST_TEST(x[i] == static_cast<int>(i) + 1);
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(simulated))
BOOST_DATA_TEST_CASE(an_error_is_told_once_and_what_comes_behind_is_skipped, data::make(cuda_varieties), v)
{
    bed const dev(v);
    int x = 1;
    {
        omp_co::queue const q(dev);
        BOOST_TEST(!outcome(omp_co::target_enter_data(q, omp_co::to(x))));
        BOOST_TEST(!outcome(omp_co::target(q, increment, omp_co::tofrom(x))));
        BOOST_TEST(!outcome(q.synchronize()));
        simulator::set("FAULT", "cuLaunchKernel:1:CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES");
        (void)outcome(omp_co::target(q, increment, omp_co::tofrom(x)));
        (void)outcome(omp_co::target(q, increment, omp_co::tofrom(x)));
        omp_co::error_code const ec = outcome(q.synchronize());
        BOOST_TEST((ec == errc::invalid_argument), ec.message());
        BOOST_TEST(!outcome(q.synchronize()));
        BOOST_TEST(!outcome(omp_co::target(q, increment, omp_co::tofrom(x))));
        BOOST_TEST(!outcome(omp_co::target_exit_data(q, omp_co::from(x))));
    }
    BOOST_TEST(x == 3);
}

// The helper finds the first one out long after the others were enqueued.
BOOST_TEST_DECORATOR(*boost::unit_test::precondition(simulated))
BOOST_DATA_TEST_CASE(what_is_behind_a_copy_that_fails_is_skipped, data::make(cuda_varieties), v)
{
    bed const dev(v);
    std::vector<int> large(std::size_t{1} << 20, 1);
    int y = 5;
    {
        omp_co::queue const q(dev);
        BOOST_TEST(!outcome(omp_co::target(q, increment, omp_co::tofrom(y))));
        BOOST_TEST(!outcome(omp_co::target_enter_data(q, omp_co::to(y))));
        BOOST_TEST(!outcome(q.synchronize()));
        unsigned long const launches = simulator::count("cuLaunchKernel");
        simulator::set("FAULT", "cuMemcpyHtoDAsync_v2:2:CUDA_ERROR_OUT_OF_MEMORY");
        starter s;
        auto const& first = s.start(omp_co::target(q, add_from, omp_co::to(large), omp_co::tofrom(y)));
        for (int k = 0; k < 10; ++k) s.start(omp_co::target(q, increment, omp_co::tofrom(y)));
        auto const& last = s.start(q.synchronize());
        (void)s.run();
        BOOST_TEST(first.over());
        BOOST_TEST(last.failed_with(errc::out_of_memory));
        BOOST_TEST(simulator::count("cuLaunchKernel") == launches);
        BOOST_TEST(!outcome(omp_co::target_exit_data(q, omp_co::from(y))));
    }
    BOOST_TEST(y == 6);
    BOOST_TEST(dev.now().mapped_ranges == 0U);
    BOOST_TEST(dev.now().device_bytes == 0U);
}

// The helper unpacks large copies by itself, and small ones are unpacked when somebody asks: what left the device first gets to the
// host first all the same.
BOOST_DATA_TEST_CASE(copies_out_reach_the_host_in_the_order_of_the_device, data::make(cuda_varieties), v)
{
    bed const dev(v);
    std::vector<int> x(std::size_t{1} << 20, 0);
    omp_co::queue const q(dev);
    BOOST_TEST(!outcome(omp_co::target_enter_data(q, omp_co::to(x))));
    BOOST_TEST(!outcome(q.synchronize()));
    starter all;
    all.start(omp_co::target_update(q, omp_co::from(omp_co::section(x.data(), 0, 16))));
    all.start(omp_co::target(q, increment, omp_co::tofrom(x)));
    all.start(omp_co::target_update(q, omp_co::from(x)));
    std::this_thread::sleep_for(100ms);
    BOOST_TEST(all.run());
    BOOST_TEST(x[0] == 1);
    BOOST_TEST(!outcome(omp_co::target_exit_data(q, omp_co::release(x))));
    BOOST_TEST(!outcome(q.synchronize()));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace queues_test
