// SPDX-License-Identifier: BSL-1.0
// Reductions without an identity, pointers joined where nothing begins, copies that no device takes part in.
#include <omp_co/omp_co.hpp>

#include <vector>

using task = boost::asio::awaitable<void>;

task no_identity(omp_co::device dev, int& x)
{
    auto op = [](int a, int b) { return a + b; };
    co_await omp_co::target(dev, [](int, int&) {}, omp_co::range(3), omp_co::reduction(op, x));
}

task on_enter_data(omp_co::device dev, int& x)
{
    co_await omp_co::target_enter_data(dev, omp_co::reduction(std::plus<>(), x));
}

task into_const(omp_co::device dev, int const& x)
{
    co_await omp_co::target(dev, [](int, int const&) {}, omp_co::range(3), omp_co::reduction(std::plus<>(), x));
}

task attach_on_update(omp_co::device dev, int*& p)
{
    co_await omp_co::target_update(dev, omp_co::attach(p, 3));
}

task host_to_host(std::vector<int>& a, std::vector<int>& b)
{
    co_await omp_co::target_memcpy(a, b);
}

task other_elements(omp_co::device_buffer<int>& a, std::vector<long>& b)
{
    co_await omp_co::target_memcpy(a, b);
}

// What the compiler says, and that it names the line of every case.
// expect: error: static assertion failed.*omp_co: only standard function objects have a known identity; write reduction\(op, x, identity\)
// expect: error: static assertion failed.*omp_co: range, firstprivate, private_, is_device_ptr and reduction belong on target
// expect: error: static assertion failed.*omp_co: a reduction writes its result; the object may not be const
// expect: error: static assertion failed.*omp_co: attach belongs on target, target_enter_data and target_data
// expect: error: static assertion failed.*omp_co: target_memcpy needs a device_buffer or a device_section on one side at least
// expect: error: static assertion failed.*omp_co: target_memcpy copies elements of one type
// expect: reductions_and_pointers\.cpp:12:
// expect: reductions_and_pointers\.cpp:17:
// expect: reductions_and_pointers\.cpp:22:
// expect: reductions_and_pointers\.cpp:27:
// expect: reductions_and_pointers\.cpp:32:
// expect: reductions_and_pointers\.cpp:37:
