// SPDX-License-Identifier: BSL-1.0
// Array sections: parts of mapped data, neighbours, pieces, sections of no length.
#include "bed.hpp"

using namespace oracle;
using omp_co::section;

static void add_five(int* x, int count)
{
    auto const add = [](int i, int* p) { p[i] += 5; };
    run(add, omp_co::range(count), omp_co::alloc(section(x, 0, count)));
}

ORACLE_CASE(a_part_of_mapped_data_is_mapped)
{
    int x[6] = {1, 2, 3, 4, 5, 6};
    enter_data(omp_co::to(x));
    auto const scale = [](int* p) {
        for (int i = 0; i < 3; ++i) p[i] *= 10;
    };
    run(scale, omp_co::tofrom(section(x, 2, 3)));
    show_array("host", x);
    update(omp_co::from(x));
    show_array("device", x);
    show("count", drain(x));
}

ORACLE_CASE(a_part_counts_on_the_whole)
{
    int x[6] = {1, 2, 3, 4, 5, 6};
    enter_data(omp_co::to(x));
    enter_data(omp_co::to(section(x, 2, 2)));
    show("present", present(x), present(x + 2), present(x + 5));
    exit_data(omp_co::release(x));
    show("present", present(x), present(x + 2), present(x + 5));
    exit_data(omp_co::release(section(x, 4, 1)));
    show("present", present(x), present(x + 2), present(x + 5));
}

ORACLE_CASE(deleting_a_part_ends_the_whole)
{
    int x[6] = {1, 2, 3, 4, 5, 6};
    enter_data(omp_co::to(x));
    enter_data(omp_co::to(x));
    exit_data(omp_co::delete_(section(x, 3, 1)));
    show("present", present(x), present(x + 3), present(x + 5));
}

// The whole goes; only what the clause names is copied back.
ORACLE_CASE(exit_from_of_a_part_copies_that_part)
{
    int x[6] = {1, 2, 3, 4, 5, 6};
    enter_data(omp_co::to(x));
    add_five(x, 6);
    exit_data(omp_co::from(section(x, 1, 2)));
    show_array("host", x);
    show("present", present(x), present(x + 5));
}

ORACLE_CASE(updates_of_parts)
{
    int x[6] = {1, 2, 3, 4, 5, 6};
    enter_data(omp_co::to(x));
    for (int& v : x) v = 0;
    update(omp_co::to(section(x, 0, 2)));
    add_five(x, 6);
    update(omp_co::from(section(x, 1, 3)));
    show_array("host", x);
    update(omp_co::from(x));
    show_array("device", x);
    show("count", drain(x));
}

ORACLE_CASE(updates_of_several_parts)
{
    int x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    enter_data(omp_co::to(x));
    add_five(x, 8);
    x[7] = 70;
    update(omp_co::from(section(x, 0, 1)), omp_co::from(section(x, 3, 2)), omp_co::to(section(x, 7, 1)));
    show_array("host", x);
    update(omp_co::from(x));
    show_array("device", x);
    show("count", drain(x));
}

ORACLE_CASE(neighbours_are_mapped_apart)
{
    int x[6] = {1, 2, 3, 4, 5, 6};
    enter_data(omp_co::to(section(x, 0, 3)));
    show("present", present(x + 2), present(x + 3));
    enter_data(omp_co::to(section(x, 3, 3)));
    show("present", present(x + 2), present(x + 3));
    add_five(x, 3);
    add_five(x + 3, 3);
    exit_data(omp_co::from(section(x, 0, 3)));
    show_array("host", x);
    show("present", present(x + 2), present(x + 3));
    exit_data(omp_co::from(section(x, 3, 3)));
    show_array("host", x);
    show("present", present(x + 2), present(x + 3));
}

ORACLE_CASE(neighbours_count_apart)
{
    int x[6] = {1, 2, 3, 4, 5, 6};
    enter_data(omp_co::to(section(x, 0, 3)), omp_co::to(section(x, 3, 3)));
    enter_data(omp_co::to(section(x, 3, 3)));
    enter_data(omp_co::to(section(x, 4, 1)));
    show("left", drain(x, 3));
    show("right", drain(x + 3, 3));
}

ORACLE_CASE(pieces_with_a_gap)
{
    int x[7] = {1, 2, 3, 4, 5, 6, 7};
    enter_data(omp_co::to(section(x, 0, 2)), omp_co::to(section(x, 5, 2)));
    show("present", present(x + 1), present(x + 2), present(x + 4), present(x + 5));
    add_five(x, 2);
    add_five(x + 5, 2);
    update(omp_co::from(section(x, 0, 2)), omp_co::from(section(x, 5, 2)));
    show_array("host", x);
    exit_data(omp_co::delete_(section(x, 0, 2)));
    show("present", present(x + 1), present(x + 2), present(x + 4), present(x + 5));
    enter_data(omp_co::to(section(x, 1, 3)));
    show("present", present(x), present(x + 1), present(x + 3), present(x + 4));
    exit_data(omp_co::delete_(section(x, 1, 3)), omp_co::delete_(section(x, 5, 2)));
    show("present", present(x), present(x + 1), present(x + 3), present(x + 5));
}

ORACLE_CASE(the_whole_after_its_pieces)
{
    int x[6] = {1, 2, 3, 4, 5, 6};
    enter_data(omp_co::to(section(x, 0, 3)), omp_co::to(section(x, 3, 3)));
    exit_data(omp_co::release(section(x, 0, 3)), omp_co::release(section(x, 3, 3)));
    enter_data(omp_co::to(x));
    show("present", present(x), present(x + 5));
    show("count", drain(x));
}

ORACLE_CASE(two_parts_of_mapped_data_in_one_region)
{
    int x[6] = {1, 2, 3, 4, 5, 6};
    enter_data(omp_co::to(x));
    auto const add = [](int* left, int* right) {
        left[0] += 10;
        right[0] += 20;
    };
    run(add, omp_co::tofrom(section(x, 0, 2), omp_co::always), omp_co::tofrom(section(x, 4, 2)));
    show_array("host", x);
    update(omp_co::from(x));
    show_array("device", x);
    show("count", drain(x));
}

ORACLE_CASE(sections_of_pointers)
{
    int x[6] = {1, 2, 3, 4, 5, 6};
    int* p = x;
    int first = 2;
    int count = 3;
    auto const scale = [](int n, int* q) {
        for (int i = 0; i < n; ++i) q[i] *= 10;
    };
    run(scale, omp_co::firstprivate(count), omp_co::tofrom(section(p, first, count)));
    show_array("host", x);
    show("present", present(p + 2));
}

ORACLE_CASE(the_bounds_of_presence)
{
    char x[8] = {};
    enter_data(omp_co::to(section(x, 2, 3)));
    for (int i = 0; i < 8; ++i) show("byte", i, present(x + i));
    show("null", present(nullptr));
    show("count", drain(x + 2, 3));
}

ORACLE_CASE(elements_of_other_sizes)
{
    struct wide {
        double a;
        char b;
    };
    wide w[3] = {{1, 'a'}, {2, 'b'}, {3, 'c'}};
    char c[5] = {1, 2, 3, 4, 5};
    long long big[2] = {1LL << 40, 2};
    auto const work = [](wide* p, char* q, long long* r) {
        p[0].a += p[1].a;
        p[1].b = 'z';
        q[2] = 9;
        r[0] <<= 40;
    };
    run(work, omp_co::tofrom(section(w, 1, 2)), omp_co::tofrom(section(c, 1, 3)),
        omp_co::tofrom(section(big, 1, 1)));
    show("wide", w[0].a, w[1].a, w[2].a, w[0].b, w[1].b, w[2].b);
    show_array("bytes", c);
    show_array("big", big);
}

ORACLE_CASE(large_data)
{
    constexpr int n = 1 << 20;
    static int x[n];
    for (int i = 0; i < n; ++i) x[i] = i;
    enter_data(omp_co::to(x));
    add_five(x, n);
    update(omp_co::from(section(x, n / 2, 10)));
    show("host", x[n / 2 - 1], x[n / 2], x[n / 2 + 9], x[n / 2 + 10]);
    exit_data(omp_co::from(x));
    show("host", x[0], x[n / 2 - 1], x[n - 1]);
}

// Sections of no length.

ORACLE_CASE(no_length_of_absent_data_maps_nothing)
{
    int x[4] = {1, 2, 3, 4};
    enter_data(omp_co::to(section(x, 1, 0)));
    show("present", present(x), present(x + 1));
    exit_data(omp_co::release(section(x, 1, 0)));
    update(omp_co::to(section(x, 1, 0)), omp_co::from(section(x, 2, 0)));
    show_array("host", x);
}

ORACLE_CASE(no_length_of_null_maps_nothing)
{
    int* const p = nullptr;
    int ran = 0;
    enter_data(omp_co::to(section(p, 0, 0)));
    auto const look = [](int* q, int* r) { *r = q == nullptr ? 1 : 2; };
    run(look, omp_co::tofrom(section(p, 0, 0)), omp_co::from(ran));
    exit_data(omp_co::release(section(p, 0, 0)));
    show("ran", ran);
}

ORACLE_CASE(no_length_of_mapped_data_finds_its_address)
{
    int x[4] = {1, 2, 3, 4};
    int seen = 0;
    enter_data(omp_co::to(x));
    x[1] = 20;
    auto const work = [](int* p, int* s) {
        *s = p[0];
        p[0] = 30;
    };
    run(work, omp_co::tofrom(section(x, 1, 0)), omp_co::from(seen));
    show("seen", seen);
    show_array("host", x);
    update(omp_co::from(x));
    show_array("device", x);
    show("count", drain(x));
}

ORACLE_CASE(no_length_copies_nothing)
{
    int x[4] = {1, 2, 3, 4};
    enter_data(omp_co::to(x));
    x[1] = 20;
    enter_data(omp_co::to(section(x, 1, 0), omp_co::always));
    exit_data(omp_co::release(section(x, 1, 0)));
    update(omp_co::to(section(x, 1, 0)));
    update(omp_co::from(x));
    show_array("device", x);
    show("count", drain(x));
}

// Whether a section of no length counts is open in OpenMP: LLVM counts it on what it finds, here it only looks up. So these
// show only what is the same for both.

ORACLE_CASE(entered_with_no_length)
{
    int x[4] = {1, 2, 3, 4};
    enter_data(omp_co::to(x));
    enter_data(omp_co::to(section(x, 1, 0)));
    show("present", present(x));
    drain(x);
    show("present", present(x));
}

ORACLE_CASE(released_with_no_length)
{
    int x[4] = {1, 2, 3, 4};
    enter_data(omp_co::to(x));
    enter_data(omp_co::to(x));
    exit_data(omp_co::release(section(x, 1, 0)));
    show("present", present(x));
    drain(x);
    show("present", present(x));
}

ORACLE_CASE(deleted_with_no_length)
{
    int x[4] = {1, 2, 3, 4};
    enter_data(omp_co::to(x));
    add_five(x, 4);
    exit_data(omp_co::delete_(section(x, 1, 0)));
    show_array("host", x);
    drain(x);
    show("present", present(x));
}
