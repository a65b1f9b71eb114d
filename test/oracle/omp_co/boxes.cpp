// SPDX-License-Identifier: BSL-1.0
// Copies of boxes between arrays of different shapes, on the host and on the device.
#include "bed.hpp"

#include <vector>

using namespace oracle;
using omp_co::device_box;
using omp_co::section2d;
using omp_co::section3d;

/// An array on the device, all of whose elements are `value`.
class array {
public:
    array(int count, int value) : memory_(omp_co::sync_wait(omp_co::allocate<int>(dev(), count)))
    {
        auto const set = [](int i, int* p, int v) { p[i] = v; };
        run(set, omp_co::range(count), omp_co::is_device_ptr(get()), omp_co::firstprivate(value));
    }

    int* get() const { return memory_.get(); }
    void count_up() const
    {
        auto const add = [](int i, int* p) { p[i] += i; };
        run(add, omp_co::range(memory_.size()), omp_co::is_device_ptr(get()));
    }
    void show_as(char const* what, int width) const
    {
        std::vector<int> all(memory_.size());
        omp_co::sync_wait(omp_co::target_memcpy(all, memory_));
        show_rows(what, all.data(), static_cast<int>(all.size()), width);
    }

private:
    omp_co::device_buffer<int> memory_;
};

template <class Box>
static auto on_device(Box const& box)
{
    return device_box(dev(), box);
}

template <class To, class From>
static void copy(To const& to, From const& from)
{
    omp_co::error_code ec;
    try {
        omp_co::sync_wait(omp_co::target_memcpy_rect(to, from));
    } catch (boost::system::system_error const& e) {
        ec = e.code();
    }
    show("ended well", !ec);
}

ORACLE_CASE(a_box_goes_there_in_one_dimension)
{
    int const x[6] = {1, 2, 3, 4, 5, 6};
    int const* const p = x;
    array const a(8, 0);
    int* const q = a.get();
    copy(on_device(omp_co::section(q, 4, 3, 1)), omp_co::section(p, 2, 3, 1));
    a.show_as("device", 8);
}

ORACLE_CASE(a_box_comes_back_in_one_dimension)
{
    int x[6] = {};
    int* const p = x;
    array const a(8, 10);
    int* const q = a.get();
    a.count_up();
    copy(omp_co::section(p, 1, 4, 1), on_device(omp_co::section(q, 3, 4, 1)));
    show_array("host", x);
}

ORACLE_CASE(a_box_moves_within_the_device_in_one_dimension)
{
    array const a(8, 10);
    array const b(5, 0);
    int* const p = a.get();
    int* const q = b.get();
    a.count_up();
    copy(on_device(omp_co::section(q, 0, 4, 1)), on_device(omp_co::section(p, 4, 4, 1)));
    b.show_as("device", 5);
}

ORACLE_CASE(a_box_goes_there_between_two_widths)
{
    int const x[3][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}};
    array const a(4 * 6, 0);
    copy(on_device(section2d(a.get(), {4, 6}, {2, 2}, {2, 3})), section2d(x[0], {3, 4}, {1, 1}, {2, 3}));
    a.show_as("device", 6);
}

ORACLE_CASE(a_box_comes_back_between_two_widths)
{
    int x[5][3] = {};
    array const a(4 * 6, 100);
    a.count_up();
    copy(section2d(x[0], {5, 3}, {2, 1}, {3, 2}), on_device(section2d(a.get(), {4, 6}, {0, 4}, {3, 2})));
    show_rows("host", x[0], 15, 3);
}

ORACLE_CASE(a_box_moves_within_the_device_between_two_widths)
{
    array const a(4 * 6, 100);
    array const b(3 * 5, 0);
    a.count_up();
    copy(on_device(section2d(b.get(), {3, 5}, {0, 1}, {3, 4})),
         on_device(section2d(a.get(), {4, 6}, {1, 0}, {3, 4})));
    b.show_as("device", 5);
}

ORACLE_CASE(whole_rows_on_one_side_only)
{
    int const x[3][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}};
    int y[2][4] = {};
    array const a(2 * 7, 0);
    auto const there = on_device(section2d(a.get(), {2, 7}, {0, 3}, {2, 4}));
    copy(there, section2d(x[0], {3, 4}, {1, 0}, {2, 4}));
    a.show_as("device", 7);
    copy(section2d(y[0], {2, 4}, {0, 0}, {2, 4}), there);
    show_rows("host", y[0], 8, 4);
}

ORACLE_CASE(a_column_becomes_a_row)
{
    int const x[4][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}};
    array const a(4, 0);
    copy(on_device(section2d(a.get(), {4, 1}, {0, 0}, {4, 1})), section2d(x[0], {4, 3}, {0, 2}, {4, 1}));
    a.show_as("device", 4);
}

ORACLE_CASE(a_box_goes_there_in_three_dimensions)
{
    int x[2][3][4];
    for (int i = 0; i < 24; ++i) x[i / 12][i / 4 % 3][i % 4] = i + 1;
    array const a(3 * 4 * 5, 0);
    copy(on_device(section3d(a.get(), {3, 4, 5}, {1, 2, 1}, {2, 2, 3})),
         section3d(x[0][0], {2, 3, 4}, {0, 1, 0}, {2, 2, 3}));
    a.show_as("device", 5);
}

ORACLE_CASE(a_box_comes_back_in_three_dimensions)
{
    int x[2][2][6] = {};
    array const a(3 * 4 * 5, 1000);
    a.count_up();
    copy(section3d(x[0][0], {2, 2, 6}, {0, 0, 3}, {2, 2, 2}),
         on_device(section3d(a.get(), {3, 4, 5}, {1, 1, 2}, {2, 2, 2})));
    show_rows("host", x[0][0], 24, 6);
}

ORACLE_CASE(a_box_moves_within_the_device_in_three_dimensions)
{
    array const a(3 * 4 * 5, 1000);
    array const b(2 * 3 * 2, 0);
    a.count_up();
    copy(on_device(section3d(b.get(), {2, 3, 2}, {0, 0, 0}, {2, 3, 2})),
         on_device(section3d(a.get(), {3, 4, 5}, {1, 0, 3}, {2, 3, 2})));
    b.show_as("device", 2);
}

ORACLE_CASE(a_box_moves_within_one_array)
{
    array const a(4 * 6, 0);
    a.count_up();
    copy(on_device(section2d(a.get(), {4, 6}, {2, 4}, {2, 2})),
         on_device(section2d(a.get(), {4, 6}, {0, 0}, {2, 2})));
    a.show_as("device", 6);
}

ORACLE_CASE(a_box_of_nothing)
{
    int x[2][3] = {};
    array const a(6, 5);
    auto const there = on_device(section2d(a.get(), {2, 3}, {0, 1}, {2, 0}));
    auto const here = section2d(x[0], {2, 3}, {0, 1}, {2, 0});
    copy(here, there);
    copy(there, here);
    show_rows("host", x[0], 6, 3);
    a.show_as("device", 3);
}

ORACLE_CASE(a_box_of_mapped_data)
{
    int x[3][4] = {};
    int y[2][2] = {{1, 2}, {3, 4}};
    enter_data(omp_co::to(x));
    int* const there = dev().mapped_ptr(x[0]);
    copy(on_device(section2d(there, {3, 4}, {1, 2}, {2, 2})), section2d(y[0], {2, 2}, {0, 0}, {2, 2}));
    show_rows("host", x[0], 12, 4);
    update(omp_co::from(x));
    show_rows("device", x[0], 12, 4);
    show("count", drain(x[0], 12));
}

ORACLE_CASE(a_box_moves_to_another_device)
{
    omp_co::host::virtual_device const other({.workers = 1});
    array const a(4 * 6, 100);
    a.count_up();
    auto const b = omp_co::sync_wait(omp_co::allocate<int>(other, 15));
    omp_co::sync_wait(omp_co::target_memset(b, 0));
    copy(device_box<int>(other, section2d(b.get(), {5, 3}, {2, 1}, {3, 2})),
         on_device(section2d(a.get(), {4, 6}, {1, 3}, {3, 2})));
    std::vector<int> all(15);
    omp_co::sync_wait(omp_co::target_memcpy(all, b));
    show_rows("host", all.data(), 15, 3);
}
