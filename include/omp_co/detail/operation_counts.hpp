// SPDX-License-Identifier: BSL-1.0
// How many operations a loop has.
#pragma once

#include <atomic>
#include <cstdint>

namespace omp_co::detail {

/// The operations of a loop: outstanding from initiation to the call of their handler, and of those the ones in devices,
/// from dispatch to delivery. One word tells both, for every region changes both; it is the sum of one that any thread
/// changes and one that only the thread with an eager turn changes, without a locked instruction.
class operation_counts {
public:
    enum class by { anybody, turn };

    void dispatched(by who) noexcept { add(who, one_in_devices + 1); }
    void held() noexcept { add(by::anybody, 1); }
    void delivered(by who, std::uint64_t n) noexcept { add(who, 0 - n * one_in_devices); }
    void ended(by who) noexcept { add(who, std::uint64_t{0} - 1); }

    /// Exact for the thread that has the turn; for others while nobody has it.
    std::uint32_t outstanding() const noexcept { return static_cast<std::uint32_t>(sum()); }
    bool any_in_devices() const noexcept { return sum() >= one_in_devices; }

private:
    static constexpr std::uint64_t one_in_devices = std::uint64_t{1} << 32;

    void add(by who, std::uint64_t n) noexcept
    {
        if (who == by::turn)
            turns_.store(turns_.load(std::memory_order_relaxed) + n, std::memory_order_release);
        else
            shared_.fetch_add(n, std::memory_order_acq_rel);
    }

    std::uint64_t sum() const noexcept
    {
        return turns_.load(std::memory_order_acquire) + shared_.load(std::memory_order_acquire);
    }

    std::atomic<std::uint64_t> shared_{0};
    std::atomic<std::uint64_t> turns_{0};
};

} // namespace omp_co::detail
