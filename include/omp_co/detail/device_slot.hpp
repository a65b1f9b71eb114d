// SPDX-License-Identifier: BSL-1.0
// A device's place in the process.
#pragma once

#include <omp_co/backend.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>

namespace omp_co::detail {

class device_core;

/// Never freed, so that a handle and a lock outlive the device.
struct device_slot {
    std::mutex mutex;
    device_core* core = nullptr;                ///< guarded by mutex; null once the device is gone
    std::uint64_t generation = 0;               ///< guarded by mutex; counts the devices that had this slot
    bool closing = false;                       ///< guarded by mutex; takes no new region
    std::atomic<std::uint32_t> in_flight{0};    ///< regions accepted and not retired
    std::atomic<std::uint32_t> pending_outs{0}; ///< of those, the ones that copy out
    std::atomic<device_slot*> next{nullptr};
    std::atomic<backend_kind> kind{backend_kind::host};
    int number = -1;      ///< -1: a virtual device
    bool initial = false; ///< the host itself: nothing is mapped or moved
};

using device_lock = std::unique_lock<std::mutex>;

/// One device: a slot, and which of its devices. What a handle holds.
struct device_place {
    device_slot* slot = nullptr;
    std::uint64_t generation = 0;
};

} // namespace omp_co::detail
