// SPDX-License-Identifier: BSL-1.0
// A set of bytes holds what was added and not removed, and tells what it removes.
#include <omp_co/host/range_set.hpp>

#include <boost/test/unit_test.hpp>
#include <random>
#include <vector>

namespace range_set_test {

using omp_co::host::memory_range;

BOOST_AUTO_TEST_SUITE(range_set)

BOOST_AUTO_TEST_CASE(random_ranges_come_and_go)
{
    std::mt19937 random(1);
    std::vector<char> memory(64);
    for (int round = 0; round < 200; ++round) {
        omp_co::host::range_set set;
        std::vector<bool> model(memory.size());
        for (int step = 0; step < 40; ++step) {
            std::size_t const first = random() % memory.size();
            std::size_t const last = first + random() % (memory.size() - first + 1);
            memory_range const r{memory.data() + first, memory.data() + last};
            std::vector<bool> removed(memory.size());
            bool const adds = random() % 2 == 0;
            if (adds)
                set.add(r);
            else
                set.remove(r, [&](memory_range part) {
                    for (char* p = part.begin; p != part.end; ++p)
                        removed[static_cast<std::size_t>(p - memory.data())] = true;
                });
            bool told = true;
            for (std::size_t i = 0; i < memory.size(); ++i) {
                bool const inside = i >= first && i < last;
                told = told && removed[i] == (!adds && inside && model[i]);
                if (inside) model[i] = adds;
            }
            BOOST_TEST(told);
            std::vector<bool> now(memory.size());
            char* end = nullptr;
            set.for_each([&](memory_range part) {
                BOOST_TEST((part.begin < part.end && (end == nullptr || end < part.begin)));
                end = part.end;
                for (char* p = part.begin; p != part.end; ++p)
                    now[static_cast<std::size_t>(p - memory.data())] = true;
            });
            BOOST_TEST((now == model));
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace range_set_test
