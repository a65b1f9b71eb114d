// SPDX-License-Identifier: BSL-1.0
// What the environment, or a test through omp_co_sim_set, tells the simulator. docs: control.h lists every name.
#pragma once

#include "cuda_api.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace omp_co_sim {

/// The n-th call (from 1, counted from when the rule was set) of a function answers `error`.
struct fault_rule {
    std::string function; ///< exported or base name; "*": any function
    unsigned long nth = 1;
    CUresult error = CUDA_SUCCESS;
    unsigned long seen = 0;
};

/// The n-th launch of a kernel traps.
struct trap_rule {
    std::string kernel; ///< "*": any kernel
    unsigned long nth = 1;
    unsigned long seen = 0;
};

/// Microseconds for everything, and others for some names.
struct time_table {
    double all = 0;
    std::vector<std::pair<std::string, double>> by_name;

    bool none() const { return all == 0 && by_name.empty(); }
    double of(std::string_view name) const;
};

struct settings {
    int devices = 1;
    std::size_t memory = std::size_t{4} << 30;
    time_table kernel_us;
    time_table call_us;
    int concurrent_kernels = 16;
    double bandwidth = 0; ///< GB/s of each copy engine; 0: as long as it takes
    double latency_us = 0;
    int driver_version = 13000;
    int compute_capability = 90;
    bool write_value = true;
    bool pools = true;
    int threads = 4;
    unsigned long lose_host_functions = 0;
    std::vector<fault_rule> faults;
    std::vector<trap_rule> traps;
    std::string report;

    /// Changes one; the empty string means a good value, else what is wrong with it.
    std::string set(std::string_view name, std::string_view value);

    /// The defaults, then the environment; `problem` gets one line for each value that was not understood.
    static settings from_environment(std::string& problem);

    /// Modelled time of a launch in nanoseconds; 0: as long as it takes.
    long long kernel_time(std::string_view kernel) const;
};

/// A number or a name such as CUDA_ERROR_OUT_OF_MEMORY; CUDA_SUCCESS when it is neither.
CUresult parse_error_code(std::string_view text);

/// The name of a code, or null.
char const* error_name(CUresult code);

/// A readable text of a code, or null.
char const* error_text(CUresult code);

/// Whether the device is lost once it has answered this.
bool is_sticky(CUresult code);

} // namespace omp_co_sim
