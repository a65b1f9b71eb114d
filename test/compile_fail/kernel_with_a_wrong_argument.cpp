// SPDX-License-Identifier: BSL-1.0
// The message names the argument that does not fit.
#include <omp_co/omp_co.hpp>

#include <vector>

using task = boost::asio::awaitable<void>;
using floats = std::vector<float>;

// With range() the index comes first.
task kernel_with_the_index_last(omp_co::device dev, floats& x, floats& y)
{
    (void)y;
    co_await omp_co::target(
        dev, [](float* b, std::size_t i) { b[i] = 1; }, omp_co::range(x.size()), omp_co::tofrom(x));
}

// `to` gives T const*.
task kernel_first_argument(omp_co::device dev, floats& x, floats& y)
{
    co_await omp_co::target(
        dev, [](float* a, float* b) { b[0] = a[0]; }, omp_co::to(x), omp_co::tofrom(y));
}

// The pointer to another type.
task kernel_second_argument(omp_co::device dev, floats& x, floats& y)
{
    co_await omp_co::target(
        dev, [](float const* a, double* b) { b[0] = a[0]; }, omp_co::to(x), omp_co::tofrom(y));
}

// The index does not count among the data clauses.
task kernel_second_argument_with_range(omp_co::device dev, floats& x, floats& y)
{
    co_await omp_co::target(
        dev, [](std::size_t i, float* a, int* b) { b[i] = int(a[i]); }, omp_co::range(x.size()),
        omp_co::tofrom(x), omp_co::tofrom(y));
}

// firstprivate gives the value.
task kernel_third_argument(omp_co::device dev, floats& x, floats& y)
{
    co_await omp_co::target(
        dev, [](float const* a, float* b, float* c) { b[0] = a[0] + *c; }, omp_co::to(x), omp_co::tofrom(y),
        omp_co::firstprivate(2.0F));
}

// What the compiler says, and that it names the line of every case.
// expect: error: static assertion failed.*omp_co: the kernel does not take an index first
// expect: error: static assertion failed.*omp_co: the kernel's parameter for the 1st data clause does not take what the clause gives: T const\* for to
// expect: error: static assertion failed.*omp_co: the kernel's parameter for the 2nd data clause does not take what the clause gives: T const\* for to
// expect: error: static assertion failed.*omp_co: the kernel's parameter for the 3rd data clause does not take what the clause gives: T const\* for to
// expect: kernel_with_a_wrong_argument\.cpp:(14|15):
// expect: kernel_with_a_wrong_argument\.cpp:(21|22):
// expect: kernel_with_a_wrong_argument\.cpp:(28|29):
// expect: kernel_with_a_wrong_argument\.cpp:(35|36|37):
// expect: kernel_with_a_wrong_argument\.cpp:(43|44|45):
