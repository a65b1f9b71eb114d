// SPDX-License-Identifier: BSL-1.0
// OMP_CO_CHECK=races: what is a race, and what is none.
#include "support/devices.hpp"
#include "support/gate.hpp"
#include "support/said_by.hpp"
#include "support/started.hpp"

#include <omp_co/omp_co.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace races_test {

namespace data = boost::unit_test::data;
using namespace omp_co_test;
using omp_co::depend_in;
using omp_co::depend_inout;
using omp_co::depend_out;
using omp_co::name;

auto const write = [](int* p) { p[0] += 1; };
auto const read = [](int const*) {};

// A device whose worker stands in a gate, so that whatever is started stays in flight.
struct checked {
    checked() : queue(dev)
    {
        omp_co::check_races(true);
        s.start(omp_co::target(
            dev, [g = &held](int*) { g->pass(); }, omp_co::tofrom(of_the_gate)));
    }
    checked(checked const&) = delete;
    checked& operator=(checked const&) = delete;
    ~checked()
    {
        (void)finish();
        omp_co::check_races(false);
    }

    // Lets all of it run: well or not.
    bool finish()
    {
        held.open();
        return s.run();
    }
    std::uint64_t found() const { return omp_co::races_found() - before; }

    std::uint64_t before = omp_co::races_found();
    test_device dev{workers(1)};
    std::vector<int> of_the_gate = std::vector<int>(1);
    std::vector<int> x = std::vector<int>(100);
    std::vector<int> y = std::vector<int>(100);
    std::vector<int> z = std::vector<int>(100);
    gate held;
    omp_co::queue queue;
    starter s;
};

std::string address(void const* p)
{
    char text[32];
    (void)std::snprintf(text, sizeof text, "%p", p);
    return text;
}

BOOST_AUTO_TEST_SUITE(races)

BOOST_AUTO_TEST_CASE(a_race_is_told_with_names_clauses_and_range)
{
    checked c;
    int* const p = c.x.data();
    auto const lines = said_by([&] {
        c.s.start(omp_co::target(c.dev, write, omp_co::tofrom(std::span(p, 60)), name("left")));
        c.s.start(omp_co::target(c.dev, read, omp_co::to(std::span(p, 60), name("x")), name("right")));
    });
    BOOST_REQUIRE(lines.size() == 1U);
    std::string const range = "[" + address(p) + ", " + address(p + 60) + ")";
    for (char const* part : {"race", "left", "right", "tofrom", "to x", range.c_str()})
        BOOST_TEST((lines[0].find(part) != std::string::npos), part << " in: " << lines[0]);
    BOOST_TEST(c.found() == 1U);
    BOOST_TEST(c.finish());
}

BOOST_AUTO_TEST_CASE(the_same_is_told_once_and_counted_each_time)
{
    checked c;
    auto const lines = said_by([&] {
        for (int i = 0; i < 4; ++i) c.s.start(omp_co::target(c.dev, write, omp_co::tofrom(c.x)));
    });
    BOOST_TEST(lines.size() == 1U);
    BOOST_TEST(c.found() == 6U); // pairs of four
}

struct program {
    char const* name;
    void (*run)(checked&);
    unsigned races;

    friend std::ostream& operator<<(std::ostream& out, program const& p) { return out << p.name; }
};

program const programs[]{
    {"two readers",
     [](checked& c) {
         for (int i = 0; i < 2; ++i) c.s.start(omp_co::target(c.dev, read, omp_co::to(c.x)));
     },
     0},
    {"disjoint data",
     [](checked& c) {
         c.s.start(omp_co::target(c.dev, write, omp_co::tofrom(c.x)));
         c.s.start(omp_co::target(c.dev, write, omp_co::tofrom(c.y)));
     },
     0},
    {"awaited",
     [](checked& c) {
         c.held.open();
         for (int i = 0; i < 3; ++i) {
             c.s.start(omp_co::target(c.dev, write, omp_co::tofrom(c.x)));
             (void)c.s.run();
         }
     },
     0},
    {"a chain of dependences",
     [](checked& c) {
         c.s.start(omp_co::target(c.dev, write, omp_co::tofrom(c.x), depend_out(c.x)));
         c.s.start(omp_co::target(c.dev, read, omp_co::to(c.x), depend_in(c.x), depend_out(c.y)));
         c.s.start(omp_co::target(c.dev, write, omp_co::tofrom(c.x), depend_inout(c.y)));
     },
     0},
    {"a dependence on something else",
     [](checked& c) {
         c.s.start(omp_co::target(c.dev, write, omp_co::tofrom(c.x), depend_out(c.x)));
         c.s.start(omp_co::target(c.dev, write, omp_co::tofrom(c.x), depend_out(c.y)));
     },
     1},
    {"both only read what they name, and write other data",
     [](checked& c) {
         for (int i = 0; i < 2; ++i)
             c.s.start(omp_co::target(c.dev, write, omp_co::tofrom(c.x), depend_in(c.y)));
     },
     1},
    {"through a host task",
     [](checked& c) {
         c.s.start(omp_co::target(c.dev, write, omp_co::tofrom(c.x), depend_out(c.x)));
         c.s.start(omp_co::taskwait(depend_inout(c.x)));
         c.s.start(omp_co::target(c.dev, write, omp_co::tofrom(c.x), depend_in(c.x)));
     },
     0},
    {"one queue",
     [](checked& c) {
         for (int i = 0; i < 3; ++i) c.s.start(omp_co::target(c.queue, write, omp_co::tofrom(c.x)));
     },
     0},
    {"a queue and a free region, either way",
     [](checked& c) {
         c.s.start(omp_co::target(c.queue, write, omp_co::tofrom(c.x)));
         c.s.start(omp_co::target(c.dev, write, omp_co::tofrom(c.x)));
         c.s.start(omp_co::target(c.dev, write, omp_co::tofrom(c.y)));
         c.s.start(omp_co::target(c.queue, write, omp_co::tofrom(c.y)));
     },
     0},
    {"free regions with a queue's between them",
     [](checked& c) {
         c.s.start(omp_co::target(c.dev, write, omp_co::tofrom(c.x)));
         c.s.start(omp_co::target(c.queue, write, omp_co::tofrom(c.x)));
         c.s.start(omp_co::target(c.dev, write, omp_co::tofrom(c.x)));
     },
     0},
    {"free regions with a queue's between them that takes the order on to other data",
     [](checked& c) {
         c.s.start(omp_co::target(c.dev, write, omp_co::tofrom(c.x)));
         c.s.start(omp_co::target(c.queue, write, omp_co::tofrom(c.x)));
         c.s.start(omp_co::target(c.queue, write, omp_co::tofrom(c.y)));
         c.s.start(omp_co::target(
             c.dev, [](int*, int*) {}, omp_co::tofrom(c.y), omp_co::tofrom(c.x)));
     },
     0},
    {"free regions beside a queue on other data",
     [](checked& c) {
         c.s.start(omp_co::target(c.dev, write, omp_co::tofrom(c.x)));
         c.s.start(omp_co::target(c.queue, write, omp_co::tofrom(c.y)));
         c.s.start(omp_co::target(c.dev, write, omp_co::tofrom(c.x)));
     },
     1},
    {"a motion beside the one in and a kernel that writes",
     [](checked& c) {
         c.s.start(omp_co::target_enter_data(c.dev, omp_co::to(c.x), depend_out(c.x)));
         c.s.start(omp_co::target(c.dev, write, omp_co::tofrom(c.x), depend_inout(c.x)));
         c.s.start(omp_co::target_update(c.dev, omp_co::from(c.x)));
     },
     2},
    {"a cancelled region in between",
     [](checked& c) {
         c.s.start(omp_co::target(c.dev, write, omp_co::tofrom(c.x), depend_out(c.x)));
         started& middle = c.s.start(omp_co::taskwait(depend_inout(c.x)));
         started& last = c.s.start(omp_co::target(c.dev, write, omp_co::tofrom(c.x), depend_inout(c.x)));
         middle.cancel();
         c.s.io.poll();
         last.cancel();
     },
     0},
};

// Twice each, for records are used again.
BOOST_DATA_TEST_CASE(programs_and_their_races, data::make(programs), p)
{
    for (int i = 0; i < 2; ++i) {
        checked c;
        (void)said_by([&] { p.run(c); });
        BOOST_TEST(c.found() == p.races);
    }
}

// The same host memory, copied from two devices.
BOOST_AUTO_TEST_CASE(copies_to_the_host_from_two_devices)
{
    checked c;
    test_device const other(workers(1));
    gate second;
    c.s.start(omp_co::target(
        other, [g = &second](int*) { g->pass(); }, omp_co::tofrom(c.y)));
    auto const lines = said_by([&] {
        c.s.start(omp_co::target(c.dev, write, omp_co::from(c.x)));
        c.s.start(omp_co::target(other, write, omp_co::from(c.x)));
    });
    BOOST_REQUIRE(lines.size() == 1U);
    BOOST_TEST((lines[0].find("of the host") != std::string::npos), lines[0]);
    second.open(); // one after the other: the race is real
    BOOST_TEST(eventually([&] {
        c.s.io.poll();
        return other.get().statistics().in_flight == 0U;
    }));
    BOOST_TEST(c.finish());
}

// A queue orders what its own device does. Copies in wait for pending copies out of all devices; nothing else does.
BOOST_AUTO_TEST_CASE(queues_order_nothing_on_other_devices)
{
    checked c;
    test_device const other(workers(1));
    omp_co::queue const others(other);
    c.s.start(omp_co::target(c.queue, write, omp_co::from(c.x)));
    auto const races_of = [&](auto const& second) {
        std::uint64_t const before = omp_co::races_found();
        (void)said_by([&] { c.s.start(second); });
        return omp_co::races_found() - before;
    };
    BOOST_TEST(races_of(omp_co::target(other, read, omp_co::to(c.x))) == 0U);
    BOOST_TEST(races_of(omp_co::target(others, write, omp_co::from(c.x))) == 1U);
    BOOST_TEST(races_of(omp_co::target(other, write, omp_co::from(c.y))) == 0U);
    // The await of what only reads has ended.
    c.s.start(omp_co::target(c.queue, read, omp_co::to(c.z)));
    BOOST_TEST(races_of(omp_co::target(others, write, omp_co::from(c.z))) == 0U);
    BOOST_TEST(c.finish());
}

// There both devices' kernels work on the host's memory.
BOOST_AUTO_TEST_CASE(unified_memory_is_the_hosts)
{
    checked c;
    test_device const other(unified(1));
    auto const lines = said_by([&] {
        c.s.start(omp_co::target(c.dev, write, omp_co::from(c.x)));
        c.s.start(omp_co::target(other, write, omp_co::tofrom(c.x)));
    });
    BOOST_REQUIRE(lines.size() == 1U);
    BOOST_TEST((lines[0].find("of the host") != std::string::npos), lines[0]);
    BOOST_TEST(c.finish());
}

BOOST_AUTO_TEST_CASE(nothing_is_told_when_it_is_off)
{
    checked c;
    omp_co::check_races(false);
    auto const lines = said_by([&] {
        for (int i = 0; i < 4; ++i) c.s.start(omp_co::target(c.dev, write, omp_co::tofrom(c.x)));
    });
    BOOST_TEST(lines.empty());
    BOOST_TEST(c.found() == 0U);
    omp_co::check_races(true); // what was started before is not known
    c.s.start(omp_co::target(c.dev, write, omp_co::tofrom(c.x)));
    BOOST_TEST(c.found() == 0U);
    BOOST_TEST(c.finish());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace races_test
