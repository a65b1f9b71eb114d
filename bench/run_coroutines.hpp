// Runs some coroutines to their end.
// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <exception>

namespace bench {

/// Runs `count` coroutines, each made by `make()`, on `context` until all have ended; rethrows the first
/// failure.
template <class Context, class Make>
void run_coroutines(Context& context, int count, Make make)
{
    std::exception_ptr failure;
    auto ended = [&failure](std::exception_ptr e) {
        if (e && !failure) failure = e;
    };
    for (int k = 0; k < count; ++k) boost::asio::co_spawn(context.get_executor(), make(), ended);
    context.run();
    if (failure) std::rethrow_exception(failure);
}

} // namespace bench
