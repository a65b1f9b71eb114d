// SPDX-License-Identifier: BSL-1.0
// Only target_update moves a block of an array.
#include <omp_co/omp_co.hpp>

using task = boost::asio::awaitable<void>;

task on_enter_data(omp_co::device dev, float* p)
{
    co_await omp_co::target_enter_data(dev, omp_co::to(omp_co::section2d(p, {4, 4}, {0, 0}, {2, 2})));
}

task tofrom(omp_co::device dev, float* p)
{
    co_await omp_co::target(
        dev, [](float*) {}, omp_co::tofrom(omp_co::section2d(p, {4, 4}, {0, 0}, {2, 2})));
}

task from_const(omp_co::device dev, float const* p)
{
    co_await omp_co::target_update(dev, omp_co::from(omp_co::section2d(p, {4, 4}, {0, 0}, {2, 2})));
}

// What the compiler says, and that it names the line of every case.
// expect: error: static assertion failed.*omp_co: section2d, section3d and a section with a stride belong in to\(\) and from\(\) of target_update
// expect: error: static assertion failed.*omp_co: from would write to const data; write to\(x\)
// expect: blocks_of_arrays\.cpp:9:
// expect: blocks_of_arrays\.cpp:14:
// expect: blocks_of_arrays\.cpp:20:
