// SPDX-License-Identifier: BSL-1.0
// PTX that NVRTC made while the test runs.
#include "support.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <nvrtc.h>

#include <cmath>

namespace {

using namespace omp_co_sim::ptx;
using namespace omp_co_sim::ptx::test;
auto const architectures = boost::unit_test::data::make({75, 80, 90});

std::string compile(char const* source, int architecture)
{
    nvrtcProgram program{};
    BOOST_REQUIRE_EQUAL(nvrtcCreateProgram(&program, source, "source.cu", 0, nullptr, nullptr),
                        NVRTC_SUCCESS);
    auto const option = "--gpu-architecture=compute_" + std::to_string(architecture);
    char const* options[] = {option.c_str()};
    auto const result = nvrtcCompileProgram(program, 1, options);
    std::size_t size = 0;
    nvrtcGetProgramLogSize(program, &size);
    std::string log(size, '\0');
    nvrtcGetProgramLog(program, log.data());
    BOOST_REQUIRE_MESSAGE(result == NVRTC_SUCCESS, log);
    nvrtcGetPTXSize(program, &size);
    std::string text(size, '\0');
    nvrtcGetPTX(program, text.data());
    nvrtcDestroyProgram(&program);
    return text;
}

BOOST_AUTO_TEST_SUITE(nvrtc)

BOOST_DATA_TEST_CASE(a_kernel_compiled_at_run_time, architectures)
{
    device_memory m;
    loaded code{m, compile(R"(
        __constant__ float scale = 2.5f;
        __device__ unsigned long long calls;
        extern "C" __global__ void norms(float const* x, float const* y, double* out, int n) {
            __shared__ double sums[8];
            int const i = blockIdx.x * blockDim.x + threadIdx.x;
            double v = i < n ? sqrt((double)x[i] * x[i] + (double)y[i] * y[i]) * scale : 0;
            for (int d = 16; d; d >>= 1) v += __shfl_xor_sync(~0u, v, d);
            if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = v;
            __syncthreads();
            if (threadIdx.x == 0) {
                for (int w = 1; w < blockDim.x / 32; ++w) v += sums[w];
                out[blockIdx.x] = v;
                atomicAdd(&calls, 1ull);
            }
        })",
                           sample)};
    std::vector<float> x(300);
    std::vector<float> y(300);
    double expected = 0;
    for (std::size_t i = 0; i < 300; ++i) {
        x[i] = static_cast<float>(i) * 0.5f;
        y[i] = 100 - static_cast<float>(i);
        expected += std::hypot(static_cast<double>(x[i]), static_cast<double>(y[i])) * 2.5;
    }
    array<float> dx{m, x};
    array<float> dy{m, y};
    array<double> out{m, std::vector<double>(3)};
    auto const f = code.run("norms", {{3, 1, 1}, {128, 1, 1}}, dx, dy, out, 300);
    BOOST_REQUIRE_MESSAGE(!f, f.text);
    auto const host = out.host();
    BOOST_TEST(host[0] + host[1] + host[2] == expected, boost::test_tools::tolerance(1e-12));
    BOOST_TEST(code.global<unsigned long long>("calls") == 3u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
