// SPDX-License-Identifier: BSL-1.0
// Entries whose count is zero while regions use them: dying, revived and orphaned; and what regions wait for.
#include "test_bed.hpp"

#include <boost/test/unit_test.hpp>
#include <vector>

namespace dying_test {

using namespace bed;

struct fixture : test_bed {
    char memory[65]{};
    char* const x = memory; // 64 bytes of it
    char y[64]{};

    present_entry* entry(void const* p) { return environment.table().holding(p); }
};

BOOST_FIXTURE_TEST_SUITE(data_environment_dying, fixture)

BOOST_AUTO_TEST_CASE(a_dying_entry_is_absent_for_a_program)
{
    region& r = accept(0, {target::tofrom(x, 64)});
    BOOST_TEST(!is_present(x));
    BOOST_TEST((run({target::to(x, 64, present)}).refused == errc::not_present));
    BOOST_TEST(!run({update::from(x, 64)}).copies_out());
    BOOST_TEST(!run({exit::from(x, 64)}).copies_out());
    BOOST_TEST(run({enter::to(y, 64)}).accepted());
    retire(r);
    BOOST_TEST(blocks() == 1U);
}

// A wider or shifted range is no error: what a program sees must not depend on how fast the device is.
BOOST_AUTO_TEST_CASE(a_dying_entry_does_not_make_a_range_partially_present)
{
    region& r = accept(0, {target::tofrom(x + 8, 16)});
    BOOST_TEST(accept(1, {enter::to(x, 64)}).accepted());
    BOOST_TEST(*count(x + 8) == 1U);
    retire(r);
    BOOST_TEST(*count(x + 8) == 1U);
}

BOOST_AUTO_TEST_CASE(the_block_lives_until_the_last_region_that_uses_it_has_retired)
{
    run({enter::to(x, 64)});
    region& a = accept(0, {target::to(x, 64)});
    region& b = accept(1, {target::to(x, 64)});
    region& out = accept(2, {exit::release(x, 64)});
    BOOST_TEST(!is_present(x));
    retire(b);
    retire(out);
    BOOST_TEST(blocks() == 1U);
    retire(a);
    BOOST_TEST(blocks() == 0U);
    BOOST_TEST(environment.table().size() == 0U);
}

BOOST_AUTO_TEST_CASE(a_map_of_the_same_range_revives_the_entry_and_its_block)
{
    region& first = accept(0, {target::tofrom(x, 64)});
    present_entry* const e = entry(x);
    region& again = accept(1, {enter::to(x, 64)});
    BOOST_TEST(entry(x) == e);
    BOOST_TEST(blocks() == 1U);
    BOOST_TEST(*count(x) == 1U);
    retire(first);
    BOOST_TEST(blocks() == 1U); // post-processing frees only what has not been revived since
    retire(again);
    BOOST_TEST(*count(x) == 1U);
    run({exit::release(x, 64)});
    BOOST_TEST(blocks() == 0U);
}

BOOST_AUTO_TEST_CASE(reviving_needs_no_copy_in_if_a_pending_copy_out_makes_both_sides_equal)
{
    region& first = accept(0, {target::tofrom(x, 64)});
    region& again = accept(1, {target::to(x, 64)});
    BOOST_TEST(!again.copies_in());
    BOOST_TEST(again.waits_for(first));
}

BOOST_AUTO_TEST_CASE(reviving_copies_in_what_no_copy_out_covers)
{
    region& written = accept(0, {target::alloc(x, 64)});
    region& again = accept(1, {target::to(x, 64)});
    BOOST_TEST(again.copies_in());
    BOOST_TEST(again.waits_for(written));
    retire(written);
    retire(again);

    run({enter::to(x, 64)});
    region& kernel = accept(0, {target::tofrom(x, 64)});
    accept(1, {update::from(x, 16)});
    accept(1, {exit::release(x, 64)});
    BOOST_TEST(accept(2, {target::to(x, 64)}).copies_in()); // only 16 bytes are equal
    BOOST_TEST(kernel.accepted());
}

BOOST_AUTO_TEST_CASE(a_kernel_after_the_copy_out_makes_the_sides_differ_again)
{
    run({enter::to(x, 64)});
    accept(0, {update::from(x, 64)});
    accept(1, {target::tofrom(x, 64)}); // writes after the copy out
    accept(2, {exit::release(x, 64)});
    BOOST_TEST(accept(3, {target::to(x, 64)}).copies_in());
}

// The host may have changed: only a motion in flight keeps the program from writing its side.
BOOST_AUTO_TEST_CASE(reviving_copies_in_when_the_motion_that_made_both_sides_equal_is_over)
{
    run({enter::to(x, 64)}); // equal, and then the program writes x
    region& reader = accept(0, {target::to(x, 64)});
    accept(1, {exit::release(x, 64)});
    BOOST_TEST(accept(2, {target::to(x, 64)}).copies_in());
    retire(reader);
}

BOOST_AUTO_TEST_CASE(reviving_copies_in_when_an_update_from_is_over)
{
    run({enter::to(x, 64)});
    run({update::from(x, 64)}); // equal, and then the program writes x
    accept(0, {target::to(x, 64)});
    accept(1, {exit::release(x, 64)});
    BOOST_TEST(accept(2, {target::to(x, 64)}).copies_in());
}

BOOST_AUTO_TEST_CASE(always_copies_in_also_when_reviving)
{
    accept(0, {target::tofrom(x, 64)});
    BOOST_TEST(accept(1, {target::to(x, 64, always)}).copies_in());
}

// The old life's kernel must not write over the new life's data.
BOOST_AUTO_TEST_CASE(kernels_of_a_new_life_wait_for_those_of_the_old_one)
{
    run({enter::to(x, 64)});
    region& old = accept(0, {target::tofrom(x, 64)});
    accept(3, {exit::release(x, 64)});
    region& mapped = accept(1, {enter::alloc(x, 64)});
    region& kernel = accept(2, {target::tofrom(x, 64)});
    BOOST_TEST((kernel.waits_for(old) || (kernel.waits_for(mapped) && mapped.waits_for(old))));
}

BOOST_AUTO_TEST_CASE(a_map_that_a_dying_entry_does_not_cover_orphans_it)
{
    region& old = accept(0, {target::tofrom(x, 32)});
    region& fresh = accept(1, {enter::to(x, 64)});
    BOOST_TEST(fresh.copies_in());
    BOOST_TEST(fresh.waits_for(old));
    BOOST_TEST(blocks() == 2U);
    BOOST_TEST(environment.table().has_orphans());
    retire(old);
    BOOST_TEST(blocks() == 1U);
    BOOST_TEST(!environment.table().has_orphans());
    BOOST_TEST(*count(x) == 1U);
    retire(fresh);
}

BOOST_AUTO_TEST_CASE(a_new_entry_waits_for_all_who_use_the_orphans_beneath_it)
{
    region& a = accept(0, {target::tofrom(x, 16)});
    region& b = accept(1, {target::to(x + 16, 16)});
    region& c = accept(2, {target::tofrom(x + 48, 16)});
    region& fresh = accept(3, {enter::to(x, 40)});
    BOOST_TEST(fresh.waits_for(a));
    BOOST_TEST(fresh.waits_for(b));
    BOOST_TEST(!fresh.waits_for(c));
    BOOST_TEST(environment.table().size() == 2U);
    region& later = accept(2, {target::to(x, 40)}); // and so do its users
    BOOST_TEST((later.waits_for(fresh) || later.waits_for(a)));
}

BOOST_AUTO_TEST_CASE(an_orphan_is_waited_for_by_everyone_who_comes_before_it_is_gone)
{
    region& old = accept(0, {target::tofrom(x, 64)});
    region& part = accept(1, {target::to(x, 8)});
    BOOST_TEST(part.waits_for(old));
    region& other_part = accept(2, {target::to(x + 32, 8)});
    BOOST_TEST(other_part.waits_for(old));
    retire(old);
    BOOST_TEST(!accept(3, {target::to(x + 16, 8)}).waits_for(old));
}

BOOST_AUTO_TEST_CASE(many_lives_of_one_range_end_with_nothing_left)
{
    std::vector<region*> all;
    for (std::size_t i = 0; i < 40; ++i)
        all.push_back(&accept(i % 4, {i % 3 == 0 ? target::tofrom(x, 64) : target::tofrom(x, 8 + i % 5)}));
    for (region* r : all) retire(*r);
    BOOST_TEST(blocks() == 0U);
    BOOST_TEST(environment.table().size() == 0U);
    BOOST_TEST(!environment.table().has_orphans());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(data_environment_waits, fixture)

BOOST_AUTO_TEST_CASE(kernels_on_mapped_data_do_not_wait_for_each_other)
{
    run({enter::to(x, 64)});
    region& a = accept(0, {target::tofrom(x, 64)});
    region& b = accept(1, {target::tofrom(x, 64)});
    region& c = accept(2, {target::to(x, 64)});
    BOOST_TEST(!b.waits_for(a));
    BOOST_TEST((!c.waits_for(a) && !c.waits_for(b)));
}

BOOST_AUTO_TEST_CASE(a_kernel_waits_for_the_copy_that_brings_its_data)
{
    region& in = accept(0, {enter::to(x, 64)});
    BOOST_TEST(accept(1, {target::to(x, 64)}).waits_for(in));
    BOOST_TEST(accept(2, {target::tofrom(x + 8, 8)}).waits_for(in));
    BOOST_TEST(!accept(3, {enter::to(y, 64)}).waits_for(in));
}

BOOST_AUTO_TEST_CASE(a_copy_over_data_that_is_read_waits_for_all_readers)
{
    run({enter::to(x, 64)});
    region& a = accept(0, {target::to(x, 64)});
    region& b = accept(1, {target::to(x, 64)});
    region& in = accept(2, {update::to(x, 64)});
    BOOST_TEST((in.waits_for(a) && in.waits_for(b)));
}

BOOST_AUTO_TEST_CASE(a_copy_out_waits_for_writers)
{
    run({enter::to(x, 64)});
    region& a = accept(0, {target::tofrom(x, 64)});
    region& b = accept(1, {target::tofrom(x, 64)});
    region& out = accept(2, {exit::from(x, 64)});
    BOOST_TEST((out.waits_for(a) && out.waits_for(b)));
}

BOOST_AUTO_TEST_CASE(motions_of_one_entry_wait_for_each_other)
{
    run({enter::to(x, 64)});
    region& in = accept(0, {update::to(x, 64)});
    region& out = accept(1, {update::from(x, 64)});
    BOOST_TEST(out.waits_for(in));
    BOOST_TEST(accept(2, {update::to(x, 64)}).waits_for(out));
}

BOOST_AUTO_TEST_CASE(what_has_retired_is_not_waited_for)
{
    region& in = accept(0, {enter::to(x, 64)});
    retire(in);
    BOOST_TEST(accept(1, {target::to(x, 64)}).waits.empty());
}

BOOST_AUTO_TEST_CASE(the_latest_region_of_a_stream_stands_for_the_earlier_ones)
{
    run({enter::to(x, 64)});
    accept(1, {target::to(x, 64)});
    region& last = accept(1, {target::to(x, 64)});
    region& in = accept(2, {update::to(x, 64)});
    BOOST_TEST(in.waits.size() == 1U);
    BOOST_TEST(in.waits_for(last));
}

BOOST_AUTO_TEST_CASE(release_and_ignored_clauses_wait_for_nobody)
{
    run({enter::to(x, 64)});
    accept(0, {target::tofrom(x, 64)});
    BOOST_TEST(accept(1, {exit::release(x, 64)}).waits.empty());
    BOOST_TEST(accept(1, {exit::from(y, 64)}).waits.empty());
}

BOOST_AUTO_TEST_CASE(pending_copies_over_a_host_range_are_told_to_other_devices)
{
    auto const pending = [&](char* begin, char* end) {
        std::vector<omp_co::backend::sequence> all;
        environment.for_each_pending_out(
            {begin, end}, [&](stream_clock&, omp_co::backend::sequence n) { all.push_back(n); });
        return all;
    };
    run({enter::to(x, 64)});
    BOOST_TEST(pending(x, x + 64).empty());
    region& out = accept(0, {exit::from(x, 64)});
    BOOST_TEST(pending(x, x + 64).size() == 1U);
    BOOST_TEST(pending(x, x + 64).front() == out.number);
    BOOST_TEST(pending(x + 63, x + 64).size() == 1U);
    BOOST_TEST(pending(x + 64, x + 65).empty());
    BOOST_TEST(pending(y, y + 64).empty());
    accept(1, {enter::to(x, 8)}); // orphans the entry: still told
    BOOST_TEST(!pending(x + 32, x + 64).empty());
    retire(out);
    BOOST_TEST(pending(x + 32, x + 64).empty());
}

BOOST_AUTO_TEST_CASE(reserve_foresees_every_wait_and_record_does_not_allocate)
{
    for (std::size_t i = 0; i < 4; ++i) accept(i, {target::tofrom(x + 16 * i, 16)});
    std::vector<map_item> items{enter::to(x, 64), enter::to(x + 8, 8), enter::to(y, 64)};
    BOOST_TEST(!environment.check(items));
    std::size_t const most = environment.reserve(items);
    char block_x[64];
    char block_y[64];
    items[0].device = block_x;
    items[2].device = block_y;
    environment.apply(items, ++serial);
    std::size_t const room = items[0].entry->uses.capacity();
    std::map<stream_clock*, omp_co::backend::sequence> waits;
    environment.for_each_conflict(items, serial,
                                  [&](stream_clock& s, omp_co::backend::sequence n, bool) { waits[&s] = n; });
    BOOST_TEST(waits.size() == 4U);
    BOOST_TEST(most >= waits.size());
    environment.record(items, streams[0], ++streams[0].accepted, serial);
    BOOST_TEST(items[0].entry->uses.capacity() == room);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace dying_test
