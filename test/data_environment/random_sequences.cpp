// SPDX-License-Identifier: BSL-1.0
// Random sequences of constructs, motions, failures and retirements, held against a reference model. A
// failure prints its seed and the shortest part of its sequence that still fails.
//   OMP_CO_MODEL_SEED=<n>     plays this seed alone
//   OMP_CO_MODEL_SECONDS=<n>  plays new seeds for so long
#include "player.hpp"
#include "shrink.hpp"
#include "support/sanitizers.hpp"

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <sstream>
#include <string>

namespace {

using namespace model;

#if defined(__OPTIMIZE__) && !OMP_CO_TEST_SANITIZED
constexpr std::uint64_t seeds = 10'000;
#else
constexpr std::uint64_t seeds = 1'500;
#endif

settings settings_of(std::uint64_t seed)
{
    settings s;
    s.unified = seed % 16 == 15;
    s.device_waits = seed % 4 != 3;
    return s;
}

// The report of a seed that fails, or nothing.
std::string play_seed(std::uint64_t seed)
{
    settings const s = settings_of(seed);
    sequence const all = generator(seed).make();
    if (play(s, all).empty()) return {};
    sequence const shortest = shrink(all, [&](sequence const& part) { return !play(s, part).empty(); });
    std::ostringstream report;
    report << "seed " << seed << (s.unified ? ", unified memory" : "")
           << (s.device_waits ? "" : ", no waits on the device") << ": " << play(s, shortest)
           << "\n  the shortest part that fails:\n"
           << shortest;
    return report.str();
}

std::uint64_t number(char const* variable, std::uint64_t otherwise)
{
    char const* const text = std::getenv(variable);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 0);
}

BOOST_AUTO_TEST_SUITE(data_environment_model)

BOOST_AUTO_TEST_CASE(random_sequences_agree_with_the_reference)
{
    if (std::getenv("OMP_CO_MODEL_SEED") != nullptr) {
        std::string const report = play_seed(number("OMP_CO_MODEL_SEED", 0));
        BOOST_TEST(report.empty(), report);
        return;
    }
    std::uint64_t const seconds = number("OMP_CO_MODEL_SECONDS", 0);
    auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    std::uint64_t seed = seconds == 0 ? 0 : std::random_device()();
    std::uint64_t played = 0;
    for (; seconds == 0 ? played < seeds : std::chrono::steady_clock::now() < end; ++played, ++seed) {
        std::string const report = play_seed(seed);
        if (report.empty()) continue;
        BOOST_ERROR(report << "  OMP_CO_MODEL_SEED=" << seed << " plays it again");
        return;
    }
    BOOST_TEST_MESSAGE(played << " sequences");
}

// The model must be able to fail.
BOOST_AUTO_TEST_CASE(a_failing_sequence_is_shrunk_to_what_matters)
{
    sequence all = generator(1).make();
    auto const has_update_and_write = [](sequence const& part) {
        bool update = false;
        for (step const& s : part) {
            update = update || (s.what == action::start && s.kind == construct::update);
            if (update && s.what == action::write) return true;
        }
        return false;
    };
    for (std::uint64_t seed = 1; !has_update_and_write(all); ++seed) all = generator(seed).make();
    BOOST_TEST(shrink(all, has_update_and_write).size() == 2U);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
