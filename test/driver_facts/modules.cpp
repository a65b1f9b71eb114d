// SPDX-License-Identifier: BSL-1.0
// Modules, and what the compiler in the driver says.
#include "facts.hpp"

#include <cstdint>
#include <cstring>

namespace facts {
namespace {

CUresult load(char const* image)
{
    CUmodule m = nullptr;
    auto const result = cu.cuModuleLoadData(&m, image);
    if (result == CUDA_SUCCESS) cu.cuModuleUnload(m);
    return result;
}

fact const not_found{"names_that_are_not_in_a_module_are_not_found",
                     "Driver API, Module Management, cuModuleGetFunction: \"If no function of that name "
                     "exists, cuModuleGetFunction() "
                     "returns CUDA_ERROR_NOT_FOUND.\" cuModuleGetGlobal: \"If no variable of that name "
                     "exists, cuModuleGetGlobal() returns "
                     "CUDA_ERROR_NOT_FOUND.\"",
                     [] {
                         kernels const k;
                         CUfunction f = nullptr;
                         CUdeviceptr x = 0;
                         std::size_t bytes = 0;
                         answers(cu.cuModuleGetFunction(&f, k, "no_such_kernel"), CUDA_ERROR_NOT_FOUND);
                         answers(cu.cuModuleGetGlobal_v2(&x, &bytes, k, "no_such_variable"),
                                 CUDA_ERROR_NOT_FOUND);
                     }};

fact const variable{"a_variable_of_a_module_has_its_initial_value_and_is_its_own",
                    "Driver API, Module Management, cuModuleGetGlobal: \"Returns in *dptr and *bytes the "
                    "base pointer and size of the "
                    "global of name name located in module hmod.\" \"One of the parameters dptr or bytes "
                    "(not both) can be NULL in which "
                    "case it is ignored.\"",
                    [] {
                        kernels const first;
                        kernels const second;
                        CUdeviceptr x = 0;
                        std::size_t bytes = 0;
                        ok(cu.cuModuleGetGlobal_v2(&x, &bytes, first, "counter"));
                        check(bytes == 4, "bytes: " + std::to_string(bytes));
                        ok(cu.cuModuleGetGlobal_v2(nullptr, &bytes, first, "counter"));
                        ok(cu.cuModuleGetGlobal_v2(&x, nullptr, first, "counter"));
                        ok(launch(first["count"], 32, nullptr));
                        int value = 0;
                        ok(cu.cuMemcpyDtoH_v2(&value, x, 4));
                        check(value == 39, "value: " + std::to_string(value));
                        ok(cu.cuModuleGetGlobal_v2(&x, &bytes, second, "counter"));
                        ok(cu.cuMemcpyDtoH_v2(&value, x, 4));
                        check(value == 7, "the other module's: " + std::to_string(value));
                    }};

fact const jit_log{
    "the_compiler_says_what_is_wrong",
    "Driver API, CUjit_option: \"CU_JIT_ERROR_LOG_BUFFER: Pointer to a buffer in which to print any log "
    "messages that "
    "reflect errors\", \"CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES: IN: Log buffer size in bytes. [...] OUT: Amount "
    "of log buffer "
    "filled with messages\"; CUDA_ERROR_INVALID_PTX: \"This indicates that a PTX JIT compilation failed.\"",
    [] {
        char log[512] = "";
        CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
        void* values[] = {log, reinterpret_cast<void*>(std::uintptr_t{sizeof log})};
        CUmodule m = nullptr;
        answers(cu.cuModuleLoadDataEx(&m,
                                      ".version 7.0\n.target sm_75\n.address_size 64\n"
                                      ".visible .entry f()\n{\n    no_such_instruction;\n}\n",
                                      2, options, values),
                CUDA_ERROR_INVALID_PTX);
        auto const length = std::strlen(log);
        check(length > 0 && length < sizeof log, "nothing was said");
        check(reinterpret_cast<std::uintptr_t>(values[1]) >= length, "the size was not handed back");
        check(std::strstr(log, "line 6") != nullptr, log);
    }};

fact const short_log{
    "the_log_is_cut_off_at_its_size",
    "Driver API, CUjit_option, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES: \"Log messages will be capped at this "
    "size (including "
    "null terminator)\"",
    [] {
        char log[64];
        std::memset(log, 'x', sizeof log);
        CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
        void* values[] = {log, reinterpret_cast<void*>(std::uintptr_t{16})};
        CUmodule m = nullptr;
        answers(cu.cuModuleLoadDataEx(&m,
                                      ".version 7.0\n.target sm_75\n.address_size 64\n"
                                      ".visible .entry f()\n{\n    no_such_instruction;\n}\n",
                                      2, options, values),
                CUDA_ERROR_INVALID_PTX);
        check(std::memchr(log, '\0', 16) != nullptr, "not ended");
        bool untouched = true;
        for (int i = 16; i < 64; ++i) untouched = untouched && log[i] == 'x';
        check(untouched, "written behind the end");
    }};

fact const too_new{
    "ptx_of_a_newer_toolkit_is_refused_as_such",
    "Driver API, CUDA_ERROR_UNSUPPORTED_PTX_VERSION: \"This indicates that the provided PTX was compiled "
    "with an "
    "unsupported toolchain.\"",
    [] {
        answers(load(".version 99.9\n.target sm_75\n.address_size 64\n.visible .entry f()\n{\n    ret;\n}\n"),
                CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
    }};

fact const no_image{
    "what_is_no_image_is_refused_and_harmless",
    "Driver API, CUDA_ERROR_INVALID_IMAGE: \"This indicates that the device kernel image is invalid.\"; "
    "CUDA_ERROR_INVALID_PTX: \"This indicates that a PTX JIT compilation failed.\"",
    [] {
        auto const result = load("this is neither PTX nor a cubin nor a fatbin");
        check(result == CUDA_ERROR_INVALID_IMAGE || result == CUDA_ERROR_INVALID_PTX,
              "answered " + std::to_string(result));
        answers(load(kernels_ptx), CUDA_SUCCESS);
    }};

fact const null_handles{"handles_that_are_none_are_invalid",
                        "Driver API, CUDA_ERROR_INVALID_HANDLE: \"This indicates that a resource handle "
                        "passed to the API call was not valid. "
                        "Resource handles are opaque types like CUstream and CUevent.\"",
                        [] {
                            answers(cu.cuEventQuery(nullptr), CUDA_ERROR_INVALID_HANDLE);
                            answers(cu.cuEventRecord(nullptr, nullptr), CUDA_ERROR_INVALID_HANDLE);
                            answers(
                                cu.cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
                                CUDA_ERROR_INVALID_HANDLE);
                        }};

} // namespace
} // namespace facts
