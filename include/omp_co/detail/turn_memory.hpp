// SPDX-License-Identifier: BSL-1.0
// Memory for the turn that a loop has posted. Often another thread posts it, which never gets its memory back: recycling
// would allocate for each wake-up.
#pragma once

#include <omp_co/detail/recycler.hpp>

#include <atomic>
#include <cstddef>

namespace omp_co::detail {

/// Room for one.
class turn_memory {
public:
    /// Null: it does not fit, or the room is taken.
    void* take(std::size_t bytes) noexcept
    {
        if (bytes > sizeof bytes_ || taken_.exchange(true, std::memory_order_acquire)) return nullptr;
        return bytes_;
    }

    /// False: it is not from here.
    bool give(void* p) noexcept
    {
        if (p != bytes_) return false;
        taken_.store(false, std::memory_order_release);
        return true;
    }

private:
    alignas(std::max_align_t) unsigned char bytes_[128];
    std::atomic<bool> taken_{false};
};

/// As an allocator; what finds no room is recycled.
template <class T>
struct turn_allocator {
    using value_type = T;

    explicit turn_allocator(turn_memory& m) noexcept : memory(&m) {}
    template <class U>
    turn_allocator(turn_allocator<U> const& other) noexcept : memory(other.memory)
    {
    }

    T* allocate(std::size_t n)
    {
        static_assert(alignof(T) <= alignof(std::max_align_t));
        void* const room = memory->take(n * sizeof(T));
        return room != nullptr ? static_cast<T*>(room) : recycling<T>().allocate(n);
    }
    void deallocate(T* p, std::size_t n) noexcept
    {
        if (!memory->give(p)) recycling<T>().deallocate(p, n);
    }

    friend bool operator==(turn_allocator const& a, turn_allocator const& b) noexcept
    {
        return a.memory == b.memory;
    }

    turn_memory* memory;
};

} // namespace omp_co::detail
