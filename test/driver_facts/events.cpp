// SPDX-License-Identifier: BSL-1.0
// Events: what a record captures, and who waits for it.
#include "facts.hpp"

namespace facts {
namespace {

fact const never{"an_event_that_was_never_recorded_is_complete",
                 "Driver API, Event Management, cuEventRecord: \"Before the first call to cuEventRecord(), "
                 "an event represents an "
                 "empty set of work, so for example cuEventQuery() would return CUDA_SUCCESS.\"",
                 [] {
                     event const e;
                     answers(cu.cuEventQuery(e), CUDA_SUCCESS);
                     answers(cu.cuEventSynchronize(e), CUDA_SUCCESS);
                 }};

fact const wait_never{"waiting_for_an_event_that_was_never_recorded_waits_for_nothing",
                      "Driver API, Event Management, cuEventRecord: \"Before the first call to "
                      "cuEventRecord(), an event represents an "
                      "empty set of work\"; Stream Management, cuStreamWaitEvent: \"Makes all future work "
                      "submitted to hStream wait for all "
                      "work captured in hEvent.\"",
                      [] {
                          stream const s;
                          event const e;
                          ok(cu.cuStreamWaitEvent(s, e, 0));
                          check(soon([&] { return cu.cuStreamQuery(s) == CUDA_SUCCESS; }),
                                "the stream does not go on");
                      }};

fact const snapshot{"a_record_captures_what_is_in_the_stream_and_nothing_later",
                    "Driver API, Event Management, cuEventRecord: \"Captures in hEvent the contents of "
                    "hStream at the time of this "
                    "call.\"",
                    [] {
                        stream const s;
                        event const e;
                        ok(cu.cuEventRecord(e, s));
                        gate const g(s);
                        check(soon([&] { return cu.cuEventQuery(e) == CUDA_SUCCESS; }),
                              "it waits for later work");
                        answers(cu.cuStreamQuery(s), CUDA_ERROR_NOT_READY);
                    }};

fact const not_ready{"an_event_behind_work_is_not_ready",
                     "Driver API, Event Management, cuEventQuery: \"Returns CUDA_SUCCESS if all captured "
                     "work has been completed, or "
                     "CUDA_ERROR_NOT_READY if any captured work is incomplete.\"",
                     [] {
                         stream const s;
                         event const e;
                         gate g(s);
                         ok(cu.cuEventRecord(e, s));
                         answers(cu.cuEventQuery(e), CUDA_ERROR_NOT_READY);
                         g.open();
                         answers(cu.cuEventSynchronize(e), CUDA_SUCCESS);
                         answers(cu.cuEventQuery(e), CUDA_SUCCESS);
                     }};

fact const again{"recording_again_overwrites_what_was_captured",
                 "Driver API, Event Management, cuEventRecord: \"cuEventRecord() can be called multiple "
                 "times on the same event and "
                 "will overwrite the previously captured state.\"",
                 [] {
                     stream const held;
                     stream const idle;
                     event const e;
                     gate const g(held);
                     ok(cu.cuEventRecord(e, held));
                     answers(cu.cuEventQuery(e), CUDA_ERROR_NOT_READY);
                     ok(cu.cuEventRecord(e, idle));
                     check(soon([&] { return cu.cuEventQuery(e) == CUDA_SUCCESS; }),
                           "the first record still counts");
                     answers(cu.cuStreamQuery(held), CUDA_ERROR_NOT_READY);
                 }};

fact const wait_keeps{
    "a_wait_keeps_to_the_record_that_it_found",
    "Driver API, Event Management, cuEventRecord: \"Other APIs such as cuStreamWaitEvent() use the most "
    "recently captured "
    "state at the time of the API call, and are not affected by later calls to cuEventRecord().\"",
    [] {
        stream const held;
        stream const idle;
        stream const waiting;
        event const e;
        gate g(held);
        ok(cu.cuEventRecord(e, held));
        ok(cu.cuStreamWaitEvent(waiting, e, 0));
        ok(cu.cuEventRecord(e, idle));
        check(soon([&] { return cu.cuEventQuery(e) == CUDA_SUCCESS; }), "the second record is not over");
        answers(cu.cuStreamQuery(waiting), CUDA_ERROR_NOT_READY);
        g.open();
        answers(cu.cuStreamSynchronize(waiting), CUDA_SUCCESS);
    }};

fact const ordered{"a_stream_waits_for_an_event_of_another",
                   "Driver API, Stream Management, cuStreamWaitEvent: \"Makes all future work submitted to "
                   "hStream wait for all work "
                   "captured in hEvent.\"",
                   [] {
                       pinned<int> const x(1);
                       stream const first;
                       stream const second;
                       event const e;
                       gate g(first);
                       ok(cu.cuMemsetD32Async(x.address(), 3, 1, first));
                       ok(cu.cuEventRecord(e, first));
                       ok(cu.cuStreamWaitEvent(second, e, 0));
                       ok(cu.cuMemsetD32Async(x.address(), 4, 1, second));
                       for (int i = 0; i < 10; ++i) sleep_a_little();
                       check(x.read() == 0, "the second did not wait");
                       g.open();
                       ok(cu.cuStreamSynchronize(second));
                       check(x.read() == 4, "order");
                   }};

fact const destroyed_early{"an_event_may_be_destroyed_before_it_is_complete",
                           "Driver API, Event Management, cuEventDestroy: \"An event may be destroyed before "
                           "it is complete (i.e., while "
                           "cuEventQuery() would return CUDA_ERROR_NOT_READY). In this case, the call does "
                           "not block on completion of the "
                           "event\"",
                           [] {
                               stream const first;
                               stream const second;
                               CUevent e = nullptr;
                               ok(cu.cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
                               gate g(first);
                               ok(cu.cuEventRecord(e, first));
                               ok(cu.cuStreamWaitEvent(second, e, 0));
                               ok(cu.cuEventDestroy_v2(e));
                               answers(cu.cuStreamQuery(second), CUDA_ERROR_NOT_READY);
                               g.open();
                               answers(cu.cuStreamSynchronize(second), CUDA_SUCCESS);
                           }};

fact const elapsed{
    "elapsed_time_needs_two_timed_records",
    "Driver API, Event Management, cuEventElapsedTime: \"If cuEventRecord() has not been called on either "
    "event then "
    "CUDA_ERROR_INVALID_HANDLE is returned. If cuEventRecord() has been called on both events but one or "
    "both of them has "
    "not yet been completed [...] CUDA_ERROR_NOT_READY is returned. If either event was created with the "
    "CU_EVENT_DISABLE_TIMING flag, then this function will return CUDA_ERROR_INVALID_HANDLE.\"",
    [] {
        stream const s;
        event const start(CU_EVENT_DEFAULT);
        event const end(CU_EVENT_DEFAULT);
        event const untimed;
        float milliseconds = -1;
        answers(cu.cuEventElapsedTime(&milliseconds, start, end), CUDA_ERROR_INVALID_HANDLE);
        ok(cu.cuEventRecord(start, s));
        gate g(s);
        ok(cu.cuEventRecord(end, s));
        ok(cu.cuEventRecord(untimed, s));
        answers(cu.cuEventElapsedTime(&milliseconds, start, end), CUDA_ERROR_NOT_READY);
        for (int i = 0; i < 10; ++i) sleep_a_little();
        g.open();
        ok(cu.cuStreamSynchronize(s));
        ok(cu.cuEventElapsedTime(&milliseconds, start, end));
        check(milliseconds > 5 && milliseconds < 5000, "milliseconds: " + std::to_string(milliseconds));
        answers(cu.cuEventElapsedTime(&milliseconds, start, untimed), CUDA_ERROR_INVALID_HANDLE);
    }};

fact const other_device{"an_event_is_recorded_in_streams_of_its_context_only",
                        "Driver API, Event Management, cuEventRecord: \"hEvent and hStream must be from the "
                        "same context otherwise "
                        "CUDA_ERROR_INVALID_HANDLE is returned.\"",
                        [] {
                            need_devices(2);
                            event const e;
                            CUcontext other = nullptr;
                            ok(cu.cuDevicePrimaryCtxRetain(&other, 1));
                            ok(cu.cuCtxPushCurrent_v2(other));
                            {
                                stream const s;
                                answers(cu.cuEventRecord(e, s), CUDA_ERROR_INVALID_HANDLE);
                            }
                            ok(cu.cuCtxPopCurrent_v2(nullptr));
                            ok(cu.cuDevicePrimaryCtxRelease_v2(1));
                        }};

fact const across_devices{"a_stream_waits_for_an_event_of_another_device",
                          "Driver API, Stream Management, cuStreamWaitEvent: \"hEvent may be from a "
                          "different context or device than "
                          "hStream.\"",
                          [] {
                              need_devices(2);
                              stream const first;
                              event const e;
                              gate g(first);
                              ok(cu.cuEventRecord(e, first));
                              CUcontext other = nullptr;
                              ok(cu.cuDevicePrimaryCtxRetain(&other, 1));
                              ok(cu.cuCtxPushCurrent_v2(other));
                              {
                                  stream const second;
                                  ok(cu.cuStreamWaitEvent(second, e, 0));
                                  answers(cu.cuStreamQuery(second), CUDA_ERROR_NOT_READY);
                                  g.open();
                                  answers(cu.cuStreamSynchronize(second), CUDA_SUCCESS);
                              }
                              ok(cu.cuCtxPopCurrent_v2(nullptr));
                              ok(cu.cuDevicePrimaryCtxRelease_v2(1));
                          }};

fact const wait_flags{
    "waiting_as_an_external_event_is_for_captures_only",
    "Driver API, Stream Management, cuStreamWaitEvent: \"CU_EVENT_WAIT_EXTERNAL: Event is captured in the "
    "graph as an "
    "external event node when performing stream capture. This flag is invalid outside of stream capture.\"",
    [] {
        stream const s;
        event const e;
        ok(cu.cuEventRecord(e, s));
        answers(cu.cuStreamWaitEvent(s, e, CU_EVENT_WAIT_EXTERNAL), CUDA_ERROR_INVALID_VALUE);
    }};

} // namespace
} // namespace facts
