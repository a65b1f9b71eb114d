// SPDX-License-Identifier: BSL-1.0
// firstprivate, private, device addresses, if, iteration spaces, and what runs on the host itself.
//
// What is not compared: use_device_ptr of a pointer to absent data, which keeps its value in OpenMP 5.2, while
// device::mapped_ptr gives null.
#include "bed.hpp"

using namespace oracle;

ORACLE_CASE(firstprivate_is_a_copy)
{
    int n = 5;
    int seen = 0;
#pragma omp target firstprivate(n) map(from : seen)
    {
        n += 2;
        seen = n;
    }
    show("n", n, seen);
}

ORACLE_CASE(firstprivate_beside_a_mapping_of_the_same)
{
    int n = 5;
    int seen = 0;
#pragma omp target enter data map(to : n)
    n = 8;
#pragma omp target firstprivate(n) map(from : seen)
    seen = n++;
#pragma omp target update from(n)
    show("n", n, seen);
    show("count", drain(&n, 1));
}

ORACLE_CASE(firstprivate_structure)
{
    struct pair {
        int a;
        double b;
    } s{1, 2.5};
    double seen = 0;
#pragma omp target firstprivate(s) map(from : seen)
    {
        s.a *= 10;
        seen = s.a + s.b;
    }
    show("s", s.a, s.b, seen);
}

ORACLE_CASE(firstprivate_pointer_keeps_its_value)
{
    int a[3] = {1, 2, 3};
    int* p = a;
    bool same = false;
#pragma omp target firstprivate(p) map(to : a) map(from : same)
    same = p == nullptr;
    show("null", same, present(a));
}

ORACLE_CASE(firstprivate_in_every_iteration)
{
    int x[50] = {};
    int n = 7;
#pragma omp target teams distribute parallel for firstprivate(n) map(tofrom : x)
    for (int i = 0; i < 50; ++i) x[i] = i * n;
    show("x", x[0], x[1], x[49]);
}

ORACLE_CASE(private_memory)
{
    int x[20] = {};
#pragma omp target teams distribute parallel for map(from : x)
    for (int i = 0; i < 20; ++i) {
        int scratch[4];
        for (int k = 0; k < 4; ++k) scratch[k] = i + k;
        x[i] = scratch[0] + scratch[3];
    }
    show("x", x[0], x[7], x[19]);
}

ORACLE_CASE(private_variable_leaves_the_original_alone)
{
    int t = 9;
    int x[10] = {};
#pragma omp target teams distribute parallel for private(t) map(from : x)
    for (int i = 0; i < 10; ++i) {
        t = i * i;
        x[i] = t;
    }
    show("t", t, present(&t));
    show_array("x", x);
}

ORACLE_CASE(ranges_of_one_two_and_three_dimensions)
{
    int a[5] = {};
    int b[3][4] = {};
    int c[2][3][4] = {};
#pragma omp target teams distribute parallel for map(tofrom : a)
    for (int x = 0; x < 5; ++x) a[x] += x;
#pragma omp target teams distribute parallel for collapse(2) map(tofrom : b)
    for (int y = 0; y < 3; ++y)
        for (int x = 0; x < 4; ++x) b[y][x] += 10 * y + x;
#pragma omp target teams distribute parallel for collapse(3) map(tofrom : c)
    for (int z = 0; z < 2; ++z)
        for (int y = 0; y < 3; ++y)
            for (int x = 0; x < 4; ++x) c[z][y][x] += 100 * z + 10 * y + x;
    show_array("a", a);
    for (auto const& row : b) show_array("b", row);
    for (auto const& slice : c)
        for (auto const& row : slice) show_array("c", row);
}

ORACLE_CASE(an_empty_range_still_moves_data)
{
    int x[3] = {1, 2, 3};
    int none = 0;
#pragma omp target enter data map(to : x)
#pragma omp target map(alloc : x)
    x[0] = 10;
#pragma omp target teams distribute parallel for map(always, from : x)
    for (int i = 0; i < none; ++i) x[i] = 0;
    show_array("x", x);
    show("count", drain(x));
}

ORACLE_CASE(is_device_ptr_of_allocated_memory)
{
    int const there = omp_get_default_device();
    int const here = omp_get_initial_device();
    int x[3] = {1, 2, 3};
    int* p = static_cast<int*>(omp_target_alloc(sizeof x, there));
    omp_target_memcpy(p, x, sizeof x, 0, 0, there, here);
#pragma omp target is_device_ptr(p)
    for (int i = 0; i < 3; ++i) p[i] += 5;
    omp_target_memcpy(x, p, sizeof x, 0, 0, here, there);
    omp_target_free(p, there);
    show_array("x", x);
    show("present", present(x));
}

ORACLE_CASE(is_device_ptr_beside_a_map)
{
    int const there = omp_get_default_device();
    int const here = omp_get_initial_device();
    int x[3] = {1, 2, 3};
    int* p = static_cast<int*>(omp_target_alloc(sizeof x, there));
#pragma omp target is_device_ptr(p) map(to : x)
    for (int i = 0; i < 3; ++i) p[i] = 10 * x[i];
    omp_target_memcpy(x, p, 2 * sizeof(int), sizeof(int), 0, here, there);
    omp_target_free(p, there);
    show_array("x", x);
}

ORACLE_CASE(use_device_ptr)
{
    int x[3] = {1, 2, 3};
    int* p = x;
#pragma omp target data map(tofrom : p [0:3])
    {
#pragma omp target data use_device_ptr(p)
        {
            show("moved", p != x);
#pragma omp target is_device_ptr(p)
            for (int i = 0; i < 3; ++i) p[i] += 5;
        }
        show("same", p == x);
        show_array("inside", x);
    }
    show_array("x", x);
}

ORACLE_CASE(use_device_ptr_inside_mapped_data)
{
    int x[6] = {1, 2, 3, 4, 5, 6};
    int* p = x + 2;
#pragma omp target enter data map(to : x)
#pragma omp target data use_device_ptr(p)
#pragma omp target is_device_ptr(p)
    for (int i = 0; i < 3; ++i) p[i] *= 10;
#pragma omp target update from(x)
    show_array("x", x);
    show("count", drain(x));
}

ORACLE_CASE(use_device_addr_and_has_device_addr)
{
    int x[3] = {1, 2, 3};
#pragma omp target enter data map(to : x)
#pragma omp target data use_device_addr(x)
#pragma omp target has_device_addr(x)
    for (int i = 0; i < 3; ++i) x[i] += 5;
    show_array("host", x);
#pragma omp target update from(x)
    show_array("device", x);
    show("count", drain(x));
}

ORACLE_CASE(if_false_on_target_uses_the_host_s_data)
{
    int x[3] = {1, 2, 3};
#pragma omp target enter data map(to : x)
    x[0] = 10;
#pragma omp target map(tofrom : x) if (0)
    for (int i = 0; i < 3; ++i) x[i] += 5;
    show_array("host", x);
#pragma omp target update from(x)
    show_array("device", x);
    show("count", drain(x));
}

ORACLE_CASE(if_true_on_target)
{
    int x[3] = {1, 2, 3};
#pragma omp target enter data map(to : x)
#pragma omp target map(tofrom : x) if (1)
    for (int i = 0; i < 3; ++i) x[i] += 5;
    show_array("host", x);
#pragma omp target update from(x)
    show_array("device", x);
    show("count", drain(x));
}

ORACLE_CASE(if_false_on_target_maps_nothing)
{
    int x[3] = {1, 2, 3};
#pragma omp target map(tofrom : x) if (0)
    x[0] = 10;
    show("present", present(x));
    show_array("x", x);
}

ORACLE_CASE(if_false_on_data_constructs)
{
    int x[3] = {1, 2, 3};
#pragma omp target enter data map(to : x) if (0)
    show("present", present(x));
#pragma omp target enter data map(to : x) if (1)
    show("present", present(x));
    x[0] = 10;
#pragma omp target update to(x) if (0)
#pragma omp target update from(x) if (0)
    show_array("host", x);
#pragma omp target exit data map(delete : x) if (0)
    show("present", present(x));
#pragma omp target update from(x)
    show_array("device", x);
    show("count", drain(x));
}

ORACLE_CASE(if_false_on_data)
{
    int x[3] = {1, 2, 3};
#pragma omp target data map(tofrom : x) if (0)
    {
        show("present", present(x));
        x[0] = 10;
#pragma omp target map(tofrom : x)
        x[1] = 20;
        show_array("inside", x);
    }
    show_array("host", x);
    show("count", drain(x));
}

ORACLE_CASE(if_false_inside_a_data_region)
{
    int x[3] = {1, 2, 3};
#pragma omp target data map(tofrom : x)
    {
#pragma omp target map(tofrom : x) if (0)
        x[0] = 10;
        show_array("inside", x);
    }
    show_array("host", x);
}

ORACLE_CASE(if_false_with_a_range)
{
    int x[6] = {1, 2, 3, 4, 5, 6};
    int n = 3;
#pragma omp target teams distribute parallel for firstprivate(n) map(tofrom : x) if (0)
    for (int i = 0; i < 6; ++i) x[i] *= n;
    show_array("x", x);
    show("present", present(x));
}

// The initial device: nothing is mapped or moved, everything is present.

ORACLE_CASE(target_on_the_initial_device)
{
    int x[3] = {1, 2, 3};
    int n = 5;
    int const here = omp_get_initial_device();
#pragma omp target enter data map(to : x)
    x[0] = 10;
#pragma omp target map(tofrom : x) firstprivate(n) device(here)
    for (int i = 0; i < 3; ++i) x[i] += n;
    show_array("host", x);
    show("count", drain(x));
}

ORACLE_CASE(data_constructs_on_the_initial_device)
{
    int x[3] = {1, 2, 3};
    int const here = omp_get_initial_device();
#pragma omp target enter data map(to : x) device(here)
    show("present", present(x));
    x[0] = 10;
#pragma omp target update from(x) device(here)
    show_array("host", x);
    x[1] = 20;
#pragma omp target exit data map(from : x) device(here)
    show_array("host", x);
#pragma omp target data map(tofrom : x) device(here)
    x[2] = 30;
    show_array("host", x);
}

ORACLE_CASE(everything_is_present_on_the_initial_device)
{
    int x[3] = {1, 2, 3};
    int const here = omp_get_initial_device();
    show("present", omp_target_is_present(x, here) != 0, omp_target_is_present(nullptr, here) != 0);
    show("mapped", omp_get_mapped_ptr(x, here) == x);
}
