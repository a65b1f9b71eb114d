// SPDX-License-Identifier: BSL-1.0
// What a map clause cannot name.
#include <omp_co/omp_co.hpp>

#include <memory>
#include <string>
#include <vector>

using task = boost::asio::awaitable<void>;
using floats = std::vector<float>;

// A temporary that owns its memory would be gone before the region ends.
task temporary_vector(omp_co::device dev, floats& x, floats& y)
{
    (void)y;
    co_await omp_co::target_enter_data(dev, omp_co::to(floats(x)));
}

// A temporary scalar would be gone before the region ends.
task temporary_scalar(omp_co::device dev, floats& x, floats& y)
{
    (void)y;
    co_await omp_co::target(
        dev, [](float* p) { *p += 1; }, omp_co::tofrom(x[0] + 1));
}

// A pointer does not say how much it points to.
task pointer(omp_co::device dev, floats& x, floats& y)
{
    (void)y;
    co_await omp_co::target_enter_data(dev, omp_co::to(x.data()));
}

// std::vector<bool> has no elements in memory.
task vector_of_bool(omp_co::device dev, floats& x, floats& y)
{
    std::vector<bool> flags(x.size() + y.size());
    co_await omp_co::target_enter_data(dev, omp_co::to(flags));
}

// What is not trivially copyable cannot be copied as bytes.
task element_not_trivially_copyable(omp_co::device dev, floats& x, floats& y)
{
    std::vector<std::string> names(x.size() + y.size());
    co_await omp_co::target_enter_data(dev, omp_co::to(names));
}

// The same of one object.
task scalar_not_trivially_copyable(omp_co::device dev, floats& x, floats& y)
{
    auto counter = std::make_shared<std::size_t>(x.size() + y.size());
    co_await omp_co::target_enter_data(dev, omp_co::to(counter));
}

// After the data only modifiers may follow.
task modifier_that_is_none(omp_co::device dev, floats& x, floats& y)
{
    (void)y;
    co_await omp_co::target_enter_data(dev, omp_co::to(x, 5));
}

// also() takes a map clause.
task also_of_no_map(omp_co::device dev, floats& x, floats& y)
{
    co_await omp_co::target(
        dev, [](float const*) {}, omp_co::to(y), omp_co::also(omp_co::firstprivate(x[0])));
}

// Devices align memory to 256 bytes.
struct alignas(512) over_aligned {
    int value;
};
task element_over_aligned(omp_co::device dev, over_aligned& x)
{
    co_await omp_co::target_enter_data(dev, omp_co::to(x));
}

// What the compiler says, and that it names the line of every case.
// expect: error: static assertion failed.*omp_co: a temporary that owns its memory would be gone before the region ends; give it a name
// expect: error: static assertion failed.*omp_co: a temporary would be gone before the region ends; give it a name
// expect: error: static assertion failed.*omp_co: a pointer does not say how much it points to; write section\(p, first, count\)
// expect: error: static assertion failed.*omp_co: std::vector<bool> has no elements in memory; use std::vector<char>
// expect: error: static assertion failed.*omp_co: only trivially copyable elements can be copied to a device and back
// expect: error: static assertion failed.*omp_co: after the data only modifiers may follow: always, present
// expect: error: static assertion failed.*omp_co: also\(\) takes a map clause: to, from, tofrom or alloc
// expect: error: static assertion failed.*omp_co: devices align memory to 256 bytes; an element may not ask for more
// expect: memory_that_cannot_be_mapped\.cpp:16:
// expect: memory_that_cannot_be_mapped\.cpp:(23|24):
// expect: memory_that_cannot_be_mapped\.cpp:31:
// expect: memory_that_cannot_be_mapped\.cpp:38:
// expect: memory_that_cannot_be_mapped\.cpp:45:
// expect: memory_that_cannot_be_mapped\.cpp:52:
// expect: memory_that_cannot_be_mapped\.cpp:59:
// expect: memory_that_cannot_be_mapped\.cpp:(65|66):
// expect: memory_that_cannot_be_mapped\.cpp:75:
