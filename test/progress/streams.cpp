// SPDX-License-Identifier: BSL-1.0
// More regions than streams are slower and never stuck; a stream that is stuck holds up no other one.
#include "measure.hpp"

#include <boost/asio/detached.hpp>
#include <boost/mpl/list.hpp>
#include <boost/test/unit_test.hpp>

#include <thread>
#include <vector>

namespace streams_test {

using namespace measure;
using contexts = boost::mpl::list<asio::io_context, omp_co::offload_context>;

struct noop {
    void operator()() const {}
};

asio::awaitable<void> regions_one_after_another(omp_co::device d, int n, int& done)
{
    for (int i = 0; i < n; ++i) {
        co_await omp_co::target(d, noop{});
        ++done;
    }
}

BOOST_AUTO_TEST_SUITE(streams)

BOOST_AUTO_TEST_CASE_TEMPLATE(more_regions_than_streams_all_end, Context, contexts)
{
    for (unsigned workers : {1U, 2U, 5U}) {
        BOOST_TEST_CONTEXT("workers: " << workers)
        {
            omp_co::host::virtual_device device({.workers = workers});
            Context context;
            int done = 0;
            int const n = rounds(20'000, 2'000);
            for (int i = 0; i < n; ++i)
                omp_co::target(device, noop{})(
                    asio::bind_executor(context.get_executor(), [&](error_code ec) { done += ec ? 0 : 1; }));
            BOOST_TEST(runs_out(context));
            BOOST_TEST(done == n);
        }
    }
}

// Each region waits for two others, on whatever streams they are: waits cannot form a cycle.
BOOST_AUTO_TEST_CASE_TEMPLATE(regions_that_wait_for_each_other_across_streams_all_end, Context, contexts)
{
    for (unsigned workers : {0U, 1U, 3U}) {
        BOOST_TEST_CONTEXT("workers: " << workers)
        {
            omp_co::host::virtual_device device({.workers = workers});
            std::vector<std::vector<int>> data(9, std::vector<int>(16));
            Context context;
            int done = 0;
            int const n = rounds(3'000, 500);
            for (int i = 0; i < n; ++i) {
                auto& left = data[static_cast<std::size_t>(i) % data.size()];
                auto& right = data[static_cast<std::size_t>(i * 7 + 1) % data.size()];
                if (&left == &right) {
                    ++done;
                    continue;
                }
                omp_co::target(device, [](int* a, int const* b) { *a += 1 + 0 * *b; }, omp_co::tofrom(left),
                               omp_co::to(right))(
                    asio::bind_executor(context.get_executor(), [&](error_code ec) { done += ec ? 0 : 1; }));
            }
            BOOST_TEST(runs_out(context));
            BOOST_TEST(done == n);
        }
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_stuck_kernel_does_not_hold_up_regions_that_are_awaited, Context, contexts)
{
    omp_co::host::virtual_device device({.workers = 2});
    Context context;
    gate hold;
    bool released = false;
    omp_co::target(device, [&hold] { hold.pass(); })(
        asio::bind_executor(context.get_executor(), [&](error_code) { released = true; }));
    hold.wait_entered(1);
    int done = 0;
    int const n = rounds(2'000, 300);
    asio::co_spawn(context, regions_one_after_another(device, n, done), [&](std::exception_ptr) { context.stop(); });
    context.run_for(patience);
    BOOST_TEST(done == n);
    BOOST_TEST(!released);
    hold.open();
    context.restart();
    BOOST_TEST(runs_out(context));
    BOOST_TEST(released);
}

// A region that was placed behind the stuck kernel waits with it; the others go on, and new ones avoid that stream.
BOOST_AUTO_TEST_CASE_TEMPLATE(a_stuck_kernel_holds_up_only_what_was_placed_behind_it, Context, contexts)
{
    omp_co::host::virtual_device device({.workers = 2});
    Context context;
    gate hold;
    omp_co::target(device, [&hold] { hold.pass(); })(asio::bind_executor(context.get_executor(), asio::detached));
    hold.wait_entered(1);
    int done = 0;
    int left = 8;
    int const n = rounds(200, 50);
    for (int i = 0; i < 8; ++i)
        asio::co_spawn(context, regions_one_after_another(device, n, done), [&](std::exception_ptr) { --left; });
    auto const end = std::chrono::steady_clock::now() + patience;
    while (left == 8 && std::chrono::steady_clock::now() < end) context.run_for(10ms);
    BOOST_TEST(left < 8);
    int const before = done;
    bool more = false; // by now the stream is known to be stuck
    asio::co_spawn(context, regions_one_after_another(device, n, done), [&](std::exception_ptr) {
        more = true;
        context.stop();
    });
    context.run_for(5s);
    BOOST_TEST(more);
    BOOST_TEST(done >= before + n);
    hold.open();
    context.restart();
    BOOST_TEST(runs_out(context));
    BOOST_TEST(left == 0);
}

// One index that is stuck leaves the other worker free.
BOOST_AUTO_TEST_CASE(a_stuck_index_of_a_range_does_not_hold_up_other_streams)
{
    omp_co::host::virtual_device device({.workers = 2});
    omp_co::offload_context context;
    gate hold;
    omp_co::target(
        device,
        [&hold](std::size_t i) {
            if (i == 0) hold.pass();
        },
        omp_co::range(1'000))(asio::bind_executor(context.get_executor(), asio::detached));
    hold.wait_entered(1);
    int done = 0;
    asio::co_spawn(context, regions_one_after_another(device, 200, done), [&](std::exception_ptr) { context.stop(); });
    context.run_for(patience);
    BOOST_TEST(done == 200);
    hold.open();
    context.restart();
    BOOST_TEST(runs_out(context));
}

BOOST_AUTO_TEST_CASE(a_device_whose_workers_are_all_stuck_does_not_hold_up_another)
{
    omp_co::host::virtual_device stuck({.workers = 1});
    omp_co::host::virtual_device other({.workers = 1});
    omp_co::offload_context context;
    gate hold;
    for (int i = 0; i < 10; ++i)
        omp_co::target(stuck, [&hold] { hold.pass(); })(asio::bind_executor(context.get_executor(), asio::detached));
    hold.wait_entered(1);
    int done = 0;
    asio::co_spawn(context, regions_one_after_another(other, 200, done), [&](std::exception_ptr) { context.stop(); });
    context.run_for(patience);
    BOOST_TEST(done == 200);
    hold.open();
    context.restart();
    BOOST_TEST(runs_out(context));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace streams_test
