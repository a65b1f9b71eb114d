// SPDX-License-Identifier: BSL-1.0
// Reference counts and what moves because of them (OpenMP 5.2, 5.8.3).
#include "test_bed.hpp"

#include <boost/test/unit_test.hpp>

namespace counts_test {

using namespace bed;

struct fixture : test_bed {
    char x[64]{};
    char y[64]{};
};

BOOST_FIXTURE_TEST_SUITE(data_environment_counts, fixture)

BOOST_AUTO_TEST_CASE(a_target_that_brings_its_own_data_copies_both_ways_and_leaves_nothing)
{
    region& r = accept(0, {target::tofrom(x, 64)});
    BOOST_TEST(r.copies_in());
    BOOST_TEST(r.copies_out());
    BOOST_TEST(!is_present(x)); // as if it had already run
    BOOST_TEST(blocks() == 1U);
    retire(r);
    BOOST_TEST(blocks() == 0U);
    BOOST_TEST(environment.table().size() == 0U);
}

BOOST_AUTO_TEST_CASE(the_map_type_says_which_way_data_moves)
{
    region& to = run({target::to(x, 64)});
    BOOST_TEST(to.copies_in());
    BOOST_TEST(!to.copies_out());
    region& from = run({target::from(x, 64)});
    BOOST_TEST(!from.copies_in());
    BOOST_TEST(from.copies_out());
    region& alloc = run({target::alloc(x, 64)});
    BOOST_TEST(!alloc.copies_in());
    BOOST_TEST(!alloc.copies_out());
}

BOOST_AUTO_TEST_CASE(data_that_is_there_is_counted_and_does_not_move)
{
    BOOST_TEST(run({enter::to(x, 64)}).copies_in());
    BOOST_TEST(*count(x) == 1U);
    BOOST_TEST(!run({enter::to(x, 64)}).copies_in());
    BOOST_TEST(*count(x) == 2U);
    region& r = run({target::tofrom(x, 64)});
    BOOST_TEST(!r.copies_in());
    BOOST_TEST(!r.copies_out());
    BOOST_TEST(*count(x) == 2U);
}

BOOST_AUTO_TEST_CASE(the_last_exit_copies_back_and_frees)
{
    run({enter::to(x, 64)});
    run({enter::alloc(x, 64)});
    BOOST_TEST(!run({exit::from(x, 64)}).copies_out());
    BOOST_TEST(*count(x) == 1U);
    BOOST_TEST(run({exit::from(x, 64)}).copies_out());
    BOOST_TEST(!is_present(x));
    BOOST_TEST(blocks() == 0U);
}

BOOST_AUTO_TEST_CASE(release_counts_down_and_copies_nothing)
{
    run({enter::to(x, 64)});
    BOOST_TEST(!run({exit::release(x, 64)}).copies_out());
    BOOST_TEST(!is_present(x));
}

BOOST_AUTO_TEST_CASE(release_below_zero_is_harmless)
{
    run({enter::to(x, 64)});
    for (int i = 0; i < 3; ++i) BOOST_TEST(run({exit::release(x, 64)}).accepted());
    BOOST_TEST(!is_present(x));
    run({enter::to(x, 64)});
    BOOST_TEST(*count(x) == 1U);
}

BOOST_AUTO_TEST_CASE(release_twice_in_one_construct_stops_at_zero)
{
    run({enter::to(x, 64)});
    BOOST_TEST(run({exit::release(x, 64), exit::release(x, 64)}).accepted());
    BOOST_TEST(!is_present(x));
    BOOST_TEST(blocks() == 0U);
}

BOOST_AUTO_TEST_CASE(delete_ends_a_mapping_at_any_count)
{
    for (int i = 0; i < 3; ++i) run({enter::to(x, 64)});
    BOOST_TEST(!run({exit::delete_(x, 64)}).copies_out());
    BOOST_TEST(!is_present(x));
    BOOST_TEST(blocks() == 0U);
}

BOOST_AUTO_TEST_CASE(always_copies_at_any_count)
{
    run({enter::to(x, 64)});
    BOOST_TEST(run({enter::to(x, 64, always)}).copies_in());
    BOOST_TEST(*count(x) == 2U);
    region& r = run({target::tofrom(x, 64, always)});
    BOOST_TEST(r.copies_in());
    BOOST_TEST(r.copies_out());
    BOOST_TEST(run({exit::from(x, 64, always)}).copies_out());
    BOOST_TEST(*count(x) == 1U);
}

BOOST_AUTO_TEST_CASE(always_moves_only_where_the_map_type_says_so)
{
    run({enter::to(x, 64)});
    region& to = run({target::to(x, 64, always)});
    BOOST_TEST(to.copies_in());
    BOOST_TEST(!to.copies_out());
    region& from = run({target::from(x, 64, always)});
    BOOST_TEST(!from.copies_in());
    BOOST_TEST(from.copies_out());
    region& alloc = run({target::alloc(x, 64, always)});
    BOOST_TEST(!alloc.copies_in());
    BOOST_TEST(!alloc.copies_out());
    BOOST_TEST(!run({exit::release(x, 64, always)}).copies_out());
}

BOOST_AUTO_TEST_CASE(update_moves_and_counts_nothing)
{
    run({enter::alloc(x, 64)});
    region& to = run({update::to(x, 64)});
    BOOST_TEST(to.copies_in());
    BOOST_TEST(!to.copies_out());
    region& from = run({update::from(x, 64)});
    BOOST_TEST(!from.copies_in());
    BOOST_TEST(from.copies_out());
    BOOST_TEST(*count(x) == 1U);
}

BOOST_AUTO_TEST_CASE(update_of_a_part_moves_that_part)
{
    run({enter::alloc(x, 64)});
    region& r = run({update::to(x + 8, 16)});
    BOOST_TEST(r.bytes(map_copy_in) == 16U);
}

BOOST_AUTO_TEST_CASE(absent_data_is_ignored_by_exit_and_update)
{
    for (map_item const& item : {exit::from(x, 64), exit::release(x, 64), exit::delete_(x, 64),
                                 update::to(x, 64), update::from(x, 64), exit::from(x, 64, always)}) {
        region& r = run({item});
        BOOST_TEST(r.accepted());
        BOOST_TEST(!r.copies_in());
        BOOST_TEST(!r.copies_out());
    }
    BOOST_TEST(environment.table().size() == 0U);
}

BOOST_AUTO_TEST_CASE(absent_data_with_present_is_an_error_everywhere)
{
    for (map_item const& item :
         {exit::from(x, 64, present), exit::release(x, 64, present), exit::delete_(x, 64, present),
          update::to(x, 64, present), update::from(x, 64, present), enter::to(x, 64, present),
          enter::alloc(x, 64, present), target::to(x, 64, present), target::from(x, 64, present),
          target::tofrom(x, 64, present), target::alloc(x, 64, present)}) {
        region& r = run({item});
        BOOST_TEST((r.refused == errc::not_present));
        BOOST_TEST(r.why.find("is not present") != std::string::npos);
    }
    BOOST_TEST(environment.table().size() == 0U);
    BOOST_TEST(blocks() == 0U);
}

BOOST_AUTO_TEST_CASE(present_data_with_present_is_fine)
{
    run({enter::to(x, 64)});
    BOOST_TEST(run({target::tofrom(x, 64, present)}).accepted());
    BOOST_TEST(run({update::to(x + 8, 8, present)}).accepted());
    BOOST_TEST(run({exit::from(x, 64, present)}).accepted());
}

BOOST_AUTO_TEST_CASE(an_error_in_one_clause_leaves_the_others_undone)
{
    region& r = run({enter::to(x, 64), enter::to(y, 64, present)});
    BOOST_TEST((r.refused == errc::not_present));
    BOOST_TEST(!is_present(x));
    BOOST_TEST(blocks() == 0U);
    BOOST_TEST(run({enter::to(x, 64)}).copies_in());
}

BOOST_AUTO_TEST_CASE(entries_of_infinite_count_stay_and_move_only_when_told)
{
    associate(x, 64);
    BOOST_TEST(!run({target::tofrom(x, 64)}).copies_in());
    BOOST_TEST(!run({exit::from(x, 64)}).copies_out());
    for (int i = 0; i < 3; ++i) run({exit::release(x, 64)});
    run({exit::delete_(x, 64)});
    BOOST_TEST(is_present(x));
    BOOST_TEST(*count(x) == omp_co::detail::infinite_count);
    BOOST_TEST(run({update::to(x, 64)}).copies_in());
    BOOST_TEST(run({exit::from(x, 64, always)}).copies_out());
    BOOST_TEST(is_present(x));
}

BOOST_AUTO_TEST_CASE(an_empty_construct_is_accepted)
{
    BOOST_TEST(run({}).accepted());
    BOOST_TEST(environment.table().size() == 0U);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace counts_test
