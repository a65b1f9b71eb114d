// SPDX-License-Identifier: BSL-1.0
// Streams that capture: what is not executed, what is forbidden meanwhile.
#include "facts.hpp"

#include <thread>

namespace facts {
namespace {

CUstreamCaptureStatus status_of(CUstream s)
{
    CUstreamCaptureStatus status{};
    ok(cu.cuStreamIsCapturing(s, &status));
    return status;
}

// Ends a capture however it stands.
void end(CUstream s, CUresult wanted = CUDA_SUCCESS, place where = place::current())
{
    CUgraph graph = nullptr;
    answers(cu.cuStreamEndCapture(s, &graph), wanted, where);
    check((graph != nullptr) == (wanted == CUDA_SUCCESS), "graph", where);
    if (graph) cu.cuGraphDestroy(graph);
}

fact const not_executed{
    "what_is_captured_is_not_executed",
    "Driver API, Stream Management, cuStreamBeginCapture: \"When a stream is in capture mode, all operations "
    "pushed into the "
    "stream will not be executed, but will instead be captured into a graph, which will be returned via "
    "cuStreamEndCapture.\"",
    [] {
        pinned<int> const x(1);
        stream const s;
        check(status_of(s) == CU_STREAM_CAPTURE_STATUS_NONE, "status before");
        ok(cu.cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_RELAXED));
        check(status_of(s) == CU_STREAM_CAPTURE_STATUS_ACTIVE, "status meanwhile");
        ok(cu.cuMemsetD32Async(x.address(), 1, 1, s));
        end(s);
        check(status_of(s) == CU_STREAM_CAPTURE_STATUS_NONE, "status after");
        ok(cu.cuStreamSynchronize(s));
        check(x.read() == 0, "executed");
    }};

fact const once{"a_stream_captures_once_at_a_time_and_the_legacy_stream_never",
                "Driver API, Stream Management, cuStreamBeginCapture: \"Capture may not be initiated if "
                "stream is CU_STREAM_LEGACY. "
                "Capture must be ended on the same stream in which it was initiated, and it may only be "
                "initiated if the stream is not "
                "already in capture mode.\"",
                [] {
                    stream const s;
                    check(cu.cuStreamBeginCapture_v2(nullptr, CU_STREAM_CAPTURE_MODE_RELAXED) != CUDA_SUCCESS,
                          "legacy stream");
                    ok(cu.cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_RELAXED));
                    check(cu.cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_RELAXED) != CUDA_SUCCESS,
                          "twice");
                    end(s);
                    CUgraph graph = nullptr;
                    check(cu.cuStreamEndCapture(s, &graph) != CUDA_SUCCESS, "ended twice");
                }};

fact const unsafe{"allocating_breaks_a_capture_of_the_same_thread",
                  "Driver API, Stream Management, cuThreadExchangeStreamCaptureMode: "
                  "\"CU_STREAM_CAPTURE_MODE_GLOBAL: This is the default "
                  "mode. If the local thread has an ongoing capture sequence that was not initiated with "
                  "CU_STREAM_CAPTURE_MODE_RELAXED "
                  "at cuStreamBeginCapture [...] this thread is prohibited from potentially unsafe API "
                  "calls.\" cuStreamEndCapture: \"If "
                  "capture was invalidated, due to a violation of the rules of stream capture, then a NULL "
                  "graph will be returned.\"",
                  [] {
                      stream const s;
                      ok(cu.cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
                      CUdeviceptr x = 0;
                      answers(cu.cuMemAlloc_v2(&x, 16), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
                      check(status_of(s) == CU_STREAM_CAPTURE_STATUS_INVALIDATED, "status");
                      end(s, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
                  }};

fact const relaxed{"a_relaxed_thread_may_allocate_while_a_stream_captures",
                   "Driver API, Stream Management, cuThreadExchangeStreamCaptureMode: "
                   "\"CU_STREAM_CAPTURE_MODE_RELAXED: The local thread is "
                   "not prohibited from potentially unsafe API calls.\" \"Sets the calling thread's stream "
                   "capture interaction mode to the "
                   "value contained in *mode, and overwrites *mode with the previous mode for the thread.\"",
                   [] {
                       stream const s;
                       ok(cu.cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
                       auto mode = CU_STREAM_CAPTURE_MODE_RELAXED;
                       ok(cu.cuThreadExchangeStreamCaptureMode(&mode));
                       check(mode == CU_STREAM_CAPTURE_MODE_GLOBAL, "the mode before");
                       {
                           device_memory const x(16);
                       }
                       ok(cu.cuThreadExchangeStreamCaptureMode(&mode));
                       check(mode == CU_STREAM_CAPTURE_MODE_RELAXED, "the mode meanwhile");
                       check(status_of(s) == CU_STREAM_CAPTURE_STATUS_ACTIVE, "status");
                       end(s);
                   }};

fact const other_thread{"a_global_capture_forbids_other_threads_and_a_local_one_does_not",
                        "Driver API, Stream Management, cuThreadExchangeStreamCaptureMode: \"or if any other "
                        "thread has a concurrent capture "
                        "sequence initiated with CU_STREAM_CAPTURE_MODE_GLOBAL, this thread is prohibited "
                        "from potentially unsafe API calls\"; "
                        "\"CU_STREAM_CAPTURE_MODE_THREAD_LOCAL: [...] Concurrent capture sequences in other "
                        "threads are ignored.\"",
                        [] {
                            CUcontext c = nullptr;
                            ok(cu.cuCtxGetCurrent(&c));
                            auto const allocate_elsewhere = [c] {
                                CUresult result = CUDA_SUCCESS;
                                std::thread([&result, c] {
                                    ok(cu.cuCtxSetCurrent(c));
                                    CUdeviceptr x = 0;
                                    result = cu.cuMemAlloc_v2(&x, 16);
                                    if (result == CUDA_SUCCESS) cu.cuMemFree_v2(x);
                                }).join();
                                return result;
                            };
                            stream const s;
                            ok(cu.cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
                            answers(allocate_elsewhere(), CUDA_SUCCESS);
                            end(s);
                            ok(cu.cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
                            answers(allocate_elsewhere(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
                            end(s, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
                        }};

fact const captured_event{"a_captured_event_cannot_be_queried_even_by_a_relaxed_thread",
                          "Driver API, Stream Management, cuThreadExchangeStreamCaptureMode: \"the thread is "
                          "still prohibited from API calls which "
                          "necessarily conflict with stream capture, for example, attempting cuEventQuery on "
                          "an event that was last recorded "
                          "inside a capture sequence\"; CUDA_ERROR_CAPTURED_EVENT: \"the operation is not "
                          "permitted on an event which was last "
                          "recorded in a capturing stream\"",
                          [] {
                              stream const s;
                              event const e;
                              ok(cu.cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_RELAXED));
                              ok(cu.cuEventRecord(e, s));
                              answers(cu.cuEventQuery(e), CUDA_ERROR_CAPTURED_EVENT);
                              CUgraph graph = nullptr;
                              if (cu.cuStreamEndCapture(s, &graph) == CUDA_SUCCESS) cu.cuGraphDestroy(graph);
                          }};

fact const implicit{"the_legacy_stream_is_unusable_while_a_blocking_stream_captures",
                    "Driver API, Stream Management, cuStreamIsCapturing: \"if this is called on "
                    "CU_STREAM_LEGACY (the 'null stream') while a "
                    "blocking stream in the same context is capturing, it will return "
                    "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT [...] The blocking "
                    "stream capture is not invalidated.\"",
                    [] {
                        stream const s(CU_STREAM_DEFAULT);
                        ok(cu.cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_RELAXED));
                        CUstreamCaptureStatus status{};
                        answers(cu.cuStreamIsCapturing(nullptr, &status), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
                        check(status_of(s) == CU_STREAM_CAPTURE_STATUS_ACTIVE, "status");
                        end(s);
                    }};

fact const wrong_thread{
    "a_capture_ends_on_the_thread_that_began_it",
    "Driver API, Stream Management, cuStreamEndCapture: \"If the mode argument to cuStreamBeginCapture was "
    "not "
    "CU_STREAM_CAPTURE_MODE_RELAXED, this call must be from the same thread as cuStreamBeginCapture.\"",
    [] {
        CUcontext c = nullptr;
        ok(cu.cuCtxGetCurrent(&c));
        stream const s;
        ok(cu.cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
        std::thread([&] {
            ok(cu.cuCtxSetCurrent(c));
            CUgraph graph = nullptr;
            answers(cu.cuStreamEndCapture(s, &graph), CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
        }).join();
        CUgraph graph = nullptr;
        if (cu.cuStreamEndCapture(s, &graph) == CUDA_SUCCESS) cu.cuGraphDestroy(graph);
    }};

} // namespace
} // namespace facts
