// SPDX-License-Identifier: BSL-1.0
// Programs with a mistake that a strict host device finds.
#pragma once

#include "common.hpp"

#include <array>
#include <boost/asio/awaitable.hpp>
#include <cstdio>
#include <memory>

namespace strict_test {

inline void show(int value) { std::printf("%d\n", value); }

// Host memory in kernels.

inline void a_kernel_uses_the_host_pointer_of_a_mapped_array()
{
    virtual_device const d({.strict = true});
    std::vector<int> x(100, 1);
    int* const p = x.data();
    sync_wait(omp_co::target(
        d, [p](int*) { p[5] = 2; }, omp_co::tofrom(x)));
}

inline void a_kernel_reads_the_host_pointer_of_resident_data()
{
    virtual_device const d({.strict = true});
    std::vector<int> x(100, 1);
    int sum = 0;
    sync_wait(omp_co::target_enter_data(d, omp_co::to(x)));
    int const* const p = x.data();
    sync_wait(omp_co::target(
        d, [p](int* s) { *s = p[99]; }, omp_co::from(sum)));
}

inline void a_kernel_has_the_pointer_of_an_array_that_is_not_mapped()
{
    virtual_device const d({.strict = true});
    std::vector<int> x(100, 1), y(100, 1);
    int const* const p = y.data();
    sync_wait(omp_co::target(
        d, [p](std::size_t i, int* q) { q[i] = p[i]; }, omp_co::range(100), omp_co::tofrom(x)));
}

inline void a_kernel_object_has_the_pointer_of_an_array_that_is_not_mapped()
{
    virtual_device const d({.strict = true});
    std::vector<int> x(100, 1), y(100, 1);
    int const* const p = y.data();
    omp_co::kernel<void(int*)> const kernel("copy", omp_co::host::variant([p](int* q) { *q = *p; }));
    sync_wait(omp_co::target(d, kernel, omp_co::tofrom(x)));
}

inline void a_kernel_has_a_pointer_into_the_middle()
{
    virtual_device const d({.strict = true});
    std::vector<int> y(100, 1);
    int* const p = y.data() + 50;
    sync_wait(omp_co::target(d, [p] { p[-50] = 2; }));
}

inline void a_kernel_has_a_reference_to_a_variable()
{
    virtual_device const d({.strict = true});
    int count = 0;
    sync_wait(omp_co::target(d, [&] { ++count; }));
}

inline void a_kernel_has_a_reference_to_a_variable_of_a_coroutine()
{
    virtual_device const d({.strict = true});
    sync_wait([](omp_co::device dev) -> boost::asio::awaitable<void> {
        std::array<int, 4> counts{};
        auto const kernel = [&counts] { ++counts[2]; };
        co_await omp_co::target(dev, kernel);
    }(d));
}

extern int global_data[100]; // not inline: those AddressSanitizer does not know

inline void a_kernel_has_the_pointer_of_a_global_array()
{
    virtual_device const d({.strict = true});
    int* p =
        global_data; // of a constant clang would make a direct use of the array, which is not instrumented
    sync_wait(omp_co::target(d, [p] { p[3] = 1; }));
    show(global_data[3]);
}

inline void a_firstprivate_value_is_a_host_pointer()
{
    virtual_device const d({.strict = true});
    std::vector<int> y(100, 1);
    sync_wait(omp_co::target(
        d, [](int* p) { p[5] = 1; }, omp_co::firstprivate(y.data())));
}

inline void a_host_pointer_is_said_to_be_one_of_the_device()
{
    virtual_device const d({.strict = true});
    std::vector<int> y(100, 1);
    sync_wait(omp_co::target(
        d, [](int* p) { p[5] = 1; }, omp_co::is_device_ptr(y.data())));
}

struct with_pointer {
    int n;
    int* data;
};

inline void a_pointer_in_a_structure_is_not_joined()
{
    virtual_device const d({.strict = true});
    std::vector<int> y(100, 1);
    with_pointer s{100, y.data()};
    sync_wait(omp_co::target(
        d, [](with_pointer* p, int*) { p->data[5] = 1; }, omp_co::tofrom(s), omp_co::tofrom(y)));
}

// Data that the device has changed.

inline void read_behind_a_kernel_on_resident_data()
{
    virtual_device const d({.strict = true});
    std::vector<int> x(100, 1);
    sync_wait(omp_co::target_enter_data(d, omp_co::to(x)));
    sync_wait(omp_co::target(d, add_one(), omp_co::range(100), omp_co::tofrom(x)));
    show(x[42]);
}

inline void read_inside_a_data_region()
{
    virtual_device const d({.strict = true});
    std::vector<int> x(100, 1);
    auto body = [&]() -> boost::asio::awaitable<void> {
        co_await omp_co::target(d.get(), add_one(), omp_co::range(100), omp_co::tofrom(x));
        show(x[42]);
    };
    sync_wait(omp_co::target_data(d, omp_co::tofrom(x), body));
}

inline void read_beside_the_part_that_was_updated()
{
    virtual_device const d({.strict = true});
    std::vector<int> x(100, 1);
    sync_wait(omp_co::target_enter_data(d, omp_co::to(x)));
    sync_wait(omp_co::target(d, add_one(), omp_co::range(100), omp_co::tofrom(x)));
    sync_wait(omp_co::target_update(d, omp_co::from(omp_co::section(x, 10, 50))));
    show(x[61]);
}

inline void written_while_the_device_s_copy_is_newer()
{
    virtual_device const d({.strict = true});
    std::vector<int> x(100, 1);
    sync_wait(omp_co::target_enter_data(d, omp_co::alloc(x)));
    sync_wait(omp_co::target(
        d, [](int* p) { p[0] = 1; }, omp_co::alloc(x)));
    x[0] = 2;
}

inline void stale_data_is_mapped_to_another_device()
{
    virtual_device const d({.strict = true});
    virtual_device const other({.workers = 0});
    std::vector<int> x(100, 1);
    sync_wait(omp_co::target_enter_data(d, omp_co::to(x)));
    sync_wait(omp_co::target(d, add_one(), omp_co::range(100), omp_co::tofrom(x)));
    sync_wait(omp_co::target_enter_data(other, omp_co::to(x)));
}

inline void read_behind_a_kernel_that_had_a_device_pointer()
{
    virtual_device const d({.strict = true});
    std::vector<int> x(100, 1);
    sync_wait(omp_co::target_enter_data(d, omp_co::to(x)));
    sync_wait(omp_co::target(
        d, [](int* p) { *p = 2; }, omp_co::is_device_ptr(d.get().mapped_ptr(x.data()))));
    show(x[0]);
}

inline void read_behind_a_copy_to_the_device()
{
    virtual_device const d({.strict = true});
    std::vector<int> x(100, 1), y(100, 2);
    sync_wait(omp_co::target_enter_data(d, omp_co::to(x)));
    omp_co::device_section<int> const on_device(d.get(), d.get().mapped_ptr(x.data()), 100);
    sync_wait(omp_co::target_memcpy(on_device, y));
    show(x[0]);
}

inline void read_a_member_between_joined_pointers()
{
    virtual_device const d({.strict = true});
    std::vector<int> y(100, 1);
    struct wide {
        long before;
        int* data;
        long after;
    };
    auto const made = std::make_unique<wide>(wide{1, y.data(), 2});
    wide& s = *made;
    sync_wait(omp_co::target_enter_data(d, omp_co::to(s), omp_co::to(y), omp_co::attach(s.data, 100)));
    sync_wait(omp_co::target(
        d, [](wide* p) { ++p->after; }, omp_co::tofrom(s)));
    show(static_cast<int>(s.after));
}

// Memory of the device on the host.

inline void the_host_reads_a_device_pointer()
{
    virtual_device const d({.strict = true});
    std::vector<int> x(100, 1);
    sync_wait(omp_co::target_enter_data(d, omp_co::to(x)));
    show(*d.get().mapped_ptr(x.data()));
}

inline void the_host_writes_to_a_device_buffer()
{
    virtual_device const d({.strict = true});
    auto const buffer = sync_wait(omp_co::allocate<int>(d, 100));
    sync_wait(omp_co::target_memset(buffer, 1));
    buffer.get()[99] = 0;
}

inline constexpr program wrong_programs[] = {
    OMP_CO_TEST_PROGRAM(a_kernel_uses_the_host_pointer_of_a_mapped_array),
    OMP_CO_TEST_PROGRAM(a_kernel_reads_the_host_pointer_of_resident_data),
    OMP_CO_TEST_PROGRAM(a_kernel_has_the_pointer_of_an_array_that_is_not_mapped),
    OMP_CO_TEST_PROGRAM(a_kernel_object_has_the_pointer_of_an_array_that_is_not_mapped),
    OMP_CO_TEST_PROGRAM(a_kernel_has_a_pointer_into_the_middle),
    OMP_CO_TEST_PROGRAM(a_kernel_has_a_reference_to_a_variable),
    OMP_CO_TEST_PROGRAM(a_kernel_has_a_reference_to_a_variable_of_a_coroutine),
    OMP_CO_TEST_PROGRAM(a_kernel_has_the_pointer_of_a_global_array),
    OMP_CO_TEST_PROGRAM(a_firstprivate_value_is_a_host_pointer),
    OMP_CO_TEST_PROGRAM(a_host_pointer_is_said_to_be_one_of_the_device),
    OMP_CO_TEST_PROGRAM(a_pointer_in_a_structure_is_not_joined),
    OMP_CO_TEST_PROGRAM(read_behind_a_kernel_on_resident_data),
    OMP_CO_TEST_PROGRAM(read_inside_a_data_region),
    OMP_CO_TEST_PROGRAM(read_beside_the_part_that_was_updated),
    OMP_CO_TEST_PROGRAM(written_while_the_device_s_copy_is_newer),
    OMP_CO_TEST_PROGRAM(stale_data_is_mapped_to_another_device),
    OMP_CO_TEST_PROGRAM(read_behind_a_kernel_that_had_a_device_pointer),
    OMP_CO_TEST_PROGRAM(read_behind_a_copy_to_the_device),
    OMP_CO_TEST_PROGRAM(read_a_member_between_joined_pointers),
    OMP_CO_TEST_PROGRAM(the_host_reads_a_device_pointer),
    OMP_CO_TEST_PROGRAM(the_host_writes_to_a_device_buffer),
};

} // namespace strict_test
