// SPDX-License-Identifier: BSL-1.0
// Integer operations of all widths on awkward operands, against the host.
#include "support.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <bit>
#include <cstdlib>
#include <limits>

namespace {

using namespace omp_co_sim::ptx;
using namespace omp_co_sim::ptx::test;
auto const architectures = boost::unit_test::data::make({75, 80, 90});

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s32 = std::int32_t;
using s64 = long long;
__extension__ using s128 = __int128;
__extension__ using u128 = unsigned __int128;

/// Every pair of the given values, as two arrays.
template <class T>
std::pair<std::vector<T>, std::vector<T>> pairs(std::vector<T> const& values)
{
    std::pair<std::vector<T>, std::vector<T>> out;
    for (T const a : values)
        for (T const b : values) {
            out.first.push_back(a);
            out.second.push_back(b);
        }
    return out;
}

template <class T>
T reversed(T v)
{
    T out = 0;
    for (unsigned n = 0; n < 8 * sizeof(T); ++n)
        if (v >> n & 1) out |= T{1} << (8 * sizeof(T) - 1 - n);
    return out;
}

s32 low_24(s32 v) { return static_cast<s32>(static_cast<u32>(v) << 8) >> 8; }

BOOST_AUTO_TEST_SUITE(integers)

BOOST_DATA_TEST_CASE(of_32_bits, architectures)
{
    device_memory m;
    loaded code{m, compiled("values", sample)};
    auto const [a, b] = pairs<s32>({0, 1, -1, 2, 7, -7, 31, 32, 33, 100, -100, 12345, -98765, 0x7fffffff,
                                    std::numeric_limits<s32>::min(), 0x55555555, -0x55555556, 0x01234567});
    auto const n = static_cast<int>(a.size());
    array<s32> da{m, a};
    array<s32> db{m, b};
    array<s32> dout{m, std::vector<s32>(a.size() * 32)};
    auto const f =
        code.run("integers32", {{static_cast<unsigned>(n + 63) / 64, 1, 1}, {64, 1, 1}}, da, db, n, dout);
    BOOST_REQUIRE_MESSAGE(!f, f.text);
    auto const out = dout.host();
    for (std::size_t i = 0; i < a.size(); ++i) {
        s32 const x = a[i];
        s32 const y = b[i];
        auto const u = static_cast<u32>(x);
        auto const v = static_cast<u32>(y);
        auto const s = [](auto value) { return static_cast<s32>(static_cast<u32>(value)); };
        bool const wraps = y == -1 && x == std::numeric_limits<s32>::min();
        unsigned const w = v & 31;
        unsigned const clamped = v < 32 ? v : 32;
        u64 const both = u64{v} << 32 | u;
        auto const byte = [both](unsigned k) { return static_cast<u32>(both >> 8 * k & 255); };
        s32 const expected[32] = {
            s(u + v),
            s(u - v),
            s(u * v),
            static_cast<s32>(s64{x} * y >> 32),
            s(u64{u} * v >> 32),
            y == 0  ? 0
            : wraps ? x
                    : x / y,
            y == 0 || wraps ? 0 : x % y,
            v ? s(u / v) : 0,
            v ? s(u % v) : 0,
            std::min(x, y),
            std::max(x, y),
            s(std::min(u, v)),
            s(std::max(u, v)),
            x & y,
            x | y,
            x ^ y,
            ~x,
            s(u << w),
            x >> w,
            s(u >> w),
            std::popcount(u),
            std::countl_zero(u),
            s(reversed(u)),
            u ? std::countr_zero(u) + 1 : 0,
            s(byte(5) | byte(0) << 8 | byte(7) << 16 | byte(2) << 24),
            s(w ? v << w | u >> (32 - w) : v),
            s(static_cast<u32>(both >> clamped)),
            s(x < 0 ? 0 - u : u),
            x < y ? x : (u < v ? 7 : 9),
            s((u < v ? v - u : u - v) + 5),
            s(static_cast<u64>(s64{low_24(x)} * low_24(y))),
            (x & y) ^ (~x & 0x5555) ^ (y | 3),
        };
        for (std::size_t k = 0; k < 32; ++k)
            BOOST_TEST(out[i * 32 + k] == expected[k], "result " << k << " of " << x << ", " << y << ": "
                                                                 << out[i * 32 + k] << ", not "
                                                                 << expected[k]);
    }
}

BOOST_DATA_TEST_CASE(of_64_bits, architectures)
{
    device_memory m;
    loaded code{m, compiled("values", sample)};
    auto const [a, b] = pairs<s64>({0, 1, -1, 3, -10, 63, 64, 1000000007, -123456789012345,
                                    0x7fffffffffffffff, std::numeric_limits<s64>::min(), 0x5555555555555555,
                                    0x0123456789abcdef, 1ll << 32, -(1ll << 40)});
    auto const n = static_cast<int>(a.size());
    array<s64> da{m, a};
    array<s64> db{m, b};
    array<s64> dout{m, std::vector<s64>(a.size() * 24)};
    auto const f =
        code.run("integers64", {{static_cast<unsigned>(n + 63) / 64, 1, 1}, {64, 1, 1}}, da, db, n, dout);
    BOOST_REQUIRE_MESSAGE(!f, f.text);
    auto const out = dout.host();
    for (std::size_t i = 0; i < a.size(); ++i) {
        s64 const x = a[i];
        s64 const y = b[i];
        auto const u = static_cast<u64>(x);
        auto const v = static_cast<u64>(y);
        auto const s = [](auto value) { return static_cast<s64>(static_cast<u64>(value)); };
        bool const wraps = y == -1 && x == std::numeric_limits<s64>::min();
        s128 const wide = s128{x} * y + x;
        s64 const expected[24] = {
            s(u + v),
            s(u - v),
            s(u * v),
            static_cast<s64>(s128{x} * y >> 64),
            s(u128{u} * v >> 64),
            y == 0  ? 0
            : wraps ? x
                    : x / y,
            y == 0 || wraps ? 0 : x % y,
            v ? s(u / v) : 0,
            v ? s(u % v) : 0,
            std::min(x, y),
            u < v ? 1 : 2,
            s(u << (v & 63)),
            x >> (v & 63),
            s(u >> (v & 63)),
            std::popcount(u),
            std::countl_zero(u),
            s(reversed(u)),
            s64{static_cast<s32>(x)} * static_cast<s32>(y),
            s(u64{static_cast<u32>(x)} * static_cast<u32>(y)),
            static_cast<s64>(wide >> 64),
            static_cast<s64>(wide),
            u ? std::countr_zero(u) + 1 : 0,
            x >> 5 & 0x1fff,
            s(u ^ (v & ~u)),
        };
        for (std::size_t k = 0; k < 24; ++k)
            BOOST_TEST(out[i * 24 + k] == expected[k], "result " << k << " of " << x << ", " << y << ": "
                                                                 << out[i * 24 + k] << ", not "
                                                                 << expected[k]);
    }
}

BOOST_DATA_TEST_CASE(of_bytes_and_shorts, architectures)
{
    device_memory m;
    loaded code{m, compiled("values", sample)};
    std::vector<signed char> a;
    std::vector<short> b;
    for (int i = 0; i < 200; ++i) {
        a.push_back(static_cast<signed char>(i * 37 - 128));
        b.push_back(static_cast<short>(i * 7919 - 30000));
    }
    array<signed char> da{m, a};
    array<short> db{m, b};
    array<int> dout{m, std::vector<int>(1200)};
    array<unsigned char> dbytes{m, std::vector<unsigned char>(200)};
    array<short> dshorts{m, std::vector<short>(200)};
    auto const f = code.run("narrow", {{2, 1, 1}, {128, 1, 1}}, da, db, 200, dout, dbytes, dshorts);
    BOOST_REQUIRE_MESSAGE(!f, f.text);
    auto const out = dout.host();
    for (std::size_t i = 0; i < 200; ++i) {
        int const c = a[i];
        int const s = b[i];
        BOOST_TEST(out[i * 6] == c + s);
        BOOST_TEST(out[i * 6 + 1] == static_cast<unsigned char>(c) * static_cast<unsigned short>(s));
        BOOST_TEST(out[i * 6 + 2] == static_cast<signed char>(s));
        BOOST_TEST(out[i * 6 + 3] == static_cast<short>(c * s));
        BOOST_TEST(out[i * 6 + 4] == s / (c ? c : 1));
        BOOST_TEST(out[i * 6 + 5] == static_cast<unsigned short>(s) >> 3);
        BOOST_TEST(dbytes.host()[i] == static_cast<unsigned char>(c + s));
        BOOST_TEST(dshorts.host()[i] == static_cast<short>(s - c));
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
