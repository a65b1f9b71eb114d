// SPDX-License-Identifier: BSL-1.0
// from and tofrom would write to const data.
#include <omp_co/omp_co.hpp>

#include <vector>

using task = boost::asio::awaitable<void>;
using floats = std::vector<float>;

// from would write to const data.
task from_const(omp_co::device dev, floats& x, floats& y)
{
    floats const& fixed = x;
    co_await omp_co::target(
        dev, [](float* p, float const*) { p[0] = 1; }, omp_co::from(fixed), omp_co::to(y));
}

// tofrom would write to const data.
task tofrom_const(omp_co::device dev, floats& x, floats& y)
{
    float const fixed = x[0];
    co_await omp_co::target(
        dev, [](float const*, float const*) {}, omp_co::tofrom(fixed), omp_co::to(y));
}

// The same on target_update.
task update_from_const(omp_co::device dev, floats& x, floats& y)
{
    std::vector<int> const fixed(x.size() + y.size());
    co_await omp_co::target_update(dev, omp_co::from(fixed));
}

// What the compiler says, and that it names the line of every case.
// expect: error: static assertion failed.*omp_co: from and tofrom would write to const data; write to\(x\)
// expect: const_data\.cpp:(14|15):
// expect: const_data\.cpp:(22|23):
// expect: const_data\.cpp:30:
