// SPDX-License-Identifier: BSL-1.0
// What can go wrong, as portable conditions.
#pragma once

#include <boost/system/error_category.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/error_condition.hpp>
#include <boost/system/is_error_condition_enum.hpp>
#include <string>
#include <type_traits>

namespace omp_co {

using boost::system::error_code;
using boost::system::error_condition;

/// Portable error conditions. `ec == errc::out_of_memory` is true for omp_co's own code and for every driver
/// code that means the same. An error that arises in omp_co itself carries a code of `category()` with the
/// same value; what a code cannot say (which range, which clause, the exception's text) goes to `diagnostics`.
enum class errc {
    /// A clause or argument that makes no sense: a null pointer with a size, a negative range, an overflow,
    /// an environment variable with an unknown value.
    invalid_argument = 1,
    /// Neither the device nor the host has the memory, and nothing in flight would give any back.
    out_of_memory,
    /// The device failed for good, was destroyed, or never existed.
    device_lost,
    /// `present` was asked for and the range is not mapped (OpenMP 5.2, 5.8.6).
    not_present,
    /// A range extends beyond one that is mapped (OpenMP 5.2, 5.8.3, restrictions).
    partially_present,
    /// The kernel failed: on the host it threw.
    kernel_failed,
    /// The kernel has no variant for this kind of device.
    kernel_unavailable,
    /// Something this region relied on failed before it.
    predecessor_failed,
    /// There is no such device.
    no_device,
    /// The device or the execution context cannot do this.
    not_supported,
    /// The process was forked after omp_co's first use; a child cannot use its parent's devices.
    forked,
    /// The program is on its way out; no new region is taken.
    shutting_down,
};

namespace detail {

class core_category final : public boost::system::error_category {
public:
    constexpr core_category() noexcept : error_category(0x6f6d705f636f0001ULL) {}

    char const* name() const noexcept override { return "omp_co"; }

    std::string message(int value) const override
    {
        switch (static_cast<errc>(value)) {
        case errc::invalid_argument:
            return "invalid argument";
        case errc::out_of_memory:
            return "out of device memory";
        case errc::device_lost:
            return "device lost";
        case errc::not_present:
            return "data is not present on the device";
        case errc::partially_present:
            return "data is partially present on the device";
        case errc::kernel_failed:
            return "kernel failed";
        case errc::kernel_unavailable:
            return "kernel has no variant for this device";
        case errc::predecessor_failed:
            return "an operation that this one relied on failed";
        case errc::no_device:
            return "no such device";
        case errc::not_supported:
            return "not supported by this device or execution context";
        case errc::forked:
            return "the process was forked after the first use of omp_co";
        case errc::shutting_down:
            return "the program is shutting down";
        }
        return "unknown omp_co error";
    }
};

inline constexpr core_category core_category_instance;

} // namespace detail

/// The category of omp_co's own codes. Equal across shared objects (it is compared by its identifier).
inline boost::system::error_category const& category() noexcept { return detail::core_category_instance; }

inline error_condition make_error_condition(errc e) noexcept { return {static_cast<int>(e), category()}; }
inline error_code make_error_code(errc e) noexcept { return {static_cast<int>(e), category()}; }

} // namespace omp_co

template <>
struct boost::system::is_error_condition_enum<omp_co::errc> : std::true_type {
};
