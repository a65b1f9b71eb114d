// SPDX-License-Identifier: BSL-1.0
// An event loop made for offloading.
#pragma once

#include <omp_co/detail/loop.hpp>

namespace omp_co {

/// omp_co's own execution context, for programs that need no other loop, and the fastest one: a thread in run()
/// hands completions from region to region without a post between them, and spins or sleeps on the devices itself.
///
/// It is an asio::io_context in all respects: sockets and timers work on it (with no thread behind them), any
/// executor of it can be kept as an asio::any_io_executor, and run(), poll(), stop(), restart() mean what they mean
/// there. Regions in flight count as work. One thread at a time may run it.
///
/// Destruction waits for the regions whose handlers belong to it, then destroys the handlers.
class offload_context : public asio::io_context {
public:
    offload_context() : asio::io_context(1)
    {
        asio::use_service<detail::loop>(*this).set_eager(get_executor());
    }
};

} // namespace omp_co
