// SPDX-License-Identifier: BSL-1.0
// Depend clauses name memory that stays; functions of host tasks can be kept; target_data has no depend clauses.
#include <omp_co/omp_co.hpp>

#include <memory>
#include <vector>

using task = boost::asio::awaitable<void>;

task pointer_without_a_length(omp_co::device dev, int* p)
{
    co_await omp_co::target(
        dev, [] {}, omp_co::depend_in(p));
}

task address_of_a_temporary(omp_co::device dev)
{
    co_await omp_co::target(
        dev, [] {}, omp_co::depend_out(std::vector<int>(8)));
}

task data_region_with_a_dependence(omp_co::device dev, std::vector<int>& x)
{
    co_await omp_co::target_data(dev, omp_co::to(x), omp_co::depend_in(x), [] { return task(); });
}

task function_that_owns_memory(std::vector<int>& x)
{
    co_await omp_co::host_task([kept = std::make_shared<int>(1)] { ++*kept; }, omp_co::depend_in(x));
}

task function_with_a_parameter(std::vector<int>& x)
{
    co_await omp_co::host_task([](int) {}, omp_co::depend_in(x));
}

task map_clause_of_a_host_task(std::vector<int>& x)
{
    co_await omp_co::host_task([] {}, omp_co::to(x));
}

// What the compiler says, and that it names the line of every case.
// expect: error: static assertion failed.*omp_co: a pointer does not say how much it points to; write section\(p, first, count\)
// expect: error: static assertion failed.*omp_co: a temporary that owns its memory would be gone before the region ends; give it a name
// expect: error: static assertion failed.*omp_co: target_data has no depend clauses; they belong on the constructs inside
// expect: error: static assertion failed.*omp_co: a temporary function must be trivially copyable \(capture by reference\); name it, or pass std::ref
// expect: error: static assertion failed.*omp_co: the function of a host_task takes no parameters
// expect: error: static assertion failed.*omp_co: host_task takes a function, and the clauses depend_in\(\) and its kin, name\(\), explain\(\) and detach\(\)
// expect: order\.cpp:13:
// expect: order\.cpp:19:
// expect: order\.cpp:24:
// expect: order\.cpp:29:
// expect: order\.cpp:34:
// expect: order\.cpp:39:
