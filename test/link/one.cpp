// SPDX-License-Identifier: BSL-1.0
// Everything included in two translation units: links, and both see the same devices.
#include <omp_co/cuda.hpp>
#include <omp_co/omp_co.hpp>
#include <cstdio>

int default_device_number_in_two();

int main()
{
    if (static_cast<int>(omp_co::default_device().number()) == default_device_number_in_two())
        return 0;
    std::fputs("two translation units have two registries\n", stderr);
    return 1;
}
