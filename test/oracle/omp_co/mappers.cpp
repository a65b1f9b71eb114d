// SPDX-License-Identifier: BSL-1.0
// mapper<T>: what belongs to a type goes with it, in every construct.
//
// What is not compared, and why the objects are static, stands in the OpenMP program's file.
#include "bed.hpp"

#include <tuple>

using namespace oracle;

namespace {

struct vec {
    int n;
    int* p;
    int tag;
};
struct pair {
    vec left;
    int k;
    vec right;
};
struct csr {
    int rows;
    int* start;
    double* values;
};

} // namespace

template <>
struct omp_co::mapper<vec> {
    static auto members(vec& v) { return std::tuple(omp_co::pointee(v.p, v.n)); }
};
template <>
struct omp_co::mapper<pair> {
    static auto members(pair& q) { return std::tuple(omp_co::nested(q.left), omp_co::nested(q.right)); }
};
template <>
struct omp_co::mapper<csr> {
    static auto members(csr& m)
    {
        return std::tuple(omp_co::pointee(m.start, m.rows + 1), omp_co::pointee(m.values, 2 * m.rows));
    }
};

static constexpr auto add = [](vec* v) {
    for (int i = 0; i < v->n; ++i) v->p[i] += 5;
    ++v->tag;
};

static void add_through(vec& v) { run(add, omp_co::tofrom(v)); }

static void show_vec(vec const& v, int const* a) { show("vec", v.n, v.p == a, present(a)); }

ORACLE_CASE(mapper_on_target)
{
    int a[3] = {1, 2, 3};
    static vec v{3, a, 0};
    add_through(v);
    show_array("a", a);
    show_vec(v, a);
    show("tag", v.tag);
}

ORACLE_CASE(mapper_with_to)
{
    int a[3] = {1, 2, 3};
    static vec v{3, a, 0};
    int sum = 0;
    auto const work = [](vec const* q, int* s) {
        for (int i = 0; i < q->n; ++i) *s += q->p[i]++;
    };
    run(work, omp_co::to(v), omp_co::tofrom(sum));
    show("sum", sum);
    show_array("a", a);
    show_vec(v, a);
}

ORACLE_CASE(mapper_on_enter_and_exit)
{
    int a[3] = {1, 2, 3};
    static vec v{3, a, 0};
    enter_data(omp_co::to(v));
    show_vec(v, a);
    add_through(v);
    show_array("a", a);
    show_vec(v, a);
    exit_data(omp_co::from(v));
    show_array("a", a);
    show_vec(v, a);
}

ORACLE_CASE(mapper_on_release)
{
    int a[3] = {1, 2, 3};
    static vec v{3, a, 0};
    enter_data(omp_co::to(v));
    add_through(v);
    exit_data(omp_co::release(v));
    show_array("a", a);
    show_vec(v, a);
}

ORACLE_CASE(mapper_on_delete)
{
    int a[3] = {1, 2, 3};
    static vec v{3, a, 0};
    enter_data(omp_co::to(v));
    add_through(v);
    exit_data(omp_co::delete_(v));
    show_array("a", a);
    show_vec(v, a);
}

ORACLE_CASE(mapper_counts_both)
{
    int a[3] = {1, 2, 3};
    static vec v{3, a, 0};
    enter_data(omp_co::to(v));
    enter_data(omp_co::to(v));
    for (int i = 0; i < 2; ++i) {
        exit_data(omp_co::release(v));
        show_vec(v, a);
    }
}

ORACLE_CASE(mapper_on_update)
{
    int a[3] = {1, 2, 3};
    static vec v{3, a, 0};
    enter_data(omp_co::to(v));
    a[1] = 20;
    v.tag = 7;
    update(omp_co::to(v));
    add_through(v);
    show_array("a", a);
    update(omp_co::from(v));
    show_array("a", a);
    show_vec(v, a);
    exit_data(omp_co::delete_(v));
    show_vec(v, a);
}

ORACLE_CASE(mapper_on_data)
{
    int a[3] = {1, 2, 3};
    static vec v{3, a, 0};
    auto inside = [&]() -> boost::asio::awaitable<void> {
        co_await omp_co::target(dev(), add, omp_co::tofrom(v));
        co_await omp_co::target(dev(), add, omp_co::tofrom(v));
        show_array("inside", a);
    };
    omp_co::sync_wait(omp_co::target_data(dev(), omp_co::tofrom(v), inside));
    show_array("a", a);
    show_vec(v, a);
}

ORACLE_CASE(mapper_of_an_empty_array)
{
    static vec v{0, nullptr, 0};
    add_through(v);
    show("vec", v.n, v.p == nullptr, v.tag);
}

ORACLE_CASE(mapper_when_the_pointee_is_mapped)
{
    int a[3] = {1, 2, 3};
    static vec v{3, a, 0};
    enter_data(omp_co::to(a));
    add_through(v);
    show_array("a", a);
    show_vec(v, a);
    exit_data(omp_co::from(a));
    show_array("a", a);
}

ORACLE_CASE(mapper_of_an_array_of_objects)
{
    int a[3][2] = {{1, 2}, {3, 4}, {5, 6}};
    static vec all[3] = {{2, a[0], 0}, {1, a[1], 0}, {2, a[2], 0}};
    auto const work = [](vec* v) {
        for (int k = 0; k < 3; ++k)
            for (int i = 0; i < v[k].n; ++i) v[k].p[i] += 10;
    };
    run(work, omp_co::tofrom(all));
    for (auto const& row : a) show_array("row", row);
    show("present", present(a[0]), present(a[1]));
}

ORACLE_CASE(mapper_of_an_array_that_stays)
{
    int a[3][2] = {{1, 2}, {3, 4}, {5, 6}};
    static vec all[3] = {{2, a[0], 0}, {2, a[1], 0}, {2, a[2], 0}};
    enter_data(omp_co::to(all));
    show("present", present(a[0]), present(a[2]));
    auto const work = [](vec* v) {
        for (int k = 0; k < 3; ++k) {
            for (int i = 0; i < v[k].n; ++i) v[k].p[i] += 10;
            ++v[k].tag;
        }
    };
    run(work, omp_co::alloc(all));
    show("a", a[0][0], a[2][1]);
    exit_data(omp_co::from(all));
    for (auto const& row : a) show_array("row", row);
    show("all", all[1].p == a[1], present(a[1]));
}

ORACLE_CASE(mapper_of_a_part_of_an_array)
{
    int a[3][2] = {{1, 2}, {3, 4}, {5, 6}};
    static vec all[3] = {{2, a[0], 0}, {2, a[1], 0}, {2, a[2], 0}};
    auto const work = [](vec* v) {
        for (int k = 0; k < 2; ++k)
            for (int i = 0; i < v[k].n; ++i) v[k].p[i] += 10;
    };
    run(work, omp_co::tofrom(omp_co::section(all, 1, 2)));
    for (auto const& row : a) show_array("row", row);
}

ORACLE_CASE(mappers_inside_mappers)
{
    int a[3] = {1, 2, 3};
    int b[2] = {10, 20};
    static pair q{{3, a, 0}, 4, {2, b, 0}};
    auto const work = [](pair* d) {
        for (int i = 0; i < d->left.n; ++i) d->left.p[i] += d->k;
        for (int i = 0; i < d->right.n; ++i) d->right.p[i] *= 2;
        d->right.tag = 8;
        d->k = 5;
    };
    run(work, omp_co::tofrom(q));
    show_array("a", a);
    show_array("b", b);
    show("pair", q.k, q.left.p == a, q.right.p == b, q.right.tag, present(a), present(b));
}

ORACLE_CASE(mapper_with_two_arrays)
{
    int start[4] = {0, 1, 3, 6};
    double values[6] = {1, 2, 3, 4, 5, 6};
    static csr m{3, start, values};
    double sum = 0;
    auto const work = [](csr* d, double* s) {
        for (int row = 0; row < d->rows; ++row)
            for (int i = d->start[row]; i < d->start[row + 1]; ++i) {
                *s += d->values[i] * row;
                d->values[i] = row;
            }
    };
    run(work, omp_co::tofrom(m), omp_co::tofrom(sum));
    show("sum", sum);
    show_array("values", values);
    show("present", present(start), present(values));
}

ORACLE_CASE(mapper_with_always)
{
    int a[3] = {1, 2, 3};
    static vec v{3, a, 0};
    enter_data(omp_co::to(v));
    add_through(v);
    show_array("a", a);
    exit_data(omp_co::from(v, omp_co::always));
    show_array("a", a);
    show_vec(v, a);
}

ORACLE_CASE(mapper_with_present)
{
    int a[3] = {1, 2, 3};
    static vec v{3, a, 0};
    enter_data(omp_co::to(v));
    auto const work = [](vec* d) {
        for (int i = 0; i < d->n; ++i) d->p[i] += 5;
    };
    run(work, omp_co::tofrom(v, omp_co::present));
    show_array("a", a);
    exit_data(omp_co::from(v));
    show_array("a", a);
}
