// SPDX-License-Identifier: BSL-1.0
// Which range a clause finds: parts, neighbours, partial overlap, zero length, and several clauses in one
// construct.
#include "test_bed.hpp"

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <limits>
#include <string>

namespace ranges_test {

using namespace bed;

struct fixture : test_bed {
    char x[64]{};

    static bool names(std::string const& text, void const* begin, std::size_t bytes)
    {
        char* const first = const_cast<char*>(static_cast<char const*>(begin));
        return text.find(omp_co::detail::to_string({first, first + bytes})) != std::string::npos;
    }
};

BOOST_FIXTURE_TEST_SUITE(data_environment_ranges, fixture)

BOOST_AUTO_TEST_CASE(a_part_of_a_mapped_range_is_found)
{
    run({enter::to(x, 64)});
    for (std::size_t at : {0U, 8U, 48U}) {
        region& r = accept(0, {target::tofrom(x + at, 16)});
        BOOST_TEST(r.accepted());
        BOOST_TEST(!r.copies_in());
        BOOST_TEST(*count(x) == 1U);
        auto* const base = environment.table().holding(x)->block;
        BOOST_TEST(device_address(r) == base + at);
        retire(r);
    }
    BOOST_TEST(blocks() == 1U);
}

BOOST_AUTO_TEST_CASE(a_range_that_extends_a_mapped_one_is_an_error_that_names_both)
{
    run({enter::to(x + 16, 16)});
    struct wider {
        std::size_t first, bytes;
    };
    for (wider w : {wider{0, 64}, wider{8, 16}, wider{24, 16}, wider{16, 17}, wider{15, 17}}) {
        region& r = run({enter::to(x + w.first, w.bytes)});
        BOOST_TEST((r.refused == errc::partially_present));
        BOOST_TEST(names(r.why, x + w.first, w.bytes), r.why);
        BOOST_TEST(names(r.why, x + 16, 16), r.why);
    }
    BOOST_TEST(*count(x + 16) == 1U);
    BOOST_TEST(blocks() == 1U);
}

BOOST_AUTO_TEST_CASE(every_construct_refuses_a_range_that_extends_a_mapped_one)
{
    run({enter::to(x + 16, 16)});
    for (map_item const& item :
         {target::tofrom(x, 64), target::alloc(x, 64), enter::alloc(x, 64), exit::from(x, 64),
          exit::release(x, 64), exit::delete_(x, 64), update::to(x, 64), update::from(x, 64)})
        BOOST_TEST((run({item}).refused == errc::partially_present));
    BOOST_TEST(*count(x + 16) == 1U);
}

BOOST_AUTO_TEST_CASE(neighbours_do_not_overlap)
{
    run({enter::to(x + 16, 16)});
    BOOST_TEST(run({enter::to(x, 16)}).accepted());
    BOOST_TEST(run({enter::to(x + 32, 16)}).accepted());
    BOOST_TEST(environment.table().size() == 3U);
    BOOST_TEST(blocks() == 3U);
}

BOOST_AUTO_TEST_CASE(two_pieces_of_one_array_are_two_blocks_and_the_whole_is_partially_present)
{
    run({enter::to(x, 32)});
    run({enter::to(x + 32, 32)});
    BOOST_TEST(blocks() == 2U);
    region& whole = run({target::tofrom(x, 64)});
    BOOST_TEST((whole.refused == errc::partially_present));
    BOOST_TEST(names(whole.why, x, 64));
    BOOST_TEST(names(whole.why, x, 32));
    run({exit::delete_(x, 32)});
    run({exit::delete_(x + 32, 32)});
    BOOST_TEST(run({target::tofrom(x, 64)}).accepted());
}

BOOST_AUTO_TEST_CASE(zero_length_finds_the_device_address_and_counts_nothing)
{
    run({enter::to(x, 64)});
    region& r = accept(0, {target::tofrom(x + 8, 0)});
    BOOST_TEST(r.accepted());
    BOOST_TEST(!r.copies_in());
    BOOST_TEST(!r.copies_out());
    BOOST_TEST(device_address(r) == environment.table().holding(x)->block + 8);
    BOOST_TEST(*count(x) == 1U);
    retire(r);
    BOOST_TEST(*count(x) == 1U);
    for (map_item const& item :
         {exit::from(x, 0), exit::release(x, 0), exit::delete_(x, 0), update::to(x, 0)})
        BOOST_TEST(run({item}).accepted());
    BOOST_TEST(*count(x) == 1U);
}

BOOST_AUTO_TEST_CASE(zero_length_of_absent_data_maps_nothing_and_keeps_the_host_address)
{
    region& r = accept(0, {target::tofrom(x, 0)});
    BOOST_TEST(r.accepted());
    BOOST_TEST(device_address(r) == x);
    BOOST_TEST(environment.table().size() == 0U);
    retire(r);
    BOOST_TEST(run({target::tofrom(nullptr, 0)}).accepted());
    BOOST_TEST(run({enter::to(x, 0)}).accepted());
    BOOST_TEST(!is_present(x));
}

BOOST_AUTO_TEST_CASE(zero_length_at_the_end_of_a_mapped_range_is_outside)
{
    run({enter::to(x, 32)});
    region& r = accept(0, {target::tofrom(x + 32, 0)});
    BOOST_TEST(device_address(r) == x + 32);
}

// A kernel that got a device address keeps what is behind it.
BOOST_AUTO_TEST_CASE(zero_length_waits_for_the_copy_in_and_keeps_the_block)
{
    region& in = accept(0, {enter::to(x, 64)});
    region& r = accept(1, {target::to(x, 0)});
    BOOST_TEST(r.waits_for(in));
    retire(in);
    retire(accept(0, {exit::release(x, 64)}));
    BOOST_TEST(blocks() == 1U);
    retire(r);
    BOOST_TEST(blocks() == 0U);
}

// It looks up at acceptance: what it finds does not depend on how fast the device is.
BOOST_AUTO_TEST_CASE(zero_length_finds_what_was_there_when_it_was_accepted)
{
    run({enter::to(x, 64)});
    region& r = accept(1, {target::to(x, 0)});
    void* const block = environment.table().holding(x)->block;
    region& out = accept(0, {exit::release(x, 64)});
    BOOST_TEST(device_address(r) == block); // enqueued late
    retire(out);
    retire(r);
}

BOOST_AUTO_TEST_CASE(null_with_a_size_is_invalid)
{
    region& r = run({enter::to(nullptr, 8)});
    BOOST_TEST((r.refused == errc::invalid_argument));
    BOOST_TEST(r.why.find("null pointer") != std::string::npos, r.why);
    BOOST_TEST((run({enter::to(x, 8), enter::to(nullptr, 8)}).refused == errc::invalid_argument));
    BOOST_TEST(!is_present(x));
}

BOOST_AUTO_TEST_CASE(a_range_that_wraps_around_is_invalid)
{
    std::size_t const most = std::numeric_limits<std::size_t>::max();
    region& r = run({enter::to(x, most)});
    BOOST_TEST((r.refused == errc::invalid_argument));
    BOOST_TEST(r.why.find("wraps around") != std::string::npos, r.why);
    BOOST_TEST((run({exit::release(x, most)}).refused == errc::invalid_argument));
}

BOOST_AUTO_TEST_CASE(a_range_that_wraps_around_is_invalid_beside_other_clauses)
{
    std::size_t const most = std::numeric_limits<std::size_t>::max();
    BOOST_TEST((run({enter::to(x, 64), enter::to(x + 32, most - 8)}).refused == errc::invalid_argument));
    BOOST_TEST(!is_present(x));
}

BOOST_AUTO_TEST_CASE(clauses_of_one_construct_share_a_new_entry_in_any_order)
{
    for (bool part_first : {true, false}) {
        region& r = part_first ? accept(0, {target::to(x + 8, 8), target::alloc(x, 64)})
                               : accept(0, {target::alloc(x, 64), target::to(x + 8, 8)});
        std::size_t const part = part_first ? 0 : 1;
        BOOST_TEST(r.accepted());
        BOOST_TEST(blocks() == 1U);
        BOOST_TEST(r.copies_in(part));
        BOOST_TEST(!r.copies_in(1 - part));
        environment.resolve(r.items);
        BOOST_TEST(static_cast<char*>(r.items[part].device) ==
                   static_cast<char*>(r.items[1 - part].device) + 8);
        retire(r);
        BOOST_TEST(blocks() == 0U);
    }
}

BOOST_AUTO_TEST_CASE(new_ranges_of_one_construct_that_overlap_in_part_are_an_error)
{
    region& r = run({enter::to(x, 32), enter::to(x + 16, 32)});
    BOOST_TEST((r.refused == errc::partially_present));
    BOOST_TEST(names(r.why, x + 16, 32), r.why);
    BOOST_TEST(names(r.why, x, 32), r.why);
    BOOST_TEST(!is_present(x));
    BOOST_TEST(run({exit::from(x, 32), exit::from(x + 16, 32)}).accepted()); // absent data is ignored
}

BOOST_AUTO_TEST_CASE(present_is_not_satisfied_by_a_clause_of_the_same_construct)
{
    BOOST_TEST((run({target::to(x, 64), target::to(x, 64, present)}).refused == errc::not_present));
    BOOST_TEST((run({target::to(x + 8, 8, present), target::to(x, 64)}).refused == errc::not_present));
    BOOST_TEST(!is_present(x));
}

// As LLVM does; OpenMP 5.2 would count a list item once a construct. The way back does the same.
BOOST_AUTO_TEST_CASE(every_clause_of_a_construct_counts)
{
    run({enter::to(x, 64), enter::to(x + 8, 8), enter::alloc(x, 64)});
    BOOST_TEST(*count(x) == 3U);
    run({exit::release(x, 64), exit::from(x, 64)});
    BOOST_TEST(*count(x) == 1U);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace ranges_test
