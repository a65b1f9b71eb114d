// What a region on a CUDA device costs its thread, beside a tight loop of the same driver calls; how soon it is resumed;
// how stages overlap; and what a large copy of pageable memory does to the loop.
// SPDX-License-Identifier: BSL-1.0
//
// Use: cuda_regions [--regions N] [--kernel-us N] [--tile-kib N] [cpu] [rate] [resume] [in_flight] [pipeline] [large_copy]
// Prints JSON lines, of all figures if none is named; exits 1 when a result is wrong, 77 without a CUDA device.
//
// --kernel-us is how long the kernels of resume, in_flight and pipeline take by the device's clock. Without it they end at
// once, or when the simulator's model says so.
#include "arguments.hpp"
#include "cuda_overlap.hpp"
#include "cuda_raw.hpp"
#include "report.hpp"

#include <algorithm>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <omp_co/cuda.hpp>
#include <omp_co/omp_co.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace asio = boost::asio;
using namespace bench;

namespace {

omp_co::cuda::image const image{std::string_view(cuda_kernels)};
omp_co::kernel<void(char*)> const nothing("nothing", image);
work_kernel const work("work", image);

constexpr long batch = 200;                 // regions in flight
constexpr std::chrono::milliseconds nap{2}; // meanwhile a batch ends
constexpr std::size_t objects = 8;          // resident, as many as the raw loop has streams

class resident {
public:
    explicit resident(omp_co::device dev) : dev_(dev)
    {
        for (char& x : data_) omp_co::sync_wait(omp_co::target_enter_data(dev_, omp_co::to(x)));
    }
    resident(resident const&) = delete;
    resident& operator=(resident const&) = delete;
    ~resident()
    {
        for (char& x : data_) omp_co::sync_wait(omp_co::target_exit_data(dev_, omp_co::release(x)));
    }
    char& operator[](long i) { return data_[std::size_t(i) % objects]; }

private:
    omp_co::device dev_;
    std::vector<char> data_ = std::vector<char>(objects);
};

/// Appends this thread's seconds a region for each batch: initiation, and everything else once the device is idle.
void omp_co_regions(omp_co::device dev, long regions, std::vector<double>& cpu, long& failed)
{
    resident data(dev);
    omp_co::offload_context loop;
    auto handler = asio::bind_executor(loop, [&](omp_co::error_code ec) { failed += ec ? 1 : 0; });
    for (long done = 0; done < regions; done += batch) {
        double begin = thread_seconds();
        for (long i = 0; i < batch; ++i) omp_co::target(dev, nothing, omp_co::tofrom(data[i]))(handler);
        double spent = thread_seconds() - begin;
        std::this_thread::sleep_for(nap);
        begin = thread_seconds();
        loop.run();
        loop.restart();
        spent += thread_seconds() - begin;
        cpu.push_back(spent / double(batch));
    }
}

// Measured by turns, for the machine's speed changes, and both nap, for caches grow cold. The median is that of the turns'
// differences; the 99th percentile is of omp_co's batches over the usual one of the raw loop, whose own bad ones do not count.
void print_cpu(omp_co::device dev, cuda_raw& raw, long regions, long& failed)
{
    constexpr long rounds = 15;
    std::vector<double> ours;
    std::vector<double> theirs;
    std::vector<double> differences;
    omp_co_regions(dev, batch * 5, ours, failed);
    ours.clear();
    for (long i = 0; i < rounds; ++i) {
        std::vector<double> mine;
        std::vector<double> other;
        omp_co_regions(dev, regions / rounds + batch, mine, failed);
        (void)raw.loop(regions / rounds + batch, batch, other, nap);
        differences.push_back(median(mine) - median(other));
        ours.insert(ours.end(), mine.begin(), mine.end());
        theirs.insert(theirs.end(), other.begin(), other.end());
    }
    double const added = median(differences);
    print("cuda/raw_loop/cpu", median(theirs) * 1e6, "us/region");
    print("cuda/region/cpu", median(ours) * 1e6, "us/region");
    print("cuda/region/added_cpu", added * 1e6, "us/region");
    print("cuda/region/added_cpu_p99", (percentile(ours, 0.99) - median(theirs)) * 1e6, "us/region");
    print("cuda/region/added_share", 100 * added / median(theirs), "%");
}

/// As many regions in flight all the time, each on resident data, and the process' CPU; the raw loop waits batch by batch.
void print_rate(omp_co::device dev, cuda_raw& raw, long regions, long& failed)
{
    resident data(dev);
    omp_co::offload_context loop;
    long begun = 0;
    struct next {
        omp_co::device dev;
        omp_co::offload_context& loop;
        resident& data;
        long regions;
        long& begun;
        long& failed;
        void start() const
        {
            if (begun == regions) return;
            omp_co::target(dev, nothing, omp_co::tofrom(data[begun++]))(asio::bind_executor(loop, *this));
        }
        void operator()(omp_co::error_code ec) const
        {
            failed += ec ? 1 : 0;
            start();
        }
    };
    next const first{dev, loop, data, regions, begun, failed};
    double const all = process_seconds();
    double const begin = wall_seconds();
    for (long i = 0; i < batch; ++i) first.start();
    loop.run();
    double const wall = wall_seconds() - begin;
    double const cpu = process_seconds() - all;
    std::vector<double> ignored;
    double const theirs = raw.loop(regions, batch, ignored);
    print("cuda/region/rate", double(regions) / wall, "regions/s");
    print("cuda/region/process_cpu", cpu / double(regions) * 1e6, "us/region");
    print("cuda/raw_loop/rate", double(regions) / theirs, "regions/s");
}

/// How much longer it takes until the loop goes on after a region than until a thread that only launches and reads sees
/// the end: what initiation takes is in it.
template <class Context, class Start>
void print_resume(std::string const& name, long rounds, cuda_raw& raw, std::int64_t ns, long& failed,
                  Start const& start)
{
    std::vector<double> ours;
    std::vector<double> theirs;
    Context loop;
    for (long i = 0; i < rounds; ++i) {
        double const begin = wall_seconds();
        start(asio::bind_executor(loop, [&](omp_co::error_code ec) {
            failed += ec ? 1 : 0;
            ours.push_back(wall_seconds() - begin);
        }));
        loop.run();
        loop.restart();
        theirs.push_back(raw.round_trip(ns));
    }
    print(name + "/raw_round_trip", median(theirs) * 1e6, "us");
    print(name + "/added_p50", (median(ours) - median(theirs)) * 1e6, "us");
    print(name + "/added_p99", (percentile(ours, 0.99) - median(theirs)) * 1e6, "us");
}

void print_resumes(omp_co::device dev, cuda_raw& raw, std::uint64_t ns, long& failed)
{
    resident data(dev);
    print_resume<omp_co::offload_context>("cuda/resume/awake", 2000, raw, -1, failed, [&](auto token) {
        omp_co::target(dev, nothing, omp_co::tofrom(data[0]))(token);
    });
    print_resume<asio::io_context>(
        "cuda/resume/asleep", 200, raw, static_cast<std::int64_t>(ns), failed, [&](auto token) {
            omp_co::target(dev, work, omp_co::tofrom(data[0]), omp_co::firstprivate(ns))(token);
        });
}

int run(arguments& given)
{
    long const regions = given.number("regions", 20'000);
    auto const tile = std::size_t(given.number("tile-kib", 256)) << 10;
    auto const ns = std::uint64_t(given.text("kernel-us").empty() ? 0 : given.number("kernel-us", 1)) * 1000;
    given.refuse_unknown_keys();
    auto const& words = given.words();
    std::string const figures[]{"cpu", "rate", "resume", "in_flight", "pipeline", "large_copy"};
    for (std::string const& w : words)
        if (std::find(std::begin(figures), std::end(figures), w) == std::end(figures))
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
    cuda_raw raw;
    long failed = 0;
    omp_co::sync_wait(nothing.prepare(dev));
    omp_co::sync_wait(work.prepare(dev));
    if (wanted("cpu")) print_cpu(dev, raw, regions, failed);
    if (wanted("rate")) print_rate(dev, raw, regions, failed);
    if (wanted("resume")) print_resumes(dev, raw, ns, failed);
    if (wanted("in_flight")) print_loop_share(dev, work, ns, failed);
    if (wanted("pipeline")) print_pipeline(dev, raw, work, tile, ns, failed);
    if (wanted("large_copy")) print_lateness_beside_a_large_copy(dev, work, failed);
    if (failed != 0) std::fprintf(stderr, "%ld regions failed\n", failed);
    return failed != 0 ? 1 : 0;
}

} // namespace

int main(int argc, char** argv)
try {
    arguments given(argc, argv);
    return run(given);
} catch (std::exception const& e) {
    std::fprintf(stderr, "cuda_regions: %s\n", e.what());
    return 2;
}
