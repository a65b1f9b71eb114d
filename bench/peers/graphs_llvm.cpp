// The peer of ../graphs.cpp on LLVM's OpenMP offload runtime (its x86-64 host device): `target nowait` regions, ordered by
// `depend`, on values that stay on the device.
// SPDX-License-Identifier: BSL-1.0
//
// Build: clang++-19 -std=c++20 -O2 -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu graphs_llvm.cpp -o graphs_llvm
// Use:   graphs_llvm [--workers N] [--width N] [--steps N] [--repeats N] [--check N] [graph...]
//
// How many threads run regions is the runtime's choice (its hidden helpers, eight by default); --workers only enters the
// efficiency. With one worker and several helpers the peer is flattered.
#include "../graph_measure.hpp"

#include <omp.h>

namespace {

class llvm_target {
public:
    explicit llvm_target(int)
    {
        int initial = 1;
#pragma omp target map(from : initial)
        initial = omp_is_initial_device();
        if (initial != 0) throw std::runtime_error("no offload device");
    }

    void enter(std::uint64_t* values, std::size_t n)
    {
        values_ = values;
        size_ = n;
#pragma omp target enter data map(to : values [0:n])
    }

    void leave()
    {
        std::uint64_t* const values = values_;
        std::size_t const n = size_;
#pragma omp target exit data map(from : values [0:n])
    }

    void run(bench::graph const& g, long rounds)
    {
        std::uint64_t* const values = values_;
        std::size_t const n = size_;
        std::vector<std::size_t> inputs(std::size_t(g.width));
        std::size_t* const in = inputs.data();
#pragma omp parallel
#pragma omp single
        {
            bench::for_each_task(g, [&](int step, int column) {
                int const count = bench::input_slots(g, step, column, in);
                std::size_t const out = bench::slot_of(g, step, column);
                bench::pattern const kind = g.kind;
                int const width = g.width;
                std::uint64_t const seed = g.seed;
// clang-format off
#pragma omp target nowait map(tofrom : values [0:n]) firstprivate(kind, width, seed, step, column, rounds) \
    depend(iterator(k = 0 : count), in : values[in[k]]) depend(out : values[out])
// clang-format on
                bench::run_task(kind, width, seed, step, column, rounds, values);
            });
#pragma omp taskwait
        }
    }

private:
    std::uint64_t* values_ = nullptr;
    std::size_t size_ = 0;
};

} // namespace

int main(int argc, char** argv) { return bench::measure_graphs<llvm_target>(argc, argv, "graphs_llvm"); }
