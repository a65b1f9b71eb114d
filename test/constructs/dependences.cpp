// SPDX-License-Identifier: BSL-1.0
// The order that depend clauses make, on one device and between several.
#include "support/devices.hpp"
#include "support/gate.hpp"
#include "support/started.hpp"

#include <omp_co/omp_co.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <ostream>
#include <vector>

namespace dependences_test {

namespace data = boost::unit_test::data;
using namespace omp_co_test;
using omp_co::depend_all;
using omp_co::depend_in;
using omp_co::depend_inout;
using omp_co::depend_inoutset;
using omp_co::depend_out;
using omp_co::range;

test_device nobody() { return test_device(workers(0)); }
test_device one() { return test_device(workers(1)); }
test_device four() { return test_device(workers(4)); }
test_device shared() { return test_device(unified(1)); }
test_device initial() { return test_device(omp_co::initial_device()); }

struct arrangement {
    char const* name;
    std::vector<test_device (*)()> make;
    bool parallel; ///< at least three kernels at once, whatever devices they are on

    std::vector<test_device> devices() const
    {
        std::vector<test_device> made;
        for (auto const each : make) made.push_back(each());
        return made;
    }
    friend std::ostream& operator<<(std::ostream& out, arrangement const& a) { return out << a.name; }
};

std::vector<arrangement> const arrangements{
    {"inline", {nobody}, false},
    {"one worker", {one}, false},
    {"four workers", {four}, true},
    {"two devices", {one, one}, false},
    {"four devices", {four, four, four, four}, true},
    {"inline and not", {nobody, one}, false},
    {"unified and not", {shared, one}, false},
    {"initial and not", {initial, one}, false},
    {"initial", {initial}, false},
};

std::vector<arrangement> const parallel_ones{arrangements[2], arrangements[4]};

struct step_kernel {
    long k;
    void operator()(std::size_t i, long* p) const noexcept { p[i] = (p[i] * 3 + k) % 1000003; }
};
struct copy_kernel {
    long k;
    void operator()(std::size_t i, long const* in, long* out) const noexcept { out[i] = in[i] * k + 1; }
};
struct add_kernel {
    void operator()(std::size_t i, long const* l, long const* r, long* out) const noexcept
    {
        out[i] = l[i] * 7 + r[i];
    }
};

BOOST_AUTO_TEST_SUITE(dependences)

BOOST_DATA_TEST_CASE(a_chain, data::make(arrangements), where)
{
    auto const dev = where.devices();
    std::vector<long> a(64, 1);
    starter s;
    long x = 1;
    for (int k = 0; k < 100; ++k) {
        s.start(omp_co::target(dev[static_cast<std::size_t>(k) % dev.size()], step_kernel{k}, range(a.size()),
                               omp_co::tofrom(a), depend_inout(a)));
        x = (x * 3 + k) % 1000003;
    }
    BOOST_TEST(s.run());
    BOOST_TEST(a.front() == x);
    BOOST_TEST(a.back() == x);
}

BOOST_DATA_TEST_CASE(diamonds, data::make(arrangements), where)
{
    auto const dev = where.devices();
    std::vector<long> a(16, 1), b(16, 0), c(16, 0);
    starter s;
    std::size_t at = 0;
    auto const next = [&]() -> omp_co::device { return dev[at++ % dev.size()]; };
    long x = 1;
    for (int k = 0; k < 15; ++k) {
        s.start(omp_co::target(next(), step_kernel{k}, range(16), omp_co::tofrom(a), depend_inout(a)));
        s.start(omp_co::target(next(), copy_kernel{2}, range(16), omp_co::to(a), omp_co::from(b),
                               depend_in(a), depend_out(b)));
        s.start(omp_co::target(next(), copy_kernel{3}, range(16), omp_co::to(a), omp_co::from(c),
                               depend_in(a), depend_out(c)));
        s.start(omp_co::target(next(), add_kernel{}, range(16), omp_co::to(b), omp_co::to(c), omp_co::from(a),
                               depend_in(b, c), depend_out(a)));
        ++at; // else each kind stays on one device
        x = (x * 3 + k) % 1000003;
        x = (2 * x + 1) * 7 + 3 * x + 1;
    }
    BOOST_TEST(s.run());
    BOOST_TEST(a.front() == x);
    BOOST_TEST(a.back() == x);
}

// 0, then 1 to 3 side by side, then 4.
BOOST_DATA_TEST_CASE(readers_run_together_and_writers_alone, data::make(parallel_ones), where)
{
    auto const dev = where.devices();
    int x = 0;
    gate first, readers;
    journal said;
    starter s;
    s.start(omp_co::target(dev[0], said.note_behind(first, 0), depend_out(x)));
    for (int k = 1; k <= 3; ++k)
        s.start(omp_co::target(dev[static_cast<std::size_t>(k) % dev.size()], said.note_behind(readers, k),
                               depend_in(x)));
    s.start(omp_co::target(dev[dev.size() - 1], said.note(4), depend_inout(x)));
    BOOST_TEST(first.wait_entered(1));
    leave_time_to_do_it_wrong();
    BOOST_TEST(readers.entered() == 0);
    first.open();
    std::thread loop([&] { s.io.run(); });
    BOOST_TEST(readers.wait_entered(3));
    leave_time_to_do_it_wrong();
    BOOST_TEST(!said.says(4));
    readers.open();
    loop.join();
    BOOST_TEST(s.run());
    BOOST_TEST(said.at(0) == 0U);
    BOOST_TEST(said.at(4) == 4U);
}

// 0 reads, 1 and 2 of a set run side by side, 3 reads, 4 and 5 are a set again.
BOOST_DATA_TEST_CASE(a_set_runs_together_and_apart_from_all_others, data::make(parallel_ones), where)
{
    auto const dev = where.devices();
    int x = 0;
    gate reader, set, second;
    journal said;
    starter s;
    std::size_t at = 0;
    auto const next = [&]() -> omp_co::device { return dev[at++ % dev.size()]; };
    s.start(omp_co::target(next(), said.note_behind(reader, 0), depend_in(x)));
    s.start(omp_co::target(next(), said.note_behind(set, 1), depend_inoutset(x)));
    s.start(omp_co::target(next(), said.note_behind(set, 2), depend_inoutset(x)));
    s.start(omp_co::target(next(), said.note(3), depend_in(x)));
    s.start(omp_co::target(next(), said.note_behind(second, 4), depend_inoutset(x)));
    s.start(omp_co::target(next(), said.note_behind(second, 5), depend_inoutset(x)));
    std::thread loop([&] { s.io.run(); });
    BOOST_TEST(reader.wait_entered(1));
    leave_time_to_do_it_wrong();
    BOOST_TEST(set.entered() == 0);
    reader.open();
    BOOST_TEST(set.wait_entered(2));
    leave_time_to_do_it_wrong();
    BOOST_TEST(!said.says(3));
    set.open();
    BOOST_TEST(second.wait_entered(2));
    BOOST_TEST(said.at(3) == 3U);
    second.open();
    loop.join();
    BOOST_TEST(s.run());
}

BOOST_DATA_TEST_CASE(one_that_depends_on_all_is_behind_and_before_everything, data::make(parallel_ones),
                     where)
{
    auto const dev = where.devices();
    int x = 0, y = 0, z = 0;
    gate before, between, last;
    journal said;
    starter s;
    s.start(omp_co::target(dev[0], said.note_behind(before, 0), depend_in(x)));
    s.start(omp_co::target(dev[1 % dev.size()], said.note_behind(before, 1), depend_out(y)));
    s.start(omp_co::target(dev[2 % dev.size()], said.note_behind(between, 2), depend_all()));
    s.start(omp_co::target(dev[0], said.note_behind(last, 3), depend_in(x)));
    s.start(omp_co::target(dev[3 % dev.size()], said.note_behind(last, 4), depend_out(z)));
    s.start(omp_co::taskwait(depend_all()));
    std::thread loop([&] { s.io.run(); });
    BOOST_TEST(before.wait_entered(2));
    leave_time_to_do_it_wrong();
    BOOST_TEST(between.entered() == 0);
    BOOST_TEST(last.entered() == 0);
    before.open();
    BOOST_TEST(between.wait_entered(1));
    leave_time_to_do_it_wrong();
    BOOST_TEST(last.entered() == 0);
    between.open();
    BOOST_TEST(last.wait_entered(2));
    last.open();
    loop.join();
    BOOST_TEST(s.run());
    BOOST_TEST(said.at(2) == 2U);
}

// As many as one likes, read when the construct starts; none at all is no order.
BOOST_DATA_TEST_CASE(addresses_known_at_run_time, data::make(parallel_ones), where)
{
    auto const dev = where.devices();
    std::vector<int> x(20, 0);
    gate writers;
    journal said;
    starter s;
    s.start(omp_co::target(dev[0], said.note_behind(writers, 0), depend_out(x[3])));
    s.start(omp_co::target(dev[1 % dev.size()], said.note_behind(writers, 1), depend_out(x[17])));
    s.start(omp_co::target(dev[0], said.note(4), depend_out(omp_co::addresses(nullptr, 0))));
    s.start(omp_co::target(dev[0], said.note(5), depend_inoutset(omp_co::addresses(nullptr, -1))));
    {
        std::vector<void const*> at;
        for (int& each : x) at.push_back(&each);
        s.start(omp_co::target(dev[0], said.note(2), depend_in(omp_co::addresses(at.data(), at.size()))));
        s.start(omp_co::target(dev[0], said.note(3), depend_inout(omp_co::addresses(at.data() + 3, 1))));
    }
    std::thread loop([&] { s.io.run(); });
    BOOST_TEST(eventually([&] { return said.says(4) && said.says(5); }));
    BOOST_TEST(!said.says(2));
    writers.open();
    loop.join();
    BOOST_TEST(s.run());
    BOOST_TEST(said.at(2) == 4U);
    BOOST_TEST(said.at(3) == 5U);
}

// It does not wait for itself, and is what the strictest of its clauses says.
BOOST_DATA_TEST_CASE(one_address_several_times_in_one_construct, data::make(arrangements), where)
{
    auto const dev = where.devices();
    int x = 0;
    journal said;
    starter s;
    std::size_t at = 0;
    auto const next = [&]() -> omp_co::device { return dev[at++ % dev.size()]; };
    omp_co::external_event begin;
    s.start(omp_co::taskwait(depend_out(x), omp_co::detach(begin)));
    for (int k = 0; k < 20; k += 4) {
        s.start(omp_co::target(next(), said.note(k), depend_in(x), depend_out(x)));
        s.start(omp_co::target(next(), said.note(k + 1), depend_out(x), depend_in(x)));
        s.start(omp_co::target(next(), said.note(k + 2), depend_inout(x, x, x)));
        s.start(omp_co::target(next(), said.note(k + 3), depend_inoutset(x), depend_in(x), depend_all()));
    }
    begin.fulfill();
    BOOST_TEST(s.run());
    std::vector<int> const lines = said.lines();
    BOOST_REQUIRE(lines.size() == 20U);
    for (int k = 0; k < 20; ++k) BOOST_TEST(lines[static_cast<std::size_t>(k)] == k);
}

// What counts is where a section begins.
BOOST_DATA_TEST_CASE(sections_side_by_side_and_without_length, data::make(parallel_ones), where)
{
    auto const dev = where.devices();
    std::vector<int> x(8, 0);
    gate both;
    journal said;
    starter s;
    s.start(omp_co::target(dev[0], said.note_behind(both, 0), depend_out(omp_co::section(x, 0, 4))));
    s.start(
        omp_co::target(dev[1 % dev.size()], said.note_behind(both, 1), depend_out(omp_co::section(x, 4, 4))));
    s.start(omp_co::target(dev[0], said.note(2), depend_in(omp_co::section(x, 4, 0))));
    s.start(omp_co::target(dev[0], said.note(3), depend_in(omp_co::section(x, 2, 4))));
    std::thread loop([&] { s.io.run(); });
    BOOST_TEST(both.wait_entered(2));
    BOOST_TEST(eventually([&] { return said.says(3); }));
    BOOST_TEST(!said.says(2));
    both.open();
    loop.join();
    BOOST_TEST(s.run());
}

// The data stays on a device; the host sees it when it may.
BOOST_DATA_TEST_CASE(enter_update_and_exit, data::make(arrangements), where)
{
    auto const dev = where.devices();
    std::vector<long> a(8, 1), seen;
    starter s;
    omp_co::external_event begin;
    s.start(omp_co::taskwait(depend_out(a), omp_co::detach(begin)));
    long x = 1;
    for (std::size_t i = 0; i < 2 * dev.size(); ++i) {
        omp_co::device const d = dev[i % dev.size()];
        s.start(omp_co::target_enter_data(d, omp_co::to(a), depend_inout(a)));
        s.start(omp_co::target(d, step_kernel{5}, range(8), omp_co::tofrom(a), depend_inout(a)));
        s.start(omp_co::target_update(d, omp_co::from(a), depend_inout(a)));
        auto const look = [&a, &seen] {
            seen.push_back(a[7]);
            for (long& each : a) each += 1;
        };
        s.start(omp_co::host_task(look, depend_inout(a)));
        s.start(omp_co::target_update(d, omp_co::to(a), depend_inout(a)));
        s.start(omp_co::target(d, step_kernel{6}, range(8), omp_co::tofrom(a), depend_inout(a)));
        s.start(omp_co::target_exit_data(d, omp_co::from(a), depend_inout(a)));
    }
    begin.fulfill();
    BOOST_TEST(s.run());
    BOOST_REQUIRE(seen.size() == 2 * dev.size());
    for (std::size_t i = 0; i < 2 * dev.size(); ++i) {
        x = (x * 3 + 5) % 1000003;
        BOOST_TEST(seen[i] == x);
        x = ((x + 1) * 3 + 6) % 1000003;
    }
    BOOST_TEST(a[7] == x);
    for (test_device const& d : dev) BOOST_TEST(d.get().statistics().mapped_ranges == 0U);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace dependences_test
