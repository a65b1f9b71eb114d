// SPDX-License-Identifier: BSL-1.0
// Data is named by a clause.
#include <omp_co/omp_co.hpp>

#include <vector>

using task = boost::asio::awaitable<void>;
using floats = std::vector<float>;

// Data is named by a clause.
task not_a_clause_on_target(omp_co::device dev, floats& x, floats& y)
{
    co_await omp_co::target(
        dev, [](float*, float const*) {}, omp_co::tofrom(y), x);
}

// The same on the default device.
task not_a_clause_on_target_without_a_device(omp_co::device dev, floats& x, floats& y)
{
    (void)dev;
    co_await omp_co::target([](float*, float const*) {}, omp_co::tofrom(y), x);
}

// Data is named by a clause.
task not_a_clause_on_enter_data(omp_co::device dev, floats& x, floats& y)
{
    co_await omp_co::target_enter_data(dev, omp_co::to(y), x);
}

// Data is named by a clause.
task not_a_clause_on_target_data(omp_co::device dev, floats& x, floats& y)
{
    auto body = []() -> task { co_return; };
    co_await omp_co::target_data(dev, omp_co::to(y), x, body);
}

// What the compiler says, and that it names the line of every case.
// expect: error: static assertion failed.*omp_co: an argument is no clause; data is named by to\(x\), from\(x\), tofrom\(x\)
// expect: arguments_that_are_no_clause\.cpp:(13|14):
// expect: arguments_that_are_no_clause\.cpp:21:
// expect: arguments_that_are_no_clause\.cpp:27:
// expect: arguments_that_are_no_clause\.cpp:34:
