// SPDX-License-Identifier: BSL-1.0
// What needs a process of its own: the environment, and the report at the end.
#include "harness.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <unistd.h>

namespace {

std::string file_name()
{
    return (std::filesystem::temp_directory_path() / ("omp_co_sim_report_" + std::to_string(::getpid())))
        .string();
}

// Runs one test of this program in a process of its own; what it left in the report.
std::string run_child(std::string const& environment, char const* test)
{
    auto const file = file_name();
    std::remove(file.c_str());
    auto const command = environment + " OMP_CO_SIM_REPORT=" + file + " /proc/" + std::to_string(::getpid()) +
                         "/exe " + library_name + " " + test + " >/dev/null";
    check(std::system(command.c_str()) == 0, command);
    std::ifstream in(file);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    std::remove(file.c_str());
    return text;
}

test_case const child_leaks{"child_leaves_things", [] {
                                expect(cu.cuInit(0));
                                int n = 0;
                                expect(cu.cuDeviceGetCount(&n));
                                check(n == 2, "devices by environment");
                                CUcontext c = nullptr;
                                expect(cu.cuDevicePrimaryCtxRetain(&c, 1));
                                expect(cu.cuCtxSetCurrent(c));
                                CUstream s = nullptr;
                                expect(cu.cuStreamCreate(&s, 0));
                                CUdeviceptr x = 0;
                                expect(cu.cuMemAlloc_v2(&x, 77));
                                expect(cu.cuMemFree_v2(x + 1), CUDA_ERROR_INVALID_VALUE);
                                // Handlers of exit may still use the driver.
                                std::atexit([] { expect(cu.cuCtxSynchronize()); });
                            }};

test_case const child_environment{"child_does_not_understand_its_environment",
                                  [] { expect(cu.cuInit(0), CUDA_ERROR_INVALID_VALUE); }};

test_case const child_nothing{"child_leaves_nothing", [] {
                                  expect(cu.cuInit(0));
                                  CUcontext c = nullptr;
                                  expect(cu.cuDevicePrimaryCtxRetain(&c, 0));
                                  expect(cu.cuDevicePrimaryCtxRelease_v2(0));
                              }};

test_case const at_exit{"the_report_is_written_at_the_end_of_the_process", [] {
                            auto const text = run_child("OMP_CO_SIM_DEVICES=2", "child_leaves_things");
                            check(text.find("misuse: cuMemFree_v2: ") != std::string::npos, text);
                            check(text.find("leak: context ") != std::string::npos, text);
                            check(text.find("leak: stream ") != std::string::npos, text);
                            check(text.find(" of device 1, 77 bytes") != std::string::npos, text);
                            check(run_child("", "child_leaves_nothing").empty(), "nothing");
                        }};

test_case const environment{
    "a_wrong_environment_is_said", [] {
        run_child("OMP_CO_SIM_DEVICES=many 2>/dev/null", "child_does_not_understand_its_environment");
        run_child("OMP_CO_SIM_FAULT=cuMemAlloc 2>/dev/null", "child_does_not_understand_its_environment");
    }};

} // namespace
