// SPDX-License-Identifier: BSL-1.0
// Data with a name: what messages about it say. OMP_CO_INFO's lines are in test/programs/info.cpp.
#include "support/devices.hpp"
#include "support/outcome.hpp"

#include <omp_co/omp_co.hpp>

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

namespace names_test {

using namespace omp_co_test;
using omp_co::errc;
using omp_co::explain;
using omp_co::name;
using omp_co::section;

struct fixture {
    test_device owner{limited(0, 1'000)};
    omp_co::device dev = owner;
    omp_co::diagnostics why;
    std::vector<char> v = std::vector<char>(100);

    bool says(std::string const& words) const
    {
        bool const said = why.message().find(words) != std::string::npos;
        if (!said) BOOST_TEST_MESSAGE("it says: " << why.message());
        return said;
    }
};

BOOST_FIXTURE_TEST_SUITE(names_of_data, fixture)

BOOST_AUTO_TEST_CASE(absent_data_is_named)
{
    BOOST_TEST((outcome(omp_co::target_update(dev, omp_co::to(v, omp_co::present, name("v")),
                                              explain(why))) == errc::not_present));
    BOOST_TEST(says("to v: the range ["));
}

BOOST_AUTO_TEST_CASE(both_ranges_are_named_where_one_is_mapped_in_part)
{
    BOOST_TEST(!outcome(omp_co::target_enter_data(dev, omp_co::alloc(section(v, 0, 50), name("the front")))));
    BOOST_TEST((outcome(omp_co::target_enter_data(dev, omp_co::to(v, name("all")), explain(why))) ==
                errc::partially_present));
    BOOST_TEST(says("to all: the range ["));
    BOOST_TEST(says(" of 50 bytes, the front"));
    BOOST_TEST(!outcome(omp_co::target_exit_data(dev, omp_co::release(section(v, 0, 50)))));
}

BOOST_AUTO_TEST_CASE(both_ranges_are_named_within_one_construct)
{
    auto const front = section(v, 0, 60).named("front");
    auto const back = section(v, 50, 50).named("back");
    BOOST_TEST((outcome(omp_co::target_enter_data(dev, omp_co::to(front), omp_co::alloc(back),
                                                  explain(why))) == errc::partially_present));
    BOOST_TEST(says("alloc back: the range ["));
    BOOST_TEST(says(" of 60 bytes, front"));
}

BOOST_AUTO_TEST_CASE(memory_that_is_short_is_named)
{
    std::vector<char> big(2'000);
    BOOST_TEST((outcome(omp_co::target_enter_data(dev, omp_co::to(v, name("v")), omp_co::to(big, name("big")),
                                                  explain(why))) == errc::out_of_memory));
    BOOST_TEST(says("2100 bytes of device memory asked for v, big, "));
}

BOOST_AUTO_TEST_CASE(blocks_have_names_too)
{
    auto const block = omp_co::section2d(v.data(), {10, 10}, {1, 1}, {2, 3});
    BOOST_TEST(!outcome(omp_co::target_enter_data(dev, omp_co::alloc(section(v, 0, 20)))));
    auto const refused = [&](auto clause) {
        auto const ec = outcome(omp_co::target_update(dev, clause, explain(why)));
        return ec == errc::partially_present && says("to tile: the range [");
    };
    BOOST_TEST(refused(omp_co::to(block, name("tile"))));
    BOOST_TEST(refused(omp_co::to(block.named("tile"))));
    BOOST_TEST(!outcome(omp_co::target_exit_data(dev, omp_co::release(section(v, 0, 20)))));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace names_test
