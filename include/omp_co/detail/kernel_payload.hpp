// SPDX-License-Identifier: BSL-1.0
// A kernel and its arguments, where the device reads them: part of the operation, so that they live until its region has
// retired.
#pragma once

#include <omp_co/detail/clause_traits.hpp>
#include <omp_co/detail/host_kernel.hpp>
#include <omp_co/detail/kernel_check.hpp>
#include <omp_co/detail/region.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace omp_co::detail {

/// The value of an argument that no map item holds.
template <class Clause>
struct argument_value {
    constexpr explicit argument_value(Clause const&) noexcept {}
    void* address() noexcept { return nullptr; }
};
template <class T>
struct argument_value<firstprivate_clause<T>> {
    constexpr explicit argument_value(firstprivate_clause<T> const& c) noexcept : value(c.value()) {}
    void* address() noexcept { return const_cast<std::remove_const_t<T>*>(&value); }
    T value;
};
template <class T>
struct argument_value<private_clause<T>> {
    constexpr explicit argument_value(private_clause<T> const& c) noexcept : bytes(c.size() * sizeof(T)) {}
    void* address() noexcept { return &offset; }
    static constexpr std::size_t alignment = alignof(T);
    std::size_t bytes;
    std::size_t offset = 0;
};

struct no_kernel {};

/// The arguments of a kernel, where the device reads them.
template <class Kernel, class... Clauses>
class kernel_payload {
public:
    static constexpr std::size_t argument_count =
        (std::size_t{0} + ... + std::size_t{clause_traits<Clauses>::argument});

    /// Fails to compile, with the reason in words, unless the kernel takes these clauses.
    static constexpr void check() noexcept { static_cast<void>(arguments::checked); }

    kernel_payload(Kernel const& k, Clauses const&... c) noexcept
        : kernel_(k), values_(argument_value<Clauses>(c)...)
    {
    }

    void connect(region& r, map_item* items, backend::extents const& range) noexcept
    {
        std::size_t item = 0;
        std::size_t argument = 0;
        connect_all(items, item, argument, std::index_sequence_for<Clauses...>());
        call_.closure = &kernel_;
        call_.arguments = arguments_.data();
        call_.argument_sizes = sizes.data();
        call_.argument_count = static_cast<unsigned>(argument_count);
        call_.range = range;
        call_.what = variant();
        r.call = &call_;
    }

private:
    static constexpr unsigned dimensions = (0U + ... + dimensions_of<Clauses>);

    template <std::size_t... I>
    void connect_all([[maybe_unused]] map_item* items, std::size_t& item, std::size_t& argument,
                     std::index_sequence<I...>) noexcept
    {
        (connect_one<Clauses>(std::get<I>(values_), items, item, argument), ...);
    }

    template <class Clause>
    void connect_one([[maybe_unused]] argument_value<Clause>& value, [[maybe_unused]] map_item* items,
                     std::size_t& item, std::size_t& argument) noexcept
    {
        if constexpr (clause_traits<Clause>::maps) {
            map_item& mine = items[item++];
            if constexpr (clause_traits<Clause>::argument) arguments_[argument++] = &mine.device;
        } else if constexpr (clause_traits<Clause>::argument) {
            if constexpr (requires { value.offset; }) {
                constexpr std::size_t line = std::max<std::size_t>(64, argument_value<Clause>::alignment);
                value.offset = (call_.scratch_bytes + line - 1) / line * line;
                call_.scratch_bytes = value.offset + (value.bytes + line - 1) / line * line;
            }
            arguments_[argument++] = value.address();
        }
    }

    // The kernel's variant sees the argument clauses only.
    template <class... Kept>
    struct kept {
        static constexpr backend::kernel const* variant = &host_kernel_for<dimensions, Kernel, Kept...>;
        static constexpr std::array<std::size_t, sizeof...(Kept)> sizes{argument_of<Kept>::size...};
        static constexpr bool checked = check_kernel<Kernel, dimensions, typename Kept::argument_type...>();
    };
    template <class List, class... Rest>
    struct keep;
    template <class... Kept>
    struct keep<kept<Kept...>> {
        using type = kept<Kept...>;
    };
    template <class... Kept, class First, class... Rest>
    struct keep<kept<Kept...>, First, Rest...>
        : keep<std::conditional_t<clause_traits<First>::argument, kept<Kept..., First>, kept<Kept...>>,
               Rest...> {
    };

    using arguments = typename keep<kept<>, Clauses...>::type;

    static constexpr backend::kernel const* variant() noexcept
    {
        if constexpr (arguments::checked)
            return arguments::variant;
        else
            return nullptr; // a static_assert has said why
    }

    static constexpr auto sizes = arguments::sizes;

    Kernel kernel_;
    [[no_unique_address]] std::tuple<argument_value<Clauses>...> values_;
    std::array<void*, argument_count> arguments_{};
    backend::invocation call_;
};

template <class... Clauses>
class kernel_payload<no_kernel, Clauses...> {
public:
    kernel_payload(no_kernel, Clauses const&...) noexcept {}
    static constexpr void check() noexcept {}
    void connect(region&, map_item*, backend::extents const&) noexcept {}
};

} // namespace omp_co::detail
