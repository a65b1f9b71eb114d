// SPDX-License-Identifier: BSL-1.0
// Launches: parameters, limits, shared memory.
#include "facts.hpp"

#include <cstring>

namespace facts {
namespace {

struct point {
    double x;
    unsigned tag;
};

fact const grid{"a_grid_has_all_its_blocks_and_threads",
                "Driver API, Execution Control, cuLaunchKernel: \"Invokes the function CUfunction or the "
                "kernel CUkernel f on a "
                "gridDimX x gridDimY x gridDimZ grid of blocks. Each block contains blockDimX x blockDimY x "
                "blockDimZ threads.\"",
                [] {
                    kernels const k;
                    std::vector<unsigned> out(2 * 3 * 4 * 33);
                    device_memory const x(out.size() * 4);
                    CUdeviceptr to = x;
                    void* parameters[] = {&to};
                    ok(cu.cuMemsetD32_v2(x, 0, out.size()));
                    ok(cu.cuLaunchKernel(k["number"], 2, 3, 4, 33, 1, 1, 0, nullptr, parameters, nullptr));
                    ok(cu.cuMemcpyDtoH_v2(out.data(), x, out.size() * 4));
                    bool right = true;
                    for (unsigned i = 0; i < out.size(); ++i) right = right && out[i] == i;
                    check(right, "a thread is missing");
                }};

fact const one_by_one{"parameters_are_copied_when_the_kernel_is_launched",
                      "Driver API, Execution Control, cuLaunchKernel: \"Each of kernelParams[0] through "
                      "kernelParams[N-1] must point to a "
                      "region of memory from which the actual kernel parameter will be copied. The number of "
                      "kernel parameters and their "
                      "offsets and sizes do not need to be specified as that information is retrieved "
                      "directly from the kernel's image.\"",
                      [] {
                          kernels const k;
                          device_memory const x(4);
                          stream const s;
                          CUdeviceptr to = x;
                          auto a = static_cast<unsigned char>(200);
                          auto c = static_cast<unsigned short>(3000);
                          point b{0.5, 70000};
                          auto const f = k["mixed"];
                          gate g(s);
                          ok(launch(f, 1, s, {&a, &b, &c, &to}));
                          a = 0;
                          b.tag = 0;
                          to = 0;
                          g.open();
                          ok(cu.cuStreamSynchronize(s));
                          check(x.first() == 200 + 70000 + 3000, "sum: " + std::to_string(x.first()));
                      }};

fact const layout{"parameters_have_the_layout_of_a_structure",
                  "Driver API, Execution Control, cuFuncGetParamInfo: \"Queries the kernel parameter at "
                  "paramIndex into func's list of "
                  "parameters, and returns in paramOffset and paramSize the offset and size, respectively, "
                  "where the parameter will "
                  "reside in the device-side parameter layout. [...] paramIndex must be less than the number "
                  "of parameters that func "
                  "takes. paramSize can be set to NULL if only the parameter offset is desired.\"",
                  [] {
                      int version = 0;
                      ok(cu.cuDriverGetVersion(&version));
                      if (version < 12040) throw skipped("the driver has no cuFuncGetParamInfo");
                      kernels const k;
                      auto const f = k["mixed"];
                      std::size_t const offsets[] = {0, 8, 20, 24};
                      std::size_t const sizes[] = {1, 12, 2, 8};
                      for (std::size_t i = 0; i < 4; ++i) {
                          std::size_t offset = 99;
                          std::size_t size = 99;
                          ok(cu.cuFuncGetParamInfo(f, i, &offset, &size));
                          check(offset == offsets[i] && size == sizes[i], "parameter " + std::to_string(i));
                          ok(cu.cuFuncGetParamInfo(f, i, &offset, nullptr));
                      }
                      std::size_t offset = 0;
                      answers(cu.cuFuncGetParamInfo(f, 4, &offset, nullptr), CUDA_ERROR_INVALID_VALUE);
                  }};

fact const packed{"parameters_can_be_packed_by_the_program",
                  "Driver API, Execution Control, cuLaunchKernel: \"Kernel parameters can also be packaged "
                  "by the application into a "
                  "single buffer that is passed in via the extra parameter. This places the burden on the "
                  "application of knowing each "
                  "kernel parameter's size and alignment/padding within the buffer.\"",
                  [] {
                      kernels const k;
                      device_memory const x(4);
                      CUdeviceptr const to = x;
                      unsigned char buffer[32]{};
                      unsigned const tag = 9;
                      unsigned short const c = 7;
                      buffer[0] = 5;
                      std::memcpy(buffer + 16, &tag, 4);
                      std::memcpy(buffer + 20, &c, 2);
                      std::memcpy(buffer + 24, &to, 8);
                      std::size_t size = sizeof buffer;
                      void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_BUFFER_SIZE,
                                       &size, CU_LAUNCH_PARAM_END};
                      ok(cu.cuLaunchKernel(k["mixed"], 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
                      check(x.first() == 21, "sum: " + std::to_string(x.first()));
                  }};

fact const both{"parameters_are_given_in_one_way_only",
                "Driver API, Execution Control, cuLaunchKernel: \"The error CUDA_ERROR_INVALID_VALUE will be "
                "returned if kernel "
                "parameters are specified with both kernelParams and extra (i.e. both kernelParams and extra "
                "are non-NULL).\"",
                [] {
                    kernels const k;
                    void* parameters[] = {nullptr};
                    std::size_t size = 0;
                    void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &size, CU_LAUNCH_PARAM_BUFFER_SIZE,
                                     &size, CU_LAUNCH_PARAM_END};
                    answers(cu.cuLaunchKernel(k["nothing"], 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, extra),
                            CUDA_ERROR_INVALID_VALUE);
                }};

fact const limits{
    "a_launch_over_the_limits_of_the_device_is_an_invalid_value_and_harmless",
    "Driver API, CUdevice_attribute: \"CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK: Maximum number of threads "
    "per block\", "
    "\"CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z: Maximum block dimension Z\", "
    "\"CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y: Maximum "
    "grid dimension Y\"",
    [] {
        kernels const k;
        auto const f = k["nothing"];
        auto const threads = static_cast<unsigned>(attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
        auto const z = static_cast<unsigned>(attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z));
        auto const y = static_cast<unsigned>(attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y));
        auto const go = [f](unsigned grid_x, unsigned grid_y, unsigned block_x, unsigned block_z) {
            return cu.cuLaunchKernel(f, grid_x, grid_y, 1, block_x, 1, block_z, 0, nullptr, nullptr, nullptr);
        };
        answers(go(1, 1, threads, 1), CUDA_SUCCESS);
        answers(go(1, y, 1, 1), CUDA_SUCCESS);
        answers(go(1, 1, threads + 1, 1), CUDA_ERROR_INVALID_VALUE);
        answers(go(1, 1, threads, 2), CUDA_ERROR_INVALID_VALUE);
        answers(go(1, 1, 1, z + 1), CUDA_ERROR_INVALID_VALUE);
        answers(go(1, y + 1, 1, 1), CUDA_ERROR_INVALID_VALUE);
        answers(go(0, 1, 1, 1), CUDA_ERROR_INVALID_VALUE);
        answers(go(1, 1, 0, 1), CUDA_ERROR_INVALID_VALUE);
        answers(cu.cuCtxSynchronize(), CUDA_SUCCESS);
    }};

fact const bounds{"a_launch_over_the_bounds_of_a_kernel_fails",
                  "Driver API, CUfunction_attribute: \"CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: The maximum "
                  "number of threads per block, "
                  "beyond which a launch of the function would fail. This number depends on both the "
                  "function and the device on which "
                  "the function is currently loaded.\"",
                  [] {
                      kernels const k;
                      auto const f = k["at_most_64"];
                      int most = 0;
                      ok(cu.cuFuncGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f));
                      check(most == 64, "most: " + std::to_string(most));
                      answers(launch(f, 64, nullptr), CUDA_SUCCESS);
                      check(launch(f, 65, nullptr) != CUDA_SUCCESS, "65 threads were launched");
                      answers(cu.cuCtxSynchronize(), CUDA_SUCCESS);
                  }};

fact const shared_memory{
    "dynamic_shared_memory_is_there_for_each_block",
    "Driver API, Execution Control, cuLaunchKernel: \"sharedMemBytes sets the amount of dynamic shared "
    "memory that will be "
    "available to each thread block.\"",
    [] {
        kernels const k;
        device_memory const x(4);
        CUdeviceptr to = x;
        unsigned bytes = static_cast<unsigned>(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK));
        ok(launch(k["last_word"], 1, nullptr, {&to, &bytes}, bytes));
        check(x.first() == static_cast<int>(bytes), "last word: " + std::to_string(x.first()));
    }};

fact const static_shared{"static_shared_memory_is_counted",
                         "Driver API, CUfunction_attribute: \"CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: The size "
                         "in bytes of statically-allocated "
                         "shared memory required by this function. This does not include "
                         "dynamically-allocated shared memory requested by the "
                         "user at runtime.\"",
                         [] {
                             kernels const k;
                             auto const f = k["static_kilobyte"];
                             int bytes = 0;
                             ok(cu.cuFuncGetAttribute(&bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, f));
                             check(bytes == 1024, "bytes: " + std::to_string(bytes));
                             device_memory const x(4);
                             CUdeviceptr to = x;
                             ok(launch(f, 1, nullptr, {&to}));
                             check(x.first() == 5, "value");
                         }};

fact const more_shared{
    "more_than_48_kib_of_shared_memory_is_asked_for",
    "Programming Guide, Compute Capabilities, Shared Memory: \"Kernels relying on shared memory allocations "
    "over 48 KB per "
    "block are architecture-specific, as such they must use dynamic shared memory (rather than statically "
    "sized arrays) "
    "and require an explicit opt-in\"",
    [] {
        kernels const k;
        auto const f = k["last_word"];
        auto const usual = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
        auto const most = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
        if (most <= usual) throw skipped("the device has no more than " + std::to_string(usual) + " bytes");
        device_memory const x(4);
        CUdeviceptr to = x;
        auto bytes = static_cast<unsigned>(most);
        answers(launch(f, 1, nullptr, {&to, &bytes}, bytes), CUDA_ERROR_INVALID_VALUE);
        answers(cu.cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most),
                CUDA_SUCCESS);
        answers(launch(f, 1, nullptr, {&to, &bytes}, bytes), CUDA_SUCCESS);
        check(x.first() == most, "last word: " + std::to_string(x.first()));
        ok(cu.cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, usual));
    }};

fact const too_much_shared{
    "shared_memory_over_the_limit_of_the_device_cannot_be_asked_for",
    "Driver API, Execution Control, cuFuncSetAttribute: \"The sum of this value and the function attribute "
    "CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES cannot exceed the device attribute "
    "CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN.\"",
    [] {
        kernels const k;
        auto const most = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
        auto const which = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        answers(cu.cuFuncSetAttribute(k["last_word"], which, most + 1), CUDA_ERROR_INVALID_VALUE);
        answers(cu.cuFuncSetAttribute(k["static_kilobyte"], which, most - 1023), CUDA_ERROR_INVALID_VALUE);
        answers(cu.cuFuncSetAttribute(k["static_kilobyte"], which, most - 1024), CUDA_SUCCESS);
    }};

fact const read_only{"what_a_function_is_cannot_be_set",
                     "Driver API, Execution Control, cuFuncSetAttribute: \"Attempting to set a value on a "
                     "read-only attribute will result in "
                     "an error (CUDA_ERROR_INVALID_VALUE)\"",
                     [] {
                         kernels const k;
                         answers(cu.cuFuncSetAttribute(k["nothing"], CU_FUNC_ATTRIBUTE_NUM_REGS, 8),
                                 CUDA_ERROR_INVALID_VALUE);
                     }};

} // namespace
} // namespace facts
