// SPDX-License-Identifier: BSL-1.0
// Events of one kind of one device, used again and again.
#pragma once

#include <omp_co/cuda/context.hpp>

#include <mutex>
#include <vector>

namespace omp_co::cuda::engine {

/// Any thread may call; the context is current.
class event_pool {
public:
    /// `flags` as cuEventCreate takes them.
    event_pool(context& c, unsigned flags) noexcept : context_(c), flags_(flags) {}
    event_pool(event_pool const&) = delete;
    event_pool& operator=(event_pool const&) = delete;

    /// Null: the driver has none to give.
    driver::event_handle take() noexcept
    {
        std::lock_guard guard(mutex_);
        if (!free_.empty()) {
            driver::event_handle const e = free_.back();
            free_.pop_back();
            return e;
        }
        try {
            free_.reserve(++made_); // so that give() cannot fail
        } catch (...) {
            --made_;
            return nullptr;
        }
        driver::event_handle e = nullptr;
        if (context_.check(context_.driver().event_create(&e, flags_))) return e;
        --made_;
        return nullptr;
    }

    /// Takes an event and records it at the stream's tail; null if that fails.
    driver::event_handle record(driver::stream_handle where) noexcept
    {
        driver::event_handle const e = take();
        if (e == nullptr || context_.check(context_.driver().event_record(e, where))) return e;
        give(e);
        return nullptr;
    }

    void give(driver::event_handle e) noexcept
    {
        std::lock_guard guard(mutex_);
        free_.push_back(e);
    }

    void release() noexcept
    {
        std::lock_guard guard(mutex_);
        if (!context_.gone())
            for (driver::event_handle e : free_) (void)context_.driver().event_destroy(e);
        free_.clear();
    }

private:
    context& context_;
    unsigned const flags_;
    std::mutex mutex_;
    std::vector<driver::event_handle> free_; // guarded by mutex_
    std::size_t made_ = 0;                   // guarded by mutex_
};

} // namespace omp_co::cuda::engine
