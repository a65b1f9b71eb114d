// SPDX-License-Identifier: BSL-1.0
// The reduction clause (OpenMP 5.2, 5.5.5 to 5.5.8): partial results, combined at the end of the region.
#pragma once

#include <omp_co/detail/map_item.hpp>
#include <omp_co/section.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <limits>
#include <type_traits>
#include <utility>

namespace omp_co {

namespace detail {

/// std::ranges::min and max, whose types have no names.
template <class Op>
inline constexpr bool is_min = std::is_same_v<Op, std::remove_cv_t<decltype(std::ranges::min)>>;
template <class Op>
inline constexpr bool is_max = std::is_same_v<Op, std::remove_cv_t<decltype(std::ranges::max)>>;

template <class Op, template <class> class Standard, class T>
inline constexpr bool is_operation = std::is_same_v<Op, Standard<void>> || std::is_same_v<Op, Standard<T>>;

/// The value that a partial result begins with (OpenMP 5.2, table 5.1); `known` is false for other operations.
template <class Op, class T>
struct identity_of {
    static constexpr bool sum = is_operation<Op, std::plus, T> || is_operation<Op, std::minus, T> ||
                                is_operation<Op, std::bit_or, T> || is_operation<Op, std::bit_xor, T> ||
                                is_operation<Op, std::logical_or, T>;
    static constexpr bool product =
        is_operation<Op, std::multiplies, T> || is_operation<Op, std::logical_and, T>;
    static constexpr bool all_bits = is_operation<Op, std::bit_and, T>;
    static constexpr bool limit = (is_min<Op> || is_max<Op>)&&std::numeric_limits<T>::is_specialized;
    static constexpr bool known = sum || product || all_bits || limit;

    static constexpr T value()
    {
        using numbers = std::numeric_limits<T>;
        if constexpr (product) return T(1);
        if constexpr (all_bits) return static_cast<T>(~T(0));
        if constexpr (is_min<Op>) return numbers::has_infinity ? numbers::infinity() : numbers::max();
        if constexpr (is_max<Op>) return numbers::has_infinity ? -numbers::infinity() : numbers::lowest();
        return T();
    }
};

} // namespace detail

/// A reduction into one object, or into each element of an array; made by `reduction()`.
template <class Op, class T, bool Scalar>
class reduction_clause {
public:
    using element_type = T;
    using argument_type = std::conditional_t<Scalar, T&, T*>;

    constexpr reduction_clause(Op op, array_section<T> s, T const& identity) noexcept
        : op_(op), section_(s), identity_(identity)
    {
        static_assert(!std::is_const_v<T>,
                      "omp_co: a reduction writes its result; the object may not be const");
        static_assert(std::is_trivially_copyable_v<T>,
                      "omp_co: only trivially copyable objects can be reduced on a device");
        static_assert(
            std::is_trivially_copy_constructible_v<Op> && std::is_trivially_destructible_v<Op>,
            "omp_co: the operation of a reduction travels to devices and must be trivially copyable");
        static_assert(std::is_invocable_r_v<T, Op const&, T const&, T const&>,
                      "omp_co: the operation of a reduction takes two values and gives one: T(T, T)");
    }

    constexpr array_section<T> memory() const noexcept { return section_; }
    constexpr T const& identity() const noexcept { return identity_; }
    constexpr bool valid() const noexcept
    {
        return section_.valid() && section_.bytes() <= detail::most_private_bytes;
    }

    /// Partial differences are added (OpenMP 5.2, 5.5.5: minus is combined like plus).
    constexpr auto combine() const noexcept
    {
        if constexpr (detail::is_operation<Op, std::minus, T>)
            return std::plus<>();
        else
            return op_;
    }

private:
    Op op_;
    array_section<T> section_;
    T identity_;
};

/// Combines what the iterations of a range() give into `x`, which maps like tofrom(x): a kernel sees `T&` for an object, `T*`
/// for a contiguous range or a section, private and set to `identity`; at the end the partial results are combined with the
/// value that `x` has, in the order of the iterations. With the same number of workers the result is the same each time.
///
/// `op` is any trivially copyable callable T(T, T), associative; with a user's own one goes its identity. Host devices only:
/// a device kernel reduces as its language does, and gets errc::not_supported.
/// Errors: those of a map clause; out_of_memory where the host has none for the partial results.
template <class Op, class X, class T>
constexpr auto reduction(Op op, X&& x, T const& identity) noexcept
{
    auto const memory = detail::named_memory(std::forward<X>(x));
    using element = std::remove_pointer_t<decltype(memory.data())>;
    constexpr bool scalar = !detail::contiguous<X> && !detail::is_section<std::remove_cvref_t<X>>;
    return reduction_clause<Op, element, scalar>(op, memory, static_cast<element>(identity));
}

/// The same with the identity of a standard function object: std::plus, minus, multiplies, bit_and, bit_or, bit_xor,
/// logical_and, logical_or, std::ranges::min or std::ranges::max.
template <class Op, class X>
constexpr auto reduction(Op op, X&& x) noexcept
{
    auto const memory = detail::named_memory(x);
    using element = std::remove_cv_t<std::remove_pointer_t<decltype(memory.data())>>;
    using identity = detail::identity_of<Op, element>;
    static_assert(identity::known, "omp_co: only standard function objects have a known identity; write "
                                   "reduction(op, x, identity)");
    if constexpr (identity::known)
        return omp_co::reduction(op, std::forward<X>(x), identity::value());
    else
        return omp_co::reduction(op, std::forward<X>(x), element());
}

} // namespace omp_co
