// SPDX-License-Identifier: BSL-1.0
// Device memory for callers that cannot wait: the device's helper asks the driver for it.
#pragma once

#include <omp_co/cuda/device_memory.hpp>
#include <omp_co/cuda/helper.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

namespace omp_co::cuda::engine {

class memory_supply final : public helped {
    using clock = std::chrono::steady_clock;

public:
    /// `open` makes the device usable.
    memory_supply(device_memory& memory, context& c, helper& worker, result (*open)(void*) noexcept,
                  void* opened) noexcept
        : memory_(memory), context_(c), worker_(worker), open_(open), opened_(opened)
    {
    }
    memory_supply(memory_supply const&) = delete;
    memory_supply& operator=(memory_supply const&) = delete;

    /// A block, or word that there is none, if either is known; else it is asked for.
    backend::supply take(std::size_t bytes) noexcept
    {
        std::lock_guard guard(mutex_);
        for (block& b : ready_) {
            if (b.bytes != bytes) continue;
            void* const at = b.at;
            b = ready_.back();
            ready_.pop_back();
            return {at, false};
        }
        if (why_) return {nullptr, false, std::exchange(why_, {})}; // whoever comes next has it tried again
        if (bytes >= refused_ && clock::now() - refused_at_ < memory_of_refusals) return {};
        if (std::find(wanted_.begin(), wanted_.end(), bytes) != wanted_.end()) return {nullptr, true};
        try {
            ready_.reserve(ready_.size() + wanted_.size() + 1);
            wanted_.reserve(wanted_.size() + 1);
            attach();
        } catch (...) { // no host memory, or no thread
            return {};
        }
        wanted_.push_back(bytes);
        worker_.call(*this);
        return {nullptr, true};
    }

    /// Has what was allocated settled, and wakes whoever waits for that. False: there is nobody to do it.
    bool settle_soon() noexcept
    {
        std::lock_guard guard(mutex_);
        try {
            attach();
        } catch (...) {
            return false;
        }
        unsettled_ = true;
        worker_.call(*this);
        return true;
    }

    /// Memory was given back: what was refused may be there now.
    void freed() noexcept
    {
        std::lock_guard guard(mutex_);
        refused_ = none_refused;
    }

    /// A block for anybody, null if there is none. May take a while. With the context current.
    void* allocate_now(std::size_t bytes) noexcept
    {
        void* const at = memory_.allocate_settled(bytes);
        return at == nullptr && give_back() ? memory_.allocate_settled(bytes) : at;
    }

    /// Gives back what nobody has fetched. With the context current.
    bool give_back() noexcept
    {
        std::lock_guard guard(mutex_);
        bool const any = !ready_.empty();
        for (block const& b : ready_) memory_.deallocate(b.at, b.bytes);
        ready_.clear();
        return any;
    }

    help go_on() noexcept override
    {
        if (!settle_first()) return help::finished;
        std::size_t bytes = 0;
        {
            std::lock_guard guard(mutex_);
            if (wanted_.empty()) return help::finished;
            bytes = wanted_.front();
        }
        void* at = nullptr;
        result const opened = open_(opened_);
        if (opened == result::success) {
            current in(context_);
            if (in) at = allocate_now(bytes);
        }
        note(bytes, at, opened);
        context_.wake();
        return help::moved;
    }

    void drop() noexcept override
    {
        std::lock_guard guard(mutex_);
        wanted_.clear();
        unsettled_ = false;
    }

    bool has_moved() noexcept override { return true; }

private:
    struct block {
        void* at;
        std::size_t bytes;
    };

    static constexpr std::size_t none_refused = std::numeric_limits<std::size_t>::max();
    /// After that somebody else may have given memory back.
    static constexpr auto memory_of_refusals = std::chrono::milliseconds(100);

    void attach()
    {
        if (!attached_) worker_.attach(*this);
        attached_ = true;
    }

    // False: nothing else is to be done.
    bool settle_first() noexcept
    {
        std::unique_lock lock(mutex_);
        bool const more = !wanted_.empty();
        if (!std::exchange(unsettled_, false)) return more;
        lock.unlock();
        {
            current in(context_);
            if (in) (void)memory_.settle();
        }
        context_.wake();
        return more;
    }

    void note(std::size_t bytes, void* at, result opened) noexcept
    {
        std::lock_guard guard(mutex_);
        wanted_.erase(wanted_.begin());
        if (at != nullptr) {
            ready_.push_back({at, bytes}); // capacity was reserved
            // Who was refused more takes this one and does not ask for more again, however long the driver took.
            if (refused_ != none_refused) refused_at_ = clock::now();
            return;
        }
        if (opened != result::success) {
            why_ = opened;
            return;
        }
        refused_ = std::min(refused_, bytes);
        refused_at_ = clock::now();
    }

    device_memory& memory_;
    context& context_;
    helper& worker_;
    result (*open_)(void*) noexcept;
    void* opened_;
    std::mutex mutex_;
    bool attached_ = false; // this and the rest are guarded by mutex_
    bool unsettled_ = false;
    std::vector<std::size_t> wanted_;
    std::vector<block> ready_;
    std::size_t refused_ = none_refused; ///< the smallest that there was not
    clock::time_point refused_at_{};
    error_code why_; ///< the device cannot be used, and nobody has been told
};

} // namespace omp_co::cuda::engine
