// a[i] = b[i] + s * c[i] over 64 MiB arrays with `range(n)`, beside OpenMP's `parallel for`, as many threads.
// SPDX-License-Identifier: BSL-1.0
//
// Use: range_triad [--workers N] [--repetitions N] [--rounds N] [--peer PATH]
//      PATH is the program of peers/openmp_triad.cpp, run before each round; without it there is no ratio.
//      prints JSON lines; exits 1 when a result is wrong
#include "arguments.hpp"
#include "checks.hpp"
#include "report.hpp"

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <chrono>
#include <cstdio>
#include <exception>
#include <omp_co/omp_co.hpp>
#include <string>
#include <thread>
#include <vector>

namespace asio = boost::asio;

namespace {

constexpr std::size_t n = (std::size_t(64) << 20) / sizeof(double);

struct times {
    double median = 0, best = 0;
};

struct arrays {
    std::vector<double> a = std::vector<double>(n, 0.0);
    std::vector<double> b = std::vector<double>(n, 1.0);
    std::vector<double> c = std::vector<double>(n, 2.0);
};

asio::awaitable<void> triads(omp_co::device dev, arrays& v, long repetitions, std::vector<double>& ms)
{
    auto kernel = [](std::size_t i, double s, double* a, double const* b, double const* c) {
        a[i] = b[i] + s * c[i];
    };
    for (long r = 0; r <= repetitions; ++r) {
        double s = double(r);
        auto begin = std::chrono::steady_clock::now();
        co_await omp_co::target(dev, kernel, omp_co::range(n), omp_co::firstprivate(s), omp_co::tofrom(v.a),
                                omp_co::to(v.b), omp_co::to(v.c));
        auto end = std::chrono::steady_clock::now();
        if (r > 0) // the first one starts the workers
            ms.push_back(std::chrono::duration<double, std::milli>(end - begin).count());
    }
}

times own_round(unsigned workers, long repetitions)
{
    omp_co::host::virtual_device device({.workers = workers});
    omp_co::device dev = device;
    arrays v;
    std::vector<double> ms;
    omp_co::sync_wait(omp_co::target_enter_data(dev, omp_co::to(v.a), omp_co::to(v.b), omp_co::to(v.c)));
    omp_co::offload_context context;
    std::exception_ptr failure;
    asio::co_spawn(context.get_executor(), triads(dev, v, repetitions, ms),
                   [&](std::exception_ptr e) { failure = e; });
    context.run();
    if (failure) std::rethrow_exception(failure);
    omp_co::sync_wait(
        omp_co::target_exit_data(dev, omp_co::from(v.a), omp_co::release(v.b), omp_co::release(v.c)));
    double want = 1.0 + 2.0 * double(repetitions);
    bench::require(std::all_of(v.a.begin(), v.a.end(), [&](double x) { return x == want; }), "wrong result");
    return {bench::median(ms), bench::percentile(ms, 0)};
}

// Its own process: two OpenMP or worker pools in one would spin beside each other.
times peer_round(std::string const& peer, unsigned workers, long repetitions)
{
    std::string command = "'" + peer + "' " + std::to_string(workers) + " " + std::to_string(repetitions);
    FILE* out = popen(command.c_str(), "r");
    bench::require(out != nullptr, "cannot start " + peer);
    times t;
    char line[256];
    while (std::fgets(line, sizeof line, out)) {
        std::sscanf(line, "{\"name\":\"triad_openmp\",\"value\":%lf", &t.median);
        std::sscanf(line, "{\"name\":\"triad_openmp.best\",\"value\":%lf", &t.best);
    }
    int status = pclose(out);
    bench::require(status == 0 && t.median > 0 && t.best > 0, peer + " failed");
    return t;
}

void print(std::string const& name, std::vector<double> const& medians, std::vector<double> const& bests)
{
    bench::print(name, bench::median(medians), "ms");
    bench::print(name + ".best", bench::percentile(bests, 0), "ms");
}

void measure(bench::arguments& arguments)
{
    auto cores = std::max(std::thread::hardware_concurrency(), 1u);
    auto workers = static_cast<unsigned>(arguments.number("workers", long(cores)));
    long repetitions = arguments.number("repetitions", 20);
    long rounds = arguments.number("rounds", 3);
    std::string peer = arguments.text("peer");
    arguments.refuse_unknown_keys();
    std::vector<double> own, own_best, other, other_best, ratio;
    for (long r = 0; r < rounds; ++r) {
        if (!peer.empty()) {
            times t = peer_round(peer, workers, repetitions);
            other.push_back(t.median);
            other_best.push_back(t.best);
        }
        times t = own_round(workers, repetitions);
        own.push_back(t.median);
        own_best.push_back(t.best);
        if (!peer.empty()) ratio.push_back(own.back() / other.back());
    }
    bench::print("triad_threads", workers, "threads");
    print("triad_range", own, own_best);
    if (peer.empty()) return;
    print("triad_openmp", other, other_best);
    bench::print("triad_ratio", bench::median(ratio), "ratio");
    bench::print("triad_ratio.best", bench::percentile(own_best, 0) / bench::percentile(other_best, 0),
                 "ratio");
}

} // namespace

int main(int argc, char** argv)
try {
    bench::arguments arguments(argc, argv);
    measure(arguments);
    return 0;
} catch (std::exception const& e) {
    std::fprintf(stderr, "range_triad: %s\n", e.what());
    return 1;
}
