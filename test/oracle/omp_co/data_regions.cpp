// SPDX-License-Identifier: BSL-1.0
// target data: its map types on data that has been mapped 0, 1 and 2 times before, and constructs inside it.
#include "bed.hpp"

using namespace oracle;
using body = boost::asio::awaitable<void>;

static void enter(int (&x)[3], int count)
{
    for (int i = 0; i < count; ++i) enter_data(omp_co::to(x));
}

static auto add_five(int (&x)[3])
{
    auto const add = [](int* p) {
        for (int i = 0; i < 3; ++i) p[i] += 5;
    };
    return omp_co::target(dev(), add, omp_co::alloc(x));
}

static auto write_sevens(int (&x)[3])
{
    auto const write = [](int* p) {
        for (int i = 0; i < 3; ++i) p[i] = 7 + i;
    };
    return omp_co::target(dev(), write, omp_co::alloc(x));
}

static void finish(int (&x)[3])
{
    show_array("host", x);
    show("count", drain(x));
}

// Runs a data region with one clause.
template <class Clause, class Body>
static void data(Clause clause, Body& inside)
{
    omp_co::sync_wait(omp_co::target_data(dev(), clause, inside));
}

static void data_to(int count)
{
    int x[3] = {1, 2, 3};
    enter(x, count);
    x[0] = 10;
    auto inside = [&]() -> body {
        co_await add_five(x);
        co_await omp_co::target_update(dev(), omp_co::from(x));
        show_array("inside", x);
        x[0] = 30;
    };
    data(omp_co::to(x), inside);
    finish(x);
}

static void data_from(int count)
{
    int x[3] = {1, 2, 3};
    enter(x, count);
    auto inside = [&]() -> body {
        co_await write_sevens(x);
        show_array("inside", x);
    };
    data(omp_co::from(x), inside);
    finish(x);
}

static void data_tofrom(int count)
{
    int x[3] = {1, 2, 3};
    enter(x, count);
    x[0] = 10;
    auto inside = [&]() -> body {
        co_await add_five(x);
        show_array("inside", x);
    };
    data(omp_co::tofrom(x), inside);
    finish(x);
}

static void data_alloc(int count)
{
    int x[3] = {1, 2, 3};
    enter(x, count);
    auto inside = [&]() -> body {
        co_await write_sevens(x);
        show("present", present(x));
    };
    data(omp_co::alloc(x), inside);
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
    auto inside = [&]() -> body {
        x[0] = 100;
        auto const add = [](int* p) {
            for (int i = 0; i < 3; ++i) p[i] += 5;
        };
        co_await omp_co::target(dev(), add, omp_co::tofrom(x));
        show_array("inside", x);
    };
    data(omp_co::tofrom(x), inside);
    finish(x);
}

ORACLE_CASE(data_inside_data_copies_at_the_outer_end)
{
    int x[3] = {1, 2, 3};
    auto inner = [&]() -> body { co_await add_five(x); };
    auto outer = [&]() -> body {
        co_await write_sevens(x);
        co_await omp_co::target_data(dev(), omp_co::tofrom(x), inner);
        show_array("between", x);
    };
    data(omp_co::from(x), outer);
    finish(x);
}

ORACLE_CASE(data_inside_data_of_another_type)
{
    int x[3] = {1, 2, 3};
    auto inner = [&]() -> body { co_await add_five(x); };
    auto outer = [&]() -> body {
        co_await omp_co::target_data(dev(), omp_co::from(x), inner);
        show_array("between", x);
        show("present", present(x));
    };
    data(omp_co::to(x), outer);
    finish(x);
}

ORACLE_CASE(enter_data_inside_data_outlives_it)
{
    int x[3] = {1, 2, 3};
    auto inside = [&]() -> body {
        co_await omp_co::target_enter_data(dev(), omp_co::to(x));
        co_await add_five(x);
    };
    data(omp_co::tofrom(x), inside);
    show_array("after", x);
    show("present", present(x));
    exit_data(omp_co::from(x));
    finish(x);
}

ORACLE_CASE(delete_inside_data_ends_its_mapping)
{
    int x[3] = {1, 2, 3};
    auto inside = [&]() -> body {
        co_await add_five(x);
        co_await omp_co::target_exit_data(dev(), omp_co::delete_(x));
        show("present", present(x));
    };
    data(omp_co::tofrom(x), inside);
    finish(x);
}

ORACLE_CASE(release_inside_data_ends_its_mapping)
{
    int x[3] = {1, 2, 3};
    auto inside = [&]() -> body {
        co_await add_five(x);
        co_await omp_co::target_exit_data(dev(), omp_co::release(x));
        show("present", present(x));
        x[1] = 50;
    };
    data(omp_co::tofrom(x), inside);
    finish(x);
}

ORACLE_CASE(exit_from_inside_data_copies_at_once)
{
    int x[3] = {1, 2, 3};
    auto inside = [&]() -> body {
        co_await add_five(x);
        co_await omp_co::target_exit_data(dev(), omp_co::from(x));
        show_array("inside", x);
        show("present", present(x));
    };
    data(omp_co::to(x), inside);
    finish(x);
}

ORACLE_CASE(updates_inside_data)
{
    int x[3] = {1, 2, 3};
    auto inside = [&]() -> body {
        x[0] = 100;
        co_await omp_co::target_update(dev(), omp_co::to(x));
        co_await add_five(x);
        co_await omp_co::target_update(dev(), omp_co::from(x));
        show_array("inside", x);
        x[2] = 0;
    };
    data(omp_co::to(x), inside);
    finish(x);
}

ORACLE_CASE(entered_again_inside_data_after_a_delete)
{
    int x[3] = {1, 2, 3};
    auto inside = [&]() -> body {
        co_await add_five(x);
        co_await omp_co::target_exit_data(dev(), omp_co::delete_(x));
        x[0] = 50;
        co_await omp_co::target_enter_data(dev(), omp_co::to(x));
        co_await add_five(x);
    };
    data(omp_co::tofrom(x), inside);
    finish(x);
}

static body nest(int (&x)[3], int depth)
{
    auto inside = [&]() -> body {
        co_await add_five(x);
        if (depth > 1) co_await nest(x, depth - 1);
        show("inside", x[0], present(x));
    };
    co_await omp_co::target_data(dev(), omp_co::tofrom(x), inside);
}

ORACLE_CASE(data_regions_four_deep)
{
    int x[3] = {1, 2, 3};
    omp_co::sync_wait(nest(x, 4));
    finish(x);
}

ORACLE_CASE(enter_and_exit_alternate)
{
    int x[3] = {1, 2, 3};
    for (int i = 0; i < 3; ++i) {
        enter(x, 2);
        omp_co::sync_wait(add_five(x));
        exit_data(omp_co::release(x));
        show("present", present(x));
    }
    show_array("host", x);
    for (int i = 0; i < 3; ++i) {
        exit_data(omp_co::from(x));
        show("present", present(x));
    }
    finish(x);
}

ORACLE_CASE(several_items_in_one_data_region)
{
    int a[3] = {1, 2, 3};
    int b[3] = {4, 5, 6};
    int c[3] = {7, 8, 9};
    int n = 2;
    enter(b, 1);
    auto inside = [&]() -> body {
        auto const work = [](int* p, int* q, int* r, int* m) {
            *m += 40;
            for (int i = 0; i < 3; ++i) {
                r[i] = p[i] + q[i] + *m;
                p[i] = q[i] = 0;
            }
        };
        co_await omp_co::target(dev(), work, omp_co::alloc(a), omp_co::alloc(b), omp_co::alloc(c),
                                omp_co::alloc(n));
        show("present", present(a), present(b), present(c), present(&n));
    };
    omp_co::sync_wait(omp_co::target_data(dev(), omp_co::to(a), omp_co::tofrom(b), omp_co::tofrom(n),
                                          omp_co::from(c), inside));
    show("present", present(a), present(b), present(c), present(&n));
    show_array("a", a);
    show_array("c", c);
    show("n", n);
    finish(b);
}
