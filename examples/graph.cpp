// SPDX-License-Identifier: BSL-1.0
// A graph of tasks, random or from a file, spread over the devices and the host. All are started at once; depend clauses
// alone order them, and carry the values from device to device. The result must be a serial run's, bit by bit.
#include "command_line.hpp"
#include <algorithm>
#include <bit>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/this_coro.hpp>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <omp_co/omp_co.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace asio = boost::asio;

namespace {

constexpr char const* usage =
    "usage: graph [--tasks N] [--degree N] [--seed N] [--runs N] [--devices N]\n"
    "       graph --file EDGES [--seed N] [--runs N] [--devices N]\n"
    "--degree: the most predecessors of a task. A file has two numbers an edge, the\n"
    "predecessor's, which is the smaller one, and the successor's. The seed also says\n"
    "where each task runs; with --runs, one seed after another is tried.\n";
constexpr std::size_t most_predecessors = 8;

using task = std::size_t;
using value = std::uint64_t;

struct graph {
    explicit graph(std::size_t tasks) : predecessors(tasks) {}
    std::size_t size() const { return predecessors.size(); }

    std::vector<std::vector<task>> predecessors; // of each task; all have smaller numbers than it
};

graph random_graph(std::size_t tasks, std::size_t degree, std::mt19937_64& random)
{
    graph g(tasks);
    for (task t = 0; t < tasks; ++t) {
        std::vector<task>& from = g.predecessors[t];
        std::size_t const count = std::min<std::size_t>(t, random() % (degree + 1));
        while (from.size() < count)
            if (task const p = random() % t; std::ranges::find(from, p) == from.end()) from.push_back(p);
    }
    return g;
}

graph read_graph(std::string const& path)
{
    graph g(0);
    std::ifstream file(path);
    task from = 0, to = 0;
    while (file >> from >> to) {
        if (from >= to || to > 1'000'000) throw usage_error(path + ": a predecessor has the smaller number");
        g.predecessors.resize(std::max(g.size(), to + 1));
        g.predecessors[to].push_back(from);
        if (g.predecessors[to].size() > most_predecessors)
            throw usage_error(path + ": more than 8 predecessors of " + std::to_string(to));
    }
    if (!file.eof() || g.size() == 0) throw usage_error(path + ": not a list of edges");
    return g;
}

// What a task makes of its predecessors' values, in their order. How long it takes depends on them.
template <class Input>
value fold(task t, std::size_t count, Input input)
{
    value x = t;
    for (std::size_t k = 0; k < count; ++k) {
        x ^= input(k);
        for (value rounds = 1 + x % 512; rounds > 0; --rounds) x = std::rotl(x, 23) * 0x9e3779b97f4a7c15u + t;
    }
    return x;
}

void run_on_host(graph const& g, std::vector<value>& values, task t)
{
    std::vector<task> const& from = g.predecessors[t];
    values[t] = fold(t, from.size(), [&](std::size_t k) { return values[from[k]]; });
}

constexpr auto kernel = [](value* result, task t, std::size_t count, auto const*... inputs) {
    value const* const all[] = {inputs...};
    *result = fold(t, count, [&](std::size_t k) { return *all[k]; });
};

// A task on a device. Its map clauses bring the predecessors' values, from wherever they are, and its own back. Slots that
// have no predecessor map nothing.
template <class After, std::size_t... Slot>
auto region(omp_co::device where, graph const& g, std::vector<value>& values, task t, After after,
            std::index_sequence<Slot...>)
{
    std::vector<task> const& from = g.predecessors[t];
    auto const input = [&](std::size_t k) {
        return k < from.size() ? omp_co::section(values, from[k], 1) : omp_co::section(values, t, 0);
    };
    return omp_co::target(where, kernel, omp_co::from(values[t]), omp_co::firstprivate(t),
                          omp_co::firstprivate(from.size()), omp_co::to(input(Slot))..., after,
                          omp_co::depend_out(values[t]));
}

// Starts every task, in the order of their numbers, before any has to be done. The last of the places is the host.
asio::awaitable<void> run(graph const& g, std::vector<value>& values,
                          std::vector<omp_co::device> const& devices, std::mt19937_64& random)
{
    omp_co::task_group group(co_await asio::this_coro::executor);
    for (task t = 0; t < g.size(); ++t) {
        std::vector<void const*> needed;
        for (task p : g.predecessors[t]) needed.push_back(&values[p]);
        auto const after = omp_co::depend_in(omp_co::addresses(needed.data(), needed.size()));
        std::size_t const place = random() % (devices.size() + 1);
        if (place < devices.size())
            group.spawn(
                region(devices[place], g, values, t, after, std::make_index_sequence<most_predecessors>()));
        else
            group.spawn(omp_co::host_task([&g, &values, t] { run_on_host(g, values, t); }, after,
                                          omp_co::depend_out(values[t])));
    }
    co_await group.wait();
}

int run(command_line given)
{
    std::size_t const tasks = given.number("--tasks", 100, 1, 1'000'000);
    std::size_t const degree = given.number("--degree", 4, 0, most_predecessors);
    std::size_t const seed = given.number("--seed", 1, 0);
    std::size_t const runs = given.number("--runs", 1);
    std::string const path = given.text("--file", "");
    std::vector<omp_co::device> const devices = given.devices();
    given.done();

    std::size_t started = 0, edges = 0;
    for (std::size_t k = seed; k < seed + runs; ++k) {
        std::mt19937_64 random(k);
        graph const g = path.empty() ? random_graph(tasks, degree, random) : read_graph(path);
        std::vector<value> values(g.size()), expected(g.size());
        omp_co::sync_wait(run(g, values, devices, random));
        for (task t = 0; t < g.size(); ++t) run_on_host(g, expected, t);

        auto const wrong = std::ranges::mismatch(values, expected).in1 - values.begin();
        if (values != expected)
            return std::fprintf(stderr, "--seed %zu: task %td differs from the serial run\n", k, wrong), 1;
        started += g.size();
        for (auto const& from : g.predecessors) edges += from.size();
    }
    std::printf("%zu tasks and %zu edges in %zu graph%s, %zu device%s and the host: equal to serial runs\n",
                started, edges, runs, runs == 1 ? "" : "s", devices.size(), devices.size() == 1 ? "" : "s");
    return 0;
}

} // namespace

int main(int argc, char** argv)
{
    try {
        return run(command_line(argc, argv));
    } catch (usage_error const& e) {
        std::fprintf(stderr, "graph: %s\n%s", e.what(), usage);
        return 2;
    } catch (std::exception const& e) {
        std::fprintf(stderr, "graph: %s\n", e.what());
        return 1;
    }
}
