// SPDX-License-Identifier: BSL-1.0
// Kernels that several tests use. Classes with a name: g++ 12 warns of closures in the frame of a template coroutine.
#pragma once

#include <atomic>
#include <cstddef>

namespace omp_co_test {

struct increment_kernel {
    void operator()(std::size_t i, int* p) const noexcept { p[i] += 1; }
};
inline constexpr increment_kernel increment{};

/// May run beside itself on the same data.
struct add_atomically_kernel {
    void operator()(int* sum) const noexcept
    {
        std::atomic_ref<int>(*sum).fetch_add(1, std::memory_order_relaxed);
    }
};
inline constexpr add_atomically_kernel add_atomically{};

} // namespace omp_co_test
