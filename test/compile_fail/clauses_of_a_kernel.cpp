// SPDX-License-Identifier: BSL-1.0
// Data constructs have no kernel: no arguments for it, and no iteration space.
#include <omp_co/omp_co.hpp>

#include <vector>

using task = boost::asio::awaitable<void>;
using floats = std::vector<float>;

// Only a kernel has an iteration space.
task range_on_enter_data(omp_co::device dev, floats& x, floats& y)
{
    co_await omp_co::target_enter_data(dev, omp_co::to(x), omp_co::range(y.size()));
}

// Only a kernel takes arguments.
task firstprivate_on_enter_data(omp_co::device dev, floats& x, floats& y)
{
    co_await omp_co::target_enter_data(dev, omp_co::to(x), omp_co::firstprivate(y[0]));
}

// Only a kernel takes arguments.
task private_on_update(omp_co::device dev, floats& x, floats& y)
{
    (void)y;
    co_await omp_co::target_update(dev, omp_co::to(x), omp_co::private_<float>(1));
}

// Only a kernel takes arguments.
task is_device_ptr_on_exit_data(omp_co::device dev, floats& x, floats& y)
{
    co_await omp_co::target_exit_data(dev, omp_co::from(x), omp_co::is_device_ptr(y.data()));
}

// Only a kernel takes arguments.
task firstprivate_on_target_data(omp_co::device dev, floats& x, floats& y)
{
    auto body = []() -> task { co_return; };
    co_await omp_co::target_data(dev, omp_co::to(x), omp_co::firstprivate(y[0]), body);
}

// One iteration space a construct.
task two_ranges(omp_co::device dev, floats& x, floats& y)
{
    co_await omp_co::target(
        dev, [](std::size_t i, float const* a, float* b) { b[i] = a[i]; }, omp_co::range(x.size()),
        omp_co::to(x), omp_co::tofrom(y), omp_co::range(4));
}

// What the compiler says, and that it names the line of every case.
// expect: error: static assertion failed.*omp_co: range, firstprivate, private_, is_device_ptr and reduction belong on target
// expect: error: static assertion failed.*omp_co: one range\(\) a construct
// expect: clauses_of_a_kernel\.cpp:13:
// expect: clauses_of_a_kernel\.cpp:19:
// expect: clauses_of_a_kernel\.cpp:26:
// expect: clauses_of_a_kernel\.cpp:32:
// expect: clauses_of_a_kernel\.cpp:39:
// expect: clauses_of_a_kernel\.cpp:(45|46|47):
