// SPDX-License-Identifier: BSL-1.0
// Groups take operations without a value; sections take what has elements; a construct takes one if_().
#include <omp_co/omp_co.hpp>

#include <vector>

using task = boost::asio::awaitable<void>;

task nothing() { co_return; }
boost::asio::awaitable<int> value() { co_return 1; }

void coroutine_with_a_value(omp_co::task_group& group) { group.spawn(value()); }

task coroutine_in_when_all(omp_co::device dev)
{
    int x = 0;
    co_await omp_co::when_all(omp_co::target_update(dev, omp_co::to(x)), nothing());
}

task section_of_bits(omp_co::device dev)
{
    std::vector<bool> bits(8);
    co_await omp_co::target_update(dev, omp_co::to(omp_co::section(bits, 0, 4)));
}

task section_of_a_temporary(omp_co::device dev)
{
    co_await omp_co::target_update(dev, omp_co::to(omp_co::section(std::vector<int>(8), 0, 4)));
}

task two_conditions(omp_co::device dev)
{
    co_await omp_co::target(
        dev, [] {}, omp_co::if_(true), omp_co::if_(false));
}

// What the compiler says, and that it names the line of every case.
// expect: error: static assertion failed.*omp_co: a task_group takes operations without a value and awaitable<void>
// expect: error: static assertion failed.*omp_co: when_all takes operations without a value; a coroutine is a task_group's to spawn
// expect: error: static assertion failed.*omp_co: std::vector<bool> has no elements in memory; use std::vector<char>
// expect: error: static assertion failed.*omp_co: a temporary that owns its memory would be gone before the region ends; give it a name
// expect: error: static assertion failed.*omp_co: one if_\(\) a construct
// expect: what_groups_do_not_take\.cpp:12:
// expect: what_groups_do_not_take\.cpp:17:
// expect: what_groups_do_not_take\.cpp:23:
// expect: what_groups_do_not_take\.cpp:28:
// expect: what_groups_do_not_take\.cpp:33:
