// SPDX-License-Identifier: BSL-1.0
// In one construct the order of the clauses does not matter (OpenMP 5.2, 5.8.3 and 13.7).
#include "test_bed.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <utility>

namespace order_of_clauses_test {

using namespace bed;
namespace data = boost::unit_test::data;

struct fixture : test_bed {
    char x[64]{};

    region& run_in_order(bool swapped, map_item a, map_item b)
    {
        if (swapped) std::swap(a, b);
        return run({a, b});
    }
};

BOOST_FIXTURE_TEST_SUITE(data_environment_order_of_clauses, fixture)

BOOST_DATA_TEST_CASE_F(fixture, alloc_beside_tofrom_still_copies_in_and_back, data::make({false, true}),
                       swapped)
{
    region& r = run_in_order(swapped, target::alloc(x, 64), target::tofrom(x, 64));
    BOOST_TEST(r.bytes(map_copy_in) == 64U);
    BOOST_TEST(r.bytes(map_copy_out) == 64U);
    BOOST_TEST(blocks() == 0U);
}

BOOST_DATA_TEST_CASE_F(fixture, delete_beside_from_still_copies_back, data::make({false, true}), swapped)
{
    run({enter::to(x, 64)});
    run({enter::to(x, 64)});
    region& r = run_in_order(swapped, exit::delete_(x, 64), exit::from(x, 64));
    BOOST_TEST(r.bytes(map_copy_out) == 64U);
    BOOST_TEST(!is_present(x));
}

BOOST_DATA_TEST_CASE_F(fixture, release_beside_from_copies_back_when_both_reach_zero,
                       data::make({false, true}), swapped)
{
    run({enter::to(x, 64)});
    run({enter::to(x, 64)});
    BOOST_TEST(run_in_order(swapped, exit::release(x, 64), exit::from(x, 64)).bytes(map_copy_out) == 64U);
    BOOST_TEST(!is_present(x));
}

BOOST_AUTO_TEST_CASE(always_from_twice_copies_once)
{
    run({enter::to(x, 64)});
    BOOST_TEST(run({exit::from(x, 64, always), exit::from(x, 64, always)}).bytes(map_copy_out) == 64U);
    run({enter::to(x, 64)});
    run({enter::to(x, 64)});
    BOOST_TEST(run({target::from(x, 64, always), target::tofrom(x, 64, always)}).bytes(map_copy_out) == 64U);
    BOOST_TEST(*count(x) == 2U);
    BOOST_TEST(run({update::from(x, 64), update::from(x, 64)}).bytes(map_copy_out) == 64U);
}

BOOST_AUTO_TEST_CASE(the_same_data_twice_is_copied_in_once)
{
    BOOST_TEST(run({target::to(x, 64), target::tofrom(x, 64)}).bytes(map_copy_in) == 64U);
    BOOST_TEST(run({enter::to(x, 64), enter::to(x, 64)}).bytes(map_copy_in) == 64U);
    BOOST_TEST(*count(x) == 2U);
}

BOOST_DATA_TEST_CASE_F(fixture, a_part_beside_the_whole_is_copied_with_it, data::make({false, true}), swapped)
{
    region& r = run_in_order(swapped, target::tofrom(x, 64), target::alloc(x + 8, 8));
    BOOST_TEST(r.bytes(map_copy_in) == 64U);
    BOOST_TEST(r.bytes(map_copy_out) == 64U);
    run({enter::to(x, 64)});
    run({enter::to(x, 64)});
    // `from` of a part moves that part alone, though the whole goes.
    BOOST_TEST(run_in_order(swapped, exit::delete_(x, 64), exit::from(x + 8, 8)).bytes(map_copy_out) == 8U);
    BOOST_TEST(!is_present(x));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace order_of_clauses_test
