// SPDX-License-Identifier: BSL-1.0
// A small test harness: the library under test loaded with dlopen, checks, kernels in C++.
#pragma once

#include "../control.h"
#include "../cuda_api.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

/// Every function that the library exports, found with dlsym.
struct api {
#define OMP_CO_SIM_FUNCTION(base, symbol, since) decltype(&::symbol) symbol;
#include "../functions.inc"
#undef OMP_CO_SIM_FUNCTION
    decltype(&::omp_co_sim_set) set;
    decltype(&::omp_co_sim_count) count;
    decltype(&::omp_co_sim_report) report;
    decltype(&::omp_co_sim_reset) reset;
    decltype(&::omp_co_sim_register_kernel) register_kernel;
};

extern api cu;
extern void* library;
extern std::string library_name;

void check(bool condition, std::string_view text,
           std::source_location where = std::source_location::current());

/// Checks that two results are the same code.
void expect(CUresult got, CUresult wanted = CUDA_SUCCESS,
            std::source_location where = std::source_location::current());

/// The report so far.
std::string report();
bool reported(std::string_view part);

/// Milliseconds that `f` takes.
double milliseconds(std::function<void()> const& f);

/// CPU seconds of this process so far.
double cpu_seconds();

struct setting {
    char const* name;
    char const* value;
};

/// Settings, cuInit, and the primary context of device 0 current; all undone at the end.
class session {
public:
    session() : session(std::initializer_list<setting>{}) {}
    explicit session(std::initializer_list<setting> settings);
    session(session const&) = delete;
    session& operator=(session const&) = delete;
    ~session();

    CUcontext context(int device = 0);
    CUstream stream(unsigned flags = CU_STREAM_NON_BLOCKING);
    CUevent event(unsigned flags = CU_EVENT_DISABLE_TIMING);
    CUdeviceptr memory(std::size_t bytes);
    void* pinned(std::size_t bytes);

    /// A registered kernel: "nothing", "add" (float* x, float a, int n), "wild" (address), "hold" (until `release`).
    CUfunction kernel(char const* name);

private:
    CUmodule module_ = nullptr;
};

/// Lets kernels "hold" end.
void release_kernels();

/// Kernels "hold" wait again from here on.
void hold_kernels();

void launch(CUfunction f, CUstream s, std::vector<void*> parameters = {});

struct test_case {
    test_case(char const* name, void (*body)());
};
