// SPDX-License-Identifier: BSL-1.0
// The machine that says how a loop waits, fed with times of our own.
#include <omp_co/detail/backoff.hpp>

#include <boost/test/unit_test.hpp>

namespace backoff_test {

using namespace std::chrono_literals;
using omp_co::detail::backoff;
using action = backoff::action;

/// A loop whose clock is ours: every look takes a microsecond, a nap what was advised and as much again as the system's
/// timers are late, and an armed loop sleeps until the completion.
struct simulated_loop {
    static constexpr auto timer_lateness = 60us;

    backoff machine;
    backoff::clock::time_point now{};
    int looks = 0;
    int naps = 0;
    int arms = 0;

    /// Waits for a completion that comes after `length`; returns how late it was seen.
    backoff::duration wait(backoff::duration length)
    {
        auto const completion = now + length;
        while (now < completion) {
            auto const advice = machine.idle(now);
            if (advice.what == action::spin) {
                ++looks;
                now += 1us;
                continue;
            }
            if (advice.what == action::sleep) {
                ++naps;
                now += advice.delay + timer_lateness;
            } else {
                ++arms;
                now = completion;
            }
            machine.woken(now);
        }
        machine.moved();
        return now - completion;
    }

    void forget() { looks = naps = arms = 0; }
};

BOOST_AUTO_TEST_SUITE(back_off)

BOOST_AUTO_TEST_CASE(short_waits_are_spun_through)
{
    simulated_loop loop;
    for (int i = 0; i < 50; ++i) loop.wait(2us);
    loop.forget();
    BOOST_TEST((loop.wait(2us) <= 1us));
    BOOST_TEST(loop.naps == 0);
    BOOST_TEST(loop.arms == 0);
}

BOOST_AUTO_TEST_CASE(long_waits_are_slept_through_once_they_are_usual)
{
    simulated_loop loop;
    for (int i = 0; i < 50; ++i) loop.wait(5ms);
    loop.forget();
    loop.wait(5ms);
    BOOST_TEST(loop.looks == 0);
    BOOST_TEST(loop.naps == 0);
    BOOST_TEST(loop.arms == 1);
}

BOOST_AUTO_TEST_CASE(a_wait_that_nobody_expected_ends_asleep_and_armed)
{
    simulated_loop loop;
    for (int i = 0; i < 50; ++i) loop.wait(2us);
    loop.forget();
    loop.wait(2s);
    BOOST_TEST(loop.looks < 100);
    BOOST_TEST(loop.naps < 10);
    BOOST_TEST(loop.arms == 1);
}

// What a nap lasts says little about how long the wait would have been: a loop that took it for that would nap for ever.
BOOST_AUTO_TEST_CASE(short_waits_after_long_ones_are_learned_again)
{
    for (backoff::duration const before : {backoff::duration(100us), backoff::duration(5ms), backoff::duration(2s)}) {
        BOOST_TEST_CONTEXT("after waits of " << before.count() << " ns")
        {
            simulated_loop loop;
            for (int i = 0; i < 50; ++i) loop.wait(before);
            for (int i = 0; i < 200; ++i) loop.wait(2us);
            loop.forget();
            loop.wait(2us);
            BOOST_TEST(loop.naps == 0);
            BOOST_TEST(loop.arms == 0);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_disturbance_among_short_waits_is_forgotten)
{
    simulated_loop loop;
    for (int i = 0; i < 50; ++i) loop.wait(2us);
    loop.wait(3ms); // the worker lost its core for a while
    for (int i = 0; i < 100; ++i) loop.wait(2us);
    loop.forget();
    loop.wait(2us);
    BOOST_TEST(loop.naps == 0);
    BOOST_TEST(loop.arms == 0);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace backoff_test
