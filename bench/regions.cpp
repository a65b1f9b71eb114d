// What a region costs: wall time, CPU time and heap calls an operation, with kernels that cost nothing.
// SPDX-License-Identifier: BSL-1.0
//
// Use: regions [--ops N] [workload...]      prints JSON lines; exits 1 when a result is wrong
#include "arguments.hpp"
#include "checks.hpp"
#include "inflight.hpp"
#include "ordered.hpp"
#include "window.hpp"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdio>
#include <omp_co/omp_co.hpp>
#include <string>
#include <thread>
#include <vector>

namespace asio = boost::asio;

namespace {

constexpr std::size_t resident_size = 64; // floats, 256 bytes
constexpr std::size_t slots = 256;        // blocks of 64 floats that take turns in being mapped
constexpr std::size_t block_size = 1024;  // floats, 4 KiB
constexpr int many = 64;                  // coroutines in the concurrent workloads
constexpr long regions_in_flight = 100'000;

struct workload_run {
    std::string name;
    unsigned workers; // 0: kernels run inline, as on LLVM's host device
    int coroutines;
    long ops;

    bench::window window() const { return {std::max(ops / 10, 256L), ops}; }
};

// `i` is captured, as LLVM's compiler passes it by value with the region.
asio::awaitable<void> add_to_resident(omp_co::device dev, std::vector<float>& x, bench::window& w)
{
    for (long i = 0; w.take(i); w.done())
        co_await omp_co::target(
            dev, [i](float* p) { p[i & 63] += 1.f; }, omp_co::tofrom(x));
}

asio::awaitable<void> add_to_mapped(omp_co::device dev, std::vector<float>& y, bench::window& w)
{
    for (long i = 0; w.take(i); w.done()) {
        float* s = y.data() + resident_size * (std::size_t(i) & (slots - 1));
        co_await omp_co::target(
            dev, [i](float* p) { p[i & 63] += 1.f; }, omp_co::tofrom(omp_co::section(s, 0, resident_size)));
    }
}

asio::awaitable<void> add_to_mapped_in_order(omp_co::device dev, std::vector<float>& y, bench::window& w)
{
    for (long i = 0; w.take(i); w.done()) {
        float* s = y.data() + resident_size * (std::size_t(i) & (slots - 1));
        co_await omp_co::target(
            dev, [i](float* p) { p[i & 63] += 1.f; }, omp_co::tofrom(omp_co::section(s, 0, resident_size)),
            omp_co::depend_inout(*s));
    }
}

asio::awaitable<void> enter_and_exit(omp_co::device dev, std::vector<float>& r, bench::window& w)
{
    for (long i = 0; w.take(i); w.done()) {
        co_await omp_co::target_enter_data(dev, omp_co::to(r));
        co_await omp_co::target_exit_data(dev, omp_co::from(r));
    }
}

asio::awaitable<void> update_both_ways(omp_co::device dev, std::vector<float>& r, bench::window& w)
{
    for (long i = 0; w.take(i); w.done()) {
        co_await omp_co::target_update(dev, omp_co::to(r));
        co_await omp_co::target_update(dev, omp_co::from(r));
    }
}

// A loop that has slept once has what it needs for the next time: a worker that comes late in the measured span allocates
// nothing.
template <class Context>
void let_sleep(Context& context, omp_co::device dev)
{
    auto once = [dev]() -> asio::awaitable<void> {
        co_await omp_co::target(dev, [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); });
    };
    bench::run_coroutines(context, 1, once);
    context.restart();
}

template <class Context>
void resident(workload_run const& run)
{
    omp_co::host::virtual_device device({.workers = run.workers});
    omp_co::device dev = device;
    std::vector<float> x(resident_size, 0.f);
    omp_co::sync_wait(omp_co::target_enter_data(dev, omp_co::to(x)));
    bench::window w = run.window();
    Context context;
    let_sleep(context, dev);
    bench::run_coroutines(context, run.coroutines, [&] { return add_to_resident(dev, x, w); });
    bench::require(x[0] == 0.f, "a resident array came back");
    omp_co::sync_wait(omp_co::target_exit_data(dev, omp_co::from(x)));
    bench::require_counted(x, w.total());
    w.print(run.name);
}

void in_flight(workload_run const& run)
{
    omp_co::host::virtual_device device({.workers = run.workers});
    omp_co::device dev = device;
    std::vector<float> x(resident_size, 0.f);
    omp_co::sync_wait(omp_co::target_enter_data(dev, omp_co::to(x)));
    bench::inflight regions(dev, x, regions_in_flight);
    omp_co::offload_context context;
    regions.run(context);
    bench::print(run.name + ".bytes", regions.bytes_a_region(), "bytes/region");
    bench::print(run.name + ".first", regions.ns_a_region(), "ns/op");
    regions.run(context);
    omp_co::sync_wait(omp_co::target_exit_data(dev, omp_co::from(x)));
    for (std::size_t k = 0; k < resident_size; ++k) {
        long once = regions_in_flight / 64 + (long(k) < regions_in_flight % 64 ? 1 : 0);
        bench::require(x[k] == float(2 * once), "regions in flight: wrong result");
    }
    regions.print(run.name);
}

void chain(workload_run const& run, void (bench::ordered::*run_on)(omp_co::offload_context&))
{
    omp_co::host::virtual_device device({.workers = run.workers});
    omp_co::device dev = device;
    std::vector<float> x(resident_size, 0.f);
    omp_co::sync_wait(omp_co::target_enter_data(dev, omp_co::to(x)));
    bench::ordered regions(dev, x, run.ops, run.ops); // all may be in flight: their memory is to be there
    omp_co::offload_context context;
    (regions.*run_on)(context);
    bench::require(x[0] == 0.f, "a resident array came back");
    omp_co::sync_wait(omp_co::target_exit_data(dev, omp_co::from(x)));
    bench::require_counted(x, regions.total());
    regions.print(run.name);
}

void chain_queue(workload_run const& run)
{
    chain(run, &bench::ordered::run_in_queue<omp_co::offload_context>);
}

void chain_depend(workload_run const& run)
{
    chain(run, &bench::ordered::run_by_dependences<omp_co::offload_context>);
}

using add = asio::awaitable<void> (*)(omp_co::device, std::vector<float>&, bench::window&);

template <add Add>
void mapped(workload_run const& run)
{
    omp_co::host::virtual_device device({.workers = run.workers});
    omp_co::device dev = device;
    std::vector<float> y(resident_size * slots, 0.f);
    bench::window w = run.window();
    omp_co::offload_context context;
    let_sleep(context, dev);
    bench::run_coroutines(context, run.coroutines, [&] { return Add(dev, y, w); });
    std::vector<float> touched(slots, 0.f);
    for (std::size_t k = 0; k < slots; ++k) {
        touched[k] = y[resident_size * k + k % resident_size];
        y[resident_size * k + k % resident_size] = 0.f;
    }
    bench::require_counted(touched, w.total());
    bench::require(y == std::vector<float>(y.size(), 0.f), "an element was changed that no region touched");
    bench::require(dev.statistics().mapped_ranges == 0, "a mapped range was left behind");
    w.print(run.name);
}

/// Without a loop of the program's.
void resident_blocking(workload_run const& run)
{
    omp_co::host::virtual_device device({.workers = run.workers});
    omp_co::device dev = device;
    std::vector<float> x(resident_size, 0.f);
    omp_co::sync_wait(omp_co::target_enter_data(dev, omp_co::to(x)));
    bench::window w = run.window();
    for (long i = 0; w.take(i); w.done())
        omp_co::sync_wait(omp_co::target(
            dev, [i](float* p) { p[i & 63] += 1.f; }, omp_co::tofrom(x)));
    bench::require(x[0] == 0.f, "a resident array came back");
    omp_co::sync_wait(omp_co::target_exit_data(dev, omp_co::from(x)));
    bench::require_counted(x, w.total());
    w.print(run.name);
}

void enter_exit(workload_run const& run)
{
    omp_co::host::virtual_device device({.workers = run.workers});
    omp_co::device dev = device;
    std::vector<float> r = bench::counting_up(block_size);
    bench::window w = run.window();
    omp_co::offload_context context;
    bench::run_coroutines(context, run.coroutines, [&] { return enter_and_exit(dev, r, w); });
    auto done = dev.statistics();
    bench::require(done.copies_in == std::uint64_t(w.total()) && done.copies_out == done.copies_in,
                   "copies left out");
    bench::require(!dev.is_present(r.data()) && r == bench::counting_up(block_size), "wrong result");
    w.print(run.name);
}

void update(workload_run const& run)
{
    omp_co::host::virtual_device device({.workers = run.workers});
    omp_co::device dev = device;
    std::vector<float> r = bench::counting_up(block_size);
    omp_co::sync_wait(omp_co::target_enter_data(dev, omp_co::alloc(r)));
    bench::window w = run.window();
    omp_co::offload_context context;
    bench::run_coroutines(context, run.coroutines, [&] { return update_both_ways(dev, r, w); });
    auto done = dev.statistics();
    bench::require(done.copies_in == std::uint64_t(w.total()) && done.copies_out == done.copies_in,
                   "copies left out");
    r.assign(block_size, -1.f); // what comes back must be the device's copy
    omp_co::sync_wait(omp_co::target_exit_data(dev, omp_co::from(r)));
    bench::require(r == bench::counting_up(block_size), "wrong result");
    w.print(run.name);
}

struct workload {
    char const* name;
    void (*measure)(workload_run const&);
    unsigned workers;
    int coroutines;
};

workload const workloads[] = {
    {"resident_inline", resident<omp_co::offload_context>, 0, 1},
    {"resident_inline_io", resident<asio::io_context>, 0, 1},
    {"resident_blocking", resident_blocking, 0, 1},
    {"resident_await", resident<omp_co::offload_context>, 1, 1},
    {"resident_await_io", resident<asio::io_context>, 1, 1},
    {"resident_concurrent", resident<omp_co::offload_context>, 1, many},
    {"resident_concurrent_io", resident<asio::io_context>, 1, many},
    {"inflight_100k", in_flight, 1, 0},
    {"chain_queue", chain_queue, 1, 1},
    {"chain_depend", chain_depend, 1, 0},
    {"mapped_await", mapped<add_to_mapped>, 0, 1},
    {"mapped_concurrent", mapped<add_to_mapped>, 1, many},
    {"mapped_concurrent_depend", mapped<add_to_mapped_in_order>, 1, many},
    {"enter_exit_4k", enter_exit, 0, 1},
    {"update_4k", update, 0, 1},
};

bool measure(workload const& w, long ops)
{
    try {
        w.measure({w.name, w.workers, w.coroutines, ops});
        return true;
    } catch (std::exception const& e) {
        std::fprintf(stderr, "regions: %s: %s\n", w.name, e.what());
        return false;
    }
}

} // namespace

int main(int argc, char** argv)
try {
    bench::arguments arguments(argc, argv);
    long ops = arguments.number("ops", 20'000);
    arguments.refuse_unknown_keys();
    auto const& wanted = arguments.words();
    for (auto const& name : wanted)
        if (std::none_of(std::begin(workloads), std::end(workloads),
                         [&](auto const& w) { return name == w.name; }))
            throw std::invalid_argument("no workload " + name);
    bool right = true;
    for (workload const& w : workloads)
        if (wanted.empty() || std::find(wanted.begin(), wanted.end(), w.name) != wanted.end())
            right = measure(w, ops) && right;
    return right ? 0 : 1;
} catch (std::exception const& e) {
    std::fprintf(stderr, "regions: %s\n", e.what());
    return 2;
}
