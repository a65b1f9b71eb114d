// SPDX-License-Identifier: BSL-1.0
// A C++ callable as a kernel variant of the host: a function that runs a part of the iteration space.
#pragma once

#include <omp_co/backend.hpp>
#include <omp_co/data_clauses.hpp>
#include <omp_co/reduction.hpp>

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace omp_co::detail {

/// `run` covers the linear indices [first, last) of the call's range; `scratch` is the worker's private memory. `closure_bytes`
/// is what the kernel holds, where the call says, or at `own_closure`.
struct host_kernel : backend::kernel {
    using run_function = void (*)(backend::invocation const& call, std::size_t first, std::size_t last,
                                  void* scratch);

    constexpr explicit host_kernel(run_function f, std::size_t bytes = 0, void const* own = nullptr) noexcept
        : kernel{backend_kind::host, 0xF}, run(f), closure_bytes(bytes), own_closure(own)
    {
    }

    run_function run;
    std::size_t closure_bytes;
    void const* own_closure;
};

/// How a clause's argument travels to the kernel: an address on the device, a value, either read from where the call
/// says, or a place in the worker's scratch memory.
template <class Clause>
struct argument_of {
    using type = typename Clause::argument_type;

    static type read(void* value, char*) noexcept { return static_cast<type>(*static_cast<void**>(value)); }
};

template <class T>
struct argument_of<firstprivate_clause<T>> {
    using type = typename firstprivate_clause<T>::argument_type;

    static type read(void* value, char*) noexcept { return *static_cast<type*>(value); }
};

template <class T>
struct argument_of<private_clause<T>> {
    using type = T*;

    /// `value` holds the offset in the scratch memory.
    static type read(void* value, char* scratch) noexcept
    {
        return reinterpret_cast<T*>(scratch + *static_cast<std::size_t*>(value));
    }
};

template <class Op, class T>
struct argument_of<reduction_clause<Op, T, false>> : argument_of<private_clause<T>> {
};

template <class Op, class T>
struct argument_of<reduction_clause<Op, T, true>> {
    using type = T&;
};

/// An argument while a part of the range runs.
template <class Clause>
class held_argument {
public:
    held_argument(void* value, char* scratch) noexcept : value_(argument_of<Clause>::read(value, scratch)) {}
    auto get() const noexcept { return value_; }
    void finish() const noexcept {}

private:
    typename argument_of<Clause>::type value_;
};

/// A reduction's object: a local one, which may live in a register.
template <class Op, class T>
class held_argument<reduction_clause<Op, T, true>> {
public:
    held_argument(void* value, char* scratch) noexcept
        : home_(argument_of<private_clause<T>>::read(value, scratch)), value_(*home_)
    {
    }
    T& get() noexcept { return value_; }
    void finish() const noexcept { *home_ = value_; }

private:
    T* home_;
    T value_;
};

// The caller's kernel chooses its index type; that conversion is not a mistake of his.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"

template <unsigned Dimensions, class Kernel, class... Arguments>
void run_indices(Kernel kernel, backend::extents const& range, std::size_t first, std::size_t last,
                 Arguments... args)
{
    if constexpr (Dimensions == 0) {
        kernel(args...);
    } else if constexpr (Dimensions == 1) {
        for (std::size_t i = first; i < last; ++i) kernel(i, args...);
    } else {
        std::size_t const nx = range.count[0];
        std::size_t const ny = range.count[1];
        while (first < last) {
            std::size_t const row = first / nx;
            std::size_t const begin = first % nx;
            std::size_t const end = last - first < nx - begin ? begin + (last - first) : nx;
            if constexpr (Dimensions == 2)
                for (std::size_t x = begin; x < end; ++x) kernel(x, row, args...);
            else
                for (std::size_t x = begin; x < end; ++x) kernel(x, row % ny, row / ny, args...);
            first += end - begin;
        }
    }
}

template <unsigned Dimensions, class Kernel, class... Clauses>
void run_host_kernel(backend::invocation const& call, std::size_t first, std::size_t last, void* scratch)
{
    Kernel const& kernel = *static_cast<Kernel const*>(call.closure);
    [&]<std::size_t... I>(std::index_sequence<I...>)
    {
        std::tuple<held_argument<Clauses>...> held{
            held_argument<Clauses>(call.arguments[I], static_cast<char*>(scratch))...};
        run_indices<Dimensions, Kernel, typename argument_of<Clauses>::type...>(
            kernel, call.range, first, last, std::get<I>(held).get()...);
        (std::get<I>(held).finish(), ...);
    }
    (std::index_sequence_for<Clauses...>());
}

#pragma GCC diagnostic pop

/// The host variant of `Kernel` for a construct with these data clauses.
template <unsigned Dimensions, class Kernel, class... Clauses>
inline constexpr host_kernel host_kernel_for{&run_host_kernel<Dimensions, Kernel, Clauses...>,
                                             std::is_empty_v<Kernel> ? 0 : sizeof(Kernel)};

} // namespace omp_co::detail
