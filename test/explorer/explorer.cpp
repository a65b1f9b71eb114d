// SPDX-License-Identifier: BSL-1.0
// Runs thousands of schedules a profile, and on a failure prints the seed and the shortest schedule that fails.
//
// OMP_CO_EXPLORER_SEED=profile:number   one schedule
// OMP_CO_EXPLORER_SECONDS=n             new seeds for n seconds a profile
// OMP_CO_EXPLORER_KEEP_GOING=1          lists all seeds that fail, each with its verdict
#include "explorer.hpp"
#include "generate.hpp"
#include "shrink.hpp"

#include <support/sanitizers.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>

#if OMP_CO_TEST_SANITIZED
extern "C" void __sanitizer_set_death_callback(void (*)());
#endif

namespace omp_co_test::explorer {
namespace {

char current_seed[96] = "";

// A crash or a hang inside the library: say at least which seed it was.
void say_seed()
{
    constexpr char text[] = "\nexplorer: crashed or hung, OMP_CO_EXPLORER_SEED=";
    (void)!::write(2, text, sizeof text - 1);
    (void)!::write(2, current_seed, std::strlen(current_seed));
    (void)!::write(2, "\n", 1);
}

void on_signal(int number)
{
    say_seed();
    std::signal(number, SIG_DFL);
    std::raise(number);
}

std::string run_schedule(schedule const& s)
{
    ::alarm(20);
    std::string verdict = explorer(s).run();
    ::alarm(0);
    return verdict;
}

std::string run_seed(profile const& p, std::uint64_t seed)
{
    std::snprintf(current_seed, sizeof current_seed, "%s:%llu", p.name.data(),
                  static_cast<unsigned long long>(seed));
    return run_schedule(generator(p, seed).make());
}

// A verdict without the regions and numbers in it, so that shortening does not drift from one fault to another.
std::string rule_of(std::string const& verdict)
{
    std::string rule;
    int depth = 0;
    for (char const c : verdict.substr(0, verdict.find("\n"))) {
        depth += (c == '(' || c == '[') - (c == ')' || c == ']');
        if (depth == 0 && (c < '0' || c > '9')) rule += c;
    }
    return rule;
}

std::string report(profile const& p, std::uint64_t seed, std::string const& verdict)
{
    std::string const rule = rule_of(verdict);
    auto const fails = [&](schedule const& s) { return rule_of(run_schedule(s)) == rule; };
    schedule const shortest = shrinker(fails).shrink(generator(p, seed).make());
    return verdict + "\n  OMP_CO_EXPLORER_SEED=" + current_seed + ", shortened:\n" + to_text(shortest) +
           "  which fails with: " + run_schedule(shortest);
}

class seeds {
public:
    explicit seeds(profile const& p) : profile_(p)
    {
        if (char const* const text = std::getenv("OMP_CO_EXPLORER_SEED")) {
            char const* const colon = std::strchr(text, ':');
            bool const mine =
                colon != nullptr && p.name == std::string_view(text, static_cast<std::size_t>(colon - text));
            if (mine) first_ = std::strtoull(colon + 1, nullptr, 10);
            count_ = mine ? 1 : 0;
        } else if (char const* const seconds = std::getenv("OMP_CO_EXPLORER_SECONDS")) {
            first_ = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
            count_ = ~std::uint64_t{0};
            until_ = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(seconds));
        }
    }

    /// How many were run; stops at the first that fails.
    std::uint64_t run()
    {
        bool const keep_going = std::getenv("OMP_CO_EXPLORER_KEEP_GOING") != nullptr;
        std::uint64_t failed = 0;
        std::uint64_t done = 0;
        for (; done < count_ && !late(); ++done) {
            std::string const verdict = run_seed(profile_, first_ + done);
            if (verdict.empty()) continue;
            ++failed;
            if (keep_going) {
                std::printf("%s: %s\n", current_seed, verdict.c_str());
                continue;
            }
            BOOST_ERROR(report(profile_, first_ + done, verdict));
            break;
        }
        BOOST_TEST(failed == 0U);
        return done;
    }

private:
    bool late() const
    {
        return until_ != std::chrono::steady_clock::time_point() && std::chrono::steady_clock::now() > until_;
    }

    profile const& profile_;
    std::uint64_t first_ = 1;
    std::uint64_t count_ = static_cast<std::uint64_t>(rounds(profile_.contexts == 0 ? 4000 : 1500));
    std::chrono::steady_clock::time_point until_;
};

void watch_signals()
{
    std::signal(SIGALRM, on_signal);
#if OMP_CO_TEST_SANITIZED
    __sanitizer_set_death_callback(&say_seed); // it tells of crashes itself
#else
    for (int const s : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE}) std::signal(s, on_signal);
#endif
}

BOOST_AUTO_TEST_SUITE(exploration)

BOOST_DATA_TEST_CASE(all_rules_hold_on_every_schedule, boost::unit_test::data::xrange(std::size(profiles)),
                     which)
{
    watch_signals();
    profile const& p = profiles[which];
    std::uint64_t const done = seeds(p).run();
    BOOST_TEST_MESSAGE(p.name << ": " << done << " schedules");
}

// The explorer itself: on a device whose waits do not wait, it must find and shorten a fault.
BOOST_AUTO_TEST_CASE(a_device_that_does_not_wait_is_found_out)
{
    watch_signals();
    auto const run = [](schedule s) {
        for (stepped_options& o : s.devices) o.obeys_waits = false;
        return run_schedule(s);
    };
    auto const fails = [&](schedule const& s) { return !run(s).empty(); };
    for (std::uint64_t seed = 1; seed < 200; ++seed) {
        schedule const s = generator(profiles[0], seed).make();
        if (!fails(s)) continue;
        BOOST_TEST(shrinker(fails).shrink(s).steps.size() <= 6U);
        return;
    }
    BOOST_ERROR("200 schedules, and none shows that the device does not wait");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace omp_co_test::explorer
