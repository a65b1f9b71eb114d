// SPDX-License-Identifier: BSL-1.0
// An armed stream calls the device's wake-up once, and never loses it.
#include "streams_by_hand.hpp"
#include "support/sanitizers.hpp"

#include <boost/test/unit_test.hpp>

#include <condition_variable>
#include <mutex>
#include <random>

namespace {

using namespace by_hand;

/// Counts wake-ups, and waits for them.
class bell {
public:
    backend::wakeup target()
    {
        return {[](void* self) noexcept { static_cast<bell*>(self)->ring(); }, this};
    }

    bool wait_for(int n)
    {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, patience, [&] { return rung_ >= n; });
    }

    int rung()
    {
        std::lock_guard guard(mutex_);
        return rung_;
    }

private:
    void ring() noexcept
    {
        std::lock_guard guard(mutex_);
        ++rung_;
        changed_.notify_all();
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    int rung_ = 0;
};

BOOST_AUTO_TEST_SUITE(arming)

BOOST_AUTO_TEST_CASE(a_stream_that_is_not_armed_wakes_nobody)
{
    bell b;
    machine m(1);
    m.device().set_wakeup(b.target());
    auto* const s = m.make_stream();
    for (backend::sequence i = 1; i <= 10; ++i) BOOST_TEST(!s->signal(i));
    BOOST_REQUIRE(reaches(*s, 10));
    BOOST_TEST(b.rung() == 0);
}

BOOST_AUTO_TEST_CASE(an_armed_stream_wakes_once)
{
    bell b;
    machine m(1);
    m.device().set_wakeup(b.target());
    gate hold;
    auto* const s = m.make_stream();
    call stuck([&hold](auto...) { hold.pass(); });
    BOOST_TEST(!s->launch(stuck));
    BOOST_TEST(!s->signal(1));
    hold.wait_entered(1);
    BOOST_TEST(s->arm());
    BOOST_TEST(s->arm()); // twice is once
    BOOST_TEST(b.rung() == 0);
    hold.open();
    BOOST_TEST(b.wait_for(1));
    BOOST_TEST(s->completed().completed == 1U); // the wake-up comes after the news
    for (backend::sequence i = 2; i <= 10; ++i) BOOST_TEST(!s->signal(i));
    BOOST_REQUIRE(reaches(*s, 10));
    BOOST_TEST(b.rung() == 1);
}

BOOST_AUTO_TEST_CASE(a_stream_can_be_armed_again_and_again)
{
    bell b;
    machine m(1);
    m.device().set_wakeup(b.target());
    auto* const s = m.make_stream();
    for (int i = 1; i <= 500; ++i) {
        BOOST_REQUIRE(s->arm());
        BOOST_REQUIRE(!s->signal(static_cast<backend::sequence>(i)));
        BOOST_REQUIRE(b.wait_for(i));
    }
    BOOST_TEST(b.rung() == 500);
}

// What a loop does: arm, look once more, sleep. Either the look tells or the wake-up comes.
BOOST_AUTO_TEST_CASE(a_signal_around_the_moment_of_arming_is_not_lost)
{
    bell b;
    machine m(1);
    m.device().set_wakeup(b.target());
    auto* const s = m.make_stream();
    std::mt19937 random(7);
    std::uniform_int_distribution<int> dice(0, 3'000);
    std::atomic<int> turns{0};
    call spins([&turns](auto...) {
        for (int i = turns; i > 0; --i) turns.load();
    });
    int const rounds = OMP_CO_TEST_SANITIZED ? 2'000 : 20'000;
    int slept = 0;
    for (int i = 1; i <= rounds; ++i) {
        turns = dice(random);
        BOOST_REQUIRE(!s->launch(spins));
        BOOST_REQUIRE(!s->signal(static_cast<backend::sequence>(i)));
        for (int k = dice(random); k > 0; --k) turns.load();
        int const before = b.rung();
        BOOST_REQUIRE(s->arm());
        if (s->completed().completed == static_cast<backend::sequence>(i)) continue;
        BOOST_REQUIRE(b.wait_for(before + 1));
        // A wake-up that an earlier arming asked for may be the one that came.
        BOOST_REQUIRE(reaches(*s, static_cast<backend::sequence>(i)));
        ++slept;
    }
    BOOST_WARN(slept > 0);
    BOOST_WARN(slept < rounds); // both sides of the edge were met: a question of the machine's load
}

BOOST_AUTO_TEST_CASE(streams_are_armed_apart)
{
    bell b;
    omp_co::host::options o;
    o.workers = 2;
    machine m(o);
    m.device().set_wakeup(b.target());
    gate hold;
    auto* const armed = m.make_stream();
    auto* const other = m.make_stream();
    call stuck([&hold](auto...) { hold.pass(); });
    BOOST_TEST(!armed->launch(stuck));
    BOOST_TEST(!armed->signal(1));
    hold.wait_entered(1);
    BOOST_TEST(armed->arm());
    for (backend::sequence i = 1; i <= 50; ++i) BOOST_TEST(!other->signal(i));
    BOOST_REQUIRE(reaches(*other, 50));
    BOOST_TEST(b.rung() == 0);
    hold.open();
    BOOST_TEST(b.wait_for(1));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
