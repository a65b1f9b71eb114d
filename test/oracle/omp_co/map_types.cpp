// SPDX-License-Identifier: BSL-1.0
// Every map type on data that has been mapped 0, 1 and 2 times before.
#include "bed.hpp"

using namespace oracle;

static void enter(int (&x)[3], int count)
{
    for (int i = 0; i < count; ++i) enter_data(omp_co::to(x));
}

// The host's values, the device's ones if there are any, and the count.
static void finish(int (&x)[3])
{
    show_array("host", x);
    show("present", present(x));
    update(omp_co::from(x));
    show_array("device", x);
    show("count", drain(x));
}

static void target_to(int count)
{
    int x[3] = {1, 2, 3};
    int seen = 0;
    enter(x, count);
    x[0] = 10;
    auto const look = [](int const* p, int* s) { *s = p[0] + p[2]; };
    run(look, omp_co::to(x), omp_co::from(seen));
    show("seen", seen);
    finish(x);
}

static void target_from(int count)
{
    int x[3] = {1, 2, 3};
    enter(x, count);
    auto const write = [](int* p) {
        for (int i = 0; i < 3; ++i) p[i] = 7 + i;
    };
    run(write, omp_co::from(x));
    finish(x);
}

static void target_tofrom(int count)
{
    int x[3] = {1, 2, 3};
    enter(x, count);
    x[0] = 10;
    auto const add = [](int* p) {
        for (int i = 0; i < 3; ++i) p[i] += 5;
    };
    run(add, omp_co::tofrom(x));
    finish(x);
}

static void target_alloc(int count)
{
    int x[3] = {1, 2, 3};
    int seen = 0;
    enter(x, count);
    auto const write = [](int* p, int* s) {
        for (int i = 0; i < 3; ++i) p[i] = 7 + i;
        *s = p[0] + p[2];
    };
    run(write, omp_co::alloc(x), omp_co::from(seen));
    show("seen", seen);
    finish(x);
}

static void enter_to(int count)
{
    int x[3] = {1, 2, 3};
    enter(x, count);
    x[0] = 10;
    enter_data(omp_co::to(x));
    x[1] = 20;
    finish(x);
}

static void enter_alloc(int count)
{
    int x[3] = {1, 2, 3};
    enter(x, count);
    enter_data(omp_co::alloc(x));
    auto const write = [](int* p) {
        for (int i = 0; i < 3; ++i) p[i] = 7 + i;
    };
    run(write, omp_co::alloc(x));
    finish(x);
}

// What exit data finds on the device.
static void change(int (&x)[3], int count)
{
    enter(x, count);
    if (count == 0) return;
    auto const add = [](int* p) {
        for (int i = 0; i < 3; ++i) p[i] += 5;
    };
    run(add, omp_co::alloc(x));
}

static void exit_from(int count)
{
    int x[3] = {1, 2, 3};
    change(x, count);
    exit_data(omp_co::from(x));
    finish(x);
}

static void exit_release(int count)
{
    int x[3] = {1, 2, 3};
    change(x, count);
    exit_data(omp_co::release(x));
    finish(x);
}

static void exit_delete(int count)
{
    int x[3] = {1, 2, 3};
    change(x, count);
    exit_data(omp_co::delete_(x));
    finish(x);
}

static void update_to(int count)
{
    int x[3] = {1, 2, 3};
    change(x, count);
    x[0] = 10;
    update(omp_co::to(x));
    x[0] = 20;
    finish(x);
}

static void update_from(int count)
{
    int x[3] = {1, 2, 3};
    change(x, count);
    update(omp_co::from(x));
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
