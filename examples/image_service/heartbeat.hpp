// SPDX-License-Identifier: BSL-1.0
// A 1 kHz timer in the service's loop. How late it fires tells how long the loop was kept from its work.
#pragma once
#include "histogram.hpp"
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>

/// Starts at once; must outlive the loop's run, which lasts until stop().
class heartbeat {
public:
    explicit heartbeat(boost::asio::any_io_executor executor) : timer_(executor)
    {
        boost::asio::co_spawn(executor, beat(), boost::asio::detached);
    }
    heartbeat(heartbeat const&) = delete;
    heartbeat& operator=(heartbeat const&) = delete;

    void stop()
    {
        stopped_ = true;
        timer_.cancel();
    }

    /// In microseconds.
    histogram const& lateness() const { return lateness_; }

private:
    using clock = std::chrono::steady_clock;

    boost::asio::awaitable<void> beat()
    {
        using namespace std::chrono_literals;
        for (auto due = clock::now() + 1ms; !stopped_; due += 1ms) {
            timer_.expires_at(due);
            co_await timer_.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
            if (stopped_) co_return;
            // Beats missed during a stall are made up for and counted late, each by its own due time: a stall
            // of 50 ms is 50 late beats, not one. After a second the machine was asleep: another matter.
            auto const late = clock::now() - due;
            lateness_.add(static_cast<std::uint64_t>(late / 1us));
            if (late > 1s) due = clock::now();
        }
    }

    boost::asio::steady_timer timer_;
    histogram lateness_;
    bool stopped_ = false;
};
