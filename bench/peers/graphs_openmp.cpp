// The peer of ../graphs.cpp on OpenMP host tasks: one task a kernel, ordered by `depend`.
// SPDX-License-Identifier: BSL-1.0
//
// Build: g++ -std=c++20 -O2 -fopenmp graphs_openmp.cpp -o graphs_openmp
// Use:   graphs_openmp [--workers N] [--width N] [--steps N] [--repeats N] [--check N] [graph...]
//
// A team has as many threads as there are workers: the one that creates the tasks runs some of them, too.
#include "../graph_measure.hpp"

namespace {

class openmp_tasks {
public:
    explicit openmp_tasks(int workers) : workers_(workers) {}

    void enter(std::uint64_t* values, std::size_t) { values_ = values; }
    void leave() {}

    void run(bench::graph const& g, long rounds)
    {
        std::uint64_t* const values = values_;
        std::vector<std::size_t> inputs(std::size_t(g.width));
        std::size_t* const in = inputs.data();
#pragma omp parallel num_threads(workers_)
#pragma omp single
        bench::for_each_task(g, [&](int step, int column) {
            int const count = bench::input_slots(g, step, column, in);
            std::size_t const out = bench::slot_of(g, step, column);
            bench::graph const copy = g;
// clang-format off
#pragma omp task firstprivate(copy, step, column, rounds, values) depend(iterator(k = 0 : count), in : values[in[k]]) \
    depend(out : values[out])
// clang-format on
            bench::run_task(copy.kind, copy.width, copy.seed, step, column, rounds, values);
        });
    }

private:
    int workers_;
    std::uint64_t* values_ = nullptr;
};

} // namespace

int main(int argc, char** argv) { return bench::measure_graphs<openmp_tasks>(argc, argv, "graphs_openmp"); }
