// SPDX-License-Identifier: BSL-1.0
// A kernel travels to devices as bytes; and g++ 12 destroys a temporary closure in a co_await twice.
#include <omp_co/omp_co.hpp>

#include <functional>
#include <memory>
#include <vector>

using task = boost::asio::awaitable<void>;
using floats = std::vector<float>;

// A kernel travels to devices as bytes.
task kernel_not_trivially_copyable(omp_co::device dev, floats& x, floats& y)
{
    auto kernel = [copy = x](float* p) { p[0] = copy[0]; };
    co_await omp_co::target(dev, kernel, omp_co::tofrom(y));
}

// The closure that g++ 12 would destroy twice.
task kernel_captures_shared_ptr(omp_co::device dev, floats& x, floats& y)
{
    (void)x;
    auto weight = std::make_shared<float>(1.0F);
    co_await omp_co::target(
        dev, [weight](float* p) { p[0] = *weight; }, omp_co::tofrom(y));
}

// A std::function owns memory.
task kernel_is_std_function(omp_co::device dev, floats& x, floats& y)
{
    (void)x;
    std::function<void(float*)> kernel = [](float* p) { p[0] = 1; };
    co_await omp_co::target(dev, kernel, omp_co::tofrom(y));
}

// What the compiler says, and that it names the line of every case.
// expect: error: static assertion failed.*omp_co: a kernel travels to devices and must be trivially copyable: capture values and pointers
// expect: error: static assertion failed.*omp_co: a kernel travels to devices and must be trivially copyable
// expect: kernel_that_owns_memory\.cpp:16:
// expect: kernel_that_owns_memory\.cpp:(24|25):
// expect: kernel_that_owns_memory\.cpp:33:
