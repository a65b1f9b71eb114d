// SPDX-License-Identifier: BSL-1.0
// The one place where omp_co includes Boost.Asio; names that moved between Boost releases are settled here.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/compose.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/system_context.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/version.hpp>
#include <type_traits>

#if BOOST_VERSION < 108100
#error "omp_co needs Boost 1.81 or newer"
#endif

#if __has_include(<boost/asio/config.hpp>)
#include <boost/asio/config.hpp>
#define OMP_CO_ASIO_CONFIG 1
#endif

// g++ 12 sees a mismatch between the inlined half of Asio's coroutine frame allocation and the half that it did not
// inline, and reports it at the closing brace of the user's coroutine (GCC bug 109224). Not popped: the report's place
// decides, and that is behind this header.
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ == 12
#define OMP_CO_GCC12_MISMATCHED_NEW_DELETE 1
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif

namespace omp_co {

namespace asio = boost::asio;
using boost::system::error_code;

namespace detail {

/// Whether a signal asks for the code at the end of what is under way. Total would promise that nothing happened.
constexpr bool asks_for_abort(asio::cancellation_type type) noexcept
{
    return (type & (asio::cancellation_type::terminal | asio::cancellation_type::partial)) !=
           asio::cancellation_type::none;
}

/// True for an io_context that was promised to be used by one thread only and therefore takes no lock:
/// nobody else may post to it, so its loop can be polled but not woken.
inline bool is_unlocked(asio::io_context& context)
{
#ifdef OMP_CO_ASIO_CONFIG
    return !asio::config(context).get("scheduler", "locking", true);
#else
    int const hint = asio::use_service<asio::detail::io_context_impl>(context).concurrency_hint();
    return hint == BOOST_ASIO_CONCURRENCY_HINT_UNSAFE;
#endif
}

} // namespace detail
} // namespace omp_co
