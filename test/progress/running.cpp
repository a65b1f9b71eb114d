// SPDX-License-Identifier: BSL-1.0
// run, poll, stop and restart with regions in flight mean what they mean in Asio.
#include "measure.hpp"

#include <boost/mpl/list.hpp>
#include <boost/test/unit_test.hpp>

#include <thread>

namespace running_test {

using namespace measure;
using contexts = boost::mpl::list<asio::io_context, omp_co::offload_context>;

struct noop {
    void operator()() const {}
};

template <class Context, class F>
void start_region(Context& context, omp_co::device d, F done)
{
    omp_co::target(d, noop{})(
        asio::bind_executor(context.get_executor(), [done](error_code) mutable { done(); }));
}

BOOST_AUTO_TEST_SUITE(running)

BOOST_AUTO_TEST_CASE_TEMPLATE(run_returns_when_the_last_region_is_done, Context, contexts)
{
    for (unsigned workers : {0U, 1U}) {
        BOOST_TEST_CONTEXT("workers: " << workers)
        {
            omp_co::host::virtual_device device({.workers = workers});
            Context context;
            for (int round = 1; round <= 100; ++round) {
                int done = 0;
                for (int i = 0; i < round % 7; ++i) start_region(context, device, [&] { ++done; });
                BOOST_REQUIRE(runs_out(context));
                BOOST_REQUIRE(done == round % 7);
                context.restart();
            }
        }
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(poll_does_not_wait_for_a_region, Context, contexts)
{
    omp_co::host::virtual_device device({.workers = 1});
    Context context;
    gate hold;
    bool done = false;
    omp_co::target(device, [&hold] { hold.pass(); })(
        asio::bind_executor(context.get_executor(), [&](error_code) { done = true; }));
    hold.wait_entered(1);
    auto const began = clock::now();
    for (int i = 0; i < 20; ++i) context.poll();
    BOOST_TEST((clock::now() - began < 200ms));
    BOOST_TEST(!done);
    BOOST_TEST(!context.stopped());
    hold.open();
    BOOST_TEST(becomes_true([&] {
        context.poll();
        return done;
    }));
    context.poll();
    BOOST_TEST(context.stopped());
}

BOOST_AUTO_TEST_CASE_TEMPLATE(run_one_comes_to_every_region_in_the_end, Context, contexts)
{
    omp_co::host::virtual_device device({.workers = 1});
    Context context;
    int done = 0;
    for (int i = 0; i < 50; ++i) start_region(context, device, [&] { ++done; });
    while (context.run_one() != 0) {
    }
    BOOST_TEST(done == 50);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(no_handler_runs_after_one_has_stopped_the_context, Context, contexts)
{
    for (unsigned workers : {0U, 1U}) {
        for (int stop_after : {1, 2, 7, 49}) {
            BOOST_TEST_CONTEXT("workers: " << workers << ", stopped after " << stop_after)
            {
                omp_co::host::virtual_device device({.workers = workers});
                Context context;
                int done = 0;
                for (int i = 0; i < 50; ++i)
                    start_region(context, device, [&] {
                        if (++done == stop_after) context.stop();
                    });
                context.run();
                BOOST_TEST(done == stop_after);
                context.restart();
                BOOST_TEST(runs_out(context));
                BOOST_TEST(done == 50);
            }
        }
    }
}

// restart() is the base class's for whoever holds the context as an asio::io_context.
BOOST_AUTO_TEST_CASE(a_context_restarted_through_its_base_keeps_its_turns)
{
    omp_co::host::virtual_device device({.workers = 0});
    omp_co::offload_context context;
    int done = 0;
    for (int i = 0; i < 500; ++i) start_region(context, device, [&] { ++done; });
    context.stop();
    static_cast<asio::io_context&>(context).restart();
    BOOST_TEST(context.run() < 100U); // handlers, as the context counts: a turn is one
    BOOST_TEST(done == 500);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_context_that_is_stopped_and_restarted_loses_and_repeats_nothing, Context,
                              contexts)
{
    omp_co::host::virtual_device device({.workers = 2});
    Context context;
    int const n = rounds(5'000, 500);
    int done = 0;
    struct chain {
        Context* context;
        omp_co::device device;
        int* done;
        int left;

        void operator()(error_code)
        {
            ++*done;
            if (left-- == 0) return;
            omp_co::target(device, noop{})(asio::bind_executor(context->get_executor(), *this));
        }
    };
    for (int i = 0; i < 4; ++i)
        omp_co::target(device, noop{})(
            asio::bind_executor(context.get_executor(), chain{&context, device, &done, n - 1}));
    std::atomic<bool> over{false};
    std::thread stopper([&] {
        for (int i = 0; !over; ++i) {
            std::this_thread::sleep_for(std::chrono::microseconds(i % 300));
            context.stop();
        }
    });
    auto const limit = clock::now() + patience;
    while (done < 4 * n && clock::now() < limit) {
        context.run();
        context.restart();
    }
    over = true;
    stopper.join();
    context.restart();
    BOOST_TEST(runs_out(context));
    BOOST_TEST(done == 4 * n);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(regions_end_while_their_context_is_stopped, Context, contexts)
{
    omp_co::host::virtual_device device({.workers = 1});
    omp_co::device const handle = device;
    Context context;
    int done = 0;
    for (int i = 0; i < 20; ++i) start_region(context, device, [&] { ++done; });
    context.stop();
    context.run();
    BOOST_TEST(done == 0);
    // Somebody else's region on the same stream moves them along.
    omp_co::sync_wait(omp_co::target(device, noop{}));
    BOOST_TEST(handle.statistics().in_flight == 0U);
    BOOST_TEST(done == 0);
    context.restart();
    BOOST_TEST(runs_out(context));
    BOOST_TEST(done == 20);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_stopped_context_can_be_destroyed_with_regions_in_flight, Context, contexts)
{
    omp_co::host::virtual_device device({.workers = 1});
    auto const token = std::make_shared<int>(0);
    int done = 0;
    {
        Context context;
        for (int i = 0; i < 50; ++i)
            omp_co::target(device, [] { compute_for(20us); })(
                asio::bind_executor(context.get_executor(), [&, token](error_code) {
                    if (++done == 5) context.stop();
                }));
        context.run();
    }
    BOOST_TEST(done == 5);
    BOOST_TEST(token.use_count() == 1);
    BOOST_TEST(omp_co::device(device).statistics().in_flight == 0U);
}

// As with Asio's own operations, a handler may run its context further.
BOOST_AUTO_TEST_CASE_TEMPLATE(a_handler_can_poll_its_context_for_another_region, Context, contexts)
{
    for (unsigned workers : {0U, 1U}) {
        BOOST_TEST_CONTEXT("workers: " << workers)
        {
            omp_co::host::virtual_device device({.workers = workers});
            Context context;
            bool inner_done = false;
            bool in_time = false;
            start_region(context, device, [&] {
                start_region(context, device, [&] { inner_done = true; });
                in_time = becomes_true(
                    [&] {
                        context.poll();
                        return inner_done;
                    },
                    5s);
            });
            BOOST_TEST(runs_out(context));
            BOOST_TEST(in_time);
            BOOST_TEST(inner_done);
        }
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_handler_can_poll_for_what_came_with_its_own_region, Context, contexts)
{
    omp_co::host::virtual_device device({.workers = 1});
    Context context;
    int done = 0;
    bool in_time = false;
    for (int i = 0; i < 20; ++i)
        start_region(context, device, [&] {
            if (++done != 1) return;
            in_time = becomes_true(
                [&] {
                    context.poll();
                    return done == 20;
                },
                5s);
        });
    BOOST_TEST(runs_out(context));
    BOOST_TEST(in_time);
    BOOST_TEST(done == 20);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_handler_can_sync_wait, Context, contexts)
{
    omp_co::host::virtual_device device({.workers = 1});
    Context context;
    int done = 0;
    for (int i = 0; i < 50; ++i)
        start_region(context, device, [&] {
            omp_co::sync_wait(omp_co::target(device, noop{}));
            ++done;
        });
    BOOST_TEST(runs_out(context));
    BOOST_TEST(done == 50);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(an_exception_of_a_handler_leaves_run_and_the_rest_goes_on, Context, contexts)
{
    omp_co::host::virtual_device device({.workers = 1});
    Context context;
    int done = 0;
    int thrown = 0;
    for (int i = 0; i < 60; ++i)
        start_region(context, device, [&done, i] {
            ++done;
            if (i % 3 == 0) throw i;
        });
    for (auto const limit = clock::now() + patience; clock::now() < limit && !context.stopped();) {
        try {
            context.run_for(patience);
        } catch (int) {
            ++thrown;
        }
    }
    BOOST_TEST(done == 60);
    BOOST_TEST(thrown == 20);
}

// Handlers may know it by its executor alone.
BOOST_AUTO_TEST_CASE_TEMPLATE(a_context_stopped_through_its_executor_keeps_the_rest, Context, contexts)
{
    omp_co::host::virtual_device device({.workers = 0});
    Context context;
    int done = 0;
    auto const ex = context.get_executor();
    for (int i = 0; i < 50; ++i)
        start_region(context, device, [&done, ex] {
            if (++done == 10) asio::query(ex, asio::execution::context).stop();
        });
    context.run_for(patience);
    if constexpr (std::is_same_v<Context, asio::io_context>) {
        BOOST_TEST(done == 10);
    } else { // it does not see the base class's stop and asks now and then
        BOOST_TEST(done >= 10);
        BOOST_TEST(done < 26);
    }
    context.restart();
    BOOST_TEST(runs_out(context));
    BOOST_TEST(done == 50);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_handler_can_run_its_context_until_a_time, Context, contexts)
{
    omp_co::host::virtual_device device({.workers = 1});
    Context context;
    int inner = 0;
    int outer = 0;
    start_region(context, device, [&] {
        start_region(context, device, [&] { ++inner; });
        while (inner == 0 && context.run_one_until(clock::now() + patience) != 0) {
        }
        start_region(context, device, [&] { ++inner; });
        while (inner == 1 && context.run_until(clock::now() + 5ms) != 0) {
        }
        ++outer;
    });
    BOOST_TEST(runs_out(context));
    BOOST_TEST(inner == 2);
    BOOST_TEST(outer == 1);
}

BOOST_AUTO_TEST_CASE(timers_of_an_offload_context_need_no_hidden_thread)
{
    omp_co::host::virtual_device device({.workers = 1});
    omp_co::sync_wait(omp_co::target(device, noop{}));
    std::size_t const before = threads_of_this_process();
    omp_co::offload_context context;
    asio::steady_timer timer(context, 5ms);
    std::size_t meanwhile = 0;
    timer.async_wait([&](error_code) { meanwhile = threads_of_this_process(); });
    start_region(context, device, [] {});
    BOOST_TEST(runs_out(context));
    BOOST_TEST(meanwhile == before);
}

BOOST_AUTO_TEST_CASE(a_loop_of_its_own_thread_is_started_only_for_handlers_without_a_context)
{
    omp_co::host::virtual_device device({.workers = 1});
    std::size_t const before = threads_of_this_process();
    asio::io_context context;
    start_region(context, device, [] {});
    BOOST_TEST(runs_out(context));
    BOOST_TEST(threads_of_this_process() == before);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace running_test
