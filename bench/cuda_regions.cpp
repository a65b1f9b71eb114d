// What a region on a CUDA device costs its thread, beside a tight loop of the same driver calls; how stages overlap; and
// what a large copy of pageable memory does to the loop.
// SPDX-License-Identifier: BSL-1.0
//
// Use: cuda_regions [--regions N] [cpu] [in_flight] [pipeline] [large_copy]
// Prints JSON lines, of all figures if none is named; exits 1 when a result is wrong, 77 without a CUDA device.
#include "arguments.hpp"
#include "report.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <omp_co/cuda.hpp>
#include <omp_co/omp_co.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace asio = boost::asio;
namespace driver = omp_co::cuda::driver;
using clock_type = std::chrono::steady_clock;

namespace {

constexpr char text[] = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry nothing(.param .u64 p)
{
    ret;
}
)";

omp_co::kernel<void(char*)> const nothing("nothing", omp_co::cuda::image(std::string_view(text)));
constexpr long batch = 200;        // regions in flight
constexpr std::size_t objects = 8; // resident, as many as the raw loop has streams

double thread_seconds()
{
    timespec t{};
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
}

/// The same calls without omp_co, batch by batch on eight streams; seconds of this thread a region.
double raw_loop(long regions)
{
    driver::api const& d = driver::table();
    driver::context_handle context = nullptr;
    driver::module_handle module = nullptr;
    driver::function_handle function = nullptr;
    driver::device_address data = 0;
    driver::device_address words = 0;
    void* host = nullptr;
    bool good = d.primary_ctx_retain(&context, 0) == driver::result::success &&
                d.ctx_push_current(context) == driver::result::success &&
                d.module_load_data_ex(&module, text, 0, nullptr, nullptr) == driver::result::success &&
                d.module_get_function(&function, module, "nothing") == driver::result::success &&
                d.mem_alloc(&data, 4096) == driver::result::success &&
                d.mem_host_alloc(&host, 4096, driver::host_alloc_device_map) == driver::result::success &&
                d.mem_host_get_device_pointer(&words, host, 0) == driver::result::success;
    driver::stream_handle streams[8]{};
    for (auto& s : streams)
        good = good && d.stream_create(&s, driver::stream_non_blocking) == driver::result::success;
    driver::context_handle same = nullptr;
    (void)d.ctx_pop_current(&same);
    if (!good) return -1;
    void* arguments[]{&data};
    std::uint64_t number = 0;
    double spent = 0;
    for (long done = 0; done < regions; done += batch) {
        double const begin = thread_seconds();
        for (long i = 0; i < batch; ++i) {
            driver::stream_handle const s = streams[i % 8];
            (void)d.ctx_push_current(context);
            good = good && d.launch_kernel(function, 1, 1, 1, 1, 1, 1, 0, s, arguments, nullptr) ==
                               driver::result::success;
            good = good && d.stream_write_value_64(s, words + 64 * static_cast<std::uint64_t>(i % 8),
                                                   ++number, 0) == driver::result::success;
            (void)d.ctx_pop_current(&same);
        }
        spent += thread_seconds() - begin;
        (void)d.ctx_push_current(context);
        for (auto& s : streams) good = good && d.stream_synchronize(s) == driver::result::success;
        (void)d.ctx_pop_current(&same);
    }
    (void)d.ctx_push_current(context);
    for (auto& s : streams) (void)d.stream_destroy(s);
    (void)d.mem_free_host(host);
    (void)d.mem_free(data);
    (void)d.module_unload(module);
    (void)d.ctx_pop_current(&same);
    (void)d.primary_ctx_release(0);
    return good ? spent / double(regions) : -1;
}

/// Seconds of this thread a region: initiation, and everything else once the devices are idle.
double omp_co_regions(omp_co::device dev, long regions, long& failed)
{
    std::vector<char> data(objects);
    for (char& x : data) omp_co::sync_wait(omp_co::target_enter_data(dev, omp_co::to(x)));
    double spent = 0;
    {
        omp_co::offload_context loop;
        auto handler = asio::bind_executor(loop, [&](omp_co::error_code ec) { failed += ec ? 1 : 0; });
        for (long done = 0; done < regions; done += batch) {
            double begin = thread_seconds();
            for (long i = 0; i < batch; ++i)
                omp_co::target(dev, nothing, omp_co::tofrom(data[std::size_t(i) % objects]))(handler);
            spent += thread_seconds() - begin;
            std::this_thread::sleep_for(std::chrono::milliseconds(2)); // they end meanwhile
            begin = thread_seconds();
            loop.run();
            loop.restart();
            spent += thread_seconds() - begin;
        }
    }
    for (char& x : data) omp_co::sync_wait(omp_co::target_exit_data(dev, omp_co::release(x)));
    return spent / double(regions);
}

/// How much of its time a loop is busy with 1,000 regions in flight, in percent: of interest if kernels take long.
double loop_share(omp_co::device dev, long& failed)
{
    std::vector<char> data(1000);
    for (char& x : data) omp_co::sync_wait(omp_co::target_enter_data(dev, omp_co::to(x)));
    asio::io_context loop;
    auto handler = asio::bind_executor(loop, [&](omp_co::error_code ec) { failed += ec ? 1 : 0; });
    for (char& x : data) omp_co::target(dev, nothing, omp_co::tofrom(x))(handler);
    double const busy = thread_seconds();
    auto const begin = clock_type::now();
    loop.run();
    double const share =
        (thread_seconds() - busy) / std::chrono::duration<double>(clock_type::now() - begin).count();
    for (char& x : data) omp_co::sync_wait(omp_co::target_exit_data(dev, omp_co::release(x)));
    return 100 * share;
}

/// In, kernel, out for 64 tiles of pinned memory: one after the other, and side by side.
double pipeline_speed_up(omp_co::device dev, long& failed)
{
    constexpr int tiles = 64;
    constexpr std::size_t bytes = std::size_t{256} << 10;
    std::vector<char, omp_co::cuda::pinned_allocator<char>> data(tiles * bytes);
    auto const tile = [&](int i) {
        return omp_co::tofrom(omp_co::section(data.data() + std::size_t(i) * bytes, 0, bytes));
    };
    auto const run = [&](bool overlapped) {
        omp_co::offload_context loop;
        auto const count = [&](omp_co::error_code ec) { failed += ec ? 1 : 0; };
        auto const begin = clock_type::now();
        for (int i = 0; i < tiles; ++i) {
            omp_co::target(dev, nothing, tile(i))(asio::bind_executor(loop, count));
            if (overlapped) continue;
            loop.run();
            loop.restart();
        }
        loop.run();
        return std::chrono::duration<double>(clock_type::now() - begin).count();
    };
    (void)run(true);
    double const apart = run(false);
    return apart / run(true);
}

/// How late a timer of 1 kHz is, in microseconds, while 256 MiB of pageable memory go to the device and back.
double lateness_beside_a_large_copy(omp_co::device dev, long& failed)
{
    std::vector<char> data(std::size_t{256} << 20);
    asio::io_context loop;
    std::vector<double> late;
    bool over = false;
    auto const copy = [&]() -> asio::awaitable<void> {
        co_await omp_co::target(dev, nothing, omp_co::tofrom(data));
        over = true;
    };
    auto const tick = [&]() -> asio::awaitable<void> {
        asio::steady_timer timer(loop);
        while (!over) {
            auto const due = clock_type::now() + std::chrono::milliseconds(1);
            timer.expires_at(due);
            co_await timer.async_wait(asio::use_awaitable);
            late.push_back(std::chrono::duration<double, std::micro>(clock_type::now() - due).count());
        }
    };
    asio::co_spawn(loop, tick(), asio::detached);
    asio::co_spawn(loop, copy(), [&](std::exception_ptr e) {
        failed += e ? 1 : 0;
        over = true;
    });
    loop.run();
    return late.empty() ? -1 : bench::percentile(late, 0.99);
}

// Measured by turns, for the machine's speed changes.
void cpu_of_regions(omp_co::device dev, long regions, long& failed)
{
    (void)omp_co_regions(dev, batch * 5, failed);
    std::vector<double> ours;
    std::vector<double> raw;
    std::vector<double> added;
    constexpr long rounds = 15;
    for (long i = 0; i < rounds; ++i) {
        ours.push_back(omp_co_regions(dev, regions / rounds + batch, failed) * 1e6);
        raw.push_back(raw_loop(regions / rounds + batch) * 1e6);
        failed += raw.back() < 0 ? 1 : 0;
        added.push_back(ours.back() - raw.back());
    }
    bench::print("cuda/raw_loop/cpu", bench::median(raw), "us/region");
    bench::print("cuda/region/cpu", bench::median(ours), "us/region");
    bench::print("cuda/region/added_cpu", bench::median(added), "us/region");
}

} // namespace

int main(int argc, char** argv)
try {
    bench::arguments arguments(argc, argv);
    long const regions = arguments.number("regions", 20'000);
    arguments.refuse_unknown_keys();
    auto const& words = arguments.words();
    for (std::string const& w : words)
        if (w != "cpu" && w != "in_flight" && w != "pipeline" && w != "large_copy")
            throw std::invalid_argument("no figure " + w);
    auto const wanted = [&](char const* figure) {
        return words.empty() || std::find(words.begin(), words.end(), figure) != words.end();
    };
    auto const all = omp_co::cuda::devices();
    if (all.empty()) {
        std::fprintf(stderr, "skipped: %s\n", omp_co::cuda::why_none().c_str());
        return 77;
    }
    omp_co::device const dev = all.front();
    long failed = 0;
    omp_co::sync_wait(nothing.prepare(dev));
    if (wanted("cpu")) cpu_of_regions(dev, regions, failed);
    if (wanted("in_flight")) bench::print("cuda/in_flight/loop_cpu", loop_share(dev, failed), "%");
    if (wanted("pipeline")) bench::print("cuda/pipeline/speed_up", pipeline_speed_up(dev, failed), "x");
    if (wanted("large_copy"))
        bench::print("cuda/large_copy/timer_late_p99", lateness_beside_a_large_copy(dev, failed), "us");
    if (failed != 0) std::fprintf(stderr, "%ld regions failed\n", failed);
    return failed != 0 ? 1 : 0;
} catch (std::exception const& e) {
    std::fprintf(stderr, "cuda_regions: %s\n", e.what());
    return 2;
}
