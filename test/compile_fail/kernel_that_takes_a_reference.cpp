// SPDX-License-Identifier: BSL-1.0
// A parameter that is no value is named too, not the number of arguments.
#include <omp_co/omp_co.hpp>

#include <vector>

using task = boost::asio::awaitable<void>;
using floats = std::vector<float>;

// A firstprivate value cannot be bound to a reference that writes.
task kernel_takes_a_reference(omp_co::device dev, floats& x, floats& y)
{
    (void)y;
    co_await omp_co::target(
        dev, [](float* a, float& c) { c = a[0]; }, omp_co::tofrom(x), omp_co::firstprivate(2.0F));
}

// What the compiler says, and that it names the line of every case.
// expect: error: static assertion failed.*omp_co: the kernel's parameter for the 2nd data clause does not take what the clause gives: T const\* for to
// expect: kernel_that_takes_a_reference\.cpp:(14|15):
