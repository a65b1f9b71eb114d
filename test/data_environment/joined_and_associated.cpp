// SPDX-License-Identifier: BSL-1.0
// Pointers that are joined to mapped data, and memory of the program's own that is mapped: what makes an earlier state
// worthless.
#include "test_bed.hpp"

#include <omp_co/detail/joined_pointers.hpp>

#include <boost/test/unit_test.hpp>
#include <deque>
#include <utility>
#include <vector>

namespace joined_and_associated_test {

using namespace bed;
using namespace omp_co::detail;

struct fixture : test_bed {
    struct {
        char* p;
        char more[56];
    } s{};
    char x[64]{};
    char memory[2][64]{}; ///< on the device
    std::deque<attachment> joins;

    map_item pointer()
    {
        map_item i = item(map_attach | map_used, &s.p, sizeof s.p);
        i.attached = &joins.emplace_back();
        return i;
    }
    map_item pointee() { return item(map_attach_target | map_used, x, sizeof x); }

    region& join(std::size_t stream = 0) { return accept(stream, {pointer(), pointee()}); }
    bool sends(region& r) { return r.copies_in(0); }
    bool sends_again()
    {
        region& r = join();
        bool const sent = sends(r);
        retire(r);
        return sent;
    }
    bool associate_with(char* device)
    {
        return environment.memory().associate({x, x + sizeof x}, device) == errc{};
    }

    static map_item raw(std::uint32_t flags, void* device, std::size_t bytes)
    {
        map_item i = item(map_raw | map_written | flags, nullptr, bytes);
        i.device = device;
        return i;
    }
};

BOOST_FIXTURE_TEST_SUITE(data_environment_joined_and_associated, fixture)

BOOST_AUTO_TEST_CASE(a_pointer_is_sent_once)
{
    run({enter::to(&s, sizeof s), enter::to(x, 64)});
    BOOST_TEST(sends_again());
    BOOST_TEST(!sends_again());
}

BOOST_AUTO_TEST_CASE(a_pointer_whose_region_failed_is_sent_again)
{
    run({enter::to(&s, sizeof s), enter::to(x, 64)});
    region& r = join();
    retire(r, true);
    BOOST_TEST(sends_again());
    BOOST_TEST(!sends_again());
}

BOOST_AUTO_TEST_CASE(a_pointer_to_memory_that_is_associated_otherwise_is_sent_again)
{
    run({enter::to(&s, sizeof s)});
    BOOST_TEST(associate_with(memory[0]));
    BOOST_TEST(sends_again());
    BOOST_TEST(environment.memory().disassociate(x));
    BOOST_TEST(associate_with(memory[1]));
    BOOST_TEST(sends_again());
}

// Its pointer is the device's, and the program may have changed its own.
BOOST_AUTO_TEST_CASE(a_dying_structure_with_a_joined_pointer_is_not_revived)
{
    run({enter::to(x, 64)});
    region& first = accept(0, {target::tofrom(&s, sizeof s), pointer(), pointee()});
    region& second = accept(1, {target::tofrom(&s, sizeof s)});
    BOOST_TEST(second.copies_in());
    retire(first);
    retire(second);
    region& third = accept(0, {target::tofrom(x, 64), target::tofrom(&s, sizeof s)});
    region& fourth = accept(1, {target::tofrom(&s, sizeof s)});
    BOOST_TEST(!fourth.copies_in()); // nothing joined: revived
    retire(third);
    retire(fourth);
}

BOOST_AUTO_TEST_CASE(memory_that_was_associated_is_not_revived)
{
    BOOST_TEST(associate_with(memory[0]));
    region& update = accept(0, {update::to(x, 64)});
    BOOST_TEST(environment.memory().disassociate(x));
    region& r = accept(1, {target::to(x, 64)});
    BOOST_TEST(device_address(r) != static_cast<void*>(memory[0]));
    retire(update);
    retire(r);
    BOOST_TEST(blocks() == 0U);
}

BOOST_AUTO_TEST_CASE(memory_that_is_held_stays_associated)
{
    BOOST_TEST(associate_with(memory[0]));
    run({enter::to(x, 64, map_hold)});
    BOOST_TEST(!environment.memory().disassociate(x));
    BOOST_TEST(is_present(x));
    run({exit::release(x, 64, map_hold)});
    BOOST_TEST(environment.memory().disassociate(x));
    BOOST_TEST(!is_present(x));
}

BOOST_AUTO_TEST_CASE(copies_may_go_beyond_what_is_associated_in_an_allocation)
{
    environment.memory().allocated(memory[0], 64);
    BOOST_TEST((environment.memory().associate({x, x + 16}, memory[0] + 16) == errc{}));
    BOOST_TEST(accept(0, {raw(map_fill, memory[0], 64)}).accepted());
    BOOST_TEST(accept(0, {raw(map_fill, memory[0] + 16, 48)}).accepted());
    region& behind = accept(0, {raw(map_fill, memory[0] + 40, 24)});
    BOOST_TEST(behind.items[0].entry != nullptr); // it keeps the memory
    BOOST_TEST((accept(0, {raw(map_fill, memory[0] + 40, 25)}).refused == errc::invalid_argument));
}

BOOST_AUTO_TEST_CASE(an_allocation_stays_while_what_is_associated_with_it_is_in_use)
{
    auto const is_there = [&] {
        int allocations = 0;
        environment.table().for_each_allocation([&](present_entry&) { ++allocations; });
        return allocations == 1;
    };
    for (bool const ended : {false, true}) {
        char* const block = memory[0];
        environment.memory().allocated(block, 64);
        BOOST_TEST((environment.memory().associate({x, x + 16}, block + 16) == errc{}));
        region& by_address = accept(0, {raw(0, block + 20, 4)});
        region& by_host = accept(1, {target::tofrom(x, 16)});
        BOOST_TEST(by_host.items[0].entry == by_address.items[0].entry);
        if (ended) BOOST_TEST(environment.memory().disassociate(x));
        BOOST_TEST(
            environment.memory().deallocate(block, [](void*, std::size_t) { BOOST_ERROR("at once"); }));
        retire(by_address);
        BOOST_TEST(is_there());
        retire(by_host);
        BOOST_TEST(!is_there());
        if (!ended) BOOST_TEST(environment.memory().disassociate(x));
        BOOST_TEST(!is_present(x));
    }
}

BOOST_AUTO_TEST_CASE(motions_leave_all_of_a_joined_pointer_alone)
{
    attachment_record last{x + 48, nullptr, 0, 0, nullptr};
    attachment_record first{x + 8, nullptr, 0, 0, &last};
    auto const parts = [&](std::size_t begin, std::size_t bytes) {
        map_item i = item(map_copy_in, x + begin, bytes);
        i.joined = &first;
        std::vector<std::pair<std::size_t, std::size_t>> all;
        (void)for_each_gap(i, [&](std::size_t at, std::size_t n) {
            all.emplace_back(begin + at, begin + at + n);
            return omp_co::error_code();
        });
        return all;
    };
    using list = std::vector<std::pair<std::size_t, std::size_t>>;
    BOOST_TEST((parts(0, 64) == list{{0, 8}, {16, 48}, {56, 64}}));
    BOOST_TEST((parts(12, 8) == list{{16, 20}})); // begins within it
    BOOST_TEST((parts(4, 8) == list{{4, 8}}));    // ends within it
    BOOST_TEST(parts(8, 8).empty());
    BOOST_TEST((parts(16, 32) == list{{16, 48}}));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace joined_and_associated_test
