// SPDX-License-Identifier: BSL-1.0
// Blocks for a region: all or none, at once or when others have given memory back.
#include "memory_device.hpp"

#include <data_environment/items.hpp>
#include <omp_co/detail/region_memory.hpp>

#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <deque>
#include <vector>

namespace region_memory_test {

using namespace bed;
using omp_co::errc;
using omp_co::error_code;
using omp_co::detail::data_environment;
using omp_co::detail::region;
using omp_co::detail::region_memory;
using omp_co::detail::stream_clock;

// Regions are accepted as device_core accepts them, and retired by hand.
struct fixture {
    struct job {
        explicit job(std::vector<map_item> all)
            : items(std::move(all)), r([](region&, omp_co::detail::ending) {}, nullptr)
        {
            r.items = items.data();
            r.item_count = static_cast<std::uint32_t>(items.size());
        }
        std::vector<map_item> items;
        region r;
    };

    job& accept(std::vector<map_item> items)
    {
        job& j = jobs.emplace_back(std::move(items));
        BOOST_REQUIRE(!environment.check(j.items));
        (void)environment.reserve(j.items);
        if (memory.anybody_waits() || !memory.take(j.items)) memory.defer(j.r);
        j.r.serial = ++serial;
        environment.apply(j.items, j.r.serial);
        j.r.number = ++clock.accepted;
        environment.record(j.items, clock, j.r.number, j.r.serial);
        if (j.r.needs_memory) memory.queue(j.r);
        return j;
    }

    void retire(job& j)
    {
        clock.retired = j.r.number;
        if (j.r.error)
            environment.undo(j.items, j.r.serial, false, data_environment::undone_counts::begun, serial);
        environment.retire(j.items, j.r.serial, [this](void* block, std::size_t n) {
            given_back.push_back(block);
            memory.pool().deallocate(block, n);
        });
    }

    void serve(bool hopeless = false)
    {
        (void)memory.serve([hopeless] { return hopeless; });
    }

    job& ask(std::size_t bytes)
    {
        map_item item;
        item.bytes = bytes;
        item.flags = omp_co::detail::map_allocation;
        job& j = jobs.emplace_back(std::vector<map_item>{item});
        memory.ask(j.r);
        return j;
    }

    std::vector<region*> answered(bool lost = false)
    {
        std::vector<region*> ended;
        memory.answer(lost, [&](region& r) { ended.push_back(&r); });
        return ended;
    }

    bool is_device_memory(void const* p) const
    {
        for (auto const& [block, n] : source.blocks)
            if (p >= block && p < static_cast<char*>(block) + n) return true;
        return false;
    }

    char x[4096]{};
    char y[4096]{};
    char z[4096]{};
    memory_device source;
    data_environment environment;
    region_memory memory{source, environment};
    stream_clock clock;
    std::uint64_t serial = 0;
    std::deque<job> jobs;
    std::vector<void*> given_back;
};

BOOST_FIXTURE_TEST_SUITE(memory_of_regions, fixture)

BOOST_AUTO_TEST_CASE(each_new_entry_gets_a_block)
{
    job& j = accept({enter::to(x, 4096), enter::to(x + 64, 64), enter::to(y, 4096)});
    BOOST_TEST(!j.r.needs_memory);
    BOOST_TEST(source.blocks.size() == 2U);
    BOOST_TEST(is_device_memory(j.items[0].entry->block));
}

BOOST_AUTO_TEST_CASE(all_blocks_or_none)
{
    source.limit = 8192;
    std::vector<map_item> items{enter::to(x, 4096), enter::to(y, 4096), enter::to(z, 4096)};
    BOOST_REQUIRE(!environment.check(items));
    (void)environment.reserve(items);
    BOOST_TEST(!memory.take(items));
    BOOST_TEST(memory.pool().in_use() == 0U);
    environment.discard(items);
}

BOOST_AUTO_TEST_CASE(who_finds_no_memory_gets_it_when_others_give_it_back)
{
    source.limit = 8192;
    job& first = accept({target::to(x, 4096), target::to(y, 4096)});
    job& second = accept({target::to(z, 4096)});
    BOOST_TEST(second.r.needs_memory);
    serve();
    BOOST_TEST(second.r.needs_memory);
    retire(first);
    serve();
    BOOST_TEST(!second.r.needs_memory);
    BOOST_TEST(!second.r.error);
    environment.resolve(second.items);
    BOOST_TEST(is_device_memory(second.items[0].device));
    retire(second);
    BOOST_TEST(memory.pool().in_use() == 0U);
}

BOOST_AUTO_TEST_CASE(first_come_first_served)
{
    source.limit = 8192;
    job& holder = accept({target::to(x, 4096), target::to(y, 4096)});
    job& large = accept({target::to(x, 2048), target::to(y, 2048), target::to(z, 4096)});
    job& small = accept({target::to(z + 2048, 64)});
    BOOST_TEST(large.r.needs_memory);
    BOOST_TEST(small.r.needs_memory); // though it would fit beside the large one later
    retire(holder);
    serve();
    BOOST_TEST(!large.r.needs_memory);
    retire(large);
    serve();
    BOOST_TEST(!small.r.needs_memory);
    retire(small);
}

BOOST_AUTO_TEST_CASE(when_nothing_would_give_memory_back_the_region_fails)
{
    source.limit = 4096;
    job& holder = accept({enter::to(x, 4096)});
    job& second = accept({target::to(y, 4096)});
    retire(holder);
    serve();
    BOOST_TEST(!second.r.error); // there is hope
    serve(true);
    BOOST_TEST((second.r.error == errc::out_of_memory));
    BOOST_TEST(!memory.anybody_waits());
    retire(second);
    BOOST_TEST(memory.pool().in_use() == 4096U);
}

// One of its blocks is there already: the entry was dying and is revived.
BOOST_AUTO_TEST_CASE(a_revived_entry_keeps_its_block_while_the_region_waits_for_others)
{
    source.limit = 4096;
    job& first = accept({target::to(x, 2048)});
    void* const block = first.items[0].entry->block;
    job& second = accept({target::to(x, 2048), target::to(y, 4096)});
    BOOST_TEST(second.r.needs_memory);
    serve(); // in vain
    BOOST_TEST(second.r.needs_memory);
    BOOST_TEST(second.items[0].entry->block == block);
    BOOST_TEST(memory.pool().in_use() == 2048U);
    for (void* given : given_back) BOOST_TEST(is_device_memory(given));
    BOOST_TEST(!source.wrong_size);
    serve(true);
    retire(first);
    retire(second);
    BOOST_TEST(memory.pool().in_use() == 0U);
    void* const fresh = memory.pool().allocate(2048);
    BOOST_TEST(is_device_memory(fresh)); // no host memory got into the pool
}

BOOST_AUTO_TEST_CASE(on_a_lost_device_nobody_waits_for_memory)
{
    source.limit = 4096;
    job& holder = accept({target::to(x, 4096)});
    job& a = accept({target::to(y, 4096)});
    job& b = accept({target::to(z, 4096)});
    memory.give_up();
    BOOST_TEST(!memory.anybody_waits());
    BOOST_TEST(!a.r.needs_memory);
    BOOST_TEST(!b.r.needs_memory);
    retire(holder);
    retire(a);
    retire(b);
}

BOOST_AUTO_TEST_CASE(an_allocation_of_the_program_gets_its_address)
{
    job& j = ask(1000);
    BOOST_TEST(memory.anybody_asks());
    BOOST_TEST((answered() == std::vector<region*>{&j.r}));
    BOOST_TEST(!memory.anybody_asks());
    BOOST_TEST(!j.r.error);
    BOOST_TEST(is_device_memory(j.items[0].device));
    BOOST_TEST(environment.table().allocation_at(j.items[0].device) != nullptr);
}

BOOST_AUTO_TEST_CASE(an_allocation_waits_for_the_driver_and_for_nothing_else)
{
    source.limit = 4096;
    source.coming = true;
    job& first = ask(1024);
    job& second = ask(2048);
    BOOST_TEST(answered().empty());
    source.coming = false;
    BOOST_TEST((answered() == std::vector<region*>{&first.r, &second.r}));
    job& holder = accept({target::to(x, 1024)});
    job& waiting = accept({target::to(y, 2048)});
    BOOST_TEST(waiting.r.needs_memory);
    job& third = ask(4096);
    BOOST_TEST((answered() == std::vector<region*>{&third.r}));
    BOOST_TEST((third.r.error == errc::out_of_memory));
    BOOST_TEST(third.items[0].device == nullptr);
    BOOST_TEST(waiting.r.needs_memory);
    memory.give_up();
    retire(holder);
    retire(waiting);
}

BOOST_AUTO_TEST_CASE(an_allocation_is_told_why_the_device_cannot_be_used)
{
    source.why = make_error_code(errc::not_supported);
    job& j = ask(64);
    BOOST_TEST((answered() == std::vector<region*>{&j.r}));
    BOOST_TEST((j.r.error == errc::not_supported));
    source.why = {};
    source.coming = true;
    job& lost = ask(64);
    BOOST_TEST(answered().empty());
    BOOST_TEST((answered(true) == std::vector<region*>{&lost.r}));
    BOOST_TEST((lost.r.error == errc::device_lost));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace region_memory_test
