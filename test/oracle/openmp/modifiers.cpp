// SPDX-License-Identifier: BSL-1.0
// always, present, close and LLVM's ompx_hold. What `present` does to absent data ends OpenMP's program, so it is not here.
#include "bed.hpp"

using namespace oracle;

static void add_five(int (&x)[3])
{
#pragma omp target map(alloc : x)
    for (int i = 0; i < 3; ++i) x[i] += 5;
}

static void finish(int (&x)[3])
{
    show_array("host", x);
#pragma omp target update from(x)
    show_array("device", x);
    show("count", drain(x));
}

ORACLE_CASE(always_to_on_target)
{
    int x[3] = {1, 2, 3};
    int seen = 0;
#pragma omp target enter data map(to : x)
    x[0] = 10;
#pragma omp target map(always, to : x) map(from : seen)
    seen = x[0] + x[1];
    show("seen", seen);
    x[0] = 20;
    finish(x);
}

ORACLE_CASE(always_from_on_target)
{
    int x[3] = {1, 2, 3};
#pragma omp target enter data map(to : x)
    x[0] = 10;
#pragma omp target map(always, from : x)
    for (int i = 0; i < 3; ++i) x[i] += 5;
    show_array("host", x);
    x[0] = 20;
    finish(x);
}

ORACLE_CASE(always_tofrom_on_target)
{
    int x[3] = {1, 2, 3};
#pragma omp target enter data map(to : x)
#pragma omp target enter data map(to : x)
    x[0] = 10;
#pragma omp target map(always, tofrom : x)
    for (int i = 0; i < 3; ++i) x[i] += 5;
    show_array("host", x);
    finish(x);
}

ORACLE_CASE(always_alloc_copies_nothing)
{
    int x[3] = {1, 2, 3};
#pragma omp target enter data map(to : x)
    x[0] = 10;
#pragma omp target map(always, alloc : x)
    for (int i = 0; i < 3; ++i) x[i] += 5;
    show_array("host", x);
    finish(x);
}

ORACLE_CASE(always_to_on_enter_data)
{
    int x[3] = {1, 2, 3};
#pragma omp target enter data map(to : x)
    x[0] = 10;
#pragma omp target enter data map(always, to : x)
    x[0] = 20;
    finish(x);
}

ORACLE_CASE(always_from_on_exit_data)
{
    int x[3] = {1, 2, 3};
#pragma omp target enter data map(to : x)
#pragma omp target enter data map(to : x)
    add_five(x);
#pragma omp target exit data map(always, from : x)
    show_array("host", x);
    show("present", present(x));
    add_five(x);
#pragma omp target exit data map(always, from : x)
    show("present", present(x));
    finish(x);
}

ORACLE_CASE(always_from_of_absent_data_is_ignored)
{
    int x[3] = {1, 2, 3};
#pragma omp target exit data map(always, from : x)
    finish(x);
}

ORACLE_CASE(always_delete_copies_nothing)
{
    int x[3] = {1, 2, 3};
#pragma omp target enter data map(to : x)
#pragma omp target enter data map(to : x)
    add_five(x);
#pragma omp target exit data map(always, delete : x)
    show("present", present(x));
    finish(x);
}

ORACLE_CASE(always_tofrom_on_data)
{
    int x[3] = {1, 2, 3};
#pragma omp target enter data map(to : x)
    x[0] = 10;
#pragma omp target data map(always, tofrom : x)
    {
        add_five(x);
        show_array("inside", x);
    }
    show_array("host", x);
    finish(x);
}

ORACLE_CASE(always_on_a_part_copies_that_part)
{
    int x[3] = {1, 2, 3};
#pragma omp target enter data map(to : x)
    for (int i = 0; i < 3; ++i) x[i] = 10 * i;
#pragma omp target map(always, tofrom : x [1:1])
    x[1] += 5;
    finish(x);
}

ORACLE_CASE(present_on_every_construct)
{
    int x[3] = {1, 2, 3};
#pragma omp target enter data map(to : x)
#pragma omp target enter data map(present, to : x)
#pragma omp target map(present, tofrom : x)
    for (int i = 0; i < 3; ++i) x[i] += 5;
#pragma omp target data map(present, alloc : x)
    {
        add_five(x);
    }
    show_array("host", x);
#pragma omp target update from(present : x)
    show_array("updated", x);
    x[0] = 0;
#pragma omp target update to(present : x)
#pragma omp target exit data map(present, release : x)
    show("present", present(x));
#pragma omp target exit data map(present, from : x)
    show("present", present(x));
    finish(x);
}

ORACLE_CASE(present_and_always_together)
{
    int x[3] = {1, 2, 3};
#pragma omp target enter data map(to : x)
    x[0] = 10;
#pragma omp target map(always, present, tofrom : x)
    for (int i = 0; i < 3; ++i) x[i] += 5;
    finish(x);
}

ORACLE_CASE(present_on_a_part)
{
    int x[3] = {1, 2, 3};
#pragma omp target enter data map(to : x)
#pragma omp target map(present, tofrom : x [1:2])
    x[1] += 5;
    finish(x);
}

ORACLE_CASE(present_delete)
{
    int x[3] = {1, 2, 3};
#pragma omp target enter data map(to : x)
#pragma omp target enter data map(to : x)
#pragma omp target exit data map(present, delete : x)
    finish(x);
}

ORACLE_CASE(close_changes_nothing_that_can_be_seen)
{
    int x[3] = {1, 2, 3};
#pragma omp target enter data map(close, to : x)
    x[0] = 10;
#pragma omp target map(close, tofrom : x)
    for (int i = 0; i < 3; ++i) x[i] += 5;
    finish(x);
}

// ompx_hold is for target and target data only; omp_co's hold is for enter data and exit data too.

ORACLE_CASE(held_data_survives_delete)
{
    int x[3] = {1, 2, 3};
#pragma omp target data map(ompx_hold, tofrom : x)
    {
        add_five(x);
#pragma omp target exit data map(delete : x)
        show("present", present(x));
        add_five(x);
        show_array("inside", x);
    }
    finish(x);
}

ORACLE_CASE(held_data_survives_release)
{
    int x[3] = {1, 2, 3};
#pragma omp target data map(ompx_hold, tofrom : x)
    {
#pragma omp target enter data map(to : x)
#pragma omp target exit data map(release : x)
#pragma omp target exit data map(release : x)
#pragma omp target exit data map(release : x)
        show("present", present(x));
        add_five(x);
    }
    finish(x);
}

ORACLE_CASE(a_hold_ends_and_the_count_remains)
{
    int x[3] = {1, 2, 3};
#pragma omp target data map(ompx_hold, tofrom : x)
    {
#pragma omp target enter data map(to : x)
#pragma omp target enter data map(to : x)
        add_five(x);
    }
    show("present", present(x));
    finish(x);
}

ORACLE_CASE(held_twice)
{
    int x[3] = {1, 2, 3};
#pragma omp target data map(ompx_hold, tofrom : x)
    {
#pragma omp target data map(ompx_hold, to : x)
        {
            add_five(x);
#pragma omp target exit data map(delete : x)
        }
        show("present", present(x));
        show_array("between", x);
    }
    finish(x);
}

ORACLE_CASE(delete_while_held_ends_the_other_counts)
{
    int x[3] = {1, 2, 3};
#pragma omp target enter data map(to : x)
#pragma omp target enter data map(to : x)
#pragma omp target data map(ompx_hold, tofrom : x)
    {
        add_five(x);
#pragma omp target exit data map(delete : x)
        show("present", present(x));
    }
    show("present", present(x));
    finish(x);
}

ORACLE_CASE(held_by_a_target_region)
{
    int x[3] = {1, 2, 3};
#pragma omp target map(ompx_hold, tofrom : x)
    for (int i = 0; i < 3; ++i) x[i] += 5;
    finish(x);
}

// The copy back belongs to the last count of all that goes, of either kind.
ORACLE_CASE(exit_from_while_held_copies_nothing)
{
    int x[3] = {1, 2, 3};
#pragma omp target data map(ompx_hold, to : x)
    {
#pragma omp target enter data map(to : x)
        add_five(x);
#pragma omp target exit data map(from : x)
        show_array("inside", x);
        show("present", present(x));
    }
    finish(x);
}
