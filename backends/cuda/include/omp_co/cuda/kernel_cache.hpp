// SPDX-License-Identifier: BSL-1.0
// The kernels of one device: loaded on a thread of their own, looked up by streams.
#pragma once

#include <omp_co/cuda/loader.hpp>
#include <omp_co/detail/long_slices.hpp>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>

namespace omp_co::cuda::engine {

/// A kernel on its way to a device, or there. The address stays valid as long as the device.
class device_kernel {
public:
    enum class state : unsigned char { unknown, loading, ready, failed };

    state now() const noexcept { return state_.load(std::memory_order_acquire); }

    /// Once `now()` is ready.
    kernel_facts const& facts() const noexcept { return facts_; }

private:
    friend class kernel_cache;
    std::atomic<state> state_{state::unknown};
    kernel_facts facts_;
};

class kernel_cache {
public:
    /// `notice(context)` is called when a kernel has been loaded, or cannot be.
    kernel_cache(context& c, limits const& l, void (*notice)(void*) noexcept, void* notified) noexcept
        : loader_(c, l), notice_(notice), notified_(notified)
    {
    }
    kernel_cache(kernel_cache const&) = delete;
    kernel_cache& operator=(kernel_cache const&) = delete;
    ~kernel_cache() { stop(); }

    /// Has the kernel loaded if that has not happened. Any thread; never waits. Throws std::bad_alloc or
    /// std::system_error.
    device_kernel& find(cuda_kernel const& wanted)
    {
        std::lock_guard guard(mutex_);
        std::unique_ptr<device_kernel>& place = kernels_[wanted.identity()];
        if (place == nullptr) place = std::make_unique<device_kernel>();
        device_kernel::state const now = place->now();
        // What failed for good stays so; memory may have become free.
        if (now == device_kernel::state::unknown ||
            (now == device_kernel::state::failed && place->facts_.error != errc::kernel_unavailable)) {
            if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
            jobs_.push_back({place.get(), wanted.where(), wanted.function()}); // last: nobody takes it out again
            place->state_.store(device_kernel::state::loading, std::memory_order_relaxed);
            wanted_.notify_one();
        }
        return *place;
    }

    /// Why a kernel that was found to have failed has failed.
    backend::failure failure_of(device_kernel const& k)
    {
        std::lock_guard guard(mutex_);
        return {k.facts_.error, k.facts_.words};
    }

    void stop() noexcept
    {
        {
            std::lock_guard guard(mutex_);
            stop_ = true;
            wanted_.notify_one();
        }
        if (thread_.joinable()) thread_.join();
    }

    /// After stop(), with the context current.
    void release() noexcept { loader_.release(); }

private:
    struct job {
        device_kernel* kernel = nullptr;
        std::shared_ptr<code const> from; // the region may be gone by the time, when the device is lost
        std::string function;
    };

    void run() noexcept
    {
        omp_co::detail::take_long_slices(); // a compiler's work
        std::unique_lock lock(mutex_);
        for (;;) {
            wanted_.wait(lock, [this] { return stop_ || !jobs_.empty(); });
            if (stop_) return;
            job const j = std::move(jobs_.front());
            jobs_.pop_front();
            lock.unlock();
            kernel_facts facts = load(j);
            lock.lock();
            j.kernel->facts_ = std::move(facts);
            j.kernel->state_.store(j.kernel->facts_.error ? device_kernel::state::failed
                                                          : device_kernel::state::ready,
                                   std::memory_order_release);
            lock.unlock();
            notice_(notified_);
            lock.lock();
        }
    }

    kernel_facts load(job const& j) noexcept
    {
        try {
            return loader_.load(j.from, j.function);
        } catch (...) {
            kernel_facts none;
            none.error = make_error_code(errc::out_of_memory);
            return none;
        }
    }

    loader loader_;
    void (*notice_)(void*) noexcept;
    void* notified_;
    std::mutex mutex_;
    std::condition_variable wanted_;
    std::deque<job> jobs_;                                                      // guarded by mutex_
    std::unordered_map<std::uint64_t, std::unique_ptr<device_kernel>> kernels_; // guarded by mutex_
    bool stop_ = false;                                                         // guarded by mutex_
    std::thread thread_;
};

} // namespace omp_co::cuda::engine
