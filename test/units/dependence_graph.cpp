// SPDX-License-Identifier: BSL-1.0
// The graph by itself: who comes behind whom, and that nothing is kept once all have ended.
#include "support/sanitizers.hpp"

#include <omp_co/detail/dependence_graph.hpp>

#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <deque>
#include <malloc.h>
#include <utility>
#include <vector>

namespace dependence_graph_test {

using omp_co::error_code;
using omp_co::detail::aftermath;
using omp_co::detail::dependence;
using omp_co::detail::dependence_graph;
using omp_co::detail::dependence_type;
using omp_co::detail::dependent;
using omp_co::detail::device_slot;
using omp_co::detail::region;
using omp_co::detail::region_order;
using enum omp_co::detail::dependence_type;

constexpr auto go = dependence_graph::verdict::go;
constexpr auto deferred = dependence_graph::verdict::deferred;

/// A region as the graph sees it.
struct job {
    explicit job(device_slot* on = nullptr) : r([](region&, omp_co::detail::ending) {}, on)
    {
        r.order = &order;
        order.on_host = on == nullptr;
    }
    region_order order;
    region r;
};

// A sanitizer brings a heap of its own.
boost::test_tools::assertion_result heap_is_glibc(boost::unit_test::test_unit_id)
{
    boost::test_tools::assertion_result holds(OMP_CO_TEST_SANITIZED == 0);
    holds.message() << "counts the bytes of glibc's heap";
    return holds;
}

struct fixture {
    job& make(device_slot* on = nullptr) { return jobs.emplace_back(on); }

    dependence_graph::verdict enter(job& j, std::vector<dependence> const& wishes)
    {
        return graph.enter(j.r, wishes);
    }
    // Those that are to be dispatched, or have ended without.
    std::vector<region*> end(job& j, error_code ec = {})
    {
        aftermath out;
        graph.end(j.order, ec, out);
        return taken(out);
    }
    static std::vector<region*> taken(aftermath& out)
    {
        std::vector<region*> all;
        while (!out.released.empty()) all.push_back(out.released.pop());
        while (!out.done.empty()) all.push_back(out.done.pop());
        return all;
    }

    // Who comes behind everything would have to wait.
    void nothing_is_left()
    {
        job& last = make();
        last.order.everything = true;
        BOOST_TEST((enter(last, {}) == go));
        BOOST_TEST(end(last).empty());
    }

    std::deque<job> jobs;
    dependence_graph graph;
    int x = 0, y = 0;
};

BOOST_AUTO_TEST_SUITE(graph_of_dependences)

BOOST_FIXTURE_TEST_CASE(readers_are_behind_the_writer_and_before_the_next, fixture)
{
    job& writer = make();
    job& one = make();
    job& two = make();
    job& next = make();
    BOOST_TEST((enter(writer, {{&x, out}}) == go));
    BOOST_TEST((enter(one, {{&x, in}}) == deferred));
    BOOST_TEST((enter(two, {{&x, in}, {&y, in}}) == deferred));
    BOOST_TEST((enter(next, {{&x, out}}) == deferred));
    BOOST_TEST((end(writer).size() == 2U));
    BOOST_TEST((end(one).empty()));
    BOOST_TEST((end(two) == std::vector<region*>{&next.r}));
    BOOST_TEST((end(next).empty()));
    nothing_is_left();
}

// What their device keeps in order is not deferred; where it is meant to be is known once the first is accepted.
BOOST_FIXTURE_TEST_CASE(on_one_device_the_second_is_placed_behind_the_first, fixture)
{
    device_slot slot;
    omp_co::detail::stream_clock stream;
    job& first = make(&slot);
    job& second = make(&slot);
    job& third = make(&slot);
    BOOST_TEST((enter(first, {{&x, out}}) == go));
    BOOST_TEST((enter(second, {{&x, in}}) == deferred)); // until the first has a place
    aftermath out_;
    graph.accepted(*first.order.node, {&stream, 7}, out_);
    BOOST_TEST((taken(out_) == std::vector<region*>{&second.r}));
    BOOST_TEST((enter(third, {{&x, in}}) == go));
    for (job const* each : {&second, &third}) {
        BOOST_REQUIRE(each->order.node->behind.size() == 1U);
        BOOST_TEST(each->order.node->behind[0].stream == &stream);
        BOOST_TEST(each->order.node->behind[0].number == 7U);
    }
    graph.accepted(*second.order.node, {&stream, 8}, out_);
    graph.accepted(*third.order.node, {&stream, 9}, out_);
    BOOST_TEST(end(first, make_error_code(omp_co::errc::kernel_failed)).empty());
    BOOST_TEST(second.order.node->predecessor_failed);
    BOOST_TEST(end(second).empty());
    BOOST_TEST(end(third).empty());
    nothing_is_left();
}

// It has ended for its owner, and those behind it wait on.
BOOST_FIXTURE_TEST_CASE(one_that_is_refused_keeps_its_place, fixture)
{
    device_slot slot, elsewhere;
    omp_co::detail::stream_clock stream;
    aftermath out_;
    job& at_work = make(&slot);
    job& host = make();
    job& refused = make(&slot);
    job& other = make(&elsewhere);
    job& same = make(&slot);
    other.order.goes_on = same.order.goes_on = true;
    BOOST_TEST((enter(at_work, {{&x, in}}) == go));
    graph.accepted(*at_work.order.node, {&stream, 1}, out_);
    BOOST_TEST((enter(host, {{&y, in}}) == go));
    BOOST_TEST((enter(refused, {{&x, out}, {&y, out}}) == deferred));
    BOOST_TEST((enter(other, {{&x, in}}) == deferred));
    BOOST_TEST((enter(same, {{&y, in}}) == deferred));
    BOOST_TEST((end(host) == std::vector<region*>{&refused.r}));
    BOOST_TEST(end(refused, make_error_code(omp_co::errc::not_present)).empty());
    BOOST_TEST((end(at_work) == std::vector<region*>{&other.r, &same.r}));
    BOOST_TEST(other.order.node->predecessor_failed);
    BOOST_TEST(end(other).empty());
    BOOST_TEST(end(same).empty());
    nothing_is_left();
}

// On a lost device a successor may be told first.
BOOST_FIXTURE_TEST_CASE(a_successor_may_end_before_its_predecessor, fixture)
{
    device_slot slot;
    omp_co::detail::stream_clock stream;
    aftermath out_;
    job& first = make(&slot);
    job& second = make(&slot);
    BOOST_TEST((enter(first, {{&x, out}}) == go));
    graph.accepted(*first.order.node, {&stream, 1}, out_);
    BOOST_TEST((enter(second, {{&x, out}}) == go));
    graph.accepted(*second.order.node, {&stream, 2}, out_);
    BOOST_TEST(end(second, make_error_code(omp_co::errc::device_lost)).empty());
    BOOST_TEST(end(first, make_error_code(omp_co::errc::device_lost)).empty());
    nothing_is_left();
}

BOOST_FIXTURE_TEST_CASE(a_late_cancellation_means_another_region, fixture)
{
    aftermath out_;
    job& first = make();
    job& second = make();
    (void)enter(first, {{&x, out}});
    (void)enter(second, {{&x, out}});
    dependent& node = *second.order.node;
    std::uint64_t const id = node.id;
    BOOST_TEST(end(first).size() == 1U);
    BOOST_TEST(end(second).empty());
    job& third = make();
    job& fourth = make();
    (void)enter(third, {{&x, out}});
    (void)enter(fourth, {{&x, out}});
    graph.cancel(node, id, out_); // its memory serves another one by now
    BOOST_TEST(taken(out_).empty());
    BOOST_TEST(end(third).size() == 1U);
    BOOST_TEST(end(fourth).empty());
    nothing_is_left();
}

// As many addresses as one likes: those that nobody names any more are given up, and their memory is used again.
BOOST_FIXTURE_TEST_CASE(nothing_grows, fixture, *boost::unit_test::precondition(heap_is_glibc))
{
    constexpr std::size_t each_round = 10'000;
    std::vector<char> memory(20 * each_round);
    job& j = make();
    std::size_t after_two = 0;
    for (std::size_t i = 0; i < memory.size(); ++i) {
        BOOST_REQUIRE((enter(j, {{&memory[i], out}}) == go));
        BOOST_REQUIRE(end(j).empty());
        if (i == 2 * each_round) after_two = mallinfo2().uordblks;
    }
    BOOST_TEST(mallinfo2().uordblks < after_two + 4'096);
    nothing_is_left();
}

BOOST_FIXTURE_TEST_CASE(addresses_in_use_survive_the_others, fixture)
{
    std::vector<char> memory(5'000);
    std::vector<job*> first;
    for (char& each : memory) {
        first.push_back(&make());
        BOOST_REQUIRE((enter(*first.back(), {{&each, out}}) == go));
    }
    for (std::size_t i = 0; i < memory.size(); i += 2) BOOST_REQUIRE(end(*first[i]).empty());
    for (std::size_t i = 0; i < memory.size(); ++i) {
        job& next = make();
        BOOST_REQUIRE((enter(next, {{&memory[i], in}}) == (i % 2 == 0 ? go : deferred)));
        if (i % 2 == 1) BOOST_REQUIRE((end(*first[i]) == std::vector<region*>{&next.r}));
        BOOST_REQUIRE(end(next).empty());
    }
    nothing_is_left();
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace dependence_graph_test
