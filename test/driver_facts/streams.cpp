// SPDX-License-Identifier: BSL-1.0
// Streams: order within one, none between two, and the legacy default stream.
#include "facts.hpp"

namespace facts {
namespace {

fact const in_order{"commands_of_a_stream_run_in_order",
                    "Programming Guide, Asynchronous Concurrent Execution, Streams: \"A stream is a sequence "
                    "of commands (possibly issued "
                    "by different host threads) that execute in order.\"",
                    [] {
                        kernels const k;
                        device_memory const x(4);
                        stream const s;
                        auto const f = k["add"];
                        CUdeviceptr address = x;
                        unsigned by = 1;
                        ok(cu.cuMemsetD32Async(x, 5, 1, s));
                        for (int i = 0; i < 100; ++i) ok(launch(f, 1, s, {&address, &by}));
                        ok(cu.cuStreamSynchronize(s));
                        check(x.first() == 105, "105 was not reached");
                    }};

fact const query{"a_stream_with_work_is_not_ready",
                 "Driver API, Stream Management, cuStreamQuery: \"Returns CUDA_SUCCESS if all operations in "
                 "the stream specified by "
                 "hStream have completed, or CUDA_ERROR_NOT_READY if not.\"",
                 [] {
                     stream const s;
                     answers(cu.cuStreamQuery(s), CUDA_SUCCESS);
                     gate g(s);
                     answers(cu.cuStreamQuery(s), CUDA_ERROR_NOT_READY);
                     g.open();
                     ok(cu.cuStreamSynchronize(s));
                     answers(cu.cuStreamQuery(s), CUDA_SUCCESS);
                 }};

fact const independent{"streams_do_not_wait_for_each_other",
                       "Programming Guide, Asynchronous Concurrent Execution, Streams: \"Different streams, "
                       "on the other hand, may execute "
                       "their commands out of order with respect to one another or concurrently\"",
                       [] {
                           device_memory const x(4);
                           stream const held;
                           stream const other;
                           gate g(held);
                           ok(cu.cuMemsetD32Async(x, 1, 1, other));
                           ok(cu.cuStreamSynchronize(other));
                           answers(cu.cuStreamQuery(held), CUDA_ERROR_NOT_READY);
                       }};

fact const legacy_waits{
    "the_legacy_stream_waits_for_blocking_streams",
    "Driver API, Stream synchronization behavior, Legacy default stream: \"When an action is taken in the "
    "legacy stream "
    "such as a kernel launch or cudaStreamWaitEvent(), the legacy stream first waits on all blocking "
    "streams, the action "
    "is queued in the legacy stream, and then all blocking streams wait on the legacy stream.\"",
    [] {
        kernels const k;
        device_memory const x(4);
        stream const blocking(CU_STREAM_DEFAULT);
        stream const later(CU_STREAM_DEFAULT);
        auto const f = k["nothing"];
        gate g(blocking);
        ok(launch(f, 1, nullptr));
        ok(launch(f, 1, later));
        for (int i = 0; i < 20; ++i) sleep_a_little();
        answers(cu.cuStreamQuery(nullptr), CUDA_ERROR_NOT_READY);
        answers(cu.cuStreamQuery(later), CUDA_ERROR_NOT_READY);
        g.open();
        ok(cu.cuStreamSynchronize(later));
        answers(cu.cuStreamQuery(nullptr), CUDA_SUCCESS);
    }};

fact const non_blocking{"non_blocking_streams_ignore_the_legacy_stream",
                        "Driver API, Stream Management, cuStreamCreate: \"CU_STREAM_NON_BLOCKING: Specifies "
                        "that work running in the created "
                        "stream may run concurrently with work in stream 0 (the NULL stream), and that the "
                        "created stream should perform no "
                        "implicit synchronization with stream 0.\"",
                        [] {
                            kernels const k;
                            stream const held;
                            stream const other;
                            auto const f = k["nothing"];
                            {
                                gate const g(held);
                                ok(launch(f, 1, nullptr));
                                ok(cu.cuStreamSynchronize(nullptr));
                                answers(cu.cuStreamQuery(held), CUDA_ERROR_NOT_READY);
                            }
                            gate const g(nullptr);
                            ok(launch(f, 1, other));
                            ok(cu.cuStreamSynchronize(other));
                            answers(cu.cuStreamQuery(nullptr), CUDA_ERROR_NOT_READY);
                        }};

fact const destroyed{"a_stream_may_be_destroyed_while_it_works",
                     "Driver API, Stream Management, cuStreamDestroy: \"In case the device is still doing "
                     "work in the stream hStream when "
                     "cuStreamDestroy() is called, the function will return immediately and the resources "
                     "associated with hStream will be "
                     "released automatically once the device has completed all work in hStream.\"",
                     [] {
                         pinned<int> const flag(1);
                         event const e;
                         CUstream s = nullptr;
                         ok(cu.cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
                         gate g(s);
                         ok(cu.cuMemsetD32Async(flag.address(), 9, 1, s));
                         ok(cu.cuEventRecord(e, s));
                         ok(cu.cuStreamDestroy_v2(s));
                         answers(cu.cuEventQuery(e), CUDA_ERROR_NOT_READY);
                         g.open();
                         ok(cu.cuEventSynchronize(e));
                         check(flag.read() == 9, "its work was lost");
                     }};

fact const flags{"a_stream_knows_its_flags_and_its_context",
                 "Driver API, Stream Management, cuStreamGetFlags: \"The value returned in flags is a "
                 "logical 'OR' of all flags that "
                 "were used while creating this stream.\"",
                 [] {
                     stream const s;
                     stream const blocking(CU_STREAM_DEFAULT);
                     unsigned value = 7;
                     ok(cu.cuStreamGetFlags(s, &value));
                     check(value == CU_STREAM_NON_BLOCKING, "flags");
                     ok(cu.cuStreamGetFlags(blocking, &value));
                     check(value == CU_STREAM_DEFAULT, "flags of a blocking one");
                     CUcontext owner = nullptr;
                     CUcontext current = nullptr;
                     ok(cu.cuStreamGetCtx(s, &owner));
                     ok(cu.cuCtxGetCurrent(&current));
                     check(owner == current, "context");
                 }};

fact const wrong_flags{"flags_that_do_not_exist_are_invalid_values",
                       "Driver API, Stream Management, cuStreamCreate: \"Returns: CUDA_SUCCESS, [...] "
                       "CUDA_ERROR_INVALID_VALUE\"; \"Valid "
                       "values for Flags are: CU_STREAM_DEFAULT [...] CU_STREAM_NON_BLOCKING\"",
                       [] {
                           CUstream s = nullptr;
                           answers(cu.cuStreamCreate(&s, 0x80), CUDA_ERROR_INVALID_VALUE);
                           CUevent e = nullptr;
                           answers(cu.cuEventCreate(&e, 0x80), CUDA_ERROR_INVALID_VALUE);
                       }};

} // namespace
} // namespace facts
