// SPDX-License-Identifier: BSL-1.0
// release and delete_ are for the end of a mapping.
#include <omp_co/omp_co.hpp>

#include <vector>

using task = boost::asio::awaitable<void>;
using floats = std::vector<float>;

// release is for the end of a mapping.
task release_on_target(omp_co::device dev, floats& x, floats& y)
{
    co_await omp_co::target(
        dev, [](float*, float const*) {}, omp_co::release(x), omp_co::to(y));
}

// delete_ is for the end of a mapping.
task delete_on_target(omp_co::device dev, floats& x, floats& y)
{
    co_await omp_co::target(
        dev, [](float*, float const*) {}, omp_co::delete_(x), omp_co::to(y));
}

// release is for the end of a mapping.
task release_on_target_data(omp_co::device dev, floats& x, floats& y)
{
    auto body = []() -> task { co_return; };
    co_await omp_co::target_data(dev, omp_co::to(x), omp_co::release(y), body);
}

// What the compiler says, and that it names the line of every case.
// expect: error: static assertion failed.*omp_co: release and delete_ belong on target_exit_data; target takes to, from, tofrom, alloc
// expect: error: static assertion failed.*omp_co: release and delete_ belong on target_exit_data; target_data takes to, from,
// expect: map_types_of_target\.cpp:(13|14):
// expect: map_types_of_target\.cpp:(20|21):
// expect: map_types_of_target\.cpp:28:
