// SPDX-License-Identifier: BSL-1.0
// Device memory as a program's own: allocation, copies that name both sides, association.
#include "support/devices.hpp"
#include "support/gate.hpp"
#include "support/kernels.hpp"
#include "support/outcome.hpp"
#include "support/pending.hpp"

#include <omp_co/omp_co.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace memory_test {

namespace asio = boost::asio;
namespace data = boost::unit_test::data;
using namespace omp_co_test;
using omp_co::errc;
using omp_co::error_code;
using omp_co::range;

using clock_type = std::chrono::steady_clock;

omp_co::device_buffer<int> make(omp_co::device dev, std::size_t n)
{
    return omp_co::sync_wait(omp_co::allocate<int>(dev, n));
}

BOOST_AUTO_TEST_SUITE(device_memory)

BOOST_DATA_TEST_CASE(copies_go_in_within_and_out, data::make(device_kinds), kind)
{
    test_device const dev = kind.make();
    {
        auto a = make(dev, 1'000);
        auto b = make(dev, 1'000);
        BOOST_TEST(bool(a));
        BOOST_TEST(a.size() == 1'000U);
        BOOST_TEST((a.where() == dev.get()));
        std::vector<int> in(1'000);
        std::iota(in.begin(), in.end(), 0);
        BOOST_TEST(!outcome(omp_co::target_memcpy(a, in)));
        BOOST_TEST(!outcome(omp_co::target(
            dev, [](std::size_t i, int* p) { p[i] *= 2; }, range(1'000), omp_co::is_device_ptr(a.get()))));
        BOOST_TEST(!outcome(omp_co::target_memset(b, 0xFF)));
        BOOST_TEST(!outcome(omp_co::target_memcpy(b.section(10, 20), a.section(500, 20))));
        std::vector<int> out(1'000, 7);
        BOOST_TEST(!outcome(omp_co::target_memcpy(out, b)));
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < 1'000; ++i)
            wrong += out[i] != (i >= 10 && i < 30 ? 2 * static_cast<int>(490 + i) : -1);
        BOOST_TEST(wrong == 0U);
        int one = 3;
        BOOST_TEST(!outcome(omp_co::target_memcpy(one, a.section(7, 1))));
        BOOST_TEST(one == 14);
        int* const p = out.data();
        BOOST_TEST(!outcome(omp_co::target_memcpy(omp_co::section(p, 5, 1), a.section(3, 1))));
        BOOST_TEST(out[5] == 6);
    }
    BOOST_TEST(dev.get().statistics().device_bytes == 0U);
    BOOST_TEST(dev.get().statistics().in_flight == 0U);
}

BOOST_AUTO_TEST_CASE(two_devices)
{
    omp_co::host::virtual_device one({.workers = 1});
    omp_co::host::virtual_device two({.workers = 0});
    auto a = make(one, 5'000);
    auto b = make(two, 6'000);
    std::vector<int> x(5'000, 9);
    BOOST_TEST(!outcome(omp_co::target_memcpy(a, x)));
    BOOST_TEST(!outcome(omp_co::target_memcpy(b, a)));
    std::vector<int> y(6'000, 0);
    BOOST_TEST(!outcome(omp_co::target_memcpy(y, b.section(0, 5'000))));
    BOOST_TEST(y[4'999] == 9);
    BOOST_TEST(y[5'000] == 0);
    BOOST_TEST((outcome(omp_co::target_memcpy(a, b)) == errc::invalid_argument));
    asio::io_context io;
    bool done = false;
    omp_co::target_memcpy(b, a)(asio::bind_executor(io, [&](error_code ec) { done = !ec; }));
    BOOST_TEST(!done);
    io.run();
    BOOST_TEST(done);
}

BOOST_DATA_TEST_CASE(blocks_of_different_arrays, data::make(device_kinds), kind)
{
    test_device const owner = kind.make();
    omp_co::device const dev = owner;
    omp_co::host::virtual_device second({.workers = 1});
    std::vector<int> x(8 * 10);
    std::iota(x.begin(), x.end(), 0);
    auto a = make(dev, 6 * 7);
    auto b = make(dev, 30 * 30);
    auto c = make(second, 5 * 9);
    // Three rows of five: from the host to the device, within it, to another one, and back.
    BOOST_TEST(!outcome(omp_co::target_memcpy_rect(
        omp_co::device_box(dev, omp_co::section2d(a.get(), {6, 7}, {1, 2}, {3, 5})),
        omp_co::section2d(x.data(), {8, 10}, {2, 3}, {3, 5}))));
    BOOST_TEST(!outcome(omp_co::target_memcpy_rect(
        omp_co::device_box(dev, omp_co::section2d(b.get(), {30, 30}, {20, 20}, {3, 5})),
        omp_co::device_box(dev, omp_co::section2d(a.get(), {6, 7}, {1, 2}, {3, 5})))));
    BOOST_TEST(!outcome(omp_co::target_memcpy_rect(
        omp_co::device_box(second, omp_co::section2d(c.get(), {5, 9}, {2, 4}, {3, 5})),
        omp_co::device_box(dev, omp_co::section2d(b.get(), {30, 30}, {20, 20}, {3, 5})))));
    std::vector<int> y(4 * 5, -1);
    BOOST_TEST(!outcome(omp_co::target_memcpy_rect(
        omp_co::section2d(y.data(), {4, 5}, {1, 0}, {3, 5}),
        omp_co::device_box(second, omp_co::section2d(c.get(), {5, 9}, {2, 4}, {3, 5})))));
    std::size_t wrong = 0;
    for (int row = 0; row < 4; ++row)
        for (int column = 0; column < 5; ++column)
            wrong += y[static_cast<std::size_t>(row * 5 + column)] !=
                     (row == 0 ? -1 : (row + 1) * 10 + column + 3);
    BOOST_TEST(wrong == 0U);
    BOOST_TEST((outcome(omp_co::target_memcpy_rect(
                    omp_co::device_box(dev, omp_co::section2d(a.get(), {6, 7}, {1, 2}, {3, 4})),
                    omp_co::section2d(x.data(), {8, 10}, {2, 3}, {3, 5}))) == errc::invalid_argument));
    BOOST_TEST((outcome(omp_co::target_memcpy_rect(
                    omp_co::device_box(dev, omp_co::section2d(a.get(), {6, 7}, {4, 2}, {3, 5})),
                    omp_co::section2d(x.data(), {8, 10}, {2, 3}, {3, 5}))) == errc::invalid_argument));
}

BOOST_DATA_TEST_CASE(what_makes_no_sense_is_refused, data::make(device_kinds), kind)
{
    test_device const dev = kind.make();
    auto a = make(dev, 10);
    std::vector<int> ten(10), eleven(11);
    omp_co::device_section<int> const none;
    BOOST_TEST((outcome(omp_co::target_memcpy(a, eleven)) == errc::invalid_argument));
    BOOST_TEST((outcome(omp_co::target_memcpy(ten, omp_co::device_section<int>(dev, a.get(), 11))) ==
                errc::invalid_argument));
    BOOST_TEST((outcome(omp_co::target_memcpy(eleven, omp_co::device_section<int>(dev, a.get(), 11))) ==
                errc::invalid_argument));
    BOOST_TEST((outcome(omp_co::target_memcpy(a.section(5, 6), ten)) == errc::invalid_argument));
    BOOST_TEST((outcome(omp_co::target_memset(a.section(11, 1), 0)) == errc::invalid_argument));
    BOOST_TEST((outcome(omp_co::target_memset(omp_co::device_section<int>(dev, nullptr, 3), 0)) ==
                errc::invalid_argument));
    BOOST_TEST((outcome(omp_co::target_memset(none, 0)) == errc::device_lost));
    BOOST_TEST((outcome(omp_co::target_memcpy(omp_co::device_section<int>({}, a.get(), 10), ten)) ==
                errc::device_lost));
    BOOST_CHECK_THROW((void)omp_co::sync_wait(omp_co::allocate<int>(dev, -1)), boost::system::system_error);
    BOOST_CHECK_THROW((void)omp_co::sync_wait(omp_co::allocate<int>(dev, std::size_t{1} << 62)),
                      boost::system::system_error);
    BOOST_CHECK_THROW((void)omp_co::sync_wait(omp_co::allocate<int>(omp_co::device(), 1)),
                      boost::system::system_error);
    auto nothing = make(dev, 0);
    BOOST_TEST(!nothing);
    BOOST_TEST(!outcome(omp_co::target_memset(nothing, 1)));
    BOOST_TEST(!outcome(omp_co::target_memcpy(a, a.section(0, 0))));
    BOOST_TEST(dev.get().statistics().in_flight == 0U);
}

BOOST_AUTO_TEST_CASE(by_hand)
{
    omp_co::host::virtual_device const owner({.workers = 1});
    omp_co::device const dev = owner;
    void* const p = dev.allocate(100);
    BOOST_TEST(p != nullptr);
    BOOST_TEST(reinterpret_cast<std::uintptr_t>(p) % 64 == 0U);
    BOOST_TEST((dev.deallocate(static_cast<char*>(p) + 1) == errc::invalid_argument));
    int local = 0;
    BOOST_TEST((dev.deallocate(&local) == errc::invalid_argument));
    BOOST_TEST(!dev.deallocate(nullptr));
    BOOST_TEST(!dev.deallocate(p));
    BOOST_TEST((dev.deallocate(p) == errc::invalid_argument));
    BOOST_TEST(dev.allocate(0) == nullptr);
    BOOST_TEST(dev.allocate(std::size_t{1} << 63) == nullptr);
    BOOST_TEST(omp_co::device().allocate(1) == nullptr);
    BOOST_TEST((omp_co::device().deallocate(&local) == errc::device_lost));
    BOOST_TEST(dev.statistics().device_bytes == 0U);
}

// The buffer goes while a kernel still writes it: its memory stays until that has ended.
BOOST_AUTO_TEST_CASE(memory_outlives_the_region_that_uses_it)
{
    omp_co::host::virtual_device dev({.workers = 1});
    omp_co::device const d = dev;
    asio::io_context io;
    gate g;
    bool done = false;
    {
        auto a = make(d, 1'000);
        omp_co::target(d, g.kernel(), omp_co::is_device_ptr(a.get()))(
            asio::bind_executor(io, [&](error_code ec) { done = !ec; }));
    }
    BOOST_TEST(d.statistics().device_bytes >= 4'000U);
    g.open();
    io.run();
    BOOST_TEST(done);
    BOOST_TEST(d.statistics().device_bytes == 0U);
}

BOOST_AUTO_TEST_CASE(a_buffer_may_outlive_its_device)
{
    omp_co::device_buffer<int> a;
    {
        omp_co::host::virtual_device dev({.workers = 1});
        a = make(dev, 100);
    }
    BOOST_TEST(bool(a));
    BOOST_TEST((outcome(omp_co::target_memset(a, 0)) == errc::device_lost));
    a.reset();
    BOOST_TEST(!a);
}

// It does not wait for what a region in flight holds, and takes nothing from regions that wait for memory.
BOOST_AUTO_TEST_CASE(an_allocation_is_answered_while_regions_are_in_flight)
{
    constexpr std::size_t kib = 1024 / sizeof(int);
    test_device const dev(limited(2, 64 << 10));
    std::vector<int> x(48 * kib, 1);
    std::vector<int> y(32 * kib, 1);
    gate g;
    asio::io_context io;
    int well = 0;
    auto count = asio::bind_executor(io, [&](error_code ec) { well += ec ? 0 : 1; });
    std::optional<error_code> too_large;
    omp_co::device_buffer<int> small;
    omp_co::target(dev, g.kernel(), omp_co::tofrom(x))(count);
    BOOST_REQUIRE(g.wait_entered(1));
    omp_co::target(dev, increment, range(y.size()), omp_co::tofrom(y))(count); // waits for memory
    omp_co::allocate<int>(dev, 32 * kib)(asio::bind_executor(
        io, [&](error_code ec, omp_co::device_buffer<int> b) { too_large = b ? error_code() : ec; }));
    omp_co::allocate<int>(dev, 4 * kib)(
        asio::bind_executor(io, [&](error_code, omp_co::device_buffer<int> b) { small = std::move(b); }));
    io.poll();
    BOOST_TEST((too_large && *too_large == errc::out_of_memory));
    BOOST_TEST(small.size() == 4 * kib);
    BOOST_TEST(well == 0);
    g.open();
    io.restart();
    io.run();
    BOOST_TEST(well == 2);
    BOOST_TEST(y[0] == 2);
}

// The copy is behind the kernels that have what it reads, and before those that come later.
BOOST_AUTO_TEST_CASE(a_copy_within_a_device_is_ordered_with_kernels_on_its_source)
{
    test_device const dev(workers(3));
    std::vector<int> v(64, 1);
    auto a = make(dev, 64);
    auto b = make(dev, 64);
    BOOST_TEST(!outcome(omp_co::target_memcpy(a, v)));
    gate g;
    auto const passes_and_writes = [gp = &g](int* p) {
        gp->pass();
        p[0] = 7;
    };
    pending before(omp_co::target(dev, passes_and_writes, omp_co::is_device_ptr(a.get())));
    BOOST_REQUIRE(g.wait_entered(1));
    pending copy(omp_co::target_memcpy(b, a));
    pending after(omp_co::target(
        dev, [](int* p) { p[0] = 9; }, omp_co::is_device_ptr(a.get())));
    BOOST_TEST(copy.stays());
    BOOST_TEST(after.stays());
    g.open();
    BOOST_TEST(before.ends_well());
    BOOST_TEST(copy.ends_well());
    BOOST_TEST(after.ends_well());
    BOOST_TEST(!outcome(omp_co::target_memcpy(v, b)));
    BOOST_TEST(v[0] == 7);
    BOOST_TEST(!outcome(omp_co::target_memcpy(v, a)));
    BOOST_TEST(v[0] == 9);
}

// The region waits for memory, its loop sleeps, and nothing in flight ends.
BOOST_AUTO_TEST_CASE(memory_that_the_program_gives_back_is_offered_at_once)
{
    constexpr std::size_t kib = 1024 / sizeof(int);
    test_device const dev(limited(2, 64 << 10));
    auto held = make(dev, 48 * kib);
    std::vector<int> x(1, 1);
    std::vector<int> y(32 * kib, 1);
    gate g;
    asio::io_context io;
    omp_co::target(dev, g.kernel(), omp_co::tofrom(x))(asio::bind_executor(io, asio::detached));
    BOOST_REQUIRE(g.wait_entered(1));
    clock_type::time_point given{};
    clock_type::time_point ended{};
    omp_co::target(dev, increment, range(y.size()),
                   omp_co::tofrom(y))(asio::bind_executor(io, [&](error_code ec) {
        BOOST_TEST(!ec);
        ended = clock_type::now();
        g.open();
    }));
    std::thread other([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(130)); // between two of the loop's own looks
        given = clock_type::now();
        held.reset();
    });
    io.run();
    other.join();
    BOOST_TEST((ended - given < std::chrono::milliseconds(50)));
}

BOOST_AUTO_TEST_CASE(a_cancelled_allocation_gives_its_memory_back)
{
    test_device const dev(workers(1));
    asio::io_context io;
    asio::cancellation_signal signal;
    std::optional<error_code> result;
    omp_co::allocate<int>(dev, 1000)(asio::bind_cancellation_slot(
        signal.slot(), asio::bind_executor(io, [&](error_code ec, omp_co::device_buffer<int> b) {
            result = ec;
            BOOST_TEST(!b);
        })));
    signal.emit(asio::cancellation_type::terminal);
    io.run();
    BOOST_TEST((result && *result == asio::error::operation_aborted));
    BOOST_TEST(dev.get().statistics().device_bytes == 0U);
    BOOST_TEST(dev.get().statistics().in_flight == 0U);
}

BOOST_AUTO_TEST_CASE(every_token)
{
    omp_co::host::virtual_device dev({.workers = 1});
    auto future = omp_co::allocate<double>(dev, 4)(asio::use_future);
    omp_co::device_buffer<double> a = future.get();
    std::vector<double> x(4, 1.5);
    omp_co::target_memcpy(a, x)(asio::use_future).get();
    asio::io_context io;
    int alive = 0;
    omp_co::allocate<double>(dev, 4)(asio::bind_executor(
        io, [&](error_code ec, omp_co::device_buffer<double> b) { alive += !ec && bool(b); }));
    BOOST_TEST(alive == 0);
    io.run();
    BOOST_TEST(alive == 1);
    auto const run = [&]() -> asio::awaitable<void> {
        auto b = co_await omp_co::allocate<double>(dev, 4);
        co_await omp_co::target_memcpy(b, a);
        co_await omp_co::target_memcpy(x, b);
        ++alive;
    };
    omp_co::sync_wait(run());
    BOOST_TEST(alive == 2);
    BOOST_TEST(x[3] == 1.5);
    a.reset();
    { // never delivered
        asio::io_context gone;
        omp_co::allocate<double>(dev, 4)(
            asio::bind_executor(gone, [&](error_code, omp_co::device_buffer<double>) { ++alive; }));
    }
    BOOST_TEST(alive == 2);
    BOOST_TEST(omp_co::device(dev).statistics().device_bytes == 0U);
}

BOOST_DATA_TEST_CASE(associated_memory_is_mapped_for_ever, data::make(copying_kinds), kind)
{
    test_device const owner = kind.make();
    omp_co::device const dev = owner;
    auto mem = make(dev, 100);
    std::vector<int> x(100, 1);
    BOOST_TEST(!dev.associate(x.data(), mem.get(), 100 * sizeof(int)));
    BOOST_TEST(dev.is_present(x.data() + 99));
    BOOST_TEST(dev.mapped_ptr(x.data() + 5) == mem.get() + 5);
    BOOST_TEST(!dev.associate(x.data(), mem.get(), 100 * sizeof(int))); // the same again
    BOOST_TEST((dev.associate(x.data(), mem.get() + 1, 4) == errc::invalid_argument));
    BOOST_TEST((dev.associate(x.data() + 50, mem.get(), 4) == errc::invalid_argument));
    BOOST_TEST((dev.associate(nullptr, mem.get(), 4) == errc::invalid_argument));
    BOOST_TEST((dev.associate(&mem, nullptr, 4) == errc::invalid_argument));
    BOOST_TEST((dev.associate(&mem, mem.get(), 0) == errc::invalid_argument));
    // An infinite count: nothing is copied, and delete_ does not end it.
    BOOST_TEST(!outcome(omp_co::target_memset(mem, 0)));
    BOOST_TEST(!outcome(omp_co::target(
        dev, [](std::size_t i, int* p) { p[i] += 3; }, range(100), omp_co::tofrom(x))));
    BOOST_TEST(x[0] == 1);
    BOOST_TEST(!outcome(omp_co::target_exit_data(dev, omp_co::delete_(x))));
    BOOST_TEST(dev.is_present(x.data()));
    BOOST_TEST(!outcome(omp_co::target_update(dev, omp_co::from(x))));
    BOOST_TEST(x[99] == 3);
    BOOST_TEST((dev.disassociate(x.data() + 1) == errc::invalid_argument));
    BOOST_TEST(!dev.disassociate(x.data()));
    BOOST_TEST((dev.disassociate(x.data()) == errc::invalid_argument));
    BOOST_TEST(!dev.is_present(x.data()));
    int other = 0;
    BOOST_TEST(!outcome(omp_co::target_enter_data(dev, omp_co::to(other))));
    BOOST_TEST((dev.disassociate(&other) == errc::invalid_argument));
    BOOST_TEST((dev.associate(&other, mem.get(), 4) == errc::invalid_argument));
    BOOST_TEST(!outcome(omp_co::target_exit_data(dev, omp_co::delete_(other))));
    // The memory may go while it is associated, and is given back once.
    BOOST_TEST(!dev.associate(x.data(), mem.get(), 100 * sizeof(int)));
    mem.reset();
    BOOST_TEST(!dev.disassociate(x.data()));
    BOOST_TEST(dev.statistics().device_bytes == 0U);
    BOOST_TEST(dev.statistics().mapped_ranges == 0U);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace memory_test
