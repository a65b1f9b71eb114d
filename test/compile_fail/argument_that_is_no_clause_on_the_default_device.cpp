// SPDX-License-Identifier: BSL-1.0
// The message is the same without a device.
#include <omp_co/omp_co.hpp>

#include <vector>

using task = boost::asio::awaitable<void>;
using floats = std::vector<float>;

// The same on the default device.
task not_a_clause_on_enter_data_without_a_device(omp_co::device dev, floats& x, floats& y)
{
    (void)dev;
    co_await omp_co::target_enter_data(omp_co::to(y), x);
}

// What the compiler says, and that it names the line of every case.
// expect: error: static assertion failed.*omp_co: an argument is no clause; data is named by to\(x\), from\(x\), tofrom\(x\)
// expect: argument_that_is_no_clause_on_the_default_device\.cpp:14:
