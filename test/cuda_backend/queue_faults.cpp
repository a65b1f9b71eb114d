// SPDX-License-Identifier: BSL-1.0
// What a driver can do to a queue: each call of its constructs fails in turn.
#include "cuda_backend/bed.hpp"
#include "support/outcome.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <cstddef>
#include <string>
#include <vector>

namespace queue_faults_test {

namespace data = boost::unit_test::data;
using namespace cuda_test;
using omp_co::errc;
using omp_co_test::outcome;

omp_co::kernel<void(int*)> const increment("increment", image);

char const* const functions[]{"cuDevicePrimaryCtxRetain",
                              "cuCtxPushCurrent_v2",
                              "cuCtxPopCurrent_v2",
                              "cuThreadExchangeStreamCaptureMode",
                              "cuStreamCreate",
                              "cuEventCreate",
                              "cuEventElapsedTime",
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

/// Constructs of a queue: data of both sizes that is copied in, changed on the device and brought back. The first error counts.
struct series {
    int small = 1;
    std::vector<int> large = std::vector<int>((std::size_t{2} << 20) / sizeof(int), 7);

    omp_co::error_code run(omp_co::device dev)
    {
        omp_co::queue const q(dev);
        omp_co::diagnostics d;
        omp_co::error_code first;
        auto const step = [&](auto const& op) {
            omp_co::error_code const ec = outcome(op);
            if (ec && !first) first = ec;
        };
        step(omp_co::target_enter_data(q, omp_co::to(small), omp_co::to(large)));
        step(omp_co::target(q, increment, omp_co::tofrom(small), omp_co::explain(d)));
        step(omp_co::target(q, increment, omp_co::tofrom(large)));
        step(omp_co::target_exit_data(q, omp_co::from(small), omp_co::from(large)));
        step(q.synchronize());
        // What did not come so far is unmapped.
        for (int again = 0; again < 2; ++again)
            (void)outcome(omp_co::target_exit_data(dev, omp_co::delete_(small), omp_co::delete_(large)));
        return first;
    }

    bool done() const { return small == 2 && large[0] == 8 && large[1] == 7 && large.back() == 7; }
    bool each_whole() const
    {
        return (small == 1 || small == 2) && (large[0] == 7 || large[0] == 8) && large[1] == 7 &&
               large.back() == 7;
    }
};

BOOST_AUTO_TEST_SUITE(queue_faults, *boost::unit_test::precondition(simulated))

BOOST_DATA_TEST_CASE(each_call_of_a_queue_fails_in_turn_for_want_of_memory,
                     data::make(functions) * data::make({0, 1}), function, kind)
{
    for (unsigned long nth = 1;; ++nth) {
        bed dev(varieties[kind],
                {{"FAULT", std::string(function) + ":" + std::to_string(nth) + ":CUDA_ERROR_OUT_OF_MEMORY"}});
        series s;
        omp_co::error_code const ec = s.run(dev);
        if (ec) BOOST_TEST((ec == errc::out_of_memory), function << ' ' << nth << ": " << ec.message());
        BOOST_TEST((ec ? s.each_whole() : s.done()), function << ' ' << nth);
        unsigned long const calls = simulator::count(function);
        BOOST_TEST(dev.now().mapped_ranges == 0U, function << ' ' << nth);
        BOOST_TEST(dev.now().device_bytes == 0U, function << ' ' << nth);
        if (calls < nth) break;
        series again;
        omp_co::error_code const next = again.run(dev);
        BOOST_TEST(!next, function << ' ' << nth << ", the next queue: " << next.message());
        BOOST_TEST((next || again.done()), function << ' ' << nth << ", the next queue");
        if (nth == 12) break;
    }
}

BOOST_DATA_TEST_CASE(each_call_of_a_queue_finds_the_device_faulty_in_turn,
                     data::make(functions) * data::make({0, 1}), function, kind)
{
    for (unsigned long nth = 1;; ++nth) {
        bed dev(varieties[kind], {{"FAULT", std::string(function) + ":" + std::to_string(nth) +
                                                ":CUDA_ERROR_ILLEGAL_ADDRESS"}});
        series s;
        omp_co::error_code const ec = s.run(dev);
        if (ec)
            BOOST_TEST((ec == errc::device_lost || ec == errc::predecessor_failed),
                       function << ' ' << nth << ": " << ec.message());
        BOOST_TEST((ec ? s.each_whole() : s.done()), function << ' ' << nth);
        if (simulator::count(function) < nth || nth == 12) break;
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace queue_faults_test
