// SPDX-License-Identifier: BSL-1.0
// Copies of boxes between arrays of different shapes, on the host and on the device.
#include "bed.hpp"

using namespace oracle;

static int here() { return omp_get_initial_device(); }
static int there() { return omp_get_default_device(); }

/// An array on the device, all of whose elements are `value`.
class array {
public:
    array(int count, int value)
        : count_(count), at_(omp_target_alloc(sizeof(int) * std::size_t(count), there()))
    {
        int* const p = get();
#pragma omp target is_device_ptr(p)
        for (int i = 0; i < count; ++i) p[i] = value;
    }
    array(array const&) = delete;
    array& operator=(array const&) = delete;
    ~array() { omp_target_free(at_, there()); }

    int* get() const { return static_cast<int*>(at_); }
    void count_up() const
    {
        int* const p = get();
        int const n = count_;
#pragma omp target is_device_ptr(p)
        for (int i = 0; i < n; ++i) p[i] += i;
    }
    void show_as(char const* what, int width) const
    {
        int* const all = new int[std::size_t(count_)];
        omp_target_memcpy(all, at_, sizeof(int) * std::size_t(count_), 0, 0, here(), there());
        show_rows(what, all, count_, width);
        delete[] all;
    }

private:
    int count_;
    void* at_;
};

using sizes = std::size_t const*;

static void in(array const& to, int const* from, int dimensions, sizes count, sizes to_first,
               sizes from_first, sizes to_extent, sizes from_extent)
{
    show("ended well", omp_target_memcpy_rect(to.get(), from, sizeof(int), dimensions, count, to_first,
                                              from_first, to_extent, from_extent, there(), here()) == 0);
}
static void out(int* to, array const& from, int dimensions, sizes count, sizes to_first, sizes from_first,
                sizes to_extent, sizes from_extent)
{
    show("ended well", omp_target_memcpy_rect(to, from.get(), sizeof(int), dimensions, count, to_first,
                                              from_first, to_extent, from_extent, here(), there()) == 0);
}
static void within(array const& to, array const& from, int dimensions, sizes count, sizes to_first,
                   sizes from_first, sizes to_extent, sizes from_extent)
{
    show("ended well", omp_target_memcpy_rect(to.get(), from.get(), sizeof(int), dimensions, count, to_first,
                                              from_first, to_extent, from_extent, there(), there()) == 0);
}

ORACLE_CASE(a_box_goes_there_in_one_dimension)
{
    int const x[6] = {1, 2, 3, 4, 5, 6};
    array const a(8, 0);
    std::size_t const count[1] = {3}, to_first[1] = {4}, from_first[1] = {2}, to[1] = {8}, from[1] = {6};
    in(a, x, 1, count, to_first, from_first, to, from);
    a.show_as("device", 8);
}

ORACLE_CASE(a_box_comes_back_in_one_dimension)
{
    int x[6] = {};
    array const a(8, 10);
    a.count_up();
    std::size_t const count[1] = {4}, to_first[1] = {1}, from_first[1] = {3}, to[1] = {6}, from[1] = {8};
    out(x, a, 1, count, to_first, from_first, to, from);
    show_array("host", x);
}

ORACLE_CASE(a_box_moves_within_the_device_in_one_dimension)
{
    array const a(8, 10);
    array const b(5, 0);
    a.count_up();
    std::size_t const count[1] = {4}, to_first[1] = {0}, from_first[1] = {4}, to[1] = {5}, from[1] = {8};
    within(b, a, 1, count, to_first, from_first, to, from);
    b.show_as("device", 5);
}

ORACLE_CASE(a_box_goes_there_between_two_widths)
{
    int const x[3][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}};
    array const a(4 * 6, 0);
    std::size_t const count[2] = {2, 3}, to_first[2] = {2, 2}, from_first[2] = {1, 1}, to[2] = {4, 6},
                      from[2] = {3, 4};
    in(a, x[0], 2, count, to_first, from_first, to, from);
    a.show_as("device", 6);
}

ORACLE_CASE(a_box_comes_back_between_two_widths)
{
    int x[5][3] = {};
    array const a(4 * 6, 100);
    a.count_up();
    std::size_t const count[2] = {3, 2}, to_first[2] = {2, 1}, from_first[2] = {0, 4}, to[2] = {5, 3},
                      from[2] = {4, 6};
    out(x[0], a, 2, count, to_first, from_first, to, from);
    show_rows("host", x[0], 15, 3);
}

ORACLE_CASE(a_box_moves_within_the_device_between_two_widths)
{
    array const a(4 * 6, 100);
    array const b(3 * 5, 0);
    a.count_up();
    std::size_t const count[2] = {3, 4}, to_first[2] = {0, 1}, from_first[2] = {1, 0}, to[2] = {3, 5},
                      from[2] = {4, 6};
    within(b, a, 2, count, to_first, from_first, to, from);
    b.show_as("device", 5);
}

ORACLE_CASE(whole_rows_on_one_side_only)
{
    int const x[3][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}};
    int y[2][4] = {};
    array const a(2 * 7, 0);
    std::size_t const count[2] = {2, 4}, first[2] = {0, 3}, zero[2] = {0, 0}, one[2] = {1, 0},
                      wide[2] = {2, 7}, tight[2] = {3, 4}, two[2] = {2, 4};
    in(a, x[0], 2, count, first, one, wide, tight);
    a.show_as("device", 7);
    out(y[0], a, 2, count, zero, first, two, wide);
    show_rows("host", y[0], 8, 4);
}

ORACLE_CASE(a_column_becomes_a_row)
{
    int const x[4][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}};
    array const a(4, 0);
    std::size_t const count[2] = {4, 1}, zero[2] = {0, 0}, last[2] = {0, 2}, to[2] = {4, 1}, from[2] = {4, 3};
    in(a, x[0], 2, count, zero, last, to, from);
    a.show_as("device", 4);
}

ORACLE_CASE(a_box_goes_there_in_three_dimensions)
{
    int x[2][3][4];
    for (int i = 0; i < 24; ++i) x[i / 12][i / 4 % 3][i % 4] = i + 1;
    array const a(3 * 4 * 5, 0);
    std::size_t const count[3] = {2, 2, 3}, to_first[3] = {1, 2, 1}, from_first[3] = {0, 1, 0},
                      to[3] = {3, 4, 5}, from[3] = {2, 3, 4};
    in(a, x[0][0], 3, count, to_first, from_first, to, from);
    a.show_as("device", 5);
}

ORACLE_CASE(a_box_comes_back_in_three_dimensions)
{
    int x[2][2][6] = {};
    array const a(3 * 4 * 5, 1000);
    a.count_up();
    std::size_t const count[3] = {2, 2, 2}, to_first[3] = {0, 0, 3}, from_first[3] = {1, 1, 2},
                      to[3] = {2, 2, 6}, from[3] = {3, 4, 5};
    out(x[0][0], a, 3, count, to_first, from_first, to, from);
    show_rows("host", x[0][0], 24, 6);
}

ORACLE_CASE(a_box_moves_within_the_device_in_three_dimensions)
{
    array const a(3 * 4 * 5, 1000);
    array const b(2 * 3 * 2, 0);
    a.count_up();
    std::size_t const count[3] = {2, 3, 2}, to_first[3] = {0, 0, 0}, from_first[3] = {1, 0, 3},
                      to[3] = {2, 3, 2}, from[3] = {3, 4, 5};
    within(b, a, 3, count, to_first, from_first, to, from);
    b.show_as("device", 2);
}

ORACLE_CASE(a_box_moves_within_one_array)
{
    array const a(4 * 6, 0);
    a.count_up();
    std::size_t const count[2] = {2, 2}, to_first[2] = {2, 4}, from_first[2] = {0, 0}, extent[2] = {4, 6};
    within(a, a, 2, count, to_first, from_first, extent, extent);
    a.show_as("device", 6);
}

ORACLE_CASE(a_box_of_nothing)
{
    int x[2][3] = {};
    array const a(6, 5);
    std::size_t const count[2] = {2, 0}, first[2] = {0, 1}, extent[2] = {2, 3};
    out(x[0], a, 2, count, first, first, extent, extent);
    in(a, x[0], 2, count, first, first, extent, extent);
    show_rows("host", x[0], 6, 3);
    a.show_as("device", 3);
}

ORACLE_CASE(a_box_of_mapped_data)
{
    int x[3][4] = {};
    int y[2][2] = {{1, 2}, {3, 4}};
#pragma omp target enter data map(to : x)
    int* const on_device = static_cast<int*>(omp_get_mapped_ptr(x, there()));
    std::size_t const count[2] = {2, 2}, to_first[2] = {1, 2}, zero[2] = {0, 0}, to[2] = {3, 4},
                      from[2] = {2, 2};
    show("ended well", omp_target_memcpy_rect(on_device, y, sizeof(int), 2, count, to_first, zero, to, from,
                                              there(), here()) == 0);
    show_rows("host", x[0], 12, 4);
#pragma omp target update from(x)
    show_rows("device", x[0], 12, 4);
    show("count", drain(x[0], 12));
}

ORACLE_CASE(a_box_moves_to_another_device)
{
    int const other = there() + 1;
    int x[5][3] = {};
    array const a(4 * 6, 100);
    a.count_up();
    void* const b = omp_target_alloc(sizeof x, other);
    omp_target_memcpy(b, x, sizeof x, 0, 0, other, here());
    std::size_t const count[2] = {3, 2}, to_first[2] = {2, 1}, from_first[2] = {1, 3}, to[2] = {5, 3},
                      from[2] = {4, 6};
    show("ended well", omp_target_memcpy_rect(b, a.get(), sizeof(int), 2, count, to_first, from_first, to,
                                              from, other, there()) == 0);
    omp_target_memcpy(x, b, sizeof x, 0, 0, here(), other);
    omp_target_free(b, other);
    show_rows("host", x[0], 15, 3);
}
