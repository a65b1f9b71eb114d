// SPDX-License-Identifier: BSL-1.0
// Regions that fail after acceptance, and constructs that are given up before it: what stays, what goes,
// who fails too.
#include "test_bed.hpp"

#include <boost/test/unit_test.hpp>
#include <vector>

namespace failure_test {

using namespace bed;

struct fixture : test_bed {
    char x[64]{};
    char y[64]{};

    static constexpr bool failed = true;

    /// Check and reserve, and then not.
    void give_up(std::vector<map_item> items)
    {
        BOOST_TEST(!environment.check(items));
        (void)environment.reserve(items);
        environment.discard(items);
    }
};

BOOST_FIXTURE_TEST_SUITE(data_environment_failure, fixture)

BOOST_AUTO_TEST_CASE(a_construct_that_is_given_up_leaves_nothing)
{
    give_up({enter::to(x, 64), enter::alloc(x + 8, 8), enter::to(y, 64)});
    BOOST_TEST(environment.table().size() == 0U);
    BOOST_TEST(!is_present(x));
    BOOST_TEST(run({enter::to(x, 64)}).copies_in());
    BOOST_TEST(*count(x) == 1U);
}

BOOST_AUTO_TEST_CASE(a_construct_that_is_given_up_leaves_counts_and_dying_entries_alone)
{
    run({enter::to(y, 64)});
    region& dying = accept(0, {target::tofrom(x, 64)});
    give_up({enter::to(x, 64), enter::to(y, 64)});
    give_up({enter::to(x, 32)}); // would have orphaned it
    BOOST_TEST(!is_present(x));
    BOOST_TEST(*count(y) == 1U);
    BOOST_TEST(!environment.table().has_orphans());
    BOOST_TEST(blocks() == 2U);
    retire(dying);
    BOOST_TEST(blocks() == 1U);
}

BOOST_AUTO_TEST_CASE(a_reader_that_fails_once_its_data_has_arrived_takes_nobody_along)
{
    for (bool arrived : {false, true}) {
        region& first = accept(0, {target::to(x, 64)});
        region& reader = accept(1, {target::to(x, 64)});
        BOOST_TEST(!retire(first, failed, arrived));
        BOOST_TEST(retire(reader) == arrived);
        region& writer = accept(0, {target::tofrom(x, 64)});
        region& beside = accept(1, {target::tofrom(x, 64)});
        BOOST_TEST(!retire(writer, failed, arrived));
        BOOST_TEST(!retire(beside)); // nobody knows what the first one has left there
        BOOST_TEST(!is_present(x));
        BOOST_TEST(blocks() == 0U);
    }
}

BOOST_AUTO_TEST_CASE(an_enter_that_fails_leaves_nothing_behind)
{
    region& r = accept(0, {enter::to(x, 64)});
    retire(r, failed);
    BOOST_TEST(!is_present(x));
    BOOST_TEST(blocks() == 0U);
    BOOST_TEST(run({enter::to(x, 64)}).copies_in());
    BOOST_TEST(*count(x) == 1U);
}

// A leaked entry once made a reused stack address look partially mapped.
BOOST_AUTO_TEST_CASE(after_a_failure_another_range_at_the_same_address_can_be_mapped)
{
    region& r = accept(0, {target::tofrom(x + 8, 16), target::to(y, 8)});
    retire(r, failed);
    BOOST_TEST(run({enter::to(x, 64)}).accepted());
    BOOST_TEST(run({enter::to(y, 64)}).accepted());
}

BOOST_AUTO_TEST_CASE(an_enter_that_fails_takes_its_count_back_from_data_that_was_there)
{
    run({enter::to(x, 64)});
    region& r = accept(0, {enter::to(x, 64), enter::to(y, 64)});
    BOOST_TEST(*count(x) == 2U);
    retire(r, failed);
    BOOST_TEST(*count(x) == 1U);
    BOOST_TEST(!is_present(y));
}

BOOST_AUTO_TEST_CASE(a_target_that_fails_on_mapped_data_leaves_its_count)
{
    run({enter::to(x, 64)});
    retire(accept(0, {target::tofrom(x, 64)}), failed);
    BOOST_TEST(*count(x) == 1U);
    BOOST_TEST(retire(accept(0, {target::tofrom(x, 64)})));
}

BOOST_AUTO_TEST_CASE(everyone_who_relied_on_a_copy_that_failed_fails_too)
{
    region& in = accept(0, {enter::to(x, 64)});
    region& a = accept(1, {target::to(x, 64)});
    region& b = accept(2, {target::tofrom(x + 8, 8)});
    region& other = accept(3, {target::to(y, 64)});
    retire(in, failed);
    BOOST_TEST(!is_present(x));
    BOOST_TEST(!retire(a));
    BOOST_TEST(!retire(b));
    BOOST_TEST(retire(other));
    BOOST_TEST(blocks() == 0U);
}

BOOST_AUTO_TEST_CASE(who_comes_after_the_failure_is_known_does_not_fail)
{
    region& in = accept(0, {enter::to(x, 64)});
    region& early = accept(1, {target::to(x, 64)});
    retire(in, failed);
    region& late = accept(2, {target::to(x, 64)});
    BOOST_TEST(late.copies_in());
    BOOST_TEST(!retire(early));
    BOOST_TEST(retire(late));
    BOOST_TEST(blocks() == 0U);
}

BOOST_AUTO_TEST_CASE(who_came_before_the_copy_that_failed_does_not_fail)
{
    run({enter::to(x, 64)});
    region& before = accept(0, {target::to(x, 64)});
    region& update = accept(1, {update::to(x, 64)});
    region& after = accept(2, {target::to(x, 64)});
    retire(update, failed);
    BOOST_TEST(retire(before));
    BOOST_TEST(!retire(after));
    BOOST_TEST(*count(x) == 1U);
    BOOST_TEST(retire(accept(0, {target::to(x, 64)}))); // all that relied on it are through
}

BOOST_AUTO_TEST_CASE(a_failure_goes_on_through_what_the_failing_regions_brought)
{
    region& in = accept(0, {enter::to(x, 64)});
    region& both = accept(1, {target::to(x, 64), target::tofrom(y, 64)});
    region& again = accept(2, {target::to(y, 64)}); // relies on the copy out of `both`
    BOOST_TEST(!again.copies_in());
    retire(in, failed);
    BOOST_TEST(!retire(both));
    BOOST_TEST(!retire(again));
    BOOST_TEST(blocks() == 0U);
}

// Told when it is enqueued, long before it retires.
BOOST_AUTO_TEST_CASE(what_a_region_brought_is_out_of_sight_as_soon_as_its_failure_is_known)
{
    region& in = accept(0, {enter::to(x, 64)});
    environment.fail(in.items, in.serial, serial, false);
    BOOST_TEST(!is_present(x));
    region& fresh = accept(1, {enter::to(x, 64)});
    BOOST_TEST(fresh.copies_in());
    retire(in, failed);
    BOOST_TEST(retire(fresh));
    BOOST_TEST(*count(x) == 1U);
    BOOST_TEST(blocks() == 1U);
}

BOOST_AUTO_TEST_CASE(a_reviver_that_copied_in_itself_does_not_fail_for_the_old_life)
{
    region& old = accept(0, {target::alloc(x, 64)});
    region& fresh = accept(1, {enter::to(x, 64)});
    BOOST_TEST(fresh.copies_in());
    retire(old, failed);
    BOOST_TEST(is_present(x));
    BOOST_TEST(retire(fresh));
    BOOST_TEST(count(x).value_or(0) == 1U);
}

BOOST_AUTO_TEST_CASE(a_reviver_that_relied_on_the_copy_out_fails_with_it)
{
    region& old = accept(0, {target::tofrom(x, 64)});
    region& fresh = accept(1, {enter::to(x, 64)});
    BOOST_TEST(!fresh.copies_in());
    retire(old, failed);
    BOOST_TEST(!retire(fresh));
    BOOST_TEST(!is_present(x));
    BOOST_TEST(blocks() == 0U);
}

// The count belongs to another mapping by then.
BOOST_AUTO_TEST_CASE(an_enter_that_fails_takes_no_count_from_a_later_mapping)
{
    run({enter::to(x, 64)});
    region& enter = accept(0, {enter::alloc(x, 64), enter::to(y, 64)}); // its copy of y will fail
    retire(accept(1, {exit::delete_(x, 64)}));
    region& fresh = accept(2, {enter::to(x, 64)});
    BOOST_TEST(*count(x) == 1U);
    retire(enter, failed);
    BOOST_TEST(count(x).value_or(0) == 1U);
    BOOST_TEST(retire(fresh));
}

BOOST_AUTO_TEST_CASE(an_exit_that_fails_still_ends_its_mapping)
{
    run({enter::to(x, 64)});
    retire(accept(0, {exit::from(x, 64)}), failed);
    BOOST_TEST(!is_present(x));
    BOOST_TEST(blocks() == 0U);
}

BOOST_AUTO_TEST_CASE(an_exit_that_was_skipped_ends_nothing)
{
    run({enter::to(x, 64)});
    run({enter::to(x, 64)});
    retire(accept(0, {exit::release(x, 64)}), failed, false, true);
    BOOST_TEST(*count(x) == 2U);
    retire(accept(0, {exit::delete_(x, 64)}), failed, false, true);
    BOOST_TEST(*count(x) == 2U);
    region& enter = accept(0, {enter::to(x, 64)});
    region& exit = accept(0, {exit::delete_(x, 64)});
    retire(enter, failed, false, true);
    retire(exit, failed, false, true);
    BOOST_TEST(*count(x) == 2U);
}

// What it was to end is another mapping by then.
BOOST_AUTO_TEST_CASE(an_exit_that_was_skipped_leaves_a_later_mapping_alone)
{
    run({enter::to(x, 64)});
    region& exit = accept(0, {exit::from(x, 64)});
    region& fresh = accept(1, {enter::to(x, 64)});
    retire(exit, failed, false, true);
    BOOST_TEST(*count(x) == 1U);
    BOOST_TEST(retire(fresh));
    run({exit::release(x, 64)});
    BOOST_TEST(!is_present(x));
    BOOST_TEST(blocks() == 0U);
}

BOOST_AUTO_TEST_CASE(both_sides_are_not_taken_for_equal_after_a_failed_copy_out)
{
    run({enter::to(x, 64)});
    region& reader = accept(1, {target::to(x, 64)});
    region& out = accept(0, {exit::from(x, 64)});
    environment.fail(out.items, out.serial, serial, false);
    BOOST_TEST(accept(2, {target::to(x, 64)}).copies_in());
    retire(out, failed);
    BOOST_TEST(retire(reader));
}

BOOST_AUTO_TEST_CASE(associated_entries_survive_every_failure)
{
    associate(x, 64);
    retire(accept(0, {enter::to(x, 64)}), failed);
    retire(accept(0, {target::tofrom(x, 64, always)}), failed);
    BOOST_TEST(*count(x) == omp_co::detail::infinite_count);
    BOOST_TEST(retire(accept(0, {target::to(x, 64)})));
}

// Of a queue. Both are skipped, one after the other, and a third mapping is there all the time; or the exit takes effect.
BOOST_AUTO_TEST_CASE(what_is_taken_back_leaves_others_mapping_alone)
{
    for (bool const skipped : {true, false}) {
        run({enter::to(x, 64)});
        region& begins = accept(0, {enter::to(x, 64)}, true);
        region& ends = accept(0, {exit::release(x, 64)}, true);
        BOOST_TEST((count(x) == 1U));
        retire(begins, true, false, true);
        BOOST_TEST(is_present(x));
        retire(ends, skipped, false, true);
        BOOST_TEST(is_present(x) == skipped);
        if (!skipped) continue;
        BOOST_TEST((count(x) == 1U));
        run({exit::release(x, 64)});
        BOOST_TEST(!is_present(x));
    }
    BOOST_TEST(blocks() == 0U);
}

// An exit on another queue takes effect whatever becomes of this one.
BOOST_AUTO_TEST_CASE(what_is_taken_back_does_not_wait_for_other_queues)
{
    run({enter::to(x, 64)});
    region& begins = accept(0, {enter::to(x, 64)}, true);
    region& ends = accept(1, {exit::release(x, 64)}, true);
    retire(begins, true, false, true);
    BOOST_TEST(!is_present(x));
    retire(ends);
    BOOST_TEST(!is_present(x));
    BOOST_TEST(blocks() == 0U);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace failure_test
