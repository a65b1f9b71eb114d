// Runs the task graphs on one runtime, verifies every run and prints what a task costs and how large it must be.
// SPDX-License-Identifier: BSL-1.0
//
// Shared by ../graphs.cpp and its peers; nothing of omp_co. A Runtime has
//   explicit Runtime(int workers);                      workers: threads that run tasks
//   void enter(std::uint64_t* values, std::size_t n);   the values go to the device; not timed
//   void run(graph const&, long rounds);                creates all tasks, waits for all; timed
//   void leave();                                       the values come back; not timed
//
// Figures, for each graph: `<graph>.empty`, wall time a task with a kernel that only combines its inputs;
// `<graph>.efficiency@<microseconds>`, the time of a serial run divided by workers and wall time, with kernels of about that
// length; `<graph>.metg50`, the kernel time at which the efficiency reaches one half (Task Bench's minimum effective task
// granularity), interpolated between the two lengths about it.
#pragma once
#include "arguments.hpp"
#include "graph_patterns.hpp"
#include "report.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

/// Microseconds that `f()` takes.
template <class F>
double microseconds(F&& f)
{
    auto const begin = std::chrono::steady_clock::now();
    f();
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
}

inline double rounds_a_microsecond()
{
    constexpr long rounds = 200'000;
    std::uint64_t volatile result = 0;
    double fastest = 1e30;
    for (int k = 0; k < 20; ++k)
        fastest = std::min(fastest, microseconds([&] { result = busy(result + 1, rounds); }));
    return double(rounds) / fastest;
}

/// One graph with kernels of one length: the fastest of some runs, for what else the machine does only adds. Serial runs take
/// turns with the others.
class graph_run {
public:
    graph_run(graph const& g, long rounds)
        : graph_(g), rounds_(rounds), expected_(slots_of(g), unwritten), values_(expected_)
    {
        run_serially(g, rounds, expected_.data());
    }

    template <class Runtime>
    void measure(Runtime& runtime, int repeats)
    {
        once(runtime); // warms up
        for (int k = 0; k < repeats; ++k) {
            serial_us_ =
                std::min(serial_us_, microseconds([&] { run_serially(graph_, rounds_, expected_.data()); }));
            wall_us_ = std::min(wall_us_, once(runtime));
        }
    }

    /// Returns what the run took; throws if a value is wrong.
    template <class Runtime>
    double once(Runtime& runtime)
    {
        std::fill(values_.begin(), values_.end(), unwritten);
        runtime.enter(values_.data(), values_.size());
        double const us = microseconds([&] { runtime.run(graph_, rounds_); });
        runtime.leave();
        if (values_ != expected_) throw std::runtime_error("wrong values");
        return us;
    }

    double kernel_us() const { return serial_us_ / double(tasks_of(graph_)); }
    double task_ns() const { return 1e3 * wall_us_ / double(tasks_of(graph_)); }
    double efficiency(int workers) const { return serial_us_ / (wall_us_ * workers); }

private:
    static constexpr std::uint64_t unwritten = 0x5555555555555555u;

    graph graph_;
    long rounds_;
    double serial_us_ = 1e30, wall_us_ = 1e30;
    std::vector<std::uint64_t> expected_, values_;
};

struct graph_options {
    int width, steps, workers, repeats, check;
    double longest; // microseconds
    std::vector<std::string> wanted;

    graph_options(int argc, char** argv)
    {
        arguments given(argc, argv);
        width = int(given.number("width", 16));
        steps = int(given.number("steps", 64));
        workers = int(given.number("workers", 1));
        repeats = int(given.number("repeats", 5));
        longest = double(given.number("longest", 512));
        check = given.text("check").empty() ? 0 : int(given.number("check", 1));
        given.refuse_unknown_keys();
        wanted = given.words();
        if ((width & (width - 1)) != 0) throw std::invalid_argument("--width must be a power of two");
        for (auto const& name : wanted)
            if (std::none_of(std::begin(patterns), std::end(patterns),
                             [&](auto& p) { return name == p.name; }))
                throw std::invalid_argument("no graph " + name);
    }
};

template <class Runtime>
class graph_measurement {
public:
    graph_measurement(graph_options const& o, Runtime& r) : options_(o), runtime_(r) {}

    void measure(pattern_name p)
    {
        name_ = p.name;
        graph_ = {p.kind, options_.width, options_.steps, 1};
        points_.clear();
        graph_run empty(graph_, 0);
        empty.measure(runtime_, options_.repeats);
        print(name_ + ".empty", empty.task_ns(), "ns/task");
        points_.push_back({empty.kernel_us(), empty.efficiency(options_.workers)});
        // Longer ones tell no more once kernels cover the cost of tasks.
        for (double us = 0.5; us <= options_.longest && points_.back().efficiency < 0.8; us *= 2) measure(us);
        // Nor do shorter ones once they do not.
        for (double us = 0.25; us > 0.02 && points_[1].efficiency >= 0.5; us /= 2) measure(us);
        print_granularity();
    }

private:
    struct point {
        double kernel_us, efficiency;
    };

    void measure(double us)
    {
        graph_run run(graph_, std::lround(us * rounds_));
        run.measure(runtime_, options_.repeats);
        point const found{run.kernel_us(), run.efficiency(options_.workers)};
        char length[32];
        std::snprintf(length, sizeof length, "%g", us);
        print(name_ + ".efficiency@" + length, found.efficiency, "share");
        auto const longer = [&](point const& p) { return p.kernel_us > found.kernel_us; };
        points_.insert(std::find_if(points_.begin(), points_.end(), longer), found);
    }

    void print_granularity() const
    {
        auto const enough = [](point const& p) { return p.efficiency >= 0.5; };
        auto const at = std::find_if(points_.begin(), points_.end(), enough);
        if (at == points_.end()) {
            std::fprintf(stderr, "%s: not half efficient up to %g us\n", name_.c_str(), options_.longest);
            return;
        }
        double us = at->kernel_us;
        if (at != points_.begin()) {
            point const below = *(at - 1);
            double const share = (0.5 - below.efficiency) / (at->efficiency - below.efficiency);
            us = below.kernel_us * std::pow(at->kernel_us / below.kernel_us, share);
        }
        print(name_ + ".metg50", us, "us");
    }

    graph_options const& options_;
    Runtime& runtime_;
    double rounds_ = rounds_a_microsecond();
    std::string name_;
    graph graph_;
    std::vector<point> points_;
};

/// Graphs of every kind, drawn at random, each against a serial run.
template <class Runtime>
void check_random_graphs(Runtime& runtime, int count)
{
    for (int k = 0; k < count; ++k) {
        std::uint64_t const draw = mix(std::uint64_t(k) + 1);
        graph g;
        g.kind = static_cast<pattern>(draw % (1 + static_cast<unsigned>(pattern::random)));
        g.width = 1 << (draw >> 8) % 6;
        g.steps = 1 + int((draw >> 16) % 24);
        g.seed = draw;
        long const rounds = long((draw >> 32) % 4) * 100;
        try {
            graph_run(g, rounds).once(runtime);
        } catch (std::exception const& e) {
            throw std::runtime_error("random graph " + std::to_string(k) + ": " + e.what());
        }
    }
    print("random_graphs", count, "verified");
}

/// The main function of a program: exit status 1 when a value is wrong, 2 for a wrong command line.
template <class Runtime>
int measure_graphs(int argc, char** argv, char const* program)
try {
    graph_options const options(argc, argv);
    Runtime runtime(options.workers);
    try {
        if (options.check > 0) return check_random_graphs(runtime, options.check), 0;
        graph_measurement<Runtime> measurement(options, runtime);
        for (pattern_name p : patterns) {
            auto const& wanted = options.wanted;
            if (wanted.empty() || std::find(wanted.begin(), wanted.end(), p.name) != wanted.end())
                measurement.measure(p);
        }
        return 0;
    } catch (std::exception const& e) {
        std::fprintf(stderr, "%s: %s\n", program, e.what());
        return 1;
    }
} catch (std::exception const& e) {
    std::fprintf(stderr, "%s: %s\n", program, e.what());
    return 2;
}

} // namespace bench
