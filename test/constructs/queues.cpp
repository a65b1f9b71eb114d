// SPDX-License-Identifier: BSL-1.0
// Queues: what is in order, what is told early, what waits, and that early means that the program has its memory back.
#include "support/devices.hpp"
#include "support/kernels.hpp"
#include "support/outcome.hpp"
#include "support/pending.hpp"
#include "support/settle.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <tuple>
#include <vector>

namespace queues_test {

namespace data = boost::unit_test::data;
using namespace omp_co_test;

struct rows {
    int n;
    int* values;
};

struct work {
    explicit work(omp_co::device d) : dev(d) {}

    omp_co::device dev;
    omp_co::queue q{dev};
    std::vector<int> v = std::vector<int>(64, 1); ///< mapped
    std::vector<int> w = std::vector<int>(64, 1); ///< not mapped
    int sum = 0;
};

// A kernel that waits in a gate and has no data.
inline auto held(gate& g)
{
    return [&g] { g.pass(); };
}

inline auto const add = [](int const* from, long* sum) { *sum += from[0] + from[1]; };

// Adds the first and the last of `n` elements, once the gate is open.
inline auto sum_of(gate& g, std::size_t n)
{
    return [gp = &g, n](int const* x, long* sum) {
        gp->pass();
        *sum += x[0] + x[n - 1];
    };
}

struct case_of {
    char const* name;
    void (*start)(work&, pending&);
    friend std::ostream& operator<<(std::ostream& out, case_of const& c) { return out << c.name; }
};

auto const nothing = [](auto*...) {};

std::array<case_of, 9> const that_wait{{
    {"from that ends", [](work& t, pending& p) { p.start(omp_co::target(t.q, nothing, omp_co::from(t.w))); }},
    {"tofrom that ends",
     [](work& t, pending& p) { p.start(omp_co::target(t.q, nothing, omp_co::tofrom(t.w))); }},
    {"always from",
     [](work& t, pending& p) { p.start(omp_co::target(t.q, nothing, omp_co::from(t.v, omp_co::always))); }},
    {"also from",
     [](work& t, pending& p) {
         p.start(omp_co::target(
             t.q, [] {}, omp_co::also(omp_co::from(t.w))));
     }},
    {"exit data", [](work& t, pending& p) { p.start(omp_co::target_exit_data(t.q, omp_co::from(t.v))); }},
    {"update from", [](work& t, pending& p) { p.start(omp_co::target_update(t.q, omp_co::from(t.v))); }},
    {"update from, every second one",
     [](work& t, pending& p) {
         p.start(omp_co::target_update(t.q, omp_co::from(omp_co::section(t.v.data(), 0, 32, 2))));
     }},
    {"reduction",
     [](work& t, pending& p) {
         auto const k = [](std::size_t i, int& s) { s += static_cast<int>(i); };
         p.start(omp_co::target(t.q, k, omp_co::range(10), omp_co::reduction(std::plus<>(), t.sum)));
     }},
    {"synchronize", [](work& t, pending& p) { p.start(t.q.synchronize()); }},
}};

std::array<case_of, 12> const that_do_not_wait{{
    {"no data", [](work& t, pending& p) { p.start(omp_co::target(t.q, [] {})); }},
    {"to",
     [](work& t, pending& p) {
         p.start(omp_co::target(
             t.q, [](int const*) {}, omp_co::to(t.w)));
     }},
    {"to that is mapped",
     [](work& t, pending& p) {
         p.start(omp_co::target(
             t.q, [](int const*) {}, omp_co::to(t.v)));
     }},
    {"tofrom that stays",
     [](work& t, pending& p) { p.start(omp_co::target(t.q, nothing, omp_co::tofrom(t.v))); }},
    {"from that stays",
     [](work& t, pending& p) { p.start(omp_co::target(t.q, nothing, omp_co::from(t.v))); }},
    {"alloc", [](work& t, pending& p) { p.start(omp_co::target(t.q, nothing, omp_co::alloc(t.w))); }},
    {"always to",
     [](work& t, pending& p) {
         p.start(omp_co::target(
             t.q, [](int const*) {}, omp_co::to(t.v, omp_co::always)));
     }},
    {"firstprivate",
     [](work& t, pending& p) {
         p.start(omp_co::target(
             t.q, [](int) {}, omp_co::firstprivate(t.sum)));
     }},
    {"enter data",
     [](work& t, pending& p) { p.start(omp_co::target_enter_data(t.q, omp_co::to(t.w), omp_co::to(t.v))); }},
    {"update to", [](work& t, pending& p) { p.start(omp_co::target_update(t.q, omp_co::to(t.v))); }},
    {"release", [](work& t, pending& p) { p.start(omp_co::target_exit_data(t.q, omp_co::release(t.v))); }},
    {"update from of what is absent",
     [](work& t, pending& p) { p.start(omp_co::target_update(t.q, omp_co::from(t.w))); }},
}};

} // namespace queues_test

template <>
struct omp_co::mapper<queues_test::rows> {
    static auto members(queues_test::rows& r)
    {
        return std::tuple(omp_co::pointee(r.values, static_cast<std::size_t>(r.n)));
    }
};

namespace queues_test {

BOOST_AUTO_TEST_SUITE(queues)

BOOST_DATA_TEST_CASE(constructs_run_in_order_and_are_not_waited_for, data::make({1U, 2U}), n)
{
    test_device const dev(workers(n));
    gate g;
    std::vector<int> v(64, 1);
    omp_co::queue q(dev);
    BOOST_TEST((q.where() == dev.get()));
    BOOST_TEST(early(omp_co::target_enter_data(q, omp_co::to(v))));
    BOOST_TEST(early(omp_co::target(q, g.kernel(), omp_co::tofrom(v))));
    auto const triple = [](std::size_t i, int* p) { p[i] *= 3; };
    for (int k = 0; k < 3; ++k) {
        BOOST_TEST(early(omp_co::target(q, triple, omp_co::range(64), omp_co::tofrom(v))));
        BOOST_TEST(early(omp_co::target(q, increment, omp_co::range(64), omp_co::tofrom(v))));
    }
    BOOST_TEST(g.left() == 0);
    pending back(omp_co::target_update(q, omp_co::from(v)));
    BOOST_TEST(back.stays());
    BOOST_TEST(v[0] == 1);
    g.open();
    BOOST_TEST(back.ends_well());
    BOOST_TEST(v[0] == 67); // ((2*3+1)*3+1)*3+1
    BOOST_TEST(v[63] == 40);
    BOOST_TEST(early(omp_co::target_exit_data(q, omp_co::release(v))));
}

// Wherever it runs, the same comes out.
BOOST_DATA_TEST_CASE(a_queue_works_on_every_kind_of_device, data::make(device_kinds), kind)
{
    test_device const dev = kind.make();
    std::vector<int> v(64, 1);
    long sum = 0;
    omp_co::queue q(dev);
    BOOST_TEST(!outcome(omp_co::target_enter_data(q, omp_co::to(v), omp_co::to(sum))));
    for (int k = 0; k < 5; ++k) {
        std::vector<int> x(64, k);
        BOOST_TEST(!outcome(omp_co::target(
            q, [](std::size_t i, int* p, int const* a) { p[i] += a[i]; }, omp_co::range(64),
            omp_co::tofrom(v), omp_co::to(x))));
        BOOST_TEST(!outcome(omp_co::target(q, add, omp_co::to(v), omp_co::tofrom(sum))));
    }
    BOOST_TEST(!outcome(omp_co::target_exit_data(q, omp_co::from(v), omp_co::from(sum))));
    BOOST_TEST(v[0] == 11);
    BOOST_TEST(v[63] == 11);
    BOOST_TEST(sum == 2 * (1 + 2 + 4 + 7 + 11));
    BOOST_TEST(!outcome(q.synchronize()));
    BOOST_TEST(dev.get().statistics().mapped_ranges == 0U);
}

BOOST_DATA_TEST_CASE(what_brings_something_back_waits, data::make(that_wait), c)
{
    test_device const dev(workers(1));
    gate g;
    work t(dev);
    BOOST_TEST(early(omp_co::target_enter_data(t.q, omp_co::to(t.v))));
    BOOST_TEST(early(omp_co::target(t.q, held(g))));
    BOOST_TEST(early(omp_co::target(t.q, increment, omp_co::range(64), omp_co::tofrom(t.v))));
    pending p;
    c.start(t, p);
    BOOST_TEST(p.stays());
    g.open();
    BOOST_TEST(p.ends_well());
    BOOST_TEST(dev.get().statistics().in_flight == 0U);
}

BOOST_DATA_TEST_CASE(what_brings_nothing_back_does_not_wait, data::make(that_do_not_wait), c)
{
    test_device const dev(workers(1));
    gate g;
    work t(dev);
    BOOST_TEST(early(omp_co::target_enter_data(t.q, omp_co::to(t.v))));
    BOOST_TEST(early(omp_co::target(t.q, held(g))));
    pending p;
    c.start(t, p);
    BOOST_TEST(p.ends_well());
    BOOST_TEST(g.left() == 0);
    g.open();
    BOOST_TEST(!outcome(t.q.synchronize()));
    BOOST_TEST(t.v[0] == 1);
}

// There the host's memory is what kernels work on.
BOOST_AUTO_TEST_CASE(with_unified_memory_whatever_names_data_waits)
{
    test_device const dev(unified(1));
    gate g;
    work t(dev);
    BOOST_TEST(early(omp_co::target(t.q, held(g))));
    BOOST_TEST(early(omp_co::target(
        t.q, [](int) {}, omp_co::firstprivate(t.sum))));
    pending reads(omp_co::target(
        t.q, [](int const*) {}, omp_co::to(t.w)));
    pending writes(omp_co::target(t.q, increment, omp_co::range(64), omp_co::alloc(t.v)));
    pending by_address(omp_co::target(
        t.q, [](int* p) { p[1] += 5; }, omp_co::is_device_ptr(t.v.data())));
    pending without_length(omp_co::target(
        t.q, [](int* p) { p[2] += 6; }, omp_co::tofrom(omp_co::section(t.v.data(), 0, 0))));
    for (pending* const p : {&reads, &writes, &by_address, &without_length}) BOOST_TEST(p->stays());
    g.open();
    for (pending* const p : {&reads, &writes, &by_address, &without_length}) BOOST_TEST(p->ends_well());
    BOOST_TEST(t.v[63] == 2);
    BOOST_TEST(t.v[1] == 7);
    BOOST_TEST(t.v[2] == 8);
}

// Memory of the device that the host reaches, and memory of the host; but what a device_buffer owns only regions touch.
BOOST_AUTO_TEST_CASE(what_the_host_reaches_without_a_copy_waits)
{
    test_device const dev(workers(1));
    gate g;
    work t(dev);
    using on_device = omp_co::device_allocator<int>;
    std::vector<int, on_device> shared(64, 1, on_device(dev.get()));
    auto own = omp_co::sync_wait(omp_co::allocate<int>(dev.get(), 64));
    BOOST_TEST(early(omp_co::target(t.q, held(g))));
    BOOST_TEST(early(omp_co::target(t.q, increment, omp_co::range(64), omp_co::is_device_ptr(own.get()))));
    pending of_device(
        omp_co::target(t.q, increment, omp_co::range(64), omp_co::is_device_ptr(shared.data())));
    pending of_host(omp_co::target(t.q, increment, omp_co::range(64), omp_co::is_device_ptr(t.v.data())));
    std::vector<int> twin(64);
    BOOST_TEST(!dev.get().associate(twin.data(), shared.data() + 32, 8 * sizeof(int)));
    pending associated(omp_co::target(
        t.q, [](int* p) { p[0] += 5; }, omp_co::is_device_ptr(shared.data() + 32)));
    for (pending* const p : {&of_device, &of_host, &associated}) BOOST_TEST(p->stays());
    g.open();
    BOOST_TEST(of_device.ends_well());
    BOOST_TEST(of_host.ends_well());
    BOOST_TEST(associated.ends_well());
    BOOST_TEST(shared[63] == 2);
    BOOST_TEST(shared[32] == 7);
    BOOST_TEST(t.v[63] == 2);
    BOOST_TEST(!dev.get().disassociate(twin.data()));
}

// Up to 256 KiB are staged by the core; beyond that the device reads them, behind what was enqueued before.
BOOST_DATA_TEST_CASE(what_is_copied_in_may_be_freed_before_the_kernel_has_run,
                     data::make({1U, 2U}) *
                         data::make({std::size_t{16}, std::size_t{75'000}, std::size_t{2} << 20}),
                     n, count)
{
    test_device const dev(workers(n));
    gate before;
    gate own;
    long sum = 0;
    bool const staged = count * sizeof(int) <= std::size_t{256} << 10;
    omp_co::queue q(dev);
    BOOST_TEST(early(omp_co::target_enter_data(q, omp_co::to(sum))));
    BOOST_TEST(early(omp_co::target(q, held(before))));
    auto x = std::make_unique<std::vector<int>>(count, 7);
    pending p(omp_co::target(q, sum_of(own, count), omp_co::to(*x), omp_co::tofrom(sum)));
    BOOST_TEST((staged ? p.ends_well() : p.stays()));
    before.open();
    BOOST_TEST(p.ends_well());
    BOOST_TEST(own.left() == 0);
    std::fill(x->begin(), x->end(), 1000);
    x.reset();
    own.open();
    BOOST_TEST(!outcome(omp_co::target_exit_data(q, omp_co::from(sum))));
    BOOST_TEST(sum == 14);
}

BOOST_DATA_TEST_CASE(several_clauses_are_consumed_together,
                     data::make({std::size_t{10}, std::size_t{40'000}}), count)
{
    test_device const dev(workers(1));
    gate g;
    long sum = 0;
    std::vector<int> a(count, 1), b(count, 2), c(count, 3);
    int d = 4;
    omp_co::queue q(dev);
    BOOST_TEST(early(omp_co::target_enter_data(q, omp_co::to(sum))));
    auto const k = [gp = &g, count](int const* p, int const* r, int const* s, int const* t, int u, long* to) {
        gp->pass();
        *to += p[count - 1] + r[count - 1] + s[count - 1] + *t + u;
    };
    BOOST_TEST(early(omp_co::target(q, k, omp_co::to(a), omp_co::to(b), omp_co::to(c), omp_co::to(d),
                                    omp_co::firstprivate(d), omp_co::tofrom(sum))));
    for (auto* each : {&a, &b, &c}) std::fill(each->begin(), each->end(), 1000);
    d = 1000;
    g.open();
    BOOST_TEST(!outcome(omp_co::target_exit_data(q, omp_co::from(sum))));
    BOOST_TEST(sum == 14);
}

BOOST_DATA_TEST_CASE(copies_of_device_memory_are_told_when_their_source_is_free, data::make({1U, 2U}), n)
{
    test_device const dev(workers(n));
    gate g;
    auto b = omp_co::sync_wait(omp_co::allocate<int>(dev, 64));
    std::vector<int> x(64, 7);
    std::vector<int> out(64, 0);
    omp_co::queue q(dev);
    BOOST_TEST(early(omp_co::target(q, held(g))));
    BOOST_TEST(early(omp_co::target_memset(q, b, 0)));
    BOOST_TEST(early(omp_co::target_memcpy(q, b, x)));
    std::fill(x.begin(), x.end(), 100);
    BOOST_TEST(early(omp_co::target(q, increment, omp_co::range(64), omp_co::is_device_ptr(b.get()))));
    pending back(omp_co::target_memcpy(q, out, b));
    BOOST_TEST(back.stays());
    g.open();
    BOOST_TEST(back.ends_well());
    BOOST_TEST(out[0] == 8);
    BOOST_TEST(out[63] == 8);
}

// Rows that are not next to each other are never staged.
BOOST_AUTO_TEST_CASE(boxes_are_read_before_the_update_is_told)
{
    test_device const dev(workers(1));
    gate g;
    std::vector<int> v(64, 1);
    omp_co::queue q(dev);
    BOOST_TEST(early(omp_co::target_enter_data(q, omp_co::to(v))));
    std::fill(v.begin(), v.end(), 2);
    BOOST_TEST(early(omp_co::target_update(q, omp_co::to(omp_co::section(v.data(), 0, 32, 2)))));
    std::fill(v.begin(), v.end(), 3);
    BOOST_TEST(
        early(omp_co::target_update(q, omp_co::to(omp_co::section2d(v.data(), {8, 8}, {4, 4}, {2, 2})))));
    std::fill(v.begin(), v.end(), 4);
    BOOST_TEST(early(omp_co::target(q, held(g))));
    pending p(omp_co::target_update(q, omp_co::to(omp_co::section(v.data(), 1, 2, 62))));
    BOOST_TEST(p.stays());
    g.open();
    BOOST_TEST(p.ends_well());
    std::fill(v.begin(), v.end(), 5);
    BOOST_TEST(!outcome(omp_co::target_exit_data(q, omp_co::from(v))));
    BOOST_TEST(v[0] == 2);
    BOOST_TEST(v[1] == 4);
    BOOST_TEST(v[3] == 1);
    BOOST_TEST(v[36] == 3);
    BOOST_TEST(v[38] == 2);
    BOOST_TEST(v[45] == 3);
    BOOST_TEST(v[63] == 4);
}

BOOST_DATA_TEST_CASE(structures_with_pointers_are_consumed_too, data::make({10, 80'000}), count)
{
    test_device const dev(workers(1));
    gate g;
    long sum = 0;
    omp_co::queue q(dev);
    BOOST_TEST(early(omp_co::target_enter_data(q, omp_co::to(sum))));
    auto values = std::make_unique<std::vector<int>>(static_cast<std::size_t>(count), 5);
    auto s = std::make_unique<rows>(rows{count, values->data()});
    auto const k = [gp = &g](rows const* r, long* to) {
        gp->pass();
        *to += r->n + r->values[r->n - 1];
    };
    BOOST_TEST(early(omp_co::target(q, k, omp_co::to(*s), omp_co::tofrom(sum))));
    std::fill(values->begin(), values->end(), 1000);
    values.reset();
    *s = {0, nullptr};
    s.reset();
    // And joined by hand, to data that stays.
    std::vector<int> stays(8, 9);
    BOOST_TEST(g.wait_entered(1));
    g.open();
    BOOST_TEST(early(omp_co::target_enter_data(q, omp_co::to(stays))));
    {
        rows by_hand{8, stays.data()};
        BOOST_TEST(early(omp_co::target(q, k, omp_co::to(omp_co::section(&by_hand, 0, 1)),
                                        omp_co::attach(by_hand.values, 8), omp_co::tofrom(sum))));
        by_hand = {0, nullptr};
    }
    BOOST_TEST(!outcome(omp_co::target_exit_data(q, omp_co::from(sum), omp_co::release(stays))));
    BOOST_TEST(sum == count + 5 + 8 + 9);
}

// A mapping that is about to end has bytes that its program has changed since.
BOOST_DATA_TEST_CASE(the_same_memory_can_be_mapped_again_with_other_contents,
                     data::make({1U, 2U}) * data::make({std::size_t{16}, std::size_t{75'000}}), n, count)
{
    test_device const dev(workers(n));
    gate g;
    long sum = 0;
    long other_sum = 0;
    std::vector<int> x(count, 1);
    omp_co::queue q(dev);
    omp_co::queue other(dev);
    BOOST_TEST(early(omp_co::target_enter_data(q, omp_co::to(sum), omp_co::to(other_sum))));
    BOOST_TEST(early(omp_co::target(q, sum_of(g, count), omp_co::to(x), omp_co::tofrom(sum)))); // 2
    std::fill(x.begin(), x.end(), 10);
    pending again(omp_co::target(q, sum_of(g, count), omp_co::to(x), omp_co::tofrom(sum))); // 20
    pending elsewhere(
        omp_co::target(other, sum_of(g, count), omp_co::to(x), omp_co::tofrom(other_sum))); // 20
    pending unordered(
        omp_co::target(dev, sum_of(g, count), omp_co::to(x), omp_co::from(other_sum, omp_co::always)));
    g.open();
    BOOST_TEST(again.ends_well());
    BOOST_TEST(elsewhere.ends_well());
    BOOST_TEST(unordered.ends_well());
    BOOST_TEST(other_sum == 40);
    std::fill(x.begin(), x.end(), 100);
    BOOST_TEST(early(omp_co::target(
        q, [](int const* p, long* s) { *s += p[0]; }, omp_co::to(omp_co::section(x, 1, count - 1)),
        omp_co::tofrom(sum)))); // 100
    BOOST_TEST(!outcome(omp_co::target_exit_data(q, omp_co::from(sum), omp_co::release(other_sum))));
    BOOST_TEST(sum == 122);
    BOOST_TEST(settle(dev));
    BOOST_TEST(dev.get().statistics().mapped_ranges == 0U);
    BOOST_TEST(dev.get().statistics().device_bytes == 0U);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace queues_test
