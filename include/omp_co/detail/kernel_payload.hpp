// SPDX-License-Identifier: BSL-1.0
// A kernel and its arguments, where the device reads them: part of the operation, so that they live until its region has
// retired.
#pragma once

#include <omp_co/detail/clause_items.hpp>
#include <omp_co/detail/clause_traits.hpp>
#include <omp_co/detail/host_kernel.hpp>
#include <omp_co/detail/kernel_check.hpp>
#include <omp_co/detail/kernel_state.hpp>
#include <omp_co/detail/region.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace omp_co::detail {

struct no_kernel {};

/// What differs between kinds of kernel: how a region keeps one, its parameters, and its variant for a device. Here: a
/// callable, which host devices run; its parameters are what the clauses give.
template <class Kernel>
struct kernel_traits {
    using kept = Kernel;

    static constexpr kept keep(Kernel const& k) noexcept { return k; }
    static void const* closure(kept const& k) noexcept { return &k; }

    template <std::size_t, class Clause>
    using parameter = typename argument_of<Clause>::type;

    template <unsigned Dimensions, class... Given>
    static constexpr bool check() noexcept
    {
        return check_kernel<Kernel, Dimensions, Given...>();
    }

    template <unsigned Dimensions, class... Clauses>
    static backend::kernel const* variant(kept const&, backend_kind kind) noexcept
    {
        return kind == backend_kind::host ? &host_kernel_for<Dimensions, Kernel, Clauses...> : nullptr;
    }
};

/// A kernel object, whose variants the region shares.
template <class... Args>
struct kernel_traits<kernel_reference<Args...>> {
    using kept = boost::intrusive_ptr<kernel_state const>;

    static kept keep(kernel_reference<Args...> const& k) noexcept { return kept(k.state); }
    static void const* closure(kept const&) noexcept { return nullptr; }

    /// The clause's own where there are too many: check() says so.
    template <std::size_t At, class Clause>
    using parameter = std::tuple_element_t<(At < sizeof...(Args) ? At : sizeof...(Args)),
                                           std::tuple<Args..., typename Clause::argument_type>>;

    template <unsigned, class... Given>
    static constexpr bool check() noexcept
    {
        return check_kernel<void (*)(Args...), 0, Given...>();
    }

    template <unsigned, class...>
    static backend::kernel const* variant(kept const& k, backend_kind kind) noexcept
    {
        return k->variant(kind);
    }
};

/// A kernel object that is only to be made ready; no range ever runs it.
struct preparation {
    kernel_state const* state;
};
template <>
struct kernel_traits<preparation> {
    using kept = boost::intrusive_ptr<kernel_state const>;

    static kept keep(preparation const& k) noexcept { return kept(k.state); }
    static void const* closure(kept const&) noexcept { return nullptr; }

    template <unsigned>
    static constexpr bool check() noexcept
    {
        return true;
    }

    template <unsigned>
    static backend::kernel const* variant(kept const& k, backend_kind kind) noexcept
    {
        return k->variant(kind);
    }
};

/// The value of an argument of type `Parameter` that no map item holds.
template <class Parameter, class Clause>
struct argument_value {
    constexpr explicit argument_value(Clause const&) noexcept {}
};
template <class Parameter, class T>
struct argument_value<Parameter, firstprivate_clause<T>> {
    constexpr explicit argument_value(firstprivate_clause<T> const& c) noexcept
        : value(static_cast<Parameter>(c.value()))
    {
    }
    Parameter value;
};
template <class Parameter, class T>
struct argument_value<Parameter, private_clause<T>> {
    constexpr explicit argument_value(private_clause<T> const& c) noexcept : bytes(c.size() * sizeof(T)) {}
    static constexpr std::size_t alignment = alignof(T);
    std::size_t bytes;
    std::size_t offset = 0;
};

template <class Parameter, class Op, class T, bool Scalar>
struct argument_value<Parameter, reduction_clause<Op, T, Scalar>> {
    constexpr explicit argument_value(reduction_clause<Op, T, Scalar> const& c) noexcept
        : clause(c), bytes(c.memory().bytes())
    {
    }
    static constexpr std::size_t alignment = alignof(T);

    void begin(void* private_memory) const
    {
        std::uninitialized_fill_n(reinterpret_cast<T*>(static_cast<char*>(private_memory) + offset),
                                  clause.memory().size(), clause.identity());
    }
    void combine(void const* private_memory) const
    {
        auto const op = clause.combine();
        T const* const mine = reinterpret_cast<T const*>(static_cast<char const*>(private_memory) + offset);
        T* const all = static_cast<T*>(*result);
        for (std::size_t i = 0; i < clause.memory().size(); ++i) all[i] = static_cast<T>(op(all[i], mine[i]));
    }

    reduction_clause<Op, T, Scalar> clause;
    std::size_t bytes;
    std::size_t offset = 0;
    void** result = nullptr; ///< where its address on the device is found
};

/// A list of the clauses that are arguments of the kernel.
template <class... Clauses>
struct argument_clauses {
    template <class Kernel, unsigned Dimensions>
    static constexpr bool check() noexcept
    {
        return kernel_traits<Kernel>::template check<Dimensions, typename Clauses::argument_type...>();
    }

    template <class Kernel, unsigned Dimensions>
    static backend::kernel const* variant(typename kernel_traits<Kernel>::kept const& k,
                                          backend_kind kind) noexcept
    {
        return kernel_traits<Kernel>::template variant<Dimensions, Clauses...>(k, kind);
    }
};
template <class List, class... Clauses>
struct keep_arguments {
    using type = List;
};
template <class... Kept, class First, class... Rest>
struct keep_arguments<argument_clauses<Kept...>, First, Rest...>
    : keep_arguments<std::conditional_t<clause_traits<First>::argument, argument_clauses<Kept..., First>,
                                        argument_clauses<Kept...>>,
                     Rest...> {
};

/// The arguments of a kernel, where the device reads them.
template <class Kernel, class... Clauses>
class kernel_payload {
    using traits = kernel_traits<Kernel>;
    using arguments = typename keep_arguments<argument_clauses<>, Clauses...>::type;
    using each_clause = std::index_sequence_for<Clauses...>;

    static constexpr unsigned dimensions = (0U + ... + dimensions_of<Clauses>);

    /// How many of the clauses before `at` are arguments.
    static constexpr std::size_t position(std::size_t at) noexcept
    {
        bool const is_argument[]{clause_traits<Clauses>::argument..., false};
        std::size_t n = 0;
        for (std::size_t i = 0; i < at; ++i) n += is_argument[i];
        return n;
    }
    static constexpr std::size_t argument_count = position(sizeof...(Clauses));

    template <std::size_t I>
    using clause_at = std::tuple_element_t<I, std::tuple<Clauses...>>;

    template <std::size_t I, class Clause>
    static auto value_type()
    {
        if constexpr (clause_traits<Clause>::argument)
            return std::type_identity<
                argument_value<typename traits::template parameter<position(I), Clause>, Clause>>();
        else
            return std::type_identity<argument_value<void, Clause>>();
    }
    template <std::size_t... I>
    static auto value_types(std::index_sequence<I...>)
        -> std::tuple<typename decltype(value_type<I, clause_at<I>>())::type...>;

    template <std::size_t... I>
    static constexpr auto sizes_of(std::index_sequence<I...>) noexcept
    {
        std::array<std::size_t, argument_count> all{};
        ((clause_traits<clause_at<I>>::argument ? void(all[position(I)] = size_of<I>()) : void()), ...);
        return all;
    }
    template <std::size_t I>
    static constexpr std::size_t size_of() noexcept
    {
        if constexpr (clause_traits<clause_at<I>>::argument)
            return sizeof(typename traits::template parameter<position(I), clause_at<I>>);
        else
            return 0;
    }

public:
    /// Fails to compile, with the reason in words, unless the kernel takes these clauses.
    static constexpr bool check() noexcept { return arguments::template check<Kernel, dimensions>(); }

    kernel_payload(Kernel const& k, Clauses const&... c) noexcept : kernel_(traits::keep(k)), values_(c...)
    {
        (take(c), ...);
    }

    /// False: the kernel has no variant for such a device and such a range.
    bool connect(region& r, map_item* items, backend_kind kind) noexcept
    {
        std::size_t item = 0;
        connect_all(items, item, each_clause());
        call_.closure = traits::closure(kernel_);
        call_.arguments = arguments_.data();
        call_.argument_sizes = sizes.data();
        call_.argument_count = static_cast<unsigned>(argument_count);
        if constexpr (check()) // else a static_assert has said why
            call_.what = arguments::template variant<Kernel, dimensions>(kernel_, kind);
        r.call = &call_;
        if (call_.what == nullptr) return false;
        return call_.range.total() == 0 || ((call_.what->ranges >> call_.range.dimensions) & 1U) != 0;
    }

private:
    template <class Clause>
    void take(Clause const& c) noexcept
    {
        if constexpr (std::is_same_v<Clause, teams_clause>)
            call_.teams = &(teams_ = c.shape());
        else if constexpr (dimensions_of<Clause> != 0)
            call_.range = c.extents();
    }

    template <std::size_t... I>
    void connect_all([[maybe_unused]] map_item* items, [[maybe_unused]] std::size_t& item,
                     std::index_sequence<I...>) noexcept
    {
        (connect_one<I>(items, item), ...);
    }

    template <std::size_t I>
    void connect_one([[maybe_unused]] map_item* items, [[maybe_unused]] std::size_t& item) noexcept
    {
        using clause = clause_at<I>;
        [[maybe_unused]] auto& value = std::get<I>(values_);
        if constexpr (clause_traits<clause>::maps) {
            map_item& mine = items[std::exchange(item, item + items_of<construct::target, clause>)];
            if constexpr (requires { value.result; }) {
                value.result = &mine.device;
                take_private_memory<I>(value);
                reduce_ = {this, &begin_all, &combine_all};
                call_.reduce = &reduce_;
            } else if constexpr (clause_traits<clause>::argument) {
                arguments_[position(I)] = &mine.device;
            }
        } else if constexpr (requires { value.value; }) {
            arguments_[position(I)] = const_cast<void*>(static_cast<void const*>(&value.value));
        } else if constexpr (requires { value.offset; }) {
            take_private_memory<I>(value);
        }
    }

    template <std::size_t I, class Value>
    void take_private_memory(Value& value) noexcept
    {
        constexpr std::size_t line = std::max<std::size_t>(64, Value::alignment);
        value.offset = (call_.scratch_bytes + line - 1) / line * line;
        call_.scratch_bytes = value.offset + (value.bytes + line - 1) / line * line;
        call_.private_arguments |= std::uint64_t{1} << position(I);
        arguments_[position(I)] = &value.offset;
    }

    template <class F>
    static void for_each_reduction(void const* self, F f)
    {
        auto const one = [&](auto const& value) {
            if constexpr (requires { value.result; }) f(value);
        };
        std::apply([&](auto const&... each) { (one(each), ...); },
                   static_cast<kernel_payload const*>(self)->values_);
    }
    static void begin_all(void const* self, void* private_memory)
    {
        for_each_reduction(self, [&](auto const& value) { value.begin(private_memory); });
    }
    static void combine_all(void const* self, void const* private_memory)
    {
        for_each_reduction(self, [&](auto const& value) { value.combine(private_memory); });
    }
    template <class T>
    struct nothing {
        nothing& operator=(T const&) noexcept { return *this; }
    };
    template <class Value>
    static constexpr bool reduces = requires(Value v)
    {
        v.result;
    };
    template <std::size_t... I>
    static constexpr bool any_reduces(std::index_sequence<I...>) noexcept
    {
        return (false || ... || reduces<typename decltype(value_type<I, clause_at<I>>())::type>);
    }

    static constexpr auto sizes = sizes_of(each_clause());

    typename traits::kept kernel_;
    [[no_unique_address]] decltype(value_types(each_clause())) values_;
    std::array<void*, argument_count> arguments_{};
    backend::invocation call_;
    [[no_unique_address]] std::conditional_t<any_reduces(each_clause()), backend::reduction,
                                             nothing<backend::reduction>>
        reduce_;
    [[no_unique_address]] std::conditional_t<(std::is_same_v<Clauses, teams_clause> || ...), backend::team_shape,
                                             nothing<backend::team_shape>>
        teams_;
};

template <class... Clauses>
class kernel_payload<no_kernel, Clauses...> {
public:
    kernel_payload(no_kernel, Clauses const&...) noexcept {}
    static constexpr bool check() noexcept { return true; }
    bool connect(region&, map_item*, backend_kind) noexcept { return true; }
};

} // namespace omp_co::detail
