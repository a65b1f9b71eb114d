// SPDX-License-Identifier: BSL-1.0
// How long regions of one stream keep the device busy, by its own clock.
#pragma once

#include <omp_co/backend.hpp>
#include <omp_co/cuda/event_pool.hpp>

#include <chrono>
#include <utility>

namespace omp_co::cuda::engine {

/// `begin` and `end` are for whoever submits the stream's commands at the time, `measure` for whoever retires its regions.
/// Where the driver refuses an event there is no figure, and that is all. The context is current.
class region_clock {
public:
    region_clock(context& c, event_pool& timed) noexcept : context_(c), events_(timed) {}

    void begin(driver::stream_handle where) noexcept
    {
        if (begun_ == nullptr) begun_ = events_.take(); // else its region was refused before its end
        if (begun_ == nullptr || context_.check(context_.driver().event_record(begun_, where))) return;
        events_.give(std::exchange(begun_, nullptr));
    }

    void end(backend::timing& t, driver::stream_handle where) noexcept
    {
        if (begun_ == nullptr) return;
        driver::event_handle const ended = events_.record(where);
        if (ended == nullptr) return; // the other one serves again
        t.events[0] = std::exchange(begun_, nullptr);
        t.events[1] = ended;
    }

    /// Both have been reached, if they were recorded.
    void measure(backend::timing& t) noexcept
    {
        auto const first = static_cast<driver::event_handle>(std::exchange(t.events[0], nullptr));
        auto const last = static_cast<driver::event_handle>(std::exchange(t.events[1], nullptr));
        if (last == nullptr) return;
        float ms = 0;
        if (context_.check(context_.driver().event_elapsed_time(&ms, first, last)))
            t.elapsed = std::chrono::duration_cast<std::chrono::nanoseconds>(
                std::chrono::duration<double, std::milli>(ms));
        events_.give(first);
        events_.give(last);
    }

    /// Nothing is in flight any more.
    void release() noexcept
    {
        if (begun_ != nullptr) events_.give(std::exchange(begun_, nullptr));
    }

private:
    context& context_;
    event_pool& events_;
    driver::event_handle begun_ = nullptr;
};

} // namespace omp_co::cuda::engine
