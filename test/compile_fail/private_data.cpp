// SPDX-License-Identifier: BSL-1.0
// What cannot be firstprivate or private.
#include <omp_co/omp_co.hpp>

#include <string>
#include <vector>

using task = boost::asio::awaitable<void>;
using floats = std::vector<float>;

// firstprivate takes a value, not an array.
task firstprivate_array(omp_co::device dev, floats& x, floats& y)
{
    float const weights[3]{x[0], x[1], y[0]};
    co_await omp_co::target(
        dev, [](float const*) {}, omp_co::firstprivate(weights));
}

// firstprivate travels as bytes.
task firstprivate_not_trivially_copyable(omp_co::device dev, floats& x, floats& y)
{
    (void)y;
    co_await omp_co::target(
        dev, [](floats const&) {}, omp_co::firstprivate(x));
}

// private_ memory is not initialised.
task private_not_trivial(omp_co::device dev, floats& x, floats& y)
{
    (void)x, (void)y;
    co_await omp_co::target(
        dev, [](std::string*) {}, omp_co::private_<std::string>(1));
}

// What the compiler says, and that it names the line of every case.
// expect: error: static assertion failed.*omp_co: firstprivate of an array is not supported; use to\(x\)
// expect: error: static assertion failed.*omp_co: firstprivate needs a trivially copyable value
// expect: error: static assertion failed.*omp_co: private_ memory is not initialised; its elements must be trivial
// expect: private_data\.cpp:(15|16):
// expect: private_data\.cpp:(23|24):
// expect: private_data\.cpp:(31|32):
