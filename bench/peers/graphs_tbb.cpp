// The peer of ../graphs.cpp on oneTBB's flow graph: one continue_node a kernel, one edge a dependence. It stands in for
// Taskflow, which builds and runs graphs in the same way and is no Debian package.
// SPDX-License-Identifier: BSL-1.0
//
// Build: g++ -std=c++20 -O2 graphs_tbb.cpp -ltbb -o graphs_tbb
// Use:   graphs_tbb [--workers N] [--width N] [--steps N] [--repeats N] [--check N] [graph...]
//
// The arena has as many threads as there are workers, the calling one among them. Dependences are known by node and not
// looked up by address; nodes are made, run and destroyed within the timed span, as tasks are elsewhere.
#include "../graph_measure.hpp"

#include <deque>
#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

namespace {

namespace flow = oneapi::tbb::flow;

class tbb_flow_graph {
public:
    explicit tbb_flow_graph(int workers)
        : limit_(oneapi::tbb::global_control::max_allowed_parallelism, std::size_t(workers)), arena_(workers)
    {
    }

    void enter(std::uint64_t* values, std::size_t) { values_ = values; }
    void leave() {}

    void run(bench::graph const& g, long rounds)
    {
        arena_.execute([&] { build_and_run(g, rounds); });
    }

private:
    using node = flow::continue_node<flow::continue_msg>;

    void build_and_run(bench::graph const& g, long rounds)
    {
        flow::graph tasks;
        std::deque<node> nodes;
        std::vector<node*> at(bench::slots_of(g));
        std::vector<node*> ready;
        bench::for_each_task(g, [&](int step, int column) {
            node& n = nodes.emplace_back(tasks, [=, values = values_](flow::continue_msg) {
                bench::run_task(g.kind, g.width, g.seed, step, column, rounds, values);
            });
            std::size_t const row = std::size_t(step) * std::size_t(g.width);
            at[row + std::size_t(column)] = &n;
            bool waits = false;
            bench::for_each_input(g.kind, g.width, g.seed, step, column, [&](int c) {
                flow::make_edge(*at[row - std::size_t(g.width) + std::size_t(c)], n);
                waits = true;
            });
            if (!waits) ready.push_back(&n);
        });
        for (node* n : ready) n->try_put(flow::continue_msg());
        tasks.wait_for_all();
    }

    oneapi::tbb::global_control limit_;
    oneapi::tbb::task_arena arena_;
    std::uint64_t* values_ = nullptr;
};

} // namespace

int main(int argc, char** argv) { return bench::measure_graphs<tbb_flow_graph>(argc, argv, "graphs_tbb"); }
