// SPDX-License-Identifier: BSL-1.0
// Which memory a data clause names: a contiguous range, a scalar, or a section of an array.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

namespace omp_co {

/// An array section: `count` elements from `data` (OpenMP 5.2, 3.2.5). Does not own them. Made by `section()`.
template <class T>
class array_section {
public:
    constexpr array_section(T* data, std::size_t count, bool valid = true) noexcept
        : data_(data), count_(count), valid_(valid)
    {
    }

    constexpr T* data() const noexcept { return data_; }
    constexpr std::size_t size() const noexcept { return count_; }
    constexpr std::size_t bytes() const noexcept { return count_ * sizeof(T); }

    /// False for a negative or overflowing section, which fails with errc::invalid_argument when it is used.
    constexpr bool valid() const noexcept { return valid_; }

private:
    T* data_;
    std::size_t count_;
    bool valid_;
};

namespace detail {

template <std::integral I>
constexpr bool fits_size(I value) noexcept
{
    // Not std::in_range: it refuses char and bool.
    if constexpr (std::is_signed_v<I>) {
        if (value < 0) return false;
    }
    if constexpr (sizeof(I) > sizeof(std::size_t))
        return value <= I{std::numeric_limits<std::size_t>::max()};
    else
        return true;
}

template <class T, std::integral First, std::integral Count>
constexpr array_section<T> make_section(T* data, First first, Count count, std::size_t available) noexcept
{
    if (!fits_size(first) || !fits_size(count)) return {data, 0, false};
    std::size_t const from = static_cast<std::size_t>(first);
    std::size_t const n = static_cast<std::size_t>(count);
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max() / 2 / sizeof(T);
    if (from > available || n > available - from || from > most || n > most) return {data, 0, false};
    if (data == nullptr) return {data, n, n == 0};
    return {data + from, n, true};
}

template <class T>
inline constexpr bool is_section = false;
template <class T>
inline constexpr bool is_section<array_section<T>> = true;

template <class T>
inline constexpr bool is_vector_of_bool = false;
template <class A>
inline constexpr bool is_vector_of_bool<std::vector<bool, A>> = true;

template <class X>
concept contiguous = std::ranges::contiguous_range<X> && std::ranges::sized_range<X>;

/// The memory that `x` names, as a section. What cannot be mapped does not compile, and the message says what to
/// write instead.
template <class X>
constexpr auto named_memory(X&& x) noexcept
{
    using value = std::remove_cvref_t<X>;
    if constexpr (is_section<value>) {
        return x;
    } else if constexpr (is_vector_of_bool<value>) {
        static_assert(!is_vector_of_bool<value>,
                      "omp_co: std::vector<bool> has no elements in memory; use std::vector<char>");
        return array_section<char>(nullptr, 0);
    } else if constexpr (std::is_pointer_v<value>) {
        static_assert(!std::is_pointer_v<value>,
                      "omp_co: a pointer does not say how much it points to; write section(p, first, count)");
        return array_section<char>(nullptr, 0);
    } else if constexpr (contiguous<X>) {
        static_assert(
            std::is_lvalue_reference_v<X> || std::ranges::borrowed_range<X>,
            "omp_co: a temporary that owns its memory would be gone before the region ends; give it a name");
        using element = std::remove_reference_t<std::ranges::range_reference_t<X>>;
        return array_section<element>(std::ranges::data(x), static_cast<std::size_t>(std::ranges::size(x)));
    } else {
        static_assert(std::is_lvalue_reference_v<X>,
                      "omp_co: a temporary would be gone before the region ends; give it a name");
        return array_section<std::remove_reference_t<X>>(std::addressof(x), 1);
    }
}

} // namespace detail

/// `count` elements of the array at `p`, from its element `first` on. Any integer types; a negative value is
/// errc::invalid_argument when the section is used.
template <class T, std::integral First, std::integral Count>
constexpr array_section<T> section(T* const& p, First first, Count count) noexcept
{
    return detail::make_section(p, first, count, std::numeric_limits<std::size_t>::max());
}

/// The same of a contiguous range; a section beyond its end is errc::invalid_argument.
template <class R, std::integral First, std::integral Count>
requires detail::contiguous<R>
constexpr auto section(R&& r, First first, Count count) noexcept
{
    static_assert(
        std::is_lvalue_reference_v<R> || std::ranges::borrowed_range<R>,
        "omp_co: a temporary that owns its memory would be gone before the region ends; give it a name");
    return detail::make_section(std::ranges::data(r), first, count,
                                static_cast<std::size_t>(std::ranges::size(r)));
}

// Says what to write instead.
template <class X, std::integral First, std::integral Count>
requires(!detail::contiguous<X> &&
         !std::is_pointer_v<std::remove_cvref_t<X>>) constexpr array_section<char> section(X&&, First,
                                                                                           Count) noexcept
{
    using value = std::remove_cvref_t<X>;
    static_assert(!detail::is_vector_of_bool<value>,
                  "omp_co: std::vector<bool> has no elements in memory; use std::vector<char>");
    static_assert(
        detail::is_vector_of_bool<value>,
        "omp_co: section() takes a pointer or a contiguous range, the first element and their number");
    return {nullptr, 0, false};
}

} // namespace omp_co
