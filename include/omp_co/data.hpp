// SPDX-License-Identifier: BSL-1.0
// The data constructs: map data for longer than one region, and move it in between.
#pragma once

#include <omp_co/detail/construct.hpp>
#include <omp_co/detail/data_region.hpp>

#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace omp_co {

// All of these, on a device, a queue, or what target() takes without either. Completion signature: `void(error_code)`. Cancellation,
// thread safety and lifetimes as for target().
// Errors: invalid_argument, not_present, partially_present, out_of_memory, predecessor_failed, device_lost, forked,
// shutting_down; and the driver's own codes. A construct that is refused leaves counts as they were. Of one that fails later,
// what it began is undone, and what it was to end has ended.

/// Maps data until target_exit_data: `to` and `alloc` (OpenMP 5.2, 13.6 target enter data).
template <class... Clauses>
auto target_enter_data(detail::destination where, Clauses... clauses) noexcept
{
    return detail::make_operation<detail::construct::enter_data>(where, detail::no_kernel(), clauses...);
}
template <class... Clauses>
requires(!detail::names_device<Clauses...>) auto target_enter_data(Clauses... clauses) noexcept
{
    return detail::make_operation<detail::construct::enter_data>(detail::destination(), detail::no_kernel(),
                                                                 clauses...);
}

/// Ends a mapping: `from`, `release` and `delete_`. Absent data is ignored, with `present` an error (OpenMP 5.2, 13.7
/// target exit data).
template <class... Clauses>
auto target_exit_data(detail::destination where, Clauses... clauses) noexcept
{
    return detail::make_operation<detail::construct::exit_data>(where, detail::no_kernel(), clauses...);
}
template <class... Clauses>
requires(!detail::names_device<Clauses...>) auto target_exit_data(Clauses... clauses) noexcept
{
    return detail::make_operation<detail::construct::exit_data>(detail::destination(), detail::no_kernel(),
                                                                clauses...);
}

/// Copies mapped data, whatever its count: `to` and `from`. Absent data is ignored, with `present` an error (OpenMP
/// 5.2, 13.9 target update).
template <class... Clauses>
auto target_update(detail::destination where, Clauses... clauses) noexcept
{
    return detail::make_operation<detail::construct::update>(where, detail::no_kernel(), clauses...);
}
template <class... Clauses>
requires(!detail::names_device<Clauses...>) auto target_update(Clauses... clauses) noexcept
{
    return detail::make_operation<detail::construct::update>(detail::destination(), detail::no_kernel(),
                                                             clauses...);
}

/// Maps data while `body` runs (OpenMP 5.2, 13.5 target data). The last argument is the body: a callable that returns an
/// asio::awaitable<T>; a temporary one must be trivially copyable (g++ 12 destroys others twice), any other is named
/// by an lvalue or std::ref and must outlive the call. Returns an asio::awaitable<T> with the body's value.
///
/// The mapping ends when the body does, also by an exception, and then data is copied back; this end cannot be
/// cancelled. If the coroutine is destroyed inside the body, the counts drop and nothing is copied back; structures with a mapper
/// are read for that. The body's exception wins over an error of the end.
/// Errors: as boost::system::system_error, those of target_enter_data and target_exit_data.
template <class... Arguments>
auto target_data(detail::destination where, Arguments&&... clauses_and_body)
{
    return detail::make_data_region(where, std::forward<Arguments>(clauses_and_body)...);
}
template <class First, class... Arguments>
requires(!detail::names_device<First>) auto target_data(First first, Arguments&&... clauses_and_body)
{
    return detail::make_data_region(detail::destination(), first,
                                    std::forward<Arguments>(clauses_and_body)...);
}

} // namespace omp_co
