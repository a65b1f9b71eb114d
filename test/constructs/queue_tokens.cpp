// SPDX-License-Identifier: BSL-1.0
// Queues and Asio: every completion token, every loop, and programs that name no device.
#include "support/devices.hpp"
#include "support/findings.hpp"
#include "support/kernels.hpp"
#include "support/loops.hpp"
#include "support/outcome.hpp"
#include "support/pending.hpp"
#include "support/settle.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <future>
#include <vector>

namespace queue_tokens_test {

namespace asio = boost::asio;
namespace data = boost::unit_test::data;
using namespace asio::experimental::awaitable_operators;
using namespace omp_co_test;
using omp_co::errc;
using omp_co::error_code;

struct plus_kernel {
    void operator()(std::size_t i, int* p, int const* a) const noexcept { p[i] += a[i]; }
};
inline constexpr plus_kernel plus{};

struct throwing_kernel {
    void operator()() const { throw 1; }
};
inline constexpr throwing_kernel throws{};

// A program that knows nothing of queues. What it has done is on the host at its end.
inline asio::awaitable<void> plain(std::vector<int>& v, int times)
{
    co_await omp_co::target_enter_data(omp_co::to(v));
    for (int k = 0; k < times; ++k) {
        std::vector<int> const x(v.size(), k);
        co_await omp_co::target(plus, omp_co::range(v.size()), omp_co::tofrom(v), omp_co::to(x));
    }
    co_await omp_co::target_exit_data(omp_co::from(v));
}

// Starts it behind a kernel that is held, and sees that nobody waits for that before the end.
template <class Start>
void is_asynchronous(Start start)
{
    test_device const dev(workers(1));
    asio::io_context io;
    gate g;
    std::vector<int> v(64, 1);
    findings f;
    bool over = false;
    {
        omp_co::queue q(dev);
        BOOST_TEST(early(omp_co::target(q, [gp = &g] { gp->pass(); })));
        start(q, io, v, [&](std::exception_ptr e) {
            f.check(!e, "no error");
            over = true;
        });
    }
    BOOST_TEST(eventually([&] {
        io.poll();
        return dev.get().statistics().in_flight == 13U; // the held one, enter, ten times, exit
    }));
    BOOST_TEST(!over);
    g.open();
    io.run();
    BOOST_TEST(over);
    BOOST_TEST(v[0] == 46);
    BOOST_TEST(v[63] == 46);
    BOOST_TEST(settle(dev));
    BOOST_TEST(dev.get().statistics().mapped_ranges == 0U);
}

BOOST_AUTO_TEST_SUITE(queue_tokens)

BOOST_DATA_TEST_CASE(every_loop_can_have_a_queue, data::make(loop_kinds), kind)
{
    std::unique_ptr<test_loop> loop = kind.make();
    test_device const dev(workers(2));
    findings f;
    std::atomic<int> over{0};
    std::vector<std::vector<int>> all(4, std::vector<int>(64, 1));
    for (auto& v : all)
        asio::co_spawn(
            loop->executor(),
            [](omp_co::device d, std::vector<int>& mine) -> asio::awaitable<void> {
                omp_co::queue q(d);
                co_await omp_co::target_enter_data(q, omp_co::to(mine));
                for (int k = 0; k < 500; ++k)
                    co_await omp_co::target(q, increment, omp_co::range(64), omp_co::tofrom(mine));
                co_await omp_co::target(q, throws);
                auto [ec] = co_await q.synchronize()(asio::as_tuple(asio::use_awaitable));
                if (ec != errc::kernel_failed) throw 1;
                co_await omp_co::target_exit_data(q, omp_co::from(mine));
            }(dev, v),
            [&](std::exception_ptr e) {
                f.check(!e, "no error");
                ++over;
            });
    loop->run();
    BOOST_TEST(over == 4);
    for (auto& v : all) BOOST_TEST(v[63] == 501);
    BOOST_TEST(settle(dev));
    BOOST_TEST(dev.get().statistics().device_bytes == 0U);
}

BOOST_DATA_TEST_CASE(every_token_is_told_early_and_at_the_end, data::make({0U, 1U}), n)
{
    test_device const dev(workers(n));
    gate g;
    if (n == 0) g.open();
    std::vector<int> v(64, 1);
    omp_co::queue q(dev);
    auto const more = omp_co::target(q, increment, omp_co::range(64), omp_co::tofrom(v)); // reusable
    omp_co::target_enter_data(q, omp_co::to(v))(asio::use_future).get();
    omp_co::target(q, [gp = &g] { gp->pass(); })(asio::use_future).get();
    more(asio::use_future).get();
    std::atomic<int> calls{0};
    more([&](error_code ec) { calls += !ec; }); // on the library's thread
    BOOST_TEST(eventually([&] { return calls == 1; }));
    more(asio::detached);
    asio::io_context io;
    bool over = false;
    auto body = [&]() -> asio::awaitable<void> {
        auto [ec] = co_await more(asio::as_tuple(asio::use_awaitable));
        if (ec) throw boost::system::system_error(ec);
        auto named = more;
        co_await std::move(named);
        co_await (more(asio::use_awaitable) && more(asio::use_awaitable));
        auto const first = co_await (more(asio::use_awaitable) || q.synchronize()(asio::use_awaitable));
        over = first.index() == 0 || n == 0;
    };
    findings f;
    asio::co_spawn(io, body(), [&](std::exception_ptr e) { f.check(!e, "no error"); });
    if (n != 0)
        BOOST_TEST(eventually([&] {
            io.poll();
            return dev.get().statistics().in_flight == 10U; // both of the last pair too
        }));
    std::future<void> back = omp_co::target_exit_data(q, omp_co::from(v))(asio::use_future);
    if (n != 0) BOOST_TEST((back.wait_for(std::chrono::milliseconds(5)) == std::future_status::timeout));
    g.open();
    back.get();
    io.run();
    BOOST_TEST(over);
    BOOST_TEST(v[63] == 9);
    omp_co::target(q, throws)(asio::use_future).get();
    BOOST_CHECK_THROW(q.synchronize()(asio::use_future).get(), boost::system::system_error);
    q.synchronize()(asio::use_future).get();
}

BOOST_AUTO_TEST_CASE(a_plain_program_under_a_queue_is_asynchronous)
{
    is_asynchronous([](omp_co::queue& q, asio::io_context& io, std::vector<int>& v, auto over) {
        asio::co_spawn(q.bind(io.get_executor()), plain(v, 10), over);
    });
}

BOOST_AUTO_TEST_CASE(a_binding_holds_on_and_under_a_strand)
{
    is_asynchronous([](omp_co::queue& q, asio::io_context& io, std::vector<int>& v, auto over) {
        asio::co_spawn(q.bind(asio::make_strand(io)), plain(v, 10), over);
    });
    is_asynchronous([](omp_co::queue& q, asio::io_context& io, std::vector<int>& v, auto over) {
        asio::co_spawn(asio::make_strand(q.bind(io.get_executor())), plain(v, 10), over);
    });
    is_asynchronous([](omp_co::queue& q, asio::io_context& io, std::vector<int>& v, auto over) {
        asio::any_io_executor const ex = q.bind(io.get_executor());
        asio::co_spawn(asio::make_strand(ex), plain(v, 10), over);
    });
}

BOOST_AUTO_TEST_CASE(a_binding_holds_in_what_a_coroutine_spawns)
{
    is_asynchronous([](omp_co::queue& q, asio::io_context& io, std::vector<int>& v, auto over) {
        auto outer = [](std::vector<int>& data) -> asio::awaitable<void> {
            auto const ex = co_await asio::this_coro::executor;
            co_await asio::co_spawn(ex, plain(data, 10), asio::use_awaitable);
        };
        asio::co_spawn(q.bind(io.get_executor()), outer(v), over);
    });
}

BOOST_AUTO_TEST_CASE(a_binding_holds_in_a_group)
{
    is_asynchronous([](omp_co::queue& q, asio::io_context& io, std::vector<int>& v, auto over) {
        auto outer = [](std::vector<int>& data) -> asio::awaitable<void> {
            omp_co::task_group group(co_await asio::this_coro::executor);
            group.spawn(plain(data, 10));
            co_await group.wait();
        };
        asio::co_spawn(q.bind(io.get_executor()), outer(v), over);
    });
}

BOOST_AUTO_TEST_CASE(a_binding_holds_in_a_data_region)
{
    is_asynchronous([](omp_co::queue& q, asio::io_context& io, std::vector<int>& v, auto over) {
        auto outer = [](std::vector<int>& data) -> asio::awaitable<void> {
            auto body = [&]() -> asio::awaitable<void> {
                for (int k = 0; k < 10; ++k) {
                    std::vector<int> const x(data.size(), k);
                    co_await omp_co::target(plus, omp_co::range(data.size()), omp_co::tofrom(data),
                                            omp_co::to(x));
                }
            };
            co_await omp_co::target_data(omp_co::tofrom(data), body);
        };
        asio::co_spawn(q.bind(io.get_executor()), outer(v), over);
    });
}

BOOST_AUTO_TEST_CASE(a_data_region_can_name_a_queue)
{
    is_asynchronous([](omp_co::queue& q, asio::io_context& io, std::vector<int>& v, auto over) {
        auto outer = [](omp_co::queue mine, std::vector<int>& data) -> asio::awaitable<void> {
            auto body = [&]() -> asio::awaitable<int> {
                for (int k = 0; k < 10; ++k) {
                    std::vector<int> const x(data.size(), k);
                    co_await omp_co::target(mine, plus, omp_co::range(data.size()), omp_co::tofrom(data),
                                            omp_co::to(x));
                }
                co_return 5;
            };
            if (int const five = co_await omp_co::target_data(mine, omp_co::tofrom(data), body); five != 5)
                throw 1;
        };
        asio::co_spawn(io, outer(std::move(q), v), over);
    });
}

// The end of a data region waits, so it tells what failed inside, and drops its mapping.
BOOST_DATA_TEST_CASE(a_data_region_on_a_queue_tells_of_failures_inside, data::make({0U, 1U}), n)
{
    test_device const dev(workers(n));
    std::vector<int> v(64, 1);
    omp_co::queue q(dev);
    auto outer = [&]() -> asio::awaitable<bool> {
        auto body = [&]() -> asio::awaitable<void> {
            co_await omp_co::target(q, throws);
            co_await omp_co::target(q, increment, omp_co::range(64), omp_co::tofrom(v));
        };
        try {
            co_await omp_co::target_data(q, omp_co::tofrom(v), body);
        } catch (boost::system::system_error const& e) {
            co_return e.code() == errc::kernel_failed;
        }
        co_return false;
    };
    BOOST_TEST(omp_co::sync_wait(outer()));
    BOOST_TEST(v[0] == 1);
    BOOST_TEST(!outcome(q.synchronize()));
    BOOST_TEST(!dev.get().is_present(v.data()));
    BOOST_TEST(settle(dev));
    BOOST_TEST(dev.get().statistics().device_bytes == 0U);
}

BOOST_AUTO_TEST_CASE(an_abandoned_data_region_under_a_binding_drops_its_own_mapping)
{
    test_device const dev(workers(1));
    omp_co::device const other = omp_co::default_device();
    std::vector<int> v(64, 1);
    BOOST_TEST(!outcome(omp_co::target_enter_data(other, omp_co::to(v))));
    omp_co::queue q(dev);
    {
        asio::io_context io;
        auto body = []() -> asio::awaitable<void> {
            asio::steady_timer never(co_await asio::this_coro::executor, std::chrono::hours(1));
            co_await never.async_wait(asio::use_awaitable);
        };
        asio::co_spawn(q.bind(io.get_executor()), omp_co::target_data(omp_co::to(v), body), asio::detached);
        BOOST_TEST(eventually([&] {
            io.poll();
            return dev.get().is_present(v.data());
        }));
        io.poll();
    }
    BOOST_TEST(eventually([&] { return !dev.get().is_present(v.data()); }));
    BOOST_TEST(other.is_present(v.data()));
    BOOST_TEST(!outcome(omp_co::target_exit_data(other, omp_co::release(v))));
    BOOST_TEST(!other.is_present(v.data()));
}

BOOST_AUTO_TEST_CASE(memory_under_a_binding_is_on_the_queues_device)
{
    test_device const dev(workers(1));
    asio::io_context io;
    omp_co::queue q(dev);
    omp_co::device where;
    auto body = [&]() -> asio::awaitable<void> { where = (co_await omp_co::allocate<int>(8)).where(); };
    findings f;
    asio::co_spawn(q.bind(io.get_executor()), body(), [&](std::exception_ptr e) { f.check(!e, "no error"); });
    io.run();
    BOOST_TEST((where == dev.get()));
}

// Constructs that say where they go are not the queue's: they are awaited, and run there.
BOOST_AUTO_TEST_CASE(a_binding_does_not_take_what_names_a_device)
{
    test_device const dev(workers(1));
    test_device const other(workers(1));
    asio::io_context io;
    gate g;
    std::vector<int> v(64, 1);
    std::vector<int> w(64, 1);
    omp_co::queue q(dev);
    BOOST_TEST(early(omp_co::target(q, [gp = &g] { gp->pass(); })));
    auto body = [&]() -> asio::awaitable<void> {
        auto inside = [&]() -> asio::awaitable<void> {
            co_await omp_co::target(other, increment, omp_co::range(64), omp_co::tofrom(v));
            co_await omp_co::target_update(other, omp_co::from(v));
        };
        co_await omp_co::target_data(other, omp_co::tofrom(v), inside);
        if (v[0] != 2) throw 1;
        auto mixed = [&]() -> asio::awaitable<void> {
            co_await omp_co::target(increment, omp_co::range(64),
                                    omp_co::tofrom(w)); // the queue's: behind the held one
        };
        co_await omp_co::target_data(other, omp_co::tofrom(v), mixed);
    };
    findings f;
    bool over = false;
    asio::co_spawn(q.bind(io.get_executor()), body(), [&](std::exception_ptr e) {
        f.check(!e, "no error");
        over = true;
    });
    BOOST_TEST(eventually([&] {
        io.poll();
        return dev.get().statistics().in_flight == 2U;
    }));
    BOOST_TEST(v[0] == 2); // while the queue stands still
    BOOST_TEST(!over);
    BOOST_TEST(other.get().statistics().regions == 5U);
    g.open();
    io.run();
    BOOST_TEST(over);
    BOOST_TEST(w[0] == 2);
    BOOST_TEST(other.get().statistics().regions == 6U);
    BOOST_TEST(dev.get().statistics().regions == 2U);
}

// Host code keeps its place in what depend clauses say, and its loop.
BOOST_AUTO_TEST_CASE(host_code_under_a_binding_runs_where_the_binding_says)
{
    test_device const dev(workers(1));
    asio::io_context io;
    omp_co::queue q(dev);
    std::vector<int> v(64, 1);
    std::thread::id where;
    int seen = 0;
    auto body = [&]() -> asio::awaitable<void> {
        co_await omp_co::target_enter_data(omp_co::to(v), omp_co::depend_out(v));
        co_await omp_co::target(increment, omp_co::range(64), omp_co::tofrom(v), omp_co::depend_inout(v));
        co_await omp_co::target_exit_data(omp_co::from(v), omp_co::depend_inout(v));
        auto const look = [&] {
            where = std::this_thread::get_id();
            seen = v[0];
        };
        co_await omp_co::host_task(look, omp_co::depend_in(v));
    };
    findings f;
    asio::co_spawn(q.bind(io.get_executor()), body(), [&](std::exception_ptr e) { f.check(!e, "no error"); });
    io.run();
    BOOST_TEST((where == std::this_thread::get_id()));
    BOOST_TEST(seen == 2);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace queue_tokens_test
