// SPDX-License-Identifier: BSL-1.0
// Entries by address, against std::multimap: whatever comes and goes, in room that was made before.
#include <omp_co/detail/address_map.hpp>

#include <boost/test/unit_test.hpp>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <vector>

namespace address_map_test {

struct thing {
    char* key;
};
using things = omp_co::detail::address_map<thing>;

struct fixture {
    char memory[4096]{};
    things map;
    std::multimap<char*, thing*> expected;
    std::vector<std::unique_ptr<thing>> all;
    std::mt19937 random{1};

    char* some_address(unsigned spread) { return memory + random() % spread; }

    void add(char* key)
    {
        all.push_back(std::make_unique<thing>(thing{key}));
        map.reserve(expected.size() + 1);
        map.insert(key, *all.back());
        expected.emplace(key, all.back().get());
    }

    void remove(std::size_t which)
    {
        auto const at = std::next(expected.begin(), static_cast<std::ptrdiff_t>(which));
        map.erase(at->first, *at->second);
        expected.erase(at);
        map.shrink(expected.size());
    }

    // The same order, from end to end and back.
    bool same() const
    {
        if (map.size() != expected.size()) return false;
        things::position p;
        bool any = map.size() != 0;
        for (auto const& [key, e] : expected) {
            if (!any || &map.entry(p) != e) return false;
            any = map.next(p);
        }
        if (any) return false;
        any = map.last_not_above(memory + sizeof memory, p);
        for (auto it = expected.rbegin(); it != expected.rend(); ++it) {
            if (!any || &map.entry(p) != it->second) return false;
            any = map.previous(p);
        }
        return !any;
    }

    bool found_below(char const* key) const
    {
        things::position p;
        auto const above = expected.upper_bound(const_cast<char*>(key));
        if (!map.last_not_above(key, p)) return above == expected.begin();
        return above != expected.begin() && &map.entry(p) == std::prev(above)->second;
    }
};

BOOST_FIXTURE_TEST_SUITE(the_address_map, fixture)

BOOST_AUTO_TEST_CASE(nothing_is_below_anything_in_an_empty_map)
{
    things::position p;
    BOOST_TEST(!map.last_not_above(memory, p));
    BOOST_TEST(same());
}

BOOST_AUTO_TEST_CASE(whatever_comes_and_goes_is_found)
{
    for (unsigned const spread : {4096U, 40U}) // few equal ones, and many
        for (int round = 0; round < 40; ++round) {
            unsigned const growth = round % 4 < 2 ? 70 : 25;
            for (int i = 0; i < 100; ++i) {
                if (expected.empty() || random() % 100 < growth)
                    add(some_address(spread));
                else
                    remove(random() % expected.size());
                BOOST_REQUIRE(found_below(some_address(4096)));
            }
            BOOST_REQUIRE(same());
        }
    while (!expected.empty()) remove(random() % expected.size());
    BOOST_TEST(same());
}

BOOST_AUTO_TEST_CASE(entries_may_come_from_low_to_high_and_go_from_the_middle)
{
    for (char& c : memory) add(&c);
    BOOST_TEST(same());
    while (expected.size() > 1) remove(expected.size() / 2);
    BOOST_TEST(same());
    for (char& c : memory) add(&c); // in the room that is left
    BOOST_TEST(same());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace address_map_test
