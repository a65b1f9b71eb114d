// SPDX-License-Identifier: BSL-1.0
// Driver calls that take long never do so on an event loop's thread.
#include "cuda_backend/bed.hpp"
#include "support/outcome.hpp"

#include <algorithm>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace slow_calls_test {

namespace asio = boost::asio;
namespace data = boost::unit_test::data;
using namespace cuda_test;
using namespace std::chrono_literals;
using omp_co::errc;
using omp_co_test::outcome;

using clock_type = std::chrono::steady_clock;
using int_kernel = omp_co::kernel<void(int*)>;
int_kernel const increment("increment", image);

/// How late a timer of a millisecond comes, at worst, while an operation runs in the same loop.
template <class Operation, class Value = int>
clock_type::duration longest_pause(Operation const& op, omp_co::error_code& result, Value* given = nullptr)
{
    asio::io_context io;
    asio::steady_timer timer(io);
    bool over = false;
    auto longest = clock_type::duration::zero();
    auto last = clock_type::now();
    std::function<void()> const tick = [&] {
        timer.expires_after(1ms);
        timer.async_wait([&](omp_co::error_code) {
            longest = std::max(longest, clock_type::now() - last);
            last = clock_type::now();
            if (!over) tick();
        });
    };
    tick();
    op(asio::bind_executor(io, [&](omp_co::error_code ec, auto... value) {
        result = ec;
        if constexpr (sizeof...(value) != 0) ((*given = std::move(value)), ...);
        over = true;
    }));
    io.run();
    return longest;
}

char const* const slow_functions[]{
    "cuDevicePrimaryCtxRetain",     "cuStreamCreate",     "cuMemPoolCreate",
    "cuMemAllocFromPoolAsync",      "cuMemAlloc_v2",      "cuMemHostRegister_v2",
    "cuMemHostGetDevicePointer_v2", "cuModuleLoadDataEx", "cuModuleGetFunction",
    "cuPointerGetAttribute"};

BOOST_AUTO_TEST_SUITE(slow_calls, *boost::unit_test::precondition(simulated))

// The device is new, so the region brings about whatever a device needs at first.
BOOST_DATA_TEST_CASE(the_first_region_leaves_the_loop_free, data::make(slow_functions) * data::make({0, 3}),
                     function, kind)
{
    bed dev(varieties[kind], {{"CALL_US", std::string(function) + ":400000"}});
    std::vector<int> x(100, 1);
    omp_co::error_code ec;
    auto const pause = longest_pause(omp_co::target(dev, increment, omp_co::tofrom(x)), ec);
    BOOST_TEST(!ec, ec.message());
    BOOST_TEST(x[0] == 2);
    BOOST_TEST((pause < 300ms),
               function << " kept the loop for "
                        << std::chrono::duration_cast<std::chrono::milliseconds>(pause).count() << " ms");
}

// Without pools an allocation waits for all kernels.
BOOST_DATA_TEST_CASE(memory_that_must_grow_leaves_the_loop_free, data::make(cuda_varieties), v)
{
    bed dev(v);
    int y = 0;
    BOOST_TEST(!outcome(omp_co::target(dev, increment, omp_co::tofrom(y))));
    simulator::set("CALL_US", v.pools ? "cuMemAllocFromPoolAsync:400000" : "cuMemAlloc_v2:400000");
    std::vector<int> x(1000, 1);
    omp_co::error_code ec;
    auto const pause = longest_pause(omp_co::target(dev, increment, omp_co::tofrom(x)), ec);
    BOOST_TEST(!ec, ec.message());
    BOOST_TEST(x[0] == 2);
    BOOST_TEST((pause < 300ms));
}

// The first allocation of a device makes it usable; without pools, each of them waits for all kernels.
BOOST_DATA_TEST_CASE(an_allocation_leaves_the_loop_free, data::make(slow_functions) * data::make({0, 3}),
                     function, kind)
{
    bed dev(varieties[kind], {{"CALL_US", std::string(function) + ":400000"}});
    omp_co::error_code ec;
    omp_co::device_buffer<int> made;
    auto const pause = longest_pause(omp_co::allocate<int>(dev, 1000), ec, &made);
    BOOST_TEST(!ec, ec.message());
    BOOST_TEST((pause < 300ms));
    std::vector<int> x(1000, 3);
    BOOST_TEST(!outcome(omp_co::target_memcpy(made, x)));
    BOOST_TEST(!outcome(omp_co::target(dev, increment, omp_co::is_device_ptr(made.get()))));
    BOOST_TEST(!outcome(omp_co::target_memcpy(x, made)));
    BOOST_TEST(x[0] == 4);
}

BOOST_AUTO_TEST_CASE(pinning_leaves_the_loop_free)
{
    bed dev(varieties[0], {{"CALL_US", "cuMemHostRegister_v2:400000"}});
    std::vector<int> x((std::size_t{4} << 20) / sizeof(int), 1);
    omp_co::error_code ec;
    omp_co::cuda::pinned held;
    auto const pin = omp_co::cuda::async_pin(x);
    BOOST_TEST((longest_pause(pin, ec, &held) < 300ms));
    BOOST_TEST(!ec, ec.message());
    BOOST_TEST(static_cast<bool>(held));
    omp_co::cuda::pinned second;
    (void)longest_pause(pin, ec, &second); // a range is pinned once
    BOOST_TEST((ec == errc::invalid_argument), ec.message());
    BOOST_TEST(!second);
    simulator::set("CALL_US", "0");
    BOOST_TEST(!outcome(omp_co::target(dev, increment, omp_co::tofrom(x))));
    BOOST_TEST(x[0] == 2);
}

// The loop runs as long as the operation lasts, and may go before it ends.
BOOST_AUTO_TEST_CASE(pinning_belongs_to_a_loop)
{
    bed dev(varieties[0], {{"CALL_US", "cuMemHostRegister_v2:5000"}});
    std::vector<int> x(1000, 1);
    for (int i = 0; i < 20; ++i) {
        asio::io_context io;
        bool called = false;
        omp_co::cuda::async_pin(x)(
            asio::bind_executor(io, [&](omp_co::error_code ec, omp_co::cuda::pinned) { called = !ec; }));
        io.run();
        BOOST_TEST(called);
    }
    for (int i = 0; i < 20; ++i) {
        asio::io_context io;
        omp_co::cuda::async_pin(x)(
            asio::bind_executor(io, [](omp_co::error_code, omp_co::cuda::pinned) { BOOST_ERROR("called"); }));
    }
}

// The same of an allocation; what comes when nobody is left is given back.
BOOST_DATA_TEST_CASE(an_allocation_belongs_to_a_loop, data::make(cuda_varieties), v)
{
    bed dev(v, {{"CALL_US", v.pools ? "cuMemAllocFromPoolAsync:5000" : "cuMemAlloc_v2:5000"}});
    for (std::size_t n = 1; n < 20; ++n) {
        asio::io_context io;
        bool called = false;
        omp_co::allocate<int>(dev, n << 12)(asio::bind_executor(
            io, [&](omp_co::error_code ec, omp_co::device_buffer<int> b) { called = !ec && b; }));
        if (n % 2 == 0) {
            io.run();
            BOOST_TEST(called);
        }
    }
    BOOST_TEST(dev.now().in_flight == 0U);
    BOOST_TEST(dev.now().device_bytes == 0U);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace slow_calls_test
