// SPDX-License-Identifier: BSL-1.0
// Queues and failures: what is skipped, who is told, and in which words.
#include "support/devices.hpp"
#include "support/kernels.hpp"
#include "support/outcome.hpp"
#include "support/pending.hpp"
#include "support/settle.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace queue_errors_test {

namespace asio = boost::asio;
namespace data = boost::unit_test::data;
using namespace omp_co_test;
using omp_co::errc;
using omp_co::error_code;

auto const throws = [] { throw std::runtime_error("the first"); };
auto const throws_again = [] { throw std::runtime_error("the second"); };

void spin_for(std::chrono::microseconds time)
{
    for (auto const end = std::chrono::steady_clock::now() + time; std::chrono::steady_clock::now() < end;) {
    }
}

bool says(omp_co::diagnostics const& why, char const* words)
{
    return why.message().find(words) != std::string::npos;
}

// Reports the queue's error, if there is one.
error_code ask(omp_co::queue const& q) { return outcome(q.synchronize()); }

BOOST_AUTO_TEST_SUITE(queue_errors)

// Nothing of it had failed when the rest was enqueued.
BOOST_DATA_TEST_CASE(what_was_enqueued_behind_a_failure_is_skipped, data::make({1U, 2U}), n)
{
    test_device const dev(workers(n));
    gate g;
    std::vector<int> v(64, 1);
    std::vector<int> w(64, 1);
    std::vector<int> x(100'000, 9);
    omp_co::queue q(dev);
    BOOST_TEST(early(omp_co::target_enter_data(q, omp_co::to(v))));
    BOOST_TEST(early(omp_co::target(q, g.kernel(), omp_co::tofrom(v)))); // 2
    BOOST_TEST(early(omp_co::target(q, throws)));
    BOOST_TEST(early(omp_co::target(q, increment, omp_co::range(64), omp_co::tofrom(v))));
    pending copies(omp_co::target_update(q, omp_co::to(omp_co::section(v, 1, 63))));
    pending large(omp_co::target(
        q, [](int const*) {}, omp_co::to(x)));
    omp_co::diagnostics why;
    pending told(omp_co::target(q, increment, omp_co::range(64), omp_co::tofrom(w),
                                omp_co::also(omp_co::tofrom(v)), omp_co::explain(why)));
    pending not_told(omp_co::target(q, increment, omp_co::range(64), omp_co::tofrom(w)));
    g.open();
    BOOST_TEST(copies.ends_well());
    BOOST_TEST(large.ends_well());
    BOOST_TEST(told.ends());
    BOOST_TEST((told.code() == errc::kernel_failed), told.code().message());
    BOOST_TEST(says(why, "an earlier construct of its queue failed"), why.message());
    BOOST_TEST(not_told.ends()); // it was started before the error was told
    BOOST_TEST((not_told.code() == errc::predecessor_failed), not_told.code().message());
    BOOST_TEST(w[0] == 1);
    BOOST_TEST(!ask(q));
    BOOST_TEST(!outcome(omp_co::target_exit_data(q, omp_co::from(v))));
    BOOST_TEST(v[0] == 2);
    BOOST_TEST(v[63] == 1);
    BOOST_TEST(settle(dev));
    BOOST_TEST(dev.get().statistics().device_bytes == 0U);
}

BOOST_DATA_TEST_CASE(what_comes_after_a_failure_is_skipped_until_it_is_told, data::make({0U, 1U, 2U}), n)
{
    test_device const dev(workers(n));
    std::vector<int> v(64, 1);
    std::vector<int> w(64, 1);
    omp_co::queue q(dev);
    BOOST_TEST(!outcome(omp_co::target_enter_data(q, omp_co::to(v))));
    BOOST_TEST(!outcome(omp_co::target(q, throws)));
    BOOST_TEST(settle(dev)); // it has retired
    BOOST_TEST(!outcome(omp_co::target(q, throws_again)));
    BOOST_TEST(!outcome(omp_co::target(q, increment, omp_co::range(64), omp_co::tofrom(v))));
    BOOST_TEST(settle(dev));
    BOOST_TEST(!outcome(omp_co::target(q, increment, omp_co::range(64), omp_co::tofrom(v))));
    omp_co::diagnostics why;
    BOOST_TEST((outcome(omp_co::target(q, increment, omp_co::range(64), omp_co::tofrom(w),
                                       omp_co::explain(why))) == errc::kernel_failed));
    BOOST_TEST(w[0] == 1);
    BOOST_TEST(!ask(q)); // not twice
    BOOST_TEST(!outcome(omp_co::target(q, increment, omp_co::range(64), omp_co::tofrom(v))));
    BOOST_TEST(!outcome(omp_co::target_update(q, omp_co::from(v))));
    BOOST_TEST(v[0] == 2); // only the last
    BOOST_TEST(!outcome(omp_co::target(q, throws)));
    BOOST_TEST((ask(q) == errc::kernel_failed)); // a new one
    BOOST_TEST(!outcome(omp_co::target_exit_data(q, omp_co::from(v))));
    BOOST_TEST(v[0] == 2);
}

BOOST_DATA_TEST_CASE(one_that_waits_and_fails_tells_it_itself, data::make({0U, 1U, 2U}), n)
{
    test_device const dev(workers(n));
    std::vector<int> v(64, 1);
    omp_co::queue q(dev);
    auto const bad = [](int* p) {
        p[0] = 7;
        throw std::runtime_error("the third");
    };
    omp_co::diagnostics why;
    BOOST_TEST((outcome(omp_co::target(q, bad, omp_co::tofrom(v), omp_co::name("bad"),
                                       omp_co::explain(why))) == errc::kernel_failed));
    BOOST_TEST(says(why, "bad: "), why.message());
    BOOST_TEST(says(why, "the third"), why.message());
    BOOST_TEST(v[0] == 1);
    BOOST_TEST(!outcome(omp_co::target(q, increment, omp_co::range(64), omp_co::tofrom(v))));
    BOOST_TEST(v[0] == 2);
}

// A system_error's code comes through, the first of two.
BOOST_AUTO_TEST_CASE(of_two_failures_the_first_is_told)
{
    test_device const dev(workers(1));
    gate g;
    omp_co::queue q(dev);
    auto const first = [gp = &g] {
        gp->pass();
        throw std::bad_alloc();
    };
    BOOST_TEST(early(omp_co::target(q, first)));
    BOOST_TEST(early(omp_co::target(q, throws_again)));
    pending one(q.synchronize());
    pending two(q.synchronize());
    g.open();
    BOOST_TEST(one.ends());
    BOOST_TEST(two.ends());
    BOOST_TEST((one.code() && one.code() != errc::predecessor_failed), one.code().message());
    BOOST_TEST((two.code() == errc::predecessor_failed),
               two.code().message()); // something was skipped after it was told
    BOOST_TEST(!ask(q));
}

// It is worth more than what the earlier one has skipped, whichever construct finds out first that something was.
BOOST_DATA_TEST_CASE(a_failure_after_one_that_was_told_is_told_too,
                     data::make({1U, 2U}) * data::make({false, true}), n, at_once)
{
    test_device const dev(workers(n));
    gate g;
    omp_co::queue q(dev);
    BOOST_TEST(early(omp_co::target(q, g.failing())));
    pending told(q.synchronize());
    BOOST_TEST(early(omp_co::target(q, [] {}))); // skipped
    g.open();
    BOOST_TEST(told.ends());
    BOOST_TEST((told.code() == errc::kernel_failed), told.code().message());
    BOOST_TEST(settle(dev));
    if (!at_once) BOOST_TEST(early(omp_co::target(q, [] {})));
    BOOST_TEST(early(omp_co::target(q, throws_again)));
    BOOST_TEST((ask(q) == errc::kernel_failed));
    BOOST_TEST(!ask(q));
}

// Nobody knew of a failure when it was started, and it relies on what was skipped.
BOOST_DATA_TEST_CASE(what_was_started_before_a_failure_was_told_is_skipped, data::make({1U, 2U}), n)
{
    test_device const dev(workers(n));
    gate g;
    std::vector<int> v(64, 1);
    std::vector<int> w(64, 1);
    omp_co::queue q(dev);
    BOOST_TEST(early(omp_co::target_enter_data(q, omp_co::to(w))));
    BOOST_TEST(early(omp_co::target(q, g.failing())));
    BOOST_TEST(early(omp_co::target_enter_data(q, omp_co::to(v))));
    pending told(q.synchronize());
    BOOST_TEST(early(omp_co::target(q, increment, omp_co::range(64), omp_co::tofrom(w))));
    pending back(omp_co::target_exit_data(q, omp_co::from(v)));
    BOOST_TEST(early(omp_co::target(q, increment, omp_co::range(64), omp_co::tofrom(w))));
    g.open();
    BOOST_TEST(told.ends());
    BOOST_TEST(back.ends());
    BOOST_TEST((told.code() == errc::kernel_failed), told.code().message());
    BOOST_TEST((back.code() == errc::predecessor_failed), back.code().message());
    BOOST_TEST(v[0] == 1);
    BOOST_TEST((ask(q) == errc::predecessor_failed)); // the last increment
    BOOST_TEST(early(omp_co::target(q, increment, omp_co::range(64), omp_co::tofrom(w))));
    BOOST_TEST(!outcome(omp_co::target_exit_data(q, omp_co::from(w))));
    BOOST_TEST(w[0] == 2);
    BOOST_TEST(!dev.get().is_present(v.data()));
    BOOST_TEST(settle(dev));
    BOOST_TEST(dev.get().statistics().device_bytes == 0U);
}

// They are read after one that waits has ended.
BOOST_DATA_TEST_CASE(each_has_words_of_its_own, data::make({0U, 1U, 2U}), n)
{
    test_device const dev(workers(n));
    omp_co::queue q(dev);
    auto const slow = [] { spin_for(std::chrono::microseconds(200)); };
    omp_co::diagnostics good;
    omp_co::diagnostics bad;
    omp_co::diagnostics skipped;
    omp_co::diagnostics told;
    BOOST_TEST(!outcome(omp_co::target(q, slow, omp_co::explain(good))));
    BOOST_TEST(!outcome(omp_co::target(q, throws, omp_co::name("bad"), omp_co::explain(bad))));
    BOOST_TEST(!outcome(omp_co::target(q, throws_again, omp_co::name("skipped"), omp_co::explain(skipped))));
    pending asks(q.synchronize());
    BOOST_TEST(asks.ends());
    BOOST_TEST((asks.code() == errc::kernel_failed), asks.code().message());
    BOOST_TEST(good.empty(), good.message());
    BOOST_TEST((good.device_time() >= std::chrono::microseconds(200)));
    BOOST_TEST(says(bad, "bad: "), bad.message());
    BOOST_TEST(says(bad, "the first"), bad.message());
    BOOST_TEST(says(skipped, "skipped: "), skipped.message());
    BOOST_TEST(says(skipped, "an earlier construct of its queue failed"), skipped.message());
}

BOOST_DATA_TEST_CASE(what_is_refused_says_so_and_stops_nothing, data::make({0U, 1U, 2U}), n)
{
    test_device const dev(workers(n));
    gate g;
    if (n == 0) g.open();
    std::vector<int> v(64, 1);
    std::vector<int> w(64, 1);
    omp_co::queue q(dev);
    BOOST_TEST(early(omp_co::target_enter_data(q, omp_co::to(omp_co::section(v, 0, 32)))));
    BOOST_TEST(early(omp_co::target(q, g.kernel(), omp_co::alloc(omp_co::section(v, 0, 32)))));
    omp_co::diagnostics why;
    pending absent(omp_co::target(q, increment, omp_co::range(64), omp_co::tofrom(w, omp_co::present),
                                  omp_co::name("absent"), omp_co::explain(why)));
    BOOST_TEST(absent.ends());
    BOOST_TEST((absent.code() == errc::not_present), absent.code().message());
    BOOST_TEST(says(why, "absent: "), why.message());
    BOOST_TEST(says(why, "256 bytes"), why.message());
    pending partial(omp_co::target(q, increment, omp_co::range(64), omp_co::tofrom(v), omp_co::explain(why)));
    BOOST_TEST(partial.ends());
    BOOST_TEST((partial.code() == errc::partially_present), partial.code().message());
    BOOST_TEST(!why.empty());
    pending negative(
        omp_co::target(q, increment, omp_co::range(-1), omp_co::tofrom(w), omp_co::explain(why)));
    BOOST_TEST(negative.ends());
    BOOST_TEST((negative.code() == errc::invalid_argument), negative.code().message());
    BOOST_TEST(says(why, "extent"), why.message());
    BOOST_TEST(
        early(omp_co::target(q, increment, omp_co::range(32), omp_co::alloc(omp_co::section(v, 0, 32)))));
    g.open();
    BOOST_TEST(!outcome(omp_co::target_exit_data(q, omp_co::from(omp_co::section(v, 0, 32)))));
    BOOST_TEST(v[0] == 3);
    BOOST_TEST(v[31] == 2);
    BOOST_TEST(w[0] == 1);
}

// There may be memory when something has ended. Then nobody waits for it any more.
BOOST_AUTO_TEST_CASE(memory_that_never_comes_is_an_error_of_the_queue)
{
    test_device const dev(limited(1, std::size_t{1} << 20));
    gate g;
    std::vector<char> large(std::size_t{2} << 20);
    omp_co::queue q(dev);
    BOOST_TEST(early(omp_co::target(q, [gp = &g] { gp->pass(); })));
    pending p(omp_co::target_enter_data(q, omp_co::to(large)));
    BOOST_TEST(p.stays());
    g.open();
    BOOST_TEST(p.ends());
    error_code const told = p.code() ? p.code() : ask(q);
    BOOST_TEST((told == errc::out_of_memory), told.message());
    BOOST_TEST(!ask(q));
    BOOST_TEST(!dev.get().is_present(large.data()));
    omp_co::diagnostics why;
    BOOST_TEST((outcome(omp_co::target_enter_data(q, omp_co::to(large), omp_co::explain(why))) ==
                errc::out_of_memory));
    BOOST_TEST(!why.empty());
    BOOST_TEST(!ask(q));
}

BOOST_DATA_TEST_CASE(an_error_that_nobody_was_told_goes_to_the_handler, data::make({0U, 1U, 2U}), n)
{
    test_device const dev(workers(n));
    gate g;
    if (n == 0) g.open();
    std::atomic<int> calls{0};
    error_code told; // read when calls says so
    auto const note = [&](error_code ec) {
        told = ec;
        ++calls;
    };
    {
        omp_co::queue q(dev, note);
        BOOST_TEST(early(omp_co::target(q, g.failing())));
        BOOST_TEST(early(omp_co::target(q, throws_again)));
    }
    if (n != 0) BOOST_TEST(calls == 0); // the queue has not ended
    g.open();
    BOOST_TEST(settle(dev));
    BOOST_TEST(eventually([&] { return calls == 1; }));
    BOOST_TEST((told == errc::kernel_failed));
    {
        omp_co::queue q(dev, note);
        BOOST_TEST(!outcome(omp_co::target(q, throws)));
        BOOST_TEST((ask(q) == errc::kernel_failed));
        BOOST_TEST(!outcome(omp_co::target(q, [] {})));
    }
    BOOST_TEST(settle(dev));
    BOOST_TEST(calls == 1);
    {
        omp_co::queue q(dev, note); // who is told of it does not look
        pending p(omp_co::target(q, throws));
        BOOST_TEST(p.ends_well());
        BOOST_TEST(settle(dev));
        q = omp_co::queue(dev);
        BOOST_TEST(calls == 2);
    }
}

// What a queue leaves behind is no other queue's business.
BOOST_DATA_TEST_CASE(a_new_queue_does_not_inherit_a_failure, data::make({0U, 1U, 2U}), n)
{
    test_device const dev(workers(n));
    std::vector<int> v(64, 1);
    for (int k = 0; k < 4; ++k) {
        {
            omp_co::queue q(dev);
            BOOST_TEST(!outcome(omp_co::target(q, throws)));
            if (k % 2 == 0) BOOST_TEST(!outcome(omp_co::target(q, [] {})));
        }
        BOOST_TEST(settle(dev));
        omp_co::queue q(dev);
        int ran = 0;
        BOOST_TEST(!outcome(omp_co::target_enter_data(q, omp_co::to(v), omp_co::to(ran))));
        BOOST_TEST(!outcome(omp_co::target(
            q, [](int* p) { ++*p; }, omp_co::tofrom(ran))));
        BOOST_TEST(!outcome(omp_co::target(q, increment, omp_co::range(64), omp_co::tofrom(v))));
        BOOST_TEST(!outcome(omp_co::target_exit_data(q, omp_co::from(v), omp_co::from(ran))));
        BOOST_TEST(ran == 1);
        BOOST_TEST(v[0] == 2 + k);
        BOOST_TEST(!outcome(omp_co::target(q, throws)));
    }
}

// Other regions of the device have their own fate.
BOOST_AUTO_TEST_CASE(a_failure_in_a_queue_concerns_nobody_else)
{
    test_device const dev(workers(1));
    std::vector<int> v(64, 1);
    omp_co::queue q(dev);
    omp_co::queue other(dev);
    BOOST_TEST(!outcome(omp_co::target(q, throws)));
    BOOST_TEST(!outcome(omp_co::target(dev, increment, omp_co::range(64), omp_co::tofrom(v))));
    BOOST_TEST(!outcome(omp_co::target(other, increment, omp_co::range(64), omp_co::tofrom(v))));
    BOOST_TEST(v[0] == 3);
    BOOST_TEST((ask(q) == errc::kernel_failed));
}

// What a skipped construct was to bring never arrived, for whoever relies on it.
BOOST_DATA_TEST_CASE(data_that_a_skipped_construct_was_to_bring_is_not_there, data::make({1U, 2U}), n)
{
    test_device const dev(workers(n));
    gate g;
    std::vector<int> v(64, 1);
    std::vector<int> out(64, 5);
    omp_co::queue q(dev);
    BOOST_TEST(early(omp_co::target(q, g.failing())));
    BOOST_TEST(early(omp_co::target_enter_data(q, omp_co::to(v))));
    auto const copy = [](std::size_t i, int const* from, int* to) { to[i] = from[i]; };
    pending reader(omp_co::target(dev, copy, omp_co::range(64), omp_co::to(v), omp_co::from(out)));
    g.open();
    BOOST_TEST(reader.ends());
    BOOST_TEST((reader.code() == errc::predecessor_failed), reader.code().message());
    BOOST_TEST((ask(q) == errc::kernel_failed));
    BOOST_TEST(!dev.get().is_present(v.data()));
    BOOST_TEST(settle(dev));
    BOOST_TEST(dev.get().statistics().device_bytes == 0U);
}

// Somebody else has mapped the data, and it stays mapped, whatever is skipped.
BOOST_DATA_TEST_CASE(what_is_skipped_leaves_counts_alone, data::make({0U, 1U, 2U}) * data::make({0, 1, 2, 3}),
                     n, what)
{
    test_device const dev(workers(n));
    std::vector<int> v(64, 1);
    BOOST_TEST(!outcome(omp_co::target_enter_data(dev, omp_co::to(v))));
    omp_co::queue q(dev);
    BOOST_TEST(!outcome(omp_co::target(q, throws)));
    auto nothing = []() -> asio::awaitable<void> { co_return; };
    auto asks = [&]() -> asio::awaitable<void> {
        try {
            co_await q.synchronize();
        } catch (boost::system::
                     system_error const&) { // it was told, and the end of the data region is not skipped
        }
    };
    switch (what) {
    case 0:
        BOOST_TEST(!outcome(omp_co::target_exit_data(q, omp_co::release(v))));
        break;
    case 1:
        BOOST_TEST(!outcome(omp_co::target_enter_data(q, omp_co::to(v))));
        BOOST_TEST(!outcome(omp_co::target_exit_data(q, omp_co::delete_(v))));
        break;
    case 2:
        omp_co::sync_wait(omp_co::target_data(q, omp_co::to(v), nothing));
        break;
    case 3:
        BOOST_CHECK_THROW(omp_co::sync_wait(omp_co::target_data(q, omp_co::to(v), asks)),
                          boost::system::system_error);
    }
    (void)ask(q);
    BOOST_TEST(settle(dev));
    BOOST_TEST(dev.get().is_present(v.data()));
    BOOST_TEST(!outcome(omp_co::target_exit_data(dev, omp_co::release(v))));
    BOOST_TEST(!dev.get().is_present(v.data()));
    BOOST_TEST(dev.get().statistics().device_bytes == 0U);
}

// It has a stream of its own, where the queue's failures skip nothing and whose signals do not end their skipping.
BOOST_DATA_TEST_CASE(what_is_on_no_queue_runs_behind_one_that_fails, data::make({1U, 2U}), n)
{
    test_device const dev(workers(n));
    std::vector<int> v(64, 1);
    int w = 1;
    BOOST_TEST(!outcome(omp_co::target_enter_data(dev, omp_co::to(v), omp_co::to(w))));
    omp_co::queue q(dev);
    gate g;
    BOOST_TEST(!outcome(omp_co::target(q, g.failing(), omp_co::tofrom(v))));
    BOOST_REQUIRE(g.wait_entered(1));
    pending free(omp_co::target(
        dev, [](int* p) { p[0] = 7; }, omp_co::tofrom(v)));
    pending back(omp_co::target_update(dev, omp_co::from(v)));
    BOOST_TEST(!outcome(omp_co::target(
        q, [](int* p) { *p = 2; }, omp_co::tofrom(w))));
    g.open();
    BOOST_TEST(free.ends_well());
    BOOST_TEST(back.ends_well());
    BOOST_TEST(v[0] == 7);
    BOOST_TEST((ask(q) == errc::kernel_failed));
    BOOST_TEST(!outcome(omp_co::target_update(dev, omp_co::from(w))));
    BOOST_TEST(w == 1);
    BOOST_TEST(!outcome(omp_co::target_exit_data(dev, omp_co::release(v), omp_co::release(w))));
    BOOST_TEST(settle(dev));
}

// Its mapping is given up when its coroutine goes. That its beginning, which was told early, fails afterwards takes nothing more.
BOOST_DATA_TEST_CASE(an_abandoned_data_region_takes_its_count_back_once, data::make({1U, 2U}), n)
{
    test_device const dev(workers(n));
    std::vector<int> v(64, 1);
    BOOST_TEST(!outcome(omp_co::target_enter_data(dev, omp_co::to(v))));
    omp_co::queue q(dev);
    gate g;
    BOOST_TEST(!outcome(omp_co::target(q, g.failing())));
    BOOST_REQUIRE(g.wait_entered(1));
    {
        asio::io_context io;
        bool inside = false;
        auto body = [&]() -> asio::awaitable<void> {
            inside = true;
            asio::steady_timer never(co_await asio::this_coro::executor, std::chrono::hours(1));
            co_await never.async_wait(asio::use_awaitable);
        };
        asio::co_spawn(io, omp_co::target_data(q, omp_co::to(v), body), asio::detached);
        BOOST_TEST(eventually([&] {
            io.poll();
            return inside;
        }));
    }
    BOOST_TEST(dev.get().is_present(v.data()));
    g.open();
    BOOST_TEST((ask(q) == errc::kernel_failed));
    BOOST_TEST(settle(dev));
    BOOST_TEST(dev.get().is_present(v.data()));
    BOOST_TEST(!outcome(omp_co::target_exit_data(dev, omp_co::release(v))));
    BOOST_TEST(!dev.get().is_present(v.data()));
    BOOST_TEST(dev.get().statistics().device_bytes == 0U);
}

// There is no copy to wait for, but the host runs it.
BOOST_AUTO_TEST_CASE(a_queue_on_the_initial_device_tells_at_once)
{
    omp_co::queue q(omp_co::initial_device());
    int x = 1;
    auto const fails = [](int*) { throw 1; };
    auto const adds = [](int* p) { *p += 1; };
    BOOST_TEST((outcome(omp_co::target(q, fails, omp_co::tofrom(x))) == errc::kernel_failed));
    BOOST_TEST(!outcome(omp_co::target(q, adds, omp_co::tofrom(x))));
    BOOST_TEST(x == 2);
    BOOST_TEST((outcome(omp_co::target(q, [] { throw 1; })) == errc::kernel_failed));
    BOOST_TEST(!outcome(omp_co::target(q, adds, omp_co::tofrom(x))));
    BOOST_TEST(x == 3);
    BOOST_TEST(!outcome(q.synchronize()));
}

BOOST_DATA_TEST_CASE(a_queue_whose_device_is_gone_answers_device_lost, data::make({0U, 1U, 2U}), n)
{
    auto owner = std::make_unique<omp_co::host::virtual_device>(workers(n));
    omp_co::device const dev = *owner;
    std::vector<int> v(64, 1);
    omp_co::queue before(dev);
    BOOST_TEST(!outcome(omp_co::target(before, [] {})));
    owner.reset();
    omp_co::queue after(dev);
    omp_co::queue none{omp_co::device()};
    omp_co::queue moved_from(dev);
    omp_co::queue taken(std::move(moved_from));
    for (omp_co::queue const* q : {&before, &after, &none, &moved_from, &taken}) {
        omp_co::diagnostics why;
        why.assign("old");
        BOOST_TEST((outcome(omp_co::target(
                        *q, [] {}, omp_co::name("late"), omp_co::explain(why))) == errc::device_lost));
        BOOST_TEST(says(why, "late: "), why.message());
        BOOST_TEST((outcome(omp_co::target_update(*q, omp_co::from(v))) == errc::device_lost));
        BOOST_TEST((outcome(q->synchronize()) == errc::device_lost));
    }
    omp_co::host::virtual_device next(workers(n)); // in the same place
    auto const made = omp_co::sync_wait(omp_co::allocate<int>(next, 64));
    for (omp_co::queue const* q : {&before, &after}) {
        BOOST_TEST((outcome(omp_co::target(*q, [] {})) == errc::device_lost));
        BOOST_TEST((outcome(omp_co::target_memset(*q, made, 0)) == errc::device_lost));
        BOOST_TEST((outcome(omp_co::target_memcpy(*q, v, made)) == errc::device_lost));
    }
    before = omp_co::queue(next);
    BOOST_TEST(!outcome(omp_co::target(before, increment, omp_co::range(64), omp_co::tofrom(v))));
    BOOST_TEST(v[0] == 2);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace queue_errors_test
