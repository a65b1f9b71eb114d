// SPDX-License-Identifier: BSL-1.0
// Real kernels: images that nvcc made from kernels.cu, in the folder that OMP_CO_SIM_TEST_IMAGES names.
#include "harness.hpp"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

namespace {

std::string folder()
{
    char const* name = std::getenv("OMP_CO_SIM_TEST_IMAGES");
    return name ? name : "";
}

std::string image(char const* name)
{
    std::ifstream file(folder() + "/" + name, std::ios::binary);
    check(file.is_open(), std::string("no image ") + name);
    return {std::istreambuf_iterator<char>(file), {}};
}

bool skipped()
{
    if (!folder().empty()) return false;
    std::puts("skipped: OMP_CO_SIM_TEST_IMAGES is not set");
    return true;
}

CUfunction function(CUmodule m, char const* name)
{
    CUfunction f = nullptr;
    expect(cu.cuModuleGetFunction(&f, m, name));
    return f;
}

CUmodule load(char const* name)
{
    CUmodule m = nullptr;
    expect(cu.cuModuleLoadData(&m, image(name).c_str()));
    return m;
}

void check_saxpy(session& s, CUmodule m)
{
    int n = 1000;
    float a = 2;
    std::vector<float> host(1000);
    for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<float>(i);
    auto x = s.memory(4000);
    auto y = s.memory(4000);
    expect(cu.cuMemcpyHtoD_v2(x, host.data(), 4000));
    expect(cu.cuMemcpyHtoD_v2(y, host.data(), 4000));
    void* parameters[] = {&a, &x, &y, &n};
    expect(cu.cuLaunchKernel(function(m, "saxpy"), 8, 1, 1, 128, 1, 1, 0, nullptr, parameters, nullptr));
    expect(cu.cuMemcpyDtoH_v2(host.data(), y, 4000));
    check(host[1] == 3 && host[999] == 2997, "saxpy");
}

test_case const ptx{"ptx_runs", [] {
                        if (skipped()) return;
                        session s;
                        auto const m = load("kernels.ptx");
                        check_saxpy(s, m);
                        int in[64];
                        for (int i = 0; i < 64; ++i) in[i] = i;
                        auto x = s.memory(sizeof in);
                        expect(cu.cuMemcpyHtoD_v2(x, in, sizeof in));
                        void* parameters[] = {&x};
                        expect(cu.cuLaunchKernel(function(m, "reverse"), 1, 1, 1, 64, 1, 1, sizeof in,
                                                 nullptr, parameters, nullptr));
                        expect(cu.cuMemcpyDtoH_v2(in, x, sizeof in));
                        check(in[0] == 63 && in[63] == 0, "shared memory");
                    }};

test_case const variables{
    "variables_of_a_module", [] {
        if (skipped()) return;
        session s;
        auto const m = load("kernels.ptx");
        struct {
            float x, y;
            char tag;
        } point{1, 2, 3};
        auto out = s.memory(4);
        void* parameters[] = {&point, &out};
        auto take = function(m, "take");
        std::size_t offset = 0;
        std::size_t size = 0;
        expect(cu.cuFuncGetParamInfo(take, 0, &offset, &size));
        check(size == 12, "size of a structure");
        expect(cu.cuFuncGetParamInfo(take, 1, &offset, &size));
        check(offset == 16 && size == 8, "offset of the next");
        expect(cu.cuLaunchKernel(take, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
        float result = 0;
        expect(cu.cuMemcpyDtoH_v2(&result, out, 4));
        check(result == 10, "constant memory");
        CUdeviceptr address = 0;
        std::size_t bytes = 0;
        expect(cu.cuModuleGetGlobal_v2(&address, &bytes, m, "counter"));
        int counter = 0;
        expect(cu.cuMemcpyDtoH_v2(&counter, address, bytes));
        check(bytes == 4 && counter == 6, "global variable");
        expect(cu.cuModuleGetGlobal_v2(&address, &bytes, m, "nothing"), CUDA_ERROR_NOT_FOUND);
        expect(cu.cuModuleUnload(m));
        expect(cu.cuMemcpyDtoH_v2(&counter, address, bytes), CUDA_ERROR_INVALID_VALUE);
    }};

test_case const fatbins{
    "fatbins_with_plain_ptx_run", [] {
        if (skipped()) return;
        session s({{"CC", "80"}});
        check_saxpy(s, load("plain.fatbin"));
        CUmodule m = nullptr;
        expect(cu.cuModuleLoadFatBinary(&m, image("plain.fatbin").c_str()));
        check_saxpy(s, m);
        struct {
            unsigned magic, version;
            void const* data;
            void const* more;
        } wrapper{0x466243b1, 1, nullptr, nullptr};
        auto const bytes = image("plain.fatbin");
        wrapper.data = bytes.data();
        expect(cu.cuModuleLoadData(&m, &wrapper));
        expect(cu.cuModuleLoad(&m, (folder() + "/plain.fatbin").c_str()));
        CUlibrary l = nullptr;
        CUkernel k = nullptr;
        expect(cu.cuLibraryLoadData(&l, bytes.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
        expect(cu.cuLibraryGetKernel(&k, l, "saxpy"));
    }};

test_case const wrong{
    "images_that_cannot_run_say_why", [] {
        if (skipped()) return;
        session s;
        char log[512] = "";
        CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
        void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
        auto const try_image = [&](std::string const& bytes) {
            CUmodule m = nullptr;
            values[1] = reinterpret_cast<void*>(sizeof log);
            return cu.cuModuleLoadDataEx(&m, bytes.c_str(), 2, options, values);
        };
        expect(try_image(image("compressed.fatbin")), CUDA_ERROR_NOT_SUPPORTED);
        check(std::strstr(log, "--no-compress") != nullptr, log);
        expect(try_image(image("cubin.fatbin")), CUDA_ERROR_NO_BINARY_FOR_GPU);
        expect(try_image(image("kernels.cubin")), CUDA_ERROR_NO_BINARY_FOR_GPU);
        expect(
            try_image(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry f()\n{\nfoo.bar;\n}\n"),
            CUDA_ERROR_INVALID_PTX);
        check(std::strstr(log, "line 6") != nullptr, log);
        cu.set("CC", "75");
        expect(try_image(image("plain.fatbin")), CUDA_ERROR_NO_BINARY_FOR_GPU);
        check(std::strstr(log, "newer devices") != nullptr, log);
        cu.set("CC", "90");
        cu.set("DRIVER_VERSION", "12040");
        expect(try_image(image("kernels.ptx")), CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
    }};

test_case const wild{"a_null_store_in_ptx_loses_the_device", [] {
                         if (skipped()) return;
                         session s;
                         auto f = function(load("kernels.ptx"), "store");
                         CUdeviceptr x = 0;
                         launch(f, nullptr, {&x});
                         expect(cu.cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
                         check(reported("note: device 0 is lost: CUDA_ERROR_ILLEGAL_ADDRESS: "), report());
                     }};

test_case const over{"a_store_behind_an_allocation_in_ptx_loses_the_device", [] {
                         if (skipped()) return;
                         session s;
                         auto f = function(load("kernels.ptx"), "store");
                         auto x = s.memory(60);
                         x += 60;
                         launch(f, nullptr, {&x});
                         expect(cu.cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
                     }};

test_case const misaligned{"a_misaligned_store_in_ptx_loses_the_device", [] {
                               if (skipped()) return;
                               session s;
                               auto f = function(load("kernels.ptx"), "store");
                               auto x = s.memory(60);
                               x += 2;
                               launch(f, nullptr, {&x});
                               expect(cu.cuCtxSynchronize(), CUDA_ERROR_MISALIGNED_ADDRESS);
                           }};

test_case const trap{"trap_in_ptx_is_a_launch_failure", [] {
                         if (skipped()) return;
                         session s;
                         launch(function(load("kernels.ptx"), "stop"), nullptr);
                         expect(cu.cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
                     }};

test_case const bounds{"launch_bounds_are_kept", [] {
                           if (skipped()) return;
                           session s;
                           auto f = function(load("kernels.ptx"), "small");
                           int most = 0;
                           expect(cu.cuFuncGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f));
                           check(most == 64, "attribute");
                           expect(cu.cuLaunchKernel(f, 1, 1, 1, 96, 1, 1, 0, nullptr, nullptr, nullptr),
                                  CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
                       }};

} // namespace
