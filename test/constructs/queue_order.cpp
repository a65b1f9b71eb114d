// SPDX-License-Identifier: BSL-1.0
// Queues among others: free regions and other queues on the same data, in both directions.
#include "support/devices.hpp"
#include "support/findings.hpp"
#include "support/kernels.hpp"
#include "support/outcome.hpp"
#include "support/pending.hpp"
#include "support/sanitizers.hpp"
#include "support/settle.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

namespace queue_order_test {

namespace asio = boost::asio;
namespace data = boost::unit_test::data;
using namespace omp_co_test;

auto const twice = [](std::size_t i, int* p) { p[i] *= 2; };
auto const five_more = [](std::size_t i, int* p) { p[i] += 5; };

// A kernel that only reads what it waits for.
auto reads(gate& g)
{
    return [gp = &g](int const* p, int* out) {
        gp->pass();
        *out = p[0];
    };
}

BOOST_AUTO_TEST_SUITE(queue_order)

// The case that a queue bound to a thread gets wrong: A on the queue, B free, C on the queue.
BOOST_DATA_TEST_CASE(a_free_region_has_its_place_between_those_of_a_queue, data::make({0U, 1U, 2U, 4U}), n)
{
    test_device const dev(workers(n));
    gate g;
    if (n == 0) g.open();
    std::vector<int> v(64, 1);
    omp_co::queue q(dev);
    BOOST_TEST(early(omp_co::target_enter_data(q, omp_co::to(v))));
    BOOST_TEST(early(omp_co::target(q, g.kernel(), omp_co::tofrom(v))));                   // 2
    pending b(omp_co::target(dev, twice, omp_co::range(64), omp_co::tofrom(v)));           // 4
    BOOST_TEST(early(omp_co::target(q, five_more, omp_co::range(64), omp_co::tofrom(v)))); // 9
    pending c(omp_co::target(dev, twice, omp_co::range(64), omp_co::tofrom(v)));           // 18
    BOOST_TEST((n == 0 || b.stays()));
    g.open();
    BOOST_TEST(b.ends_well());
    BOOST_TEST(c.ends_well());
    BOOST_TEST(!outcome(omp_co::target_exit_data(q, omp_co::from(v))));
    BOOST_TEST(v[0] == 18);
    BOOST_TEST(v[63] == 14);
}

BOOST_DATA_TEST_CASE(a_queue_comes_behind_a_free_region_and_before_the_next, data::make({1U, 2U, 4U}), n)
{
    test_device const dev(workers(n));
    gate g;
    std::vector<int> v(64, 1);
    omp_co::queue q(dev);
    BOOST_TEST(!outcome(omp_co::target_enter_data(dev, omp_co::to(v))));
    pending a(omp_co::target(dev, g.kernel(), omp_co::tofrom(v))); // 2
    BOOST_TEST(g.wait_entered(1));
    BOOST_TEST(early(omp_co::target(q, twice, omp_co::range(64), omp_co::tofrom(v)))); // 4
    pending c(omp_co::target(dev, five_more, omp_co::range(64), omp_co::tofrom(v)));   // 9
    pending d(omp_co::target_exit_data(dev, omp_co::from(v)));
    BOOST_TEST(d.stays());
    g.open();
    BOOST_TEST(a.ends_well());
    BOOST_TEST(c.ends_well());
    BOOST_TEST(d.ends_well());
    BOOST_TEST(v[0] == 9);
    BOOST_TEST(v[63] == 7);
}

// Through a pointer to the device's memory.
BOOST_DATA_TEST_CASE(device_pointers_have_their_place_too, data::make({1U, 2U, 4U}), n)
{
    test_device const dev(workers(n));
    gate g;
    auto b = omp_co::sync_wait(omp_co::allocate<int>(dev, 1));
    std::vector<int> out{0};
    omp_co::queue q(dev);
    BOOST_TEST(!outcome(omp_co::target_memset(b, 0)));
    BOOST_TEST(early(omp_co::target(q, g.kernel(), omp_co::is_device_ptr(b.get()))));                  // 1
    pending f(omp_co::target(dev, twice, omp_co::range(1), omp_co::is_device_ptr(b.get())));           // 2
    BOOST_TEST(early(omp_co::target(q, five_more, omp_co::range(1), omp_co::is_device_ptr(b.get())))); // 7
    pending m(omp_co::target_memcpy(out, b));
    BOOST_TEST(
        early(omp_co::target(q, five_more, omp_co::range(1), omp_co::is_device_ptr(b.get())))); // too late
    BOOST_TEST(m.stays());
    g.open();
    BOOST_TEST(f.ends_well());
    BOOST_TEST(m.ends_well());
    BOOST_TEST(out[0] == 7);
    BOOST_TEST(!outcome(q.synchronize()));
}

enum class use { read, write };

// Two uses of the same data, one on a queue and the other free or on another queue, two workers: they meet only if both read.
BOOST_DATA_TEST_CASE(readers_run_beside_each_other_and_writers_alone,
                     data::make({0, 1, 2}) * data::make({0, 1}) * data::make({0, 1}), where, first, second)
{
    test_device const dev(workers(2));
    gate one;
    gate two;
    std::vector<int> v(64, 1);
    std::vector<int> out(2, 0);
    omp_co::queue q(dev);
    omp_co::queue other(dev);
    BOOST_TEST(!outcome(omp_co::target_enter_data(dev, omp_co::to(v))));
    auto const start = [&](bool on_queue, omp_co::queue& which, gate& g, bool writes, int* to, pending& p) {
        auto const op = [&](auto const& destination) {
            if (writes)
                p.start(omp_co::target(destination, g.kernel(), omp_co::tofrom(v)));
            else
                p.start(omp_co::target(destination, reads(g), omp_co::to(v),
                                       omp_co::from(omp_co::section(to, 0, 1))));
        };
        if (on_queue)
            op(which);
        else
            op(dev.get());
    };
    pending a;
    pending b;
    start(where != 1, q, one, first != 0, &out[0], a); // the queue first, free first, two queues
    start(where != 0, other, two, second != 0, &out[1], b);
    BOOST_TEST(one.wait_entered(1));
    if (first == 0 && second == 0) {
        BOOST_TEST(two.wait_entered(1));
    } else {
        BOOST_TEST((b.stays() || (where != 0 && second != 0)));
        BOOST_TEST(two.entered() == 0);
    }
    two.open();
    one.open();
    BOOST_TEST(a.ends_well());
    BOOST_TEST(b.ends_well());
    BOOST_TEST(!outcome(omp_co::target_exit_data(dev, omp_co::from(v))));
    BOOST_TEST(v[0] == 1 + first + second);
    if (first == 0) BOOST_TEST(out[0] == 1);
    if (second == 0) BOOST_TEST(out[1] == 1 + first);
}

// A copy over data that is being read waits for its readers, wherever they are.
BOOST_AUTO_TEST_CASE(copies_wait_for_readers)
{
    test_device const dev(workers(4));
    gate g;
    std::vector<int> v(64, 1);
    std::vector<int> out(3, 0);
    omp_co::queue q(dev);
    omp_co::queue other(dev);
    omp_co::queue third(dev);
    BOOST_TEST(!outcome(omp_co::target_enter_data(dev, omp_co::to(v))));
    auto const op = [&](auto const& where, int& to) {
        return omp_co::target(where, reads(g), omp_co::to(v), omp_co::from(to));
    };
    pending a(op(q, out[0]));
    pending b(op(dev.get(), out[1]));
    pending c(op(other, out[2]));
    BOOST_TEST(g.wait_entered(3));
    v[0] = 7;
    BOOST_TEST(early(omp_co::target_update(third, omp_co::to(v)))); // staged, behind the readers
    v[0] = 9;
    pending d(omp_co::target_update(dev, omp_co::to(v)));
    BOOST_TEST(d.stays());
    g.open();
    for (pending* p : {&a, &b, &c, &d}) BOOST_TEST(p->ends_well());
    for (int o : out) BOOST_TEST(o == 1);
    BOOST_TEST(!outcome(omp_co::target(third, reads(g), omp_co::to(v), omp_co::from(out[0]))));
    BOOST_TEST(out[0] == 9);
}

// Sixteen queues, four workers: four readers meet inside their kernels, four times over.
BOOST_AUTO_TEST_CASE(sixteen_queues_read_one_array_side_by_side)
{
    test_device const dev(workers(4));
    std::vector<int> v(64, 5);
    std::vector<int> sums(16, 0);
    omp_co::sync_wait(omp_co::target_enter_data(dev, omp_co::to(v)));
    struct meeting {
        std::atomic<int> arrived{0};
        std::atomic<bool> alone{false};
    } m;
    auto const meet = [mp = &m](int const* in, int* out) {
        int const all = (mp->arrived.fetch_add(1) / 4 + 1) * 4;
        if (!eventually([&] { return mp->arrived.load() >= all; })) mp->alone = true;
        *out = in[0] + in[63];
    };
    std::deque<omp_co::queue> queues;
    std::deque<pending> all;
    for (int& sum : sums) {
        queues.emplace_back(dev);
        all.emplace_back();
        all.back().start(omp_co::target(queues.back(), meet, omp_co::to(v), omp_co::from(sum)));
    }
    for (pending& p : all) BOOST_TEST(p.ends_well());
    BOOST_TEST(!m.alone.load());
    for (int sum : sums) BOOST_TEST(sum == 10);
}

// Neither knows of the other. What both do to the data is not atomic, so only one has regions beside its queue: two such regions
// would be in no order.
BOOST_DATA_TEST_CASE(two_coroutines_with_a_queue_each_share_data, data::make({0U, 1U, 2U}), n)
{
    test_device const dev(workers(n));
    int const each = rounds(2'000);
    std::vector<int> v(8, 0);
    findings f;
    BOOST_TEST(!outcome(omp_co::target_enter_data(dev, omp_co::to(v))));
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t)
        threads.emplace_back([&, t] {
            asio::io_context io;
            auto body = [&]() -> asio::awaitable<void> {
                omp_co::queue q(dev);
                for (int k = 0; k < each; ++k) {
                    co_await omp_co::target(q, increment, omp_co::range(8), omp_co::tofrom(v));
                    if (k % 64 == 0) co_await omp_co::target_update(q, omp_co::from(v, omp_co::present));
                    if (t == 0 && k % 100 == 0)
                        co_await omp_co::target(dev, increment, omp_co::range(8), omp_co::tofrom(v));
                }
                co_await q.synchronize();
            };
            asio::co_spawn(io, body(), [&](std::exception_ptr e) { f.check(!e, "no error"); });
            io.run();
        });
    for (std::thread& t : threads) t.join();
    BOOST_TEST(!outcome(omp_co::target_exit_data(dev, omp_co::from(v))));
    int const expected = 2 * each + (each + 99) / 100;
    for (int e : v) BOOST_TEST(e == expected);
    BOOST_TEST(settle(dev));
    BOOST_TEST(dev.get().statistics().device_bytes == 0U);
}

// Each thread's constructs are in its order; how those of several mix nobody says.
BOOST_DATA_TEST_CASE(several_threads_start_constructs_on_one_queue, data::make({0U, 1U, 2U}), n)
{
    test_device const dev(workers(n));
    int const each = rounds(1'000);
    std::vector<int> v(4, 0);
    std::vector<int> wrong(4, 0);
    omp_co::queue q(dev);
    BOOST_TEST(!outcome(omp_co::target_enter_data(q, omp_co::to(v), omp_co::to(wrong))));
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            asio::io_context io;
            auto body = [&]() -> asio::awaitable<void> {
                auto const next = [](int* p, int* bad, int who, int k) {
                    if (p[who] != k) ++bad[who];
                    p[who] = k + 1;
                };
                for (int k = 0; k < each; ++k)
                    co_await omp_co::target(q, next, omp_co::tofrom(v), omp_co::tofrom(wrong),
                                            omp_co::firstprivate(t), omp_co::firstprivate(k));
            };
            asio::co_spawn(io, body(), [](std::exception_ptr e) {
                if (e) std::rethrow_exception(e);
            });
            io.run();
        });
    for (std::thread& t : threads) t.join();
    BOOST_TEST(!outcome(omp_co::target_exit_data(q, omp_co::from(v), omp_co::from(wrong))));
    for (int e : v) BOOST_TEST(e == each);
    for (int e : wrong) BOOST_TEST(e == 0);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace queue_order_test
