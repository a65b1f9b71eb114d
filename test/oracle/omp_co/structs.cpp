// SPDX-License-Identifier: BSL-1.0
// Structures: their members, pointers that are attached, pointees mapped before and after, nested ones, lists.
//
// What is not compared: whether a host pointer that the program has changed meanwhile comes back (LLVM restores the one it
// has attached, omp_co leaves the host's alone), and how often s is counted when s.p[0:n] is mapped (LLVM maps s.p with it). Nor what a pointer
// is after map(always, to: s): an attached pointer stays one for its lifetime (OpenMP 5.0, 1.2.6), but clang 19 overwrites it.
#include "bed.hpp"

using namespace oracle;
using omp_co::also;
using omp_co::attach;
using omp_co::section;

namespace {

struct plain {
    int n;
    double v;
    char text[4];
};
struct vec {
    int n;
    int* p;
    int tag;
};
struct outer {
    int k;
    vec in;
    vec other;
};
struct node {
    int value;
    node* next;
};
struct two_parts {
    int* left;
    int* right;
};

// Works through the device's pointer.
constexpr auto add = [](vec* s) {
    for (int i = 0; i < s->n; ++i) s->p[i] += 5;
    ++s->tag;
};

void add_through(vec& s) { run(add, omp_co::alloc(s)); }

} // namespace

ORACLE_CASE(a_structure_is_copied_whole)
{
    plain s{1, 2.5, "abc"};
    auto const work = [](plain* q) {
        q->n += 1;
        q->v *= 2;
        q->text[1] = 'z';
    };
    run(work, omp_co::tofrom(s));
    show("s", s.n, s.v, s.text[0], s.text[1], s.text[2]);
}

static constexpr auto look = [](vec* q) { q->tag = q->p == nullptr ? 1 : 2; };

ORACLE_CASE(a_pointer_without_its_data)
{
    int a[3] = {1, 2, 3};
    vec s{3, a, 0};
    run(look, omp_co::tofrom(s));
    show("s", s.tag, s.p == a, present(a));
}

ORACLE_CASE(a_null_pointer_in_a_structure)
{
    vec s{0, nullptr, 0};
    run(look, omp_co::tofrom(s));
    show("s", s.tag, s.p == nullptr);
}

ORACLE_CASE(structure_and_pointee_in_one_region)
{
    int a[3] = {1, 2, 3};
    vec s{3, a, 0};
    run(add, omp_co::tofrom(s), also(omp_co::tofrom(section(s.p, 0, s.n))), attach(s.p, s.n));
    show_array("a", a);
    show("s", s.n, s.p == a, s.tag, present(&s), present(a));
}

ORACLE_CASE(pointee_mapped_before)
{
    int a[3] = {1, 2, 3};
    vec s{3, a, 0};
    enter_data(omp_co::to(a));
    run(add, omp_co::tofrom(s), also(omp_co::tofrom(section(s.p, 0, s.n))), attach(s.p, s.n));
    show_array("a", a);
    show("s", s.tag, s.p == a, present(&s), present(a));
    exit_data(omp_co::from(a));
    show_array("a", a);
    show("present", present(a));
}

static void enter_with_pointee(vec& s)
{
    enter_data(omp_co::to(s));
    enter_data(omp_co::to(section(s.p, 0, s.n)), attach(s.p, s.n));
}

ORACLE_CASE(pointee_mapped_after)
{
    int a[3] = {1, 2, 3};
    vec s{3, a, 0};
    enter_with_pointee(s);
    show("present", present(&s), present(a));
    add_through(s);
    show_array("a", a);
    update(omp_co::from(a));
    show_array("a", a);
    show("s", s.tag, s.p == a);
    exit_data(omp_co::delete_(a), omp_co::delete_(s));
    show("present", present(&s), present(a));
}

ORACLE_CASE(pointee_that_is_a_part_of_mapped_data)
{
    int a[6] = {1, 2, 3, 4, 5, 6};
    vec s{3, a + 2, 0};
    enter_data(omp_co::to(a));
    run(add, omp_co::tofrom(s), also(omp_co::tofrom(section(s.p, 0, s.n))), attach(s.p, s.n));
    exit_data(omp_co::from(a));
    show_array("a", a);
    show("s", s.p == a + 2, present(a));
}

ORACLE_CASE(updates_leave_pointers_alone)
{
    int a[3] = {1, 2, 3};
    vec s{3, a, 0};
    enter_with_pointee(s);
    s.n = 2;
    s.tag = 10;
    update(omp_co::to(s));
    add_through(s);
    update(omp_co::from(s));
    show("s", s.n, s.p == a, s.tag);
    add_through(s);
    update(omp_co::from(a));
    show_array("a", a);
    exit_data(omp_co::delete_(a), omp_co::delete_(s));
}

ORACLE_CASE(always_from_leaves_pointers_alone)
{
    int a[3] = {1, 2, 3};
    vec s{3, a, 0};
    enter_with_pointee(s);
    run(add, omp_co::from(s, omp_co::always));
    show("s", s.n, s.p == a, s.tag);
    update(omp_co::from(a));
    show_array("a", a);
    exit_data(omp_co::delete_(a), omp_co::delete_(s));
}

ORACLE_CASE(exit_from_leaves_pointers_alone)
{
    int a[3] = {1, 2, 3};
    vec s{3, a, 0};
    enter_data(omp_co::to(s), omp_co::to(section(s.p, 0, s.n)), attach(s.p, s.n));
    add_through(s);
    exit_data(omp_co::from(s));
    show("s", s.tag, s.p == a, present(&s));
    exit_data(omp_co::from(a));
    show_array("a", a);
    show("present", present(a));
}

ORACLE_CASE(pointee_gone_before_its_structure)
{
    int a[3] = {1, 2, 3};
    vec s{3, a, 0};
    enter_with_pointee(s);
    add_through(s);
    exit_data(omp_co::delete_(a));
    show("present", present(&s), present(a));
    auto const count_up = [](vec* q) { ++q->tag; };
    run(count_up, omp_co::alloc(s));
    update(omp_co::from(s));
    show("s", s.tag, s.p == a);
    exit_data(omp_co::delete_(s));
}

ORACLE_CASE(a_pointer_attached_to_other_data)
{
    int a[3] = {1, 2, 3};
    int b[2] = {10, 20};
    vec s{3, a, 0};
    enter_with_pointee(s);
    add_through(s);
    s = {2, b, 0};
    update(omp_co::to(s.n));
    enter_data(omp_co::to(section(s.p, 0, s.n)), attach(s.p, s.n));
    add_through(s);
    update(omp_co::from(a));
    update(omp_co::from(b));
    show_array("a", a);
    show_array("b", b);
    show("s", s.p == b);
    exit_data(omp_co::delete_(a), omp_co::delete_(b), omp_co::delete_(s));
    show("present", present(a), present(b), present(&s));
}

ORACLE_CASE(pointers_inside_nested_structures)
{
    int a[3] = {1, 2, 3};
    int b[2] = {10, 20};
    outer o{7, {3, a, 0}, {2, b, 0}};
    auto const work = [](outer* q) {
        for (int i = 0; i < q->in.n; ++i) q->in.p[i] += q->k;
        for (int i = 0; i < q->other.n; ++i) q->other.p[i] *= 2;
        q->other.tag = 9;
    };
    run(work, omp_co::tofrom(o), also(omp_co::tofrom(section(o.in.p, 0, 3))), attach(o.in.p, 3),
        also(omp_co::tofrom(section(o.other.p, 0, 2))), attach(o.other.p, 2));
    show_array("a", a);
    show_array("b", b);
    show("o", o.k, o.in.p == a, o.other.p == b, o.other.tag, present(&o), present(a), present(b));
}

ORACLE_CASE(two_pointers_into_one_array)
{
    int a[6] = {1, 2, 3, 4, 5, 6};
    two_parts s{a, a + 3};
    enter_data(omp_co::to(a));
    auto const work = [](two_parts const* q) {
        for (int i = 0; i < 3; ++i) {
            q->left[i] += 10;
            q->right[i] += 20;
        }
    };
    run(work, omp_co::to(s), also(omp_co::tofrom(section(s.left, 0, 3))), attach(s.left, 3),
        also(omp_co::tofrom(section(s.right, 0, 3))), attach(s.right, 3));
    exit_data(omp_co::from(a));
    show_array("a", a);
    show("s", s.left == a, s.right == a + 3);
}

ORACLE_CASE(an_array_of_structures)
{
    int a[3][2] = {{1, 2}, {3, 4}, {5, 6}};
    vec all[3] = {{2, a[0], 0}, {2, a[1], 0}, {2, a[2], 0}};
    enter_data(omp_co::to(all));
    for (vec& each : all) enter_data(omp_co::to(section(each.p, 0, 2)), attach(each.p, 2));
    auto const work = [](vec* q) {
        for (int i = 0; i < 3; ++i) q[i].p[i % 2] += 10 * q[i].n;
    };
    run(work, omp_co::alloc(all));
    for (vec& each : all) exit_data(omp_co::from(section(each.p, 0, 2)));
    for (auto const& row : a) show_array("row", row);
    exit_data(omp_co::delete_(all));
    show("present", present(all), present(a[1]));
}

ORACLE_CASE(an_array_of_pointers)
{
    int a[3][2] = {{1, 2}, {3, 4}, {5, 6}};
    int* rows[3] = {a[0], a[1], a[2]};
    enter_data(omp_co::to(rows));
    for (int*& row : rows) enter_data(omp_co::to(section(row, 0, 2)), attach(row, 2));
    auto const work = [](int** p) {
        for (int i = 0; i < 3; ++i) p[i][1] += 10;
    };
    run(work, omp_co::alloc(rows));
    for (int* row : rows) exit_data(omp_co::from(section(row, 0, 2)));
    exit_data(omp_co::delete_(rows));
    for (auto const& row : a) show_array("row", row);
    show("rows", rows[0] == a[0], rows[2] == a[2], present(rows), present(a));
}

ORACLE_CASE(a_linked_list)
{
    node n[4] = {{1, nullptr}, {2, nullptr}, {3, nullptr}, {4, nullptr}};
    for (int i = 0; i < 3; ++i) n[i].next = &n[i + 1];
    enter_data(omp_co::to(n[0]));
    for (node* at = &n[0]; at->next != nullptr; at = at->next)
        enter_data(omp_co::to(section(at->next, 0, 1)), attach(at->next, 1));
    int sum = 0;
    auto const work = [](node* first, int* s) {
        for (node* at = first; at != nullptr; at = at->next) *s += at->value++;
    };
    run(work, omp_co::alloc(n[0]), omp_co::tofrom(sum));
    show("sum", sum);
    for (node& each : n) {
        exit_data(omp_co::from(each, omp_co::always));
        exit_data(omp_co::delete_(each));
    }
    show("values", n[0].value, n[1].value, n[2].value, n[3].value);
    show("next", n[0].next == &n[1], n[2].next == &n[3], n[3].next == nullptr);
    show("present", present(&n[0]), present(&n[3]));
}

ORACLE_CASE(a_member_alone)
{
    plain s{1, 2.5, "abc"};
    enter_data(omp_co::to(s.v));
    show("present", present(&s.n), present(&s.v), present(&s.text));
    s.v = 7;
    update(omp_co::to(s.v));
    s.v = 0;
    exit_data(omp_co::from(s.v));
    show("s", s.n, s.v, present(&s.v));
}

ORACLE_CASE(a_member_of_a_mapped_structure)
{
    plain s{1, 2.5, "abc"};
    enter_data(omp_co::to(s));
    auto const work = [](int* n) { *n += 5; };
    run(work, omp_co::tofrom(s.n));
    show("s", s.n);
    s.n = 40;
    s.v = 9;
    run(work, omp_co::tofrom(s.n, omp_co::always));
    show("s", s.n, s.v);
    update(omp_co::from(s));
    show("s", s.n, s.v);
    show("count", drain(&s, 1));
}

ORACLE_CASE(a_member_counts_on_its_structure)
{
    plain s{1, 2.5, "abc"};
    enter_data(omp_co::to(s));
    enter_data(omp_co::to(s.v));
    exit_data(omp_co::release(s));
    show("present", present(&s), present(&s.v));
    exit_data(omp_co::release(s.n));
    show("present", present(&s), present(&s.v));
}

ORACLE_CASE(a_structure_by_a_pointer_to_it)
{
    int a[3] = {1, 2, 3};
    vec s{3, a, 0};
    vec* q = &s;
    run(add, omp_co::tofrom(section(q, 0, 1)), also(omp_co::tofrom(section(q->p, 0, 3))), attach(q->p, 3));
    show_array("a", a);
    show("s", s.tag, s.p == a, present(q), present(a));
}
