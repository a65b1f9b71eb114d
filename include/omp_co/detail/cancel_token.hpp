// SPDX-License-Identifier: BSL-1.0
// What a cancellation slot and an operation share.
#pragma once

#include <omp_co/detail/recycler.hpp>

#include <atomic>
#include <cstdint>
#include <new>

namespace omp_co::detail {

struct dependent;

/// What the slot holds: never a pointer to the region, which may be gone when a signal is emitted late.
class cancel_token {
public:
    static cancel_token* create() { return ::new (recycler::allocate(sizeof(cancel_token))) cancel_token; }

    void release() noexcept
    {
        if (references_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
        this->~cancel_token();
        recycler::deallocate(this, sizeof(cancel_token));
    }

    std::atomic<bool> requested{false};

    /// The place of an operation that was deferred. Its memory stays; `id` tells whether it is still the same one.
    std::atomic<dependent*> deferred{nullptr};
    std::atomic<std::uint64_t> id{0};

private:
    std::atomic<int> references_{2}; // the slot's handler and the operation
};

} // namespace omp_co::detail
