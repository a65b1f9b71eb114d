// SPDX-License-Identifier: BSL-1.0
// Structures with pointers: joined by hand, by mappers, nested, in lists and rings.
#include "support/devices.hpp"
#include "support/outcome.hpp"

#include <omp_co/omp_co.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <tuple>
#include <vector>

namespace structs_test {

namespace data = boost::unit_test::data;
using namespace omp_co_test;
using omp_co::errc;

struct plain {
    int before;
    double* data;
    std::size_t n;
    int after;
};

struct matrix {
    std::size_t rows, cols;
    double* values;
};
struct two {
    matrix left;
    int tag;
    matrix right;
};
struct node {
    int value;
    node* next;
};
struct table {
    omp_co::mapped_array<int> keys;
    omp_co::mapped_array<double> values;
    int used;
};
struct reads {
    int const* numbers;
    std::size_t n;
    long sum;
};

} // namespace structs_test

template <>
struct omp_co::mapper<structs_test::matrix> {
    static auto members(structs_test::matrix& m)
    {
        return std::tuple(omp_co::pointee(m.values, m.rows * m.cols));
    }
};
template <>
struct omp_co::mapper<structs_test::two> {
    static auto members(structs_test::two& t)
    {
        return std::tuple(omp_co::nested(t.left), omp_co::nested(t.right));
    }
};
template <>
struct omp_co::mapper<structs_test::node> {
    static auto members(structs_test::node& n) { return std::tuple(omp_co::pointee(n.next, 1)); }
};
template <>
struct omp_co::mapper<structs_test::table> {
    static auto members(structs_test::table& t)
    {
        return std::tuple(omp_co::nested(t.keys), omp_co::nested(t.values));
    }
};
template <>
struct omp_co::mapper<structs_test::reads> {
    static auto members(structs_test::reads& r) { return std::tuple(omp_co::pointee(r.numbers, r.n)); }
};

namespace structs_test {

void nothing_is_left(omp_co::device dev)
{
    BOOST_TEST(dev.statistics().mapped_ranges == 0U);
    BOOST_TEST(dev.statistics().device_bytes == 0U);
    BOOST_TEST(dev.statistics().in_flight == 0U);
}

inline constexpr auto add_one = [](plain* s) {
    for (std::size_t i = 0; i < s->n; ++i) s->data[i] += 1;
    ++s->before;
    ++s->after;
};

BOOST_AUTO_TEST_SUITE(structures)

BOOST_DATA_TEST_CASE(joined_by_hand_in_any_order, data::make(device_kinds), kind)
{
    test_device const dev = kind.make();
    std::vector<double> a(6, 1.0);
    plain s{10, a.data(), a.size(), 20};
    auto const data_of = [&] { return omp_co::also(omp_co::tofrom(a)); };
    BOOST_TEST(
        !outcome(omp_co::target(dev, add_one, omp_co::tofrom(s), omp_co::attach(s.data, s.n), data_of())));
    BOOST_TEST(
        !outcome(omp_co::target(dev, add_one, omp_co::attach(s.data, s.n), omp_co::tofrom(s), data_of())));
    BOOST_TEST(
        !outcome(omp_co::target(dev, add_one, data_of(), omp_co::attach(s.data, s.n), omp_co::tofrom(s))));
    BOOST_TEST(
        !outcome(omp_co::target(dev, add_one, data_of(), omp_co::tofrom(s), omp_co::attach(s.data, s.n))));
    BOOST_TEST(a[0] == 5.0);
    BOOST_TEST(a[5] == 5.0);
    BOOST_TEST(s.data == a.data());
    BOOST_TEST(s.before == 14);
    BOOST_TEST(s.after == 24);
}

BOOST_DATA_TEST_CASE(pointers_stay_on_their_side, data::make(copying_kinds), kind)
{
    test_device const owner = kind.make();
    omp_co::device const dev = owner;
    std::vector<double> a(6, 1.0), other(1);
    plain s{1, a.data(), a.size(), 1};
    BOOST_TEST(
        !outcome(omp_co::target_enter_data(dev, omp_co::to(a), omp_co::to(s), omp_co::attach(s.data, s.n))));
    BOOST_TEST(!outcome(omp_co::target(dev, add_one, omp_co::alloc(s))));
    // A motion to the device does not overwrite its pointer, and one from there not ours, though we have changed it.
    s.before = 100;
    s.data = other.data();
    BOOST_TEST(!outcome(omp_co::target_update(dev, omp_co::to(s))));
    BOOST_TEST(!outcome(omp_co::target(dev, add_one, omp_co::alloc(s))));
    BOOST_TEST(!outcome(omp_co::target_update(dev, omp_co::from(s))));
    BOOST_TEST(s.data == other.data());
    BOOST_TEST(s.before == 101);
    BOOST_TEST(!outcome(omp_co::target(dev, add_one, omp_co::tofrom(s, omp_co::always))));
    BOOST_TEST(s.before == 102);
    BOOST_TEST(s.data == other.data());
    BOOST_TEST(!outcome(omp_co::target_exit_data(dev, omp_co::from(s), omp_co::from(a))));
    BOOST_TEST(s.data == other.data());
    BOOST_TEST(a[3] == 4.0);
    nothing_is_left(dev);
}

BOOST_DATA_TEST_CASE(a_pointer_is_joined_anew_when_its_data_is, data::make(copying_kinds), kind)
{
    test_device const owner = kind.make();
    omp_co::device const dev = owner;
    std::vector<double> a(4, 1.0), b(4, 10.0);
    plain s{0, a.data(), a.size(), 0};
    BOOST_TEST(!outcome(omp_co::target_enter_data(dev, omp_co::to(s))));
    for (int i = 0; i < 3; ++i) {
        s.data = a.data();
        BOOST_TEST(!outcome(omp_co::target(dev, add_one, omp_co::alloc(s), omp_co::also(omp_co::tofrom(a)),
                                           omp_co::attach(s.data, s.n))));
        s.data = b.data();
        BOOST_TEST(!outcome(omp_co::target(dev, add_one, omp_co::alloc(s), omp_co::also(omp_co::tofrom(b)),
                                           omp_co::attach(s.data, s.n))));
    }
    BOOST_TEST(a[2] == 4.0);
    BOOST_TEST(b[2] == 13.0);
    // Joined already: nothing is sent.
    BOOST_TEST(!outcome(omp_co::target_enter_data(dev, omp_co::to(b), omp_co::attach(s.data, s.n))));
    auto const before = dev.statistics();
    BOOST_TEST(!outcome(omp_co::target(dev, add_one, omp_co::alloc(s), omp_co::attach(s.data, s.n))));
    BOOST_TEST(dev.statistics().copies_in == before.copies_in);
    BOOST_TEST(!outcome(omp_co::target_exit_data(dev, omp_co::delete_(s), omp_co::delete_(b))));
    nothing_is_left(dev);
}

BOOST_DATA_TEST_CASE(what_is_not_there_cannot_be_joined, data::make(copying_kinds), kind)
{
    test_device const owner = kind.make();
    omp_co::device const dev = owner;
    std::vector<double> a(4, 1.0);
    plain s{0, a.data(), a.size(), 0};
    omp_co::diagnostics why;
    BOOST_TEST((outcome(omp_co::target(dev, add_one, omp_co::tofrom(s), omp_co::attach(s.data, s.n),
                                       omp_co::explain(why))) == errc::not_present));
    BOOST_TEST(why.message().find("what the pointer points to") != std::string::npos);
    BOOST_TEST((outcome(omp_co::target_enter_data(dev, omp_co::to(a), omp_co::attach(s.data, s.n),
                                                  omp_co::explain(why))) == errc::not_present));
    BOOST_TEST(why.message().find("attach: the pointer") != std::string::npos);
    BOOST_TEST((outcome(omp_co::target_enter_data(dev, omp_co::to(a), omp_co::to(s),
                                                  omp_co::attach(s.data, -1))) == errc::invalid_argument));
    BOOST_TEST((outcome(omp_co::target_enter_data(dev, omp_co::to(a), omp_co::to(s),
                                                  omp_co::attach(s.data, 5))) == errc::partially_present));
    nothing_is_left(dev);
    s.data = nullptr;
    BOOST_TEST((outcome(omp_co::target_enter_data(dev, omp_co::to(s), omp_co::attach(s.data, 3))) ==
                errc::invalid_argument));
    BOOST_TEST(!outcome(omp_co::target_enter_data(dev, omp_co::to(s), omp_co::attach(s.data, 0))));
    BOOST_TEST(!outcome(omp_co::target(
        dev, [](plain* p) { p->before = p->data == nullptr; }, omp_co::alloc(s))));
    BOOST_TEST(!outcome(omp_co::target_exit_data(dev, omp_co::from(s))));
    BOOST_TEST(s.before == 1);
    nothing_is_left(dev);
}

BOOST_DATA_TEST_CASE(mappers_map_what_belongs_to_a_type, data::make(device_kinds), kind)
{
    test_device const owner = kind.make();
    omp_co::device const dev = owner;
    std::vector<double> a(6, 1.0), b(4, 2.0);
    two t{{2, 3, a.data()}, 7, {2, 2, b.data()}};
    auto const work = [](two* q) {
        for (std::size_t i = 0; i < q->left.rows * q->left.cols; ++i) q->left.values[i] += q->tag;
        for (std::size_t i = 0; i < q->right.rows * q->right.cols; ++i) q->right.values[i] *= 2;
    };
    BOOST_TEST(!outcome(omp_co::target(dev, work, omp_co::tofrom(t))));
    BOOST_TEST(a[5] == 8.0);
    BOOST_TEST(b[3] == 4.0);
    BOOST_TEST(t.left.values == a.data());
    BOOST_TEST(t.right.values == b.data());
    if (!kind.copies) return;
    BOOST_TEST(!outcome(omp_co::target_enter_data(dev, omp_co::to(t))));
    BOOST_TEST(dev.statistics().mapped_ranges >= 3U);
    BOOST_TEST(!outcome(omp_co::target(dev, work, omp_co::tofrom(t))));
    BOOST_TEST(a[5] == 8.0); // not back yet
    BOOST_TEST(!outcome(omp_co::target_update(dev, omp_co::from(t))));
    BOOST_TEST(a[5] == 15.0);
    a[0] = 100;
    t.tag = 1;
    BOOST_TEST(!outcome(omp_co::target_update(dev, omp_co::to(t))));
    BOOST_TEST(!outcome(omp_co::target(dev, work, omp_co::tofrom(t))));
    BOOST_TEST(!outcome(omp_co::target_exit_data(dev, omp_co::from(t))));
    BOOST_TEST(a[0] == 101.0);
    BOOST_TEST(b[0] == 16.0);
    BOOST_TEST(!dev.is_present(a.data()));
    BOOST_TEST(!dev.is_present(&t));
}

BOOST_DATA_TEST_CASE(arrays_of_them_and_data_regions, data::make(copying_kinds), kind)
{
    test_device const owner = kind.make();
    omp_co::device const dev = owner;
    std::vector<std::vector<double>> stores(20, std::vector<double>(8, 1.0));
    std::vector<matrix> all;
    for (auto& s : stores) all.push_back({2, 4, s.data()});
    auto const run = [&]() -> boost::asio::awaitable<void> {
        auto body = [&]() -> boost::asio::awaitable<void> {
            for (int round = 0; round < 3; ++round)
                co_await omp_co::target(
                    dev, [](std::size_t i, matrix* m) { m[i].values[i % 8] += static_cast<double>(i); },
                    omp_co::range(all.size()), omp_co::alloc(all));
        };
        co_await omp_co::target_data(dev, omp_co::tofrom(all), body);
    };
    omp_co::sync_wait(run());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < stores.size(); ++i)
        for (std::size_t k = 0; k < 8; ++k)
            wrong += stores[i][k] != (k == i % 8 ? 1.0 + 3.0 * static_cast<double>(i) : 1.0);
    BOOST_TEST(wrong == 0U);
    nothing_is_left(dev);
}

BOOST_DATA_TEST_CASE(lists_and_rings, data::make(device_kinds), kind)
{
    test_device const owner = kind.make();
    omp_co::device const dev = owner;
    std::vector<node> nodes(300);
    for (std::size_t i = 0; i < nodes.size(); ++i)
        nodes[i] = {static_cast<int>(i), i + 1 < nodes.size() ? &nodes[i + 1] : nullptr};
    auto const sum_up = [](node* first, int* sum) {
        int left = 1'000;
        node const* n = first;
        do *sum += n->value;
        while ((n = n->next) != nullptr && n != first && --left > 0);
    };
    int sum = 0;
    BOOST_TEST(!outcome(omp_co::target(dev, sum_up, omp_co::tofrom(nodes[0]), omp_co::tofrom(sum))));
    BOOST_TEST(sum == 299 * 150);
    nodes.back().next = &nodes[0];
    sum = 0;
    BOOST_TEST(!outcome(omp_co::target(dev, sum_up, omp_co::tofrom(nodes[0]), omp_co::tofrom(sum))));
    BOOST_TEST(sum == 299 * 150);
    BOOST_TEST(nodes.back().next == &nodes[0]);
    if (kind.copies) BOOST_TEST(!dev.is_present(&nodes[7]));
}

BOOST_DATA_TEST_CASE(arrays_that_map_themselves, data::make(device_kinds), kind)
{
    test_device const dev = kind.make();
    table t{omp_co::mapped_array<int>{3, 1, 2}, omp_co::mapped_array<double>(3), 0};
    BOOST_TEST(!outcome(omp_co::target(
        dev,
        [](table* q) {
            for (std::size_t i = 0; i < q->keys.size(); ++i) q->values[i] = 10.0 * q->keys[i];
            q->used = static_cast<int>(q->values.size());
        },
        omp_co::tofrom(t))));
    BOOST_TEST(t.values[0] == 30.0);
    BOOST_TEST(t.values[2] == 20.0);
    BOOST_TEST(t.used == 3);
    omp_co::mapped_array<double> const& v = t.values;
    double total = 0;
    BOOST_TEST(!outcome(omp_co::target(
        dev,
        [](omp_co::mapped_array<double> const* q, double* s) {
            for (double each : *q) *s += each;
        },
        omp_co::to(v), omp_co::tofrom(total))));
    BOOST_TEST(total == 60.0);
}

BOOST_DATA_TEST_CASE(data_that_a_structure_only_reads, data::make(device_kinds), kind)
{
    test_device const dev = kind.make();
    std::vector<int> const numbers{1, 2, 3, 4};
    reads r{numbers.data(), numbers.size(), 0};
    BOOST_TEST(!outcome(omp_co::target(
        dev,
        [](reads* q) {
            for (std::size_t i = 0; i < q->n; ++i) q->sum += q->numbers[i];
        },
        omp_co::tofrom(r))));
    BOOST_TEST(r.sum == 10);
    BOOST_TEST(r.numbers == numbers.data());
}

BOOST_DATA_TEST_CASE(what_is_held_stays, data::make(copying_kinds), kind)
{
    test_device const owner = kind.make();
    omp_co::device const dev = owner;
    int x = 1;
    BOOST_TEST(!outcome(omp_co::target_enter_data(dev, omp_co::to(x, omp_co::hold))));
    BOOST_TEST(!outcome(omp_co::target_enter_data(dev, omp_co::to(x, omp_co::close_))));
    BOOST_TEST(!outcome(omp_co::target_exit_data(dev, omp_co::delete_(x))));
    BOOST_TEST(!outcome(omp_co::target_exit_data(dev, omp_co::release(x))));
    BOOST_TEST(dev.is_present(&x));
    BOOST_TEST(!outcome(omp_co::target(
        dev, [](int* p) { *p += 5; }, omp_co::tofrom(x))));
    BOOST_TEST(x == 1);
    BOOST_TEST(!outcome(omp_co::target_exit_data(dev, omp_co::from(x, omp_co::hold))));
    BOOST_TEST(x == 6);
    nothing_is_left(dev);
}

BOOST_DATA_TEST_CASE(an_address_on_the_device, data::make(device_kinds), kind)
{
    test_device const dev = kind.make();
    auto mem = omp_co::sync_wait(omp_co::allocate<int>(dev, 3));
    BOOST_TEST(!outcome(omp_co::target_memset(mem, 0)));
    int& second = mem.get()[1];
    BOOST_TEST(!outcome(omp_co::target(
        dev, [](int* p) { *p = 8; }, omp_co::has_device_addr(second))));
    std::vector<int> out(3);
    BOOST_TEST(!outcome(omp_co::target_memcpy(out, mem)));
    BOOST_TEST((out == std::vector<int>{0, 8, 0}));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace structs_test
