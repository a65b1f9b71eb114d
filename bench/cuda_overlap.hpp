// SPDX-License-Identifier: BSL-1.0
// What goes on beside what on a CUDA device: copies beside kernels, and the loop beside both.
#pragma once
#include "cuda_raw.hpp"
#include "report.hpp"

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <omp_co/cuda.hpp>
#include <omp_co/omp_co.hpp>
#include <vector>

namespace bench {

/// Its second argument: the nanoseconds that it takes.
using work_kernel = omp_co::kernel<void(char*, std::uint64_t)>;

/// How much of its time a loop is busy with 1,000 regions in flight, and the process with it, in percent: of interest if
/// kernels take long.
inline void print_loop_share(omp_co::device dev, work_kernel const& work, std::uint64_t ns, long& failed)
{
    namespace asio = boost::asio;
    std::vector<char> data(1000);
    for (char& x : data) omp_co::sync_wait(omp_co::target_enter_data(dev, omp_co::to(x)));
    asio::io_context loop;
    auto handler = asio::bind_executor(loop, [&](omp_co::error_code ec) { failed += ec ? 1 : 0; });
    for (char& x : data) omp_co::target(dev, work, omp_co::tofrom(x), omp_co::firstprivate(ns))(handler);
    double const busy = thread_seconds();
    double const all = process_seconds();
    double const begin = wall_seconds();
    loop.run();
    double const wall = wall_seconds() - begin;
    print("cuda/in_flight/loop_cpu", 100 * (thread_seconds() - busy) / wall, "%");
    print("cuda/in_flight/process_cpu", 100 * (process_seconds() - all) / wall, "%");
    for (char& x : data) omp_co::sync_wait(omp_co::target_exit_data(dev, omp_co::release(x)));
}

/// In, kernel, out for 64 tiles of pinned memory. Serial is one stream of the driver, which never waits for the host: a
/// serial run of regions has the host's latency in it, and would make the speed-up look larger than what can be had. The
/// ideal comes from the stages' own lengths: kernels of several tiles may run at once, copies of one direction may not.
inline void print_pipeline(omp_co::device dev, cuda_raw& raw, work_kernel const& work, std::size_t bytes,
                           std::uint64_t ns, long& failed)
{
    constexpr int tiles = 64;
    std::vector<char, omp_co::cuda::pinned_allocator<char>> data(tiles * bytes);
    auto const run = [&] {
        omp_co::offload_context loop;
        auto const count = [&](omp_co::error_code ec) { failed += ec ? 1 : 0; };
        double const begin = wall_seconds();
        for (int i = 0; i < tiles; ++i)
            omp_co::target(dev, work,
                           omp_co::tofrom(omp_co::section(data.data() + std::size_t(i) * bytes, 0, bytes)),
                           omp_co::firstprivate(ns))(boost::asio::bind_executor(loop, count));
        loop.run();
        return wall_seconds() - begin;
    };
    (void)run();
    std::vector<double> samples;
    for (int again = 0; again < 5; ++again) samples.push_back(run());
    double const overlapped = median(samples);
    cuda_raw::stages const t = raw.pipeline(tiles, bytes, static_cast<std::int64_t>(ns));
    double const one = t.in + t.kernel + t.out;
    double const ideal = tiles * one / (one + (tiles - 1) * std::max(t.in, t.out));
    print("cuda/pipeline/in", t.in * 1e6, "us/tile");
    print("cuda/pipeline/kernel", t.kernel * 1e6, "us/tile");
    print("cuda/pipeline/out", t.out * 1e6, "us/tile");
    print("cuda/pipeline/serial", t.serial * 1e3, "ms");
    print("cuda/pipeline/overlapped", overlapped * 1e3, "ms");
    print("cuda/pipeline/ideal", ideal, "x");
    print("cuda/pipeline/speed_up", t.serial / overlapped, "x");
}

/// How late a timer of 1 kHz is, in microseconds, while 256 MiB of pageable memory go to the device and back.
inline void print_lateness_beside_a_large_copy(omp_co::device dev, work_kernel const& work, long& failed)
{
    namespace asio = boost::asio;
    using clock = std::chrono::steady_clock;
    std::vector<char> data(std::size_t{256} << 20);
    asio::io_context loop;
    std::vector<double> late;
    bool over = false;
    auto const copy = [&]() -> asio::awaitable<void> {
        co_await omp_co::target(dev, work, omp_co::tofrom(data), omp_co::firstprivate(std::uint64_t{0}));
        over = true;
    };
    auto const tick = [&]() -> asio::awaitable<void> {
        asio::steady_timer timer(loop);
        while (!over) {
            auto const due = clock::now() + std::chrono::milliseconds(1);
            timer.expires_at(due);
            co_await timer.async_wait(asio::use_awaitable);
            late.push_back(std::chrono::duration<double, std::micro>(clock::now() - due).count());
        }
    };
    asio::co_spawn(loop, tick(), asio::detached);
    asio::co_spawn(loop, copy(), [&](std::exception_ptr e) {
        failed += e ? 1 : 0;
        over = true;
    });
    double const begin = wall_seconds();
    loop.run();
    print("cuda/large_copy/time", (wall_seconds() - begin) * 1e3, "ms");
    print("cuda/large_copy/timer_late_p99", percentile(late, 0.99), "us");
    print("cuda/large_copy/timer_late_max", percentile(late, 1), "us");
}

} // namespace bench
