// SPDX-License-Identifier: BSL-1.0
// A kernel takes the index, if there is a range, and one argument for each data clause.
#include <omp_co/omp_co.hpp>

#include <vector>

using task = boost::asio::awaitable<void>;
using floats = std::vector<float>;

// One parameter for each data clause.
task kernel_takes_too_few(omp_co::device dev, floats& x, floats& y)
{
    co_await omp_co::target(
        dev, [](float const*) {}, omp_co::to(x), omp_co::tofrom(y));
}

// One parameter for each data clause.
task kernel_takes_too_many(omp_co::device dev, floats& x, floats& y)
{
    (void)y;
    co_await omp_co::target(
        dev, [](float const*, float*) {}, omp_co::to(x));
}

// also() is no argument of the kernel.
task kernel_takes_an_also(omp_co::device dev, floats& x, floats& y)
{
    co_await omp_co::target(
        dev, [](float const*, float*) {}, omp_co::to(x), omp_co::also(omp_co::tofrom(y)));
}

// With range() the index comes first.
task kernel_without_index(omp_co::device dev, floats& x, floats& y)
{
    co_await omp_co::target(
        dev, [](float const* a, float* b) { b[0] = a[0]; }, omp_co::range(x.size()), omp_co::to(x),
        omp_co::tofrom(y));
}

// A range of two dimensions has two indices.
task kernel_with_one_index_of_two(omp_co::device dev, floats& x, floats& y)
{
    co_await omp_co::target(
        dev, [](std::size_t i, float const* a, float* b) { b[i] = a[i]; }, omp_co::range(2, 2), omp_co::to(x),
        omp_co::tofrom(y));
}

// What the compiler says, and that it names the line of every case.
// expect: error: static assertion failed.*omp_co: the kernel takes another number of arguments than the index
// expect: kernel_with_another_number_of_arguments\.cpp:(13|14):
// expect: kernel_with_another_number_of_arguments\.cpp:(21|22):
// expect: kernel_with_another_number_of_arguments\.cpp:(28|29):
// expect: kernel_with_another_number_of_arguments\.cpp:(35|36|37):
// expect: kernel_with_another_number_of_arguments\.cpp:(43|44|45):
