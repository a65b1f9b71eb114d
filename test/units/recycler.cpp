// SPDX-License-Identifier: BSL-1.0
// The recycled memory of operations.
#include <support/sanitizers.hpp>

#include <omp_co/detail/recycler.hpp>
#include <omp_co/detail/turn_memory.hpp>

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

namespace recycler_test {

using omp_co::detail::recycler;
using omp_co::detail::recycling;

bool const recycles = OMP_CO_ADDRESS_SANITIZER == 0;

BOOST_AUTO_TEST_SUITE(the_recycler)

BOOST_AUTO_TEST_CASE(a_block_serves_again_for_any_size_of_its_class)
{
    void* const a = recycler::allocate(100);
    recycler::deallocate(a, 100);
    void* const b = recycler::allocate(120); // 97 to 128 bytes
    if (recycles) BOOST_TEST(b == a);
    recycler::deallocate(b, 120);
}

BOOST_AUTO_TEST_CASE(blocks_are_as_large_as_asked_for_and_aligned)
{
    std::vector<std::pair<void*, std::size_t>> all;
    for (std::size_t n = 1; n < 2000; n += 13) {
        void* const p = recycler::allocate(n);
        BOOST_TEST(reinterpret_cast<std::uintptr_t>(p) % __STDCPP_DEFAULT_NEW_ALIGNMENT__ == 0U);
        std::memset(p, 0x5a, n);
        all.emplace_back(p, n);
    }
    for (auto [p, n] : all) recycler::deallocate(p, n);
    for (auto& [p, n] : all) {
        p = recycler::allocate(n);
        std::memset(p, 0xa5, n); // a sanitizer sees what is too small
    }
    for (auto [p, n] : all) recycler::deallocate(p, n);
}

BOOST_AUTO_TEST_CASE(blocks_in_use_are_different)
{
    void* const a = recycler::allocate(64);
    void* const b = recycler::allocate(64);
    BOOST_TEST(a != b);
    recycler::deallocate(a, 64);
    recycler::deallocate(b, 64);
}

BOOST_AUTO_TEST_CASE(more_blocks_than_are_kept_are_no_trouble)
{
    std::vector<void*> all;
    for (int i = 0; i < 2000; ++i) all.push_back(recycler::allocate(200));
    for (void* p : all) recycler::deallocate(p, 200);
    for (void*& p : all) p = recycler::allocate(200);
    for (void* p : all) recycler::deallocate(p, 200);
}

BOOST_AUTO_TEST_CASE(a_block_may_be_freed_by_another_thread_than_took_it)
{
    std::vector<void*> all;
    for (int i = 0; i < 100; ++i) all.push_back(recycler::allocate(96));
    std::thread([&] {
        for (void*& p : all) recycler::deallocate(std::exchange(p, nullptr), 96);
        for (void*& p : all) p = recycler::allocate(96);
    }).join(); // and that thread's blocks go with it
    for (void* p : all) recycler::deallocate(p, 96);
}

BOOST_AUTO_TEST_CASE(memory_that_a_threads_own_objects_free_as_they_go_is_fine)
{
    struct late {
        ~late() { recycler::deallocate(block, 64); }
        void* block = nullptr;
    };
    for (bool object_first : {true, false})
        std::thread([object_first] {
            if (!object_first)
                recycler::deallocate(recycler::allocate(64), 64); // its clean-up is registered first
            static thread_local late object;
            if (object.block == nullptr) object.block = recycler::allocate(64);
        }).join();
}

BOOST_AUTO_TEST_CASE(strictly_aligned_objects_lie_as_they_ask)
{
    struct alignas(256) wide {
        char first;
    };
    std::vector<std::shared_ptr<wide>> kept;
    for (int i = 0; i < 20; ++i) kept.push_back(std::allocate_shared<wide>(recycling<wide>()));
    for (auto const& each : kept) BOOST_TEST(reinterpret_cast<std::uintptr_t>(each.get()) % 256 == 0U);
}

BOOST_AUTO_TEST_CASE(the_allocator_can_be_rebound_and_all_of_them_are_equal)
{
    recycling<int> const a;
    recycling<double> const b(a);
    BOOST_TEST((recycling<int>(b) == a));
    std::vector<int, recycling<int>> v;
    for (int i = 0; i < 1000; ++i) v.push_back(i);
    BOOST_TEST(v[999] == 999);
    auto const shared = std::allocate_shared<std::uint64_t>(recycling<std::uint64_t>(), 7U);
    BOOST_TEST(*shared == 7U);
}

BOOST_AUTO_TEST_CASE(a_turn_finds_room_that_no_thread_owns)
{
    omp_co::detail::turn_memory room;
    using allocator = omp_co::detail::turn_allocator<std::uint64_t>;
    std::uint64_t* first = nullptr;
    for (int i = 0; i < 3; ++i) // taken by one thread, given back by another
        std::thread([&] {
            std::uint64_t* const p = allocator(room).allocate(4);
            BOOST_TEST((first == nullptr || p == first));
            first = p;
            std::thread([&] { allocator(room).deallocate(p, 4); }).join();
        }).join();
    std::uint64_t* const held = allocator(room).allocate(4);
    BOOST_TEST(held == first);
    std::uint64_t* const second = allocator(room).allocate(4);
    std::uint64_t* const large = allocator(room).allocate(1000);
    BOOST_TEST((second != first && large != first));
    second[3] = large[999] = 1;
    allocator(room).deallocate(second, 4);
    allocator(room).deallocate(large, 1000);
    allocator(room).deallocate(held, 4);
    BOOST_TEST(allocator(room).allocate(1) == first);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace recycler_test
