// SPDX-License-Identifier: BSL-1.0
// Two CUDA devices in one process: copies between them, and a fault of one that the other survives.
#include "cuda_backend/bed.hpp"
#include "support/outcome.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace several_devices_test {

namespace asio = boost::asio;
using namespace cuda_test;
using omp_co::errc;
using omp_co_test::outcome;

using int_kernel = omp_co::kernel<void(int*)>;
int_kernel const increment("increment", image);

class pair_of_devices {
public:
    pair_of_devices()
    {
        simulator::reset();
        simulator::set("DEVICES", "2");
        auto const& d = omp_co::cuda::driver::table();
        BOOST_REQUIRE(d.init(0) == omp_co::cuda::driver::result::success);
        for (int i = 0; i < 2; ++i) {
            auto made = std::make_unique<omp_co::cuda::engine::cuda_device>(
                d, i, omp_co::cuda::engine::read_limits(d, i), completion_choice::automatic);
            auto& slot = omp_co::detail::registry::instance().add(std::move(made), false);
            devices_[i] = {&slot, slot.generation};
        }
    }
    pair_of_devices(pair_of_devices const&) = delete;
    pair_of_devices& operator=(pair_of_devices const&) = delete;
    ~pair_of_devices()
    {
        for (omp_co::device const& d : devices_)
            omp_co::detail::registry::instance().remove(*d.slot(), d.generation());
        if (fault_expected) return;
        for (std::string const& line : simulator::report())
            BOOST_TEST(line.starts_with("note:"), "the simulator reports " << line);
    }

    omp_co::device operator[](int i) const noexcept { return devices_[i]; }

    bool fault_expected = false;

private:
    omp_co::device devices_[2];
};

BOOST_AUTO_TEST_SUITE(several_devices, *boost::unit_test::precondition(simulated))

BOOST_AUTO_TEST_CASE(memory_goes_from_one_to_the_other_directly)
{
    pair_of_devices const two;
    std::vector<int> x(100'000, 4);
    std::vector<int> y(100'000, 0);
    {
        auto a = omp_co::sync_wait(omp_co::allocate<int>(two[0], x.size()));
        auto b = omp_co::sync_wait(omp_co::allocate<int>(two[1], x.size()));
        BOOST_TEST(!outcome(omp_co::target_memcpy(a, x)));
        asio::io_context io;
        std::size_t failed = 0;
        auto handler = asio::bind_executor(io, [&](omp_co::error_code ec) { failed += ec ? 1 : 0; });
        // The kernels on either side keep their order with the copy, though nothing is awaited.
        omp_co::target(two[0], increment, omp_co::is_device_ptr(a.get()))(handler);
        omp_co::target_memcpy(b, a)(handler);
        omp_co::target(two[0], increment, omp_co::is_device_ptr(a.get()))(handler);
        omp_co::target(two[1], increment, omp_co::is_device_ptr(b.get()))(handler);
        omp_co::target_memcpy(y, b)(handler);
        io.run();
        BOOST_TEST(failed == 0U);
        BOOST_TEST(y[0] == 6);
        BOOST_TEST(y[99'999] == 4);
        BOOST_TEST(simulator::count("cuMemcpyPeerAsync") == 1U);
        // Blocks, a row at a time.
        std::vector<int> z(12, 0);
        BOOST_TEST(!outcome(omp_co::target_memcpy_rect(
            omp_co::device_box(two[0], omp_co::section2d(a.get(), {100, 100}, {50, 50}, {3, 4})),
            omp_co::device_box(two[1], omp_co::section2d(b.get(), {10, 100}, {0, 0}, {3, 4})))));
        BOOST_TEST(!outcome(omp_co::target_memcpy_rect(
            omp_co::section2d(z.data(), {3, 4}, {0, 0}, {3, 4}),
            omp_co::device_box(two[0], omp_co::section2d(a.get(), {100, 100}, {50, 50}, {3, 4})))));
        BOOST_TEST(z[0] == 6);
        BOOST_TEST(z[11] == 4);
        BOOST_TEST(simulator::count("cuMemcpyPeerAsync") == 4U);
    }
    BOOST_TEST(two[0].statistics().device_bytes == 0U);
    BOOST_TEST(two[1].statistics().device_bytes == 0U);
}

BOOST_AUTO_TEST_CASE(a_copy_that_fails_tells_who_comes_behind)
{
    pair_of_devices const two;
    auto a = omp_co::sync_wait(omp_co::allocate<int>(two[0], 10));
    auto b = omp_co::sync_wait(omp_co::allocate<int>(two[1], 10));
    BOOST_TEST(!outcome(omp_co::target_memset(a, 1)));
    BOOST_TEST(!outcome(omp_co::target_memset(b, 1)));
    simulator::set("FAULT", "cuMemcpyPeerAsync:1:CUDA_ERROR_OUT_OF_MEMORY");
    std::vector<int> y(10, 7);
    asio::io_context io;
    omp_co::error_code first;
    omp_co::error_code second;
    omp_co::target_memcpy(b, a)(asio::bind_executor(io, [&](omp_co::error_code ec) { first = ec; }));
    omp_co::target_memcpy(y, b)(asio::bind_executor(io, [&](omp_co::error_code ec) { second = ec; }));
    io.run();
    BOOST_TEST((first == errc::out_of_memory), first.message());
    BOOST_TEST((second == errc::predecessor_failed), second.message());
    BOOST_TEST(y[0] == 7);
    BOOST_TEST(!outcome(omp_co::target_memcpy(b, a)));
}

BOOST_AUTO_TEST_CASE(a_fault_loses_one_device_and_no_other)
{
    pair_of_devices two;
    two.fault_expected = true;
    int x = 1;
    BOOST_TEST(!outcome(omp_co::target(two[0], increment, omp_co::tofrom(x))));
    BOOST_TEST(!outcome(omp_co::target(two[1], increment, omp_co::tofrom(x))));
    auto a = omp_co::sync_wait(omp_co::allocate<int>(two[0], 10));
    auto b = omp_co::sync_wait(omp_co::allocate<int>(two[1], 10));
    int_kernel const trap("trap", image);
    BOOST_TEST((outcome(omp_co::target(two[0], trap, omp_co::tofrom(x))) == errc::device_lost));
    BOOST_TEST((outcome(omp_co::target_memcpy(b, a)) == errc::device_lost));
    BOOST_TEST(!outcome(omp_co::target_memset(b, 3)));
    BOOST_TEST(!outcome(omp_co::target(two[1], increment, omp_co::tofrom(x))));
    BOOST_TEST(x == 4);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace several_devices_test
