// SPDX-License-Identifier: BSL-1.0
// Kernels that use the toolkit's headers: CUB, cooperative groups, cuda::atomic, half precision, assertions.
#include "../half.hpp"
#include "support.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>

namespace {

using namespace omp_co_sim::ptx;
using namespace omp_co_sim::ptx::test;
auto const architectures = boost::unit_test::data::make({75, 80, 90});
__extension__ using u128 = unsigned __int128;

BOOST_AUTO_TEST_SUITE(library)

BOOST_DATA_TEST_CASE(sums_and_scans_of_blocks, architectures)
{
    device_memory m;
    loaded code{m, compiled("library", sample)};
    std::vector<int> in(256);
    for (int i = 0; i < 256; ++i) in[static_cast<std::size_t>(i)] = i * 31 % 101 - 40;
    array<int> din{m, in};
    array<int> sums{m, std::vector<int>(2)};
    array<int> scanned{m, std::vector<int>(128)};
    fault f = code.run("block_sum", {{2, 1, 1}, {128, 1, 1}}, din, sums);
    BOOST_REQUIRE_MESSAGE(!f, f.text);
    f = code.run("block_scan", {{1, 1, 1}, {128, 1, 1}}, din, scanned);
    BOOST_REQUIRE_MESSAGE(!f, f.text);
    int sum = 0;
    for (std::size_t i = 0; i < 256; ++i) {
        if (i < 128) BOOST_TEST(scanned.host()[i] == sum);
        sum += in[i];
        if (i == 127) BOOST_TEST(sums.host()[0] == sum);
    }
    BOOST_TEST(sums.host()[0] + sums.host()[1] == sum);
}

BOOST_DATA_TEST_CASE(a_radix_sort_of_a_block, architectures)
{
    device_memory m;
    loaded code{m, compiled("library", sample)};
    std::vector<unsigned> in(256);
    for (unsigned i = 0; i < 256; ++i) in[i] = i * 2654435761u >> (i % 5);
    array<unsigned> din{m, in};
    array<unsigned> out{m, std::vector<unsigned>(256)};
    auto const f = code.run("block_sort", {{1, 1, 1}, {64, 1, 1}}, din, out);
    BOOST_REQUIRE_MESSAGE(!f, f.text);
    std::sort(in.begin(), in.end());
    BOOST_TEST(out.host() == in, boost::test_tools::per_element());
}

BOOST_DATA_TEST_CASE(cooperative_groups, architectures)
{
    device_memory m;
    loaded code{m, compiled("library", sample)};
    std::vector<int> in(64);
    int multiples = 0;
    for (int i = 0; i < 64; ++i) {
        in[static_cast<std::size_t>(i)] = i * i % 17;
        multiples += i * i % 17 % 3 == 0 ? 1 : 0;
    }
    array<int> din{m, in};
    array<int> out{m, std::vector<int>(65)};
    auto const f = code.run("groups", {{1, 1, 1}, {64, 1, 1}}, din, out);
    BOOST_REQUIRE_MESSAGE(!f, f.text);
    for (std::size_t i = 0; i < 64; ++i) {
        int sum = 0;
        for (std::size_t k = i / 8 * 8; k < i / 8 * 8 + 8; ++k) sum += in[k];
        BOOST_TEST(out.host()[i] == sum * 1000 + in[i / 8 * 8 + 7]);
    }
    BOOST_TEST(out.host()[64] == multiples);
}

BOOST_DATA_TEST_CASE(atomics_of_the_standard_library, architectures)
{
    device_memory m;
    loaded code{m, compiled("library", sample)};
    array<int> counter{m, std::vector<int>{0}};
    array<int> flag{m, std::vector<int>{0}};
    auto const f = code.run("standard_atomics", {{1, 1, 1}, {40, 1, 1}}, counter, flag);
    BOOST_REQUIRE_MESSAGE(!f, f.text);
    BOOST_TEST(counter.host()[0] >= 79);
    BOOST_TEST(flag.host()[0] == 40);
}

BOOST_DATA_TEST_CASE(half_precision, architectures)
{
    device_memory m;
    loaded code{m, compiled("library", sample)};
    std::vector<float> in{0.0f,  -0.0f,   1.0f,  0.1f,     -2.75f,   65504.0f, 65519.9f, 65520.0f, 1e-7f,
                          6e-8f, 2.9e-8f, 1e10f, 3.14159f, -100.06f, 0.00006f, 1024.5f,  1025.5f,  33.33f};
    auto const n = in.size();
    array<float> din{m, in};
    array<unsigned short> bits{m, std::vector<unsigned short>(n * 3)};
    array<float> back{m, std::vector<float>(n)};
    array<float> sums{m, std::vector<float>(n * 3)};
    auto const f = code.run("halves", {{1, 1, 1}, {32, 1, 1}}, din, static_cast<int>(n), bits, back, sums);
    BOOST_REQUIRE_MESSAGE(!f, f.text);
    // Values from the format's definition, not from the interpreter's own conversion.
    struct row {
        std::size_t index;
        unsigned half, bfloat, to_zero;
    };
    for (row const& r :
         {row{0, 0, 0, 0}, row{1, 0x8000, 0x8000, 0x8000}, row{2, 0x3c00, 0x3f80, 0x3c00},
          row{3, 0x2e66, 0x3dcd, 0x2e66}, row{4, 0xc180, 0xc030, 0xc180}, row{5, 0x7bff, 0x4780, 0x7bff},
          row{6, 0x7bff, 0x4780, 0x7bff}, row{7, 0x7c00, 0x4780, 0x7bff}, row{9, 0x0001, 0x3381, 0x0001},
          row{10, 0x0000, 0x32f9, 0x0000}, row{11, 0x7c00, 0x5015, 0x7bff}, row{15, 0x6400, 0x4480, 0x6400},
          row{16, 0x6402, 0x4480, 0x6401}}) {
        BOOST_TEST(bits.host()[r.index * 3] == r.half, "half of " << in[r.index]);
        BOOST_TEST(bits.host()[r.index * 3 + 1] == r.bfloat, "bfloat16 of " << in[r.index]);
        BOOST_TEST(bits.host()[r.index * 3 + 2] == r.to_zero, "half towards zero of " << in[r.index]);
    }
    auto const half_of = [](float v) { return to_float(to_half(static_cast<double>(v))); };
    for (std::size_t i = 0; i < n; ++i) {
        float const h = half_of(in[i]);
        float const next = half_of(in[(i + 1) % n]);
        BOOST_TEST(back.host()[i] == h);
        BOOST_TEST(sums.host()[i * 3] == half_of(std::fma(h, h, h)));
        BOOST_TEST(sums.host()[i * 3 + 1] == half_of(std::fma(next, next, h)));
        float const rounded = half_of(half_of(h * h) + 0.5f);
        float const fused = half_of(std::fma(h, h, 0.5f));
        bool const fits = sums.host()[i * 3 + 2] == rounded || sums.host()[i * 3 + 2] == fused;
        BOOST_TEST(fits, "h * h + 0.5 of " << h);
    }
}

struct alignas(16) float4 {
    float x, y, z, w;
};
BOOST_DATA_TEST_CASE(copies_to_shared_memory, architectures)
{
    device_memory m;
    loaded code{m, compiled("library", sample)};
    std::vector<float4> in(64);
    for (std::size_t i = 0; i < 64; ++i) in[i].z = static_cast<float>(i);
    array<float4> din{m, in};
    array<float4> out{m, std::vector<float4>(64)};
    auto const f = code.run("pipeline", {{1, 1, 1}, {64, 1, 1}}, din, out);
    BOOST_REQUIRE_MESSAGE(!f, f.text);
    for (std::size_t i = 0; i < 64; ++i) BOOST_TEST(out.host()[i].z == static_cast<float>(63 - i));
}

BOOST_DATA_TEST_CASE(assertions, architectures)
{
    device_memory m;
    loaded code{m, compiled("library", sample)};
    BOOST_TEST(!code.run("asserts", {}, 2));
    auto const f = code.run("asserts", {}, 3);
    BOOST_TEST(f.kind == fault_kind::assertion);
    BOOST_TEST(f.text.find("n is small") != std::string::npos, f.text);
    BOOST_TEST(f.text.find("library.cu") != std::string::npos, f.text);
}

BOOST_DATA_TEST_CASE(launch_bounds, architectures)
{
    device_memory m;
    loaded code{m, compiled("library", sample)};
    array<int> out{m, std::vector<int>(65)};
    BOOST_TEST((code.code().find_kernel("bounded")->max_threads == std::array<unsigned, 3>{64, 1, 1}));
    BOOST_TEST(!code.run("bounded", {{1, 1, 1}, {64, 1, 1}}, out));
    BOOST_TEST(code.run("bounded", {{1, 1, 1}, {65, 1, 1}}, out).kind == fault_kind::invalid_launch);
}

struct alignas(16) int4 {
    int x, y, z, w;
};
BOOST_DATA_TEST_CASE(a_parameter_whose_address_is_taken, architectures)
{
    device_memory m;
    loaded code{m, compiled("library", sample)};
    array<int> out{m, std::vector<int>(1)};
    for (int pick = 0; pick < 4; ++pick) {
        auto const f = code.run("held", {}, int4{10, 20, 30, 40}, out, pick);
        BOOST_REQUIRE_MESSAGE(!f, f.text);
        BOOST_TEST(out.host()[0] == 10 * (pick + 1));
    }
}

BOOST_DATA_TEST_CASE(integers_of_128_bits, architectures)
{
    using u64 = unsigned long long;
    device_memory m;
    loaded code{m, compiled("library", sample)};
    std::vector<u64> const a{0x123456789abcdef0, 0xfedcba9876543210, 0x1111111122222222, 0x3333333344444444};
    array<u64> da{m, a};
    array<u64> out{m, std::vector<u64>(3)};
    auto const f = code.run("wide", {}, da, out);
    BOOST_REQUIRE_MESSAGE(!f, f.text);
    u128 x = u128{a[0]} << 64 | a[1];
    u128 const y = u128{a[2]} << 32 | a[3];
    x = x * y + x / (y | 1) - (x >> 7);
    BOOST_TEST(out.host()[0] == static_cast<u64>(x >> 64));
    BOOST_TEST(out.host()[1] == static_cast<u64>(x));
    u64 h = a[0];
    h ^= h >> 33;
    h *= 0xff51afd7ed558ccdull;
    BOOST_TEST(out.host()[2] == (h ^ h >> 29));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
