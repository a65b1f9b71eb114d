// SPDX-License-Identifier: BSL-1.0
// The routines on device memory: allocation, copies, addresses, association; and global variables that are always mapped.
//
// What is not compared: associating data that is mapped already, or associated otherwise, beyond that both refuse it; and
// disassociating what is not associated, which both refuse too, in their own words.
#include "bed.hpp"

using namespace oracle;
using omp_co::section;
using omp_co::sync_wait;

static omp_co::device_buffer<int> allocate(std::size_t count)
{
    return sync_wait(omp_co::allocate<int>(dev(), count));
}

static bool refused(omp_co::error_code ec) { return ec.failed(); }

ORACLE_CASE(memcpy_there_and_back)
{
    int x[4] = {1, 2, 3, 4};
    int y[4] = {};
    auto p = allocate(4);
    sync_wait(omp_co::target_memcpy(p, x));
    sync_wait(omp_co::target_memcpy(y, p));
    show_array("y", y);
}

ORACLE_CASE(memcpy_with_offsets)
{
    int x[4] = {1, 2, 3, 4};
    int y[4] = {10, 20, 30, 40};
    auto p = allocate(4);
    sync_wait(omp_co::target_memcpy(p.section(1, 2), section(x, 2, 2)));
    sync_wait(omp_co::target_memcpy(section(y, 0, 2), p.section(1, 2)));
    show_array("y", y);
}

ORACLE_CASE(memcpy_within_the_device)
{
    int x[4] = {1, 2, 3, 4};
    auto p = allocate(4);
    auto q = allocate(4);
    sync_wait(omp_co::target_memcpy(p, x));
    sync_wait(omp_co::target_memcpy(q, p));
    sync_wait(omp_co::target_memcpy(q.section(0, 1), p.section(3, 1)));
    sync_wait(omp_co::target_memcpy(x, q));
    show_array("x", x);
}

ORACLE_CASE(memcpy_of_nothing)
{
    int x[2] = {1, 2};
    auto p = allocate(2);
    bool error = false;
    try {
        sync_wait(omp_co::target_memcpy(p, section(x, 0, 0)));
    } catch (boost::system::system_error const&) {
        error = true;
    }
    show("error", error);
    show("null", dev().allocate(0) == nullptr);
    (void)dev().deallocate(nullptr);
}

ORACLE_CASE(memset_of_device_memory)
{
    int x[4] = {1, 2, 3, 4};
    auto p = allocate(4);
    sync_wait(omp_co::target_memcpy(p, x));
    sync_wait(omp_co::target_memset(p.section(1, 2), 0xFF));
    sync_wait(omp_co::target_memcpy(x, p));
    show_array("x", x);
}

ORACLE_CASE(mapped_addresses)
{
    int x[4] = {1, 2, 3, 4};
    show("null", dev().mapped_ptr(&x[0]) == nullptr);
    enter_data(omp_co::to(section(x, 1, 2)));
    int* const p = dev().mapped_ptr(x + 1);
    show("before", dev().mapped_ptr(&x[0]) == nullptr);
    show("second", dev().mapped_ptr(x + 2) == p + 1);
    show("after", dev().mapped_ptr(x + 3) == nullptr);
    show("of null", dev().mapped_ptr(static_cast<int*>(nullptr)) == nullptr);
    show("count", drain(x + 1, 2));
}

ORACLE_CASE(memcpy_into_mapped_data)
{
    int x[3] = {1, 2, 3};
    int y[3] = {7, 8, 9};
    enter_data(omp_co::to(x));
    sync_wait(omp_co::target_memcpy(omp_co::device_section<int>(dev(), dev().mapped_ptr(&x[0]), 3), y));
    exit_data(omp_co::from(x));
    show_array("x", x);
}

ORACLE_CASE(associated_data_is_present)
{
    int x[3] = {1, 2, 3};
    auto p = allocate(3);
    show("error", refused(dev().associate(x, p.get(), sizeof x)));
    show("present", present(x), present(x + 2), present(x + 3));
    show("address", dev().mapped_ptr(x + 1) == p.get() + 1);
    show("error", refused(dev().disassociate(x)));
    show("present", present(x), present(x + 2));
}

ORACLE_CASE(associated_data_counts_for_ever)
{
    int x[3] = {1, 2, 3};
    auto p = allocate(3);
    (void)dev().associate(x, p.get(), sizeof x);
    enter_data(omp_co::to(x));
    show("count", drain(x));
    exit_data(omp_co::delete_(x));
    show("present", present(x));
    (void)dev().disassociate(x);
    show("present", present(x));
}

static constexpr auto add_five = [](int* p) {
    for (int i = 0; i < 3; ++i) p[i] += 5;
};

ORACLE_CASE(associated_data_is_copied_by_update)
{
    int x[3] = {1, 2, 3};
    auto p = allocate(3);
    (void)dev().associate(x, p.get(), sizeof x);
    update(omp_co::to(x));
    run(add_five, omp_co::tofrom(x));
    show_array("host", x);
    update(omp_co::from(x));
    show_array("device", x);
    (void)dev().disassociate(x);
}

ORACLE_CASE(associated_data_is_copied_by_always)
{
    int x[3] = {1, 2, 3};
    auto p = allocate(3);
    (void)dev().associate(x, p.get(), sizeof x);
    run(add_five, omp_co::tofrom(x, omp_co::always));
    show_array("host", x);
    (void)dev().disassociate(x);
}

ORACLE_CASE(associated_with_the_middle_of_an_allocation)
{
    int x[2] = {10, 20};
    int y[5] = {1, 2, 3, 4, 5};
    auto p = allocate(5);
    sync_wait(omp_co::target_memcpy(p, y));
    (void)dev().associate(x, p.get() + 2, sizeof x);
    auto const write = [](int* q) { q[1] = 40 + q[0]; };
    run(write, omp_co::tofrom(x));
    sync_wait(omp_co::target_memcpy(y, p));
    show_array("x", x);
    show_array("y", y);
    (void)dev().disassociate(x);
}

ORACLE_CASE(associated_again)
{
    int x[3] = {1, 2, 3};
    auto p = allocate(6);
    show("error", refused(dev().associate(x, p.get(), sizeof x)));
    show("error", refused(dev().associate(x, p.get() + 3, sizeof x)));
    show("address", dev().mapped_ptr(&x[0]) == p.get());
    (void)dev().disassociate(x);
    show("error", refused(dev().associate(x, p.get() + 3, sizeof x)));
    show("address", dev().mapped_ptr(&x[0]) == p.get() + 3);
    (void)dev().disassociate(x);
}

ORACLE_CASE(what_cannot_be_associated)
{
    int x[3] = {1, 2, 3};
    int y[3] = {1, 2, 3};
    auto p = allocate(3);
    enter_data(omp_co::to(x));
    show("mapped", refused(dev().associate(x, p.get(), sizeof x)));
    show("not associated", refused(dev().disassociate(y)));
    show("mapped", refused(dev().disassociate(x)), present(x));
    show("nothing", refused(dev().associate(y, p.get(), 0)));
    show("null", refused(dev().associate(nullptr, p.get(), sizeof x)));
    show("count", drain(x));
}

ORACLE_CASE(mapped_after_its_association)
{
    int x[3] = {1, 2, 3};
    auto p = allocate(3);
    (void)dev().associate(x, p.get(), sizeof x);
    (void)dev().disassociate(x);
    run(add_five, omp_co::tofrom(x));
    show_array("x", x);
    show("present", present(x));
}

// Global variables with declare target; for omp_co, data that is associated for the whole program.

static int table[3] = {1, 2, 3};
static int ticks = 0;

// Made by the first case that uses them; the device is there as long as the program is.
static void make_globals()
{
    static bool made = false;
    if (made) return;
    made = true;
    auto const associate = [](auto& x) {
        void* const memory = dev().allocate(sizeof x);
        (void)dev().associate(&x, memory, sizeof x);
        update(omp_co::to(x));
    };
    associate(table);
    associate(ticks);
}

ORACLE_CASE(globals_are_always_present)
{
    make_globals();
    show("present", present(table), present(table + 2), present(&ticks));
    exit_data(omp_co::delete_(table));
    exit_data(omp_co::release(table), omp_co::release(ticks));
    show("present", present(table), present(&ticks));
}

ORACLE_CASE(globals_are_not_copied_by_maps)
{
    make_globals();
    table[0] = 100;
    int seen = 0;
    auto const work = [](int* t, int* s) {
        *s = t[0];
        t[1] = 50;
    };
    run(work, omp_co::tofrom(table), omp_co::from(seen));
    show("seen", seen);
    show_array("host", table);
    update(omp_co::from(table));
    show_array("device", table);
}

// A kernel of omp_co gets all that it uses by clauses.
ORACLE_CASE(globals_without_a_clause)
{
    make_globals();
    ticks = 4;
    update(omp_co::to(ticks));
    auto const tick = [](int* t) { ++*t; };
    for (int i = 0; i < 3; ++i) run(tick, omp_co::alloc(ticks));
    show("host", ticks);
    update(omp_co::from(ticks));
    show("device", ticks);
    auto const twice = [](int* t) { *t *= 2; };
    run(twice, omp_co::tofrom(ticks, omp_co::always));
    show("always", ticks);
}

ORACLE_CASE(globals_on_the_host)
{
    make_globals();
    ticks = 4;
    update(omp_co::to(ticks));
    auto const tick = [](int* t) { ++*t; };
    run(tick, omp_co::alloc(ticks), omp_co::if_(false));
    show("host", ticks);
    update(omp_co::from(ticks));
    show("device", ticks);
}
