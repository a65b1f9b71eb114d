// SPDX-License-Identifier: BSL-1.0
// Loops over a range run every index exactly once, however they are split over the workers.
#include "streams_by_hand.hpp"

#include <omp_co/omp_co.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <vector>

namespace {

namespace data = boost::unit_test::data;
using omp_co::errc;
using omp_co::host::virtual_device;

auto const any_workers = data::xrange(0U, 9U);

/// Slow enough a step that other workers get their part.
void take_time(std::size_t i)
{
    if (i % 16 != 0) return;
    for (auto const end = std::chrono::steady_clock::now() + std::chrono::nanoseconds(400);
         std::chrono::steady_clock::now() < end;) {}
}

bool all_once(std::vector<unsigned char> const& hits)
{
    return std::count(hits.begin(), hits.end(), 1) == static_cast<std::ptrdiff_t>(hits.size());
}

BOOST_AUTO_TEST_SUITE(splitting)

BOOST_DATA_TEST_CASE(every_index_once_in_one_dimension, any_workers, workers)
{
    virtual_device device({.workers = workers});
    for (std::size_t n : {0U, 1U, 2U, 3U, 7U, 8U, 9U, 31U, 64U, 65U, 1'000U, 4'097U, 30'011U}) {
        BOOST_TEST_CONTEXT("indices: " << n)
        {
            std::vector<unsigned char> hits(n);
            auto const kernel = [](std::size_t i, unsigned char* h) {
                take_time(i);
                ++h[i];
            };
            omp_co::sync_wait(omp_co::target(device, kernel, omp_co::range(n), omp_co::tofrom(hits)));
            BOOST_TEST(all_once(hits));
        }
    }
}

BOOST_DATA_TEST_CASE(every_index_once_in_two_dimensions, any_workers, workers)
{
    virtual_device device({.workers = workers});
    struct shape {
        int x, y;
    };
    for (shape const s : {shape{1, 1}, shape{1, 1'000}, shape{1'000, 1}, shape{3, 5}, shape{17, 13}, shape{101, 97},
                          shape{0, 7}, shape{7, 0}, shape{2, 5'001}}) {
        BOOST_TEST_CONTEXT("indices: " << s.x << " x " << s.y)
        {
            std::vector<unsigned char> hits(static_cast<std::size_t>(s.x * s.y));
            auto const kernel = [s](int x, int y, unsigned char* h) {
                if (x < 0 || x >= s.x || y < 0 || y >= s.y) throw std::out_of_range("an index");
                take_time(static_cast<std::size_t>(x));
                ++h[y * s.x + x];
            };
            omp_co::sync_wait(omp_co::target(device, kernel, omp_co::range(s.x, s.y), omp_co::tofrom(hits)));
            BOOST_TEST(all_once(hits));
        }
    }
}

BOOST_DATA_TEST_CASE(every_index_once_in_three_dimensions, any_workers, workers)
{
    virtual_device device({.workers = workers});
    struct shape {
        int x, y, z;
    };
    for (shape const s : {shape{1, 1, 1}, shape{3, 5, 7}, shape{1, 1, 999}, shape{1, 999, 1}, shape{999, 1, 1},
                          shape{31, 1, 33}, shape{19, 23, 17}, shape{5, 0, 5}}) {
        BOOST_TEST_CONTEXT("indices: " << s.x << " x " << s.y << " x " << s.z)
        {
            std::vector<unsigned char> hits(static_cast<std::size_t>(s.x * s.y * s.z));
            auto const kernel = [s](int x, int y, int z, unsigned char* h) {
                if (x < 0 || x >= s.x || y < 0 || y >= s.y || z < 0 || z >= s.z) throw std::out_of_range("an index");
                take_time(static_cast<std::size_t>(x));
                ++h[(z * s.y + y) * s.x + x];
            };
            omp_co::sync_wait(omp_co::target(device, kernel, omp_co::range(s.x, s.y, s.z), omp_co::tofrom(hits)));
            BOOST_TEST(all_once(hits));
        }
    }
}

BOOST_DATA_TEST_CASE(a_kernel_that_throws_in_one_piece_fails_the_region_and_not_the_next, any_workers, workers)
{
    virtual_device device({.workers = workers});
    constexpr std::size_t n = 20'000;
    for (std::size_t bad : {std::size_t{0}, std::size_t{1}, n / 3, n / 2, n - 1}) {
        BOOST_TEST_CONTEXT("throws at " << bad)
        {
            std::vector<unsigned char> hits(n);
            auto const throws = [bad](std::size_t i, unsigned char* h) {
                take_time(i);
                if (i == bad) throw std::runtime_error("this index");
                h[i] = 1;
            };
            omp_co::diagnostics why;
            BOOST_CHECK_EXCEPTION(omp_co::sync_wait(omp_co::target(device, throws, omp_co::range(n),
                                                                   omp_co::tofrom(hits), omp_co::explain(why))),
                                  boost::system::system_error,
                                  [](auto const& e) { return e.code() == errc::kernel_failed; });
            BOOST_TEST(why.message().find("this index") != std::string::npos);
            BOOST_TEST(std::count(hits.begin(), hits.end(), 0) == static_cast<std::ptrdiff_t>(n)); // not copied back

            auto const works = [](std::size_t i, unsigned char* h) {
                take_time(i);
                ++h[i];
            };
            omp_co::sync_wait(omp_co::target(device, works, omp_co::range(n), omp_co::tofrom(hits)));
            BOOST_TEST(all_once(hits));
        }
    }
}

BOOST_DATA_TEST_CASE(a_kernel_that_throws_in_every_piece_fails_once, any_workers, workers)
{
    virtual_device device({.workers = workers});
    auto const throws = [](std::size_t i) {
        take_time(i);
        if (i > 500) throw 1;
    };
    for (int i = 0; i < 20; ++i)
        BOOST_CHECK_EXCEPTION(omp_co::sync_wait(omp_co::target(device, throws, omp_co::range(20'000))),
                              boost::system::system_error, [](auto const& e) { return e.code() == errc::kernel_failed; });
    BOOST_TEST(omp_co::device(device).statistics().in_flight == 0U);
    BOOST_TEST(omp_co::device(device).statistics().regions == 20U);
}

// What is a loop on the outside is shared, whichever stream it is on.
BOOST_AUTO_TEST_CASE(a_long_loop_is_shared_among_workers)
{
    virtual_device device({.workers = 2});
    std::atomic<int> present{0};
    std::atomic<bool> met{false};
    auto const kernel = [&](std::size_t) {
        // The first index waits until another worker is here, too.
        if (++present >= 2) met = true;
        auto const end = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
        while (!met && std::chrono::steady_clock::now() < end) std::this_thread::yield();
        --present;
    };
    omp_co::sync_wait(omp_co::target(device, kernel, omp_co::range(1'000)));
    BOOST_TEST(met);
}

BOOST_DATA_TEST_CASE(loops_on_several_streams_at_once_stay_apart, data::make({1U, 2U, 4U}), workers)
{
    virtual_device device({.workers = workers});
    omp_co::offload_context context;
    std::vector<std::vector<unsigned char>> hits(24, std::vector<unsigned char>(5'003));
    int done = 0;
    auto const kernel = [](std::size_t i, unsigned char* h) {
        take_time(i);
        ++h[i];
    };
    for (auto& h : hits)
        omp_co::target(device, kernel, omp_co::range(h.size()), omp_co::tofrom(h))(boost::asio::bind_executor(
            context.get_executor(), [&](omp_co::error_code ec) { done += ec ? 0 : 1; }));
    context.run();
    BOOST_TEST(done == 24);
    for (auto const& h : hits) BOOST_TEST(all_once(h));
}

// However long its workers would look for more to do.
BOOST_AUTO_TEST_CASE(a_device_that_goes_does_not_wait_for_idle_workers)
{
    auto const begin = std::chrono::steady_clock::now();
    {
        omp_co::host::virtual_device const dev({.workers = 2, .spin = std::chrono::minutes(1)});
        omp_co::sync_wait(omp_co::target(dev.get(), [] {}));
    }
    BOOST_TEST((std::chrono::steady_clock::now() - begin < std::chrono::seconds(30)));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(private_memory)

bool aligned(void const* p, std::size_t to) { return reinterpret_cast<std::uintptr_t>(p) % to == 0; }

BOOST_DATA_TEST_CASE(is_aligned_for_anything, any_workers, workers)
{
    virtual_device device({.workers = workers});
    std::atomic<int> wrong{0};
    for (std::size_t n : {1U, 3U, 16U, 1'001U, 100'000U}) {
        auto const kernel = [&wrong, n](std::size_t i, char* bytes, double* numbers, int* more) {
            take_time(i);
            if (!aligned(bytes, 64) || !aligned(numbers, 64) || !aligned(more, 64)) ++wrong;
            std::fill(bytes, bytes + n, 'a');
            std::fill(numbers, numbers + n, 1.0);
            std::fill(more, more + n, 3);
            if (std::count(bytes, bytes + n, 'a') != static_cast<std::ptrdiff_t>(n)) ++wrong;
            if (std::count(numbers, numbers + n, 1.0) != static_cast<std::ptrdiff_t>(n)) ++wrong;
        };
        omp_co::sync_wait(omp_co::target(device, kernel, omp_co::range(n > 1'000 ? 4 : 600), omp_co::private_<char>(n),
                                         omp_co::private_<double>(n), omp_co::private_<int>(n)));
    }
    BOOST_TEST(wrong == 0);
}

// What one worker writes no other one sees, although many run the same kernel.
BOOST_DATA_TEST_CASE(belongs_to_one_worker, any_workers, workers)
{
    virtual_device device({.workers = workers});
    std::atomic<int> wrong{0};
    auto const kernel = [&wrong](std::size_t i, std::size_t* mine) {
        std::fill(mine, mine + 32, i);
        take_time(16 * i);
        if (std::count(mine, mine + 32, i) != 32) ++wrong;
    };
    omp_co::sync_wait(omp_co::target(device, kernel, omp_co::range(20'000), omp_co::private_<std::size_t>(32)));
    BOOST_TEST(wrong == 0);
}

BOOST_DATA_TEST_CASE(of_no_elements_is_fine, data::make({0U, 1U}), workers)
{
    virtual_device device({.workers = workers});
    int ran = 0;
    omp_co::sync_wait(omp_co::target(
        device, [](int*, int* r) { ++*r; }, omp_co::private_<int>(0), omp_co::tofrom(ran)));
    BOOST_TEST(ran == 1);
}

BOOST_DATA_TEST_CASE(that_nobody_has_fails_the_region, data::make({0U, 1U, 2U}), workers)
{
    virtual_device device({.workers = workers});
    omp_co::diagnostics why;
    std::size_t const too_much = std::size_t{1} << 46;
    BOOST_CHECK_EXCEPTION(
        omp_co::sync_wait(omp_co::target(device, [](char* p) { p[0] = 1; }, omp_co::private_<char>(too_much),
                                         omp_co::explain(why))),
        boost::system::system_error,
        [](auto const& e) { return e.code() == errc::kernel_failed || e.code() == errc::out_of_memory; });
    BOOST_TEST(!why.empty());
    int ran = 0;
    omp_co::sync_wait(omp_co::target(
        device, [](int*, int* r) { ++*r; }, omp_co::private_<int>(10), omp_co::tofrom(ran)));
    BOOST_TEST(ran == 1);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
