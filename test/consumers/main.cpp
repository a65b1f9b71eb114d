// SPDX-License-Identifier: BSL-1.0
// The smallest use of the library from another project: one region, its result checked.
#include <omp_co/omp_co.hpp>

int main()
{
    int answer = 0;
    omp_co::sync_wait(omp_co::target([](int* out) { *out = 42; }, omp_co::from(answer)));
    return answer == 42 ? 0 : 1;
}
