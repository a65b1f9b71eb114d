// SPDX-License-Identifier: BSL-1.0
// The table alone: finding entries by address, orphans, and entries kept for reuse.
#include <omp_co/detail/present_table.hpp>

#include <boost/test/unit_test.hpp>
#include <vector>

namespace present_table_test {

using omp_co::detail::byte_range;
using omp_co::detail::present_entry;
using omp_co::detail::present_table;

struct fixture {
    char memory[64]{};
    present_table table;

    byte_range range(std::size_t first, std::size_t last) { return {memory + first, memory + last}; }

    present_entry& add(std::size_t first, std::size_t last)
    {
        present_entry& e = table.create();
        e.count = 1;
        table.insert(e, range(first, last));
        return e;
    }

    std::vector<present_entry*> overlapping(byte_range r)
    {
        std::vector<present_entry*> all;
        for (present_entry* e = table.first_overlap(r); e != nullptr; e = table.next_overlap(e, r))
            all.push_back(e);
        return all;
    }
};

BOOST_AUTO_TEST_SUITE(byte_ranges)

BOOST_AUTO_TEST_CASE(ranges_are_half_open)
{
    char m[16];
    byte_range const r{m + 4, m + 8};
    BOOST_TEST(r.covers({m + 4, m + 8}));
    BOOST_TEST(!r.covers({m + 4, m + 9}));
    BOOST_TEST(!r.covers({m + 3, m + 8}));
    BOOST_TEST(r.overlaps({m + 7, m + 9}));
    BOOST_TEST(!r.overlaps({m + 8, m + 9}));
    BOOST_TEST(!r.overlaps({m, m + 4}));
    BOOST_TEST(byte_range{}.empty());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(the_present_table, fixture)

BOOST_AUTO_TEST_CASE(a_byte_is_held_by_the_entry_around_it)
{
    present_entry& a = add(8, 16);
    present_entry& b = add(16, 24);
    BOOST_TEST(table.holding(memory + 7) == nullptr);
    BOOST_TEST(table.holding(memory + 8) == &a);
    BOOST_TEST(table.holding(memory + 15) == &a);
    BOOST_TEST(table.holding(memory + 16) == &b);
    BOOST_TEST(table.holding(memory + 24) == nullptr);
    BOOST_TEST(table.holding(nullptr) == nullptr);
}

BOOST_AUTO_TEST_CASE(all_entries_that_overlap_are_found_in_order)
{
    present_entry& a = add(0, 8);
    present_entry& c = add(32, 40);
    present_entry& b = add(16, 24);
    BOOST_TEST(overlapping(range(0, 64)) == (std::vector{&a, &b, &c}));
    BOOST_TEST(overlapping(range(7, 17)) == (std::vector{&a, &b}));
    BOOST_TEST(overlapping(range(20, 21)) == (std::vector{&b}));
    BOOST_TEST(overlapping(range(8, 16)).empty());
    BOOST_TEST(overlapping(range(40, 64)).empty());
}

BOOST_AUTO_TEST_CASE(an_orphan_is_out_of_sight_until_it_is_removed)
{
    present_entry& a = add(0, 8);
    table.orphan(a);
    BOOST_TEST(table.holding(memory) == nullptr);
    BOOST_TEST(table.size() == 0U);
    BOOST_TEST(table.has_orphans());
    BOOST_TEST(a.dying());
    int seen = 0;
    table.for_each_orphan([&](present_entry& e) {
        seen += &e == &a ? 1 : 0;
        table.remove(e); // allowed while iterating
    });
    BOOST_TEST(seen == 1);
    BOOST_TEST(!table.has_orphans());
}

BOOST_AUTO_TEST_CASE(an_entry_that_is_used_again_is_blank)
{
    omp_co::detail::stream_clock clock;
    present_entry& a = add(0, 8);
    a.owns_block = false;
    a.pending = 7;
    a.opened = 9;
    a.synced = range(0, 8);
    a.uses.push_back({&clock, 1, 2});
    table.remove(a);
    present_entry& again = table.create();
    BOOST_TEST(&again == &a);
    BOOST_TEST(again.range.empty());
    BOOST_TEST(again.synced.empty());
    BOOST_TEST(again.uses.empty());
    BOOST_TEST(again.block == nullptr);
    BOOST_TEST(again.owns_block);
    BOOST_TEST(again.count == 0U);
    BOOST_TEST(again.pending == 0U);
    BOOST_TEST(again.opened == 0U);
    table.recycle(again);
}

BOOST_AUTO_TEST_CASE(a_table_takes_its_entries_along)
{
    for (std::size_t i = 0; i < 64; i += 2) add(i, i + 1);
    table.orphan(*table.holding(memory));
    table.remove(*table.holding(memory + 2)); // leak checkers do the rest
    BOOST_TEST(table.size() == 30U);
    std::size_t seen = 0;
    table.for_each([&](present_entry&) { ++seen; });
    BOOST_TEST(seen == 30U);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace present_table_test
