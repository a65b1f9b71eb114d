// SPDX-License-Identifier: BSL-1.0
// Start, devices, contexts, look-up of functions.
#include "harness.hpp"

#include <cstring>
#include <thread>

namespace {

test_case const not_initialised{"nothing_works_before_cuInit", [] {
                                    cu.reset();
                                    int n = 0;
                                    expect(cu.cuDeviceGetCount(&n), CUDA_ERROR_NOT_INITIALIZED);
                                    int version = 0;
                                    expect(cu.cuDriverGetVersion(&version));
                                    check(version == 13000, "version");
                                }};

test_case const no_devices{"no_device_is_said_by_cuInit", [] {
                               cu.reset();
                               cu.set("DEVICES", "0");
                               expect(cu.cuInit(0), CUDA_ERROR_NO_DEVICE);
                               cu.reset();
                           }};

test_case const texts{"errors_have_names_and_texts", [] {
                          char const* text = nullptr;
                          expect(cu.cuGetErrorName(CUDA_ERROR_OUT_OF_MEMORY, &text));
                          check(std::strcmp(text, "CUDA_ERROR_OUT_OF_MEMORY") == 0, "name");
                          expect(cu.cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text));
                          check(std::strcmp(text, "out of memory") == 0, "text");
                          expect(cu.cuGetErrorName(static_cast<CUresult>(998), &text),
                                 CUDA_ERROR_INVALID_VALUE);
                      }};

test_case const several{
    "several_devices_with_attributes", [] {
        session s(
            {{"DEVICES", "3"}, {"MEMORY", "1048576"}, {"CC", "80"}, {"WRITE_VALUE", "0"}, {"POOLS", "0"}});
        int n = 0;
        expect(cu.cuDeviceGetCount(&n));
        check(n == 3, "count");
        CUdevice d = -1;
        expect(cu.cuDeviceGet(&d, 2));
        expect(cu.cuDeviceGet(&d, 3), CUDA_ERROR_INVALID_DEVICE);
        std::size_t bytes = 0;
        expect(cu.cuDeviceTotalMem_v2(&bytes, 1));
        check(bytes == 1048576, "memory");
        int value = -1;
        expect(cu.cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
        check(value == 8, "capability");
        expect(cu.cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, 0));
        check(value == 0, "write value");
        expect(cu.cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 0));
        check(value == 0, "pools");
        CUmemoryPool pool = nullptr;
        expect(cu.cuDeviceGetDefaultMemPool(&pool, 0), CUDA_ERROR_NOT_SUPPORTED);
        CUuuid a{};
        CUuuid b{};
        expect(cu.cuDeviceGetUuid_v2(&a, 0));
        expect(cu.cuDeviceGetUuid_v2(&b, 1));
        check(std::memcmp(&a, &b, sizeof a) != 0, "uuid");
    }};

test_case const stacks{"each_thread_has_its_stack_of_contexts", [] {
                           session s({{"DEVICES", "2"}});
                           auto const first = s.context(0);
                           auto const second = s.context(1);
                           expect(cu.cuCtxPushCurrent_v2(second));
                           CUdevice d = -1;
                           expect(cu.cuCtxGetDevice(&d));
                           check(d == 1, "pushed");
                           std::thread([&] {
                               CUcontext c = first;
                               expect(cu.cuCtxGetCurrent(&c));
                               check(c == nullptr, "another thread has none");
                               expect(cu.cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
                           }).join();
                           check(reported("wrong context"), "said");
                           CUcontext popped = nullptr;
                           expect(cu.cuCtxPopCurrent_v2(&popped));
                           check(popped == second, "popped");
                           expect(cu.cuCtxGetCurrent(&popped));
                           check(popped == first, "below");
                           expect(cu.cuCtxPopCurrent_v2(nullptr));
                           expect(cu.cuCtxPopCurrent_v2(nullptr), CUDA_ERROR_INVALID_CONTEXT);
                       }};

test_case const primary{"primary_context_lives_as_long_as_it_is_retained", [] {
                            session s;
                            auto const c = s.context();
                            check(c == s.context(), "one handle");
                            auto const stream = s.stream();
                            unsigned flags = 0;
                            int active = 0;
                            for (int i = 0; i < 3; ++i) expect(cu.cuDevicePrimaryCtxRelease_v2(0));
                            expect(cu.cuDevicePrimaryCtxGetState(0, &flags, &active));
                            check(active == 0, "inactive");
                            expect(cu.cuStreamQuery(stream), CUDA_ERROR_CONTEXT_IS_DESTROYED);
                            expect(cu.cuDevicePrimaryCtxRelease_v2(0), CUDA_ERROR_INVALID_CONTEXT);
                            s.context();
                            expect(cu.cuStreamQuery(stream), CUDA_ERROR_INVALID_HANDLE);
                            check(reported("used after it was destroyed"), "said");
                            expect(cu.cuDevicePrimaryCtxReset_v2(0));
                            expect(cu.cuCtxSynchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
                        }};

test_case const own{"contexts_of_the_program", [] {
                        session s;
                        CUcontext c = nullptr;
                        expect(cu.cuCtxCreate_v4(&c, nullptr, 0, 0));
                        auto const stream = s.stream();
                        CUcontext owner = nullptr;
                        expect(cu.cuStreamGetCtx(stream, &owner));
                        check(owner == c, "owner");
                        expect(cu.cuCtxDestroy_v2(c));
                        expect(cu.cuStreamQuery(stream), CUDA_ERROR_INVALID_HANDLE);
                        expect(cu.cuCtxPushCurrent_v2(c), CUDA_ERROR_CONTEXT_IS_DESTROYED);
                    }};

test_case const addresses{
    "proc_address_gives_the_version_asked_for", [] {
        session s;
        void* f = nullptr;
        CUdriverProcAddressQueryResult status{};
        expect(cu.cuGetProcAddress_v2("cuMemAlloc", &f, 12000, 0, &status));
        check(f == reinterpret_cast<void*>(cu.cuMemAlloc_v2) && status == CU_GET_PROC_ADDRESS_SUCCESS, "_v2");
        expect(cu.cuGetProcAddress_v2("cuCtxSynchronize", &f, 12000, 0, &status));
        check(f == reinterpret_cast<void*>(cu.cuCtxSynchronize), "before 13");
        expect(cu.cuGetProcAddress_v2("cuCtxSynchronize", &f, 13000, 0, &status));
        check(f == reinterpret_cast<void*>(cu.cuCtxSynchronize_v2), "from 13 on");
        expect(cu.cuGetProcAddress_v2("cuEventElapsedTime", &f, 11040, 0, &status));
        check(f == reinterpret_cast<void*>(cu.cuEventElapsedTime), "old elapsed time");
        expect(cu.cuGetProcAddress_v2("cuGetProcAddress", &f, 12000, 0, &status));
        check(f == reinterpret_cast<void*>(cu.cuGetProcAddress_v2), "itself");
        expect(cu.cuGetProcAddress_v2("cuLibraryLoadData", &f, 11000, 0, &status));
        check(!f && status == CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT, "too new");
        expect(cu.cuGetProcAddress_v2("cuNoSuchFunction", &f, 12000, 0, &status));
        check(!f && status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND, "unknown");
        expect(cu.cuGetProcAddress("cuNoSuchFunction", &f, 12000, 0), CUDA_ERROR_NOT_FOUND);
        CUuuid const id{};
        void const* table = &id;
        expect(cu.cuGetExportTable(&table, &id), CUDA_ERROR_NOT_FOUND);
        check(!table, "a table");
        expect(cu.cuGetProcAddress_v2("cuInit", &f, 14000, 0, &status), CUDA_ERROR_INVALID_VALUE);
#define OMP_CO_SIM_FUNCTION(base, symbol, since)                                                             \
    expect(cu.cuGetProcAddress_v2(#base, &f, since, 0, &status));                                            \
    check(f == reinterpret_cast<void*>(cu.symbol), #symbol);
#include "../functions.inc"
#undef OMP_CO_SIM_FUNCTION
    }};

test_case const old_driver{
    "an_old_driver_lacks_newer_functions", [] {
        session s({{"DRIVER_VERSION", "11040"}});
        void* f = nullptr;
        CUdriverProcAddressQueryResult status{};
        expect(cu.cuGetProcAddress("cuLibraryLoadData", &f, 11040, 0), CUDA_ERROR_NOT_FOUND);
        expect(cu.cuGetProcAddress("cuMemAllocAsync", &f, 11040, 0));
        expect(cu.cuGetProcAddress_v2("cuMemAlloc", &f, 12000, 0, &status), CUDA_ERROR_INVALID_VALUE);
        expect(cu.cuStreamWriteValue64_v2(nullptr, 8, 1, 0), CUDA_ERROR_NOT_SUPPORTED);
    }};

test_case const peers{"peer_access_is_switched_on", [] {
                          session s({{"DEVICES", "2"}});
                          auto const other = s.context(1);
                          int can = 0;
                          expect(cu.cuDeviceCanAccessPeer(&can, 0, 1));
                          check(can == 1, "can");
                          expect(cu.cuCtxEnablePeerAccess(other, 0));
                          expect(cu.cuCtxEnablePeerAccess(other, 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
                          expect(cu.cuCtxDisablePeerAccess(other));
                          expect(cu.cuCtxDisablePeerAccess(other), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
                      }};

} // namespace
