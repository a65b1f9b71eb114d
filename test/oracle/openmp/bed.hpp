// SPDX-License-Identifier: BSL-1.0
// What OpenMP's cases begin with.
#pragma once

#include "../cases.hpp"

#include <omp.h>

namespace oracle {

inline bool present(void const* p) { return omp_target_is_present(p, omp_get_default_device()) != 0; }

/// Releases until `p` is absent, and says how often: the reference count. Ten stands for an infinite one.
template <class T>
int drain(T* p, std::size_t count)
{
    int releases = 0;
    while (present(p) && releases < 10) {
#pragma omp target exit data map(release : p [0:count])
        ++releases;
    }
    return releases;
}

template <class T, std::size_t N>
int drain(T (&x)[N])
{
    return drain(&x[0], N);
}

} // namespace oracle
