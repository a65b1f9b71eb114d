// SPDX-License-Identifier: BSL-1.0
// Array sections: parts of mapped data, neighbours, pieces, sections of no length.
#include "bed.hpp"

using namespace oracle;

static void add_five(int* p, int count)
{
#pragma omp target map(alloc : p [0:count])
    for (int i = 0; i < count; ++i) p[i] += 5;
}

ORACLE_CASE(a_part_of_mapped_data_is_mapped)
{
    int x[6] = {1, 2, 3, 4, 5, 6};
#pragma omp target enter data map(to : x)
#pragma omp target map(tofrom : x [2:3])
    for (int i = 2; i < 5; ++i) x[i] *= 10;
    show_array("host", x);
#pragma omp target update from(x)
    show_array("device", x);
    show("count", drain(x));
}

ORACLE_CASE(a_part_counts_on_the_whole)
{
    int x[6] = {1, 2, 3, 4, 5, 6};
#pragma omp target enter data map(to : x)
#pragma omp target enter data map(to : x [2:2])
    show("present", present(x), present(x + 2), present(x + 5));
#pragma omp target exit data map(release : x)
    show("present", present(x), present(x + 2), present(x + 5));
#pragma omp target exit data map(release : x [4:1])
    show("present", present(x), present(x + 2), present(x + 5));
}

ORACLE_CASE(deleting_a_part_ends_the_whole)
{
    int x[6] = {1, 2, 3, 4, 5, 6};
#pragma omp target enter data map(to : x)
#pragma omp target enter data map(to : x)
#pragma omp target exit data map(delete : x [3:1])
    show("present", present(x), present(x + 3), present(x + 5));
}

// The whole goes; only what the clause names is copied back.
ORACLE_CASE(exit_from_of_a_part_copies_that_part)
{
    int x[6] = {1, 2, 3, 4, 5, 6};
#pragma omp target enter data map(to : x)
    add_five(x, 6);
#pragma omp target exit data map(from : x [1:2])
    show_array("host", x);
    show("present", present(x), present(x + 5));
}

ORACLE_CASE(updates_of_parts)
{
    int x[6] = {1, 2, 3, 4, 5, 6};
#pragma omp target enter data map(to : x)
    for (int& v : x) v = 0;
#pragma omp target update to(x [0:2])
    add_five(x, 6);
#pragma omp target update from(x [1:3])
    show_array("host", x);
#pragma omp target update from(x)
    show_array("device", x);
    show("count", drain(x));
}

ORACLE_CASE(updates_of_several_parts)
{
    int x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
#pragma omp target enter data map(to : x)
    add_five(x, 8);
    x[7] = 70;
    // clang takes one part of an array in an update: the others by names of their own.
    int* middle = x + 3;
    int* last = x + 7;
#pragma omp target update from(x [0:1], middle [0:2]) to(last [0:1])
    show_array("host", x);
#pragma omp target update from(x)
    show_array("device", x);
    show("count", drain(x));
}

ORACLE_CASE(neighbours_are_mapped_apart)
{
    int x[6] = {1, 2, 3, 4, 5, 6};
#pragma omp target enter data map(to : x [0:3])
    show("present", present(x + 2), present(x + 3));
#pragma omp target enter data map(to : x [3:3])
    show("present", present(x + 2), present(x + 3));
    add_five(x, 3);
    add_five(x + 3, 3);
#pragma omp target exit data map(from : x [0:3])
    show_array("host", x);
    show("present", present(x + 2), present(x + 3));
#pragma omp target exit data map(from : x [3:3])
    show_array("host", x);
    show("present", present(x + 2), present(x + 3));
}

ORACLE_CASE(neighbours_count_apart)
{
    int x[6] = {1, 2, 3, 4, 5, 6};
#pragma omp target enter data map(to : x [0:3], x [3:3])
#pragma omp target enter data map(to : x [3:3])
#pragma omp target enter data map(to : x [4:1])
    show("left", drain(x, 3));
    show("right", drain(x + 3, 3));
}

ORACLE_CASE(pieces_with_a_gap)
{
    int x[7] = {1, 2, 3, 4, 5, 6, 7};
#pragma omp target enter data map(to : x [0:2]) map(to : x [5:2])
    show("present", present(x + 1), present(x + 2), present(x + 4), present(x + 5));
    add_five(x, 2);
    add_five(x + 5, 2);
#pragma omp target update from(x [0:2])
#pragma omp target update from(x [5:2])
    show_array("host", x);
#pragma omp target exit data map(delete : x [0:2])
    show("present", present(x + 1), present(x + 2), present(x + 4), present(x + 5));
#pragma omp target enter data map(to : x [1:3])
    show("present", present(x), present(x + 1), present(x + 3), present(x + 4));
#pragma omp target exit data map(delete : x [1:3], x [5:2])
    show("present", present(x), present(x + 1), present(x + 3), present(x + 5));
}

ORACLE_CASE(the_whole_after_its_pieces)
{
    int x[6] = {1, 2, 3, 4, 5, 6};
#pragma omp target enter data map(to : x [0:3], x [3:3])
#pragma omp target exit data map(release : x [0:3], x [3:3])
#pragma omp target enter data map(to : x)
    show("present", present(x), present(x + 5));
    show("count", drain(x));
}

ORACLE_CASE(two_parts_of_mapped_data_in_one_region)
{
    int x[6] = {1, 2, 3, 4, 5, 6};
    int* left = x;
    int* right = x + 4;
#pragma omp target enter data map(to : x)
#pragma omp target map(always, tofrom : left [0:2]) map(tofrom : right [0:2])
    {
        left[0] += 10;
        right[0] += 20;
    }
    show_array("host", x);
#pragma omp target update from(x)
    show_array("device", x);
    show("count", drain(x));
}

ORACLE_CASE(sections_of_pointers)
{
    int x[6] = {1, 2, 3, 4, 5, 6};
    int* p = x;
    int first = 2;
    int count = 3;
#pragma omp target map(tofrom : p [first:count])
    for (int i = first; i < first + count; ++i) p[i] *= 10;
    show_array("host", x);
    show("present", present(p + 2));
}

ORACLE_CASE(the_bounds_of_presence)
{
    char x[8] = {};
#pragma omp target enter data map(to : x [2:3])
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
#pragma omp target map(tofrom : w [1:2], c [1:3], big [1:1])
    {
        w[1].a += w[2].a;
        w[2].b = 'z';
        c[3] = 9;
        big[1] <<= 40;
    }
    show("wide", w[0].a, w[1].a, w[2].a, w[0].b, w[1].b, w[2].b);
    show_array("bytes", c);
    show_array("big", big);
}

ORACLE_CASE(large_data)
{
    constexpr int n = 1 << 20;
    static int x[n];
    for (int i = 0; i < n; ++i) x[i] = i;
#pragma omp target enter data map(to : x)
    add_five(x, n);
#pragma omp target update from(x [n / 2:10])
    show("host", x[n / 2 - 1], x[n / 2], x[n / 2 + 9], x[n / 2 + 10]);
#pragma omp target exit data map(from : x)
    show("host", x[0], x[n / 2 - 1], x[n - 1]);
}

// Sections of no length.

ORACLE_CASE(no_length_of_absent_data_maps_nothing)
{
    int x[4] = {1, 2, 3, 4};
    int* p = x;
    int none = 0;
#pragma omp target enter data map(to : p [1:none])
    show("present", present(x), present(x + 1));
#pragma omp target exit data map(release : p [1:none])
#pragma omp target update to(p [1:none])
#pragma omp target update from(p [2:none])
    show_array("host", x);
}

ORACLE_CASE(no_length_of_null_maps_nothing)
{
    int* p = nullptr;
    int none = 0;
    int ran = 0;
#pragma omp target enter data map(to : p [0:none])
#pragma omp target map(tofrom : p [0:none]) map(from : ran)
    ran = p == nullptr ? 1 : 2;
#pragma omp target exit data map(release : p [0:none])
    show("ran", ran);
}

ORACLE_CASE(no_length_of_mapped_data_finds_its_address)
{
    int x[4] = {1, 2, 3, 4};
    int* p = x;
    int none = 0;
    int seen = 0;
#pragma omp target enter data map(to : x)
    x[1] = 20;
#pragma omp target map(tofrom : p [1:none]) map(from : seen)
    {
        seen = p[1];
        p[1] = 30;
    }
    show("seen", seen);
    show_array("host", x);
#pragma omp target update from(x)
    show_array("device", x);
    show("count", drain(x));
}

ORACLE_CASE(no_length_copies_nothing)
{
    int x[4] = {1, 2, 3, 4};
    int* p = x;
    int none = 0;
#pragma omp target enter data map(to : x)
    x[1] = 20;
#pragma omp target enter data map(always, to : p [1:none])
#pragma omp target exit data map(release : p [1:none])
#pragma omp target update to(p [1:none])
#pragma omp target update from(x)
    show_array("device", x);
    show("count", drain(x));
}

// Whether a section of no length counts is open in OpenMP: LLVM counts it on what it finds, in omp_co it only looks up. So
// these show only what is the same for both.

ORACLE_CASE(entered_with_no_length)
{
    int x[4] = {1, 2, 3, 4};
    int* p = x;
    int none = 0;
#pragma omp target enter data map(to : x)
#pragma omp target enter data map(to : p [1:none])
    show("present", present(x));
    drain(x);
    show("present", present(x));
}

ORACLE_CASE(released_with_no_length)
{
    int x[4] = {1, 2, 3, 4};
    int* p = x;
    int none = 0;
#pragma omp target enter data map(to : x)
#pragma omp target enter data map(to : x)
#pragma omp target exit data map(release : p [1:none])
    show("present", present(x));
    drain(x);
    show("present", present(x));
}

ORACLE_CASE(deleted_with_no_length)
{
    int x[4] = {1, 2, 3, 4};
    int* p = x;
    int none = 0;
#pragma omp target enter data map(to : x)
    add_five(x, 4);
#pragma omp target exit data map(delete : p [1:none])
    show_array("host", x);
    drain(x);
    show("present", present(x));
}
