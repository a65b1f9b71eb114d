// SPDX-License-Identifier: BSL-1.0
// Contexts and coroutines that are destroyed at every point of what they do: nothing is called, nothing is leaked,
// nothing is used after it is gone.
#include "support/devices.hpp"
#include "support/gate.hpp"
#include "support/kernels.hpp"
#include "support/sanitizers.hpp"
#include "support/sentinel.hpp"
#include "support/settle.hpp"

#include <atomic>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace abandonment_test {

namespace asio = boost::asio;
namespace data = boost::unit_test::data;
using namespace asio::experimental::awaitable_operators;
using namespace omp_co_test;
using namespace std::chrono_literals;
using omp_co::error_code;

/// Ends the scenario after a number of steps: stops the loop, as a program does that is told to go.
struct steps {
    steps(asio::io_context& context, int n) : io(context), left(n) {}

    asio::io_context& io;
    int left;
    std::atomic<int> alive{0};
    bool finished = false;

    void step()
    {
        if (--left == 0) io.stop();
    }
};

inline asio::awaitable<void> one_by_one(omp_co::device dev, steps& s)
{
    sentinel const here(s.alive);
    std::vector<int> v(64, 0);
    int scalar = 0;
    co_await omp_co::target(dev, increment, omp_co::range(64), omp_co::tofrom(v));
    s.step();
    auto body = [&]() -> asio::awaitable<int> {
        sentinel const inside(s.alive);
        s.step();
        co_await omp_co::target(dev, increment, omp_co::range(64), omp_co::tofrom(v),
                                omp_co::also(omp_co::to(scalar)));
        s.step();
        co_await omp_co::target_update(dev, omp_co::from(v));
        s.step();
        co_return v[0];
    };
    (void)co_await omp_co::target_data(dev, omp_co::tofrom(v), body);
    s.step();
    auto outer = [&]() -> asio::awaitable<void> {
        sentinel const inside(s.alive);
        (void)co_await omp_co::target_data(dev, omp_co::tofrom(v), body);
        s.step();
    };
    co_await omp_co::target_data(dev, omp_co::alloc(scalar), outer);
    s.step();
}

inline asio::awaitable<void> member(omp_co::device dev, steps& s, std::vector<int>& v)
{
    sentinel const here(s.alive);
    co_await omp_co::target(dev, increment, omp_co::range(64), omp_co::tofrom(v));
    s.step();
}

inline asio::awaitable<void> together(omp_co::device dev, steps& s)
{
    sentinel const here(s.alive);
    std::vector<int> v(64, 0);
    std::vector<int> w(64, 0);
    auto const one = omp_co::target(dev, increment, omp_co::range(64), omp_co::tofrom(v));
    auto const two = omp_co::target(dev, increment, omp_co::range(64), omp_co::tofrom(w));
    co_await omp_co::when_all(one, two, omp_co::when_all(one));
    s.step();
    asio::steady_timer timer(s.io, 1h);
    co_await (one(asio::use_awaitable) || timer.async_wait(asio::use_awaitable));
    s.step();
    co_await (omp_co::when_all(one, two)(asio::use_awaitable) || timer.async_wait(asio::use_awaitable));
    s.step();
    co_await (one(asio::use_awaitable) && member(dev, s, w));
    s.step();
    // A parallel group gives its members no executor: without one of their own, a library thread would serve them, and
    // they would come back to a loop that is gone.
    co_await asio::experimental::make_parallel_group(
        one(asio::bind_executor(s.io, asio::deferred)),
        omp_co::when_all(two, two)(asio::bind_executor(s.io, asio::deferred)))
        .async_wait(asio::experimental::wait_for_all(), asio::use_awaitable);
    s.step();
}

inline asio::awaitable<void> in_a_group(omp_co::device dev, steps& s)
{
    sentinel const here(s.alive);
    std::vector<int> v(64, 0);
    std::vector<int> w(64, 0);
    omp_co::task_group group(s.io.get_executor());
    for (int round = 0; round < 2; ++round) {
        group.spawn(omp_co::target(dev, increment, omp_co::range(64), omp_co::tofrom(v)));
        group.spawn(member(dev, s, w));
        co_await group.wait();
        s.step();
    }
}

using scenario = asio::awaitable<void> (*)(omp_co::device, steps&);

inline void spawn(asio::io_context& io, scenario what, omp_co::device dev, steps& s)
{
    asio::co_spawn(io, what(dev, s),
                   [&s, here = sentinel(s.alive)](std::exception_ptr e) { s.finished = !e; });
}

inline void check_nothing_left(omp_co::device dev, steps const& s)
{
    BOOST_TEST(s.alive == 0);
    auto const now = dev.statistics();
    BOOST_TEST(now.in_flight == 0U);
    BOOST_TEST(now.mapped_ranges == 0U);
    BOOST_TEST(now.device_bytes == 0U);
}

// Runs `what` up to its n-th step, then destroys the context. False: it was at its end before that.
inline bool stop_after_step(device_kind const& kind, scenario what, int n)
{
    test_device const dev = kind.make();
    auto io = std::make_unique<asio::io_context>(1);
    steps s(*io, n);
    spawn(*io, what, dev, s);
    if (n != 0) io->run();
    bool const finished = s.finished;
    io.reset();
    BOOST_TEST(settle(dev));
    check_nothing_left(dev, s);
    return !finished;
}

// The same after n handlers of the loop, whatever they are.
inline bool stop_after_handler(device_kind const& kind, scenario what, int n)
{
    test_device const dev = kind.make();
    auto io = std::make_unique<asio::io_context>(1);
    steps s(*io, -1);
    spawn(*io, what, dev, s);
    for (int i = 0; i < n && io->run_one() != 0; ++i) {
    }
    bool const finished = s.finished;
    io.reset();
    BOOST_TEST(settle(dev));
    check_nothing_left(dev, s);
    return !finished;
}

struct named_scenario {
    char const* name;
    scenario what;
    friend std::ostream& operator<<(std::ostream& out, named_scenario const& s) { return out << s.name; }
};

inline std::array<named_scenario, 3> const scenarios{{
    {"one by one", &one_by_one},
    {"together", &together},
    {"in a group", &in_a_group},
}};

struct counting_handler {
    void operator()(error_code) const { ++*calls; }

    sentinel here;
    int* calls;
};

/// Starts operations from its destructor, which runs when its context is going away.
class starts_when_destroyed {
public:
    starts_when_destroyed(asio::io_context& io, omp_co::device dev, std::vector<int>& v,
                          std::atomic<int>& alive, int& calls)
        : io_(io), device_(dev), data_(v), alive_(alive), calls_(calls)
    {
    }
    starts_when_destroyed(starts_when_destroyed const&) = delete;
    starts_when_destroyed& operator=(starts_when_destroyed const&) = delete;
    ~starts_when_destroyed()
    {
        auto const op = omp_co::target(device_, increment, omp_co::range(8), omp_co::tofrom(data_));
        auto const handler = [this] {
            return asio::bind_executor(io_, counting_handler{sentinel(alive_), &calls_});
        };
        op(handler());
        omp_co::when_all(op, op)(handler());
        omp_co::when_all()(handler());
        omp_co::target(device_, increment, omp_co::range(-1), omp_co::tofrom(data_))(handler());
        omp_co::target_update(device_, omp_co::to(data_), omp_co::if_(false))(handler());
        omp_co::task_group group(io_.get_executor());
        group.spawn(op);
        group.wait()(handler());
    }

private:
    asio::io_context& io_;
    omp_co::device device_;
    std::vector<int>& data_;
    std::atomic<int>& alive_;
    int& calls_;
};

struct holds {
    void operator()(error_code) const {}

    std::shared_ptr<starts_when_destroyed> last;
};

BOOST_AUTO_TEST_SUITE(abandonment)

BOOST_DATA_TEST_CASE(a_context_may_go_after_any_step, data::make(copying_kinds) * data::make(scenarios), kind,
                     s)
{
    int n = 0;
    while (stop_after_step(kind, s.what, n)) ++n;
    BOOST_TEST(n > 2);
}

BOOST_DATA_TEST_CASE(a_context_may_go_after_any_handler, data::make(copying_kinds) * data::make(scenarios),
                     kind, s)
{
    // How many turns there are depends on how fast the workers are; nobody needs more than these.
    int n = 0;
    while (n < 200 && stop_after_handler(kind, s.what, n)) ++n;
    BOOST_TEST(n > 2);
}

// Pitfall 2.
BOOST_DATA_TEST_CASE(a_context_may_go_with_a_thousand_regions_in_flight, data::make(copying_kinds), kind)
{
    test_device const dev = kind.make();
    std::vector<std::vector<int>> sets(10, std::vector<int>(64, 0));
    int const regions = rounds(1000) / 10 * 10;
    std::atomic<int> alive{0};
    int calls = 0;
    auto const flood = [&](auto& context) {
        auto const ex = context.get_executor();
        for (int i = 0; i < regions; ++i) {
            auto& v = sets[static_cast<std::size_t>(i) % sets.size()];
            omp_co::target(dev, increment, omp_co::range(64), omp_co::tofrom(v))(
                asio::bind_executor(ex, [&calls, here = sentinel(alive)](error_code) { ++calls; }));
        }
        BOOST_TEST(alive == regions);
    };
    {
        asio::io_context io;
        flood(io);
    }
    BOOST_TEST(alive == 0);
    {
        omp_co::offload_context own;
        flood(own);
    }
    BOOST_TEST(alive == 0);
    BOOST_TEST(calls == 0);
    for (auto const& v : sets) BOOST_TEST(v[63] == 2 * regions / 10); // effects happen all the same
    BOOST_TEST(dev.get().statistics().in_flight == 0U);
    BOOST_TEST(dev.get().statistics().mapped_ranges == 0U);
    BOOST_TEST(dev.get().statistics().device_bytes == 0U);
}

BOOST_AUTO_TEST_CASE(a_thread_pool_may_go_with_regions_in_flight)
{
    test_device const dev(workers(2));
    std::vector<std::vector<int>> sets(10, std::vector<int>(64, 0));
    int const regions = rounds(1000) / 10 * 10;
    std::vector<std::atomic<int>> calls(static_cast<std::size_t>(regions) + 1); // of each handler; the gate's last
    auto alive = std::make_shared<int>(0);
    {
        gate g;
        std::vector<int> held(1, 0);
        asio::thread_pool pool(4);
        auto const strand = asio::make_strand(pool);
        omp_co::target(dev, g.kernel(), omp_co::tofrom(held))(
            asio::bind_executor(pool, [alive, &count = calls.back()](error_code) { ++count; }));
        for (int i = 0; i < regions; ++i) {
            auto& v = sets[static_cast<std::size_t>(i) % sets.size()];
            auto const op = omp_co::target(dev, increment, omp_co::range(64), omp_co::tofrom(v));
            auto const handler = [alive, &count = calls[static_cast<std::size_t>(i)]](error_code) { ++count; };
            if (i % 2 == 0)
                op(asio::bind_executor(pool, handler));
            else
                op(asio::bind_executor(strand, handler));
        }
        pool.stop();
        g.open();
    }
    BOOST_TEST(alive.use_count() == 1);
    for (auto const& count : calls) BOOST_TEST(count <= 1); // a turn that was under way may still have run some
    BOOST_TEST(dev.get().statistics().in_flight == 0U);
    BOOST_TEST(dev.get().statistics().mapped_ranges == 0U);
}

// The device is busy with what another thread hands it meanwhile, for a loop that lives on.
BOOST_DATA_TEST_CASE(a_context_goes_while_another_one_is_busy_on_the_device, data::make(copying_kinds), kind)
{
    test_device const dev = kind.make();
    std::atomic<bool> over{false};
    std::atomic<int> good{0};
    std::thread other([&] {
        asio::io_context io;
        std::vector<int> v(64, 0);
        auto const task = [&]() -> asio::awaitable<void> {
            while (!over) {
                co_await omp_co::target(dev, increment, omp_co::range(64), omp_co::tofrom(v));
                ++good;
            }
        };
        for (int i = 0; i < 4; ++i) asio::co_spawn(io, task(), asio::detached);
        io.run();
    });
    for (int k = 0; k < rounds(100); ++k) {
        int calls = 0;
        std::vector<int> v(64, 0);
        int const before = good;
        {
            asio::io_context io;
            for (int i = 0; i < 10; ++i)
                omp_co::target(dev, increment, omp_co::range(64),
                               omp_co::tofrom(v))(asio::bind_executor(io, [&](error_code) { ++calls; }));
            io.poll_one();
            calls = 0;
        }
        BOOST_REQUIRE(calls == 0);
        BOOST_REQUIRE(v[63] == 10);
        BOOST_TEST(eventually([&] { return good > before; }) == true);
    }
    over = true;
    other.join();
}

BOOST_DATA_TEST_CASE(a_coroutine_destroyed_in_a_data_region_drops_counts_and_copies_nothing,
                     data::make(copying_kinds), kind)
{
    test_device const dev = kind.make();
    std::vector<int> v(64, 1);
    bool inside = false;
    {
        asio::io_context io;
        asio::steady_timer never(io, 1h);
        auto body = [&]() -> asio::awaitable<void> {
            co_await omp_co::target(dev, increment, omp_co::range(64), omp_co::alloc(v));
            inside = true;
            co_await never.async_wait(asio::use_awaitable);
        };
        asio::co_spawn(io, omp_co::target_data(dev, omp_co::tofrom(v, omp_co::always), body), asio::detached);
        while (!inside) io.run_one();
        BOOST_TEST(dev.get().statistics().mapped_ranges == 1U);
    }
    BOOST_TEST(settle(dev));
    BOOST_TEST(v[0] == 1);
    BOOST_TEST(dev.get().statistics().copies_out == 0U);
    BOOST_TEST(dev.get().statistics().mapped_ranges == 0U);
    BOOST_TEST(dev.get().statistics().device_bytes == 0U);
}

// Its counts have risen when it was accepted; nobody but the construct can drop them.
BOOST_AUTO_TEST_CASE(a_coroutine_destroyed_in_the_entry_of_a_data_region_leaves_no_mapping)
{
    test_device const dev(workers(1));
    std::vector<int> v(64, 1);
    std::vector<int> blocker(1, 1);
    gate g;
    bool inside = false;
    omp_co::target(dev, g.kernel(), omp_co::tofrom(blocker))(asio::detached);
    BOOST_TEST(g.wait_entered(1));
    std::thread opener;
    {
        asio::io_context io;
        auto body = [&]() -> asio::awaitable<void> {
            inside = true;
            co_return;
        };
        asio::co_spawn(io, omp_co::target_data(dev, omp_co::tofrom(v), body), asio::detached);
        io.poll();
        opener = std::thread([&] {
            std::this_thread::sleep_for(10ms);
            g.open();
        });
    }
    opener.join();
    BOOST_TEST(!inside);
    BOOST_TEST(settle(dev));
    BOOST_TEST(dev.get().statistics().mapped_ranges == 0U);
    BOOST_TEST(dev.get().statistics().device_bytes == 0U);
}

// The end has its place on the device once the body is over: the data comes back although nobody waits any more.
BOOST_AUTO_TEST_CASE(a_coroutine_destroyed_in_the_end_of_a_data_region_leaves_no_mapping)
{
    test_device const dev(workers(1));
    std::vector<int> v(64, 1);
    std::vector<int> blocker(1, 1);
    gate g;
    bool inside = false;
    std::thread opener;
    {
        asio::io_context io;
        auto body = [&]() -> asio::awaitable<void> {
            omp_co::target(dev, g.kernel(), omp_co::tofrom(blocker))(asio::detached);
            inside = true;
            co_return;
        };
        asio::co_spawn(io, omp_co::target_data(dev, omp_co::tofrom(v), body), asio::detached);
        while (!inside) io.run_one();
        io.poll();
        opener = std::thread([&] {
            std::this_thread::sleep_for(10ms);
            g.open();
        });
    }
    opener.join();
    BOOST_TEST(settle(dev));
    BOOST_TEST(dev.get().statistics().mapped_ranges == 0U);
    BOOST_TEST(dev.get().statistics().device_bytes == 0U);
}

BOOST_DATA_TEST_CASE(operations_started_while_the_context_goes_destroy_their_handlers,
                     data::make(copying_kinds), kind)
{
    test_device const dev = kind.make();
    std::vector<int> v(8, 0);
    std::vector<int> held(1, 0);
    std::atomic<int> alive{0};
    int calls = 0;
    {
        asio::io_context io;
        asio::steady_timer never(io, 1h);
        // In a coroutine's frame, and in the handler of a region that is in flight.
        asio::co_spawn(
            io,
            [&]() -> asio::awaitable<void> {
                starts_when_destroyed const last(io, dev, v, alive, calls);
                co_await never.async_wait(asio::use_awaitable);
            },
            asio::detached);
        io.poll();
        auto last = std::make_shared<starts_when_destroyed>(io, dev, v, alive, calls);
        omp_co::target(dev, increment, omp_co::range(1),
                       omp_co::tofrom(held))(asio::bind_executor(io, holds{std::move(last)}));
    }
    BOOST_TEST(calls == 0);
    BOOST_TEST(alive == 0);
    BOOST_TEST(dev.get().statistics().in_flight == 0U);
    BOOST_TEST(dev.get().statistics().mapped_ranges == 0U);
}

BOOST_AUTO_TEST_CASE(a_task_group_that_goes_waits_for_its_regions)
{
    test_device const dev(workers(1));
    asio::io_context io;
    gate g;
    bool ended = false;
    {
        auto v = std::make_unique<std::vector<int>>(64, 0);
        std::thread opener;
        {
            omp_co::task_group group(io.get_executor());
            for (int i = 0; i < 10; ++i) group.spawn(omp_co::target(dev, g.kernel(), omp_co::tofrom(*v)));
            BOOST_TEST(g.wait_entered(1));
            opener = std::thread([&] {
                std::this_thread::sleep_for(10ms);
                g.open();
            });
        }
        BOOST_TEST(g.left() == 10);
        BOOST_TEST((*v)[0] == 10);
        opener.join();
        v.reset();
    }
    asio::post(io, [&] { ended = true; });
    io.run();
    BOOST_TEST(ended);
}

// Who waits belongs to a loop of its own, which goes first.
BOOST_AUTO_TEST_CASE(a_waiter_of_a_task_group_goes_with_its_loop)
{
    test_device const dev(workers(1));
    gate g;
    std::vector<int> v(1, 0);
    asio::thread_pool members(1);
    omp_co::task_group group(members.get_executor());
    group.spawn(omp_co::target(dev, g.kernel(), omp_co::tofrom(v)));
    auto alive = std::make_shared<int>(0);
    bool called = false;
    {
        asio::io_context io;
        group.wait()(asio::bind_executor(io, [alive, &called](error_code) { called = true; }));
    }
    BOOST_TEST(alive.use_count() == 1);
    g.open();
    members.join();
    BOOST_TEST(!called);
    BOOST_TEST(v[0] == 1);
}

// It is the device's memory, and goes with it.
BOOST_DATA_TEST_CASE(a_device_that_goes_frees_what_is_still_mapped, data::make(device_kinds), kind)
{
    std::vector<int> v(1 << 12, 0);
    std::optional<test_device> dev;
    dev.emplace(kind.make());
    omp_co::device const handle = *dev;
    omp_co::sync_wait(omp_co::target_enter_data(handle, omp_co::to(v)));
    if (handle.number() >= 0) omp_co::sync_wait(omp_co::target_exit_data(handle, omp_co::delete_(v)));
    dev.reset();
    BOOST_TEST((handle.number() >= 0 || !handle.is_present(v.data()))); // a leak is for LeakSanitizer to see
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace abandonment_test
