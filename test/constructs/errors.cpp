// SPDX-License-Identifier: BSL-1.0
// What goes wrong arrives at the await, with words, and what is around it lives on.
#include "support/devices.hpp"
#include "support/gate.hpp"
#include "support/kernels.hpp"
#include "support/outcome.hpp"
#include "support/settle.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace errors_test {

namespace asio = boost::asio;
namespace data = boost::unit_test::data;
using namespace omp_co_test;
using omp_co::error_code;

bool says(omp_co::diagnostics const& d, char const* words)
{
    return d.message().find(words) != std::string::npos;
}

struct not_an_exception {};

BOOST_AUTO_TEST_SUITE(errors)

// Pitfall 12: the process lives, and the workers too.
BOOST_DATA_TEST_CASE(a_kernel_that_throws_ends_its_await_with_its_words, data::make(device_kinds), kind)
{
    test_device const dev = kind.make();
    std::vector<int> v(1000, 1);
    omp_co::diagnostics why;
    auto const throws = [](std::size_t i, int* p) {
        if (i == 777) throw std::runtime_error("index 777 is cursed");
        p[i] = 2;
    };
    auto const op = omp_co::target(dev, throws, omp_co::range(1000), omp_co::tofrom(v), omp_co::name("curse"),
                                   omp_co::explain(why));
    for (int k = 0; k < 3; ++k) {
        BOOST_TEST((outcome(op) == omp_co::errc::kernel_failed));
        BOOST_TEST(says(why, "curse"), why.message());
        BOOST_TEST(says(why, "index 777 is cursed"), why.message());
    }
    if (kind.copies) BOOST_TEST(v[0] == 1);
    auto const odd = [](int*) { throw not_an_exception(); };
    BOOST_TEST((outcome(omp_co::target(dev, odd, omp_co::tofrom(v), omp_co::explain(why))) ==
                omp_co::errc::kernel_failed));
    BOOST_TEST(!why.empty());
    auto const memory = [](int*) { throw std::bad_alloc(); };
    BOOST_TEST((outcome(omp_co::target(dev, memory, omp_co::tofrom(v))) == omp_co::errc::kernel_failed));

    v.assign(1000, 1);
    BOOST_TEST(!outcome(
        omp_co::target(dev, increment, omp_co::range(1000), omp_co::tofrom(v), omp_co::explain(why))));
    BOOST_TEST(v[777] == 2);
    BOOST_TEST(why.empty()); // a success leaves no words behind
    BOOST_TEST(settle(dev));
}

BOOST_DATA_TEST_CASE(a_failed_region_among_others_fails_alone, data::make(device_kinds), kind)
{
    test_device const dev = kind.make();
    asio::io_context io;
    std::vector<std::vector<int>> sets(30, std::vector<int>(8, 0));
    std::vector<error_code> results(30);
    for (std::size_t i = 0; i < sets.size(); ++i)
        omp_co::target(
            dev,
            [bad = i % 3 == 0](std::size_t k, int* p) {
                if (bad && k == 5) throw std::runtime_error("every third");
                p[k] = 1;
            },
            omp_co::range(8), omp_co::tofrom(sets[i]))(
            asio::bind_executor(io, [&results, i](error_code ec) { results[i] = ec; }));
    io.run();
    for (std::size_t i = 0; i < sets.size(); ++i) {
        BOOST_TEST((results[i] == omp_co::errc::kernel_failed) == (i % 3 == 0));
        if (i % 3 != 0) BOOST_TEST(sets[i][7] == 1);
    }
}

// What a failed region was to bring never arrives: whoever was accepted behind it and relies on that fails too.
BOOST_DATA_TEST_CASE(who_relied_on_a_failed_region_fails, data::make({1U, 2U}), n)
{
    test_device const dev(workers(n));
    asio::io_context io;
    gate g;
    std::vector<int> v(8, 1);
    std::vector<int> other(8, 1);
    auto const throws = [p = &g](int*) {
        p->pass();
        throw std::runtime_error("on purpose");
    };
    std::vector<error_code> results(4);
    auto const into = [&](std::size_t i) {
        return asio::bind_executor(io, [&results, i](error_code ec) { results[i] = ec; });
    };
    omp_co::target(dev, throws, omp_co::tofrom(v))(into(0));
    omp_co::target(dev, increment, omp_co::range(8), omp_co::tofrom(other))(into(1));
    BOOST_TEST(g.wait_entered(1));
    g.open();
    io.run();
    BOOST_TEST((results[0] == omp_co::errc::kernel_failed));
    BOOST_TEST(!results[1]);
    BOOST_TEST(v[0] == 1);
    BOOST_TEST(other[0] == 2);
    io.restart();
    omp_co::target(dev, increment, omp_co::range(8), omp_co::tofrom(v))(into(2));
    io.run();
    BOOST_TEST(!results[2]);
    BOOST_TEST(v[0] == 2);
    BOOST_TEST(dev.get().statistics().mapped_ranges == 0U);
    BOOST_TEST(dev.get().statistics().device_bytes == 0U);
}

BOOST_DATA_TEST_CASE(a_plain_await_throws_a_system_error_with_words, data::make(device_kinds), kind)
{
    test_device const dev = kind.make();
    std::vector<int> v(8, 1);
    auto const task = [&]() -> asio::awaitable<error_code> {
        try {
            co_await omp_co::target(dev, increment, omp_co::range(-1), omp_co::tofrom(v));
        } catch (boost::system::system_error const& e) {
            if (std::string(e.what()).find("invalid argument") == std::string::npos) co_return error_code();
            co_return e.code();
        }
        co_return error_code();
    };
    BOOST_TEST((omp_co::sync_wait(task()) == omp_co::errc::invalid_argument));
}

BOOST_DATA_TEST_CASE(arguments_that_make_no_sense_are_refused, data::make(device_kinds), kind)
{
    test_device const dev = kind.make();
    auto const before = dev.get().statistics();
    std::vector<int> v(8, 1);
    int* const nowhere = nullptr;
    bool ran = false;
    auto const one = [r = &ran](std::size_t, int*) { *r = true; };
    auto const two = [r = &ran](std::size_t, std::size_t, int*) { *r = true; };
    auto const three = [r = &ran](std::size_t, std::size_t, std::size_t, int*) { *r = true; };
    auto const scratch = [r = &ran](int*, int*) { *r = true; };
    auto const refused = [](error_code ec) { return ec == omp_co::errc::invalid_argument; };
    omp_co::diagnostics why;
    auto const words = omp_co::explain(why);

    BOOST_TEST(refused(outcome(
        omp_co::target(dev, one, omp_co::range(-1), omp_co::tofrom(v), omp_co::name("minus"), words))));
    BOOST_TEST(says(why, "minus"), why.message());
    BOOST_TEST(refused(outcome(omp_co::target(dev, two, omp_co::range(4, -1), omp_co::tofrom(v)))));
    BOOST_TEST(refused(outcome(omp_co::target(dev, three, omp_co::range(4, 0, -2), omp_co::tofrom(v)))));
    std::int64_t const huge = std::numeric_limits<std::int64_t>::max();
    BOOST_TEST(refused(outcome(omp_co::target(dev, two, omp_co::range(huge, 4), omp_co::tofrom(v)))));
    BOOST_TEST(refused(
        outcome(omp_co::target(dev, one, omp_co::range(8), omp_co::tofrom(omp_co::section(nowhere, 0, 8)),
                               omp_co::name("null"), words))));
    BOOST_TEST(says(why, "null"), why.message());
    BOOST_TEST(
        refused(outcome(omp_co::target_enter_data(dev, omp_co::to(omp_co::section(v.data(), -1, 4))))));
    BOOST_TEST(
        refused(outcome(omp_co::target_enter_data(dev, omp_co::to(omp_co::section(v.data(), 1, -4))))));
    BOOST_TEST(refused(outcome(omp_co::target_enter_data(dev, omp_co::to(omp_co::section(v, 4, 5))))));
    BOOST_TEST(refused(outcome(omp_co::target_update(dev, omp_co::to(omp_co::section(v, 9, 0))))));
    BOOST_TEST(
        refused(outcome(omp_co::target_exit_data(dev, omp_co::delete_(omp_co::section(nowhere, 0, 1))))));
    BOOST_TEST(refused(outcome(omp_co::target(dev, scratch, omp_co::tofrom(v), omp_co::private_<int>(-1)))));
    BOOST_TEST(
        refused(outcome(omp_co::target_enter_data(dev, omp_co::also(omp_co::to(omp_co::section(v, 4, 5)))))));
    BOOST_TEST(!ran);
    auto const after = dev.get().statistics();
    BOOST_TEST(after.mapped_ranges == before.mapped_ranges);
    BOOST_TEST(after.device_bytes == before.device_bytes);
    BOOST_TEST(after.in_flight == 0U);
    BOOST_TEST(v[0] == 1);
}

BOOST_DATA_TEST_CASE(a_handle_whose_device_is_gone_answers_device_lost, data::make({0U, 1U, 2U}), n)
{
    auto owner = std::make_unique<test_device>(workers(n));
    omp_co::device const dev = *owner;
    std::vector<int> v(8, 1);
    auto const op = omp_co::target(dev, increment, omp_co::range(8), omp_co::tofrom(v));
    BOOST_TEST(!outcome(op));
    owner.reset();
    test_device const heir(workers(n)); // may well live at the same place
    omp_co::diagnostics why;
    BOOST_TEST((outcome(op) == omp_co::errc::device_lost));
    BOOST_TEST((outcome(omp_co::target_enter_data(dev, omp_co::to(v), omp_co::name("orphan"),
                                                  omp_co::explain(why))) == omp_co::errc::device_lost));
    BOOST_TEST(says(why, "orphan"), why.message());
    BOOST_TEST((outcome(omp_co::target_exit_data(dev, omp_co::delete_(v))) == omp_co::errc::device_lost));
    BOOST_TEST((outcome(omp_co::target_update(dev, omp_co::to(v))) == omp_co::errc::device_lost));
    BOOST_TEST((outcome(omp_co::target(omp_co::device(), increment, omp_co::range(8), omp_co::tofrom(v))) ==
                omp_co::errc::device_lost));
    auto none = [&]() -> asio::awaitable<void> { co_return; };
    BOOST_CHECK_EXCEPTION(omp_co::sync_wait(omp_co::target_data(dev, omp_co::to(v), none)),
                          boost::system::system_error,
                          [](auto const& e) { return e.code() == omp_co::errc::device_lost; });
    BOOST_TEST(!dev.is_present(v.data()));
    BOOST_TEST(dev.mapped_ptr(v.data()) == nullptr);
    BOOST_TEST(dev.statistics().regions == 0U);
    BOOST_TEST(!dev.name().empty());
    BOOST_TEST(!(dev == heir.get()));
    BOOST_TEST(v[0] == 2);
}

BOOST_AUTO_TEST_CASE(out_of_memory_says_how_much_was_asked)
{
    test_device const dev(limited(1, 4096));
    std::vector<char> big(1 << 20);
    omp_co::diagnostics why;
    BOOST_TEST((outcome(omp_co::target_enter_data(dev, omp_co::to(big), omp_co::explain(why))) ==
                omp_co::errc::out_of_memory));
    BOOST_TEST(says(why, "1048576"), why.message());
    BOOST_TEST(says(why, "4096"), why.message());
}

// Coroutines that know nothing of it go on starting regions on it.
BOOST_AUTO_TEST_CASE(a_device_that_goes_takes_no_new_region)
{
    auto dev = std::make_unique<test_device>(workers(1));
    omp_co::device const handle = *dev;
    asio::thread_pool pool(1);
    std::atomic<int> running{0};
    std::atomic<int> lost{0};
    auto const nap = [] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); };
    constexpr int coroutines = 8;
    for (int i = 0; i < coroutines; ++i)
        asio::co_spawn(
            pool,
            [&]() -> asio::awaitable<void> {
                ++running;
                for (;;) co_await omp_co::target(handle, nap);
            },
            [&](std::exception_ptr e) {
                try {
                    std::rethrow_exception(e);
                } catch (boost::system::system_error const& error) {
                    lost += error.code() == omp_co::errc::device_lost;
                }
            });
    BOOST_TEST(eventually([&] { return running == coroutines; }));
    auto const began = std::chrono::steady_clock::now();
    dev.reset();
    BOOST_TEST((std::chrono::steady_clock::now() - began < std::chrono::seconds(2)));
    pool.join();
    BOOST_TEST(lost == coroutines);
    BOOST_TEST(handle.number() == -1);
}

// Its data has arrived, and nobody has written it.
BOOST_DATA_TEST_CASE(a_reader_does_not_fail_for_another_readers_kernel, data::make({1U, 2U}), n)
{
    test_device const dev(workers(n));
    gate g;
    std::vector<int> v(8, 3);
    int sum = 0;
    auto const throws = [p = &g](int const*) {
        p->pass();
        throw std::runtime_error("a reader's own");
    };
    auto const adds = [](int const* in, int* out) { *out = in[0] + in[7]; };
    auto failed = omp_co::target(dev, throws, omp_co::to(v))(asio::use_future);
    BOOST_TEST(g.wait_entered(1));
    auto good = omp_co::target(dev, adds, omp_co::to(v), omp_co::from(sum))(asio::use_future);
    g.open();
    BOOST_CHECK_THROW(failed.get(), boost::system::system_error);
    BOOST_CHECK_NO_THROW(good.get());
    BOOST_TEST(sum == 6);
    BOOST_TEST(dev.get().statistics().mapped_ranges == 0U);
}

BOOST_AUTO_TEST_CASE(a_device_that_goes_waits_for_its_regions)
{
    asio::io_context io;
    gate g;
    std::vector<int> v(8, 1);
    int good = 0;
    std::thread opener;
    {
        test_device const dev(workers(2));
        for (int i = 0; i < 5; ++i)
            omp_co::target(dev, g.kernel(),
                           omp_co::tofrom(v))(asio::bind_executor(io, [&](error_code ec) { good += !ec; }));
        BOOST_TEST(g.wait_entered(1));
        opener = std::thread([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
            g.open();
        });
    }
    BOOST_TEST(g.left() == 5);
    opener.join();
    io.run();
    BOOST_TEST(good == 5);
    BOOST_TEST(v[0] == 6);
}

BOOST_AUTO_TEST_CASE(a_group_tells_its_first_error_and_waits_for_all)
{
    test_device const dev(workers(1));
    std::vector<int> v(8, 1);
    std::vector<int> w(8, 1);
    auto const good = omp_co::target(dev, increment, omp_co::range(8), omp_co::tofrom(v));
    auto const fails = omp_co::target(
        dev, [](int*) { throw std::runtime_error("x"); }, omp_co::tofrom(w));
    auto const refused = omp_co::target(dev, increment, omp_co::range(-1), omp_co::tofrom(w));
    BOOST_TEST((outcome(omp_co::when_all(good, fails, good)) == omp_co::errc::kernel_failed));
    BOOST_TEST(v[0] == 3);
    BOOST_TEST((outcome(omp_co::when_all(good, refused, good)) == omp_co::errc::invalid_argument));
    BOOST_TEST(v[0] == 5);
    BOOST_TEST(
        (outcome(omp_co::when_all(good, omp_co::when_all(fails), good)) == omp_co::errc::kernel_failed));
    BOOST_TEST(v[0] == 7);

    auto const group_task = [&]() -> asio::awaitable<int> {
        omp_co::task_group group(co_await asio::this_coro::executor);
        auto throws = []() -> asio::awaitable<void> {
            throw std::domain_error("a coroutine's own");
            co_return;
        };
        int told = 0;
        group.spawn(good);
        group.spawn(fails);
        auto [first] = co_await group.wait()(asio::as_tuple(asio::use_awaitable));
        told += first == omp_co::errc::kernel_failed;
        auto [second] = co_await group.wait()(asio::as_tuple(asio::use_awaitable));
        told += !second; // an error is told once
        group.spawn(throws());
        auto [third] = co_await group.wait()(asio::as_tuple(asio::use_awaitable));
        told += third.failed();
        co_return told;
    };
    BOOST_TEST(omp_co::sync_wait(group_task()) == 3);
    BOOST_TEST(v[0] == 8);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace errors_test
