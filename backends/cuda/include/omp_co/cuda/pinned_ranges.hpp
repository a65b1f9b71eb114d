// SPDX-License-Identifier: BSL-1.0
// The page-locked ranges of host memory that the user has asked for: the device copies from and to them directly.
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>
#include <shared_mutex>

namespace omp_co::cuda::engine {

/// Any thread may call.
class pinned_ranges {
public:
    static pinned_ranges& all()
    {
        static auto* const the = new pinned_ranges; // outlives the program's static objects
        return *the;
    }

    /// Throws std::bad_alloc.
    void add(char const* begin, std::size_t bytes)
    {
        std::lock_guard guard(mutex_);
        ranges_[begin] = begin + bytes;
        count_.store(ranges_.size(), std::memory_order_release);
    }

    void remove(char const* begin) noexcept
    {
        std::lock_guard guard(mutex_);
        ranges_.erase(begin);
        count_.store(ranges_.size(), std::memory_order_release);
    }

    /// Whether all of it lies in one range.
    bool hold(void const* data, std::size_t bytes) const noexcept
    {
        if (count_.load(std::memory_order_acquire) == 0) return false;
        auto const* const begin = static_cast<char const*>(data);
        std::shared_lock guard(mutex_);
        auto at = ranges_.upper_bound(begin);
        return at != ranges_.begin() && (--at)->second >= begin + bytes;
    }

private:
    pinned_ranges() = default;

    std::shared_mutex mutable mutex_;
    std::map<char const*, char const*> ranges_; // guarded by mutex_
    std::atomic<std::size_t> count_{0};
};

} // namespace omp_co::cuda::engine
