// SPDX-License-Identifier: BSL-1.0
// Copies from one device to another: in the order of both, whoever waits for whom.
#include "support/devices.hpp"
#include "support/gate.hpp"
#include "support/outcome.hpp"
#include "support/sanitizers.hpp"

#include <omp_co/omp_co.hpp>

#include <algorithm>
#include <atomic>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace between_devices_test {

namespace asio = boost::asio;
namespace data = boost::unit_test::data;
using namespace omp_co_test;
using omp_co::errc;
using omp_co::error_code;

omp_co::device_buffer<int> make(omp_co::device dev, std::size_t n)
{
    return omp_co::sync_wait(omp_co::allocate<int>(dev, n));
}

auto const double_it = [](int* p) { p[0] *= 2; };
auto const add_hundred = [](int* p) { p[0] += 100; };

BOOST_AUTO_TEST_SUITE(between_devices)

// Nothing is awaited in between: what comes before the copy on either device comes before it, and so with what comes behind.
BOOST_AUTO_TEST_CASE(a_copy_has_its_place_on_both_devices)
{
    omp_co::host::virtual_device one({.workers = 2});
    omp_co::host::virtual_device two({.workers = 2});
    auto a = make(one, 1);
    auto b = make(two, 1);
    std::vector<int> x{7};
    std::vector<int> y{0};
    std::vector<int> z{0};
    BOOST_TEST(!outcome(omp_co::target_memcpy(a, x)));
    BOOST_TEST(!outcome(omp_co::target_memset(b, 0)));
    gate reader;
    gate writer;
    asio::io_context io;
    std::size_t failed = 0;
    auto handler = asio::bind_executor(io, [&](error_code ec) { failed += ec ? 1 : 0; });
    omp_co::target(one, writer.kernel(), omp_co::is_device_ptr(a.get()))(handler); // 8
    omp_co::target(two, reader.kernel(), omp_co::is_device_ptr(b.get()))(handler); // 1, overwritten
    omp_co::target_memcpy(b, a)(handler);                                          // 8
    omp_co::target(one, double_it, omp_co::is_device_ptr(a.get()))(handler);       // 16, too late
    omp_co::target(two, add_hundred, omp_co::is_device_ptr(b.get()))(handler);     // 108
    omp_co::target_memcpy(y, b)(handler);
    omp_co::target_memcpy(z, a)(handler);
    BOOST_TEST(writer.wait_entered(1));
    BOOST_TEST(reader.wait_entered(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(5)); // time to do it wrong
    BOOST_TEST(one.get().statistics().in_flight >= 3U);
    reader.open();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    writer.open();
    io.run();
    BOOST_TEST(failed == 0U);
    BOOST_TEST(y[0] == 108);
    BOOST_TEST(z[0] == 16);
    BOOST_TEST(one.get().statistics().in_flight == 0U);
    BOOST_TEST(two.get().statistics().in_flight == 0U);
}

// Both have their memory on the host.
BOOST_DATA_TEST_CASE(a_copy_between_devices_on_the_host_is_one_motion, data::make({0U, 1U}), workers)
{
    omp_co::host::virtual_device one({.workers = workers});
    omp_co::host::virtual_device two({.workers = 1});
    std::vector<int> x(1000, 3);
    auto a = make(one, x.size());
    auto b = make(two, x.size());
    BOOST_TEST(!outcome(omp_co::target_memcpy(a, x)));
    BOOST_TEST(!outcome(omp_co::target_memcpy(b, a)));
    BOOST_TEST(!outcome(omp_co::target_memset(a, 0)));
    x.assign(x.size(), 0);
    BOOST_TEST(!outcome(omp_co::target_memcpy(x, b)));
    BOOST_TEST(std::count(x.begin(), x.end(), 3) == 1000);
    BOOST_TEST(one.get().statistics().copies_out == 0U);
    BOOST_TEST(two.get().statistics().copies_in == 1U);
}

// A ring of copies in both directions from two threads: each waits on one device for what the other waits for on the other
// one, unless both devices have them in the same order.
BOOST_DATA_TEST_CASE(opposite_copies_do_not_wait_for_one_another, data::make({0U, 1U}), workers)
{
    omp_co::host::virtual_device one({.workers = workers});
    omp_co::host::virtual_device two({.workers = 1});
    auto a = make(one, 64);
    auto b = make(two, 64);
    BOOST_TEST(!outcome(omp_co::target_memset(a, 1)));
    BOOST_TEST(!outcome(omp_co::target_memset(b, 1)));
    int const each = rounds(500);
    std::atomic<int> good{0};
    auto const copy = [&](int t) {
        asio::io_context io;
        auto handler = asio::bind_executor(io, [&](error_code ec) { good += !ec; });
        for (int i = 0; i < each; ++i) {
            if (t == 0)
                omp_co::target_memcpy(b, a)(handler);
            else
                omp_co::target_memcpy(a, b)(handler);
            if (i % 16 == 0) io.poll();
        }
        io.restart(); // poll() may have found nothing in flight
        io.run();
    };
    std::thread other(copy, 1);
    copy(0);
    other.join();
    BOOST_TEST(good == 2 * each);
    std::vector<int> x(64, 0);
    BOOST_TEST(!outcome(omp_co::target_memcpy(x, a)));
    BOOST_TEST(x[63] == 0x01010101);
}

// More at once than a device may have streams.
BOOST_AUTO_TEST_CASE(many_copies_at_once)
{
    omp_co::host::virtual_device one({.workers = 0});
    omp_co::host::virtual_device two({.workers = 1});
    std::vector<std::pair<omp_co::device_buffer<int>, omp_co::device_buffer<int>>> pairs;
    asio::io_context io;
    std::size_t well = 0;
    auto handler = asio::bind_executor(io, [&](error_code ec) { well += !ec; });
    gate g;
    auto first = make(two, 1);
    omp_co::target(two, g.kernel(), omp_co::is_device_ptr(first.get()))(handler);
    BOOST_TEST(g.wait_entered(1));
    for (int i = 0; i < 300; ++i) {
        pairs.emplace_back(make(one, 16), make(two, 16));
        omp_co::target_memset(pairs.back().first, i % 100)(handler);
        omp_co::target_memcpy(pairs.back().second, pairs.back().first)(handler);
        omp_co::target_memcpy(pairs.back().first, pairs.back().second)(handler);
    }
    g.open();
    io.run();
    BOOST_TEST(well == 901U);
    std::vector<int> x(16, 0);
    BOOST_TEST(!outcome(omp_co::target_memcpy(x, pairs[299].first)));
    BOOST_TEST(x[0] == 99 * 0x01010101);
}

// The buffers, the operation and the loop are gone before the copy has begun.
BOOST_AUTO_TEST_CASE(an_abandoned_copy_ends_by_itself)
{
    omp_co::host::virtual_device one({.workers = 1});
    omp_co::host::virtual_device two({.workers = 1});
    gate g;
    std::thread opener;
    bool called = false;
    {
        auto a = make(one, 1000);
        auto b = make(two, 1000);
        asio::io_context io;
        omp_co::target(one, g.kernel(),
                       omp_co::is_device_ptr(a.get()))(asio::bind_executor(io, [](error_code) {}));
        omp_co::target_memcpy(b, a)(asio::bind_executor(io, [&](error_code) { called = true; }));
        BOOST_TEST(g.wait_entered(1));
        opener = std::thread([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
            g.open();
        });
    }
    opener.join();
    BOOST_TEST(!called);
    BOOST_TEST(one.get().statistics().device_bytes == 0U);
    BOOST_TEST(two.get().statistics().device_bytes == 0U);
    BOOST_TEST(two.get().statistics().in_flight == 0U);
}

BOOST_AUTO_TEST_CASE(a_copy_that_one_device_refuses_leaves_the_other_free)
{
    omp_co::host::virtual_device one({.workers = 1});
    auto two = std::make_unique<omp_co::host::virtual_device>(omp_co::host::options{});
    auto a = make(one, 10);
    auto b = make(*two, 10);
    // More than was allocated, which only the device can know.
    omp_co::device_section<int> const too_much(one, a.get(), 11);
    omp_co::device_section<int> const also_too_much(*two, b.get(), 11);
    BOOST_TEST((outcome(omp_co::target_memcpy(also_too_much, too_much)) == errc::invalid_argument));
    BOOST_TEST(!outcome(omp_co::target_memcpy(b, a)));
    omp_co::device_section<int> const gone(*two, b.get(), 10);
    b.reset();
    two.reset();
    BOOST_TEST((outcome(omp_co::target_memcpy(gone, a)) == errc::device_lost));
    BOOST_TEST((outcome(omp_co::target_memcpy(a, gone)) == errc::device_lost));
    BOOST_TEST(!outcome(omp_co::target_memset(a, 0)));
    BOOST_TEST(one.get().statistics().in_flight == 0U);
}

/// A device that is short of memory, even once its only region in flight has ended, and one that is not.
struct scarce_and_ample {
    scarce_and_ample() { BOOST_TEST(!outcome(omp_co::target_enter_data(scarce, omp_co::to(small)))); }
    ~scarce_and_ample() { BOOST_TEST(!outcome(omp_co::target_exit_data(scarce, omp_co::release(small)))); }

    /// From here on nothing ends on the first device before the gate opens.
    void occupy()
    {
        omp_co::target(scarce, g.kernel(),
                       omp_co::is_device_ptr(first.get()))(asio::bind_executor(io, [](error_code) {}));
        BOOST_TEST(g.wait_entered(1));
    }
    auto into(error_code& result)
    {
        return asio::bind_executor(io, [&result](error_code ec) { result = ec; });
    }
    void run()
    {
        g.open();
        io.run();
    }

    omp_co::host::virtual_device scarce{limited(1, 65536)};
    omp_co::host::virtual_device ample{workers(1)};
    omp_co::device_buffer<int> first = make(scarce, 1);
    std::vector<char> big = std::vector<char>(60000); ///< does not fit beside the small one
    std::vector<char> small = std::vector<char>(16384);
    asio::io_context io;
    gate g;
};

// Who waits for memory that nothing will give back is told so, though a copy waits for it in turn.
BOOST_FIXTURE_TEST_CASE(a_parked_copy_is_no_hope_for_memory, scarce_and_ample)
{
    auto a = make(ample, 16);
    auto b = make(scarce, 16);
    BOOST_TEST(!outcome(omp_co::target_memset(a, 1)));
    error_code waited;
    error_code copied;
    occupy();
    auto const k = [](char*, int* p) { *p = 1; };
    omp_co::target(scarce, k, omp_co::tofrom(big), omp_co::is_device_ptr(b.get()))(into(waited));
    omp_co::target_memcpy(b, a)(into(copied));
    run();
    BOOST_TEST((waited == errc::out_of_memory), waited.message());
    BOOST_TEST(!copied, copied.message());
}

// The same where the device that is short of memory is the copy's source: what waits there for memory is what the other side waits for.
BOOST_FIXTURE_TEST_CASE(a_copy_that_waits_elsewhere_is_no_hope_for_memory, scarce_and_ample)
{
    auto a = make(scarce, 16);
    auto b = make(ample, 16);
    BOOST_TEST(!outcome(omp_co::target_memset(a, 1)));
    error_code waited;
    error_code behind;
    error_code copied;
    occupy();
    omp_co::target(
        scarce, [](char*) {}, omp_co::tofrom(big))(into(waited));
    omp_co::target(
        ample, [](char const*, int* p) { *p = 1; }, omp_co::to(big),
        omp_co::is_device_ptr(b.get()))(into(behind));
    omp_co::target_memcpy(b, a)(into(copied));
    run();
    BOOST_TEST((waited == errc::out_of_memory), waited.message());
    BOOST_TEST(!behind, behind.message());
    BOOST_TEST(!copied, copied.message());
}

BOOST_AUTO_TEST_CASE(the_end_of_a_group_waits_for_a_copy)
{
    omp_co::host::virtual_device one({.workers = 1});
    omp_co::host::virtual_device two({.workers = 1});
    auto a = make(one, 16);
    auto b = make(two, 16);
    gate g;
    asio::io_context io;
    omp_co::target(two, g.kernel(),
                   omp_co::is_device_ptr(b.get()))(asio::bind_executor(io, [](error_code) {}));
    BOOST_TEST(g.wait_entered(1));
    std::thread opener([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        g.open();
    });
    {
        omp_co::task_group group(io.get_executor());
        group.spawn(omp_co::target_memcpy(b, a));
        io.poll();
    }
    BOOST_TEST(one.get().statistics().in_flight == 0U);
    opener.join();
    io.restart();
    io.run();
}

BOOST_DATA_TEST_CASE(a_device_that_goes_ends_its_copies_first, data::make({true, false}), source_goes)
{
    auto one = std::make_unique<omp_co::host::virtual_device>(omp_co::host::options{.workers = 1});
    auto two = std::make_unique<omp_co::host::virtual_device>(omp_co::host::options{.workers = 1});
    auto a = make(*one, 1);
    auto b = make(*two, 1);
    BOOST_TEST(!outcome(omp_co::target_memset(a, 1)));
    gate g;
    asio::io_context io;
    std::optional<error_code> copied;
    omp_co::target(*two, g.kernel(),
                   omp_co::is_device_ptr(b.get()))(asio::bind_executor(io, [](error_code) {}));
    BOOST_TEST(g.wait_entered(1));
    omp_co::target_memcpy(b, a)(asio::bind_executor(io, [&](error_code ec) { copied = ec; }));
    std::thread goer([&] { (source_goes ? one : two).reset(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(20)); // until it waits
    g.open();
    goer.join();
    io.run();
    BOOST_REQUIRE(copied.has_value());
    BOOST_TEST(!*copied, copied->message());
}

// R on one device copies in what Q on the other copies out, Q uses the source of a copy and R its destination: the copy must
// not find Q behind it and R before it.
BOOST_AUTO_TEST_CASE(a_copy_takes_both_places_at_once)
{
    omp_co::host::virtual_device one({.workers = 1});
    omp_co::host::virtual_device two({.workers = 1});
    auto a = make(one, 1);
    auto b = make(two, 1);
    BOOST_TEST(!outcome(omp_co::target_memset(a, 0)));
    BOOST_TEST(!outcome(omp_co::target_memset(b, 0)));
    std::vector<int> x(1, 0);
    std::atomic<int> done{0};
    std::atomic<int> turn{0};
    int const each = rounds(3'000);
    auto const use = [](int* p, int* q) { *p = *q & 7; };
    auto const follow = [](int const* p, int* q) { *q = *p; };
    auto const work = [&](int t) {
        asio::io_context io;
        auto handler = asio::bind_executor(io, [&](error_code ec) { done += !ec; });
        for (int i = 0; i < each; ++i) {
            ++turn;
            while (turn < 2 * (i + 1)) std::this_thread::yield();
            if (t == 0) {
                omp_co::target_memcpy(a, b)(handler);
            } else {
                omp_co::target(two, use, omp_co::tofrom(x), omp_co::is_device_ptr(b.get()))(handler);
                omp_co::target(one, follow, omp_co::to(x), omp_co::is_device_ptr(a.get()))(handler);
            }
            io.restart();
            io.run();
        }
    };
    std::thread other(work, 1);
    work(0);
    other.join();
    BOOST_TEST(done == 3 * each);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace between_devices_test
