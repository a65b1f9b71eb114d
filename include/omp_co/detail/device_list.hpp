// SPDX-License-Identifier: BSL-1.0
// The places of all devices of the process.
#pragma once

#include <omp_co/detail/device_slot.hpp>

#include <atomic>

namespace omp_co::detail {

/// Places are added and never taken out, so whoever goes through them takes no lock.
class device_list {
public:
    /// One at a time. Throws std::bad_alloc.
    device_slot& add()
    {
        auto* const slot = new device_slot;
        slot->next = first_.load();
        first_.store(slot, std::memory_order_release);
        return *slot;
    }

    template <class F>
    void for_each(F f) const
    {
        for (device_slot* slot = first(); slot != nullptr; slot = next(*slot)) f(*slot);
    }

    /// Those that have regions in flight.
    template <class F>
    void for_each_busy(F f) const
    {
        for (device_slot* slot = first(); slot != nullptr; slot = next(*slot))
            if (is_busy(*slot)) f(*slot);
    }

    bool any_busy_but(device_slot const& own) const noexcept
    {
        for (device_slot* slot = first(); slot != nullptr; slot = next(*slot))
            if (slot != &own && is_busy(*slot)) return true;
        return false;
    }

private:
    device_slot* first() const noexcept { return first_.load(std::memory_order_acquire); }
    static device_slot* next(device_slot const& slot) noexcept
    {
        return slot.next.load(std::memory_order_acquire);
    }
    static bool is_busy(device_slot const& slot) noexcept
    {
        return slot.in_flight.load(std::memory_order_acquire) != 0;
    }

    std::atomic<device_slot*> first_{nullptr};
};

} // namespace omp_co::detail
