// SPDX-License-Identifier: BSL-1.0
// What a driver can do to us: each call of a region fails in turn; kernels fault; another library resets the device.
#include "cuda_backend/bed.hpp"
#include "support/outcome.hpp"

#include <boost/asio.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace faults_test {

namespace asio = boost::asio;
namespace data = boost::unit_test::data;
using namespace cuda_test;
using omp_co::errc;
using omp_co_test::outcome;

using int_kernel = omp_co::kernel<void(int*)>;
int_kernel const increment("increment", image);
omp_co::kernel<void(int const*, int*)> const add_from("add_from", image);

char const* const failing_functions[]{"cuDevicePrimaryCtxRetain",
                                      "cuCtxPushCurrent_v2",
                                      "cuCtxPopCurrent_v2",
                                      "cuThreadExchangeStreamCaptureMode",
                                      "cuStreamCreate",
                                      "cuEventCreate",
                                      "cuMemPoolCreate",
                                      "cuMemPoolSetAttribute",
                                      "cuMemHostRegister_v2",
                                      "cuMemHostGetDevicePointer_v2",
                                      "cuStreamWriteValue64_v2",
                                      "cuStreamSynchronize",
                                      "cuMemAllocFromPoolAsync",
                                      "cuMemFreeAsync",
                                      "cuEventRecord",
                                      "cuStreamWaitEvent",
                                      "cuEventQuery",
                                      "cuMemcpyHtoDAsync_v2",
                                      "cuMemcpyDtoHAsync_v2",
                                      "cuModuleLoadDataEx",
                                      "cuModuleGetFunction",
                                      "cuFuncGetAttribute",
                                      "cuFuncGetParamInfo",
                                      "cuLaunchKernel",
                                      "cuStreamQuery",
                                      "cuPointerGetAttribute"};

/// Small and large data, in and out, and a kernel.
struct representative {
    int small = 1;
    std::vector<int> large = std::vector<int>((std::size_t{2} << 20) / sizeof(int), 7);

    omp_co::error_code run(omp_co::device dev, omp_co::diagnostics& why)
    {
        return outcome(omp_co::target(dev, increment, omp_co::tofrom(small),
                                      omp_co::also(omp_co::tofrom(large)), omp_co::explain(why)));
    }

    bool untouched() const { return small == 1 && large == std::vector<int>(large.size(), 7); }
    bool done() const { return small == 2 && large == std::vector<int>(large.size(), 7); }
};

/// The FAULT of a function that never succeeds.
std::string always(std::string const& function, std::string const& error)
{
    std::string faults;
    for (int nth = 1; nth < 50; ++nth)
        faults += (nth == 1 ? "" : ",") + (function + ':' + std::to_string(nth)) + ':' + error;
    return faults;
}

/// Of a device that refuses whoever opens it, as one that another process has for itself.
std::string never_opens() { return always("cuDevicePrimaryCtxRetain", "CUDA_ERROR_DEVICE_UNAVAILABLE"); }

BOOST_AUTO_TEST_SUITE(faults, *boost::unit_test::precondition(simulated))

// Whatever fails, and whichever time: the region ends with the driver's error or well, never half done, and the next
// one is well.
BOOST_DATA_TEST_CASE(each_call_fails_in_turn_for_want_of_memory,
                     data::make(failing_functions) * data::make({0, 1}), function, kind)
{
    for (unsigned long nth = 1;; ++nth) {
        bed dev(varieties[kind],
                {{"FAULT", std::string(function) + ":" + std::to_string(nth) + ":CUDA_ERROR_OUT_OF_MEMORY"}});
        representative r;
        omp_co::diagnostics why;
        omp_co::error_code const ec = r.run(dev, why);
        if (ec) BOOST_TEST((ec == errc::out_of_memory), function << ' ' << nth << ": " << ec.message());
        BOOST_TEST((ec ? r.untouched() : r.done()), function << ' ' << nth);
        unsigned long const calls = simulator::count(function);
        BOOST_TEST(dev.now().mapped_ranges == 0U);
        BOOST_TEST(dev.now().device_bytes == 0U);
        if (calls < nth) break;
        representative again;
        omp_co::error_code const next = again.run(dev, why);
        BOOST_TEST(!next, function << ' ' << nth << ", the next region: " << next.message());
        BOOST_TEST(again.done());
        if (nth == 12) break;
    }
}

BOOST_DATA_TEST_CASE(each_call_finds_the_device_faulty_in_turn,
                     data::make(failing_functions) * data::make({0, 1}), function, kind)
{
    for (unsigned long nth = 1;; ++nth) {
        bed dev(varieties[kind], {{"FAULT", std::string(function) + ":" + std::to_string(nth) +
                                                ":CUDA_ERROR_ILLEGAL_ADDRESS"}});
        representative r;
        omp_co::diagnostics why;
        omp_co::error_code const ec = r.run(dev, why);
        if (ec) BOOST_TEST((ec == errc::device_lost), function << ' ' << nth << ": " << ec.message());
        BOOST_TEST((ec ? r.untouched() : r.done()), function << ' ' << nth);
        if (simulator::count(function) < nth || nth == 12) break;
    }
}

// Known at once where the copy is small: who comes later brings the data itself. A large one is copied by the helper, and
// whoever was accepted before it failed has computed on what never came.
BOOST_DATA_TEST_CASE(a_copy_in_that_fails_fails_whoever_relied_on_it, data::make(cuda_varieties), v)
{
    for (bool large : {false, true}) {
        bed dev(v);
        int y = 5;
        std::size_t const size = large ? 1 << 20 : 1;
        BOOST_TEST(!outcome(omp_co::target(dev, increment, omp_co::tofrom(y))));
        std::vector<int> x(size, 1);
        simulator::set("FAULT", "cuMemcpyHtoDAsync_v2:1:CUDA_ERROR_OUT_OF_MEMORY");
        asio::io_context io;
        omp_co::error_code first;
        omp_co::error_code second;
        omp_co::target_enter_data(dev, omp_co::to(x))(
            asio::bind_executor(io, [&](omp_co::error_code ec) { first = ec; }));
        omp_co::target(dev, add_from, omp_co::to(x), omp_co::tofrom(y))(
            asio::bind_executor(io, [&](omp_co::error_code ec) { second = ec; }));
        io.run();
        BOOST_TEST((first == errc::out_of_memory), first.message());
        BOOST_TEST((!second || (large && second == errc::predecessor_failed)), second.message());
        if (!second) BOOST_TEST(y == 7);
        BOOST_TEST(dev.now().mapped_ranges == 0U);
        BOOST_TEST(dev.now().device_bytes == 0U);
    }
}

BOOST_DATA_TEST_CASE(a_kernel_that_faults_loses_the_device, data::make(cuda_varieties), v)
{
    for (char const* name : {"trap", "wild_store"}) {
        bed dev(v);
        int x = 1;
        BOOST_TEST(!outcome(omp_co::target(dev, increment, omp_co::tofrom(x))));
        int_kernel const k(name, image);
        int y = 5;
        auto const begin = std::chrono::steady_clock::now();
        omp_co::error_code const ec = outcome(omp_co::target(dev, k, omp_co::tofrom(y)));
        BOOST_TEST((ec == errc::device_lost), ec.message());
        BOOST_TEST((ec.category() == omp_co::cuda::category()));
        BOOST_TEST((std::chrono::steady_clock::now() - begin < std::chrono::seconds(1)));
        BOOST_TEST(y == 5);
        BOOST_TEST((outcome(omp_co::target(dev, increment, omp_co::tofrom(x))) == errc::device_lost));
        BOOST_TEST(x == 2);
    }
}

BOOST_AUTO_TEST_CASE(all_regions_in_flight_end_when_the_device_is_lost)
{
    bed dev(varieties[0], {{"KERNEL_US", "2000"}});
    int_kernel const trap("trap", image);
    std::vector<int> x(200, 1);
    std::vector<std::vector<int>> large(4, std::vector<int>(1 << 20, 1));
    int y = 1;
    asio::io_context io;
    std::size_t lost = 0;
    std::size_t well = 0;
    auto const handler = [&](omp_co::error_code ec) { ec == errc::device_lost ? ++lost : ++well; };
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (i == 50) omp_co::target(dev, trap, omp_co::tofrom(y))(asio::bind_executor(io, handler));
        if (i % 50 == 10)
            omp_co::target(dev, increment, omp_co::tofrom(large[i / 50]))(asio::bind_executor(io, handler));
        omp_co::target(dev, increment, omp_co::tofrom(x[i]))(asio::bind_executor(io, handler));
    }
    io.run();
    BOOST_TEST(lost + well == x.size() + large.size() + 1);
    BOOST_TEST(lost != 0U);
    for (int each : x) BOOST_TEST((each == 1 || each == 2));
}

// The helper is asking the driver meanwhile.
BOOST_AUTO_TEST_CASE(an_allocation_under_way_ends_when_the_device_is_lost)
{
    bed dev(varieties[0], {{"KERNEL_US", "20000"}});
    int_kernel const trap("trap", image);
    int x = 1;
    BOOST_TEST(!outcome(omp_co::target(dev, increment, omp_co::tofrom(x))));
    simulator::set("CALL_US", "cuMemAllocFromPoolAsync:200000");
    asio::io_context io;
    omp_co::error_code region;
    omp_co::error_code allocation;
    omp_co::target(dev, trap,
                   omp_co::tofrom(x))(asio::bind_executor(io, [&](omp_co::error_code ec) { region = ec; }));
    omp_co::allocate<int>(dev, std::size_t{1} << 22)(
        asio::bind_executor(io, [&](omp_co::error_code ec, omp_co::device_buffer<int> b) {
            allocation = ec;
            BOOST_TEST(bool(b) == !ec);
        }));
    io.run();
    BOOST_TEST((region == errc::device_lost), region.message());
    BOOST_TEST((!allocation || allocation == errc::device_lost),
               allocation.message()); // whichever is seen first
    BOOST_TEST(dev.now().in_flight == 0U);
}

BOOST_DATA_TEST_CASE(an_allocation_that_finds_the_device_faulty_says_so, data::make(cuda_varieties), v)
{
    bed dev(v, {{"FAULT", v.pools ? "cuMemAllocFromPoolAsync:1:CUDA_ERROR_ILLEGAL_ADDRESS"
                                  : "cuMemAlloc_v2:1:CUDA_ERROR_ILLEGAL_ADDRESS"}});
    for (int i = 0; i < 2; ++i)
        BOOST_CHECK_EXCEPTION((void)omp_co::sync_wait(omp_co::allocate<int>(dev, 1000)),
                              boost::system::system_error,
                              [](auto const& e) { return e.code() == errc::device_lost; });
    BOOST_TEST(dev.now().in_flight == 0U);
}

BOOST_DATA_TEST_CASE(a_device_that_cannot_be_used_says_why, data::make(cuda_varieties) * data::make({1, 16}),
                     v, size)
{
    bed dev(v, {{"FAULT", never_opens()}});
    std::vector<int> x(static_cast<std::size_t>(size), 1); // also of a size that blocks have
    omp_co::diagnostics why;
    omp_co::error_code const ec =
        outcome(omp_co::target(dev, increment, omp_co::tofrom(x), omp_co::explain(why)));
    BOOST_TEST((ec.category() == omp_co::cuda::category()), ec.message());
    BOOST_TEST(ec.value() == 46, ec.message());
    unsigned long const asked = simulator::count("cuDevicePrimaryCtxRetain");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    BOOST_TEST(simulator::count("cuDevicePrimaryCtxRetain") == asked); // nobody goes on asking
    BOOST_TEST((outcome(omp_co::target_enter_data(dev, omp_co::to(x))) == ec));
    BOOST_CHECK_EXCEPTION((void)omp_co::sync_wait(omp_co::allocate<int>(dev, size)),
                          boost::system::system_error, [&](auto const& e) { return e.code() == ec; });
    BOOST_TEST(why.message().find("the device cannot be used") != std::string::npos, why.message());
    BOOST_TEST(x[0] == 1);
    simulator::set("FAULT", "");
    BOOST_TEST(!outcome(omp_co::target(dev, increment, omp_co::tofrom(x))));
    BOOST_TEST(x[0] == 2);
}

// The loop may go to sleep before it has seen that its region will never run.
BOOST_AUTO_TEST_CASE(a_stream_that_gave_up_is_armed_without_harm)
{
    bed dev(varieties[0], {{"FAULT", never_opens()}});
    omp_co::device const d = dev;
    (void)omp_co::detail::registry::instance().with(*d.slot(), d.generation(), [](auto& core) {
        omp_co::error_code ec;
        auto const s = core.device().create_stream(ec);
        BOOST_REQUIRE(s != nullptr);
        BOOST_TEST(!s->signal(1));
        std::this_thread::sleep_for(std::chrono::milliseconds(50)); // the helper gives up meanwhile
        BOOST_TEST(s->arm());
        BOOST_TEST(!core.device().lost());
        BOOST_TEST(s->completed().completed == 1U);
    });
}

BOOST_AUTO_TEST_CASE(a_device_that_another_library_resets_is_lost)
{
    bed dev;
    int x = 1;
    BOOST_TEST(!outcome(omp_co::target(dev, increment, omp_co::tofrom(x))));
    simulator::reset_device(0);
    omp_co::error_code const ec = outcome(omp_co::target(dev, increment, omp_co::tofrom(x)));
    BOOST_TEST((ec == errc::device_lost), ec.message());
    BOOST_TEST(x == 2);
    dev.expect_reports(); // a use of what was destroyed is how it was found
}

// At the end of main(), for instance: what is destroyed afterwards touches none of its handles. Nor when the program has used the device
// again, whose new context has the old one's handle.
BOOST_DATA_TEST_CASE(a_device_that_was_reset_is_let_go, data::make({false, true}), again)
{
    bed dev;
    std::vector<int> x(1000, 1);
    BOOST_TEST(!outcome(omp_co::target_enter_data(dev, omp_co::to(x))));
    BOOST_TEST(!outcome(omp_co::target(dev, increment, omp_co::tofrom(x))));
    simulator::reset_device(0);
    if (again) simulator::retain_device(0);
    dev.close();
    if (again) simulator::release_device(0);
    for (std::string const& line : simulator::report())
        BOOST_TEST(line.find("misuse") == std::string::npos, line);
    dev.expect_reports(); // nor is the pool given back, which a driver's reset takes away
}

// Nothing says what it means, and it does not go away: who waits is told.
BOOST_DATA_TEST_CASE(an_error_that_stays_loses_the_device,
                     data::make({0, 1}) * data::make({std::size_t{1}, std::size_t{1} << 18}), kind, size)
{
    bed dev(varieties[kind],
            {{"FAULT", always(kind == 0 ? "cuStreamQuery" : "cuEventQuery", "CUDA_ERROR_UNKNOWN")}});
    std::vector<int> x(size, 1);
    omp_co::error_code const ec = outcome(omp_co::target(dev, increment, omp_co::tofrom(x)));
    BOOST_TEST(static_cast<bool>(ec));
    BOOST_TEST((outcome(omp_co::target(dev, increment, omp_co::tofrom(x))) == errc::device_lost));
    dev.expect_reports();
}

BOOST_AUTO_TEST_CASE(memory_that_comes_back_serves_those_who_wait)
{
    bed dev(varieties[0], {{"MEMORY", std::to_string(64 << 20)}});
    std::vector<std::vector<int>> x(300, std::vector<int>((1 << 20) / sizeof(int), 1));
    asio::io_context io;
    std::size_t well = 0;
    for (auto& each : x)
        omp_co::target(dev, increment, omp_co::tofrom(each))(
            asio::bind_executor(io, [&](omp_co::error_code ec) { well += !ec; }));
    io.run();
    BOOST_TEST(well == x.size());
    for (auto const& each : x) BOOST_REQUIRE(each[0] == 2);
    std::vector<int> too_large((128 << 20) / sizeof(int));
    BOOST_TEST((outcome(omp_co::target(dev, increment, omp_co::tofrom(too_large))) == errc::out_of_memory));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace faults_test
