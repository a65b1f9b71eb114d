// SPDX-License-Identifier: BSL-1.0
// Asio's rules for completion handlers, as assertions: executor, allocator, work, and what a throwing handler leaves.
#include "support/devices.hpp"
#include "support/gate.hpp"
#include "support/kernels.hpp"
#include "support/loops.hpp"
#include "support/strict_handler.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/multiple_exceptions.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <vector>

namespace asio_rules_test {

namespace asio = boost::asio;
namespace data = boost::unit_test::data;
using namespace omp_co_test;
using namespace std::chrono_literals;
using omp_co::error_code;

// A loop whose turns go through its own executor, so that a handler's executor sees what is the handler's alone.
template <class Context>
void meet(Context& context)
{
    omp_co::when_all()(asio::bind_executor(context.get_executor(), [](error_code) {}));
    context.run();
    context.restart();
}

template <class Context, class Operation, class Inner>
void check_rules(Context& context, Inner const& inner, Operation const& op, error_code expected, bool late)
{
    handler_record r;
    r.start(op, inner);
    BOOST_TEST(r.calls == 0);      // not inside the initiating call
    BOOST_TEST(r.where.work >= 1); // the loop may not end under a pending operation
    context.run();
    context.restart();
    BOOST_TEST(r.calls == 1);
    BOOST_TEST(!r.called_in_initiation);
    BOOST_TEST(r.called_on_executor);
    BOOST_TEST(r.work_at_call >= 1);
    BOOST_TEST((r.result == expected), r.result.message());
    BOOST_TEST(r.memory.taken >= 1);
    BOOST_TEST(r.memory_at_call == 0); // the handler may use the memory again
    BOOST_TEST(r.memory.live == 0);
    BOOST_TEST(r.alive == 0);
    BOOST_TEST(r.where.work == 0);
    BOOST_TEST(r.where.dispatched >= 1);
    if (late) BOOST_TEST(r.where.posted == 0);
}

template <class Context, class Inner>
void check_all_constructs(Context& context, Inner const& inner, omp_co::device dev)
{
    std::vector<int> v(8, 0);
    auto const op = omp_co::target(dev, increment, omp_co::range(8), omp_co::tofrom(v));
    auto const bad = omp_co::target(dev, increment, omp_co::range(-8), omp_co::tofrom(v));
    auto const nothing = omp_co::target_update(dev, omp_co::to(v), omp_co::if_(false));
    auto const check = [&](char const* name, auto const& which, error_code ec, bool late) {
        BOOST_TEST_CONTEXT(name) { check_rules(context, inner, which, ec, late); }
    };
    check("target", op, {}, true);
    check("enter", omp_co::target_enter_data(dev, omp_co::to(v)), {}, true);
    check("update", omp_co::target_update(dev, omp_co::from(v)), {}, true);
    check("exit", omp_co::target_exit_data(dev, omp_co::delete_(v)), {}, true);
    check("refused", bad, make_error_code(omp_co::errc::invalid_argument), false);
    check("if_(false)", nothing, {}, false);
    check("lost device", omp_co::target(omp_co::device(), increment, omp_co::range(8), omp_co::tofrom(v)),
          make_error_code(omp_co::errc::device_lost), false);
}

// A group of two operations: its memory is the handler's too.
template <class Context, class Inner>
void check_groups(Context& context, Inner const& inner, omp_co::device dev)
{
    std::vector<int> v(8, 0);
    std::vector<int> w(8, 0);
    auto const op = omp_co::target(dev, increment, omp_co::range(8), omp_co::tofrom(v));
    auto const other = omp_co::target(dev, increment, omp_co::range(8), omp_co::tofrom(w));
    BOOST_TEST_CONTEXT("when_all") { check_rules(context, inner, omp_co::when_all(op, other), {}, true); }
    BOOST_TEST_CONTEXT("nested when_all")
    {
        check_rules(context, inner, omp_co::when_all(omp_co::when_all(op), omp_co::when_all()), {}, true);
    }
    BOOST_TEST_CONTEXT("empty when_all") { check_rules(context, inner, omp_co::when_all(), {}, false); }
}

BOOST_AUTO_TEST_SUITE(asio_rules)

BOOST_DATA_TEST_CASE(constructs_keep_the_rules, data::make(device_kinds), kind)
{
    test_device const dev = kind.make();
    asio::io_context io;
    meet(io);
    check_all_constructs(io, io.get_executor(), dev);
    omp_co::offload_context own;
    check_all_constructs(own, own.get_executor(), dev);
}

BOOST_DATA_TEST_CASE(the_rules_hold_for_any_executor, data::make(device_kinds), kind)
{
    test_device const dev = kind.make();
    asio::io_context io;
    meet(io);
    std::vector<int> v(8, 0);
    auto const op = omp_co::target(dev, increment, omp_co::range(8), omp_co::tofrom(v));
    check_rules(io, asio::any_io_executor(io.get_executor()), op, {}, true);
    check_rules(io, asio::make_strand(io), op, {}, true);
    check_rules(io, asio::make_strand(asio::any_io_executor(io.get_executor())), op, {}, true);
}

BOOST_DATA_TEST_CASE(when_all_keeps_the_rules, data::make(device_kinds), kind)
{
    test_device const dev = kind.make();
    asio::io_context io;
    meet(io);
    check_groups(io, io.get_executor(), dev);
    omp_co::offload_context own;
    check_groups(own, own.get_executor(), dev);
}

BOOST_AUTO_TEST_CASE(waiting_for_a_group_keeps_the_rules)
{
    test_device const dev(workers(1));
    asio::io_context io;
    meet(io);
    std::vector<int> v(8, 0);
    omp_co::task_group group(io.get_executor());
    handler_record r;
    gate g;
    group.spawn(omp_co::target(dev, g.kernel(), omp_co::tofrom(v)));
    r.start(group.wait(), io.get_executor());
    BOOST_TEST(r.where.work >= 1);
    g.open();
    io.run();
    BOOST_TEST(r.calls == 1);
    BOOST_TEST(r.called_on_executor);
    BOOST_TEST(!r.called_in_initiation);
    BOOST_TEST(r.memory_at_call == 0);
    BOOST_TEST(r.memory.live == 0);
    BOOST_TEST(r.alive == 0);
    BOOST_TEST(r.where.work == 0);
}

// Nobody but the handler's executor leads to this context's loop.
BOOST_AUTO_TEST_CASE(a_loop_may_be_known_by_a_foreign_executor_alone)
{
    test_device const dev(workers(1));
    asio::io_context io;
    std::vector<int> v(8, 0);
    handler_record r;
    r.start(omp_co::target(dev, increment, omp_co::range(8), omp_co::tofrom(v)), io.get_executor());
    BOOST_TEST(r.calls == 0);
    io.run();
    BOOST_TEST(r.calls == 1);
    BOOST_TEST(r.called_on_executor);
    BOOST_TEST(v[7] == 1);
}

// What its handler holds is gone, in the right thread, when a region that nobody waits for any more has ended.
BOOST_DATA_TEST_CASE(an_abandoned_handler_frees_all_its_memory, data::make(device_kinds), kind)
{
    test_device const dev = kind.make();
    std::vector<int> v(8, 0);
    auto const op = omp_co::target(dev, increment, omp_co::range(8), omp_co::tofrom(v));
    handler_record one;
    handler_record all;
    handler_record refused;
    {
        asio::io_context io;
        meet(io);
        one.start(op, io.get_executor());
        all.start(omp_co::when_all(op, op), io.get_executor());
        refused.start(omp_co::when_all(), io.get_executor());
    }
    for (handler_record const* r : {&one, &all, &refused}) {
        BOOST_TEST(r->calls == 0);
        BOOST_TEST(r->memory.live == 0);
        BOOST_TEST(r->alive == 0);
        BOOST_TEST(r->where.work == 0);
    }
}

// Initiation never throws once it holds the handler: without memory it ends with an error, or not at all.
BOOST_DATA_TEST_CASE(a_handler_without_memory_does_not_make_initiation_throw, data::make({0, 1, 2, 3}),
                     allocations)
{
    test_device const dev(workers(0));
    std::vector<int> v(8, 0);
    auto const op = omp_co::target(dev, increment, omp_co::range(8), omp_co::tofrom(v));
    auto const attempt = [&](auto const& which) {
        asio::io_context io;
        meet(io);
        handler_record r;
        r.memory.fail_after = allocations;
        BOOST_CHECK_NO_THROW(r.start(which, io.get_executor()));
        io.run();
        BOOST_TEST(r.calls <= 1);
        BOOST_TEST(r.memory.live == 0);
        BOOST_TEST(r.alive == 0);
        BOOST_TEST(r.where.work == 0);
    };
    BOOST_TEST_CONTEXT("target") { attempt(op); }
    BOOST_TEST_CONTEXT("when_all") { attempt(omp_co::when_all(op, op)); }
    BOOST_TEST_CONTEXT("empty when_all") { attempt(omp_co::when_all()); }
}

struct thrown_by_handler : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Runs a loop to its end, however often a handler throws out of it. Returns how often. Asio itself puts exceptions of
// handlers that one dispatching function called together.
template <class Context>
int run_through(Context& context)
{
    for (int thrown = 0;; ++thrown) try {
            context.restart();
            context.run();
            return thrown;
        } catch (thrown_by_handler const&) {
        } catch (asio::multiple_exceptions const&) {
        }
}

// Regions that are done, that are in flight and that are started by the handler that throws: all handlers are called.
template <class Context, class Executor>
void throw_from_handlers(Context& context, Executor const& ex, omp_co::device dev)
{
    int calls = 0;
    std::vector<std::vector<int>> sets(12, std::vector<int>(8, 0));
    auto const op = [&](std::size_t i) {
        return omp_co::target(dev, increment, omp_co::range(8), omp_co::tofrom(sets[i]));
    };
    auto const count = [&] { return asio::bind_executor(ex, [&](error_code ec) { calls += !ec; }); };
    for (std::size_t i = 0; i < sets.size(); ++i) {
        if (i % 3 != 0) {
            op(i)(count());
            continue;
        }
        op(i)(asio::bind_executor(ex, [&, i](error_code ec) {
            calls += !ec;
            op(i)(count());
            throw thrown_by_handler("a handler's own");
        }));
    }
    int const thrown = run_through(context);
    BOOST_TEST(thrown >= 1);
    BOOST_TEST(thrown <= 4);
    BOOST_TEST(calls == 16);
    BOOST_TEST(sets[0][7] == 2);
    BOOST_TEST(sets[1][7] == 1);
    op(1)(count());
    BOOST_TEST(run_through(context) == 0);
    BOOST_TEST(calls == 17);
}

BOOST_DATA_TEST_CASE(a_handler_that_throws_leaves_the_loop_usable, data::make(device_kinds), kind)
{
    test_device const dev = kind.make();
    asio::io_context io;
    throw_from_handlers(io, io.get_executor(), dev);
    throw_from_handlers(io, asio::make_strand(io), dev);
    throw_from_handlers(io, asio::any_io_executor(io.get_executor()), dev);
}

BOOST_DATA_TEST_CASE(a_handler_that_throws_leaves_an_offload_context_usable, data::make(device_kinds), kind)
{
    test_device const dev = kind.make();
    omp_co::offload_context own;
    throw_from_handlers(own, own.get_executor(), dev);
    throw_from_handlers(own, asio::make_strand(own), dev);
}

// The others' completions are not known yet when the first handler throws.
// As in Asio, where each handler is called by itself.
BOOST_DATA_TEST_CASE(each_exception_leaves_the_loop_by_itself, data::make({0, 1}), eager)
{
    auto const attempt = [](auto& context) {
        test_device const dev(workers(0));
        auto const strand = asio::make_strand(context);
        constexpr int handlers = 10;
        for (int i = 0; i < handlers; ++i) {
            auto const op = omp_co::target(dev, [] {});
            auto const throws = [](error_code) { throw thrown_by_handler("one"); };
            op(asio::bind_executor(strand, throws));
            op(asio::bind_executor(context.get_executor(), throws));
        }
        int thrown = 0;
        for (bool more = true; more;) {
            try {
                context.restart();
                context.run();
                more = false;
            } catch (thrown_by_handler const&) {
                ++thrown;
            }
        }
        BOOST_TEST(thrown == 2 * handlers);
    };
    asio::io_context io;
    omp_co::offload_context own;
    if (eager != 0)
        attempt(own);
    else
        attempt(io);
}

BOOST_DATA_TEST_CASE(regions_in_flight_survive_an_exception, data::make({0, 1}), eager)
{
    test_device const dev(workers(2));
    auto const attempt = [&](auto& context) {
        gate g;
        std::vector<int> v(8, 0);
        std::vector<int> w(8, 0);
        bool called = false;
        omp_co::target(dev, g.kernel(),
                       omp_co::tofrom(w))(asio::bind_executor(context, [&](error_code ec) { called = !ec; }));
        BOOST_TEST(g.wait_entered(1));
        omp_co::target(dev, increment, omp_co::range(8), omp_co::tofrom(v))(
            asio::bind_executor(context, [](error_code) { throw thrown_by_handler("a handler's own"); }));
        BOOST_CHECK_THROW(context.run(), thrown_by_handler);
        BOOST_TEST(!called);
        g.open();
        context.run();
        BOOST_TEST(called);
    };
    if (eager != 0) {
        omp_co::offload_context own;
        attempt(own);
    } else {
        asio::io_context io;
        attempt(io);
    }
}

// stop() in a handler means what it means in Asio: no other handler runs in that run().
BOOST_DATA_TEST_CASE(stop_in_a_handler_keeps_the_others_for_later, data::make({0, 1}), eager)
{
    test_device const dev(workers(0));
    auto const attempt = [&](auto& context) {
        std::vector<int> v(8, 0);
        int calls = 0;
        for (int i = 0; i < 10; ++i)
            omp_co::target(dev, increment, omp_co::range(8),
                           omp_co::tofrom(v))(asio::bind_executor(context, [&](error_code) {
                ++calls;
                context.stop();
            }));
        for (int i = 1; i <= 10; ++i) {
            context.restart();
            context.run();
            BOOST_TEST(calls == i);
        }
    };
    if (eager != 0) {
        omp_co::offload_context own;
        attempt(own);
    } else {
        asio::io_context io;
        attempt(io);
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace asio_rules_test
