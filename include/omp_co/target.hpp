// SPDX-License-Identifier: BSL-1.0
// The target construct: run a kernel on a device.
#pragma once

#include <omp_co/detail/construct.hpp>
#include <omp_co/kernel.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace omp_co {

namespace detail {

template <class Kernel, class... Clauses>
auto make_target(destination where, Kernel const& kernel, Clauses const&... clauses) noexcept
{
    static_assert(copied_as_bytes<Kernel>, "omp_co: a kernel travels to devices and must be trivially "
                                           "copyable: capture values and pointers, and "
                                           "hand containers over by clauses such as to(x)");
    return make_operation<construct::target>(where, kernel, clauses...);
}

template <class... Args, class... Clauses>
auto make_target(destination where, kernel<void(Args...)> const& k, Clauses const&... clauses) noexcept
{
    return make_operation<construct::target>(where, kernel_reference<Args...>{&k.state()}, clauses...);
}

template <class Signature>
inline constexpr bool temporary_kernel = false;

} // namespace detail

/// Runs `kernel` on device `where` with the data that the clauses map (OpenMP 5.2, 13.8 target; with range(),
/// 17.3 target teams distribute parallel for).
///
/// The kernel is any trivially copyable callable, which runs on host devices, or a `kernel` object, whose variant for the
/// device runs. The parameters of a callable are the indices, if there is a range(), then one for each data clause in their
/// order. What it returns is dropped; if it throws, the region fails.
///
/// Completion signature: `void(error_code)`, once all effects on host memory are visible; on a `queue`, which takes the device's
/// place, as that says.
/// Cancellation: terminal and partial end the await with operation_aborted once the device has let go of the
/// memory; the region's effects, copies out included, happen all the same. total ends a region that is still deferred,
/// and is ignored by any other.
/// Thread safety: the operation is a value; one may be started any number of times, from any thread.
/// Lifetimes: what the clauses name must outlive the region; the operation need not.
/// Errors: invalid_argument, not_present, partially_present, out_of_memory, kernel_failed, kernel_unavailable,
/// predecessor_failed, device_lost, forked, shutting_down; and the driver's own codes.
template <class Kernel, class... Clauses>
requires(!detail::names_device<Kernel>) auto target(detail::destination where, Kernel kernel,
                                                    Clauses... clauses) noexcept
{
    return detail::make_target(where, kernel, clauses...);
}

/// The same on the queue that the handler's executor is bound to (queue::bind), else on the default device; either is looked up when the
/// operation starts.
template <class Kernel, class... Clauses>
requires(!detail::names_device<Kernel>) auto target(Kernel kernel, Clauses... clauses) noexcept
{
    return detail::make_target(detail::destination(), kernel, clauses...);
}

// The same with a kernel object. It must live until the operation has started, so a temporary one does not compile.
template <class Signature, class... Clauses>
auto target(detail::destination where, kernel<Signature> const& k, Clauses... clauses) noexcept
{
    return detail::make_target(where, k, clauses...);
}
template <class Signature, class... Clauses>
auto target(kernel<Signature> const& k, Clauses... clauses) noexcept
{
    return detail::make_target(detail::destination(), k, clauses...);
}
template <class Signature, class... Clauses>
void target(detail::destination, kernel<Signature>&&, Clauses...)
{
    static_assert(detail::temporary_kernel<Signature>,
                  "omp_co: a kernel object must outlive the call: give it a name");
}
template <class Signature, class... Clauses>
void target(kernel<Signature>&&, Clauses...)
{
    static_assert(detail::temporary_kernel<Signature>,
                  "omp_co: a kernel object must outlive the call: give it a name");
}

} // namespace omp_co
