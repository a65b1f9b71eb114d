// SPDX-License-Identifier: BSL-1.0
// Regions are resumed when they end and timers keep their pace, whatever else is in flight.
#include "measure.hpp"

#include <boost/mpl/list.hpp>
#include <boost/test/unit_test.hpp>

#include <thread>
#include <vector>

namespace punctual_test {

using namespace measure;
using contexts = boost::mpl::list<asio::io_context, omp_co::offload_context>;

/// How late each of `n` regions of 5 ms on one stream was resumed.
template <class Context>
std::vector<clock::duration> resume_latencies(int n)
{
    omp_co::host::virtual_device device({.workers = 1});
    Context context;
    std::vector<clock::time_point> ended(static_cast<std::size_t>(n));
    std::vector<clock::duration> late;
    for (auto& end : ended) {
        auto const kernel = [stamp = &end] {
            std::this_thread::sleep_for(5ms);
            *stamp = clock::now();
        };
        omp_co::target(device, kernel)(asio::bind_executor(context.get_executor(), [&](error_code ec) {
            BOOST_TEST(!ec);
            late.push_back(clock::now() - end);
        }));
    }
    context.run();
    return late;
}

BOOST_AUTO_TEST_SUITE(punctual)

BOOST_AUTO_TEST_CASE_TEMPLATE(a_hundred_regions_of_5_ms_are_each_resumed_when_they_end, Context, contexts)
{
    for (int attempt = 0;; ++attempt) {
        std::vector<clock::duration> const late = resume_latencies<Context>(100);
        BOOST_REQUIRE(late.size() == 100U);
        auto const median = quantile(late, 0.5);
        auto const most = quantile(late, 0.9);
        if (attempt == 0 && (median > 1ms || most > 2ms)) continue; // the machine may have been busy
        BOOST_TEST_INFO("p50 " << median / 1us << " us, p90 " << most / 1us << " us");
        BOOST_TEST((median <= 1ms));
        BOOST_TEST_INFO("p50 " << median / 1us << " us, p90 " << most / 1us << " us");
        BOOST_TEST((most <= 2ms));
        return;
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_1_khz_timer_keeps_pace_under_a_long_kernel, Context, contexts)
{
    constexpr auto length = sanitized ? 700ms : 2'000ms;
    for (int attempt = 0;; ++attempt) {
        omp_co::host::virtual_device device({.workers = 1});
        Context context;
        metronome clock_in_loop(context, 1ms);
        clock_in_loop.start();
        omp_co::target(device, [length] { std::this_thread::sleep_for(length); })(
            asio::bind_executor(context.get_executor(), [&](error_code ec) {
                BOOST_TEST(!ec);
                clock_in_loop.stop();
            }));
        context.run();
        auto const& late = clock_in_loop.lateness();
        auto const beats = static_cast<double>(late.size()) / static_cast<double>(length / 1ms);
        auto const median = quantile(late, 0.5);
        if (attempt == 0 && (beats < 0.7 || median > 1ms)) continue;
        BOOST_TEST(beats >= 0.7);
        BOOST_TEST_INFO("p50 " << median / 1us << " us");
        BOOST_TEST((median <= 1ms));
        return;
    }
}

// The copies are the workers' business.
BOOST_AUTO_TEST_CASE_TEMPLATE(a_timer_keeps_pace_while_256_mib_go_there_and_back, Context, contexts)
{
    constexpr std::size_t bytes = (sanitized ? std::size_t{32} : std::size_t{256}) << 20;
    constexpr int slack = sanitized ? 20 : 1; // a sanitizer notes every byte of a block when it is allocated
    std::vector<char> data(bytes, 1);
    for (int attempt = 0;; ++attempt) {
        omp_co::host::virtual_device device({.workers = 1});
        Context context;
        metronome clock_in_loop(context, 1ms);
        clock_in_loop.start();
        clock::duration start_took{};
        asio::post(context, [&] {
            auto const kernel = [](char* p) { p[0] = static_cast<char>(p[0] + 1); };
            auto const began = clock::now();
            omp_co::target(device, kernel, omp_co::tofrom(data))(
                asio::bind_executor(context.get_executor(), [&](error_code ec) {
                    BOOST_TEST(!ec);
                    clock_in_loop.stop();
                }));
            start_took = clock::now() - began;
        });
        context.run();
        BOOST_TEST(data[0] == 2 + attempt);
        auto const& late = clock_in_loop.lateness();
        BOOST_REQUIRE(!late.empty());
        auto const median = quantile(late, 0.5);
        auto const worst = quantile(late, 1.0);
        if (attempt == 0 && (median > slack * 1ms || worst > slack * 25ms || start_took > slack * 10ms)) continue;
        BOOST_TEST_INFO("p50 " << median / 1us << " us, worst " << worst / 1us << " us, start " << start_took / 1us);
        BOOST_TEST((median <= slack * 1ms));
        BOOST_TEST((worst <= slack * 25ms));
        BOOST_TEST((start_took <= slack * 10ms));
        return;
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(short_regions_do_not_starve_a_timer, Context, contexts)
{
    omp_co::host::virtual_device device({.workers = 0});
    Context context;
    asio::steady_timer timer(context, 20ms);
    bool over = false;
    timer.async_wait([&](error_code) { over = true; });
    long regions = 0;
    struct again {
        omp_co::device device;
        asio::io_context::executor_type executor;
        bool* over;
        long* regions;

        void operator()(error_code)
        {
            if (*over) return;
            ++*regions;
            omp_co::target(device, [] {})(asio::bind_executor(executor, *this));
        }
    };
    for (int i = 0; i < 8; ++i) again{device, context.get_executor(), &over, &regions}({});
    BOOST_TEST(runs_out(context));
    BOOST_TEST(over);
    BOOST_TEST(regions > 8);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace punctual_test
