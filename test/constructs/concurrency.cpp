// SPDX-License-Identifier: BSL-1.0
// Regions side by side: on one scalar, on one array, on two devices, and with too little memory for all.
#include "support/devices.hpp"
#include "support/findings.hpp"
#include "support/gate.hpp"
#include "support/kernels.hpp"
#include "support/sanitizers.hpp"
#include "support/settle.hpp"

#include <atomic>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <future>
#include <memory>
#include <thread>
#include <vector>

namespace concurrency_test {

namespace asio = boost::asio;
namespace data = boost::unit_test::data;
using namespace omp_co_test;
using omp_co::error_code;

// Runs `f(thread number)` on some threads, each with a loop of its own.
template <class F>
void on_threads(int n, F f)
{
    std::vector<std::thread> all;
    for (int i = 0; i < n; ++i) all.emplace_back([&f, i] { f(i); });
    for (std::thread& t : all) t.join();
}

void check_empty(omp_co::device dev)
{
    BOOST_TEST(settle(dev));
    BOOST_TEST(dev.statistics().mapped_ranges == 0U);
    BOOST_TEST(dev.statistics().device_bytes == 0U);
    BOOST_TEST(dev.statistics().in_flight == 0U);
}

BOOST_AUTO_TEST_SUITE(concurrency)

// Pitfall 23: each maps it for itself.
BOOST_DATA_TEST_CASE(many_threads_map_one_scalar, data::make(copying_kinds), kind)
{
    test_device const dev = kind.make();
    findings f;
    int sum = 0;
    int const each = rounds(400);
    on_threads(4, [&](int) {
        asio::io_context io;
        for (int task = 0; task < 2; ++task)
            asio::co_spawn(
                io,
                [&]() -> asio::awaitable<void> {
                    for (int k = 0; k < each; ++k)
                        co_await omp_co::target(dev, add_atomically, omp_co::tofrom(sum));
                },
                [&](std::exception_ptr e) { f.check(!e, "no error"); });
        io.run();
    });
    BOOST_TEST(sum == 8 * each);
    check_empty(dev);
}

// Pitfall 23: all have it mapped at the same time; the last one copies it back.
BOOST_DATA_TEST_CASE(the_last_of_many_data_regions_copies_back, data::make(copying_kinds), kind)
{
    test_device const dev = kind.make();
    findings f;
    int sum = 0;
    int const each = rounds(100);
    std::atomic<int> inside{0};
    on_threads(4, [&](int) {
        asio::io_context io;
        auto body = [&]() -> asio::awaitable<void> {
            ++inside;
            while (inside < 8) {
                std::this_thread::yield();
                co_await asio::post(io, asio::use_awaitable);
            }
            for (int k = 0; k < each; ++k) co_await omp_co::target(dev, add_atomically, omp_co::tofrom(sum));
        };
        for (int task = 0; task < 2; ++task)
            asio::co_spawn(io, omp_co::target_data(dev, omp_co::tofrom(sum), body),
                           [&](std::exception_ptr e) { f.check(!e, "no error"); });
        io.run();
    });
    BOOST_TEST(sum == 8 * each);
    BOOST_TEST(dev.get().statistics().copies_in == 1U);
    BOOST_TEST(dev.get().statistics().copies_out == 1U);
    check_empty(dev);
}

// Pitfall 24.
BOOST_DATA_TEST_CASE(two_threads_start_regions_on_the_same_data_without_waiting, data::make(copying_kinds),
                     kind)
{
    test_device const dev = kind.make();
    int const each = rounds(1000);
    std::vector<int> v(64, 0);
    std::vector<int> w(64, 0);
    std::atomic<int> good{0};
    auto const both = [](int* p, int* q) {
        std::atomic_ref<int>(p[0]).fetch_add(1);
        std::atomic_ref<int>(q[63]).fetch_add(1);
    };
    on_threads(2, [&](int t) {
        asio::io_context io;
        for (int k = 0; k < each; ++k) {
            auto const count = [&] { return asio::bind_executor(io, [&](error_code ec) { good += !ec; }); };
            if (t == 0)
                omp_co::target(dev, both, omp_co::tofrom(v), omp_co::tofrom(w))(count());
            else
                omp_co::target(dev, both, omp_co::tofrom(v), omp_co::tofrom(w),
                               omp_co::also(omp_co::to(v)))(count());
            if (k % 16 == 0) io.poll();
        }
        io.restart(); // poll() may have found nothing in flight
        io.run();
    });
    BOOST_TEST(good == 2 * each);
    BOOST_TEST(v[0] == 2 * each);
    BOOST_TEST(w[63] == 2 * each);
    auto const s = dev.get().statistics();
    BOOST_TEST(s.regions == static_cast<std::uint64_t>(2 * each));
    BOOST_TEST(s.copies_in <= static_cast<std::uint64_t>(4 * each)); // none twice
    BOOST_TEST(s.copies_out <= static_cast<std::uint64_t>(4 * each));
    check_empty(dev);
}

// Sixteen readers of one array, four workers: four of them meet inside their kernels, four times over.
BOOST_AUTO_TEST_CASE(readers_of_one_array_run_side_by_side)
{
    test_device const dev(workers(4));
    std::vector<int> v(64, 5);
    std::vector<int> sums(16, 0);
    omp_co::sync_wait(omp_co::target_enter_data(dev, omp_co::to(v)));
    static std::atomic<int> arrived;
    static std::atomic<bool> alone;
    static std::atomic<bool> all_placed; // before one has ended, or they are not spread evenly
    arrived = 0;
    all_placed = false;
    alone = false;
    auto const meet = [](int const* in, int* out) {
        if (!eventually([] { return all_placed.load(); })) alone = true;
        int const me = arrived.fetch_add(1);
        int const all = (me / 4 + 1) * 4;
        if (!eventually([&] { return arrived.load() >= all; })) alone = true;
        *out = in[0] + in[63];
    };
    std::vector<std::future<void>> pending;
    for (int& sum : sums)
        pending.push_back(omp_co::target(dev, meet, omp_co::to(v), omp_co::from(sum))(asio::use_future));
    all_placed = true;
    for (auto& each : pending) each.get();
    BOOST_TEST(!alone);
    for (int sum : sums) BOOST_TEST(sum == 10);
    omp_co::sync_wait(omp_co::target_exit_data(dev, omp_co::delete_(v)));
    check_empty(dev);
}

// Disjoint tiles of one resident array: kernels are not ordered by the table.
BOOST_AUTO_TEST_CASE(writers_of_disjoint_tiles_run_side_by_side)
{
    test_device const dev(workers(4));
    std::vector<int> v(64, 0);
    omp_co::sync_wait(omp_co::target_enter_data(dev, omp_co::to(v)));
    static std::atomic<int> arrived;
    static std::atomic<bool> alone;
    arrived = 0;
    alone = false;
    auto const write = [](int* p) {
        ++arrived;
        if (!eventually([&] { return arrived.load() >= 4; })) alone = true;
        p[0] = 1;
    };
    std::vector<std::future<void>> pending;
    for (int tile = 0; tile < 4; ++tile)
        pending.push_back(
            omp_co::target(dev, write, omp_co::alloc(omp_co::section(v, tile * 16, 16)))(asio::use_future));
    for (auto& each : pending) each.get();
    BOOST_TEST(!alone);
    omp_co::sync_wait(omp_co::target_exit_data(dev, omp_co::from(v)));
    BOOST_TEST(v[0] + v[16] + v[32] + v[48] == 4);
    check_empty(dev);
}

// Before a copy in, copies out of the same host memory that are under way on another device count.
BOOST_DATA_TEST_CASE(a_copy_in_waits_for_another_devices_copy_out,
                     data::make(copying_kinds) * data::make(copying_kinds), first_kind, second_kind)
{
    test_device const first = first_kind.make();
    test_device const second = second_kind.make();
    std::vector<int> v(1 << 12, 1);
    for (int k = 0; k < 5; ++k) {
        gate g;
        if (!first_kind.asynchronous) g.open();
        asio::io_context io;
        int good = 0;
        auto const count = [&] { return asio::bind_executor(io, [&](error_code ec) { good += !ec; }); };
        omp_co::target(first, g.kernel(), omp_co::tofrom(v))(count());
        omp_co::target(second, increment, omp_co::range(8), omp_co::tofrom(v))(count());
        std::thread opener([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(5)); // time to do it wrong
            g.open();
        });
        io.run();
        opener.join();
        BOOST_TEST(good == 2);
        BOOST_TEST(v[0] == 1 + 2 * (k + 1));
        BOOST_TEST(v[7] == 1 + (k + 1));
    }
    check_empty(first);
    check_empty(second);
}

// There and back: what the first device has is on its way out, and stale once the second one has been there.
BOOST_DATA_TEST_CASE(data_that_another_device_changes_meanwhile_is_copied_in_again, data::make({1U, 2U}), n)
{
    test_device const first(workers(n));
    test_device const second(workers(n));
    gate g;
    std::vector<int> v(1 << 12, 1);
    std::vector<std::future<void>> pending;
    pending.push_back(omp_co::target(first, g.kernel(), omp_co::tofrom(v))(asio::use_future));
    pending.push_back(
        omp_co::target(second, increment, omp_co::range(8), omp_co::tofrom(v))(asio::use_future));
    pending.push_back(
        omp_co::target(first, increment, omp_co::range(8), omp_co::tofrom(v))(asio::use_future));
    g.open();
    for (auto& each : pending) each.get();
    BOOST_TEST(v[0] == 4);
    BOOST_TEST(v[7] == 3);
    check_empty(first);
    check_empty(second);
}

// And a part of it, of data that stays: an update, and the end of a longer mapping.
BOOST_AUTO_TEST_CASE(updates_of_two_devices_keep_their_order)
{
    test_device const first(workers(1));
    test_device const second(workers(1));
    std::vector<int> v(100, 1);
    gate g;
    omp_co::sync_wait(omp_co::target_enter_data(first, omp_co::to(v)));
    omp_co::sync_wait(omp_co::target_enter_data(second, omp_co::to(v)));
    std::vector<std::future<void>> pending;
    auto const start = [&](auto const& op) { pending.push_back(op(asio::use_future)); };
    start(omp_co::target(first, g.kernel(), omp_co::alloc(v)));
    start(omp_co::target_update(first, omp_co::from(v)));
    start(omp_co::target_update(second, omp_co::to(omp_co::section(v, 0, 10))));
    start(omp_co::target(second, increment, omp_co::range(10), omp_co::alloc(v)));
    start(omp_co::target_exit_data(second, omp_co::from(v)));
    start(omp_co::target_update(first, omp_co::to(v)));
    start(omp_co::target_exit_data(first, omp_co::from(v)));
    g.open();
    for (auto& each : pending) each.get();
    BOOST_TEST(v[0] == 3);
    BOOST_TEST(v[9] == 2);
    check_empty(first);
    check_empty(second);
}

// More than the device can hold at once: the rest waits its turn.
BOOST_DATA_TEST_CASE(regions_wait_for_memory_that_others_give_back, data::make({0U, 1U, 2U}), n)
{
    constexpr std::size_t mib = std::size_t{1} << 20;
    test_device const dev(limited(n, 8 * mib));
    constexpr std::size_t regions = 200;
    // Distinct pages of address space, most of them never touched but at their ends.
    std::vector<std::unique_ptr<char[]>> blocks;
    for (std::size_t i = 0; i < regions; ++i) blocks.push_back(std::make_unique<char[]>(mib));
    asio::io_context io;
    int good = 0;
    int bad = 0;
    for (auto& block : blocks)
        omp_co::target(
            dev,
            [](char* p) {
                p[0] += 1;
                p[mib - 1] += 2;
            },
            omp_co::tofrom(omp_co::section(block.get(), 0, mib)))(
            asio::bind_executor(io, [&](error_code ec) { ++(ec ? bad : good); }));
    BOOST_TEST(dev.get().statistics().device_bytes <= 8 * mib);
    // A small one behind them is not refused either.
    std::vector<int> small(8, 1);
    omp_co::target(dev, increment, omp_co::range(8), omp_co::tofrom(small))(
        asio::bind_executor(io, [&](error_code ec) { ++(ec ? bad : good); }));
    io.run();
    BOOST_TEST(good == static_cast<int>(regions) + 1);
    BOOST_TEST(bad == 0);
    int wrong = 0;
    for (auto const& block : blocks) wrong += block[0] != 1 || block[mib - 1] != 2;
    BOOST_TEST(wrong == 0);
    BOOST_TEST(small[7] == 2);
    check_empty(dev);
}

BOOST_DATA_TEST_CASE(too_large_for_the_device_is_out_of_memory_at_any_time, data::make({0U, 1U, 2U}), n)
{
    constexpr std::size_t kib = 1024;
    test_device const dev(limited(n, 64 * kib));
    std::vector<char> resident(16 * kib, 1);
    std::vector<char> large(128 * kib, 1);
    std::vector<char> other(8 * kib, 1);
    omp_co::sync_wait(omp_co::target_enter_data(dev, omp_co::to(resident)));
    auto const before = dev.get().statistics();
    auto const failed = [&] {
        try {
            omp_co::sync_wait(omp_co::target_enter_data(dev, omp_co::to(other), omp_co::to(large)));
        } catch (boost::system::system_error const& e) {
            return e.code() == omp_co::errc::out_of_memory;
        }
        return false;
    };
    BOOST_TEST(failed());

    // With others in flight it is parked until nothing is left to give any back.
    gate g;
    if (n == 0) g.open();
    asio::io_context io;
    std::vector<error_code> results(3);
    auto const into = [&](std::size_t i) {
        return asio::bind_executor(io, [&results, i](error_code ec) { results[i] = ec; });
    };
    omp_co::target(dev, g.kernel(), omp_co::alloc(resident))(into(0));
    omp_co::target_enter_data(dev, omp_co::to(other), omp_co::to(large))(into(1));
    omp_co::target(
        dev, [](char* p) { p[0] += 1; }, omp_co::alloc(resident))(into(2));
    g.open();
    io.run();
    BOOST_TEST(!results[0]);
    BOOST_TEST((results[1] == omp_co::errc::out_of_memory));
    BOOST_TEST(!results[2]);
    auto const after = dev.get().statistics();
    BOOST_TEST(after.mapped_ranges == before.mapped_ranges);
    BOOST_TEST(after.device_bytes == before.device_bytes);
    BOOST_TEST(!dev.get().is_present(other.data()));
    omp_co::sync_wait(omp_co::target_enter_data(dev, omp_co::to(other)));
    omp_co::sync_wait(omp_co::target_exit_data(dev, omp_co::delete_(other), omp_co::from(resident)));
    BOOST_TEST(resident[0] == 3);
    check_empty(dev);
}

// Pitfall 18: one stuck stream holds nobody back.
BOOST_AUTO_TEST_CASE(a_long_region_does_not_hold_back_others)
{
    test_device const dev(workers(2));
    gate g;
    std::vector<int> v(8, 0);
    std::vector<int> w(8, 0);
    auto held = omp_co::target(dev, g.kernel(), omp_co::tofrom(v))(asio::use_future);
    BOOST_TEST(g.wait_entered(1));
    int const each = rounds(200);
    for (int k = 0; k < each; ++k)
        omp_co::sync_wait(omp_co::target(dev, increment, omp_co::range(8), omp_co::tofrom(w)));
    BOOST_TEST(g.left() == 0);
    BOOST_TEST(w[7] == each);
    g.open();
    held.get();
    BOOST_TEST(v[0] == 1);
    check_empty(dev);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace concurrency_test
