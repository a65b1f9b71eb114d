// SPDX-License-Identifier: BSL-1.0
// Every map type on data that has been mapped 0, 1 and 2 times before.
#include "bed.hpp"

using namespace oracle;

static void enter(int (&x)[3], int count)
{
    for (int i = 0; i < count; ++i) {
#pragma omp target enter data map(to : x)
    }
}

// The host's values, the device's ones if there are any, and the count.
static void finish(int (&x)[3])
{
    show_array("host", x);
    show("present", present(x));
#pragma omp target update from(x)
    show_array("device", x);
    show("count", drain(x));
}

static void target_to(int count)
{
    int x[3] = {1, 2, 3};
    int seen = 0;
    enter(x, count);
    x[0] = 10;
#pragma omp target map(to : x) map(from : seen)
    seen = x[0] + x[2];
    show("seen", seen);
    finish(x);
}

static void target_from(int count)
{
    int x[3] = {1, 2, 3};
    enter(x, count);
#pragma omp target map(from : x)
    for (int i = 0; i < 3; ++i) x[i] = 7 + i;
    finish(x);
}

static void target_tofrom(int count)
{
    int x[3] = {1, 2, 3};
    enter(x, count);
    x[0] = 10;
#pragma omp target map(tofrom : x)
    for (int i = 0; i < 3; ++i) x[i] += 5;
    finish(x);
}

static void target_alloc(int count)
{
    int x[3] = {1, 2, 3};
    int seen = 0;
    enter(x, count);
#pragma omp target map(alloc : x) map(from : seen)
    {
        for (int i = 0; i < 3; ++i) x[i] = 7 + i;
        seen = x[0] + x[2];
    }
    show("seen", seen);
    finish(x);
}

static void enter_to(int count)
{
    int x[3] = {1, 2, 3};
    enter(x, count);
    x[0] = 10;
#pragma omp target enter data map(to : x)
    x[1] = 20;
    finish(x);
}

static void enter_alloc(int count)
{
    int x[3] = {1, 2, 3};
    enter(x, count);
#pragma omp target enter data map(alloc : x)
#pragma omp target map(alloc : x)
    for (int i = 0; i < 3; ++i) x[i] = 7 + i;
    finish(x);
}

// What exit data finds on the device.
static void change(int (&x)[3], int count)
{
    enter(x, count);
    if (count == 0) return;
#pragma omp target map(alloc : x)
    for (int i = 0; i < 3; ++i) x[i] += 5;
}

static void exit_from(int count)
{
    int x[3] = {1, 2, 3};
    change(x, count);
#pragma omp target exit data map(from : x)
    finish(x);
}

static void exit_release(int count)
{
    int x[3] = {1, 2, 3};
    change(x, count);
#pragma omp target exit data map(release : x)
    finish(x);
}

static void exit_delete(int count)
{
    int x[3] = {1, 2, 3};
    change(x, count);
#pragma omp target exit data map(delete : x)
    finish(x);
}

static void update_to(int count)
{
    int x[3] = {1, 2, 3};
    change(x, count);
    x[0] = 10;
#pragma omp target update to(x)
    x[0] = 20;
    finish(x);
}

static void update_from(int count)
{
    int x[3] = {1, 2, 3};
    change(x, count);
#pragma omp target update from(x)
    finish(x);
}

ORACLE_CASE(target_to_at_count_0) { target_to(0); }
ORACLE_CASE(target_to_at_count_1) { target_to(1); }
ORACLE_CASE(target_to_at_count_2) { target_to(2); }
ORACLE_CASE(target_from_at_count_0) { target_from(0); }
ORACLE_CASE(target_from_at_count_1) { target_from(1); }
ORACLE_CASE(target_from_at_count_2) { target_from(2); }
ORACLE_CASE(target_tofrom_at_count_0) { target_tofrom(0); }
ORACLE_CASE(target_tofrom_at_count_1) { target_tofrom(1); }
ORACLE_CASE(target_tofrom_at_count_2) { target_tofrom(2); }
ORACLE_CASE(target_alloc_at_count_0) { target_alloc(0); }
ORACLE_CASE(target_alloc_at_count_1) { target_alloc(1); }
ORACLE_CASE(target_alloc_at_count_2) { target_alloc(2); }
ORACLE_CASE(enter_to_at_count_0) { enter_to(0); }
ORACLE_CASE(enter_to_at_count_1) { enter_to(1); }
ORACLE_CASE(enter_to_at_count_2) { enter_to(2); }
ORACLE_CASE(enter_alloc_at_count_0) { enter_alloc(0); }
ORACLE_CASE(enter_alloc_at_count_1) { enter_alloc(1); }
ORACLE_CASE(enter_alloc_at_count_2) { enter_alloc(2); }
ORACLE_CASE(exit_from_at_count_0) { exit_from(0); }
ORACLE_CASE(exit_from_at_count_1) { exit_from(1); }
ORACLE_CASE(exit_from_at_count_2) { exit_from(2); }
ORACLE_CASE(exit_release_at_count_0) { exit_release(0); }
ORACLE_CASE(exit_release_at_count_1) { exit_release(1); }
ORACLE_CASE(exit_release_at_count_2) { exit_release(2); }
ORACLE_CASE(exit_delete_at_count_0) { exit_delete(0); }
ORACLE_CASE(exit_delete_at_count_1) { exit_delete(1); }
ORACLE_CASE(exit_delete_at_count_2) { exit_delete(2); }
ORACLE_CASE(update_to_at_count_0) { update_to(0); }
ORACLE_CASE(update_to_at_count_1) { update_to(1); }
ORACLE_CASE(update_to_at_count_2) { update_to(2); }
ORACLE_CASE(update_from_at_count_0) { update_from(0); }
ORACLE_CASE(update_from_at_count_1) { update_from(1); }
ORACLE_CASE(update_from_at_count_2) { update_from(2); }
