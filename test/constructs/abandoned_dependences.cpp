// SPDX-License-Identifier: BSL-1.0
// Contexts, groups and devices that go while constructs are deferred for them.
#include "support/devices.hpp"
#include "support/gate.hpp"
#include "support/sentinel.hpp"
#include "support/settle.hpp"
#include "support/started.hpp"
#include "support/stepped_device.hpp"

#include <omp_co/omp_co.hpp>

#include <atomic>
#include <boost/asio/bind_executor.hpp>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <thread>
#include <vector>

namespace abandoned_dependences_test {

namespace asio = boost::asio;
using namespace omp_co_test;
using omp_co::depend_in;
using omp_co::depend_inout;
using omp_co::depend_out;
using omp_co::detach;
using omp_co::errc;
using omp_co::error_code;

/// Watches nothing: a test has its own eyes.
struct no_observer final : device_observer {
    void enqueued(stepped_stream&, std::shared_ptr<command_group> const&) override {}
    bool may_run(stepped_stream&, command const&) override { return true; }
    void reported(stepped_stream&, backend::sequence) override {}
    void freeing(stepped_device&, void*, std::size_t) override {}
    void destroyed(stepped_device&) override {}
    void broken(std::string const& rule) override { BOOST_ERROR(rule); }
};

inline asio::awaitable<void> chain(omp_co::device dev, std::vector<int>& v, std::atomic<int>& alive)
{
    sentinel const here(alive);
    std::vector<int> own(8, 0);
    for (;;) {
        co_await omp_co::target(
            dev, [](int* p) { ++*p; }, omp_co::tofrom(own), depend_inout(v));
        co_await omp_co::host_task([p = &own] { ++p->front(); }, depend_inout(v));
    }
}

BOOST_AUTO_TEST_SUITE(abandoned_dependences)

// What nobody will fulfil goes with its context: handlers are destroyed, and who waited on another loop learns of it.
template <class Context>
void destroy_a_context()
{
    test_device const dev(workers(1));
    int x = 0, y = 0;
    journal said;
    std::atomic<int> alive{0};
    std::vector<int> v(8, 0);
    starter s;
    omp_co::external_event event;
    started* behind_task = nullptr;
    started* behind_region = nullptr;
    {
        Context io;
        auto const held = [here = sentinel(alive)](error_code) { BOOST_ERROR("called"); };
        omp_co::host_task(said.note(1), depend_out(x), detach(event))(asio::bind_executor(io, held));
        omp_co::target(dev, said.note(2), depend_inout(x))(asio::bind_executor(io, held));
        omp_co::host_task(said.note(3), depend_inout(x), depend_out(y))(asio::bind_executor(io, held));
        asio::co_spawn(io, chain(dev, v, alive), [](std::exception_ptr) { BOOST_ERROR("called"); });
        behind_task = &s.start(omp_co::target(dev, said.note(4), depend_in(y)));
        behind_region = &s.start(omp_co::host_task(said.note(5), depend_inout(x)));
        for (int i = 0; i < 20; ++i) io.poll_one();
        BOOST_TEST(said.says(1));
        BOOST_TEST(alive == 5);
    }
    BOOST_TEST(alive == 0);
    (void)s.run();
    BOOST_TEST(behind_task->failed_with(errc::predecessor_failed));
    BOOST_TEST(behind_region->failed_with(errc::predecessor_failed));
    BOOST_TEST((said.lines() == std::vector<int>{1}));
    event.fulfill(); // nobody is left to be told
    BOOST_TEST(settle(dev));
    BOOST_TEST(dev.get().statistics().mapped_ranges == 0U);
    // The addresses are free again.
    BOOST_TEST(!s.start(omp_co::target(dev, said.note(6), depend_out(x, y, v))).over());
    (void)s.run();
    BOOST_TEST(said.says(6));
}

BOOST_AUTO_TEST_CASE(an_io_context_goes) { destroy_a_context<asio::io_context>(); }
BOOST_AUTO_TEST_CASE(an_offload_context_goes) { destroy_a_context<omp_co::offload_context>(); }

// Its deferred members end without effect, its accepted ones run to their end.
BOOST_AUTO_TEST_CASE(a_group_goes)
{
    test_device const dev(workers(1));
    int x = 0, y = 0;
    gate g;
    journal said;
    starter s;
    omp_co::external_event event;
    started const& host = s.start(omp_co::taskwait(depend_out(x), detach(event)));
    started* behind = nullptr;
    std::thread opener;
    {
        auto data = std::make_unique<std::vector<int>>(8, 0);
        omp_co::task_group group(s.io.get_executor());
        group.spawn(omp_co::target(dev, said.note_behind(g, 1), depend_out(y)));
        for (int k = 2; k < 5; ++k)
            group.spawn(omp_co::target(
                dev, [j = &said, k](int*) { j->add(k); }, omp_co::tofrom(*data), depend_inout(x)));
        group.spawn(omp_co::host_task(said.note(5), depend_in(x)));
        behind = &s.start(omp_co::target(dev, said.note(7), depend_in(x)));
        BOOST_TEST(g.wait_entered(1));
        opener = std::thread([&] {
            leave_time_to_do_it_wrong();
            g.open();
        });
    }
    BOOST_TEST((said.lines() == std::vector<int>{1}));
    started const& next = s.start(omp_co::target(dev, said.note(6), depend_in(x)));
    opener.join();
    event.fulfill();
    (void)s.run();
    BOOST_TEST(host.well());
    BOOST_TEST(behind->failed_with(errc::predecessor_failed));
    BOOST_TEST(next.well()); // it started when they were gone
    BOOST_TEST((said.lines() == std::vector<int>{1, 6}));
}

BOOST_AUTO_TEST_CASE(a_device_goes_before_a_region_that_is_deferred_for_it)
{
    auto gone = std::make_unique<omp_co::host::virtual_device>(workers(1));
    test_device const other(workers(1));
    int x = 0;
    std::vector<int> v(8, 0);
    journal said;
    starter s;
    omp_co::external_event event;
    s.start(omp_co::taskwait(depend_out(x), detach(event)));
    started const& first = s.start(omp_co::target(
        *gone, [](int* p) { ++*p; }, omp_co::tofrom(v), depend_inout(x)));
    started const& second =
        s.start(omp_co::target(*gone, said.note(2), depend_inout(x, omp_co::even_if_failed)));
    started const& third = s.start(omp_co::target(other, said.note(3), depend_inout(x)));
    started const& fourth =
        s.start(omp_co::target(other, said.note(4), depend_inout(x, omp_co::even_if_failed)));
    gone.reset();
    test_device const another(workers(1)); // in the same place
    event.fulfill();
    (void)s.run();
    BOOST_TEST(first.failed_with(errc::device_lost));
    BOOST_TEST(second.failed_with(errc::device_lost));
    BOOST_TEST(third.failed_with(errc::predecessor_failed));
    BOOST_TEST(fourth.well());
    BOOST_TEST((said.lines() == std::vector<int>{4}));
    BOOST_TEST(v[0] == 0);
}

// The regions on it fail, those that are deferred for it are refused, and what depends on either fails.
BOOST_AUTO_TEST_CASE(a_device_is_lost)
{
    test_device const other(workers(1));
    no_observer nobody;
    auto made = std::make_unique<stepped_device>(stepped_options(), nobody);
    stepped_device& stepped = *made;
    omp_co::detail::registry& all = omp_co::detail::registry::instance();
    omp_co::detail::device_slot& slot = all.add(std::move(made), false);
    omp_co::device const lost(&slot, slot.generation);
    int x = 0, y = 0;
    journal said;
    starter s;
    started const& flying = s.start(omp_co::target(lost, said.note(1), depend_out(x)));
    started const& behind = s.start(omp_co::target(lost, said.note(2), depend_inout(x)));
    started const& elsewhere = s.start(omp_co::target(other, said.note(3), depend_inout(x), depend_out(y)));
    started const& back = s.start(omp_co::target(lost, said.note(4), depend_in(y)));
    started const& back_all_the_same =
        s.start(omp_co::target(lost, said.note(5), depend_in(y, omp_co::even_if_failed)));
    started const& last = s.start(omp_co::host_task(said.note(6), depend_inout(y, omp_co::even_if_failed)));
    BOOST_TEST(!flying.over());
    stepped.lose(make_error_code(errc::device_lost));
    (void)s.run();
    BOOST_TEST(flying.failed_with(errc::device_lost));
    BOOST_TEST(behind.failed_with(errc::device_lost));
    BOOST_TEST(elsewhere.failed_with(errc::predecessor_failed));
    BOOST_TEST(back.failed_with(errc::predecessor_failed));
    BOOST_TEST(back_all_the_same.failed_with(errc::device_lost));
    BOOST_TEST(last.well());
    BOOST_TEST((said.lines() == std::vector<int>{6}));
    all.remove(slot, lost.generation());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace abandoned_dependences_test
