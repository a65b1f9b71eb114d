// SPDX-License-Identifier: BSL-1.0
// How each kind of clause takes part in each construct.
#pragma once

#include <omp_co/clauses.hpp>
#include <omp_co/data_clauses.hpp>
#include <omp_co/depend.hpp>
#include <omp_co/mapper.hpp>
#include <omp_co/reduction.hpp>

#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace omp_co::detail {

/// The constructs, by what their data clauses do.
enum class construct : unsigned char {
    target,
    enter_data,
    exit_data,
    update,
    begin_data,
    end_data,
    synchronize
};

/// How a clause takes part: whether it looks data up in the present table, whether it is an argument of the kernel, and
/// whether only a construct with a kernel may have it.
template <class Clause>
struct clause_traits {
    static constexpr bool known = false, maps = false, argument = false, of_kernel = false;
};
struct plain_clause {
    static constexpr bool known = true, maps = false, argument = false, of_kernel = false;
};
struct argument_clause {
    static constexpr bool known = true, maps = false, argument = true, of_kernel = true;
};
template <map_type Type, class T>
struct clause_traits<map_clause<Type, T>> {
    static constexpr bool known = true, maps = true, argument = true, of_kernel = false;
};
template <class Clause>
struct clause_traits<also_clause<Clause>> {
    static constexpr bool known = true, maps = true, argument = false, of_kernel = false;
};
template <map_type Type, class T>
struct clause_traits<box_clause<Type, T>> {
    static constexpr bool known = true, maps = true, argument = false, of_kernel = false;
};
template <class T>
struct clause_traits<attach_clause<T>> {
    static constexpr bool known = true, maps = true, argument = false, of_kernel = false;
};
template <class T>
struct clause_traits<firstprivate_clause<T>> : argument_clause {
};
template <class T>
struct clause_traits<private_clause<T>> : argument_clause {
};
template <class Clause>
inline constexpr bool is_reduction = false;
template <class Op, class T, bool Scalar>
inline constexpr bool is_reduction<reduction_clause<Op, T, Scalar>> = true;

template <class Op, class T, bool Scalar>
struct clause_traits<reduction_clause<Op, T, Scalar>> {
    static constexpr bool known = true, maps = true, argument = true, of_kernel = true;
};
template <class T>
struct clause_traits<device_pointer_clause<T>> {
    static constexpr bool known = true, maps = true, argument = true, of_kernel = true;
};
template <unsigned D>
struct clause_traits<range_clause<D>> {
    static constexpr bool known = true, maps = false, argument = false, of_kernel = true;
};
template <>
struct clause_traits<teams_clause> {
    static constexpr bool known = true, maps = false, argument = false, of_kernel = true;
};
template <>
struct clause_traits<if_clause> : plain_clause {
};
template <>
struct clause_traits<name_clause> : plain_clause {
};
template <>
struct clause_traits<literal_name> : plain_clause {
};
template <>
struct clause_traits<explain_clause> : plain_clause {
};

template <class Clause>
requires is_depend<Clause>
struct clause_traits<Clause> : plain_clause {
};

template <class T>
concept clause = clause_traits<T>::known;

template <class>
inline constexpr unsigned dimensions_of = 0;
template <unsigned D>
inline constexpr unsigned dimensions_of<range_clause<D>> = D;

/// The flags of a map clause in a construct (OpenMP 5.2, 5.8.3, 13.6, 13.7, 13.9).
template <construct Construct, map_type Type>
consteval std::uint32_t construct_flags()
{
    using enum map_type;
    constexpr std::uint32_t into = Type == to || Type == tofrom ? map_to : 0U;
    constexpr std::uint32_t back = Type == from || Type == tofrom ? map_from : 0U;
    constexpr bool ends = Type == release || Type == delete_;
    switch (Construct) {
    case construct::target:
        static_assert(
            Construct != construct::target || !ends,
            "omp_co: release and delete_ belong on target_exit_data; target takes to, from, tofrom, alloc");
        return into | back | map_enter | map_exit | map_used | (Type == to ? 0U : map_written);
    case construct::enter_data:
        static_assert(Construct != construct::enter_data || Type == to || Type == alloc,
                      "omp_co: target_enter_data takes to and alloc");
        return into | map_enter;
    case construct::exit_data:
        static_assert(Construct != construct::exit_data || Type == from || ends,
                      "omp_co: target_exit_data takes from, release and delete_");
        return back | map_exit | (Type == delete_ ? map_remove : 0U);
    case construct::update:
        static_assert(Construct != construct::update || Type == to || Type == from,
                      "omp_co: target_update takes to and from");
        return into | back | map_update;
    case construct::begin_data:
        static_assert(Construct != construct::begin_data || !ends,
                      "omp_co: release and delete_ belong on target_exit_data; target_data takes to, from, "
                      "tofrom, alloc");
        return into | map_enter;
    case construct::end_data:
        return back | map_exit;
    case construct::synchronize: // has no clauses
        return 0;
    }
}

/// Fails to compile, with the reason in words, unless the clause may stand on the construct.
template <construct Construct, class Clause>
constexpr void check_map_type() noexcept
{
    if constexpr (is_map_clause<Clause>)
        static_cast<void>(construct_flags<Construct, Clause::type>());
    else if constexpr (requires(Clause const& c) { c.pointer(), c.count(); })
        static_assert(Construct == construct::target || Construct == construct::enter_data ||
                          Construct == construct::begin_data || Construct == construct::end_data,
                      "omp_co: attach belongs on target, target_enter_data and target_data");
    else if constexpr (is_box_clause<Clause>)
        static_assert(!is_box_clause<Clause> || Construct == construct::update,
                      "omp_co: section2d, section3d and a section with a stride belong in to() and from() of "
                      "target_update");
    else if constexpr (requires(Clause const& c) { c.clause(); })
        check_map_type<Construct, std::remove_cvref_t<decltype(std::declval<Clause const&>().clause())>>();
}

/// Whether a construct is to happen as its clauses say it.
struct conditions {
    bool wanted = true; ///< if_
    bool valid = true;  ///< extents and sections that can be

    template <class Clause>
    constexpr void take(Clause const& c) noexcept
    {
        if constexpr (std::same_as<Clause, if_clause>)
            wanted = c.value();
        else if constexpr (is_map_clause<Clause>)
            valid = valid && c.memory().valid();
        else if constexpr (requires { c.valid(); })
            valid = valid && c.valid();
        else if constexpr (requires { c.clause(); })
            take(c.clause());
    }
};

template <construct Construct, map_type Type, class T>
constexpr map_item make_item(map_clause<Type, T> const& c) noexcept
{
    map_item item;
    item.host = const_cast<std::remove_const_t<T>*>(c.memory().data());
    item.bytes = c.memory().bytes();
    item.name = c.memory().name();
    item.flags = construct_flags<Construct, Type>();
    // `present` is a question of the entry; at the end of a region its data is there.
    item.flags |=
        Construct == construct::end_data ? c.modifiers() & ~std::uint32_t{map_present} : c.modifiers();
    return item;
}
template <construct Construct, map_type Type, class T>
constexpr map_item make_item(box_clause<Type, T> const& c) noexcept
{
    return make_item<construct::update>(map_clause<Type, T>(c.memory().around(), c.modifiers()));
}
template <construct Construct, class Op, class T, bool Scalar>
constexpr map_item make_item(reduction_clause<Op, T, Scalar> const& c) noexcept
{
    return make_item<construct::target>(map_clause<map_type::tofrom, T>(c.memory(), 0));
}
template <construct Construct, class T>
constexpr map_item make_item(device_pointer_clause<T> const& c) noexcept
{
    map_item item;
    item.host = const_cast<void*>(static_cast<void const volatile*>(c.pointer()));
    item.flags = map_device | map_used | (std::is_const_v<T> ? 0U : map_written);
    return item;
}
template <construct Construct, class Clause>
constexpr map_item make_item(also_clause<Clause> const& c) noexcept
{
    return make_item<Construct>(c.clause());
}

} // namespace omp_co::detail
