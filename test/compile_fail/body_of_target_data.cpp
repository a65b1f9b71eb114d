// SPDX-License-Identifier: BSL-1.0
// The body of target_data is a coroutine function without parameters, and trivial where it is a temporary.
#include <omp_co/omp_co.hpp>

#include <vector>

using task = boost::asio::awaitable<void>;
using floats = std::vector<float>;

// g++ 12 destroys a temporary closure twice in a co_await expression.
task temporary_body_not_trivial(omp_co::device dev, floats& x, floats& y)
{
    co_await omp_co::target_data(dev, omp_co::to(x), [copy = y]() -> task {
        (void)copy;
        co_return;
    });
}

// The body of target_data is a coroutine.
task body_not_awaitable(omp_co::device dev, floats& x, floats& y)
{
    (void)y;
    co_await omp_co::target_data(dev, omp_co::to(x), [] { return 1; });
}

// The body of target_data takes no arguments.
task body_takes_arguments(omp_co::device dev, floats& x, floats& y)
{
    (void)y;
    co_await omp_co::target_data(dev, omp_co::to(x), [](float*) -> task { co_return; });
}

// target_data without a body.
task body_missing(omp_co::device dev, floats& x, floats& y)
{
    co_await omp_co::target_data(dev, omp_co::to(x), omp_co::to(y));
}

// What the compiler says, and that it names the line of every case.
// expect: error: static assertion failed.*omp_co: a temporary body must be trivially copyable .capture by reference.; name it, or pass std::ref
// expect: error: static assertion failed.*omp_co: the body of target_data returns an asio::awaitable
// expect: error: static assertion failed.*omp_co: the last argument of target_data is its body: a callable without parameters
// expect: body_of_target_data\.cpp:13:
// expect: body_of_target_data\.cpp:23:
// expect: body_of_target_data\.cpp:30:
// expect: body_of_target_data\.cpp:36:
