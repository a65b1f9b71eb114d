// SPDX-License-Identifier: BSL-1.0
// Kernels that several tests use. Classes with a name: g++ 12 warns of closures in the frame of a template coroutine.
#pragma once

#include <cstddef>

namespace omp_co_test {

struct increment_kernel {
    void operator()(std::size_t i, int* p) const noexcept { p[i] += 1; }
};
inline constexpr increment_kernel increment{};

} // namespace omp_co_test
