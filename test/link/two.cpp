// SPDX-License-Identifier: BSL-1.0
// The other half of one.cpp.
#include <omp_co/cuda.hpp>
#include <omp_co/omp_co.hpp>

int default_device_number_in_two();

int default_device_number_in_two()
{
    return static_cast<int>(omp_co::default_device().number());
}
