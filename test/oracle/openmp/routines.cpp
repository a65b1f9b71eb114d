// SPDX-License-Identifier: BSL-1.0
// The routines on device memory: allocation, copies, addresses, association; and global variables that are always mapped.
//
// What is not compared: associating data that is mapped already, or associated otherwise, beyond that both refuse it; and
// disassociating what is not associated, which both refuse too, in their own words.
#include "bed.hpp"

using namespace oracle;

static int there() { return omp_get_default_device(); }
static int here() { return omp_get_initial_device(); }

static int* allocate(std::size_t count)
{
    return static_cast<int*>(omp_target_alloc(count * sizeof(int), there()));
}

ORACLE_CASE(memcpy_there_and_back)
{
    int x[4] = {1, 2, 3, 4};
    int y[4] = {};
    int* p = allocate(4);
    omp_target_memcpy(p, x, sizeof x, 0, 0, there(), here());
    omp_target_memcpy(y, p, sizeof y, 0, 0, here(), there());
    omp_target_free(p, there());
    show_array("y", y);
}

ORACLE_CASE(memcpy_with_offsets)
{
    int x[4] = {1, 2, 3, 4};
    int y[4] = {10, 20, 30, 40};
    int* p = allocate(4);
    omp_target_memcpy(p, x, 2 * sizeof(int), sizeof(int), 2 * sizeof(int), there(), here());
    omp_target_memcpy(y, p, 2 * sizeof(int), 0, sizeof(int), here(), there());
    omp_target_free(p, there());
    show_array("y", y);
}

ORACLE_CASE(memcpy_within_the_device)
{
    int x[4] = {1, 2, 3, 4};
    int* p = allocate(4);
    int* q = allocate(4);
    omp_target_memcpy(p, x, sizeof x, 0, 0, there(), here());
    omp_target_memcpy(q, p, sizeof x, 0, 0, there(), there());
    omp_target_memcpy(q, p, sizeof(int), 0, 3 * sizeof(int), there(), there());
    omp_target_memcpy(x, q, sizeof x, 0, 0, here(), there());
    omp_target_free(p, there());
    omp_target_free(q, there());
    show_array("x", x);
}

ORACLE_CASE(memcpy_of_nothing)
{
    int x[2] = {1, 2};
    int* p = allocate(2);
    show("error", omp_target_memcpy(p, x, 0, 0, 0, there(), here()) != 0);
    omp_target_free(p, there());
    show("null", omp_target_alloc(0, there()) == nullptr);
    omp_target_free(nullptr, there());
}

ORACLE_CASE(memset_of_device_memory)
{
    int x[4] = {1, 2, 3, 4};
    int* p = allocate(4);
    omp_target_memcpy(p, x, sizeof x, 0, 0, there(), here());
    omp_target_memset(p + 1, 0xFF, 2 * sizeof(int), there());
    omp_target_memcpy(x, p, sizeof x, 0, 0, here(), there());
    omp_target_free(p, there());
    show_array("x", x);
}

ORACLE_CASE(mapped_addresses)
{
    int x[4] = {1, 2, 3, 4};
    show("null", omp_get_mapped_ptr(x, there()) == nullptr);
#pragma omp target enter data map(to : x [1:2])
    auto* const p = static_cast<int*>(omp_get_mapped_ptr(x + 1, there()));
    show("before", omp_get_mapped_ptr(x, there()) == nullptr);
    show("second", omp_get_mapped_ptr(x + 2, there()) == p + 1);
    show("after", omp_get_mapped_ptr(x + 3, there()) == nullptr);
    show("of null", omp_get_mapped_ptr(nullptr, there()) == nullptr);
    show("count", drain(x + 1, 2));
}

ORACLE_CASE(memcpy_into_mapped_data)
{
    int x[3] = {1, 2, 3};
    int y[3] = {7, 8, 9};
#pragma omp target enter data map(to : x)
    omp_target_memcpy(omp_get_mapped_ptr(x, there()), y, sizeof y, 0, 0, there(), here());
#pragma omp target exit data map(from : x)
    show_array("x", x);
}

ORACLE_CASE(associated_data_is_present)
{
    int x[3] = {1, 2, 3};
    int* p = allocate(3);
    show("error", omp_target_associate_ptr(x, p, sizeof x, 0, there()) != 0);
    show("present", present(x), present(x + 2), present(x + 3));
    show("address", omp_get_mapped_ptr(x + 1, there()) == p + 1);
    show("error", omp_target_disassociate_ptr(x, there()) != 0);
    show("present", present(x), present(x + 2));
    omp_target_free(p, there());
}

ORACLE_CASE(associated_data_counts_for_ever)
{
    int x[3] = {1, 2, 3};
    int* p = allocate(3);
    omp_target_associate_ptr(x, p, sizeof x, 0, there());
#pragma omp target enter data map(to : x)
    show("count", drain(x));
#pragma omp target exit data map(delete : x)
    show("present", present(x));
    omp_target_disassociate_ptr(x, there());
    show("present", present(x));
    omp_target_free(p, there());
}

ORACLE_CASE(associated_data_is_copied_by_update)
{
    int x[3] = {1, 2, 3};
    int* p = allocate(3);
    omp_target_associate_ptr(x, p, sizeof x, 0, there());
#pragma omp target update to(x)
#pragma omp target map(tofrom : x)
    for (int i = 0; i < 3; ++i) x[i] += 5;
    show_array("host", x);
#pragma omp target update from(x)
    show_array("device", x);
    omp_target_disassociate_ptr(x, there());
    omp_target_free(p, there());
}

ORACLE_CASE(associated_data_is_copied_by_always)
{
    int x[3] = {1, 2, 3};
    int* p = allocate(3);
    omp_target_associate_ptr(x, p, sizeof x, 0, there());
#pragma omp target map(always, tofrom : x)
    for (int i = 0; i < 3; ++i) x[i] += 5;
    show_array("host", x);
    omp_target_disassociate_ptr(x, there());
    omp_target_free(p, there());
}

ORACLE_CASE(associated_with_the_middle_of_an_allocation)
{
    int x[2] = {10, 20};
    int y[5] = {1, 2, 3, 4, 5};
    int* p = allocate(5);
    omp_target_memcpy(p, y, sizeof y, 0, 0, there(), here());
    omp_target_associate_ptr(x, p, sizeof x, 2 * sizeof(int), there());
#pragma omp target map(tofrom : x)
    x[1] = 40 + x[0];
    omp_target_memcpy(y, p, sizeof y, 0, 0, here(), there());
    show_array("x", x);
    show_array("y", y);
    omp_target_disassociate_ptr(x, there());
    omp_target_free(p, there());
}

ORACLE_CASE(associated_again)
{
    int x[3] = {1, 2, 3};
    int* p = allocate(6);
    show("error", omp_target_associate_ptr(x, p, sizeof x, 0, there()) != 0);
    show("error", omp_target_associate_ptr(x, p + 3, sizeof x, 0, there()) != 0);
    show("address", omp_get_mapped_ptr(x, there()) == p);
    omp_target_disassociate_ptr(x, there());
    show("error", omp_target_associate_ptr(x, p + 3, sizeof x, 0, there()) != 0);
    show("address", omp_get_mapped_ptr(x, there()) == p + 3);
    omp_target_disassociate_ptr(x, there());
    omp_target_free(p, there());
}

ORACLE_CASE(what_cannot_be_associated)
{
    int x[3] = {1, 2, 3};
    int y[3] = {1, 2, 3};
    int* p = allocate(3);
#pragma omp target enter data map(to : x)
    show("mapped", omp_target_associate_ptr(x, p, sizeof x, 0, there()) != 0);
    show("not associated", omp_target_disassociate_ptr(y, there()) != 0);
    show("mapped", omp_target_disassociate_ptr(x, there()) != 0, present(x));
    show("nothing", omp_target_associate_ptr(y, p, 0, 0, there()) != 0);
    show("null", omp_target_associate_ptr(nullptr, p, sizeof x, 0, there()) != 0);
    show("count", drain(x));
    omp_target_free(p, there());
}

ORACLE_CASE(mapped_after_its_association)
{
    int x[3] = {1, 2, 3};
    int* p = allocate(3);
    omp_target_associate_ptr(x, p, sizeof x, 0, there());
    omp_target_disassociate_ptr(x, there());
#pragma omp target map(tofrom : x)
    for (int i = 0; i < 3; ++i) x[i] += 5;
    show_array("x", x);
    show("present", present(x));
    omp_target_free(p, there());
}

// Global variables with declare target; for omp_co, data that is associated for the whole program.

#pragma omp begin declare target
int table[3] = {1, 2, 3};
int ticks = 0;
#pragma omp end declare target

ORACLE_CASE(globals_are_always_present)
{
    // LLVM loads the program's variables on to a device with the first construct that names it.
#pragma omp target
    {
    }
    show("present", present(table), present(table + 2), present(&ticks));
#pragma omp target exit data map(delete : table)
#pragma omp target exit data map(release : table, ticks)
    show("present", present(table), present(&ticks));
}

ORACLE_CASE(globals_are_not_copied_by_maps)
{
    table[0] = 100;
    int seen = 0;
#pragma omp target map(tofrom : table) map(from : seen)
    {
        seen = table[0];
        table[1] = 50;
    }
    show("seen", seen);
    show_array("host", table);
#pragma omp target update from(table)
    show_array("device", table);
}

ORACLE_CASE(globals_without_a_clause)
{
    ticks = 4;
#pragma omp target update to(ticks)
    for (int i = 0; i < 3; ++i) {
#pragma omp target
        ++ticks;
    }
    show("host", ticks);
#pragma omp target update from(ticks)
    show("device", ticks);
#pragma omp target map(always, tofrom : ticks)
    ticks *= 2;
    show("always", ticks);
}

ORACLE_CASE(globals_on_the_host)
{
    ticks = 4;
#pragma omp target update to(ticks)
#pragma omp target if (0)
    ++ticks;
    show("host", ticks);
#pragma omp target update from(ticks)
    show("device", ticks);
}
