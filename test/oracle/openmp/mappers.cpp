// SPDX-License-Identifier: BSL-1.0
// declare mapper: what belongs to a type goes with it, in every construct.
//
// clang 19 counts an object with a mapper once too often when it comes and copies its own members back at any count, which the
// specification does not say. So these cases look at the arrays that belong to it; and the objects are static, so that what
// clang leaves mapped is in no other case's way. Loops over them take indices, because in `for (vec& v : all)` clang's `all`
// is not the mapped one.
#include "bed.hpp"

using namespace oracle;

struct vec {
    int n;
    int* p;
    int tag;
};
#pragma omp declare mapper(vec v) map(v.n, v.tag) map(v.p [0:v.n])

struct pair {
    vec left;
    int k;
    vec right;
};
#pragma omp declare mapper(pair q) map(tofrom : q.k) map(mapper(default), tofrom : q.left, q.right)

struct csr {
    int rows;
    int* start;
    double* values;
};
#pragma omp declare mapper(csr m) map(m.rows) map(m.start [0:m.rows + 1], m.values [0:2 * m.rows])

static void add_through(vec& v)
{
#pragma omp target map(tofrom : v)
    {
        for (int i = 0; i < v.n; ++i) v.p[i] += 5;
        ++v.tag;
    }
}

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
#pragma omp target map(to : v) map(tofrom : sum)
    for (int i = 0; i < v.n; ++i) sum += v.p[i]++;
    show("sum", sum);
    show_array("a", a);
    show_vec(v, a);
}

ORACLE_CASE(mapper_on_enter_and_exit)
{
    int a[3] = {1, 2, 3};
    static vec v{3, a, 0};
#pragma omp target enter data map(to : v)
    show_vec(v, a);
    add_through(v);
    show_array("a", a);
    show_vec(v, a);
#pragma omp target exit data map(from : v)
    show_array("a", a);
    show_vec(v, a);
}

ORACLE_CASE(mapper_on_release)
{
    int a[3] = {1, 2, 3};
    static vec v{3, a, 0};
#pragma omp target enter data map(to : v)
    add_through(v);
#pragma omp target exit data map(release : v)
    show_array("a", a);
    show_vec(v, a);
}

ORACLE_CASE(mapper_on_delete)
{
    int a[3] = {1, 2, 3};
    static vec v{3, a, 0};
#pragma omp target enter data map(to : v)
    add_through(v);
#pragma omp target exit data map(delete : v)
    show_array("a", a);
    show_vec(v, a);
}

ORACLE_CASE(mapper_counts_both)
{
    int a[3] = {1, 2, 3};
    static vec v{3, a, 0};
#pragma omp target enter data map(to : v)
#pragma omp target enter data map(to : v)
    for (int i = 0; i < 2; ++i) {
#pragma omp target exit data map(release : v)
        show_vec(v, a);
    }
}

ORACLE_CASE(mapper_on_update)
{
    int a[3] = {1, 2, 3};
    static vec v{3, a, 0};
#pragma omp target enter data map(to : v)
    a[1] = 20;
    v.tag = 7;
#pragma omp target update to(v)
    add_through(v);
    show_array("a", a);
#pragma omp target update from(v)
    show_array("a", a);
    show_vec(v, a);
#pragma omp target exit data map(delete : v)
    show_vec(v, a);
}

ORACLE_CASE(mapper_on_data)
{
    int a[3] = {1, 2, 3};
    static vec v{3, a, 0};
#pragma omp target data map(tofrom : v)
    {
        add_through(v);
        add_through(v);
        show_array("inside", a);
    }
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
#pragma omp target enter data map(to : a)
    add_through(v);
    show_array("a", a);
    show_vec(v, a);
#pragma omp target exit data map(from : a)
    show_array("a", a);
}

ORACLE_CASE(mapper_of_an_array_of_objects)
{
    int a[3][2] = {{1, 2}, {3, 4}, {5, 6}};
    static vec all[3] = {{2, a[0], 0}, {1, a[1], 0}, {2, a[2], 0}};
#pragma omp target map(tofrom : all)
    for (int k = 0; k < 3; ++k)
        for (int i = 0; i < all[k].n; ++i) all[k].p[i] += 10;
    for (auto const& row : a) show_array("row", row);
    show("present", present(a[0]), present(a[1]));
}

ORACLE_CASE(mapper_of_an_array_that_stays)
{
    int a[3][2] = {{1, 2}, {3, 4}, {5, 6}};
    static vec all[3] = {{2, a[0], 0}, {2, a[1], 0}, {2, a[2], 0}};
#pragma omp target enter data map(to : all)
    show("present", present(a[0]), present(a[2]));
#pragma omp target map(alloc : all)
    for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < all[k].n; ++i) all[k].p[i] += 10;
        ++all[k].tag;
    }
    show("a", a[0][0], a[2][1]);
#pragma omp target exit data map(from : all)
    for (auto const& row : a) show_array("row", row);
    show("all", all[1].p == a[1], present(a[1]));
}

ORACLE_CASE(mapper_of_a_part_of_an_array)
{
    int a[3][2] = {{1, 2}, {3, 4}, {5, 6}};
    static vec all[3] = {{2, a[0], 0}, {2, a[1], 0}, {2, a[2], 0}};
#pragma omp target map(tofrom : all [1:2])
    for (int k = 1; k < 3; ++k)
        for (int i = 0; i < all[k].n; ++i) all[k].p[i] += 10;
    for (auto const& row : a) show_array("row", row);
}

ORACLE_CASE(mappers_inside_mappers)
{
    int a[3] = {1, 2, 3};
    int b[2] = {10, 20};
    static pair q{{3, a, 0}, 4, {2, b, 0}};
#pragma omp target map(tofrom : q)
    {
        for (int i = 0; i < q.left.n; ++i) q.left.p[i] += q.k;
        for (int i = 0; i < q.right.n; ++i) q.right.p[i] *= 2;
        q.right.tag = 8;
        q.k = 5;
    }
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
#pragma omp target map(tofrom : m) map(tofrom : sum)
    for (int row = 0; row < m.rows; ++row)
        for (int i = m.start[row]; i < m.start[row + 1]; ++i) {
            sum += m.values[i] * row;
            m.values[i] = row;
        }
    show("sum", sum);
    show_array("values", values);
    show("present", present(start), present(values));
}

ORACLE_CASE(mapper_with_always)
{
    int a[3] = {1, 2, 3};
    static vec v{3, a, 0};
#pragma omp target enter data map(to : v)
    add_through(v);
    show_array("a", a);
#pragma omp target exit data map(always, from : v)
    show_array("a", a);
    show_vec(v, a);
}

ORACLE_CASE(mapper_with_present)
{
    int a[3] = {1, 2, 3};
    static vec v{3, a, 0};
#pragma omp target enter data map(to : v)
#pragma omp target map(present, tofrom : v)
    for (int i = 0; i < v.n; ++i) v.p[i] += 5;
    show_array("a", a);
#pragma omp target exit data map(from : v)
    show_array("a", a);
}
