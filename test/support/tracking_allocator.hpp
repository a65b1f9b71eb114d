// SPDX-License-Identifier: BSL-1.0
// An associated allocator that tells what was taken from it and what is still out.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <new>

namespace omp_co_test {

struct allocation_count {
    std::atomic<int> taken{0};
    std::atomic<int> live{0};
    std::atomic<int> fail_after{-1}; ///< allocations that still succeed; negative: all do
};

/// Of void too, as handlers name it.
template <class T>
class tracking_allocator {
public:
    using value_type = T;

    explicit tracking_allocator(allocation_count& c) noexcept : count_(&c) {}
    template <class U>
    tracking_allocator(tracking_allocator<U> const& other) noexcept : count_(&other.count())
    {
    }

    T* allocate(std::size_t n)
    {
        int left = count_->fail_after.load();
        if (left == 0) throw std::bad_alloc();
        if (left > 0) count_->fail_after = left - 1;
        T* const p = std::allocator<T>().allocate(n);
        ++count_->taken;
        ++count_->live;
        return p;
    }

    void deallocate(T* p, std::size_t n) noexcept
    {
        --count_->live;
        std::allocator<T>().deallocate(p, n);
    }

    allocation_count& count() const noexcept { return *count_; }

    template <class U>
    friend bool operator==(tracking_allocator const& a, tracking_allocator<U> const& b) noexcept
    {
        return &a.count() == &b.count();
    }

private:
    allocation_count* count_;
};

} // namespace omp_co_test
