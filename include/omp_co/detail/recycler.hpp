// SPDX-License-Identifier: BSL-1.0
// Memory of operations whose handler brings no allocator of its own. Asio's recycling keeps two blocks a thread;
// hundreds of regions in flight on one loop want more.
#pragma once

#include <omp_co/detail/address_sanitizer.hpp>

#include <cstddef>
#include <cstdint>
#include <new>

namespace omp_co::detail {

/// Free blocks of the calling thread, by size. A block may be freed by another thread than took it. Under AddressSanitizer
/// every block is new, so that a late use is seen.
class recycler {
public:
    static void* allocate(std::size_t bytes)
    {
        std::size_t const at = (bytes + step - 1) / step;
        if (OMP_CO_ADDRESS_SANITIZER == 1 || at >= classes) return ::operator new(bytes);
        cache& mine = local();
        if (block* const b = mine.free[at]) {
            mine.free[at] = b->next;
            --mine.count[at];
            return b;
        }
        return ::operator new(at* step);
    }

    static void deallocate(void* p, std::size_t bytes) noexcept
    {
        std::size_t const at = (bytes + step - 1) / step;
        if (OMP_CO_ADDRESS_SANITIZER == 1 || at >= classes) return ::operator delete(p);
        cache& mine = local();
        if (mine.closed || mine.count[at] == most) return ::operator delete(p);
        mine.free[at] = ::new (p) block{mine.free[at]};
        ++mine.count[at];
    }

private:
    static constexpr std::size_t step = 32;
    static constexpr std::size_t classes = 33;   // up to 1 KiB
    static constexpr std::uint16_t most = 32768; // blocks a class

    struct block {
        block* next;
    };

    // Outlives its thread's other objects: they may free operations when they go.
    struct cache {
        block* free[classes];
        std::uint16_t count[classes];
        bool registered;
        bool closed;
    };

    struct cleaner {
        ~cleaner()
        {
            cache& mine = storage();
            mine.closed = true;
            for (block*& first : mine.free)
                while (first != nullptr) {
                    block* const b = first;
                    first = b->next;
                    ::operator delete(b);
                }
        }
    };

    static cache& storage() noexcept
    {
        static thread_local constinit cache the{};
        return the;
    }

    static cache& local() noexcept
    {
        cache& mine = storage();
        if (!mine.registered) {
            mine.registered = true;
            static thread_local cleaner at_exit;
            (void)at_exit;
        }
        return mine;
    }
};

/// The same as an allocator. What is more strictly aligned than the usual block, as an operation that holds a value of such a
/// type, is not recycled.
template <class T>
struct recycling {
    using value_type = T;

    recycling() = default;
    template <class U>
    recycling(recycling<U> const&) noexcept
    {
    }

    T* allocate(std::size_t n)
    {
        if constexpr (over_aligned<T>)
            return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t(alignof(T))));
        else
            return static_cast<T*>(recycler::allocate(n * sizeof(T)));
    }
    void deallocate(T* p, std::size_t n) noexcept
    {
        if constexpr (over_aligned<T>)
            ::operator delete(p, std::align_val_t(alignof(T)));
        else
            recycler::deallocate(p, n * sizeof(T));
    }

    friend bool operator==(recycling const&, recycling const&) noexcept { return true; }

private:
    template <class U>
    static constexpr bool over_aligned = alignof(U) > __STDCPP_DEFAULT_NEW_ALIGNMENT__;
};

} // namespace omp_co::detail
