// SPDX-License-Identifier: BSL-1.0
// Whether a kernel can be called with a construct's clauses, and if not, which argument is to blame.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace omp_co::detail {

/// What may travel to devices, and through a co_await of g++ 12. Not std::is_trivially_copyable: closures have no
/// assignment, and g++ 12 answers that trait with no for some that are trivial to construct.
template <class T>
concept copied_as_bytes = std::is_trivially_copy_constructible_v<T> &&
    std::is_trivially_move_constructible_v<T> && std::is_trivially_destructible_v<T>;

struct anything {
    // Never defined: stands for an argument that always fits, values and references.
    template <class T>
    operator T&() const& noexcept;
    template <class T>
    operator T&&() const&& noexcept;
};

/// A list of argument types.
template <class... A>
struct argument_list {
    static constexpr std::size_t size = sizeof...(A);

    template <class Kernel>
    static constexpr bool callable = std::is_invocable_v<Kernel&, A...>;

    template <class Kernel>
    static constexpr bool callable_with_anything =
        std::is_invocable_v<Kernel&, std::conditional_t<true, anything, A>...>;

    /// Whether argument `At` fits where all others are left open.
    template <class Kernel, std::size_t At>
    static constexpr bool fits() noexcept
    {
        if constexpr (At >= size) {
            return true;
        } else {
            return []<std::size_t... I>(std::index_sequence<I...>)
            {
                return std::is_invocable_v<Kernel&, std::conditional_t<I == At, A, anything>...>;
            }
            (std::make_index_sequence<size>());
        }
    }
};

template <unsigned Dimensions, class... A>
struct kernel_arguments;
template <class... A>
struct kernel_arguments<0, A...> {
    using type = argument_list<A...>;
};
template <class... A>
struct kernel_arguments<1, A...> {
    using type = argument_list<std::size_t, A...>;
};
template <class... A>
struct kernel_arguments<2, A...> {
    using type = argument_list<std::size_t, std::size_t, A...>;
};
template <class... A>
struct kernel_arguments<3, A...> {
    using type = argument_list<std::size_t, std::size_t, std::size_t, A...>;
};

/// Fails to compile, with the reason in words, unless `Kernel` takes the indices and the clauses' arguments.
template <class Kernel, unsigned Dimensions, class... Arguments>
constexpr bool check_kernel() noexcept
{
    using list = typename kernel_arguments<Dimensions, Arguments...>::type;
    if constexpr (list::template callable<Kernel>) {
        return true;
    } else {
        constexpr std::size_t d = Dimensions;
        constexpr bool count = list::template callable_with_anything<Kernel>;
        static_assert(count,
                      "omp_co: the kernel takes another number of arguments than the index (with range()) "
                      "and one for each data clause, in their order");
        if constexpr (count) {
            static_assert(d < 1 || list::template fits<Kernel, 0>(),
                          "omp_co: the kernel does not take an index first");
            static_assert(
                list::template fits<Kernel, d>(),
                "omp_co: the kernel's parameter for the 1st data clause does not take what the clause gives: "
                "T const* for to, T* for other maps, T for firstprivate");
            static_assert(
                list::template fits<Kernel, d + 1>(),
                "omp_co: the kernel's parameter for the 2nd data clause does not take what the clause gives: "
                "T const* for to, T* for other maps, T for firstprivate");
            static_assert(
                list::template fits<Kernel, d + 2>(),
                "omp_co: the kernel's parameter for the 3rd data clause does not take what the clause gives: "
                "T const* for to, T* for other maps, T for firstprivate");
            static_assert(
                list::template fits<Kernel, d + 3>(),
                "omp_co: the kernel's parameter for the 4th data clause does not take what the clause gives: "
                "T const* for to, T* for other maps, T for firstprivate");
            static_assert(
                list::template fits<Kernel, d + 4>(),
                "omp_co: the kernel's parameter for the 5th data clause does not take what the clause gives: "
                "T const* for to, T* for other maps, T for firstprivate");
            static_assert(
                list::template fits<Kernel, d + 5>(),
                "omp_co: the kernel's parameter for the 6th or a later data clause does not take what the "
                "clause gives: T const* for to, T* for other maps, T for firstprivate");
        }
        return false;
    }
}

} // namespace omp_co::detail
