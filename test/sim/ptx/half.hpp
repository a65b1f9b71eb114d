// SPDX-License-Identifier: BSL-1.0
// Half precision and bfloat16 on a host that has neither: bits to float and back.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace omp_co_sim::ptx {

struct half {
    std::uint16_t bits = 0;
};
struct bfloat {
    std::uint16_t bits = 0;
};

inline float to_float(half h)
{
    int const exponent = h.bits >> 10 & 31;
    auto const fraction = static_cast<float>(h.bits & 1023);
    float v = 0;
    if (exponent == 31)
        v = fraction != 0 ? std::nanf("") : HUGE_VALF;
    else if (exponent == 0)
        v = std::ldexp(fraction, -24);
    else
        v = std::ldexp(fraction + 1024, exponent - 25);
    return h.bits & 0x8000 ? -v : v;
}
inline float to_float(bfloat b) { return std::bit_cast<float>(std::uint32_t{b.bits} << 16); }

/// To a format with `Fraction` bits of fraction and normal exponents from `Least`; to nearest even, or towards zero.
template <int Fraction, int Least>
std::uint16_t narrowed(double v, bool to_zero)
{
    constexpr int exponent_bits = 15 - Fraction;
    constexpr auto infinity = static_cast<std::uint16_t>(((1 << exponent_bits) - 1) << Fraction);
    auto const sign = static_cast<std::uint16_t>(std::signbit(v) ? 0x8000 : 0);
    if (std::isnan(v)) return 0x7fff;
    if (std::isinf(v)) return sign | infinity;
    double const m = std::fabs(v);
    if (m == 0) return sign;
    int const exponent = std::max(std::ilogb(m), Least);
    double const steps = std::ldexp(m, Fraction - exponent); // exact: the unit in the last place becomes 1
    double const whole = to_zero ? std::trunc(steps) : std::nearbyint(steps);
    auto const encoded = static_cast<std::uint32_t>(whole) + (static_cast<std::uint32_t>(exponent - Least)
                                                              << Fraction); // a carry moves the exponent on
    if (encoded >= infinity) return sign | static_cast<std::uint16_t>(to_zero ? infinity - 1 : infinity);
    return static_cast<std::uint16_t>(sign | encoded);
}
inline half to_half(double v, bool to_zero = false) { return {narrowed<10, -14>(v, to_zero)}; }
inline bfloat to_bfloat(double v, bool to_zero = false) { return {narrowed<7, -126>(v, to_zero)}; }

} // namespace omp_co_sim::ptx
