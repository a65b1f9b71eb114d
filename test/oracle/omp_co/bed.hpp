// SPDX-License-Identifier: BSL-1.0
// What omp_co's cases begin with: the constructs, waited for.
#pragma once

#include "../cases.hpp"

#include <omp_co/omp_co.hpp>

#include <cstddef>

namespace oracle {

inline omp_co::device dev()
{
    static omp_co::host::virtual_device const one({.workers = 1});
    return one;
}

template <class Kernel, class... Clauses>
void run(Kernel kernel, Clauses... clauses)
{
    omp_co::sync_wait(omp_co::target(dev(), kernel, clauses...));
}
template <class... Clauses>
void enter_data(Clauses... clauses)
{
    omp_co::sync_wait(omp_co::target_enter_data(dev(), clauses...));
}
template <class... Clauses>
void exit_data(Clauses... clauses)
{
    omp_co::sync_wait(omp_co::target_exit_data(dev(), clauses...));
}
template <class... Clauses>
void update(Clauses... clauses)
{
    omp_co::sync_wait(omp_co::target_update(dev(), clauses...));
}

inline bool present(void const* p) { return dev().is_present(p); }

/// Releases until `p` is absent, and says how often: the reference count. Ten stands for an infinite one.
template <class T>
int drain(T* p, std::size_t count)
{
    int releases = 0;
    while (present(p) && releases < 10) {
        exit_data(omp_co::release(omp_co::section(p, 0, count)));
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
