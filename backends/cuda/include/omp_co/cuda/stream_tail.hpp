// SPDX-License-Identifier: BSL-1.0
// How other streams wait for one: an event in its tail, recorded when somebody asks, that serves until a later one is asked for.
#pragma once

#include <omp_co/cuda/context.hpp>
#include <omp_co/cuda/event_pool.hpp>

#include <atomic>
#include <mutex>

namespace omp_co::cuda::engine {

/// For any thread. What is in a stream's tail waits for earlier things only, so there is no cycle.
class stream_tail {
public:
    stream_tail(context& device, event_pool& events) noexcept : device_(device), events_(events) {}

    void release() noexcept
    {
        if (event_ != nullptr) events_.give(event_);
    }

    /// Has the event stand behind the signal `number`, which is the latest. For streams into which somebody else puts work: that may
    /// wait for what waits for the signal.
    void stand_behind(backend::sequence number, driver::stream_handle stream) noexcept
    {
        std::lock_guard guard(mutex_);
        if (event_ == nullptr) event_ = events_.take();
        if (event_ != nullptr && device_.check(device_.driver().event_record(event_, stream)))
            number_ = number;
    }

    /// Makes `other` wait for the signal `number` of `stream`, whose latest one is `submitted` by now.
    result hold_back(driver::stream_handle other, backend::sequence number, driver::stream_handle stream,
                     std::atomic<backend::sequence> const& submitted) noexcept
    {
        driver::api const& d = device_.driver();
        std::lock_guard guard(mutex_);
        if (event_ == nullptr) event_ = events_.take();
        if (event_ == nullptr) return result::out_of_memory;
        if (number_ < number) {
            backend::sequence const latest = submitted.load(std::memory_order_acquire);
            result const r = d.event_record(event_, stream);
            if (!device_.check(r)) return r;
            number_ = latest;
        }
        result const r = d.stream_wait_event(other, event_, driver::event_wait_default);
        (void)device_.check(r);
        return r;
    }

private:
    context& device_;
    event_pool& events_;
    std::mutex mutex_;
    driver::event_handle event_ = nullptr; // guarded by mutex_
    backend::sequence number_ = 0;         // guarded by mutex_
};

} // namespace omp_co::cuda::engine
