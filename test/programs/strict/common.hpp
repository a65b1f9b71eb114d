// SPDX-License-Identifier: BSL-1.0
// What the programs on strict host devices share.
#pragma once

#include "programs/child_process.hpp"

#include <omp_co/omp_co.hpp>

#include <cstddef>
#include <vector>

namespace strict_test {

using child_process::check;
using omp_co::sync_wait;
using omp_co::host::virtual_device;

struct program {
    char const* name;
    void (*run)();
};

#define OMP_CO_TEST_PROGRAM(name)                                                                            \
    {                                                                                                        \
#name, &name                                                                                         \
    }

struct add_one {
    void operator()(std::size_t i, int* x) const { ++x[i]; }
};

inline auto increment(omp_co::device d, std::vector<int>& x)
{
    return omp_co::target(d, add_one(), omp_co::range(x.size()), omp_co::tofrom(x));
}

inline bool all(std::vector<int> const& x, int value)
{
    for (int const v : x)
        if (v != value) return false;
    return true;
}

} // namespace strict_test
