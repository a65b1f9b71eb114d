// SPDX-License-Identifier: BSL-1.0
// Which memory a data clause names: a contiguous range, a scalar, a section of an array, or a block of one.
#pragma once

#include <omp_co/backend.hpp>
#include <omp_co/name.hpp>

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

    /// The same elements, which messages call `text`: as `name("...")` in a data clause.
    template <std::size_t N>
    constexpr array_section named(char const (&text)[N]) const noexcept
    {
        return named(literal_name(text));
    }
    constexpr array_section named(literal_name n) const noexcept
    {
        array_section copy = *this;
        copy.name_ = n.c_str();
        return copy;
    }
    /// Null: they have no name.
    constexpr char const* name() const noexcept { return name_; }

private:
    T* data_;
    std::size_t count_;
    char const* name_ = nullptr;
    bool valid_;
};

namespace detail {

/// One dimension of a box: `count` elements or rows that begin `stride` bytes apart.
struct box_dimension {
    std::size_t count = 1;
    std::size_t stride = 0;
};

/// Three of them, from the fastest one.
struct box_dimensions {
    box_dimension each[3];

    constexpr bool same_counts(box_dimensions const& other) const noexcept
    {
        for (int i = 0; i < 3; ++i)
            if (each[i].count != other.each[i].count) return false;
        return true;
    }
};

/// A box with these dimensions on the host and on the device, whose counts are equal. Dimensions without a gap between them
/// on either side become one, so that what is contiguous is one row.
constexpr backend::box make_box(box_dimensions const& host, box_dimensions const& device,
                                std::size_t element) noexcept
{
    box_dimension apart[2][3]{};
    std::size_t used = 0;
    backend::box made;
    made.row = element;
    for (int i = 0; i < 3; ++i) {
        box_dimension const h = host.each[i];
        box_dimension const d = device.each[i];
        if (h.count == 1) continue;
        auto const follows = [&](int side, box_dimension next) {
            if (used == 0) return next.stride == made.row;
            box_dimension const last = apart[side][used - 1];
            return last.count * last.stride == next.stride;
        };
        if (follows(0, h) && follows(1, d)) {
            if (used == 0)
                made.row *= h.count;
            else
                apart[0][used - 1].count = apart[1][used - 1].count *= h.count;
            continue;
        }
        apart[0][used] = h;
        apart[1][used++] = d;
    }
    if (used > 0) made.rows = apart[0][0].count;
    if (used > 1) made.slices = apart[0][1].count;
    made.host = {apart[0][0].stride, apart[0][1].stride};
    made.device = {apart[1][0].stride, apart[1][1].stride};
    return made;
}

} // namespace detail

/// A block of an array of up to three dimensions, or every n-th element of one. Does not own them. Made by `section2d()`,
/// `section3d()` and `section()` with a stride.
template <class T>
class box_section {
public:
    using element_type = T;

    constexpr box_section(array_section<T> around, detail::box_dimensions const& dimensions) noexcept
        : around_(around), dimensions_(dimensions)
    {
    }

    constexpr T* data() const noexcept { return around_.data(); }
    /// All that lies between its first element and its last one.
    constexpr array_section<T> around() const noexcept { return around_; }
    constexpr detail::box_dimensions const& dimensions() const noexcept { return dimensions_; }
    /// Which rows of that are meant, where the device has the same array.
    constexpr backend::box shape() const noexcept
    {
        return around_.size() == 0 ? backend::box() : detail::make_box(dimensions_, dimensions_, sizeof(T));
    }
    constexpr bool valid() const noexcept { return around_.valid(); }

    /// The same block, which messages call `text`.
    template <std::size_t N>
    constexpr box_section named(char const (&text)[N]) const noexcept
    {
        return named(literal_name(text));
    }
    constexpr box_section named(literal_name n) const noexcept { return {around_.named(n), dimensions_}; }

private:
    array_section<T> around_;
    detail::box_dimensions dimensions_;
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

/// One number for each dimension of an array, of any integer types: `{rows, columns}`. Not a C array: g++ 12 keeps no temporary
/// one in a coroutine.
template <std::size_t N>
class box_index {
public:
    template <std::integral... I>
    requires(sizeof...(I) == N) constexpr box_index(I... values) noexcept
        : values_{(fits_size(values) ? static_cast<std::size_t>(values) : 0)...},
          valid_((fits_size(values) && ...))
    {
    }
    template <std::integral I>
    constexpr box_index(I const (&values)[N]) noexcept
    {
        for (std::size_t i = 0; i < N; ++i) {
            valid_ = valid_ && fits_size(values[i]);
            values_[i] = fits_size(values[i]) ? static_cast<std::size_t>(values[i]) : 0;
        }
    }
    constexpr std::size_t operator[](std::size_t i) const noexcept { return values_[i]; }
    constexpr bool valid() const noexcept { return valid_; }

private:
    std::size_t values_[N]{};
    bool valid_ = true;
};

/// What a worker's private copy of one object may have: far from where sums of sizes overflow, and beyond all memory.
inline constexpr std::size_t most_private_bytes = std::size_t{1} << 48;

template <class T, std::integral First, std::integral Count>
constexpr array_section<T> make_section(T* data, First first, Count count, std::size_t available) noexcept
{
    if (!fits_size(first) || !fits_size(count)) return {data, 0, false};
    std::size_t const from = static_cast<std::size_t>(first);
    std::size_t const n = static_cast<std::size_t>(count);
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max() / 2 / sizeof(T);
    if (from > available || n > available - from || from > most || n > most - from) return {data, 0, false};
    if (data == nullptr) return {data, n, n == 0};
    return {data + from, n, true};
}

template <class T>
inline constexpr bool is_section = false;
template <class T>
inline constexpr bool is_section<array_section<T>> = true;

template <class T>
inline constexpr bool is_box = false;
template <class T>
inline constexpr bool is_box<box_section<T>> = true;

/// Extents, offsets and counts, slowest dimension first.
template <class T, std::size_t N>
constexpr box_section<T> make_box_section(T* data, box_index<N> const& extents, box_index<N> const& offsets,
                                          box_index<N> const& counts) noexcept
{
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max() / 2 / sizeof(T);
    box_section<T> const bad{array_section<T>(data, 0, false), {}};
    if (!extents.valid() || !offsets.valid() || !counts.valid()) return bad;
    std::size_t first = 0;
    std::size_t last = 0;
    std::size_t stride = 1;
    bool empty = false;
    box_dimensions dimensions;
    for (std::size_t i = 0; i < N; ++i) {
        std::size_t const extent = extents[N - 1 - i];
        std::size_t const offset = offsets[N - 1 - i];
        std::size_t const count = counts[N - 1 - i];
        if (offset > extent || count > extent - offset) return bad;
        if (extent > most / stride) return bad;
        dimensions.each[i] = {count, stride * sizeof(T)};
        empty = empty || count == 0;
        first += offset * stride;
        last += count == 0 ? 0 : (count - 1) * stride;
        stride *= extent == 0 ? 1 : extent;
    }
    if (empty) return {array_section<T>(data, 0), dimensions};
    if (data == nullptr) return bad;
    return {array_section<T>(data + first, last + 1), dimensions};
}

template <class T>
inline constexpr bool is_vector_of_bool = false;
template <class A>
inline constexpr bool is_vector_of_bool<std::vector<bool, A>> = true;

/// Types that are ranges and yet mapped as they are.
template <class T>
inline constexpr bool is_one_object = false;

template <class X>
concept contiguous =
    std::ranges::contiguous_range<X> && std::ranges::sized_range<X> && !is_one_object<std::remove_cvref_t<X>>;

/// The memory that `x` names, as a section. What cannot be mapped does not compile, and the message says what to
/// write instead.
template <class X>
constexpr auto named_memory(X&& x) noexcept
{
    using value = std::remove_cvref_t<X>;
    if constexpr (is_section<value>) {
        return x;
    } else if constexpr (is_box<value>) {
        static_assert(!is_box<value>,
                      "omp_co: section2d, section3d and a section with a stride belong in to() and "
                      "from() of target_update");
        return array_section<char>(nullptr, 0);
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

/// Every `stride`-th element of the array at `p`, `count` of them, from its element `first` on (OpenMP 5.2, 3.2.5). For
/// target_update. A stride below 1 is errc::invalid_argument.
template <class T, std::integral First, std::integral Count, std::integral Stride>
constexpr box_section<T> section(T* const& p, First first, Count count, Stride stride) noexcept
{
    box_section<T> const bad{array_section<T>(p, 0, false), {}};
    if (!detail::fits_size(stride) || stride < 1 || !detail::fits_size(count)) return bad;
    auto const n = static_cast<std::size_t>(count);
    auto const step = static_cast<std::size_t>(stride);
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max() / 2 / sizeof(T);
    if (n > 1 && step > most / (n - 1)) return bad;
    detail::box_dimensions only;
    only.each[0] = {n, step * sizeof(T)};
    return {section(p, first, n == 0 ? std::size_t{0} : (n - 1) * step + 1), only};
}

/// A block of the two-dimensional array at `p`, which has `extents[0]` rows of `extents[1]` elements: `counts[0]` rows from row
/// `offsets[0]` on, and of each of them `counts[1]` elements from element `offsets[1]` on. For target_update. Any integer
/// types; a block that is negative, or does not lie in the array, is errc::invalid_argument when it is used.
template <class T>
constexpr box_section<T> section2d(T* p, detail::box_index<2> extents, detail::box_index<2> offsets,
                                   detail::box_index<2> counts) noexcept
{
    return detail::make_box_section(p, extents, offsets, counts);
}

/// The same in three dimensions, the last one the fastest.
template <class T>
constexpr box_section<T> section3d(T* p, detail::box_index<3> extents, detail::box_index<3> offsets,
                                   detail::box_index<3> counts) noexcept
{
    return detail::make_box_section(p, extents, offsets, counts);
}

} // namespace omp_co
