// SPDX-License-Identifier: BSL-1.0
// The back-off as a state machine with a clock of its own: what comes after what. How it learns is told in
// test/progress.
#include <omp_co/detail/backoff.hpp>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <vector>

namespace backoff_test {

using omp_co::detail::backoff;
using namespace std::chrono_literals;
using action = backoff::action;

struct fixture {
    backoff machine;
    backoff::clock::time_point now{1s};

    /// Looks in vain every `step`, sleeps as told, until it is told to arm.
    std::vector<backoff::advice> wait_until_armed(backoff::duration step = 1us)
    {
        std::vector<backoff::advice> all;
        for (int i = 0; i < 100000; ++i) {
            all.push_back(machine.idle(now));
            if (all.back().what == action::arm) return all;
            if (all.back().what == action::sleep) {
                now += all.back().delay;
                machine.woken(now);
            } else {
                now += step;
            }
        }
        BOOST_FAIL("it never arms");
        return all;
    }
};

BOOST_FIXTURE_TEST_SUITE(the_backoff, fixture)

BOOST_AUTO_TEST_CASE(it_spins_then_sleeps_longer_and_longer_then_arms)
{
    int stage = 0; // 0: spinning, 1: sleeping, 2: armed
    backoff::duration last{};
    for (backoff::advice const& a : wait_until_armed()) {
        int const at = a.what == action::spin ? 0 : a.what == action::sleep ? 1 : 2;
        BOOST_TEST(at >= stage);
        stage = at;
        if (a.what != action::sleep) continue;
        BOOST_TEST((a.delay > last));
        last = a.delay;
    }
    BOOST_TEST(stage == 2);
    BOOST_TEST((last > 0ns));
    BOOST_TEST((last < 5ms));
}

BOOST_AUTO_TEST_CASE(once_armed_it_stays_armed_until_something_moves)
{
    wait_until_armed();
    for (int i = 0; i < 10; ++i) {
        now += 10ms;
        BOOST_TEST((machine.idle(now).what == action::arm));
    }
    machine.moved();
    BOOST_TEST(!machine.waiting());
}

BOOST_AUTO_TEST_CASE(it_waits_from_the_first_look_in_vain_until_something_moves)
{
    BOOST_TEST(!machine.waiting());
    (void)machine.idle(now);
    BOOST_TEST(machine.waiting());
    machine.moved();
    BOOST_TEST(!machine.waiting());
    machine.moved(); // completions that nobody waited for
    BOOST_TEST(!machine.waiting());
}

BOOST_AUTO_TEST_CASE(after_a_movement_sleeps_are_short_again)
{
    auto const first_sleep = [](std::vector<backoff::advice> const& all) {
        for (backoff::advice const& a : all)
            if (a.what == action::sleep) return a.delay;
        return backoff::duration{};
    };
    backoff::duration const before = first_sleep(wait_until_armed());
    machine.moved();
    for (int i = 0; i < 40; ++i) { // short waits again
        (void)machine.idle(now);
        machine.moved();
        now += 1us;
    }
    BOOST_TEST((first_sleep(wait_until_armed()) == before));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace backoff_test
