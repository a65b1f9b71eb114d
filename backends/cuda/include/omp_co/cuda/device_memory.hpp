// SPDX-License-Identifier: BSL-1.0
// Memory of one device: from a stream-ordered pool where there are such pools, and usable on every stream.
#pragma once

#include <omp_co/cuda/context.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace omp_co::cuda::engine {

/// Blocks are allocated and freed in the order of a stream of their own, so no call waits for a kernel. That order means
/// nothing to other streams: each of the device's waits for an event behind the latest allocation (`join`) before it goes on, and
/// before anybody else gets a block, the host has seen that event come (`settle`).
/// Freed blocks are idle by then, since the layers above free nothing that a device may still use.
class device_memory {
public:
    explicit device_memory(context& c) noexcept : context_(c) {}
    device_memory(device_memory const&) = delete;
    device_memory& operator=(device_memory const&) = delete;

    /// With the context current. `pools`: the device has stream-ordered memory.
    result open(bool pools) noexcept
    {
        driver::api const& d = context_.driver();
        if (stream_ == nullptr) {
            result const r = d.stream_create(&stream_, driver::stream_non_blocking);
            if (!context_.check(r)) return r;
        }
        if (ready_ == nullptr) {
            result const r = d.event_create(&ready_, driver::event_disable_timing);
            if (!context_.check(r)) return r;
        }
        if (!pools || pool_ != nullptr) return result::success;
        driver::pool_properties wanted{};
        wanted.type = driver::allocation_type::pinned;
        wanted.location = {driver::location_type::device, context_.number()};
        result const r = d.mem_pool_create(&pool_, &wanted);
        if (!context_.check(r)) return r;
        // Kept when free: giving memory back to the system is what makes an allocation slow.
        std::uint64_t keep = ~std::uint64_t{0};
        (void)d.mem_pool_set_attribute(pool_, driver::pool_attribute::release_threshold, &keep);
        pooled_.store(true, std::memory_order_release);
        return result::success;
    }

    driver::stream_handle own_stream() const noexcept { return stream_; }

    /// Whether allocate() would find the bytes in the pool, without growing it. What it held once it keeps.
    bool holds(std::size_t bytes) const noexcept
    {
        return pooled_.load(std::memory_order_acquire) &&
               used_.load(std::memory_order_relaxed) + bytes <= most_used_.load(std::memory_order_relaxed);
    }

    /// With the context current. May take a while.
    void* allocate(std::size_t bytes) noexcept
    {
        void* const block = ask(bytes);
        if (block == nullptr) return nullptr;
        std::size_t const now = used_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
        std::size_t most = most_used_.load(std::memory_order_relaxed);
        while (most < now && !most_used_.compare_exchange_weak(most, now, std::memory_order_relaxed)) {
        }
        return block;
    }

    /// The same, and comes back when everybody may use the block.
    void* allocate_settled(std::size_t bytes) noexcept
    {
        void* const block = allocate(bytes);
        if (block == nullptr || settle()) return block;
        deallocate(block, bytes);
        return nullptr;
    }

    /// Waits until everybody may use every block. With the context current.
    bool settle() noexcept
    {
        if (is_settled()) return true;
        std::uint64_t const seen = epoch_.load(std::memory_order_acquire);
        if (!insist([&] { return context_.driver().stream_synchronize(stream_); })) return false;
        settled_through(seen);
        return true;
    }

    /// Whether everybody may use every block, as far as is known.
    bool is_settled() const noexcept
    {
        return settled_.load(std::memory_order_acquire) >= epoch_.load(std::memory_order_acquire);
    }

    /// The same, asking the driver. With the context current.
    bool look_whether_settled() noexcept
    {
        std::lock_guard guard(mutex_);
        result const r = context_.driver().event_query(ready_);
        if (!context_.answers(r) || r != result::success) return false;
        settled_through(epoch_.load(std::memory_order_relaxed));
        return true;
    }

    /// With the context current.
    void deallocate(void* block, std::size_t bytes) noexcept
    {
        if (context_.gone()) return;
        driver::api const& d = context_.driver();
        auto const address = reinterpret_cast<driver::device_address>(block);
        (void)insist(
            [&] { return pool_ == nullptr ? d.mem_free(address) : d.mem_free_async(address, stream_); });
        used_.fetch_sub(bytes, std::memory_order_relaxed);
    }

    /// Whether `join` has nothing to do for a stream that has seen `epoch`.
    bool joined(std::uint64_t epoch) const noexcept
    {
        return epoch_.load(std::memory_order_acquire) == epoch;
    }

    /// What follows on the stream may use every block that has been allocated.
    result join(driver::stream_handle where, std::uint64_t& epoch) noexcept
    {
        std::lock_guard guard(mutex_);
        result const r = context_.driver().stream_wait_event(where, ready_, driver::event_wait_default);
        if (context_.check(r)) epoch = epoch_.load(std::memory_order_relaxed);
        return r;
    }

    /// With the context current.
    void release() noexcept
    {
        if (context_.gone()) return;
        driver::api const& d = context_.driver();
        if (stream_ != nullptr) {
            (void)d.stream_synchronize(stream_);
            if (pool_ != nullptr) (void)d.mem_pool_destroy(pool_);
            (void)d.stream_destroy(stream_);
        }
        if (ready_ != nullptr) (void)d.event_destroy(ready_);
        pool_ = nullptr;
        stream_ = nullptr;
        ready_ = nullptr;
    }

private:
    static void* pointer(driver::device_address a) noexcept { return reinterpret_cast<void*>(a); }

    void* ask(std::size_t bytes) noexcept
    {
        driver::api const& d = context_.driver();
        driver::device_address block = 0;
        if (pool_ == nullptr) return context_.check(d.mem_alloc(&block, bytes)) ? pointer(block) : nullptr;
        result r = d.mem_alloc_from_pool_async(&block, bytes, pool_, stream_);
        if (r == result::out_of_memory && d.stream_synchronize(stream_) == result::success &&
            d.mem_pool_trim_to(pool_, 0) == result::success) {
            most_used_.store(used_.load(std::memory_order_relaxed), std::memory_order_relaxed);
            r = d.mem_alloc_from_pool_async(&block, bytes, pool_, stream_);
        }
        if (!context_.check(r)) return nullptr;
        std::lock_guard guard(mutex_);
        if (context_.check(d.event_record(ready_, stream_))) {
            epoch_.fetch_add(1, std::memory_order_release);
        } else if (!context_.check(d.stream_synchronize(stream_))) { // only allocations are in it: short
            (void)d.mem_free_async(block, stream_);
            return nullptr;
        }
        return pointer(block);
    }

    // A call that is tried again if it has failed and the device works.
    template <class Call>
    bool insist(Call call) noexcept
    {
        return context_.check(call()) || (context_.lost() == result::success && context_.check(call()));
    }

    void settled_through(std::uint64_t epoch) noexcept
    {
        std::uint64_t known = settled_.load(std::memory_order_relaxed);
        while (known < epoch && !settled_.compare_exchange_weak(known, epoch, std::memory_order_release)) {
        }
    }

    context& context_;
    driver::stream_handle stream_ = nullptr;
    driver::pool_handle pool_ = nullptr;
    std::mutex mutex_; // an event is recorded and waited for under it
    driver::event_handle ready_ = nullptr;
    std::atomic<std::uint64_t> epoch_{0};
    std::atomic<std::uint64_t> settled_{0}; ///< the latest epoch that the host has seen come
    std::atomic<bool> pooled_{false};
    std::atomic<std::size_t> used_{0};
    std::atomic<std::size_t> most_used_{0};
};

} // namespace omp_co::cuda::engine
