// SPDX-License-Identifier: BSL-1.0
// The functions of control.h but for kernels.
#include "control.h"
#include "driver.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

using namespace omp_co_sim;

extern "C" {

int omp_co_sim_set(char const* name, char const* value)
{
    auto& sim = driver::get();
    lock_type const lock(sim.mutex);
    auto const problem = sim.config.set(name, value);
    if (problem.empty()) return 0;
    std::fprintf(stderr, "omp_co_sim: %s: %s\n", name, problem.c_str());
    return 1;
}

unsigned long omp_co_sim_count(char const* function)
{
    auto& sim = driver::get();
    std::string_view const wanted = function;
    unsigned long sum = 0;
    for (std::size_t i = 0; i < functions().size(); ++i) {
        auto const& entry = functions()[i];
        if (wanted == "*" || wanted == entry.symbol || wanted == entry.base) sum += sim.calls[i].load();
    }
    return sum;
}

size_t omp_co_sim_report(char* buffer, size_t size)
{
    auto& sim = driver::get();
    lock_type const lock(sim.mutex);
    std::string text;
    for (auto const& line : sim.lines()) text += line + "\n";
    if (buffer && size > 0) {
        auto const length = std::min(size - 1, text.size());
        std::memcpy(buffer, text.data(), length);
        buffer[length] = '\0';
    }
    return text.size();
}

void omp_co_sim_reset(void)
{
    auto& sim = driver::get();
    lock_type lock(sim.mutex);
    sim.reset(lock);
}

} // extern "C"
