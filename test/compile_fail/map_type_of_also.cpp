// SPDX-License-Identifier: BSL-1.0
// also() changes nothing about the map types of a construct.
#include <omp_co/omp_co.hpp>

#include <vector>

using task = boost::asio::awaitable<void>;
using floats = std::vector<float>;

// also() changes nothing about it.
task also_release_on_target(omp_co::device dev, floats& x, floats& y)
{
    int counter = static_cast<int>(x.size());
    co_await omp_co::target(
        dev, [](float const*) {}, omp_co::to(y), omp_co::also(omp_co::release(counter)));
}

// What the compiler says, and that it names the line of every case.
// expect: error: static assertion failed.*omp_co: release and delete_ belong on target_exit_data
// expect: map_type_of_also\.cpp:(14|15):
