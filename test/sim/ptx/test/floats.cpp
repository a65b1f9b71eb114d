// SPDX-License-Identifier: BSL-1.0
// Float and double operations bit by bit where the standard says so, mathematical functions within a few units in the
// last place; conversions with every rounding and with saturation.
#include "support.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <bit>
#include <cfenv>
#include <cmath>
#include <functional>
#include <limits>

namespace {

using namespace omp_co_sim::ptx;
using namespace omp_co_sim::ptx::test;
auto const architectures = boost::unit_test::data::make({75, 80, 90});

template <class T>
constexpr T infinity = std::numeric_limits<T>::infinity();
template <class T>
constexpr T nan = std::numeric_limits<T>::quiet_NaN();

/// f under a rounding mode of the host.
template <class T, class F, class... Args>
T in(int mode, F f, Args... args)
{
    std::fesetround(mode);
    auto const opaque = [](auto v) {
        decltype(v) volatile copy = v;
        return static_cast<decltype(v)>(copy);
    };
    T const out = opaque(static_cast<T>(f(opaque(args)...)));
    std::fesetround(FE_TONEAREST);
    return out;
}

template <class T>
bool same(T a, T b)
{
    return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}
template <class T>
bool close(T a, T b, T units)
{
    if (same(a, b) || a == b) return true;
    return std::fabs(a - b) <= units * std::numeric_limits<T>::epsilon() * std::max(std::fabs(b), T{1e-30f});
}

template <class T>
void check(std::vector<T> const& out, std::size_t first, std::vector<T> const& expected, T x, T y,
           T units = 0)
{
    for (std::size_t k = 0; k < expected.size(); ++k) {
        bool const fits =
            units != 0 ? close(out[first + k], expected[k], units) : same(out[first + k], expected[k]);
        BOOST_TEST(fits, "result " << k << " of " << x << ", " << y << ": " << out[first + k] << ", not "
                                   << expected[k]);
    }
}

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

BOOST_AUTO_TEST_SUITE(floats)

BOOST_DATA_TEST_CASE(arithmetic_of_float, architectures)
{
    device_memory m;
    loaded code{m, compiled("values", sample)};
    auto const [a, b] =
        pairs<float>({0.0f, -0.0f, 1.0f, -1.0f, 0.1f, -0.3f, 1.5f, 2.5f, -2.5f, 3.7f, 1e10f, -1e-10f, 3.4e38f,
                      1e-40f, infinity<float>, -infinity<float>, nan<float>, 16777217.0f});
    auto const n = static_cast<int>(a.size());
    array<float> da{m, a};
    array<float> db{m, b};
    array<float> dout{m, std::vector<float>(a.size() * 32)};
    auto const f =
        code.run("floats", {{static_cast<unsigned>(n + 63) / 64, 1, 1}, {64, 1, 1}}, da, db, n, dout);
    BOOST_REQUIRE_MESSAGE(!f, f.text);
    auto const out = dout.host();
    auto const plus = [](float x, float y) { return x + y; };
    auto const times = [](float x, float y) { return x * y; };
    auto const over = [](float x, float y) { return x / y; };
    auto const fused = [](float x, float y, float z) { return std::fma(x, y, z); };
    auto const root = [](float x) { return std::sqrt(x); };
    for (std::size_t i = 0; i < a.size(); ++i) {
        float const x = a[i];
        float const y = b[i];
        // Where an operand is NaN or both are zeros of different sign, C leaves the choice of fmin and fmax open.
        float least = std::fmin(x, y);
        float greatest = std::fmax(x, y);
        if (x == y) least = std::signbit(x) ? x : y;
        if (x == y) greatest = std::signbit(x) ? y : x;
        check<float>(out, i * 32,
                     {x + y,
                      x - y,
                      x * y,
                      x / y,
                      std::fma(x, y, x),
                      least,
                      greatest,
                      std::fabs(x),
                      -x,
                      std::copysign(x, y),
                      std::sqrt(std::fabs(x)),
                      in<float>(FE_TOWARDZERO, plus, x, y),
                      in<float>(FE_UPWARD, plus, x, y),
                      in<float>(FE_DOWNWARD, plus, x, y),
                      in<float>(FE_TOWARDZERO, times, x, y),
                      in<float>(FE_UPWARD, over, x, y),
                      in<float>(FE_DOWNWARD, root, std::fabs(x)),
                      in<float>(FE_UPWARD, over, 1.0f, x),
                      in<float>(FE_DOWNWARD, fused, x, y, 1.0f),
                      x > 0 ? std::fmin(x, 1.0f) : 0.0f,
                      std::floor(x),
                      std::ceil(x),
                      std::trunc(x),
                      std::rint(x),
                      std::round(x),
                      x < y ? 1.0f : (x == y ? 2.0f : 3.0f),
                      std::isnan(x) ? 1.0f : (std::isinf(x) ? 2.0f : 3.0f),
                      !(x < y) ? x : y,
                      std::fmod(x, 3.0f),
                      std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) ^ 0x80000000),
                      x != y || !(x > 0) ? 4.0f : 5.0f,
                      std::fdim(x, y)},
                     x, y);
    }
}

BOOST_DATA_TEST_CASE(functions_of_float, architectures)
{
    device_memory m;
    loaded code{m, compiled("values", sample)};
    std::vector<float> a;
    for (int i = -60; i <= 60; ++i) a.push_back(0.17f * static_cast<float>(i) + 0.01f);
    a.push_back(infinity<float>);
    a.push_back(nan<float>);
    array<float> da{m, a};
    array<float> dout{m, std::vector<float>(a.size() * 16)};
    auto const n = static_cast<int>(a.size());
    auto const f = code.run("float_math", {{2, 1, 1}, {64, 1, 1}}, da, n, dout);
    BOOST_REQUIRE_MESSAGE(!f, f.text);
    auto const out = dout.host();
    for (std::size_t i = 0; i < a.size(); ++i) {
        float const x = a[i];
        check<float>(out, i * 16,
                     {std::sin(x), std::cos(x), std::tan(x), std::exp(x), std::log(std::fabs(x)),
                      std::log2(std::fabs(x)), std::exp2(x), std::pow(std::fabs(x), 1.7f),
                      std::atan2(x, 2.0f), std::tanh(x), 1 / std::sqrt(std::fabs(x)), std::erf(x),
                      std::cbrt(x)},
                     x, 0.0f, 16.0f);
        check<float>(out, i * 16 + 15, {std::hypot(x, 3.0f)}, x, 3.0f, 4.0f);
        if (std::fabs(x) < 4) check<float>(out, i * 16 + 13, {std::sin(x)}, x, 0.0f, 16.0f);
        check<float>(out, i * 16 + 14, {std::exp(x)}, x, 0.0f, 64.0f);
    }
}

BOOST_DATA_TEST_CASE(arithmetic_and_functions_of_double, architectures)
{
    device_memory m;
    loaded code{m, compiled("values", sample)};
    auto const [a, b] = pairs<double>({0.5, -0.5, 1.0, 0.1, -0.3, 2.5, -2.5, 3.7, 123.456, 1e5, -1e-10, 7.0});
    auto const n = static_cast<int>(a.size());
    array<double> da{m, a};
    array<double> db{m, b};
    array<double> dout{m, std::vector<double>(a.size() * 24)};
    auto const f =
        code.run("double_math", {{static_cast<unsigned>(n + 63) / 64, 1, 1}, {64, 1, 1}}, da, db, n, dout);
    BOOST_REQUIRE_MESSAGE(!f, f.text);
    auto const out = dout.host();
    for (std::size_t i = 0; i < a.size(); ++i) {
        double const x = a[i];
        double const y = b[i];
        std::size_t const o = i * 24;
        // Whether x * y - x is one operation is the compiler's choice.
        bool const fused = out[o + 1] == std::fma(x, y, -x);
        check<double>(
            out, o,
            {x + y, fused ? out[o + 1] : x * y - x, x / y, std::fma(x, y, 1.0), std::sqrt(std::fabs(x))}, x,
            y);
        check<double>(
            out, o + 5,
            {std::sin(x), std::cos(x), std::exp(x), std::log(std::fabs(x)), std::pow(std::fabs(x), y)}, x, y,
            8.0);
        check<double>(out, o + 10,
                      {std::fmin(x, y), std::fmax(x, y), std::floor(x), std::rint(x),
                       in<double>(FE_UPWARD, std::plus<double>{}, x, y),
                       in<double>(FE_DOWNWARD, std::multiplies<double>{}, x, y),
                       in<double>(FE_TOWARDZERO, std::divides<double>{}, x, y), std::copysign(x, y)},
                      x, y);
        check<double>(out, o + 18, {std::atan(x), 1 / std::sqrt(std::fabs(x))}, x, y, 8.0);
        check<double>(out, o + 20, {x < y ? 1.0 : 2.0, std::fmod(x, y)}, x, y);
        check<double>(out, o + 22, {std::cbrt(x), std::tan(x)}, x, y, 8.0);
    }
}

/// What the device makes of a float that does not fit: the nearest limit.
template <class To, class From>
long long clamped(From v)
{
    using limits = std::numeric_limits<To>;
    if (std::isnan(v)) {
        bool const wide = sizeof(From) == 8 || sizeof(To) == 8;
        return wide ? static_cast<long long>(static_cast<To>(1ull << (8 * sizeof(To) - 1))) : 0;
    }
    if (v >= std::ldexp(From{1}, limits::digits)) return static_cast<long long>(limits::max());
    if (v <= static_cast<From>(limits::min())) return static_cast<long long>(limits::min());
    return static_cast<long long>(static_cast<To>(v));
}

BOOST_DATA_TEST_CASE(conversions, architectures)
{
    using s32 = std::int32_t;
    using u32 = std::uint32_t;
    using s64 = long long;
    using u64 = unsigned long long;
    device_memory m;
    loaded code{m, compiled("values", sample)};
    std::vector<float> const f{0.5f,  -0.5f, 1.5f,  2.5f,   -2.5f,           100.75f,    -100.25f,      3e9f,
                               -3e9f, 5e9f,  1e20f, -1e20f, infinity<float>, nan<float>, 2147483648.0f, 0.0f};
    std::vector<double> const d{0.5,  -0.5, 1.5,   2.5,   -2.5, 100.75, -100.25,     3e9,
                                -3e9, 5e9,  1e300, -1e20, 1e19, 0.1,    nan<double>, 16777217.0000001};
    std::vector<s64> const l{0,
                             1,
                             -1,
                             16777217,
                             -16777219,
                             123456789,
                             -987654321,
                             (1ll << 53) + 1,
                             -(1ll << 60) - 1,
                             0x7fffffffffffffff,
                             std::numeric_limits<s64>::min(),
                             255,
                             65535,
                             -128,
                             33554435,
                             77};
    array<float> df{m, f};
    array<double> dd{m, d};
    array<s64> dl{m, l};
    array<s64> dout{m, std::vector<s64>(16 * 24)};
    array<float> dfout{m, std::vector<float>(16 * 12)};
    array<double> ddout{m, std::vector<double>(16 * 6)};
    auto const e = code.run("conversions", {{1, 1, 1}, {16, 1, 1}}, df, dd, dl, 16, dout, dfout, ddout);
    BOOST_REQUIRE_MESSAGE(!e, e.text);
    auto const out = dout.host();
    for (std::size_t i = 0; i < 16; ++i) {
        float const x = f[i];
        double const y = d[i];
        s64 const v = l[i];
        s64 const expected[22] = {
            clamped<s32>(x),
            clamped<u32>(x),
            clamped<s64>(x),
            clamped<u64>(x),
            clamped<s32>(std::rint(x)),
            clamped<s32>(std::ceil(x)),
            clamped<s32>(std::floor(x)),
            clamped<u32>(std::rint(x)),
            clamped<s32>(y),
            clamped<s64>(y),
            clamped<s32>(std::rint(y)),
            clamped<s64>(std::ceil(y)),
            clamped<u32>(std::floor(y)),
            0, // a float out of range to a byte: not defined
            0,
            std::bit_cast<s32>(x),
            std::bit_cast<s64>(y),
            std::bit_cast<s64>(y) >> 32,
            clamped<s64>(std::rint(x)),
            clamped<s64>(std::rint(y)),
            clamped<s64>(std::round(x)),
            clamped<u64>(std::rint(y)),
        };
        for (std::size_t k = 0; k < 22; ++k) {
            if (k == 13 || k == 14) continue;
            BOOST_TEST(out[i * 24 + k] == expected[k], "result " << k << " of " << x << ", " << y << ": "
                                                                 << out[i * 24 + k] << ", not "
                                                                 << expected[k]);
        }
        if (std::fabs(x) < 120) BOOST_TEST(out[i * 24 + 13] == static_cast<s64>(x));
        if (x >= 0 && x < 60000) BOOST_TEST(out[i * 24 + 14] == static_cast<s64>(x));
        auto const to_float = [](auto w) { return static_cast<float>(w); };
        auto const to_double = [](auto w) { return static_cast<double>(w); };
        check<float>(dfout.host(), i * 12,
                     {static_cast<float>(v), static_cast<float>(static_cast<u64>(v)),
                      in<float>(FE_TOWARDZERO, to_float, v), in<float>(FE_UPWARD, to_float, v),
                      in<float>(FE_DOWNWARD, to_float, static_cast<s32>(v)),
                      in<float>(FE_UPWARD, to_float, static_cast<u32>(v)), static_cast<float>(y),
                      in<float>(FE_TOWARDZERO, to_float, y), in<float>(FE_UPWARD, to_float, y),
                      in<float>(FE_DOWNWARD, to_float, y), static_cast<float>(static_cast<signed char>(v)),
                      static_cast<float>(static_cast<unsigned short>(v))},
                     static_cast<float>(v), static_cast<float>(y));
        check<double>(ddout.host(), i * 6,
                      {static_cast<double>(v), static_cast<double>(static_cast<u64>(v)),
                       in<double>(FE_UPWARD, to_double, v),
                       in<double>(FE_DOWNWARD, to_double, static_cast<u64>(v)), static_cast<double>(x),
                       static_cast<double>(static_cast<s32>(v))},
                      static_cast<double>(v), static_cast<double>(x));
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
