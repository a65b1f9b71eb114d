// SPDX-License-Identifier: BSL-1.0
// A device's place in the process.
#pragma once

#include <omp_co/backend.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>

namespace omp_co::detail {

class device_core;

/// Changed under a lock and read without: no atomic read-modify-write a region.
class guarded_count {
public:
    std::uint32_t load(std::memory_order order = std::memory_order_seq_cst) const noexcept
    {
        return value_.load(order);
    }
    void operator++() noexcept { set(value_.load(std::memory_order_relaxed) + 1); }
    void operator--() noexcept { set(value_.load(std::memory_order_relaxed) - 1); }

private:
    void set(std::uint32_t n) noexcept { value_.store(n, std::memory_order_release); }

    std::atomic<std::uint32_t> value_{0};
};

/// Never freed, so that a handle and a lock outlive the device.
struct device_slot {
    std::mutex mutex;
    device_core* core = nullptr;  ///< guarded by mutex; null once the device is gone
    std::uint32_t generation = 0; ///< guarded by mutex; counts the devices that had this slot
    bool closing = false;         ///< guarded by mutex; takes no new region
    guarded_count in_flight;      ///< regions accepted and not retired
    guarded_count pending_outs;   ///< of those, the ones that copy out
    std::atomic<device_slot*> next{nullptr};
    std::atomic<backend_kind> kind{backend_kind::host};
    int number = -1;      ///< -1: a virtual device
    bool initial = false; ///< the host itself: nothing is mapped or moved
};

using device_lock = std::unique_lock<std::mutex>;

/// One device: a slot, and which of its devices. What a handle holds.
struct device_place {
    device_slot* slot = nullptr;
    std::uint32_t generation = 0;
};

} // namespace omp_co::detail
