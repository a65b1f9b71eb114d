// SPDX-License-Identifier: BSL-1.0
// Queues among others: free regions, other queues, and depend clauses on the same data, in both directions.
#include "support/bound_handler.hpp"
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

namespace asio = boost::asio;
namespace data = boost::unit_test::data;
using namespace omp_co_test;
using omp_co::errc;
using omp_co::error_code;

namespace {

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
    BOOST_TEST(early(omp_co::target(q, g.kernel(), omp_co::tofrom(v)))); // 2
    pending b(omp_co::target(dev, twice, omp_co::range(64), omp_co::tofrom(v))); // 4
    BOOST_TEST(early(omp_co::target(q, five_more, omp_co::range(64), omp_co::tofrom(v)))); // 9
    pending c(omp_co::target(dev, twice, omp_co::range(64), omp_co::tofrom(v))); // 18
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
    pending c(omp_co::target(dev, five_more, omp_co::range(64), omp_co::tofrom(v))); // 9
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
    BOOST_TEST(early(omp_co::target(q, g.kernel(), omp_co::is_device_ptr(b.get())))); // 1
    pending f(omp_co::target(dev, twice, omp_co::range(1), omp_co::is_device_ptr(b.get()))); // 2
    BOOST_TEST(early(omp_co::target(q, five_more, omp_co::range(1), omp_co::is_device_ptr(b.get())))); // 7
    pending m(omp_co::target_memcpy(out, b));
    BOOST_TEST(early(omp_co::target(q, five_more, omp_co::range(1), omp_co::is_device_ptr(b.get())))); // too late
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
                p.start(omp_co::target(destination, reads(g), omp_co::to(v), omp_co::from(omp_co::section(to, 0, 1))));
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

// Neither knows of the other. What both do to the data is not atomic.
BOOST_DATA_TEST_CASE(two_coroutines_with_a_queue_each_share_data, data::make({0U, 1U, 2U}), n)
{
    test_device const dev(workers(n));
    int const each = rounds(2'000);
    std::vector<int> v(8, 0);
    findings f;
    BOOST_TEST(!outcome(omp_co::target_enter_data(dev, omp_co::to(v))));
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t)
        threads.emplace_back([&] {
            asio::io_context io;
            auto body = [&]() -> asio::awaitable<void> {
                omp_co::queue q(dev);
                for (int k = 0; k < each; ++k) {
                    co_await omp_co::target(q, increment, omp_co::range(8), omp_co::tofrom(v));
                    if (k % 64 == 0) co_await omp_co::target_update(q, omp_co::from(v, omp_co::present));
                    if (k % 100 == 0) co_await omp_co::target(dev, increment, omp_co::range(8), omp_co::tofrom(v));
                }
                co_await q.synchronize();
            };
            asio::co_spawn(io, body(), [&](std::exception_ptr e) { f.check(!e, "no error"); });
            io.run();
        });
    for (std::thread& t : threads) t.join();
    BOOST_TEST(!outcome(omp_co::target_exit_data(dev, omp_co::from(v))));
    int const expected = 2 * (each + (each + 99) / 100);
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
                    co_await omp_co::target(q, next, omp_co::tofrom(v), omp_co::tofrom(wrong), omp_co::firstprivate(t),
                                            omp_co::firstprivate(k));
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

BOOST_DATA_TEST_CASE(one_that_waits_for_the_host_keeps_those_behind_it, data::make({0U, 1U, 2U}), n)
{
    test_device const dev(workers(n));
    std::vector<int> v(64, 1);
    int flag = 0;
    omp_co::queue q(dev);
    BOOST_TEST(early(omp_co::target_enter_data(q, omp_co::to(v))));
    omp_co::external_event ready;
    pending task(omp_co::host_task([] {}, omp_co::detach(ready), omp_co::depend_out(flag)));
    pending a(omp_co::target(q, twice, omp_co::range(64), omp_co::tofrom(v), omp_co::depend_in(flag))); // 2
    pending b(omp_co::target(q, five_more, omp_co::range(64), omp_co::tofrom(v))); // 7
    pending c(q.synchronize());
    pending beside(omp_co::target(dev, twice, omp_co::range(64), omp_co::tofrom(v))); // has its place before them
    BOOST_TEST(beside.ends_well()); // 2
    BOOST_TEST(a.stays());
    BOOST_TEST(b.stays());
    BOOST_TEST(c.stays());
    ready.fulfill();
    for (pending* p : {&task, &a, &b, &c}) BOOST_TEST(p->ends_well());
    BOOST_TEST(early(omp_co::target(q, twice, omp_co::range(64), omp_co::tofrom(v))));
    BOOST_TEST(!outcome(omp_co::target_exit_data(q, omp_co::from(v))));
    BOOST_TEST(v[5] == 18);
}

BOOST_DATA_TEST_CASE(one_that_is_cancelled_while_it_waits_lets_the_others_go, data::make({0U, 1U, 2U}), n)
{
    test_device const dev(workers(n));
    std::vector<int> v(64, 1);
    int flag = 0;
    omp_co::queue q(dev);
    BOOST_TEST(early(omp_co::target_enter_data(q, omp_co::to(v))));
    omp_co::external_event ready;
    pending task(omp_co::host_task([] {}, omp_co::detach(ready), omp_co::depend_out(flag)));
    asio::io_context io;
    asio::cancellation_signal signal;
    error_code told;
    omp_co::target(q, twice, omp_co::range(64), omp_co::tofrom(v), omp_co::depend_in(flag))(
        bound(signal.slot(), io, [&](error_code ec) { told = ec; }));
    pending b(omp_co::target(q, five_more, omp_co::range(64), omp_co::tofrom(v))); // 6
    BOOST_TEST(b.stays());
    signal.emit(asio::cancellation_type::terminal);
    io.run();
    BOOST_TEST((told == asio::error::operation_aborted));
    BOOST_TEST(b.ends_well()); // although the task has not ended
    BOOST_TEST(early(omp_co::target(q, twice, omp_co::range(64), omp_co::tofrom(v)))); // 12
    BOOST_TEST(!outcome(omp_co::target_update(q, omp_co::from(v))));
    BOOST_TEST(v[5] == 12);
    ready.fulfill();
    BOOST_TEST(task.ends_well());
}

// The order is that of all before it, not only of the one that has gone.
BOOST_DATA_TEST_CASE(one_that_is_cancelled_lets_nobody_overtake, data::make({0U, 1U, 2U}), n)
{
    test_device const dev(workers(n));
    std::vector<int> v(64, 1);
    int flag = 0;
    int other = 0;
    omp_co::queue q(dev);
    BOOST_TEST(early(omp_co::target_enter_data(q, omp_co::to(v))));
    omp_co::external_event ready;
    omp_co::external_event never;
    pending task(omp_co::host_task([] {}, omp_co::detach(ready), omp_co::depend_out(flag)));
    pending second(omp_co::host_task([] {}, omp_co::detach(never), omp_co::depend_out(other)));
    pending a(omp_co::target(q, twice, omp_co::range(64), omp_co::tofrom(v), omp_co::depend_in(flag))); // 2
    asio::io_context io;
    asio::cancellation_signal signal;
    error_code told;
    omp_co::target(q, twice, omp_co::range(64), omp_co::tofrom(v), omp_co::depend_in(other))(
        bound(signal.slot(), io, [&](error_code ec) { told = ec; }));
    pending c(omp_co::target(q, five_more, omp_co::range(64), omp_co::tofrom(v))); // 7
    signal.emit(asio::cancellation_type::terminal);
    io.run();
    BOOST_TEST((told == asio::error::operation_aborted));
    BOOST_TEST(c.stays());
    pending d(omp_co::target(q, twice, omp_co::range(64), omp_co::tofrom(v))); // 14
    BOOST_TEST(d.stays());
    ready.fulfill();
    for (pending* p : {&task, &a, &c, &d}) BOOST_TEST(p->ends_well());
    BOOST_TEST(!outcome(omp_co::target_update(q, omp_co::from(v))));
    BOOST_TEST(v[5] == 14);
    never.fulfill();
    BOOST_TEST(second.ends_well());
}

// What was refused has no place in the order, also while what it depends on is in flight.
BOOST_AUTO_TEST_CASE(one_that_is_refused_holds_nobody_up)
{
    test_device const dev(workers(1));
    gate g;
    std::vector<int> v(64, 1);
    int flag = 0;
    int other = 0;
    omp_co::queue q(dev);
    BOOST_TEST(early(omp_co::target_enter_data(q, omp_co::to(v))));
    BOOST_TEST(early(omp_co::target(q, g.kernel(), omp_co::tofrom(v), omp_co::depend_out(flag))));
    pending refused(omp_co::target(q, twice, omp_co::range(1), omp_co::tofrom(other, omp_co::present), omp_co::depend_in(flag)));
    BOOST_TEST(refused.ends());
    BOOST_TEST((refused.code() == errc::not_present), refused.code().message());
    pending next(omp_co::target(q, twice, omp_co::range(64), omp_co::tofrom(v), omp_co::depend_out(other)));
    BOOST_TEST(next.ends_well());
    g.open();
    BOOST_TEST(!outcome(omp_co::target_exit_data(q, omp_co::from(v))));
    BOOST_TEST(v[0] == 4);
}

// Its data is where it is, and it is waited for.
BOOST_DATA_TEST_CASE(a_construct_that_runs_on_the_host_has_its_place_too, data::make({0U, 1U, 2U}), n)
{
    test_device const dev(workers(n));
    gate g;
    if (n == 0) g.open();
    std::vector<int> v(64, 1);
    std::thread::id where;
    int on_host = 0;
    omp_co::queue q(dev);
    BOOST_TEST(early(omp_co::target_enter_data(q, omp_co::to(v))));
    BOOST_TEST(early(omp_co::target(q, g.kernel(), omp_co::tofrom(v)))); // 2
    pending back(omp_co::target_update(q, omp_co::from(v)));
    auto const look = [](int const* p, int* seen, std::thread::id* id) {
        *seen = p[0];
        *id = std::this_thread::get_id();
    };
    pending here(omp_co::target(q, look, omp_co::to(v), omp_co::from(on_host), omp_co::from(where), omp_co::if_(false)));
    pending behind(omp_co::target(q, twice, omp_co::range(64), omp_co::tofrom(v))); // 4
    if (n != 0) {
        BOOST_TEST(here.stays());
        BOOST_TEST(behind.stays());
    }
    g.open();
    for (pending* p : {&back, &here, &behind}) BOOST_TEST(p->ends_well());
    BOOST_TEST(on_host == 2);
    BOOST_TEST((where != std::thread::id()));
    pending nothing(omp_co::target_update(q, omp_co::to(v), omp_co::if_(false)));
    BOOST_TEST(nothing.ends_well());
    BOOST_TEST(early(omp_co::target(q, [] { throw 1; })));
    omp_co::diagnostics why;
    pending not_run(omp_co::target(q, look, omp_co::to(v), omp_co::from(on_host), omp_co::from(where), omp_co::if_(false),
                                   omp_co::explain(why)));
    BOOST_TEST(not_run.ends());
    BOOST_TEST((not_run.code() == errc::kernel_failed), not_run.code().message());
    BOOST_TEST(!why.empty());
    pending fails(omp_co::target(q, [] { throw 1; }, omp_co::if_(false)));
    BOOST_TEST(fails.ends());
    BOOST_TEST((fails.code() == errc::kernel_failed), fails.code().message());
    BOOST_TEST(early(omp_co::target(q, twice, omp_co::range(64), omp_co::tofrom(v)))); // 8: it was told
    BOOST_TEST(!outcome(omp_co::target_exit_data(q, omp_co::from(v))));
    BOOST_TEST(v[0] == 8);
    BOOST_TEST(on_host == 2);
}

// It never had a place in the queue.
BOOST_AUTO_TEST_CASE(one_whose_predecessor_fails_says_so_and_stops_nothing)
{
    test_device const dev(workers(1));
    std::vector<int> v(64, 1);
    int flag = 0;
    omp_co::queue q(dev);
    BOOST_TEST(early(omp_co::target_enter_data(q, omp_co::to(v))));
    omp_co::external_event ready;
    pending task(omp_co::host_task([] {}, omp_co::detach(ready), omp_co::depend_out(flag)));
    omp_co::diagnostics why;
    pending a(omp_co::target(q, twice, omp_co::range(64), omp_co::tofrom(v), omp_co::depend_in(flag),
                             omp_co::explain(why)));
    pending b(omp_co::target(q, five_more, omp_co::range(64), omp_co::tofrom(v))); // 6
    ready.fulfill(make_error_code(errc::invalid_argument));
    BOOST_TEST(task.ends());
    BOOST_TEST(a.ends());
    BOOST_TEST((a.code() == errc::predecessor_failed), a.code().message());
    BOOST_TEST(!why.empty());
    BOOST_TEST(b.ends_well());
    BOOST_TEST(!outcome(omp_co::target_exit_data(q, omp_co::from(v))));
    BOOST_TEST(v[5] == 6);
}

// A dependence names what a construct does, not when its await is over.
BOOST_DATA_TEST_CASE(successors_wait_for_the_work_and_not_for_the_await, data::make({false, true}), fails)
{
    test_device const dev(workers(2));
    test_device const other(workers(1));
    gate g;
    std::vector<int> v(64, 1);
    int flag = 0;
    bool ran = false;
    omp_co::queue q(dev);
    omp_co::queue elsewhere(other);
    BOOST_TEST(early(omp_co::target(
        q,
        [gp = &g, fails] {
            gp->pass();
            if (fails) throw 1;
        },
        omp_co::depend_out(flag))));
    auto const note = [&] { ran = true; };
    pending task(omp_co::host_task(note, omp_co::depend_in(flag)));
    pending there(omp_co::target(elsewhere, five_more, omp_co::range(64), omp_co::tofrom(v), omp_co::depend_in(flag)));
    pending here(omp_co::target(dev, [] {}, omp_co::depend_in(flag)));
    BOOST_TEST(task.stays());
    BOOST_TEST(there.stays());
    BOOST_TEST(here.stays());
    g.open();
    for (pending* p : {&task, &there, &here}) {
        BOOST_TEST(p->ends());
        BOOST_TEST((p->code() == (fails ? make_error_code(errc::predecessor_failed) : error_code())), p->code().message());
    }
    BOOST_TEST(ran == !fails);
    BOOST_TEST(v[0] == (fails ? 1 : 6));
    BOOST_TEST(!!outcome(q.synchronize()) == fails);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
