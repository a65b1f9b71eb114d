// SPDX-License-Identifier: BSL-1.0
// What a cancellation slot, or a task_group, and an operation share.
#pragma once

#include <omp_co/detail/recycler.hpp>

#include <atomic>
#include <cstdint>
#include <new>

namespace omp_co::detail {

struct dependent;

/// What those hold who may cancel: never a pointer to the region, which may be gone when a signal is emitted late.
class cancel_token {
public:
    /// With so many users, each of which releases it.
    static cancel_token* create(int users)
    {
        return ::new (recycler::allocate(sizeof(cancel_token))) cancel_token(users);
    }

    /// One more user.
    cancel_token& share() noexcept
    {
        users_.fetch_add(1, std::memory_order_relaxed);
        return *this;
    }

    void release() noexcept
    {
        if (users_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
        this->~cancel_token();
        recycler::deallocate(this, sizeof(cancel_token));
    }

    std::atomic<bool> requested{false};

    /// The place of an operation that was deferred. Its memory stays; `id` tells whether it is still the same one.
    std::atomic<dependent*> deferred{nullptr};
    std::atomic<std::uint64_t> id{0};

private:
    explicit cancel_token(int users) noexcept : users_(users) {}

    std::atomic<int> users_;
};

} // namespace omp_co::detail
