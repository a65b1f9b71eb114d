// SPDX-License-Identifier: BSL-1.0
// Float operations under a rounding mode of their own, with subnormals flushed and results clamped on demand.
#pragma once

#include "translator.hpp"

#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>

namespace omp_co_sim::ptx {

/// Bits of instruction::mode in float operations.
namespace float_mode {
enum : std::uint32_t {
    nearest = 0,
    to_zero = 1,
    down = 2,
    up = 3,
    rounding_mask = 3,
    flush = 4,     ///< .ftz
    saturate = 8,  ///< .sat: to [0, 1], NaN to 0
    keep_nan = 16, ///< .NaN
};
}

inline int host_rounding(std::uint32_t mode)
{
    switch (mode & float_mode::rounding_mask) {
    case float_mode::to_zero:
        return FE_TOWARDZERO;
    case float_mode::down:
        return FE_DOWNWARD;
    case float_mode::up:
        return FE_UPWARD;
    default:
        return FE_TONEAREST;
    }
}

template <class T>
T flushed(T v)
{
    return std::fpclassify(v) == FP_SUBNORMAL ? std::copysign(T{0}, v) : v;
}

template <class T>
T saturated(T v)
{
    if (!(v > 0)) return 0;
    return v > 1 ? T{1} : v;
}

/// A copy that the compiler cannot see through.
template <class T>
T opaque(T v)
{
    T volatile copy = v;
    return copy;
}

/// f(a…) in the rounding mode. The opaque copies keep the compiler from computing before or after the change.
template <class F, class... Args>
auto rounded(std::uint32_t mode, F f, Args... args)
{
    if ((mode & float_mode::rounding_mask) == float_mode::nearest) return f(args...);
    std::fesetround(host_rounding(mode));
    auto const result = opaque(f(opaque(args)...));
    std::fesetround(FE_TONEAREST);
    return result;
}

/// .rn, .rz, .rm, .rp taken from the statement.
inline std::uint32_t take_rounding(translator& x)
{
    auto const name = x.take_one_of({"rn", "rz", "rm", "rp"});
    if (name == "rz") return float_mode::to_zero;
    if (name == "rm") return float_mode::down;
    return name == "rp" ? float_mode::up : float_mode::nearest;
}

} // namespace omp_co_sim::ptx
