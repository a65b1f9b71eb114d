// SPDX-License-Identifier: BSL-1.0
// Data clauses: what a construct maps, and how a kernel sees it (OpenMP 5.2, 5.8.3 map, 5.4.4 firstprivate,
// 5.4.3 private, 5.4.7 is_device_ptr).
//
// Clauses are small values. What they name must outlive the operation that uses them. All have constructors: g++ 12
// destroys temporary aggregates twice in a co_await expression.
#pragma once

#include <omp_co/detail/map_item.hpp>
#include <omp_co/mapper.hpp>
#include <omp_co/section.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace omp_co {

/// A map-type modifier; see `always` and `present`.
class map_modifier {
public:
    constexpr explicit map_modifier(std::uint32_t flag) noexcept : flag_(flag) {}
    constexpr std::uint32_t flag() const noexcept { return flag_; }

private:
    std::uint32_t flag_;
};

/// Copies whatever the reference count is.
inline constexpr map_modifier always{detail::map_always};
/// Data that is not mapped is an error: errc::not_present.
inline constexpr map_modifier present{detail::map_present};
/// Counts apart from the others: what is held stays mapped whatever they say, until as many exits with `hold` as entries
/// (LLVM's ompx_hold).
inline constexpr map_modifier hold{detail::map_hold};
/// A wish for memory near the kernel (OpenMP 5.2, 5.8.3 close); there is one kind of device memory here.
inline constexpr map_modifier close_{0};

/// The map types of OpenMP 5.2, 5.8.3.
enum class map_type : unsigned char { to, from, tofrom, alloc, release, delete_ };

/// A map clause over elements of type `T`.
template <map_type Type, class T>
class map_clause {
public:
    using element_type = T;
    /// What a kernel gets.
    using argument_type = std::conditional_t<Type == map_type::to, T const*, T*>;
    static constexpr map_type type = Type;

    constexpr map_clause(array_section<T> s, std::uint32_t modifiers) noexcept
        : section_(s), modifiers_(modifiers)
    {
        static_assert(std::is_trivially_copyable_v<std::remove_all_extents_t<T>> || detail::has_mapper<T>,
                      "omp_co: only trivially copyable elements can be copied to a device and back");
        static_assert(alignof(T) <= backend::largest_alignment,
                      "omp_co: devices align memory to 256 bytes; an element may not ask for more");
        static_assert(!std::is_const_v<T> || (Type != map_type::from && Type != map_type::tofrom),
                      "omp_co: from and tofrom would write to const data; write to(x)");
    }

    constexpr array_section<T> memory() const noexcept { return section_; }
    constexpr std::uint32_t modifiers() const noexcept { return modifiers_; }

private:
    array_section<T> section_;
    std::uint32_t modifiers_;
};

/// A map clause over a block of an array; only target_update takes it.
template <map_type Type, class T>
class box_clause {
public:
    static constexpr map_type type = Type;

    constexpr box_clause(box_section<T> const& s, std::uint32_t modifiers) noexcept
        : section_(s), modifiers_(modifiers)
    {
        static_assert(std::is_trivially_copyable_v<T>,
                      "omp_co: only trivially copyable elements can be copied to a device and back");
        static_assert(!std::is_const_v<T> || Type != map_type::from,
                      "omp_co: from would write to const data; write to(x)");
    }

    constexpr box_section<T> const& memory() const noexcept { return section_; }
    constexpr std::uint32_t modifiers() const noexcept { return modifiers_; }
    constexpr bool valid() const noexcept { return section_.valid(); }

private:
    box_section<T> section_;
    std::uint32_t modifiers_;
};

/// A value of its own for each region, copied when the operation is made.
template <class T>
class firstprivate_clause {
public:
    using argument_type = T;

    constexpr explicit firstprivate_clause(T value) noexcept : value_(value) {}
    constexpr T const& value() const noexcept { return value_; }

private:
    T value_;
};

/// `count` uninitialised elements for each worker.
template <class T>
class private_clause {
public:
    using argument_type = T*;
    using element_type = T;

    constexpr private_clause(std::size_t count, bool valid) noexcept : count_(count), valid_(valid) {}
    constexpr std::size_t size() const noexcept { return count_; }
    constexpr bool valid() const noexcept { return valid_; }

private:
    std::size_t count_;
    bool valid_;
};

/// A device address, handed to the kernel as it is.
template <class T>
class device_pointer_clause {
public:
    using argument_type = T*;

    constexpr explicit device_pointer_clause(T* p) noexcept : pointer_(p) {}
    constexpr T* pointer() const noexcept { return pointer_; }

private:
    T* pointer_;
};

/// A data clause that maps and is no kernel argument.
template <class Clause>
class also_clause {
public:
    constexpr explicit also_clause(Clause c) noexcept : clause_(c) {}
    constexpr Clause const& clause() const noexcept { return clause_; }

private:
    Clause clause_;
};

namespace detail {

constexpr std::uint32_t flag_of(map_modifier m) noexcept { return m.flag(); }
template <class Other> // a name
constexpr std::uint32_t flag_of(Other const&) noexcept
{
    return 0;
}

/// A section with the name that is among the modifiers.
template <class Section>
constexpr Section named_by(Section const& s) noexcept
{
    return s;
}
template <class Section, class First, class... Rest>
constexpr Section named_by(Section const& s, First const& first, Rest const&... rest) noexcept
{
    if constexpr (std::same_as<First, literal_name>)
        return s.named(first);
    else
        return named_by(s, rest...);
}

template <map_type Type, class X, class... Modifiers>
constexpr auto make_map(X&& x, Modifiers... modifiers) noexcept
{
    static_assert(((std::same_as<Modifiers, map_modifier> || std::same_as<Modifiers, literal_name>)&&...),
                  "omp_co: after the data only modifiers may follow: always, present, close_, hold, and "
                  "name(\"...\") of a literal");
    constexpr bool block = is_box<std::remove_cvref_t<X>> && (Type == map_type::to || Type == map_type::from);
    std::uint32_t const flags = (std::uint32_t{0} | ... | flag_of(modifiers));
    if constexpr (block) {
        using element = std::remove_pointer_t<decltype(x.data())>;
        return box_clause<Type, element>(named_by(x, modifiers...), flags);
    } else {
        auto const memory = named_memory(std::forward<X>(x));
        using element = std::remove_pointer_t<decltype(memory.data())>;
        return map_clause<Type, element>(named_by(memory, modifiers...), flags);
    }
}

template <class T>
inline constexpr bool is_box_clause = false;
template <map_type Type, class T>
inline constexpr bool is_box_clause<box_clause<Type, T>> = true;

template <class T>
inline constexpr bool is_map_clause = false;
template <map_type Type, class T>
inline constexpr bool is_map_clause<map_clause<Type, T>> = true;

} // namespace detail

/// Copied to the device when it is not there yet. A kernel sees `T const*`.
template <class X, class... Modifiers>
constexpr auto to(X&& x, Modifiers... m) noexcept
{
    return detail::make_map<map_type::to>(std::forward<X>(x), m...);
}

/// Copied back when its reference count reaches zero. A kernel sees `T*`, not initialised.
template <class X, class... Modifiers>
constexpr auto from(X&& x, Modifiers... m) noexcept
{
    return detail::make_map<map_type::from>(std::forward<X>(x), m...);
}

/// Both ways. A kernel sees `T*`.
template <class X, class... Modifiers>
constexpr auto tofrom(X&& x, Modifiers... m) noexcept
{
    return detail::make_map<map_type::tofrom>(std::forward<X>(x), m...);
}

/// Device memory and no copy. A kernel sees `T*`.
template <class X, class... Modifiers>
constexpr auto alloc(X&& x, Modifiers... m) noexcept
{
    return detail::make_map<map_type::alloc>(std::forward<X>(x), m...);
}

/// Counts down and copies nothing (exit only).
template <class X, class... Modifiers>
constexpr auto release(X&& x, Modifiers... m) noexcept
{
    return detail::make_map<map_type::release>(std::forward<X>(x), m...);
}

/// Sets the count to zero and copies nothing (exit only).
template <class X, class... Modifiers>
constexpr auto delete_(X&& x, Modifiers... m) noexcept
{
    return detail::make_map<map_type::delete_>(std::forward<X>(x), m...);
}

/// A copy of `value` for the region. A kernel sees `T`.
template <class T>
constexpr auto firstprivate(T const& value) noexcept
{
    static_assert(!std::is_array_v<T>, "omp_co: firstprivate of an array is not supported; use to(x)");
    static_assert(std::is_array_v<T> || std::is_trivially_copyable_v<T>,
                  "omp_co: firstprivate needs a trivially copyable value");
    return firstprivate_clause<std::decay_t<T>>(value);
}

/// `n` uninitialised elements of `T` for each worker that runs a part of the kernel, which sees `T*`.
template <class T, std::integral I = std::size_t>
constexpr auto private_(I n = 1) noexcept
{
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_default_constructible_v<T>,
                  "omp_co: private_ memory is not initialised; its elements must be trivial");
    static_assert(alignof(T) <= backend::largest_alignment,
                  "omp_co: devices align memory to 256 bytes; an element may not ask for more");
    bool const valid =
        detail::fits_size(n) && static_cast<std::size_t>(n) <= detail::most_private_bytes / sizeof(T);
    return private_clause<T>(valid ? static_cast<std::size_t>(n) : 0, valid);
}

/// `p` is an address on the device already. A kernel sees it as it is. If it points into mapped data, the region is
/// ordered behind the copies of that data like one that maps it: a `T const*` reads it, a `T*` writes it.
template <class T>
constexpr auto is_device_ptr(T* p) noexcept
{
    return device_pointer_clause<T>(p);
}

/// `x` is in the device's memory already, as a reference or a section made from a device pointer (OpenMP 5.2, 5.4.9). A kernel
/// sees `T*`. Ordered as is_device_ptr() is.
template <class X>
constexpr auto has_device_addr(X&& x) noexcept
{
    return is_device_ptr(detail::named_memory(std::forward<X>(x)).data());
}

/// Maps like `clause`, without becoming an argument of the kernel.
template <class Clause>
constexpr auto also(Clause clause) noexcept
{
    static_assert(detail::is_map_clause<Clause>,
                  "omp_co: also() takes a map clause: to, from, tofrom or alloc");
    return also_clause<Clause>(clause);
}

} // namespace omp_co
