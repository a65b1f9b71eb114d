// SPDX-License-Identifier: BSL-1.0
// An event loop made for offloading.
#pragma once

#include <omp_co/detail/loop.hpp>

#include <chrono>
#include <cstddef>

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
    offload_context() : loop_(asio::use_service<detail::loop>(*this)) { loop_.set_eager(get_executor()); }

    // As in asio::io_context; declared here because the loop must know.

    std::size_t run() { return loop_.join(), asio::io_context::run(); }
    std::size_t run_one() { return loop_.join(), asio::io_context::run_one(); }
    std::size_t poll() { return loop_.join(), asio::io_context::poll(); }
    std::size_t poll_one() { return loop_.join(), asio::io_context::poll_one(); }

    template <class Duration>
    std::size_t run_for(Duration const& d)
    {
        return run_until(std::chrono::steady_clock::now() + d);
    }

    template <class Duration>
    std::size_t run_one_for(Duration const& d)
    {
        return run_one_until(std::chrono::steady_clock::now() + d);
    }

    void stop()
    {
        loop_.set_stopped(true);
        asio::io_context::stop();
    }

    void restart()
    {
        loop_.set_stopped(false);
        asio::io_context::restart();
    }

    template <class Time>
    std::size_t run_until(Time const& t)
    {
        return loop_.join(), asio::io_context::run_until(t);
    }

    template <class Time>
    std::size_t run_one_until(Time const& t)
    {
        return loop_.join(), asio::io_context::run_one_until(t);
    }

private:
    detail::loop& loop_;
};

} // namespace omp_co
