// SPDX-License-Identifier: BSL-1.0
// A C++ callable as the host variant of a kernel object.
#pragma once

#include <omp_co/detail/host_kernel.hpp>
#include <omp_co/detail/kernel_check.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace omp_co::host {

/// A callable that takes `Args`, after the indices where there is a range.
template <class F, class... Args>
class bound_variant final : public omp_co::detail::host_kernel {
    template <unsigned Dimensions>
    static constexpr bool takes =
        omp_co::detail::kernel_arguments<Dimensions, Args...>::type::template callable<F const>;

public:
    explicit bound_variant(F const& f) noexcept
        : host_kernel(&run_part, std::is_empty_v<F> ? 0 : sizeof(F), &function_), function_(f)
    {
        static_assert(takes<0> || takes<1> || takes<2> || takes<3>,
                      "omp_co: the host variant takes the kernel's parameters, after one to three indices if "
                      "it is for a range");
        ranges =
            unsigned{takes<0>} | unsigned{takes<1>} << 1 | unsigned{takes<2>} << 2 | unsigned{takes<3>} << 3;
    }

private:
    static void run_part(backend::invocation const& call, std::size_t first, std::size_t last, void* scratch)
    {
        F const& f = static_cast<bound_variant const*>(call.what)->function_;
        auto const each = std::index_sequence_for<Args...>();
        switch (call.range.dimensions) {
        case 0:
            return run_over<0>(f, call, first, last, scratch, each);
        case 1:
            return run_over<1>(f, call, first, last, scratch, each);
        case 2:
            return run_over<2>(f, call, first, last, scratch, each);
        default:
            return run_over<3>(f, call, first, last, scratch, each);
        }
    }

    template <unsigned Dimensions, std::size_t... I>
    static void run_over(F const& f, backend::invocation const& call, std::size_t first, std::size_t last,
                         void* scratch, std::index_sequence<I...>)
    {
        if constexpr (takes<Dimensions>)
            omp_co::detail::run_indices<Dimensions, F, Args...>(f, call.range, first, last,
                                                                read<Args>(call, I, scratch)...);
    }

    template <class T>
    static T read(backend::invocation const& call, std::size_t at, void* scratch) noexcept
    {
        if constexpr (std::is_pointer_v<T>) {
            if ((call.private_arguments >> at & 1U) != 0)
                return static_cast<T>(static_cast<void*>(static_cast<char*>(scratch) +
                                                         *static_cast<std::size_t*>(call.arguments[at])));
            return static_cast<T>(*static_cast<void**>(call.arguments[at]));
        } else if constexpr (std::is_lvalue_reference_v<T>) { // of a reduction
            return *reinterpret_cast<std::remove_reference_t<T>*>(
                static_cast<char*>(scratch) + *static_cast<std::size_t*>(call.arguments[at]));
        } else {
            return *static_cast<T*>(call.arguments[at]);
        }
    }

    F function_;
};

/// The host variant of a kernel: any trivially copyable callable. It takes the kernel's parameters; under a range() the
/// indices first.
template <class F>
class variant_of {
public:
    constexpr explicit variant_of(F const& f) noexcept : function_(f)
    {
        static_assert(omp_co::detail::copied_as_bytes<F>,
                      "omp_co: a host variant must be trivially copyable: capture values and pointers");
    }

    template <class... Args>
    std::shared_ptr<backend::kernel const> bind(std::string const&) const
    {
        return std::make_shared<bound_variant<F, Args...>>(function_);
    }

private:
    F function_;
};

template <class F>
constexpr auto variant(F const& f) noexcept
{
    return variant_of<F>(f);
}

} // namespace omp_co::host
