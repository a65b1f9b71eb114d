// SPDX-License-Identifier: BSL-1.0
// Faults of kernels, each in a process of its own.
#include "facts.hpp"

namespace facts {
namespace {

// Work of every kind answers the fault.
void stays(CUresult fault, CUstream s, CUevent e, place where = place::current())
{
    CUdeviceptr x = 0;
    void* host = nullptr;
    CUstream another = nullptr;
    answers(cu.cuStreamQuery(s), fault, where);
    answers(cu.cuStreamSynchronize(s), fault, where);
    answers(cu.cuEventQuery(e), fault, where);
    answers(cu.cuEventRecord(e, s), fault, where);
    answers(cu.cuCtxSynchronize(), fault, where);
    answers(cu.cuMemAlloc_v2(&x, 16), fault, where);
    answers(cu.cuMemHostAlloc(&host, 16, 0), fault, where);
    answers(cu.cuStreamCreate(&another, CU_STREAM_NON_BLOCKING), fault, where);
}

// Launches what faults, with an event behind it; behind a gate, because the record must not find the fault already.
CUresult fault(kernels const& k, char const* name, std::vector<void*> parameters, CUstream s, CUevent e)
{
    auto const f = k[name];
    gate g(s);
    ok(launch(f, 1, s, parameters));
    ok(cu.cuEventRecord(e, s));
    g.open();
    return cu.cuStreamSynchronize(s);
}

fact const illegal{"a_store_to_an_invalid_address_is_final",
                   "Driver API, CUDA_ERROR_ILLEGAL_ADDRESS: \"While executing a kernel, the device "
                   "encountered a load or store instruction "
                   "on an invalid memory address. This leaves the process in an inconsistent state and any "
                   "further CUDA work will return "
                   "the same error. To continue using CUDA, the process must be terminated and relaunched.\"",
                   [] {
                       kernels const k;
                       stream const s;
                       event const e;
                       CUdeviceptr x = 0;
                       unsigned by = 1;
                       answers(fault(k, "add", {&x, &by}, s, e), CUDA_ERROR_ILLEGAL_ADDRESS);
                       stays(CUDA_ERROR_ILLEGAL_ADDRESS, s, e);
                   },
                   process::own};

fact const misaligned{"a_misaligned_store_is_final",
                      "Driver API, CUDA_ERROR_MISALIGNED_ADDRESS: \"While executing a kernel, the device "
                      "encountered a load or store "
                      "instruction on a memory address which is not aligned. This leaves the process in an "
                      "inconsistent state and any further "
                      "CUDA work will return the same error.\"",
                      [] {
                          kernels const k;
                          stream const s;
                          event const e;
                          device_memory const memory(64);
                          CUdeviceptr x = memory + 2;
                          unsigned by = 1;
                          answers(fault(k, "add", {&x, &by}, s, e), CUDA_ERROR_MISALIGNED_ADDRESS);
                          stays(CUDA_ERROR_MISALIGNED_ADDRESS, s, e);
                      },
                      process::own};

fact const trap{"a_trap_is_final",
                "PTX ISA, Miscellaneous Instructions, trap: \"Abort execution and generate an interrupt to "
                "the host CPU.\" Driver API, "
                "CUDA_ERROR_LAUNCH_FAILED: \"An exception occurred on the device while executing a kernel. "
                "[...] any further CUDA work "
                "will return the same error.\"",
                [] {
                    kernels const k;
                    stream const s;
                    event const e;
                    auto const result = fault(k, "stop", {}, s, e);
                    check(result != CUDA_SUCCESS, "it did not abort");
                    stays(result, s, e);
                },
                process::own};

fact const other_streams{
    "a_fault_is_seen_by_all_streams_of_the_device",
    "Driver API, CUDA_ERROR_ILLEGAL_ADDRESS: \"any further CUDA work will return the same error\"",
    [] {
        kernels const k;
        stream const s;
        stream const other;
        event const e;
        event const unrelated;
        ok(cu.cuEventRecord(unrelated, other));
        ok(cu.cuEventSynchronize(unrelated));
        CUdeviceptr x = 0;
        unsigned by = 1;
        answers(fault(k, "add", {&x, &by}, s, e), CUDA_ERROR_ILLEGAL_ADDRESS);
        answers(cu.cuStreamQuery(other), CUDA_ERROR_ILLEGAL_ADDRESS);
        answers(cu.cuMemsetD32Async(1 << 20, 0, 1, other), CUDA_ERROR_ILLEGAL_ADDRESS);
    },
    process::own};

fact const not_called{"a_host_function_behind_a_fault_is_not_called",
                      "Driver API, Execution Control, cuLaunchHostFunc: \"Note that, in contrast to "
                      "cuStreamAddCallback, the function will not "
                      "be called in the event of an error in the CUDA context.\"",
                      [] {
                          static std::atomic<int> called{0};
                          kernels const k;
                          stream const s;
                          auto const f = k["add"];
                          CUdeviceptr x = 0;
                          unsigned by = 1;
                          gate g(s);
                          ok(launch(f, 1, s, {&x, &by}));
                          ok(cu.cuLaunchHostFunc(
                              s, [](void*) { ++called; }, nullptr));
                          g.open();
                          answers(cu.cuStreamSynchronize(s), CUDA_ERROR_ILLEGAL_ADDRESS);
                          for (int i = 0; i < 50; ++i) sleep_a_little();
                          check(called == 0, "it was called");
                      },
                      process::own};

fact const told{
    "a_callback_behind_a_fault_is_told",
    "Driver API, Stream Management, cuStreamAddCallback: \"The callback may be passed CUDA_SUCCESS or an "
    "error code. In the "
    "event of a device error, all subsequently executed callbacks will receive an appropriate CUresult.\"",
    [] {
        static std::atomic<int> status{-1};
        kernels const k;
        stream const s;
        auto const f = k["add"];
        CUdeviceptr x = 0;
        unsigned by = 1;
        gate g(s);
        ok(launch(f, 1, s, {&x, &by}));
        ok(cu.cuStreamAddCallback(
            s, [](CUstream, CUresult result, void*) { status = result; }, nullptr, 0));
        g.open();
        answers(cu.cuStreamSynchronize(s), CUDA_ERROR_ILLEGAL_ADDRESS);
        check(soon([] { return status != -1; }), "it was not called");
        check(status != CUDA_SUCCESS, "it was told of success");
    },
    process::own};

fact const other_device{"another_device_goes_on_or_answers_the_same_error",
                        "Driver API, CUDA_ERROR_ASSERT: \"The context cannot be used anymore\"; "
                        "CUDA_ERROR_ILLEGAL_ADDRESS: \"any further CUDA "
                        "work will return the same error\". The manual leaves open whether the work of "
                        "another device's context is meant.",
                        [] {
                            need_devices(2);
                            kernels const k;
                            stream const s;
                            event const e;
                            CUcontext second = nullptr;
                            ok(cu.cuDevicePrimaryCtxRetain(&second, 1));
                            CUdeviceptr x = 0;
                            unsigned by = 1;
                            answers(fault(k, "add", {&x, &by}, s, e), CUDA_ERROR_ILLEGAL_ADDRESS);
                            ok(cu.cuCtxPushCurrent_v2(second));
                            auto const result = cu.cuMemAlloc_v2(&x, 64);
                            if (result != CUDA_SUCCESS) {
                                answers(result, CUDA_ERROR_ILLEGAL_ADDRESS);
                                return;
                            }
                            int value = 0;
                            ok(cu.cuMemsetD32_v2(x, 5, 16));
                            ok(cu.cuMemcpyDtoH_v2(&value, x, 4));
                            check(value == 5, "it does not work");
                        },
                        process::own};

fact const errors_stay_known{"errors_keep_their_names_after_a_fault",
                             "Driver API, Error Handling, cuGetErrorName: \"Sets *pStr to the address of a "
                             "NULL-terminated string representation of "
                             "the name of the enum error code error.\"",
                             [] {
                                 kernels const k;
                                 stream const s;
                                 event const e;
                                 CUdeviceptr x = 0;
                                 unsigned by = 1;
                                 answers(fault(k, "add", {&x, &by}, s, e), CUDA_ERROR_ILLEGAL_ADDRESS);
                                 char const* name = nullptr;
                                 answers(cu.cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &name), CUDA_SUCCESS);
                                 int count = 0;
                                 answers(cu.cuDeviceGetCount(&count), CUDA_SUCCESS);
                                 check(count > 0, "count");
                             },
                             process::own};

} // namespace
} // namespace facts
