// SPDX-License-Identifier: BSL-1.0
// Progress belongs to the device: a loop that is blocked, destroyed or run by many threads holds up no other one.
#include "measure.hpp"

#include <boost/asio/detached.hpp>
#include <boost/mpl/list.hpp>
#include <boost/test/unit_test.hpp>

#include <future>
#include <thread>
#include <vector>

namespace shared_device_test {

using namespace measure;
using contexts = boost::mpl::list<asio::io_context, omp_co::offload_context>;

struct noop {
    void operator()() const {}
};

asio::awaitable<void> regions_one_after_another(omp_co::device d, int n, std::atomic<int>& done)
{
    for (int i = 0; i < n; ++i) {
        co_await omp_co::target(d, noop{});
        ++done;
    }
}

BOOST_AUTO_TEST_SUITE(one_device_for_several_loops)

BOOST_AUTO_TEST_CASE_TEMPLATE(a_loop_that_is_blocked_in_a_handler_does_not_hold_up_another, Context, contexts)
{
    for (unsigned workers : {0U, 1U, 2U}) {
        BOOST_TEST_CONTEXT("workers: " << workers)
        {
            omp_co::host::virtual_device device({.workers = workers});
            Context blocked;
            Context other;
            std::promise<void> block;
            std::promise<void> is_blocked;
            std::atomic<int> of_blocked{0};
            std::atomic<int> of_other{0};
            for (int i = 0; i < 100; ++i)
                omp_co::target(device, [] { compute_for(20us); })(
                    asio::bind_executor(blocked.get_executor(), [&](error_code) {
                        if (of_blocked++ != 0) return;
                        is_blocked.set_value();
                        block.get_future().wait();
                    }));
            std::thread thread([&] { blocked.run(); });
            is_blocked.get_future().wait();
            asio::co_spawn(other, regions_one_after_another(device, 200, of_other), asio::detached);
            bool const ran_out = runs_out(other);
            int const while_blocked = of_blocked;
            block.set_value();
            thread.join();
            BOOST_TEST(ran_out);
            BOOST_TEST(of_other == 200);
            BOOST_TEST(while_blocked == 1);
            BOOST_TEST(of_blocked == 100);
        }
    }
}

// Its regions end, and what waits for them goes on, although nobody of that loop looks.
BOOST_AUTO_TEST_CASE_TEMPLATE(what_follows_a_blocked_loops_region_goes_on, Context, contexts)
{
    omp_co::host::virtual_device one({.workers = 1});
    omp_co::host::virtual_device two({.workers = 1});
    Context blocked;
    Context other;
    int value = 1;
    gate hold;
    std::promise<void> block;
    std::promise<void> is_blocked;
    asio::post(blocked, [&] {
        omp_co::target(
            one,
            [&hold](int* v) {
                hold.pass();
                *v += 41;
            },
            omp_co::tofrom(value))(asio::bind_executor(blocked.get_executor(), asio::detached));
        is_blocked.set_value();
        block.get_future().wait();
    });
    std::thread thread([&] { blocked.run(); });
    is_blocked.get_future().wait();
    hold.wait_entered(1);
    int seen = 0;
    // Reads on the second device what the first one copies back.
    omp_co::target(two, [](int const* v, int* s) { *s = *v; }, omp_co::to(value), omp_co::from(seen))(
        asio::bind_executor(other.get_executor(), asio::detached));
    other.run_for(20ms);
    BOOST_TEST(!other.stopped());
    hold.open();
    bool const ran_out = runs_out(other);
    block.set_value();
    thread.join();
    BOOST_TEST(ran_out);
    BOOST_TEST(seen == 42);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_loop_that_is_destroyed_takes_nothing_of_another_with_it, Context, contexts)
{
    omp_co::host::virtual_device device({.workers = 2});
    Context lasting;
    std::atomic<int> done{0};
    int const n = rounds(3'000, 300);
    for (int i = 0; i < 4; ++i)
        asio::co_spawn(lasting, regions_one_after_another(device, n, done), asio::detached);
    std::thread thread([&] { lasting.run(); });
    int invoked = 0;
    int destroyed = 0;
    struct counts_its_end {
        explicit counts_its_end(int& n) : count(&n) {}
        counts_its_end(counts_its_end&& other) noexcept : count(std::exchange(other.count, nullptr)) {}
        ~counts_its_end()
        {
            if (count != nullptr) ++*count;
        }
        int* count;
    };
    int const contexts_destroyed = rounds(100, 20);
    for (int i = 0; i < contexts_destroyed; ++i) {
        std::vector<int> data(64, i);
        Context brief;
        for (int k = 0; k < 20; ++k)
            omp_co::target(
                device,
                [](int* p) {
                    compute_for(10us);
                    ++*p;
                },
                omp_co::tofrom(data))(
                asio::bind_executor(brief.get_executor(),
                                    [&invoked, end = counts_its_end(destroyed)](error_code) { ++invoked; }));
    }
    thread.join();
    BOOST_TEST(done == 4 * n);
    BOOST_TEST(invoked == 0);
    BOOST_TEST(destroyed == contexts_destroyed * 20);
    BOOST_TEST(omp_co::device(device).statistics().in_flight == 0U);
}

BOOST_AUTO_TEST_CASE(a_loop_that_is_destroyed_does_not_wait_for_another_ones_regions)
{
    omp_co::host::virtual_device device({.workers = 2});
    asio::io_context lasting;
    gate hold;
    bool done = false;
    omp_co::target(device, [&hold] { hold.pass(); })(
        asio::bind_executor(lasting.get_executor(), [&](error_code) { done = true; }));
    hold.wait_entered(1);
    {
        omp_co::offload_context brief;
        omp_co::target(device, noop{})(asio::bind_executor(brief.get_executor(), asio::detached));
    }
    BOOST_TEST(!done);
    hold.open();
    BOOST_TEST(runs_out(lasting));
    BOOST_TEST(done);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(a_loop_run_by_four_threads)

template <class F>
void in_four_threads(asio::io_context& context, F const& meanwhile)
{
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back([&] { context.run(); });
    meanwhile();
    for (std::thread& t : threads) t.join();
}

BOOST_AUTO_TEST_CASE(resumes_every_region_once)
{
    for (unsigned workers : {0U, 1U, 2U}) {
        BOOST_TEST_CONTEXT("workers: " << workers)
        {
            omp_co::host::virtual_device device({.workers = workers});
            asio::io_context context;
            std::atomic<int> done{0};
            int const n = rounds(500, 100);
            for (int i = 0; i < 16; ++i)
                asio::co_spawn(asio::make_strand(context), regions_one_after_another(device, n, done), asio::detached);
            in_four_threads(context, [] {});
            BOOST_TEST(done == 16 * n);
        }
    }
}

BOOST_AUTO_TEST_CASE(keeps_the_handlers_of_a_strand_apart)
{
    omp_co::host::virtual_device device({.workers = 2});
    asio::io_context context;
    auto const strand = asio::make_strand(context);
    std::atomic<int> inside{0};
    std::atomic<int> overlaps{0};
    int done = 0; // guarded by the strand
    int const n = rounds(2'000, 400);
    for (int i = 0; i < n; ++i)
        omp_co::target(device, noop{})(asio::bind_executor(strand, [&](error_code) {
            overlaps += inside++ == 0 ? 0 : 1;
            ++done;
            --inside;
        }));
    in_four_threads(context, [] {});
    BOOST_TEST(overlaps == 0);
    BOOST_TEST(done == n);
}

// Three handlers block, each for a region whose handler the fourth thread must run.
BOOST_AUTO_TEST_CASE(goes_on_while_handlers_block_for_regions_of_the_same_loop)
{
    omp_co::host::virtual_device device({.workers = 2});
    asio::io_context context;
    std::atomic<int> in_time{0};
    int const n = rounds(200, 40);
    struct chain {
        asio::io_context* context;
        omp_co::device device;
        std::atomic<int>* in_time;
        int left;

        void operator()(error_code)
        {
            if (left-- == 0) return;
            auto const op = omp_co::target(device, noop{});
            std::future<void> f = op(asio::bind_executor(context->get_executor(), asio::use_future));
            if (f.wait_for(patience) == std::future_status::ready) ++*in_time;
            else left = 0;
            op(asio::bind_executor(context->get_executor(), *this));
        }
    };
    for (int i = 0; i < 3; ++i)
        omp_co::target(device, noop{})(
            asio::bind_executor(context.get_executor(), chain{&context, device, &in_time, n}));
    in_four_threads(context, [] {});
    BOOST_TEST(in_time == 3 * n);
}

// All four block; the regions they wait for belong to no loop.
BOOST_AUTO_TEST_CASE(goes_on_while_all_its_threads_block_for_regions_without_a_loop)
{
    omp_co::host::virtual_device device({.workers = 1});
    asio::io_context context;
    std::atomic<int> in_time{0};
    int const n = rounds(200, 40);
    for (int i = 0; i < 4 * n; ++i)
        omp_co::target(device, noop{})(asio::bind_executor(context.get_executor(), [&](error_code) {
            std::future<void> f = omp_co::target(device, noop{})(asio::use_future);
            if (f.wait_for(patience) == std::future_status::ready) ++in_time;
        }));
    in_four_threads(context, [] {});
    BOOST_TEST(in_time == 4 * n);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(so_does_a_loop_of_one_thread, Context, contexts)
{
    omp_co::host::virtual_device device({.workers = 1});
    Context context;
    int in_time = 0;
    int const n = rounds(200, 40);
    for (int i = 0; i < n; ++i)
        omp_co::target(device, noop{})(asio::bind_executor(context.get_executor(), [&](error_code) {
            std::future<void> f = omp_co::target(device, noop{})(asio::use_future);
            if (f.wait_for(patience) == std::future_status::ready) ++in_time;
        }));
    BOOST_TEST(runs_out(context));
    BOOST_TEST(in_time == n);
}

BOOST_AUTO_TEST_CASE(takes_regions_from_outside_while_it_is_asleep)
{
    omp_co::host::virtual_device device({.workers = 2});
    asio::io_context context;
    auto guard = asio::make_work_guard(context);
    std::atomic<int> done{0};
    int const n = rounds(2'000, 400);
    in_four_threads(context, [&] {
        for (int i = 0; i < n; ++i) {
            omp_co::target(device, noop{})(asio::bind_executor(context.get_executor(), [&](error_code) { ++done; }));
            if (i % 64 == 0) std::this_thread::sleep_for(500us);
        }
        guard.reset();
    });
    BOOST_TEST(done == n);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace shared_device_test
