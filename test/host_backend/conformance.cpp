// SPDX-License-Identifier: BSL-1.0
// The host device keeps the promises of backend.hpp, asked directly.
#include "streams_by_hand.hpp"

#include <boost/system/system_error.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <stdexcept>
#include <vector>

// Cases of this group ask for more than there is; a sanitizer must answer like malloc.
extern "C" char const* __asan_default_options();
extern "C" char const* __asan_default_options() { return "allocator_may_return_null=1"; }
extern "C" char const* __tsan_default_options();
extern "C" char const* __tsan_default_options() { return "allocator_may_return_null=1"; }

namespace {

namespace data = boost::unit_test::data;
using namespace by_hand;
using omp_co::errc;
using omp_co::error_code;

auto const any_workers = data::make({0U, 1U, 2U, 3U});
auto const real_workers = data::make({1U, 2U, 3U});

BOOST_AUTO_TEST_SUITE(conformance)

BOOST_DATA_TEST_CASE(commands_of_a_stream_run_in_order, any_workers, n)
{
    machine m(n);
    auto* const s = m.make_stream();
    std::vector<int> order;
    auto const note = [&order](int i) { return [&order, i](auto...) { order.push_back(i); }; };
    call one(note(1));
    call two(note(2));
    call three(note(3));
    BOOST_TEST(!s->launch(one));
    BOOST_TEST(!s->signal(1));
    BOOST_TEST(!s->launch(two));
    BOOST_TEST(!s->launch(three));
    BOOST_TEST(!s->signal(2));
    BOOST_REQUIRE(reaches(*s, 2));
    BOOST_TEST(order == (std::vector{1, 2, 3}), boost::test_tools::per_element());
}

BOOST_DATA_TEST_CASE(many_commands_of_a_stream_run_in_order, any_workers, n)
{
    machine m(n);
    auto* const s = m.make_stream();
    std::uint64_t state = 0;
    call step([&state](auto...) { state = state * 31 + 7; });
    std::uint64_t expected = 0;
    constexpr backend::sequence regions = 5'000;
    for (backend::sequence i = 1; i <= regions; ++i) {
        for (backend::sequence k = 0; k < i % 4; ++k) {
            BOOST_REQUIRE(!s->launch(step));
            expected = expected * 31 + 7;
        }
        BOOST_REQUIRE(!s->signal(i));
    }
    BOOST_REQUIRE(reaches(*s, regions));
    BOOST_TEST(state == expected);
}

BOOST_DATA_TEST_CASE(copies_move_bytes_and_are_ordered_with_kernels, any_workers, n)
{
    machine m(n);
    auto* const s = m.make_stream();
    std::vector<int> in(1'000, 20);
    std::vector<int> out(1'000, 0);
    std::size_t const bytes = in.size() * sizeof(int);
    auto* const a = static_cast<int*>(m.device().allocate(bytes));
    auto* const b = static_cast<int*>(m.device().allocate(bytes));
    call increment([b](auto...) {
        for (int i = 0; i < 1'000; ++i) b[i] += 1;
    });
    BOOST_TEST(!s->copy_in(a, in.data(), bytes));
    BOOST_TEST(!s->copy_within(b, a, bytes));
    BOOST_TEST(!s->launch(increment));
    BOOST_TEST(!s->copy_out(out.data(), b, bytes));
    BOOST_TEST(!s->signal(1));
    BOOST_REQUIRE(reaches(*s, 1));
    BOOST_TEST(std::count(out.begin(), out.end(), 21) == 1'000);
    m.device().deallocate(a, bytes);
    m.device().deallocate(b, bytes);
}

BOOST_DATA_TEST_CASE(completed_tells_only_of_what_is_done, real_workers, n)
{
    machine m(n);
    gate hold;
    auto* const s = m.make_stream();
    call nothing([](auto...) {});
    call stuck([&hold](auto...) { hold.pass(); });
    BOOST_TEST(s->completed().completed == 0U);
    BOOST_TEST(!s->launch(nothing));
    BOOST_TEST(!s->signal(1));
    BOOST_TEST(!s->launch(stuck));
    BOOST_TEST(!s->signal(2));
    BOOST_TEST(!s->launch(nothing));
    BOOST_TEST(!s->signal(3));
    hold.wait_entered(1);
    BOOST_TEST(s->completed().completed == 1U);
    BOOST_TEST(!s->completed().error);
    hold.open();
    BOOST_TEST(reaches(*s, 3));
}

BOOST_DATA_TEST_CASE(a_signal_alone_is_completed, any_workers, n)
{
    machine m(n);
    auto* const s = m.make_stream();
    for (backend::sequence i = 1; i <= 200; ++i) {
        BOOST_REQUIRE(!s->signal(i));
        if (i % 3 == 0) BOOST_REQUIRE(reaches(*s, i));
    }
    BOOST_TEST(reaches(*s, 200));
}

BOOST_DATA_TEST_CASE(a_wait_orders_two_streams, real_workers, n)
{
    machine m(n);
    gate hold;
    auto* const first = m.make_stream();
    auto* const second = m.make_stream();
    int value = 0;
    call write([&](auto...) {
        hold.pass();
        value = 42;
    });
    int seen = 0;
    call read([&](auto...) { seen = value; });
    BOOST_TEST(!first->launch(write));
    BOOST_TEST(!first->signal(1));
    BOOST_TEST(!second->wait(*first, 1));
    BOOST_TEST(!second->launch(read));
    BOOST_TEST(!second->signal(1));
    hold.wait_entered(1);
    BOOST_TEST(second->completed().completed == 0U);
    hold.open();
    BOOST_REQUIRE(reaches(*second, 1));
    BOOST_REQUIRE(reaches(*first, 1));
    BOOST_TEST(seen == 42);
}

// With a single worker a stream that kept it while it waits could never be released.
BOOST_DATA_TEST_CASE(a_waiting_stream_gives_its_worker_away, real_workers, n)
{
    machine m(n);
    std::vector<backend::stream*> waiting;
    auto* const awaited = m.make_stream();
    auto* const other = m.make_stream();
    std::atomic<int> ran{0};
    call count([&](auto...) { ++ran; });
    gate hold;
    call stuck([&hold](auto...) { hold.pass(); });
    for (int i = 0; i < 8; ++i) waiting.push_back(m.make_stream());
    BOOST_TEST(!other->launch(stuck)); // keeps a worker until all others wait, so that the waits are real
    BOOST_TEST(!other->signal(1));
    hold.wait_entered(1);
    gate until;
    call last([&until](auto...) { until.pass(); });
    BOOST_TEST(!awaited->launch(last));
    BOOST_TEST(!awaited->signal(1));
    for (backend::stream* s : waiting) {
        BOOST_TEST(!s->wait(*awaited, 1));
        BOOST_TEST(!s->launch(count));
        BOOST_TEST(!s->signal(1));
    }
    hold.open();
    until.wait_entered(1);
    BOOST_TEST(ran == 0);
    until.open();
    for (backend::stream* s : waiting) BOOST_REQUIRE(reaches(*s, 1));
    BOOST_REQUIRE(reaches(*other, 1));
    BOOST_REQUIRE(reaches(*awaited, 1));
    BOOST_TEST(ran == 8);
}

BOOST_DATA_TEST_CASE(a_wait_for_what_is_done_holds_nothing_up, real_workers, n)
{
    machine m(n);
    auto* const first = m.make_stream();
    auto* const second = m.make_stream();
    BOOST_TEST(!first->signal(1));
    BOOST_REQUIRE(reaches(*first, 1));
    BOOST_TEST(!second->wait(*first, 1));
    BOOST_TEST(!second->signal(1));
    BOOST_TEST(reaches(*second, 1));
}

// Each stream follows the one before it and waits for the one behind it, thousands of times.
BOOST_DATA_TEST_CASE(streams_that_wait_in_a_ring_all_go_on, real_workers, n)
{
    machine m(n);
    constexpr std::size_t count = 5;
    std::vector<backend::stream*> ring;
    for (std::size_t i = 0; i < count; ++i) ring.push_back(m.make_stream());
    std::vector<std::uint64_t> rounds(count);
    std::atomic<int> wrong{0};
    auto const body = [&](std::size_t i) {
        return [&, i](auto...) {
            ++rounds[i];
            if (i > 0 && rounds[i - 1] != rounds[i]) ++wrong;
        };
    };
    std::vector<std::unique_ptr<call<decltype(body(0))>>> calls;
    for (std::size_t i = 0; i < count; ++i)
        calls.push_back(std::make_unique<call<decltype(body(0))>>(body(i)));
    constexpr backend::sequence last = 2'000;
    for (backend::sequence r = 1; r <= last; ++r) {
        for (std::size_t i = 0; i < count; ++i) {
            if (r > 1)
                BOOST_REQUIRE(!ring[i]->wait(*ring[(i + 1) % count], r - 1)); // nobody is a round ahead
            if (i > 0) BOOST_REQUIRE(!ring[i]->wait(*ring[i - 1], r));
            BOOST_REQUIRE(!ring[i]->launch(*calls[i]));
            BOOST_REQUIRE(!ring[i]->signal(r));
        }
    }
    for (backend::stream* s : ring) BOOST_REQUIRE(reaches(*s, last));
    BOOST_TEST(wrong == 0);
    BOOST_TEST(std::count(rounds.begin(), rounds.end(), last) == static_cast<std::ptrdiff_t>(count));
}

BOOST_AUTO_TEST_CASE(an_inline_device_has_no_waits)
{
    machine m(0);
    auto* const first = m.make_stream();
    auto* const second = m.make_stream();
    BOOST_TEST(!m.device().traits().device_waits);
    BOOST_TEST(m.device().traits().inline_execution);
    BOOST_TEST((second->wait(*first, 1) == errc::not_supported));
}

BOOST_DATA_TEST_CASE(after_a_failure_commands_are_skipped_up_to_the_signal, any_workers, n)
{
    machine m(n);
    auto* const s = m.make_stream();
    int out = 0;
    int const source = 5;
    int ran = 0;
    call fails([](auto...) { throw std::runtime_error("on purpose"); });
    call counts([&ran](auto...) { ++ran; });
    BOOST_TEST(!s->launch(fails));
    BOOST_TEST(!s->launch(counts));
    BOOST_TEST(!s->copy_out(&out, &source, sizeof out));
    BOOST_TEST(!s->signal(1));
    BOOST_TEST(!s->launch(counts));
    BOOST_TEST(!s->signal(2));
    BOOST_REQUIRE(reaches(*s, 2));
    BOOST_TEST(ran == 1);
    BOOST_TEST(out == 0);
    BOOST_TEST(!s->completed().error); // the device lives on
    BOOST_TEST(s->completed().failures);
    BOOST_TEST(!s->take_failure(2).error);
    backend::failure const f = s->take_failure(1);
    BOOST_TEST((f.error == errc::kernel_failed));
    BOOST_TEST(f.what.find("on purpose") != std::string::npos);
}

BOOST_DATA_TEST_CASE(a_failure_is_taken_once, any_workers, n)
{
    machine m(n);
    auto* const s = m.make_stream();
    call fails([](auto...) { throw 1; });
    for (backend::sequence i = 1; i <= 20; ++i) {
        if (i % 2 == 0) BOOST_REQUIRE(!s->launch(fails));
        BOOST_REQUIRE(!s->signal(i));
    }
    BOOST_REQUIRE(reaches(*s, 20));
    for (backend::sequence i = 1; i <= 20; ++i) {
        BOOST_TEST((s->take_failure(i).error == errc::kernel_failed) == (i % 2 == 0));
        BOOST_TEST(!s->take_failure(i).error);
    }
}

BOOST_DATA_TEST_CASE(whatever_a_kernel_throws_is_a_failure_and_workers_live_on, any_workers, n)
{
    machine m(n);
    auto* const s = m.make_stream();
    call no_exception([](auto...) { throw 42; });
    call no_memory([](auto...) { throw std::bad_alloc(); });
    call a_code(
        [](auto...) { throw boost::system::system_error(error_code(5, boost::system::generic_category())); });
    int ran = 0;
    call counts([&ran](auto...) { ++ran; });
    BOOST_TEST(!s->launch(no_exception));
    BOOST_TEST(!s->signal(1));
    BOOST_TEST(!s->launch(no_memory));
    BOOST_TEST(!s->signal(2));
    BOOST_TEST(!s->launch(a_code));
    BOOST_TEST(!s->signal(3));
    BOOST_TEST(!s->launch(counts));
    BOOST_TEST(!s->signal(4));
    BOOST_REQUIRE(reaches(*s, 4));
    for (backend::sequence i : {1U, 2U, 3U}) {
        backend::failure const f = s->take_failure(i);
        BOOST_TEST((f.error == errc::kernel_failed));
        BOOST_TEST(!f.what.empty());
    }
    BOOST_TEST(ran == 1);
}

BOOST_DATA_TEST_CASE(a_kernel_of_another_kind_is_refused, any_workers, n)
{
    machine m(n);
    auto* const s = m.make_stream();
    backend::kernel const foreign{omp_co::backend_kind::cuda};
    backend::invocation c;
    c.what = &foreign;
    BOOST_TEST((s->launch(c) == errc::kernel_unavailable));
    c.what = nullptr;
    BOOST_TEST((s->launch(c) == errc::kernel_unavailable));
    BOOST_TEST(!s->signal(1));
    BOOST_TEST(reaches(*s, 1)); // nothing was enqueued, nothing failed
    BOOST_TEST(!s->take_failure(1).error);
}

BOOST_AUTO_TEST_CASE(a_memory_limit_is_kept)
{
    omp_co::host::options o;
    o.workers = 1;
    o.memory = 1'000;
    machine m(o);
    BOOST_TEST(m.device().traits().memory_limit == 1'000U);
    BOOST_TEST(m.device().allocate(1'001) == nullptr);
    void* const a = m.device().allocate(600);
    BOOST_REQUIRE(a != nullptr);
    BOOST_TEST(m.device().allocate(401) == nullptr);
    void* const b = m.device().allocate(400);
    BOOST_REQUIRE(b != nullptr);
    BOOST_TEST(m.device().allocate(1) == nullptr);
    m.device().deallocate(a, 600);
    void* const c = m.device().allocate(600);
    BOOST_REQUIRE(c != nullptr);
    m.device().deallocate(b, 400);
    m.device().deallocate(c, 600);
    BOOST_TEST(m.device().allocate(~std::size_t{0}) == nullptr);
}

BOOST_AUTO_TEST_CASE(what_no_machine_has_is_null)
{
    machine m(1);
    BOOST_TEST(m.device().allocate(std::size_t{1} << 60) == nullptr);
    BOOST_TEST(m.device().allocate(~std::size_t{0}) == nullptr);
    BOOST_TEST(m.device().allocate(~std::size_t{0} - 70) == nullptr);
}

BOOST_AUTO_TEST_CASE(blocks_are_aligned_as_promised)
{
    machine m(1);
    for (std::size_t bytes :
         {std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{1'000}, std::size_t{1} << 16,
          (std::size_t{2} << 20) - 1, std::size_t{2} << 20, (std::size_t{5} << 20) + 1}) {
        void* const p = m.device().allocate(bytes);
        BOOST_REQUIRE(p != nullptr);
        BOOST_TEST(reinterpret_cast<std::uintptr_t>(p) % backend::block_alignment(bytes) == 0U);
        static_cast<char*>(p)[0] = 1;
        static_cast<char*>(p)[bytes - 1] = 1;
        m.device().deallocate(p, bytes);
    }
}

BOOST_AUTO_TEST_CASE(traits_say_what_the_device_is)
{
    omp_co::host::options o;
    o.workers = 3;
    o.unified_memory = true;
    machine m(o);
    BOOST_TEST((m.device().kind() == omp_co::backend_kind::host));
    BOOST_TEST(m.device().traits().concurrency == 3U);
    BOOST_TEST(m.device().traits().device_waits);
    BOOST_TEST(m.device().traits().unified_memory);
    BOOST_TEST(!m.device().traits().inline_execution);
    BOOST_TEST(m.device().name().find('3') != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
