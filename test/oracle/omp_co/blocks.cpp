// SPDX-License-Identifier: BSL-1.0
// Blocks of arrays and strides, by target_update.
#include "bed.hpp"

using namespace oracle;
using omp_co::section;

static void add_five(int* x, int count)
{
    auto const add = [](int i, int* p) { p[i] += 5; };
    run(add, omp_co::range(count), omp_co::alloc(section(x, 0, count)));
}

ORACLE_CASE(rows_of_a_matrix)
{
    int x[4][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}};
    enter_data(omp_co::to(x));
    add_five(x[0], 12);
    update(omp_co::from(section(x, 1, 2)));
    for (auto const& row : x) show_array("row", row);
    show("count", drain(&x[0][0], 12));
}

ORACLE_CASE(first_columns_of_a_matrix)
{
    int x[4][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}};
    enter_data(omp_co::to(x));
    add_five(x[0], 12);
    update(omp_co::from(omp_co::section2d(x[0], {4, 3}, {1, 0}, {2, 2})));
    for (auto const& row : x) show_array("row", row);
    show("count", drain(&x[0][0], 12));
}

ORACLE_CASE(a_block_of_a_matrix_comes_back)
{
    int x[4][5] = {};
    enter_data(omp_co::to(x));
    add_five(x[0], 20);
    update(omp_co::from(omp_co::section2d(x[0], {4, 5}, {1, 2}, {2, 3})));
    for (auto const& row : x) show_array("row", row);
    show("count", drain(&x[0][0], 20));
}

ORACLE_CASE(a_block_of_a_matrix_goes_there)
{
    int x[4][5] = {};
    enter_data(omp_co::to(x));
    for (auto& row : x)
        for (int& v : row) v = 7;
    update(omp_co::to(omp_co::section2d(x[0], {4, 5}, {1, 4}, {3, 1})));
    update(omp_co::from(x));
    for (auto const& row : x) show_array("row", row);
    show("count", drain(&x[0][0], 20));
}

ORACLE_CASE(a_block_in_three_dimensions)
{
    int x[3][3][4] = {};
    enter_data(omp_co::to(x));
    add_five(x[0][0], 36);
    update(omp_co::from(omp_co::section3d(x[0][0], {3, 3, 4}, {1, 0, 1}, {2, 2, 2})));
    for (auto const& slice : x)
        for (auto const& row : slice) show_array("row", row);
    show("count", drain(&x[0][0][0], 36));
}

ORACLE_CASE(a_block_of_no_size)
{
    int x[4][5] = {};
    enter_data(omp_co::to(x));
    add_five(x[0], 20);
    update(omp_co::from(omp_co::section2d(x[0], {4, 5}, {1, 2}, {0, 3})));
    for (auto const& row : x) show_array("row", row);
    show("count", drain(&x[0][0], 20));
}

ORACLE_CASE(every_second_element)
{
    int x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    int* const p = x;
    enter_data(omp_co::to(x));
    add_five(x, 8);
    update(omp_co::from(section(p, 0, 4, 2)));
    show_array("host", x);
    show("count", drain(x));
}

ORACLE_CASE(every_third_element_goes_there)
{
    int x[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    int* const p = x;
    enter_data(omp_co::to(x));
    for (int& v : x) v *= 10;
    update(omp_co::to(section(p, 0, 3, 3)));
    update(omp_co::from(x));
    show_array("device", x);
    show("count", drain(x));
}
