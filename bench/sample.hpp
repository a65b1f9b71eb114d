// The process at one moment: wall clock, CPU time of all threads, heap calls; and what lies between two.
// SPDX-License-Identifier: BSL-1.0
#pragma once
#include "count_allocations.hpp"
#include "report.hpp"

#include <chrono>
#include <ctime>

namespace bench {

struct sample {
    double wall_ns = 0;
    double cpu_ns = 0;
    double heap_calls = 0;

    static sample now()
    {
        timespec cpu{};
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
        auto wall = std::chrono::steady_clock::now().time_since_epoch();
        return {std::chrono::duration<double, std::nano>(wall).count(),
                double(cpu.tv_sec) * 1e9 + double(cpu.tv_nsec), double(bench::heap_calls())};
    }
};

/// Prints `name`, `name.cpu` and `name.allocs`, each divided by the number of operations.
inline void print_span(std::string const& name, sample const& from, sample const& to, long ops)
{
    double n = double(ops);
    print(name, (to.wall_ns - from.wall_ns) / n, "ns/op");
    print(name + ".cpu", (to.cpu_ns - from.cpu_ns) / n, "cpu_ns/op");
    print(name + ".allocs", (to.heap_calls - from.heap_calls) / n, "allocs/op");
}

} // namespace bench
