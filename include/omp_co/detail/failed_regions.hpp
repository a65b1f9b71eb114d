// SPDX-License-Identifier: BSL-1.0
// The regions of a stream that failed while their device lives on, until somebody asks why.
#pragma once

#include <omp_co/backend.hpp>

#include <atomic>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

namespace omp_co::detail {

/// Whoever runs commands notes; whoever retires regions asks. Any thread.
class failed_regions {
public:
    bool any() const noexcept { return count_.load(std::memory_order_relaxed) != 0; }

    /// Before the region's signal completes.
    void note(backend::sequence number, backend::failure&& f) noexcept
    {
        std::lock_guard guard(mutex_);
        try {
            failed_.push_back({number, std::move(f)});
        } catch (...) {
            // No memory for more than that it failed; those between two of them count as failed too.
            if (wordless_ == 0) first_wordless_ = number;
            last_wordless_ = number;
            ++wordless_;
        }
        count_.fetch_add(1, std::memory_order_release);
    }

    /// No error: this region did not fail.
    backend::failure take(backend::sequence number)
    {
        std::lock_guard guard(mutex_);
        for (auto at = failed_.begin(); at != failed_.end(); ++at) {
            if (at->number != number) continue;
            backend::failure f = std::move(at->what);
            failed_.erase(at);
            count_.fetch_sub(1, std::memory_order_release);
            return f;
        }
        if (wordless_ == 0 || number < first_wordless_ || number > last_wordless_) return {};
        if (number == last_wordless_)
            count_.fetch_sub(std::exchange(wordless_, 0), std::memory_order_release);
        return {make_error_code(errc::kernel_failed), {}, false};
    }

private:
    struct failed_region {
        backend::sequence number;
        backend::failure what;
    };

    std::atomic<std::size_t> count_{0};
    std::mutex mutex_;
    std::vector<failed_region> failed_; // guarded by mutex_
    std::size_t wordless_ = 0;          // failures that are not in there
    backend::sequence first_wordless_ = 0;
    backend::sequence last_wordless_ = 0;
};

} // namespace omp_co::detail
