// SPDX-License-Identifier: BSL-1.0
// The pool of device blocks: sizes, reuse, giving back, and what it says is in use.
#include "memory_device.hpp"

#include <omp_co/detail/block_pool.hpp>
#include <omp_co/host/backend.hpp>

#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <vector>

namespace block_pool_test {

using omp_co::backend::memory_user;
using omp_co::detail::block_pool;

struct fixture {
    memory_device source;
    block_pool pool{source};
};

BOOST_FIXTURE_TEST_SUITE(the_block_pool, fixture)

BOOST_AUTO_TEST_CASE(a_block_is_large_enough_and_wastes_at_most_a_quarter)
{
    for (std::size_t bytes = 1; bytes < 5000; bytes += bytes < 300 ? 1 : 37) {
        void* const block = pool.allocate(bytes);
        BOOST_REQUIRE(block != nullptr);
        std::size_t const got = source.blocks.at(block);
        BOOST_TEST(got >= bytes);
        BOOST_TEST(got <= std::max<std::size_t>(64, bytes + bytes / 4));
        pool.deallocate(block, bytes);
        pool.trim();
    }
    BOOST_TEST(source.blocks.empty());
}

BOOST_AUTO_TEST_CASE(sizes_around_a_class_boundary_get_blocks_of_their_own_class)
{
    for (unsigned shift = 6; shift < 31; ++shift)
        for (std::size_t quarter = 4; quarter < 8; ++quarter) {
            std::size_t const bytes = (std::size_t{1} << shift) / 4 * quarter;
            void* const exact = pool.allocate(bytes);
            BOOST_TEST(source.blocks.at(exact) == bytes);
            void* const more = pool.allocate(bytes + 1);
            BOOST_TEST(source.blocks.at(more) > bytes);
            pool.deallocate(exact, bytes);
            pool.deallocate(more, bytes + 1);
            pool.trim();
        }
}

BOOST_AUTO_TEST_CASE(all_of_the_devices_memory_can_be_had)
{
    omp_co::host::options o;
    o.workers = 0;
    o.memory = 3'000'000;
    omp_co::host::host_device device(o);
    block_pool limited{device};
    for (int round = 0; round < 3; ++round) {
        void* const block = limited.allocate(o.memory);
        BOOST_REQUIRE(block != nullptr);
        BOOST_TEST(limited.in_use() == o.memory);
        BOOST_TEST(limited.allocate(1) == nullptr);
        limited.deallocate(block, o.memory);
        BOOST_TEST(limited.in_use() == 0U);
        void* const small = limited.allocate(1);
        BOOST_TEST(small != nullptr);
        limited.deallocate(small, 1);
    }
}

BOOST_AUTO_TEST_CASE(a_block_given_back_serves_again_without_the_device)
{
    void* const block = pool.allocate(1000);
    pool.deallocate(block, 1000);
    int const before = source.allocations;
    BOOST_TEST(pool.allocate(990) == block);
    BOOST_TEST(source.allocations == before);
    pool.deallocate(block, 990);
}

BOOST_AUTO_TEST_CASE(blocks_in_use_are_all_different)
{
    std::vector<void*> all;
    for (int i = 0; i < 50; ++i) all.push_back(pool.allocate(256));
    std::sort(all.begin(), all.end());
    BOOST_TEST((std::adjacent_find(all.begin(), all.end()) == all.end()));
    for (void* block : all) pool.deallocate(block, 256);
}

BOOST_AUTO_TEST_CASE(what_is_in_use_goes_up_and_down)
{
    BOOST_TEST(pool.in_use() == 0U);
    void* const a = pool.allocate(64);
    void* const b = pool.allocate(4096);
    BOOST_TEST(pool.in_use() == 64U + 4096U);
    pool.deallocate(a, 64);
    BOOST_TEST(pool.in_use() == 4096U);
    pool.leak(b, 4096); // a lost device may still write it
    BOOST_TEST(pool.in_use() == 0U);
    pool.trim();
    BOOST_TEST(source.blocks.size() == 1U);
    BOOST_TEST(source.blocks.count(b) == 1U);
}

BOOST_AUTO_TEST_CASE(an_empty_device_gives_null_and_changes_nothing)
{
    source.limit = 4096;
    void* const block = pool.allocate(4096);
    BOOST_TEST(pool.allocate(64) == nullptr);
    BOOST_TEST(pool.in_use() == 4096U);
    pool.deallocate(block, 4096);
}

BOOST_AUTO_TEST_CASE(free_blocks_of_other_sizes_make_room_when_the_device_is_full)
{
    source.limit = 4096;
    void* const small = pool.allocate(1024);
    pool.deallocate(small, 1024); // kept
    void* const large = pool.allocate(4096);
    BOOST_TEST(large != nullptr);
    pool.deallocate(large, 4096);
}

BOOST_AUTO_TEST_CASE(a_size_that_no_device_has_is_refused_without_asking)
{
    BOOST_TEST(pool.allocate(std::numeric_limits<std::size_t>::max()) == nullptr);
    BOOST_TEST(pool.allocate((std::size_t{1} << 62) + 1) == nullptr);
    BOOST_TEST(source.allocations == 0);
    source.limit = 1;
    BOOST_TEST(pool.allocate(std::size_t{1} << 62) == nullptr);
}

BOOST_AUTO_TEST_CASE(free_blocks_are_not_hoarded_beyond_what_was_in_use)
{
    constexpr std::size_t mebibytes = std::size_t{1} << 20;
    source.only_count = true;
    std::vector<void*> all;
    for (int i = 0; i < 32; ++i) all.push_back(pool.allocate(16 * mebibytes));
    for (void* block : all) pool.deallocate(block, 16 * mebibytes);
    BOOST_TEST(source.bytes <= 256 * mebibytes); // half went back on the way down
    BOOST_TEST(source.bytes >= 64 * mebibytes);  // and some is kept for the next time
    pool.trim();
    BOOST_TEST(source.bytes == 0U);
}

BOOST_AUTO_TEST_CASE(a_pool_that_goes_away_gives_everything_back)
{
    {
        block_pool other(source);
        std::vector<void*> all;
        for (std::size_t n : {10U, 100U, 1000U, 10000U}) all.push_back(other.allocate(n));
        other.deallocate(all[0], 10);
        other.deallocate(all[1], 100);
        other.deallocate(all[2], 1000);
        other.deallocate(all[3], 10000);
    }
    BOOST_TEST(source.blocks.empty());
    BOOST_TEST(!source.wrong_size);
}

// A device that cannot be used is not asked again for another size.
BOOST_AUTO_TEST_CASE(why_there_is_nothing_is_told_for_every_size)
{
    source.why = make_error_code(omp_co::errc::device_lost);
    for (std::size_t const bytes : std::initializer_list<std::size_t>{1, 64, 65, 100, 128, 4096, 5000}) {
        source.questions = 0;
        omp_co::backend::supply const s = pool.allocate_quickly(bytes, memory_user::regions);
        BOOST_TEST(s.block == nullptr);
        BOOST_TEST(!s.coming);
        BOOST_TEST((s.why == source.why));
        BOOST_TEST(source.questions == 1);
    }
    BOOST_TEST(pool.in_use() == 0U);
}

BOOST_AUTO_TEST_CASE(what_is_coming_is_not_in_use_yet)
{
    source.coming = true;
    BOOST_TEST(pool.allocate_quickly(100, memory_user::regions).coming);
    BOOST_TEST(pool.in_use() == 0U);
    source.coming = false;
    BOOST_TEST(pool.allocate_quickly(100, memory_user::regions).block != nullptr);
    BOOST_TEST(pool.in_use() != 0U);
}

// A free block may not be there yet but for the device's own streams.
BOOST_AUTO_TEST_CASE(a_program_gets_no_block_that_is_not_there_yet)
{
    void* const block = pool.allocate(100);
    pool.deallocate(block, 100);
    source.unsettled = true;
    source.questions = 0;
    omp_co::backend::supply const s = pool.allocate_quickly(100, memory_user::program);
    BOOST_TEST(s.coming);
    BOOST_TEST(s.block == nullptr);
    BOOST_TEST(source.questions == 0); // for another one, which would be too many
    BOOST_TEST(pool.allocate_quickly(100, memory_user::regions).block == block);
    pool.deallocate(block, 100);
    BOOST_TEST(pool.allocate(100) == block);
    BOOST_TEST(!source.unsettled);
    pool.deallocate(block, 100);
    BOOST_TEST(pool.allocate_quickly(100, memory_user::program).block == block);
    pool.deallocate(block, 100);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace block_pool_test
