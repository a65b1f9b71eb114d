// SPDX-License-Identifier: BSL-1.0
// More than the driver takes and more than the device holds: the rest waits on the host, and the loop stays awake.
#include "cuda_backend/bed.hpp"
#include "support/outcome.hpp"
#include "support/sanitizers.hpp"

#include <algorithm>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <sys/mman.h>
#include <vector>

namespace many_test {

namespace asio = boost::asio;
namespace data = boost::unit_test::data;
using namespace cuda_test;
using namespace std::chrono_literals;
using omp_co_test::outcome;
using omp_co_test::rounds;

using int_kernel = omp_co::kernel<void(int*)>;
int_kernel const increment("increment", image);

BOOST_AUTO_TEST_SUITE(more_than_fits, *boost::unit_test::precondition(simulated))

// The driver blocks whoever enqueues when a stream has about 1,000 commands: a call that waited for the first kernels, which
// take two seconds here, would show in the longest one.
BOOST_DATA_TEST_CASE(a_hundred_thousand_regions_in_flight, data::make({varieties[0], varieties[1]}), v)
{
    bed const dev(v, {{"KERNEL_US", "2000000"}});
    std::size_t const regions = static_cast<std::size_t>(rounds(100'000));
    std::vector<int> x(regions, 0);
    int* const p = x.data();
    BOOST_TEST(!outcome(increment.prepare(dev)));
    BOOST_TEST(!outcome(omp_co::target_enter_data(dev, omp_co::to(x))));
    asio::io_context io;
    std::size_t well = 0;
    std::size_t ill = 0;
    auto handler = asio::bind_executor(io, [&](omp_co::error_code ec) { ++(ec ? ill : well); });
    auto longest = std::chrono::steady_clock::duration::zero();
    for (std::size_t i = 0; i < regions; ++i) {
        auto const begin = std::chrono::steady_clock::now();
        omp_co::target(dev, increment, omp_co::tofrom(omp_co::section(p, i, 1)))(handler);
        longest = std::max(longest, std::chrono::steady_clock::now() - begin);
        if (i == 16) simulator::set("KERNEL_US", "0"); // the first ones hold the others
    }
    BOOST_TEST(dev.now().in_flight == regions);
    BOOST_TEST((longest < 1s));
    std::size_t ticks = 0;
    asio::steady_timer timer(io);
    std::function<void()> const tick = [&] {
        timer.expires_after(1ms);
        timer.async_wait([&](omp_co::error_code) {
            ++ticks;
            if (well + ill < regions) tick();
        });
    };
    tick();
    io.run();
    BOOST_TEST(well == regions);
    BOOST_TEST(ill == 0U);
    BOOST_TEST(ticks > 100U);
    BOOST_TEST(!outcome(omp_co::target_exit_data(dev, omp_co::from(x))));
    BOOST_TEST(std::count(x.begin(), x.end(), 1) == static_cast<std::ptrdiff_t>(regions));
    BOOST_TEST(dev.now().device_bytes == 0U);
}

// Ten thousand regions that need 1 MiB each, on a device that holds 64 of them.
BOOST_DATA_TEST_CASE(more_memory_than_the_device_has, data::make(cuda_varieties), v)
{
    bed const dev(v, {{"MEMORY", std::to_string(64 << 20)}});
    std::size_t const regions = static_cast<std::size_t>(rounds(10'000));
    std::size_t const bytes = std::size_t{1} << 20;
    // Only the addresses matter: no byte of it is read.
    void* const space =
        ::mmap(nullptr, regions * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    BOOST_REQUIRE(space != MAP_FAILED);
    char* const p = static_cast<char*>(space);
    std::vector<int> x(regions, 0);
    asio::io_context io;
    std::size_t well = 0;
    std::size_t ill = 0;
    auto handler = asio::bind_executor(io, [&](omp_co::error_code ec) { ++(ec ? ill : well); });
    for (std::size_t i = 0; i < regions; ++i)
        omp_co::target(dev, increment, omp_co::tofrom(x[i]),
                       omp_co::also(omp_co::alloc(omp_co::section(p, i * bytes, bytes))))(handler);
    io.run();
    BOOST_TEST(well == regions);
    BOOST_TEST(ill == 0U);
    BOOST_TEST(std::count(x.begin(), x.end(), 1) == static_cast<std::ptrdiff_t>(regions));
    BOOST_TEST(dev.now().device_bytes == 0U);
    BOOST_TEST(dev.now().mapped_ranges == 0U);
    (void)::munmap(space, regions * bytes);
}

// Arrays so large that the pool keeps none of them: a region that has one and asks for the next keeps what it has.
BOOST_DATA_TEST_CASE(a_region_with_several_large_arrays, data::make(cuda_varieties), v)
{
    constexpr std::size_t mib = std::size_t{1} << 20;
    bed const dev(v, {{"MEMORY", std::to_string(400 * mib)}});
    void* const space =
        ::mmap(nullptr, 800 * mib, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    BOOST_REQUIRE(space != MAP_FAILED);
    char* const p = static_cast<char*>(space);
    int x = 0;
    auto const with = [&](std::size_t a, std::size_t b, std::size_t c) {
        return outcome(omp_co::target(dev.get(), increment, omp_co::tofrom(x),
                                      omp_co::also(omp_co::alloc(omp_co::section(p, 0, a))),
                                      omp_co::also(omp_co::alloc(omp_co::section(p, 300 * mib, b))),
                                      omp_co::also(omp_co::alloc(omp_co::section(p, 600 * mib, c)))));
    };
    BOOST_TEST(!with(128 * mib, 96 * mib, 80 * mib));
    BOOST_TEST(x == 1);
    BOOST_TEST((with(220 * mib, 200 * mib, 1) == omp_co::errc::out_of_memory));
    BOOST_TEST(x == 1);
    BOOST_TEST(!with(300 * mib, 4096, 4096));
    BOOST_TEST(x == 2);
    BOOST_TEST(dev.now().device_bytes == 0U);
    BOOST_TEST(dev.now().mapped_ranges == 0U);
    (void)::munmap(space, 800 * mib);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace many_test
