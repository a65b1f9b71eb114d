// SPDX-License-Identifier: BSL-1.0
// Blocks of arrays and strides.
//
// clang 19 does not copy all of these as the specification says: an update of x[1:2][1:3] leaves columns out, and one of
// x[0:4:2] ignores the stride. omp_target_memcpy_rect, which is right, stands for them; a stride is the first column of a
// matrix.
#include "bed.hpp"

using namespace oracle;

static void add_five(int* p, int count)
{
#pragma omp target map(alloc : p [0:count])
    for (int i = 0; i < count; ++i) p[i] += 5;
}

static void block_copy(int* host, bool back, int dimensions, std::size_t const* count,
                       std::size_t const* first, std::size_t const* extent)
{
    int const here = omp_get_initial_device();
    int const there = omp_get_default_device();
    int* const on_device = static_cast<int*>(omp_get_mapped_ptr(host, there));
    omp_target_memcpy_rect(back ? host : on_device, back ? on_device : host, sizeof(int), dimensions, count,
                           first, first, extent, extent, back ? here : there, back ? there : here);
}

ORACLE_CASE(rows_of_a_matrix)
{
    int x[4][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}};
#pragma omp target enter data map(to : x)
    add_five(x[0], 12);
#pragma omp target update from(x [1:2])
    for (auto const& row : x) show_array("row", row);
    show("count", drain(&x[0][0], 12));
}

ORACLE_CASE(first_columns_of_a_matrix)
{
    int x[4][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}};
#pragma omp target enter data map(to : x)
    add_five(x[0], 12);
    std::size_t const count[2] = {2, 2}, first[2] = {1, 0}, extent[2] = {4, 3};
    block_copy(x[0], true, 2, count, first, extent);
    for (auto const& row : x) show_array("row", row);
    show("count", drain(&x[0][0], 12));
}

ORACLE_CASE(a_block_of_a_matrix_comes_back)
{
    int x[4][5] = {};
#pragma omp target enter data map(to : x)
    add_five(x[0], 20);
    std::size_t const count[2] = {2, 3}, first[2] = {1, 2}, extent[2] = {4, 5};
    block_copy(x[0], true, 2, count, first, extent);
    for (auto const& row : x) show_array("row", row);
    show("count", drain(&x[0][0], 20));
}

ORACLE_CASE(a_block_of_a_matrix_goes_there)
{
    int x[4][5] = {};
#pragma omp target enter data map(to : x)
    for (auto& row : x)
        for (int& v : row) v = 7;
    std::size_t const count[2] = {3, 1}, first[2] = {1, 4}, extent[2] = {4, 5};
    block_copy(x[0], false, 2, count, first, extent);
#pragma omp target update from(x)
    for (auto const& row : x) show_array("row", row);
    show("count", drain(&x[0][0], 20));
}

ORACLE_CASE(a_block_in_three_dimensions)
{
    int x[3][3][4] = {};
#pragma omp target enter data map(to : x)
    add_five(x[0][0], 36);
    std::size_t const count[3] = {2, 2, 2}, first[3] = {1, 0, 1}, extent[3] = {3, 3, 4};
    block_copy(x[0][0], true, 3, count, first, extent);
    for (auto const& slice : x)
        for (auto const& row : slice) show_array("row", row);
    show("count", drain(&x[0][0][0], 36));
}

ORACLE_CASE(a_block_of_no_size)
{
    int x[4][5] = {};
#pragma omp target enter data map(to : x)
    add_five(x[0], 20);
    std::size_t const count[2] = {0, 3}, first[2] = {1, 2}, extent[2] = {4, 5};
    block_copy(x[0], true, 2, count, first, extent);
    for (auto const& row : x) show_array("row", row);
    show("count", drain(&x[0][0], 20));
}

ORACLE_CASE(every_second_element)
{
    int x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
#pragma omp target enter data map(to : x)
    add_five(x, 8);
    std::size_t const count[2] = {4, 1}, first[2] = {0, 0}, extent[2] = {4, 2};
    block_copy(x, true, 2, count, first, extent);
    show_array("host", x);
    show("count", drain(x));
}

ORACLE_CASE(every_third_element_goes_there)
{
    int x[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
#pragma omp target enter data map(to : x)
    for (int& v : x) v *= 10;
    std::size_t const count[2] = {3, 1}, first[2] = {0, 0}, extent[2] = {3, 3};
    block_copy(x, false, 2, count, first, extent);
#pragma omp target update from(x)
    show_array("device", x);
    show("count", drain(x));
}
