// SPDX-License-Identifier: BSL-1.0
// always, present, close_ and hold. What `present` does to absent data ends OpenMP's program, so it is not here.
#include "bed.hpp"

using namespace oracle;
using body = boost::asio::awaitable<void>;
using omp_co::always;
using omp_co::hold;

static constexpr auto add = [](int* p) {
    for (int i = 0; i < 3; ++i) p[i] += 5;
};

static auto add_five(int (&x)[3]) { return omp_co::target(dev(), add, omp_co::alloc(x)); }

static auto delete_all(int (&x)[3]) { return omp_co::target_exit_data(dev(), omp_co::delete_(x)); }

static auto release_one(int (&x)[3]) { return omp_co::target_exit_data(dev(), omp_co::release(x)); }

static auto enter_one(int (&x)[3]) { return omp_co::target_enter_data(dev(), omp_co::to(x)); }

static void finish(int (&x)[3])
{
    show_array("host", x);
    update(omp_co::from(x));
    show_array("device", x);
    show("count", drain(x));
}

ORACLE_CASE(always_to_on_target)
{
    int x[3] = {1, 2, 3};
    int seen = 0;
    enter_data(omp_co::to(x));
    x[0] = 10;
    auto const look = [](int const* p, int* s) { *s = p[0] + p[1]; };
    run(look, omp_co::to(x, always), omp_co::from(seen));
    show("seen", seen);
    x[0] = 20;
    finish(x);
}

ORACLE_CASE(always_from_on_target)
{
    int x[3] = {1, 2, 3};
    enter_data(omp_co::to(x));
    x[0] = 10;
    run(add, omp_co::from(x, always));
    show_array("host", x);
    x[0] = 20;
    finish(x);
}

ORACLE_CASE(always_tofrom_on_target)
{
    int x[3] = {1, 2, 3};
    enter_data(omp_co::to(x));
    enter_data(omp_co::to(x));
    x[0] = 10;
    run(add, omp_co::tofrom(x, always));
    show_array("host", x);
    finish(x);
}

ORACLE_CASE(always_alloc_copies_nothing)
{
    int x[3] = {1, 2, 3};
    enter_data(omp_co::to(x));
    x[0] = 10;
    run(add, omp_co::alloc(x, always));
    show_array("host", x);
    finish(x);
}

ORACLE_CASE(always_to_on_enter_data)
{
    int x[3] = {1, 2, 3};
    enter_data(omp_co::to(x));
    x[0] = 10;
    enter_data(omp_co::to(x, always));
    x[0] = 20;
    finish(x);
}

ORACLE_CASE(always_from_on_exit_data)
{
    int x[3] = {1, 2, 3};
    enter_data(omp_co::to(x));
    enter_data(omp_co::to(x));
    omp_co::sync_wait(add_five(x));
    exit_data(omp_co::from(x, always));
    show_array("host", x);
    show("present", present(x));
    omp_co::sync_wait(add_five(x));
    exit_data(omp_co::from(x, always));
    show("present", present(x));
    finish(x);
}

ORACLE_CASE(always_from_of_absent_data_is_ignored)
{
    int x[3] = {1, 2, 3};
    exit_data(omp_co::from(x, always));
    finish(x);
}

ORACLE_CASE(always_delete_copies_nothing)
{
    int x[3] = {1, 2, 3};
    enter_data(omp_co::to(x));
    enter_data(omp_co::to(x));
    omp_co::sync_wait(add_five(x));
    exit_data(omp_co::delete_(x, always));
    show("present", present(x));
    finish(x);
}

ORACLE_CASE(always_tofrom_on_data)
{
    int x[3] = {1, 2, 3};
    enter_data(omp_co::to(x));
    x[0] = 10;
    auto inside = [&]() -> body {
        co_await add_five(x);
        show_array("inside", x);
    };
    omp_co::sync_wait(omp_co::target_data(dev(), omp_co::tofrom(x, always), inside));
    show_array("host", x);
    finish(x);
}

ORACLE_CASE(always_on_a_part_copies_that_part)
{
    int x[3] = {1, 2, 3};
    enter_data(omp_co::to(x));
    for (int i = 0; i < 3; ++i) x[i] = 10 * i;
    auto const one = [](int* p) { p[0] += 5; };
    run(one, omp_co::tofrom(omp_co::section(x, 1, 1), always));
    finish(x);
}

ORACLE_CASE(present_on_every_construct)
{
    int x[3] = {1, 2, 3};
    enter_data(omp_co::to(x));
    enter_data(omp_co::to(x, omp_co::present));
    run(add, omp_co::tofrom(x, omp_co::present));
    auto inside = [&]() -> body { co_await add_five(x); };
    omp_co::sync_wait(omp_co::target_data(dev(), omp_co::alloc(x, omp_co::present), inside));
    show_array("host", x);
    update(omp_co::from(x, omp_co::present));
    show_array("updated", x);
    x[0] = 0;
    update(omp_co::to(x, omp_co::present));
    exit_data(omp_co::release(x, omp_co::present));
    show("present", present(x));
    exit_data(omp_co::from(x, omp_co::present));
    show("present", present(x));
    finish(x);
}

ORACLE_CASE(present_and_always_together)
{
    int x[3] = {1, 2, 3};
    enter_data(omp_co::to(x));
    x[0] = 10;
    run(add, omp_co::tofrom(x, always, omp_co::present));
    finish(x);
}

ORACLE_CASE(present_on_a_part)
{
    int x[3] = {1, 2, 3};
    enter_data(omp_co::to(x));
    auto const one = [](int* p) { p[0] += 5; };
    run(one, omp_co::tofrom(omp_co::section(x, 1, 2), omp_co::present));
    finish(x);
}

ORACLE_CASE(present_delete)
{
    int x[3] = {1, 2, 3};
    enter_data(omp_co::to(x));
    enter_data(omp_co::to(x));
    exit_data(omp_co::delete_(x, omp_co::present));
    finish(x);
}

ORACLE_CASE(close_changes_nothing_that_can_be_seen)
{
    int x[3] = {1, 2, 3};
    enter_data(omp_co::to(x, omp_co::close_));
    x[0] = 10;
    run(add, omp_co::tofrom(x, omp_co::close_));
    finish(x);
}

// ompx_hold is for target and target data only; omp_co's hold is for enter data and exit data too.

ORACLE_CASE(held_data_survives_delete)
{
    int x[3] = {1, 2, 3};
    auto inside = [&]() -> body {
        co_await add_five(x);
        co_await delete_all(x);
        show("present", present(x));
        co_await add_five(x);
        show_array("inside", x);
    };
    omp_co::sync_wait(omp_co::target_data(dev(), omp_co::tofrom(x, hold), inside));
    finish(x);
}

ORACLE_CASE(held_data_survives_release)
{
    int x[3] = {1, 2, 3};
    auto inside = [&]() -> body {
        co_await enter_one(x);
        for (int i = 0; i < 3; ++i) co_await release_one(x);
        show("present", present(x));
        co_await add_five(x);
    };
    omp_co::sync_wait(omp_co::target_data(dev(), omp_co::tofrom(x, hold), inside));
    finish(x);
}

ORACLE_CASE(a_hold_ends_and_the_count_remains)
{
    int x[3] = {1, 2, 3};
    auto inside = [&]() -> body {
        co_await enter_one(x);
        co_await enter_one(x);
        co_await add_five(x);
    };
    omp_co::sync_wait(omp_co::target_data(dev(), omp_co::tofrom(x, hold), inside));
    show("present", present(x));
    finish(x);
}

ORACLE_CASE(held_twice)
{
    int x[3] = {1, 2, 3};
    auto inner = [&]() -> body {
        co_await add_five(x);
        co_await delete_all(x);
    };
    auto outer = [&]() -> body {
        co_await omp_co::target_data(dev(), omp_co::to(x, hold), inner);
        show("present", present(x));
        show_array("between", x);
    };
    omp_co::sync_wait(omp_co::target_data(dev(), omp_co::tofrom(x, hold), outer));
    finish(x);
}

ORACLE_CASE(delete_while_held_ends_the_other_counts)
{
    int x[3] = {1, 2, 3};
    enter_data(omp_co::to(x));
    enter_data(omp_co::to(x));
    auto inside = [&]() -> body {
        co_await add_five(x);
        co_await delete_all(x);
        show("present", present(x));
    };
    omp_co::sync_wait(omp_co::target_data(dev(), omp_co::tofrom(x, hold), inside));
    show("present", present(x));
    finish(x);
}

ORACLE_CASE(held_by_a_target_region)
{
    int x[3] = {1, 2, 3};
    run(add, omp_co::tofrom(x, hold));
    finish(x);
}

// The copy back belongs to the last count of all that goes, of either kind.
ORACLE_CASE(exit_from_while_held_copies_nothing)
{
    int x[3] = {1, 2, 3};
    auto inside = [&]() -> body {
        co_await enter_one(x);
        co_await add_five(x);
        co_await omp_co::target_exit_data(dev(), omp_co::from(x));
        show_array("inside", x);
        show("present", present(x));
    };
    omp_co::sync_wait(omp_co::target_data(dev(), omp_co::to(x, hold), inside));
    finish(x);
}
