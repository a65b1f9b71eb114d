// SPDX-License-Identifier: BSL-1.0
// No wake-up is lost where a loop goes from no region in flight to one: kernels of random lengths end before,
// while and after the loop spins, naps, arms and falls asleep.
#include "measure.hpp"

#include <boost/mpl/list.hpp>
#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <memory>
#include <random>
#include <thread>

namespace wake_up_test {

using namespace measure;
using contexts = boost::mpl::list<asio::io_context, omp_co::offload_context>;

// A loop that slept through a completion finds it by its slow check, a tenth of a second later. A busy machine may
// delay a round as much, but not many.
constexpr auto overslept = 60ms;

class lengths {
public:
    explicit lengths(unsigned seed) : random_(seed) {}

    std::chrono::microseconds next() { return std::chrono::microseconds(dice_(random_)); }

private:
    std::mt19937 random_;
    std::uniform_int_distribution<int> dice_{0, 300};
};

struct timed_kernel {
    std::chrono::microseconds length;
    clock::time_point* ended;

    void operator()() const
    {
        compute_for(length);
        *ended = clock::now();
    }
};

/// One region after another, each after a pause in which the loop falls asleep.
class sequence_in_loop {
public:
    template <class Context>
    sequence_in_loop(Context& context, omp_co::device d, unsigned seed, int rounds)
        : executor_(context.get_executor()), timer_(context), device_(d), lengths_(seed), left_(rounds)
    {
    }

    void next()
    {
        if (left_-- == 0) return;
        timer_.expires_after(lengths_.next());
        timer_.async_wait([this](error_code) {
            omp_co::target(device_, timed_kernel{lengths_.next(), &ended_})(
                asio::bind_executor(executor_, [this](error_code ec) {
                    failed += ec ? 1 : 0;
                    late += clock::now() - ended_ > overslept ? 1 : 0;
                    ++done;
                    next();
                }));
        });
    }

    int done = 0;
    int failed = 0;
    int late = 0;

private:
    asio::io_context::executor_type executor_;
    asio::steady_timer timer_;
    omp_co::device device_;
    lengths lengths_;
    int left_;
    clock::time_point ended_{};
};

/// The same from a thread that is not the loop's.
struct sequence_from_outside {
    void run(asio::io_context::executor_type ex, omp_co::device d, unsigned seed, int rounds)
    {
        lengths next(seed);
        for (int i = 0; i < rounds; ++i) {
            std::atomic<bool> over{false};
            clock::time_point ended{};
            omp_co::target(d, timed_kernel{next.next(), &ended})(asio::bind_executor(ex, [&](error_code ec) {
                failed += ec ? 1 : 0;
                late += clock::now() - ended > overslept ? 1 : 0;
                over = true;
                over.notify_one();
            }));
            over.wait(false);
            ++done;
            // How long the loop has been idle when the next one comes is part of the dice.
            if (i % 2 == 0) std::this_thread::sleep_for(next.next());
        }
    }

    int done = 0;
    std::atomic<int> failed{0};
    std::atomic<int> late{0};
};

int rounds_of_a_case() { return rounds(1'400, 300); }

BOOST_AUTO_TEST_SUITE(no_wake_up_is_lost)

BOOST_AUTO_TEST_CASE_TEMPLATE(between_regions_that_the_loop_starts, Context, contexts)
{
    for (unsigned workers : {1U, 2U}) {
        BOOST_TEST_CONTEXT("workers: " << workers)
        {
            omp_co::host::virtual_device device({.workers = workers});
            Context context;
            sequence_in_loop s(context, device, workers, rounds_of_a_case());
            s.next();
            BOOST_TEST(runs_out(context, 2 * patience));
            BOOST_TEST(s.done == rounds_of_a_case());
            BOOST_TEST(s.failed == 0);
            BOOST_TEST(s.late <= 3);
        }
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(between_regions_that_another_thread_starts, Context, contexts)
{
    for (unsigned workers : {1U, 2U}) {
        BOOST_TEST_CONTEXT("workers: " << workers)
        {
            omp_co::host::virtual_device device({.workers = workers});
            Context context;
            auto guard = asio::make_work_guard(context);
            std::thread loop([&] { context.run(); });
            sequence_from_outside s;
            s.run(context.get_executor(), device, 10 + workers, rounds_of_a_case());
            guard.reset();
            loop.join();
            BOOST_TEST(s.done == rounds_of_a_case());
            BOOST_TEST(s.failed == 0);
            BOOST_TEST(s.late <= 3);
        }
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(when_two_threads_start_regions_for_one_loop, Context, contexts)
{
    omp_co::host::virtual_device device({.workers = 2});
    Context context;
    auto guard = asio::make_work_guard(context);
    std::thread loop([&] { context.run(); });
    sequence_from_outside one;
    sequence_from_outside two;
    std::thread other([&] { one.run(context.get_executor(), device, 21, rounds_of_a_case() / 2); });
    two.run(context.get_executor(), device, 22, rounds_of_a_case() / 2);
    other.join();
    guard.reset();
    loop.join();
    BOOST_TEST(one.failed + two.failed == 0);
    BOOST_TEST(one.late + two.late <= 3);
}

BOOST_AUTO_TEST_CASE(when_two_loops_fall_asleep_on_one_device)
{
    omp_co::host::virtual_device device({.workers = 2});
    asio::io_context plain;
    omp_co::offload_context own;
    sequence_in_loop one(plain, device, 31, rounds_of_a_case() / 2);
    sequence_in_loop two(own, device, 32, rounds_of_a_case() / 2);
    one.next();
    two.next();
    std::thread other([&] { plain.run(); });
    own.run();
    other.join();
    BOOST_TEST(one.done + two.done == rounds_of_a_case());
    BOOST_TEST(one.failed + two.failed == 0);
    BOOST_TEST(one.late + two.late <= 3);
}

// The look after arming must not be skipped because somebody else has the device's lock for a moment.
BOOST_AUTO_TEST_CASE_TEMPLATE(while_another_thread_keeps_asking_the_device, Context, contexts)
{
    omp_co::host::virtual_device device({.workers = 1});
    omp_co::device const handle = device;
    std::atomic<bool> over{false};
    std::thread curious([&] {
        int unmapped = 0;
        while (!over) {
            for (int i = 0; i < 100; ++i) (void)handle.is_present(&unmapped);
            std::this_thread::sleep_for(10us); // leaves a core to the loop and the worker
        }
    });
    Context context;
    sequence_in_loop s(context, device, 41, rounds_of_a_case());
    s.next();
    BOOST_TEST(runs_out(context, 3 * patience));
    over = true;
    curious.join();
    BOOST_TEST(s.done == rounds_of_a_case());
    BOOST_TEST(s.late <= 3);
}

BOOST_AUTO_TEST_CASE(when_a_loop_of_two_threads_falls_asleep)
{
    omp_co::host::virtual_device device({.workers = 2});
    asio::io_context context;
    auto guard = asio::make_work_guard(context);
    std::thread first([&] { context.run(); });
    std::thread second([&] { context.run(); });
    sequence_from_outside one;
    sequence_from_outside two;
    std::thread other([&] { one.run(context.get_executor(), device, 51, rounds_of_a_case() / 2); });
    two.run(context.get_executor(), device, 52, rounds_of_a_case() / 2);
    other.join();
    guard.reset();
    first.join();
    second.join();
    BOOST_TEST(one.failed + two.failed == 0);
    BOOST_TEST(one.late + two.late <= 3);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace wake_up_test
