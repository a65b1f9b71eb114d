// SPDX-License-Identifier: BSL-1.0
// With unified memory entries are counted, and there are no blocks and no motions.
#include "test_bed.hpp"

#include <boost/test/unit_test.hpp>

namespace unified_memory_test {

using namespace bed;

struct fixture : test_bed {
    fixture() : test_bed(true) {}
    char x[64]{};
};

BOOST_FIXTURE_TEST_SUITE(data_environment_unified_memory, fixture)

BOOST_AUTO_TEST_CASE(nothing_moves_and_no_block_is_needed)
{
    region& r = accept(0, {target::tofrom(x, 64, always)});
    BOOST_TEST(!r.copies_in());
    BOOST_TEST(!r.copies_out());
    BOOST_TEST(device_address(r) == x);
    retire(r);
    run({enter::to(x, 64)});
    BOOST_TEST(!run({update::to(x, 64)}).copies_in());
    BOOST_TEST(!run({update::from(x, 64)}).copies_out());
    BOOST_TEST(!run({exit::from(x, 64)}).copies_out());
    BOOST_TEST(blocks() == 0U);
}

BOOST_AUTO_TEST_CASE(entries_are_counted_and_end)
{
    run({enter::to(x, 64)});
    run({enter::to(x, 64)});
    BOOST_TEST(*count(x) == 2U);
    run({exit::release(x, 64)});
    run({exit::release(x, 64)});
    BOOST_TEST(!is_present(x));
    BOOST_TEST(environment.table().size() == 0U);
}

BOOST_AUTO_TEST_CASE(errors_are_the_same)
{
    BOOST_TEST((run({enter::to(x, 64, present)}).refused == errc::not_present));
    run({enter::to(x, 32)});
    BOOST_TEST((run({enter::to(x, 64)}).refused == errc::partially_present));
}

BOOST_AUTO_TEST_CASE(a_part_has_its_own_address)
{
    run({enter::to(x, 64)});
    region& r = accept(0, {target::to(x + 8, 8)});
    BOOST_TEST(device_address(r) == x + 8);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace unified_memory_test
