// A loop that sleeps while long regions run: how much CPU it takes, and how late it resumes them.
// SPDX-License-Identifier: BSL-1.0
//
// Use: idle [--regions N]      prints JSON lines; exits 1 when a result is wrong
#include "arguments.hpp"
#include "checks.hpp"
#include "report.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdio>
#include <omp_co/omp_co.hpp>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <vector>

namespace asio = boost::asio;
using clock_type = std::chrono::steady_clock;

namespace {

constexpr std::chrono::milliseconds region_length{5};
constexpr long timed_regions = 100;

double thread_cpu_seconds()
{
    rusage used{};
    getrusage(RUSAGE_THREAD, &used);
    auto seconds = [](timeval t) { return double(t.tv_sec) + double(t.tv_usec) * 1e-6; };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

struct figures {
    double loop_cpu_percent = 0;
    std::vector<double> late_us;
};

struct resumed {
    clock_type::time_point const* ended;
    std::vector<double>* late_us;
    long* failed;

    void operator()(boost::system::error_code ec) const
    {
        *failed += ec ? 1 : 0;
        late_us->push_back(std::chrono::duration<double, std::micro>(clock_type::now() - *ended).count());
    }
};

// All regions are pending on the stream of `counter` before the loop runs.
template <class Context>
figures run(long regions)
{
    omp_co::host::virtual_device device({.workers = 1});
    omp_co::device dev = device;
    int counter = 0;
    long failed = 0;
    std::vector<clock_type::time_point> ended(static_cast<std::size_t>(regions));
    figures f;
    f.late_us.reserve(ended.size());
    omp_co::sync_wait(omp_co::target_enter_data(dev, omp_co::to(counter)));
    Context context;
    for (auto& end : ended) {
        auto kernel = [stamp = &end](int* count) {
            std::this_thread::sleep_for(region_length);
            ++*count;
            *stamp = clock_type::now();
        };
        omp_co::target(dev, kernel, omp_co::tofrom(counter))(
            asio::bind_executor(context.get_executor(), resumed{&end, &f.late_us, &failed}));
    }
    double cpu = thread_cpu_seconds();
    auto begin = clock_type::now();
    context.run();
    std::chrono::duration<double> wall = clock_type::now() - begin;
    f.loop_cpu_percent = 100.0 * (thread_cpu_seconds() - cpu) / wall.count();
    omp_co::sync_wait(omp_co::target_exit_data(dev, omp_co::from(counter)));
    bench::require(failed == 0 && long(f.late_us.size()) == regions && counter == regions,
                   "not all regions ended well");
    return f;
}

template <class Context>
void measure(std::string const& loop, long regions)
{
    bench::print("idle_cpu_" + loop, run<Context>(regions).loop_cpu_percent, "percent");
    std::vector<double> late = run<Context>(timed_regions).late_us;
    bench::print("late_" + loop + ".p50", bench::percentile(late, 0.50), "us");
    bench::print("late_" + loop + ".p99", bench::percentile(late, 0.99), "us");
    bench::print("late_" + loop + ".max", bench::percentile(late, 1.00), "us");
}

} // namespace

int main(int argc, char** argv)
try {
    bench::arguments arguments(argc, argv);
    long regions = arguments.number("regions", 1'000);
    arguments.refuse_unknown_keys();
    measure<omp_co::offload_context>("offload", regions);
    measure<asio::io_context>("io", regions);
    return 0;
} catch (std::exception const& e) {
    std::fprintf(stderr, "idle: %s\n", e.what());
    return 1;
}
