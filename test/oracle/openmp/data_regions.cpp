// SPDX-License-Identifier: BSL-1.0
// target data: its map types on data that has been mapped 0, 1 and 2 times before, and constructs inside it.
#include "bed.hpp"

using namespace oracle;

static void enter(int (&x)[3], int count)
{
    for (int i = 0; i < count; ++i) {
#pragma omp target enter data map(to : x)
    }
}

static void add_five(int (&x)[3])
{
#pragma omp target map(alloc : x)
    for (int i = 0; i < 3; ++i) x[i] += 5;
}

static void write_sevens(int (&x)[3])
{
#pragma omp target map(alloc : x)
    for (int i = 0; i < 3; ++i) x[i] = 7 + i;
}

static void finish(int (&x)[3])
{
    show_array("host", x);
    show("count", drain(x));
}

static void data_to(int count)
{
    int x[3] = {1, 2, 3};
    enter(x, count);
    x[0] = 10;
#pragma omp target data map(to : x)
    {
        add_five(x);
#pragma omp target update from(x)
        show_array("inside", x);
        x[0] = 30;
    }
    finish(x);
}

static void data_from(int count)
{
    int x[3] = {1, 2, 3};
    enter(x, count);
#pragma omp target data map(from : x)
    {
        write_sevens(x);
        show_array("inside", x);
    }
    finish(x);
}

static void data_tofrom(int count)
{
    int x[3] = {1, 2, 3};
    enter(x, count);
    x[0] = 10;
#pragma omp target data map(tofrom : x)
    {
        add_five(x);
        show_array("inside", x);
    }
    finish(x);
}

static void data_alloc(int count)
{
    int x[3] = {1, 2, 3};
    enter(x, count);
#pragma omp target data map(alloc : x)
    {
        write_sevens(x);
        show("present", present(x));
    }
    finish(x);
}

ORACLE_CASE(data_to_at_count_0) { data_to(0); }
ORACLE_CASE(data_to_at_count_1) { data_to(1); }
ORACLE_CASE(data_to_at_count_2) { data_to(2); }
ORACLE_CASE(data_from_at_count_0) { data_from(0); }
ORACLE_CASE(data_from_at_count_1) { data_from(1); }
ORACLE_CASE(data_from_at_count_2) { data_from(2); }
ORACLE_CASE(data_tofrom_at_count_0) { data_tofrom(0); }
ORACLE_CASE(data_tofrom_at_count_1) { data_tofrom(1); }
ORACLE_CASE(data_tofrom_at_count_2) { data_tofrom(2); }
ORACLE_CASE(data_alloc_at_count_0) { data_alloc(0); }
ORACLE_CASE(data_alloc_at_count_1) { data_alloc(1); }
ORACLE_CASE(data_alloc_at_count_2) { data_alloc(2); }

ORACLE_CASE(target_inside_data_copies_nothing)
{
    int x[3] = {1, 2, 3};
#pragma omp target data map(tofrom : x)
    {
        x[0] = 100;
#pragma omp target map(tofrom : x)
        for (int i = 0; i < 3; ++i) x[i] += 5;
        show_array("inside", x);
    }
    finish(x);
}

ORACLE_CASE(data_inside_data_copies_at_the_outer_end)
{
    int x[3] = {1, 2, 3};
#pragma omp target data map(from : x)
    {
        write_sevens(x);
#pragma omp target data map(tofrom : x)
        {
            add_five(x);
        }
        show_array("between", x);
    }
    finish(x);
}

ORACLE_CASE(data_inside_data_of_another_type)
{
    int x[3] = {1, 2, 3};
#pragma omp target data map(to : x)
    {
#pragma omp target data map(from : x)
        {
            add_five(x);
        }
        show_array("between", x);
        show("present", present(x));
    }
    finish(x);
}

ORACLE_CASE(enter_data_inside_data_outlives_it)
{
    int x[3] = {1, 2, 3};
#pragma omp target data map(tofrom : x)
    {
#pragma omp target enter data map(to : x)
        add_five(x);
    }
    show_array("after", x);
    show("present", present(x));
#pragma omp target exit data map(from : x)
    finish(x);
}

ORACLE_CASE(delete_inside_data_ends_its_mapping)
{
    int x[3] = {1, 2, 3};
#pragma omp target data map(tofrom : x)
    {
        add_five(x);
#pragma omp target exit data map(delete : x)
        show("present", present(x));
    }
    finish(x);
}

ORACLE_CASE(release_inside_data_ends_its_mapping)
{
    int x[3] = {1, 2, 3};
#pragma omp target data map(tofrom : x)
    {
        add_five(x);
#pragma omp target exit data map(release : x)
        show("present", present(x));
        x[1] = 50;
    }
    finish(x);
}

ORACLE_CASE(exit_from_inside_data_copies_at_once)
{
    int x[3] = {1, 2, 3};
#pragma omp target data map(to : x)
    {
        add_five(x);
#pragma omp target exit data map(from : x)
        show_array("inside", x);
        show("present", present(x));
    }
    finish(x);
}

ORACLE_CASE(updates_inside_data)
{
    int x[3] = {1, 2, 3};
#pragma omp target data map(to : x)
    {
        x[0] = 100;
#pragma omp target update to(x)
        add_five(x);
#pragma omp target update from(x)
        show_array("inside", x);
        x[2] = 0;
    }
    finish(x);
}

ORACLE_CASE(entered_again_inside_data_after_a_delete)
{
    int x[3] = {1, 2, 3};
#pragma omp target data map(tofrom : x)
    {
        add_five(x);
#pragma omp target exit data map(delete : x)
        x[0] = 50;
#pragma omp target enter data map(to : x)
        add_five(x);
    }
    finish(x);
}

static void nest(int (&x)[3], int depth)
{
#pragma omp target data map(tofrom : x)
    {
        add_five(x);
        if (depth > 1) nest(x, depth - 1);
        show("inside", x[0], present(x));
    }
}

ORACLE_CASE(data_regions_four_deep)
{
    int x[3] = {1, 2, 3};
    nest(x, 4);
    finish(x);
}

ORACLE_CASE(enter_and_exit_alternate)
{
    int x[3] = {1, 2, 3};
    for (int i = 0; i < 3; ++i) {
        enter(x, 2);
        add_five(x);
#pragma omp target exit data map(release : x)
        show("present", present(x));
    }
    show_array("host", x);
#pragma omp target exit data map(from : x)
    show("present", present(x));
#pragma omp target exit data map(from : x)
    show("present", present(x));
#pragma omp target exit data map(from : x)
    show("present", present(x));
    finish(x);
}

ORACLE_CASE(several_items_in_one_data_region)
{
    int a[3] = {1, 2, 3};
    int b[3] = {4, 5, 6};
    int c[3] = {7, 8, 9};
    int n = 2;
    enter(b, 1);
#pragma omp target data map(to : a) map(tofrom : b, n) map(from : c)
    {
#pragma omp target map(alloc : a, b, c, n)
        {
            n += 40;
            for (int i = 0; i < 3; ++i) {
                c[i] = a[i] + b[i] + n;
                a[i] = b[i] = 0;
            }
        }
        show("present", present(a), present(b), present(c), present(&n));
    }
    show("present", present(a), present(b), present(c), present(&n));
    show_array("a", a);
    show_array("c", c);
    show("n", n);
    finish(b);
}
