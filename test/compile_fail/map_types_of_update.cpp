// SPDX-License-Identifier: BSL-1.0
// target_update only moves.
#include <omp_co/omp_co.hpp>

#include <vector>

using task = boost::asio::awaitable<void>;
using floats = std::vector<float>;

// target_update only moves.
task tofrom_on_update(omp_co::device dev, floats& x, floats& y)
{
    co_await omp_co::target_update(dev, omp_co::to(y), omp_co::tofrom(x));
}

// target_update only moves.
task alloc_on_update(omp_co::device dev, floats& x, floats& y)
{
    co_await omp_co::target_update(dev, omp_co::to(y), omp_co::alloc(x));
}

// target_update only moves.
task release_on_update(omp_co::device dev, floats& x, floats& y)
{
    co_await omp_co::target_update(dev, omp_co::to(y), omp_co::release(x));
}

// target_update only moves.
task delete_on_update(omp_co::device dev, floats& x, floats& y)
{
    co_await omp_co::target_update(dev, omp_co::to(y), omp_co::delete_(x));
}

// What the compiler says, and that it names the line of every case.
// expect: error: static assertion failed.*omp_co: target_update takes to and from
// expect: map_types_of_update\.cpp:13:
// expect: map_types_of_update\.cpp:19:
// expect: map_types_of_update\.cpp:25:
// expect: map_types_of_update\.cpp:31:
