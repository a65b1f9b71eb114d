// SPDX-License-Identifier: BSL-1.0
// target_exit_data ends mappings.
#include <omp_co/omp_co.hpp>

#include <vector>

using task = boost::asio::awaitable<void>;
using floats = std::vector<float>;

// target_exit_data ends mappings.
task to_on_exit_data(omp_co::device dev, floats& x, floats& y)
{
    co_await omp_co::target_exit_data(dev, omp_co::from(y), omp_co::to(x));
}

// target_exit_data ends mappings.
task tofrom_on_exit_data(omp_co::device dev, floats& x, floats& y)
{
    co_await omp_co::target_exit_data(dev, omp_co::from(y), omp_co::tofrom(x));
}

// target_exit_data ends mappings.
task alloc_on_exit_data(omp_co::device dev, floats& x, floats& y)
{
    co_await omp_co::target_exit_data(dev, omp_co::from(y), omp_co::alloc(x));
}

// What the compiler says, and that it names the line of every case.
// expect: error: static assertion failed.*omp_co: target_exit_data takes from, release and delete_
// expect: map_types_of_exit_data\.cpp:13:
// expect: map_types_of_exit_data\.cpp:19:
// expect: map_types_of_exit_data\.cpp:25:
