// SPDX-License-Identifier: BSL-1.0
// target_enter_data begins mappings.
#include <omp_co/omp_co.hpp>

#include <vector>

using task = boost::asio::awaitable<void>;
using floats = std::vector<float>;

// target_enter_data begins mappings.
task from_on_enter_data(omp_co::device dev, floats& x, floats& y)
{
    co_await omp_co::target_enter_data(dev, omp_co::to(y), omp_co::from(x));
}

// target_enter_data begins mappings.
task tofrom_on_enter_data(omp_co::device dev, floats& x, floats& y)
{
    co_await omp_co::target_enter_data(dev, omp_co::to(y), omp_co::tofrom(x));
}

// target_enter_data begins mappings.
task release_on_enter_data(omp_co::device dev, floats& x, floats& y)
{
    co_await omp_co::target_enter_data(dev, omp_co::to(y), omp_co::release(x));
}

// target_enter_data begins mappings.
task delete_on_enter_data(omp_co::device dev, floats& x, floats& y)
{
    co_await omp_co::target_enter_data(dev, omp_co::to(y), omp_co::delete_(x));
}

// What the compiler says, and that it names the line of every case.
// expect: error: static assertion failed.*omp_co: target_enter_data takes to and alloc
// expect: map_types_of_enter_data\.cpp:13:
// expect: map_types_of_enter_data\.cpp:19:
// expect: map_types_of_enter_data\.cpp:25:
// expect: map_types_of_enter_data\.cpp:31:
