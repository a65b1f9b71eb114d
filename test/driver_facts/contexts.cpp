// SPDX-License-Identifier: BSL-1.0
// Start, contexts, and errors by name.
#include "facts.hpp"

#include <cstring>
#include <thread>

namespace facts {
namespace {

fact const stack_of_each_thread{"each_thread_has_its_own_stack_of_contexts",
                                "Driver API, Context Management, cuCtxGetCurrent: \"If no context is bound "
                                "to the calling CPU thread then *pctx "
                                "is set to NULL and CUDA_SUCCESS is returned.\"",
                                [] {
                                    std::thread([] {
                                        CUcontext c = reinterpret_cast<CUcontext>(1);
                                        answers(cu.cuCtxGetCurrent(&c), CUDA_SUCCESS);
                                        check(c == nullptr, "a new thread has a context");
                                        answers(cu.cuCtxPopCurrent_v2(&c), CUDA_ERROR_INVALID_CONTEXT);
                                        answers(cu.cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
                                    }).join();
                                }};

fact const pushed{
    "push_and_pop_restore_the_context_before",
    "Driver API, Context Management, cuCtxPopCurrent: \"If a context was current to the CPU thread before "
    "cuCtxCreate() "
    "or cuCtxPushCurrent() was called, this function makes that context current to the CPU thread again.\"",
    [] {
        CUcontext before = nullptr;
        ok(cu.cuCtxGetCurrent(&before));
        ok(cu.cuCtxSetCurrent(nullptr));
        ok(cu.cuCtxPushCurrent_v2(before));
        ok(cu.cuCtxPushCurrent_v2(before));
        CUcontext popped = nullptr;
        ok(cu.cuCtxPopCurrent_v2(&popped));
        check(popped == before, "another context was popped");
        CUcontext now = nullptr;
        ok(cu.cuCtxGetCurrent(&now));
        check(now == before, "the one below is not current");
        ok(cu.cuCtxPopCurrent_v2(&popped));
        ok(cu.cuCtxGetCurrent(&now));
        check(now == nullptr, "the stack is not empty");
    }};

fact const set_replaces{"setting_the_context_replaces_the_top_of_the_stack",
                        "Driver API, Context Management, cuCtxSetCurrent: \"If there exists a CUDA context "
                        "stack on the calling CPU thread, "
                        "this will replace the top of that stack with ctx. If ctx is NULL then this will be "
                        "equivalent to popping the top\"",
                        [] {
                            CUcontext c = nullptr;
                            ok(cu.cuCtxGetCurrent(&c));
                            std::thread([c] {
                                ok(cu.cuCtxSetCurrent(nullptr));
                                ok(cu.cuCtxSetCurrent(c));
                                ok(cu.cuCtxSetCurrent(c));
                                ok(cu.cuCtxSetCurrent(nullptr));
                                CUcontext now = c;
                                ok(cu.cuCtxGetCurrent(&now));
                                check(now == nullptr, "setting twice made the stack grow");
                            }).join();
                        }};

fact const one_primary{"the_primary_context_is_one_and_is_not_pushed",
                       "Driver API, Primary Context Management, cuDevicePrimaryCtxRetain: \"Unlike "
                       "cuCtxCreate() the newly retained context "
                       "is not pushed onto the stack.\"",
                       [] {
                           CUcontext first = nullptr;
                           CUcontext second = nullptr;
                           ok(cu.cuCtxGetCurrent(&first));
                           ok(cu.cuCtxSetCurrent(nullptr));
                           ok(cu.cuDevicePrimaryCtxRetain(&second, 0));
                           check(first == second, "another handle");
                           CUcontext now = nullptr;
                           ok(cu.cuCtxGetCurrent(&now));
                           check(now == nullptr, "it was pushed");
                           ok(cu.cuDevicePrimaryCtxRelease_v2(0));
                       }};

fact const released{"the_last_release_resets_the_primary_context",
                    "Driver API, Primary Context Management, cuDevicePrimaryCtxRelease: \"The context is "
                    "automatically reset once the "
                    "last reference to it is released.\" \"Releasing a primary context that has not been "
                    "previously retained will fail "
                    "with CUDA_ERROR_INVALID_CONTEXT.\"",
                    [] {
                        CUcontext c = nullptr;
                        unsigned flags = 0;
                        int active = 0;
                        ok(cu.cuDevicePrimaryCtxRetain(&c, 0));
                        ok(cu.cuDevicePrimaryCtxRelease_v2(0));
                        ok(cu.cuDevicePrimaryCtxGetState(0, &flags, &active));
                        check(active == 1, "a reference is left, but it is not active");
                        ok(cu.cuDevicePrimaryCtxRelease_v2(0));
                        ok(cu.cuDevicePrimaryCtxGetState(0, &flags, &active));
                        check(active == 0, "it is still active");
                        answers(cu.cuDevicePrimaryCtxRelease_v2(0), CUDA_ERROR_INVALID_CONTEXT);
                    },
                    process::own};

fact const not_popped{"releasing_does_not_pop_the_primary_context",
                      "Driver API, Primary Context Management, cuDevicePrimaryCtxRelease: \"unlike "
                      "cuCtxDestroy() this method does not pop "
                      "the context from stack in any circumstances\"; CUDA_ERROR_CONTEXT_IS_DESTROYED: \"the "
                      "context current to the calling "
                      "thread [...] is a primary context which has not yet been initialized\"",
                      [] {
                          CUcontext c = nullptr;
                          ok(cu.cuCtxGetCurrent(&c));
                          ok(cu.cuDevicePrimaryCtxRelease_v2(0));
                          CUcontext now = nullptr;
                          ok(cu.cuCtxGetCurrent(&now));
                          check(now == c, "it was popped");
                          CUdeviceptr x = 0;
                          answers(cu.cuMemAlloc_v2(&x, 16), CUDA_ERROR_CONTEXT_IS_DESTROYED);
                      },
                      process::own};

fact const reset{
    "resetting_does_not_release",
    "Driver API, Primary Context Management, cuDevicePrimaryCtxReset: \"Resetting the primary context does "
    "not release "
    "it, an application that has retained the primary context should explicitly release its usage.\"",
    [] {
        ok(cu.cuDevicePrimaryCtxReset_v2(0));
        unsigned flags = 0;
        int active = 1;
        ok(cu.cuDevicePrimaryCtxGetState(0, &flags, &active));
        check(active == 0, "it is still active");
        answers(cu.cuDevicePrimaryCtxRelease_v2(0), CUDA_SUCCESS);
    },
    process::own};

fact const again{
    "a_context_that_is_made_again_has_another_id",
    "Driver API, Context Management, cuCtxGetId: \"The Id is unique for the life of the program for this "
    "instance of CUDA.\"",
    [] {
        CUcontext first = nullptr;
        unsigned long long before = 0;
        ok(cu.cuCtxGetCurrent(&first));
        ok(cu.cuCtxGetId(first, &before));
        unsigned long long same = 0;
        ok(cu.cuCtxGetId(nullptr, &same));
        check(same == before, "the current one's is another");
        ok(cu.cuDevicePrimaryCtxReset_v2(0));
        CUcontext second = nullptr;
        ok(cu.cuDevicePrimaryCtxRetain(&second, 0));
        unsigned long long after = 0;
        ok(cu.cuCtxGetId(second, &after));
        check(after != before, "the same id");
        ok(cu.cuDevicePrimaryCtxRelease_v2(0));
    },
    process::own};

fact const names{"errors_have_names",
                 "Driver API, Error Handling, cuGetErrorName: \"If the error code is not recognized, "
                 "CUDA_ERROR_INVALID_VALUE will be "
                 "returned and *pStr will be set to the NULL address.\"",
                 [] {
                     char const* text = nullptr;
                     ok(cu.cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
                     check(std::strcmp(text, "CUDA_ERROR_ILLEGAL_ADDRESS") == 0, text);
                     ok(cu.cuGetErrorString(CUDA_SUCCESS, &text));
                     check(std::strcmp(text, "no error") == 0, text);
                     answers(cu.cuGetErrorName(static_cast<CUresult>(998), &text), CUDA_ERROR_INVALID_VALUE);
                     check(text == nullptr, "an unknown code has a name");
                     text = "";
                     answers(cu.cuGetErrorString(static_cast<CUresult>(998), &text),
                             CUDA_ERROR_INVALID_VALUE);
                     check(text == nullptr, "an unknown code has a text");
                 }};

fact const devices{"devices_are_counted_from_zero",
                   "Driver API, Device Management, cuDeviceGet: \"Returns in *device a device handle given "
                   "an ordinal in the range "
                   "[0, cuDeviceGetCount()-1].\"",
                   [] {
                       int count = 0;
                       ok(cu.cuDeviceGetCount(&count));
                       CUdevice d = -1;
                       ok(cu.cuDeviceGet(&d, count - 1));
                       answers(cu.cuDeviceGet(&d, count), CUDA_ERROR_INVALID_DEVICE);
                       answers(cu.cuDeviceGet(&d, -1), CUDA_ERROR_INVALID_DEVICE);
                   }};

fact const versions{"an_entry_point_is_given_for_the_version_asked_for",
                    "Driver API, Driver Entry Point Access, cuGetProcAddress: \"if the specified CUDA "
                    "version is greater than or equal to "
                    "the CUDA version in which the driver symbol was introduced, this API will return the "
                    "function pointer to the "
                    "corresponding versioned function\"",
                    [] {
                        void* f = nullptr;
                        CUdriverProcAddressQueryResult status{};
                        ok(cu.cuGetProcAddress_v2("cuMemAlloc", &f, 3020, 0, &status));
                        check(f == reinterpret_cast<void*>(cu.cuMemAlloc_v2), "not cuMemAlloc_v2");
                        check(status == CU_GET_PROC_ADDRESS_SUCCESS, "status");
                        ok(cu.cuGetProcAddress_v2("cuEventElapsedTime", &f, 12000, 0, &status));
                        check(f == reinterpret_cast<void*>(cu.cuEventElapsedTime), "not the version of 12.0");
                    }};

fact const no_entry{
    "an_entry_point_that_is_not_there_is_null_and_no_error",
    "Driver API, Driver Entry Point Access, cuGetProcAddress: \"The API will return CUDA_SUCCESS and set the "
    "returned pfn "
    "to NULL if the requested driver function is not supported on the platform, no ABI compatible driver "
    "function exists "
    "for the specified cudaVersion or if the driver symbol is invalid.\"",
    [] {
        void* f = &f;
        CUdriverProcAddressQueryResult status{};
        ok(cu.cuGetProcAddress_v2("cuNoSuchFunction", &f, 12000, 0, &status));
        check(f == nullptr, "an unknown function");
        check(status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND, "status of an unknown function");
        f = &f;
        ok(cu.cuGetProcAddress_v2("cuMemAllocAsync", &f, 11000, 0, &status));
        check(f == nullptr, "a function that is newer than the version");
        check(status == CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT, "status of a newer function");
        int version = 0;
        ok(cu.cuDriverGetVersion(&version));
        answers(cu.cuGetProcAddress_v2("cuInit", &f, version + 1000, 0, &status), CUDA_ERROR_INVALID_VALUE);
    }};

} // namespace
} // namespace facts
