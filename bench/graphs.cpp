// What a task of a graph costs, and how long a kernel must be: regions with dependences, all started at once.
// SPDX-License-Identifier: BSL-1.0
//
// Use: graphs [--handlers] [--workers N] [--width N] [--steps N] [--repeats N] [--longest US] [--check N] [graph...]
//      prints JSON lines; exits 1 when a value is wrong
//
// The regions are members of a task_group, which is what a program would write; with --handlers they are counted by plain
// handlers, which shows what the group costs. --check N verifies N random graphs and measures nothing.
#include "checks.hpp"
#include "graph_measure.hpp"
#include "run_coroutines.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/post.hpp>
#include <cstring>
#include <omp_co/omp_co.hpp>
#include <vector>

namespace asio = boost::asio;

namespace {

/// Calls `f(operation)` for the region of every task.
template <class F>
void for_each_region(omp_co::device dev, bench::graph const& g, long rounds, std::uint64_t* values, F&& f)
{
    std::vector<std::size_t> inputs(std::size_t(g.width));
    std::vector<void const*> addresses(std::size_t(g.width));
    bench::for_each_task(g, [&](int step, int column) {
        int const count = bench::input_slots(g, step, column, inputs.data());
        for (int k = 0; k < count; ++k) addresses[std::size_t(k)] = values + inputs[std::size_t(k)];
        f(omp_co::target(
            dev,
            [g, step, column, rounds](std::uint64_t* v) {
                bench::run_task(g.kind, g.width, g.seed, step, column, rounds, v);
            },
            omp_co::tofrom(omp_co::section(values, 0, bench::slots_of(g))),
            omp_co::depend_in(omp_co::addresses(addresses.data(), std::size_t(count))),
            omp_co::depend_out(values[bench::slot_of(g, step, column)])));
    });
}

/// A device and values that stay on it while a graph runs.
class regions {
public:
    explicit regions(int workers) : device_({.workers = unsigned(workers)}) {}

    void enter(std::uint64_t* values, std::size_t n)
    {
        values_ = values;
        size_ = n;
        omp_co::sync_wait(omp_co::target_enter_data(device_, omp_co::to(omp_co::section(values, 0, n))));
    }

    void leave()
    {
        omp_co::sync_wait(
            omp_co::target_exit_data(device_, omp_co::from(omp_co::section(values_, 0, size_))));
    }

protected:
    omp_co::host::virtual_device device_;
    omp_co::offload_context context_;
    std::uint64_t* values_ = nullptr;
    std::size_t size_ = 0;
};

class by_group : public regions {
public:
    using regions::regions;

    void run(bench::graph const& g, long rounds)
    {
        auto all = [&]() -> asio::awaitable<void> {
            omp_co::task_group tasks(context_.get_executor());
            for_each_region(device_, g, rounds, values_, [&](auto const& op) { tasks.spawn(op); });
            co_await tasks.wait();
        };
        bench::run_coroutines(context_, 1, all);
        context_.restart();
    }
};

class by_handlers : public regions {
public:
    using regions::regions;

    void run(bench::graph const& g, long rounds)
    {
        long left = bench::tasks_of(g), failed = 0;
        auto ended = [&](boost::system::error_code ec) {
            failed += ec ? 1 : 0;
            --left;
        };
        auto token = asio::bind_executor(context_.get_executor(), ended);
        asio::post(context_,
                   [&] { for_each_region(device_, g, rounds, values_, [&](auto const& op) { op(token); }); });
        context_.run();
        context_.restart();
        bench::require(left == 0 && failed == 0, "not all tasks ended well");
    }
};

} // namespace

int main(int argc, char** argv)
{
    if (argc > 1 && std::strcmp(argv[1], "--handlers") == 0)
        return bench::measure_graphs<by_handlers>(argc - 1, argv + 1, "graphs");
    return bench::measure_graphs<by_group>(argc, argv, "graphs");
}
