// SPDX-License-Identifier: BSL-1.0
// Structures: their members, pointers that are attached, pointees mapped before and after, nested ones, lists.
//
// What is not compared: whether a host pointer that the program has changed meanwhile comes back (LLVM restores the one it
// has attached, omp_co leaves the host's alone), and how often s is counted when s.p[0:n] is mapped (LLVM maps s.p with it). Nor what a pointer
// is after map(always, to: s): an attached pointer stays one for its lifetime (OpenMP 5.0, 1.2.6), but clang 19 overwrites it.
#include "bed.hpp"

using namespace oracle;

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
static void add_through(vec& s)
{
#pragma omp target map(alloc : s)
    {
        for (int i = 0; i < s.n; ++i) s.p[i] += 5;
        ++s.tag;
    }
}

ORACLE_CASE(a_structure_is_copied_whole)
{
    plain s{1, 2.5, "abc"};
#pragma omp target map(tofrom : s)
    {
        s.n += 1;
        s.v *= 2;
        s.text[1] = 'z';
    }
    show("s", s.n, s.v, s.text[0], s.text[1], s.text[2]);
}

ORACLE_CASE(a_pointer_without_its_data)
{
    int a[3] = {1, 2, 3};
    vec s{3, a, 0};
#pragma omp target map(tofrom : s)
    s.tag = s.p == nullptr ? 1 : 2;
    show("s", s.tag, s.p == a, present(a));
}

ORACLE_CASE(a_null_pointer_in_a_structure)
{
    vec s{0, nullptr, 0};
#pragma omp target map(tofrom : s)
    s.tag = s.p == nullptr ? 1 : 2;
    show("s", s.tag, s.p == nullptr);
}

ORACLE_CASE(structure_and_pointee_in_one_region)
{
    int a[3] = {1, 2, 3};
    vec s{3, a, 0};
#pragma omp target map(tofrom : s) map(tofrom : s.p [0:s.n])
    {
        for (int i = 0; i < s.n; ++i) s.p[i] += 5;
        ++s.tag;
    }
    show_array("a", a);
    show("s", s.n, s.p == a, s.tag, present(&s), present(a));
}

ORACLE_CASE(pointee_mapped_before)
{
    int a[3] = {1, 2, 3};
    vec s{3, a, 0};
#pragma omp target enter data map(to : a)
#pragma omp target map(tofrom : s) map(tofrom : s.p [0:s.n])
    {
        for (int i = 0; i < s.n; ++i) s.p[i] += 5;
        ++s.tag;
    }
    show_array("a", a);
    show("s", s.tag, s.p == a, present(&s), present(a));
#pragma omp target exit data map(from : a)
    show_array("a", a);
    show("present", present(a));
}

ORACLE_CASE(pointee_mapped_after)
{
    int a[3] = {1, 2, 3};
    vec s{3, a, 0};
#pragma omp target enter data map(to : s)
#pragma omp target enter data map(to : s.p [0:s.n])
    show("present", present(&s), present(a));
    add_through(s);
    show_array("a", a);
#pragma omp target update from(a)
    show_array("a", a);
    show("s", s.tag, s.p == a);
#pragma omp target exit data map(delete : a) map(delete : s)
    show("present", present(&s), present(a));
}

ORACLE_CASE(pointee_that_is_a_part_of_mapped_data)
{
    int a[6] = {1, 2, 3, 4, 5, 6};
    vec s{3, a + 2, 0};
#pragma omp target enter data map(to : a)
#pragma omp target map(tofrom : s) map(tofrom : s.p [0:s.n])
    for (int i = 0; i < s.n; ++i) s.p[i] += 5;
#pragma omp target exit data map(from : a)
    show_array("a", a);
    show("s", s.p == a + 2, present(a));
}

ORACLE_CASE(updates_leave_pointers_alone)
{
    int a[3] = {1, 2, 3};
    vec s{3, a, 0};
#pragma omp target enter data map(to : s)
#pragma omp target enter data map(to : s.p [0:s.n])
    s.n = 2;
    s.tag = 10;
#pragma omp target update to(s)
    add_through(s);
#pragma omp target update from(s)
    show("s", s.n, s.p == a, s.tag);
    add_through(s);
#pragma omp target update from(a)
    show_array("a", a);
#pragma omp target exit data map(delete : a) map(delete : s)
}

ORACLE_CASE(always_from_leaves_pointers_alone)
{
    int a[3] = {1, 2, 3};
    vec s{3, a, 0};
#pragma omp target enter data map(to : s)
#pragma omp target enter data map(to : s.p [0:s.n])
#pragma omp target map(always, from : s)
    {
        for (int i = 0; i < s.n; ++i) s.p[i] += 5;
        ++s.tag;
    }
    show("s", s.n, s.p == a, s.tag);
#pragma omp target update from(a)
    show_array("a", a);
#pragma omp target exit data map(delete : a) map(delete : s)
}

ORACLE_CASE(exit_from_leaves_pointers_alone)
{
    int a[3] = {1, 2, 3};
    vec s{3, a, 0};
#pragma omp target enter data map(to : s) map(to : s.p [0:s.n])
    add_through(s);
#pragma omp target exit data map(from : s)
    show("s", s.tag, s.p == a, present(&s));
#pragma omp target exit data map(from : a)
    show_array("a", a);
    show("present", present(a));
}

ORACLE_CASE(pointee_gone_before_its_structure)
{
    int a[3] = {1, 2, 3};
    vec s{3, a, 0};
#pragma omp target enter data map(to : s)
#pragma omp target enter data map(to : s.p [0:s.n])
    add_through(s);
#pragma omp target exit data map(delete : a)
    show("present", present(&s), present(a));
#pragma omp target map(alloc : s)
    ++s.tag;
#pragma omp target update from(s)
    show("s", s.tag, s.p == a);
#pragma omp target exit data map(delete : s)
}

ORACLE_CASE(a_pointer_attached_to_other_data)
{
    int a[3] = {1, 2, 3};
    int b[2] = {10, 20};
    vec s{3, a, 0};
#pragma omp target enter data map(to : s)
#pragma omp target enter data map(to : s.p [0:s.n])
    add_through(s);
    s = {2, b, 0};
#pragma omp target update to(s.n)
#pragma omp target enter data map(to : s.p [0:s.n])
    add_through(s);
#pragma omp target update from(a)
#pragma omp target update from(b)
    show_array("a", a);
    show_array("b", b);
    show("s", s.p == b);
#pragma omp target exit data map(delete : a) map(delete : b) map(delete : s)
    show("present", present(a), present(b), present(&s));
}

ORACLE_CASE(pointers_inside_nested_structures)
{
    int a[3] = {1, 2, 3};
    int b[2] = {10, 20};
    outer o{7, {3, a, 0}, {2, b, 0}};
#pragma omp target map(tofrom : o) map(tofrom : o.in.p [0:3]) map(tofrom : o.other.p [0:2])
    {
        for (int i = 0; i < o.in.n; ++i) o.in.p[i] += o.k;
        for (int i = 0; i < o.other.n; ++i) o.other.p[i] *= 2;
        o.other.tag = 9;
    }
    show_array("a", a);
    show_array("b", b);
    show("o", o.k, o.in.p == a, o.other.p == b, o.other.tag, present(&o), present(a), present(b));
}

ORACLE_CASE(two_pointers_into_one_array)
{
    int a[6] = {1, 2, 3, 4, 5, 6};
    two_parts s{a, a + 3};
#pragma omp target enter data map(to : a)
#pragma omp target map(to : s) map(tofrom : s.left [0:3]) map(tofrom : s.right [0:3])
    for (int i = 0; i < 3; ++i) {
        s.left[i] += 10;
        s.right[i] += 20;
    }
#pragma omp target exit data map(from : a)
    show_array("a", a);
    show("s", s.left == a, s.right == a + 3);
}

ORACLE_CASE(an_array_of_structures)
{
    int a[3][2] = {{1, 2}, {3, 4}, {5, 6}};
    vec all[3] = {{2, a[0], 0}, {2, a[1], 0}, {2, a[2], 0}};
#pragma omp target enter data map(to : all)
    for (int i = 0; i < 3; ++i) {
#pragma omp target enter data map(to : all[i].p [0:2])
    }
#pragma omp target map(alloc : all)
    for (int i = 0; i < 3; ++i) all[i].p[i % 2] += 10 * all[i].n;
    for (int i = 0; i < 3; ++i) {
        int* p = a[i];
#pragma omp target exit data map(from : p [0:2])
    }
    for (auto const& row : a) show_array("row", row);
#pragma omp target exit data map(delete : all)
    show("present", present(all), present(a[1]));
}

ORACLE_CASE(an_array_of_pointers)
{
    int a[3][2] = {{1, 2}, {3, 4}, {5, 6}};
    int* rows[3] = {a[0], a[1], a[2]};
#pragma omp target enter data map(to : rows)
    for (int i = 0; i < 3; ++i) {
#pragma omp target enter data map(to : rows[i] [0:2])
    }
#pragma omp target map(alloc : rows)
    for (int i = 0; i < 3; ++i) rows[i][1] += 10;
    for (int i = 0; i < 3; ++i) {
        int* p = a[i];
#pragma omp target exit data map(from : p [0:2])
    }
#pragma omp target exit data map(delete : rows)
    for (auto const& row : a) show_array("row", row);
    show("rows", rows[0] == a[0], rows[2] == a[2], present(rows), present(a));
}

ORACLE_CASE(a_linked_list)
{
    node n[4] = {{1, nullptr}, {2, nullptr}, {3, nullptr}, {4, nullptr}};
    node* first = &n[0];
    for (int i = 0; i < 3; ++i) n[i].next = &n[i + 1];
#pragma omp target enter data map(to : first [0:1])
    for (node* at = first; at->next != nullptr; at = at->next) {
#pragma omp target enter data map(to : at->next [0:1])
    }
    int sum = 0;
#pragma omp target map(alloc : first [0:1]) map(tofrom : sum)
    for (node* at = first; at != nullptr; at = at->next) sum += at->value++;
    show("sum", sum);
    for (node& each : n) {
        node* at = &each;
#pragma omp target exit data map(always, from : at [0:1])
#pragma omp target exit data map(delete : at [0:1])
    }
    show("values", n[0].value, n[1].value, n[2].value, n[3].value);
    show("next", n[0].next == &n[1], n[2].next == &n[3], n[3].next == nullptr);
    show("present", present(&n[0]), present(&n[3]));
}

ORACLE_CASE(a_member_alone)
{
    plain s{1, 2.5, "abc"};
#pragma omp target enter data map(to : s.v)
    show("present", present(&s.n), present(&s.v), present(&s.text));
    s.v = 7;
#pragma omp target update to(s.v)
    s.v = 0;
#pragma omp target exit data map(from : s.v)
    show("s", s.n, s.v, present(&s.v));
}

ORACLE_CASE(a_member_of_a_mapped_structure)
{
    plain s{1, 2.5, "abc"};
#pragma omp target enter data map(to : s)
#pragma omp target map(tofrom : s.n)
    s.n += 5;
    show("s", s.n);
    s.n = 40;
    s.v = 9;
#pragma omp target map(always, tofrom : s.n)
    s.n += 5;
    show("s", s.n, s.v);
#pragma omp target update from(s)
    show("s", s.n, s.v);
    show("count", drain(&s, 1));
}

ORACLE_CASE(a_member_counts_on_its_structure)
{
    plain s{1, 2.5, "abc"};
#pragma omp target enter data map(to : s)
#pragma omp target enter data map(to : s.v)
#pragma omp target exit data map(release : s)
    show("present", present(&s), present(&s.v));
#pragma omp target exit data map(release : s.n)
    show("present", present(&s), present(&s.v));
}

ORACLE_CASE(a_structure_by_a_pointer_to_it)
{
    int a[3] = {1, 2, 3};
    vec s{3, a, 0};
    vec* q = &s;
#pragma omp target map(tofrom : q [0:1]) map(tofrom : q->p [0:3])
    {
        for (int i = 0; i < q->n; ++i) q->p[i] += 5;
        ++q->tag;
    }
    show_array("a", a);
    show("s", s.tag, s.p == a, present(q), present(a));
}
