// SPDX-License-Identifier: BSL-1.0
// Structures with pointers: what belongs to a type, said once (OpenMP 5.2, 5.8.8 declare mapper), and pointers that are
// joined by hand (5.8.6 attach).
#pragma once

#include <omp_co/section.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>

namespace omp_co {

/// What belongs to a `T` beside its own bytes. Specialise it with one function,
///
///     static auto members(T& object) { return std::tuple(omp_co::pointee(object.data, object.size), omp_co::nested(object.inner)); }
///
/// and every map of a `T`, or of an array of them, maps those arrays too, with the same map type and modifiers, and lets the
/// device's copies of the pointers point to the device's copies of the arrays. The function is used for const objects too, so
/// it takes addresses and changes nothing; it is called each time a construct starts. It must not throw.
template <class T>
struct mapper {
};

/// A pointer member, and how many elements it points to.
template <class T>
class pointee_member {
public:
    constexpr pointee_member(T** pointer, std::size_t count, bool valid) noexcept
        : pointer_(pointer), count_(count), valid_(valid)
    {
    }
    constexpr T** pointer() const noexcept { return pointer_; }
    constexpr std::size_t count() const noexcept { return count_; }
    constexpr bool valid() const noexcept { return valid_; }

private:
    T** pointer_;
    std::size_t count_;
    bool valid_;
};

/// A member whose type has a mapper of its own.
template <class T>
class nested_member {
public:
    constexpr explicit nested_member(T* object) noexcept : object_(object) {}
    constexpr T* object() const noexcept { return object_; }

private:
    T* object_;
};

/// For mapper<T>::members: `count` elements that the member `pointer` points to. A null pointer maps nothing. Elements whose
/// type has a mapper map what belongs to them, as in a linked list.
template <class T, std::integral I>
constexpr pointee_member<T> pointee(T*& pointer, I count) noexcept
{
    bool const fits =
        detail::fits_size(count) && static_cast<std::size_t>(count) <= std::size_t(-1) / 2 / sizeof(T);
    return {&pointer, fits ? static_cast<std::size_t>(count) : 0, fits};
}

/// For mapper<T>::members: a member that is a structure with a mapper.
template <class T>
constexpr nested_member<T> nested(T& member) noexcept
{
    return nested_member<T>(&member);
}

namespace detail {

template <class T>
concept has_mapper = requires(std::remove_cv_t<T>& object)
{
    mapper<std::remove_cv_t<T>>::members(object);
};

} // namespace detail

/// Joins a mapped pointer to mapped data; made by `attach()`.
template <class T>
class attach_clause {
public:
    constexpr attach_clause(T** pointer, std::size_t count, bool valid) noexcept
        : pointer_(pointer), count_(count), valid_(valid)
    {
    }
    constexpr T** pointer() const noexcept { return pointer_; }
    constexpr std::size_t count() const noexcept { return count_; }
    constexpr bool valid() const noexcept { return valid_; }

private:
    T** pointer_;
    std::size_t count_;
    bool valid_;
};

/// Lets the device's copy of `pointer`, a mapped object or a member of one, point to the device's copy of the `count` elements
/// that it points to on the host. Both must be mapped, by this construct or before it, else it is errc::not_present. From then on
/// motions of the structure leave both sides' pointers alone. No argument of the kernel. For target, target_enter_data and
/// target_data.
template <class T, std::integral I>
constexpr attach_clause<T> attach(T*& pointer, I count) noexcept
{
    bool const fits =
        detail::fits_size(count) && static_cast<std::size_t>(count) <= std::size_t(-1) / 2 / sizeof(T);
    return {&pointer, fits ? static_cast<std::size_t>(count) : 0, fits};
}

/// The same for a section, `attach(s.data, section(s.data, 10, 20))`: what matters is that `pointer` points into mapped data.
template <class T, class U>
requires std::same_as<std::remove_cv_t<T>, std::remove_cv_t<U>>
constexpr attach_clause<T> attach(T*& pointer, array_section<U> s) noexcept
{
    return {&pointer, s.size(), s.valid()};
}

} // namespace omp_co
