// SPDX-License-Identifier: BSL-1.0
// Random sequences of constructs, motions, failures and retirements, held against a reference model. A
// failure prints its seed and the shortest part of its sequence that still fails; test/model plays it again.
#include "seeds.hpp"
#include "support/sanitizers.hpp"

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <string>

namespace random_sequences_test {

using namespace model;

#if defined(__OPTIMIZE__) && !OMP_CO_TEST_SANITIZED
constexpr std::uint64_t seeds = 10'000;
#else
constexpr std::uint64_t seeds = 1'500;
#endif

BOOST_AUTO_TEST_SUITE(data_environment_model)

BOOST_AUTO_TEST_CASE(random_sequences_agree_with_the_reference)
{
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        std::string const report = play_seed(seed);
        BOOST_REQUIRE_MESSAGE(report.empty(), report << "  model --seed " << seed << " plays it again");
    }
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

} // namespace random_sequences_test
