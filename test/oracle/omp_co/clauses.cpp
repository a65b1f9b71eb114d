// SPDX-License-Identifier: BSL-1.0
// firstprivate, private, device addresses, if, iteration spaces, and what runs on the host itself.
//
// What is not compared: use_device_ptr of a pointer to absent data, which keeps its value in OpenMP 5.2, while
// device::mapped_ptr gives null.
#include "bed.hpp"

using namespace oracle;
using omp_co::firstprivate;
using omp_co::if_;
using omp_co::range;
using body = boost::asio::awaitable<void>;

ORACLE_CASE(firstprivate_is_a_copy)
{
    int n = 5;
    int seen = 0;
    auto const work = [](int m, int* s) {
        m += 2;
        *s = m;
    };
    run(work, firstprivate(n), omp_co::from(seen));
    show("n", n, seen);
}

ORACLE_CASE(firstprivate_beside_a_mapping_of_the_same)
{
    int n = 5;
    int seen = 0;
    enter_data(omp_co::to(n));
    n = 8;
    auto const work = [](int m, int* s) { *s = m++; };
    run(work, firstprivate(n), omp_co::from(seen));
    update(omp_co::from(n));
    show("n", n, seen);
    show("count", drain(&n, 1));
}

ORACLE_CASE(firstprivate_structure)
{
    struct pair {
        int a;
        double b;
    } s{1, 2.5};
    double seen = 0;
    auto const work = [](pair p, double* d) {
        p.a *= 10;
        *d = p.a + p.b;
    };
    run(work, firstprivate(s), omp_co::from(seen));
    show("s", s.a, s.b, seen);
}

ORACLE_CASE(firstprivate_pointer_keeps_its_value)
{
    int a[3] = {1, 2, 3};
    int* p = a;
    bool same = false;
    auto const work = [](int* q, bool* s) { *s = q == nullptr; };
    run(work, firstprivate(p), omp_co::also(omp_co::to(a)), omp_co::from(same));
    show("null", same, present(a));
}

ORACLE_CASE(firstprivate_in_every_iteration)
{
    int x[50] = {};
    int n = 7;
    auto const work = [](int i, int m, int* p) { p[i] = i * m; };
    run(work, range(50), firstprivate(n), omp_co::tofrom(x));
    show("x", x[0], x[1], x[49]);
}

ORACLE_CASE(private_memory)
{
    int x[20] = {};
    auto const work = [](int i, int* scratch, int* p) {
        for (int k = 0; k < 4; ++k) scratch[k] = i + k;
        p[i] = scratch[0] + scratch[3];
    };
    run(work, range(20), omp_co::private_<int>(4), omp_co::from(x));
    show("x", x[0], x[7], x[19]);
}

ORACLE_CASE(private_variable_leaves_the_original_alone)
{
    int t = 9;
    int x[10] = {};
    auto const work = [](int i, int* own, int* p) {
        *own = i * i;
        p[i] = *own;
    };
    run(work, range(10), omp_co::private_<int>(), omp_co::from(x));
    show("t", t, present(&t));
    show_array("x", x);
}

ORACLE_CASE(ranges_of_one_two_and_three_dimensions)
{
    int a[5] = {};
    int b[3][4] = {};
    int c[2][3][4] = {};
    auto const one = [](int x, int* p) { p[x] += x; };
    auto const two = [](int x, int y, int(*p)[4]) { p[y][x] += 10 * y + x; };
    auto const three = [](int x, int y, int z, int(*p)[3][4]) { p[z][y][x] += 100 * z + 10 * y + x; };
    run(one, range(5), omp_co::tofrom(a));
    run(two, range(4, 3), omp_co::tofrom(b));
    run(three, range(4, 3, 2), omp_co::tofrom(c));
    show_array("a", a);
    for (auto const& row : b) show_array("b", row);
    for (auto const& slice : c)
        for (auto const& row : slice) show_array("c", row);
}

ORACLE_CASE(an_empty_range_still_moves_data)
{
    int x[3] = {1, 2, 3};
    int none = 0;
    enter_data(omp_co::to(x));
    auto const write = [](int* p) { p[0] = 10; };
    run(write, omp_co::alloc(x));
    auto const clear = [](int i, int* p) { p[i] = 0; };
    run(clear, range(none), omp_co::from(x, omp_co::always));
    show_array("x", x);
    show("count", drain(x));
}

ORACLE_CASE(is_device_ptr_of_allocated_memory)
{
    int x[3] = {1, 2, 3};
    auto p = omp_co::sync_wait(omp_co::allocate<int>(dev(), 3));
    omp_co::sync_wait(omp_co::target_memcpy(p, x));
    auto const add = [](int* q) {
        for (int i = 0; i < 3; ++i) q[i] += 5;
    };
    run(add, omp_co::is_device_ptr(p.get()));
    omp_co::sync_wait(omp_co::target_memcpy(x, p));
    show_array("x", x);
    show("present", present(x));
}

ORACLE_CASE(is_device_ptr_beside_a_map)
{
    int x[3] = {1, 2, 3};
    auto p = omp_co::sync_wait(omp_co::allocate<int>(dev(), 3));
    auto const work = [](int* q, int const* in) {
        for (int i = 0; i < 3; ++i) q[i] = 10 * in[i];
    };
    run(work, omp_co::is_device_ptr(p.get()), omp_co::to(x));
    omp_co::sync_wait(omp_co::target_memcpy(omp_co::section(x, 1, 2), p.section(0, 2)));
    show_array("x", x);
}

ORACLE_CASE(use_device_ptr)
{
    int x[3] = {1, 2, 3};
    int* p = x;
    auto inside = [&]() -> body {
        int* const q = dev().mapped_ptr(p);
        show("moved", q != x);
        auto const add = [](int* r) {
            for (int i = 0; i < 3; ++i) r[i] += 5;
        };
        co_await omp_co::target(dev(), add, omp_co::is_device_ptr(q));
        show("same", p == x);
        show_array("inside", x);
    };
    omp_co::sync_wait(omp_co::target_data(dev(), omp_co::tofrom(omp_co::section(p, 0, 3)), inside));
    show_array("x", x);
}

ORACLE_CASE(use_device_ptr_inside_mapped_data)
{
    int x[6] = {1, 2, 3, 4, 5, 6};
    int* p = x + 2;
    enter_data(omp_co::to(x));
    auto const scale = [](int* r) {
        for (int i = 0; i < 3; ++i) r[i] *= 10;
    };
    run(scale, omp_co::is_device_ptr(dev().mapped_ptr(p)));
    update(omp_co::from(x));
    show_array("x", x);
    show("count", drain(x));
}

ORACLE_CASE(use_device_addr_and_has_device_addr)
{
    int x[3] = {1, 2, 3};
    enter_data(omp_co::to(x));
    auto const add = [](int* r) {
        for (int i = 0; i < 3; ++i) r[i] += 5;
    };
    run(add, omp_co::has_device_addr(omp_co::section(dev().mapped_ptr(&x[0]), 0, 3)));
    show_array("host", x);
    update(omp_co::from(x));
    show_array("device", x);
    show("count", drain(x));
}

static constexpr auto add_five = [](int* p) {
    for (int i = 0; i < 3; ++i) p[i] += 5;
};

static void target_if(bool condition, bool change)
{
    int x[3] = {1, 2, 3};
    enter_data(omp_co::to(x));
    if (change) x[0] = 10;
    run(add_five, omp_co::tofrom(x), if_(condition));
    show_array("host", x);
    update(omp_co::from(x));
    show_array("device", x);
    show("count", drain(x));
}

ORACLE_CASE(if_false_on_target_uses_the_host_s_data) { target_if(false, true); }

ORACLE_CASE(if_true_on_target) { target_if(true, false); }

ORACLE_CASE(if_false_on_target_maps_nothing)
{
    int x[3] = {1, 2, 3};
    auto const write = [](int* p) { p[0] = 10; };
    run(write, omp_co::tofrom(x), if_(false));
    show("present", present(x));
    show_array("x", x);
}

ORACLE_CASE(if_false_on_data_constructs)
{
    int x[3] = {1, 2, 3};
    enter_data(omp_co::to(x), if_(false));
    show("present", present(x));
    enter_data(omp_co::to(x), if_(true));
    show("present", present(x));
    x[0] = 10;
    update(omp_co::to(x), if_(false));
    update(omp_co::from(x), if_(false));
    show_array("host", x);
    exit_data(omp_co::delete_(x), if_(false));
    show("present", present(x));
    update(omp_co::from(x));
    show_array("device", x);
    show("count", drain(x));
}

ORACLE_CASE(if_false_on_data)
{
    int x[3] = {1, 2, 3};
    auto inside = [&]() -> body {
        show("present", present(x));
        x[0] = 10;
        auto const write = [](int* p) { p[1] = 20; };
        co_await omp_co::target(dev(), write, omp_co::tofrom(x));
        show_array("inside", x);
    };
    omp_co::sync_wait(omp_co::target_data(dev(), omp_co::tofrom(x), if_(false), inside));
    show_array("host", x);
    show("count", drain(x));
}

ORACLE_CASE(if_false_inside_a_data_region)
{
    int x[3] = {1, 2, 3};
    auto inside = [&]() -> body {
        auto const write = [](int* p) { p[0] = 10; };
        co_await omp_co::target(dev(), write, omp_co::tofrom(x), if_(false));
        show_array("inside", x);
    };
    omp_co::sync_wait(omp_co::target_data(dev(), omp_co::tofrom(x), inside));
    show_array("host", x);
}

ORACLE_CASE(if_false_with_a_range)
{
    int x[6] = {1, 2, 3, 4, 5, 6};
    int n = 3;
    auto const scale = [](int i, int m, int* p) { p[i] *= m; };
    run(scale, range(6), firstprivate(n), omp_co::tofrom(x), if_(false));
    show_array("x", x);
    show("present", present(x));
}

// The initial device: nothing is mapped or moved, everything is present.

ORACLE_CASE(target_on_the_initial_device)
{
    int x[3] = {1, 2, 3};
    int n = 5;
    enter_data(omp_co::to(x));
    x[0] = 10;
    auto const add = [](int* p, int m) {
        for (int i = 0; i < 3; ++i) p[i] += m;
    };
    omp_co::sync_wait(omp_co::target(omp_co::initial_device(), add, omp_co::tofrom(x), firstprivate(n)));
    show_array("host", x);
    show("count", drain(x));
}

ORACLE_CASE(data_constructs_on_the_initial_device)
{
    int x[3] = {1, 2, 3};
    omp_co::device const here = omp_co::initial_device();
    omp_co::sync_wait(omp_co::target_enter_data(here, omp_co::to(x)));
    show("present", present(x));
    x[0] = 10;
    omp_co::sync_wait(omp_co::target_update(here, omp_co::from(x)));
    show_array("host", x);
    x[1] = 20;
    omp_co::sync_wait(omp_co::target_exit_data(here, omp_co::from(x)));
    show_array("host", x);
    auto inside = [&]() -> body {
        x[2] = 30;
        co_return;
    };
    omp_co::sync_wait(omp_co::target_data(here, omp_co::tofrom(x), inside));
    show_array("host", x);
}

ORACLE_CASE(everything_is_present_on_the_initial_device)
{
    int x[3] = {1, 2, 3};
    omp_co::device const here = omp_co::initial_device();
    show("present", here.is_present(x), here.is_present(nullptr));
    show("mapped", here.mapped_ptr(&x[0]) == x);
}
