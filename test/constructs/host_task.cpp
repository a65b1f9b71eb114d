// SPDX-License-Identifier: BSL-1.0
// Host code in the order of regions: host_task, taskwait, and events that a program completes by hand.
#include "support/devices.hpp"
#include "support/findings.hpp"
#include "support/gate.hpp"
#include "support/started.hpp"

#include <omp_co/omp_co.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

namespace host_task_test {

namespace asio = boost::asio;
namespace data = boost::unit_test::data;
using namespace omp_co_test;
using omp_co::depend_in;
using omp_co::depend_inout;
using omp_co::depend_out;
using omp_co::detach;
using omp_co::errc;
using omp_co::error_code;
using omp_co::range;

struct twice_kernel {
    void operator()(std::size_t i, int* p) const noexcept { p[i] *= 2; }
};

BOOST_AUTO_TEST_SUITE(host_tasks)

BOOST_DATA_TEST_CASE(between_regions, data::make(device_kinds), kind)
{
    test_device const dev = kind.make();
    std::vector<int> a(32, 1);
    starter s;
    auto const plus_one = [&a] {
        for (int& each : a) each += 1;
    };
    int x = 1;
    for (int k = 0; k < 10; ++k) {
        s.start(omp_co::target(dev, twice_kernel(), range(a.size()), omp_co::tofrom(a), depend_inout(a)));
        s.start(omp_co::host_task(plus_one, depend_inout(a)));
        x = 2 * x + 1;
    }
    BOOST_TEST(s.run());
    BOOST_TEST(a.front() == x);
    BOOST_TEST(a.back() == x);
}

// A function that cannot be copied trivially is named, or referred to.
BOOST_AUTO_TEST_CASE(a_function_of_any_kind)
{
    struct owner {
        std::unique_ptr<int> value = std::make_unique<int>(0);
        int operator()() { return ++*value; }
    } owns;
    starter s;
    s.start(omp_co::host_task(owns));
    s.start(omp_co::host_task(std::ref(owns)));
    std::function<void()> f = [&] { owns(); };
    s.start(omp_co::host_task(f));
    BOOST_TEST(s.run());
    BOOST_TEST(*owns.value == 3);
}

BOOST_AUTO_TEST_CASE(any_completion_token)
{
    test_device const dev(workers(1));
    std::vector<int> a(8, 1);
    int n = 0;
    asio::io_context io;
    auto const region = omp_co::target(dev, twice_kernel(), range(8), omp_co::tofrom(a), depend_inout(a));
    auto const task = omp_co::host_task([&] { n += a[7]; }, depend_inout(a));
    for (int round = 0; round < 2; ++round) region(asio::bind_executor(io, asio::detached));
    task(asio::bind_executor(io, asio::detached));
    std::future<void> done = region(asio::use_future); // a library thread serves it
    std::future<void> said = task(asio::use_future);
    std::thread loop([&] { io.run(); });
    done.get();
    said.get();
    loop.join();
    BOOST_TEST(n == 4 + 8);
    error_code ended = make_error_code(errc::not_supported);
    auto const waits = [](auto op, error_code& ec) -> asio::awaitable<void> {
        std::tie(ec) = co_await op(asio::as_tuple(asio::use_awaitable));
    };
    omp_co::sync_wait(waits(omp_co::taskwait(depend_in(a)), ended));
    BOOST_TEST(!ended);
    omp_co::sync_wait(task);
    BOOST_TEST(n == 4 + 8 + 8);
}

// Without a function; what comes later is behind it.
BOOST_AUTO_TEST_CASE(waiting_for_a_dependence)
{
    test_device const dev(workers(2));
    int x = 0, y = 0;
    gate g, unrelated;
    journal said;
    starter s;
    s.start(omp_co::target(dev, said.note_behind(g, 1), depend_out(x)));
    s.start(omp_co::target(dev, said.note_behind(unrelated, 2), depend_out(y)));
    started const& waited = s.start(omp_co::taskwait(depend_in(x)));
    BOOST_TEST(unrelated.wait_entered(1));
    s.io.poll();
    BOOST_TEST(!waited.over());
    g.open();
    BOOST_TEST(eventually([&] {
        s.io.restart();
        s.io.poll();
        return waited.over();
    }));
    BOOST_TEST((said.lines() == std::vector<int>{1}));
    unrelated.open();
    BOOST_TEST(s.run());
}

// `how`: before it starts, from another thread, and after the function has run.
BOOST_DATA_TEST_CASE(an_event_ends_the_task, data::make({0, 1, 2}), how)
{
    test_device const dev(workers(1));
    int x = 0;
    journal said;
    starter s;
    omp_co::external_event event;
    omp_co::external_event const same = event;
    BOOST_TEST(!event.fulfilled());
    if (how == 0) same.fulfill();
    started const& task = s.start(omp_co::host_task(said.note(1), depend_out(x), detach(event)));
    started const& next = s.start(omp_co::target(dev, said.note(2), depend_in(x)));
    std::thread other;
    if (how == 1)
        other = std::thread([&said, same] {
            (void)eventually([&] { return said.says(1); });
            same.fulfill();
        });
    if (how == 2) {
        s.io.poll();
        BOOST_TEST(said.says(1));
        BOOST_TEST(!task.over());
        BOOST_TEST(!next.over());
        same.fulfill();
    }
    BOOST_TEST(s.run());
    if (other.joinable()) other.join();
    BOOST_TEST(event.fulfilled());
    BOOST_TEST(task.well());
    BOOST_TEST((said.lines() == std::vector<int>{1, 2}));
    event.fulfill(make_error_code(errc::kernel_failed)); // only the first counts
    BOOST_TEST(!s.start(omp_co::taskwait(detach(event))).over());
    BOOST_TEST(s.run());
}

BOOST_AUTO_TEST_CASE(an_event_with_an_error_fails_the_task_and_its_successors)
{
    test_device const dev(workers(1));
    int x = 0;
    journal said;
    starter s;
    omp_co::external_event event;
    started const& task = s.start(omp_co::host_task(said.note(1), depend_out(x), detach(event)));
    started const& waits = s.start(omp_co::taskwait(detach(event)));
    started const& next = s.start(omp_co::target(dev, said.note(2), depend_in(x)));
    event.fulfill(asio::error::eof);
    (void)s.run();
    BOOST_TEST(task.failed_with(asio::error::eof));
    BOOST_TEST(waits.failed_with(asio::error::eof));
    BOOST_TEST(next.failed_with(errc::predecessor_failed));
    BOOST_TEST((said.lines() == std::vector<int>{1}));
}

// The function has had its effect: that its await was cancelled meanwhile fails no successor.
BOOST_AUTO_TEST_CASE(cancelling_a_task_that_waits_for_its_event)
{
    int x = 0;
    journal said;
    starter s;
    omp_co::external_event event;
    started& task = s.start(omp_co::host_task(said.note(1), depend_out(x), detach(event)));
    started const& next = s.start(omp_co::host_task(said.note(2), depend_in(x)));
    BOOST_TEST(eventually([&] {
        s.io.restart();
        s.io.poll();
        return said.says(1);
    }));
    task.cancel();
    s.io.restart();
    s.io.poll();
    BOOST_TEST(!next.over());
    event.fulfill();
    (void)s.run();
    BOOST_TEST(task.failed_with(asio::error::operation_aborted));
    BOOST_TEST(next.well());
}

BOOST_AUTO_TEST_CASE(what_a_function_throws)
{
    test_device const dev(workers(1));
    int x = 0, y = 0;
    journal said;
    starter s;
    omp_co::diagnostics coded, other;
    auto const code = [] { throw boost::system::system_error(asio::error::timed_out, "the mail"); };
    auto const words = [] { throw std::runtime_error("no more paper"); };
    started const& one =
        s.start(omp_co::host_task(code, depend_out(x), omp_co::name("letter"), omp_co::explain(coded)));
    started const& two = s.start(omp_co::host_task(words, depend_out(y), omp_co::explain(other)));
    started const& three = s.start(omp_co::target(dev, said.note(3), depend_in(x)));
    started const& four = s.start(omp_co::host_task(said.note(4), depend_in(y)));
    started const& five = s.start(omp_co::host_task(said.note(5), depend_in(x, omp_co::even_if_failed)));
    (void)s.run();
    BOOST_TEST(one.failed_with(asio::error::timed_out));
    BOOST_TEST(coded.message().find("the mail") != std::string::npos, coded.message());
    BOOST_TEST(two.failed_with(errc::kernel_failed));
    BOOST_TEST(other.message().find("no more paper") != std::string::npos, other.message());
    BOOST_TEST(three.failed_with(errc::predecessor_failed));
    BOOST_TEST(four.failed_with(errc::predecessor_failed));
    BOOST_TEST(five.well());
    BOOST_TEST((said.lines() == std::vector<int>{5}));
}

// `f` runs where its handler does.
BOOST_AUTO_TEST_CASE(a_function_runs_on_the_executor_of_its_handler)
{
    asio::io_context io;
    asio::io_context other;
    int x = 0;
    std::thread::id first, second;
    auto guard = asio::make_work_guard(other);
    std::thread loop([&] { other.run(); });
    omp_co::host_task([&] { first = std::this_thread::get_id(); },
                      depend_out(x))(asio::bind_executor(other, asio::detached));
    omp_co::host_task([&] { second = std::this_thread::get_id(); },
                      depend_in(x))(asio::bind_executor(io, asio::detached));
    guard.reset();
    io.run();
    BOOST_TEST((first == loop.get_id()));
    BOOST_TEST((second == std::this_thread::get_id()));
    loop.join();
}

// Released by another thread while its loop sleeps: at once, not when the loop would look again (after 100 ms).
BOOST_DATA_TEST_CASE(who_is_released_is_resumed_at_once, data::make({0, 1, 2}), what)
{
    using clock = std::chrono::steady_clock;
    test_device const dev(workers(what == 2 ? 0 : 1));
    int late = 0;
    constexpr int tries = 10;
    for (int i = 0; i < tries; ++i) {
        int x = 0;
        journal said;
        asio::io_context elsewhere;
        starter s;
        omp_co::external_event event;
        omp_co::taskwait(depend_out(x), detach(event))(asio::bind_executor(elsewhere, asio::detached));
        if (what == 0)
            s.start(omp_co::host_task(said.note(1), depend_in(x)));
        else
            s.start(omp_co::target(dev, said.note(1), depend_in(x)));
        clock::time_point resumed;
        std::thread sleeper([&] {
            s.io.run();
            resumed = clock::now();
        });
        std::thread other([&] { elsewhere.run(); });
        std::this_thread::sleep_for(std::chrono::milliseconds(20)); // asleep, with 80 ms to go
        auto const released = clock::now();
        event.fulfill();
        sleeper.join();
        other.join();
        BOOST_TEST(said.says(1));
        late += resumed - released > std::chrono::milliseconds(40);
    }
    BOOST_TEST(late <= tries / 3);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace host_task_test
