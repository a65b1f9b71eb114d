// SPDX-License-Identifier: BSL-1.0
// Blocking, for main() and tests.
#pragma once

#include <omp_co/detail/when_all_state.hpp>
#include <omp_co/offload_context.hpp>

#include <boost/system/system_error.hpp>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

namespace omp_co {

/// Runs an operation to its end on the calling thread, which drives progress meanwhile. Not for use inside an event
/// loop: the loop would stand still. Throws boost::system::system_error if the operation fails.
template <class Operation>
requires detail::completes_with_error_code<Operation>
void sync_wait(Operation const& op)
{
    error_code result;
    {
        offload_context context;
        op(asio::bind_executor(context.get_executor(), [&](error_code ec) { result = ec; }));
        context.run();
    }
    if (result) throw boost::system::system_error(result);
}

/// The same for an operation that gives a value, such as allocate(), which it returns.
template <class Operation>
requires requires { typename Operation::value_type; }
typename Operation::value_type sync_wait(Operation const& op)
{
    error_code result;
    typename Operation::value_type value;
    {
        offload_context context;
        op(asio::bind_executor(context.get_executor(), [&](error_code ec, typename Operation::value_type v) {
            result = ec;
            value = std::move(v);
        }));
        context.run();
    }
    if (result) throw boost::system::system_error(result);
    return value;
}

/// The same for an awaitable; returns its value and throws its exception.
template <class T, class Executor>
T sync_wait(asio::awaitable<T, Executor> task)
{
    offload_context context;
    std::exception_ptr failure;
    if constexpr (std::is_void_v<T>) {
        asio::co_spawn(context.get_executor(), std::move(task), [&](std::exception_ptr e) { failure = e; });
        context.run();
        if (failure) std::rethrow_exception(failure);
    } else {
        std::optional<T> result;
        asio::co_spawn(context.get_executor(), std::move(task), [&](std::exception_ptr e, T value) {
            failure = e;
            if (!e) result.emplace(std::move(value));
        });
        context.run();
        if (failure) std::rethrow_exception(failure);
        return std::move(*result);
    }
}

} // namespace omp_co
