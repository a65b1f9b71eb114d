// SPDX-License-Identifier: BSL-1.0
// Functions of the host that streams call.
#include "facts.hpp"

#include <mutex>

namespace facts {
namespace {

fact const in_order{"a_host_function_runs_behind_the_work_before_it_and_holds_the_work_after_it",
                    "Driver API, Execution Control, cuLaunchHostFunc: \"The function will be called after "
                    "currently enqueued work and will "
                    "block work added after it.\"",
                    [] {
                        pinned<int> const x(1);
                        struct seen_type {
                            pinned<int> const* x;
                            std::atomic<int> before{-1};
                            std::atomic<int> during{-1};
                        } seen{&x, -1, -1};
                        stream const s;
                        ok(cu.cuMemsetD32Async(x.address(), 1, 1, s));
                        ok(cu.cuLaunchHostFunc(
                            s,
                            [](void* argument) {
                                auto& to = *static_cast<seen_type*>(argument);
                                to.before = to.x->read();
                                for (int i = 0; i < 10; ++i) sleep_a_little();
                                to.during = to.x->read();
                            },
                            &seen));
                        ok(cu.cuMemsetD32Async(x.address(), 2, 1, s));
                        ok(cu.cuStreamSynchronize(s));
                        check(seen.before == 1, "the work before was not over");
                        check(seen.during == 1, "the work after did not wait");
                        check(x.read() == 2, "the work after");
                    }};

fact const one_after_the_other{"host_functions_of_a_stream_run_one_after_the_other",
                               "Driver API, Execution Control, cuLaunchHostFunc: \"The function will be "
                               "called after currently enqueued work and will "
                               "block work added after it.\"",
                               [] {
                                   struct {
                                       std::mutex mutex;
                                       std::vector<int> order;
                                   } static log;
                                   log.order.clear();
                                   stream const s;
                                   int numbers[20];
                                   for (int i = 0; i < 20; ++i) {
                                       numbers[i] = i;
                                       ok(cu.cuLaunchHostFunc(
                                           s,
                                           [](void* argument) {
                                               std::lock_guard const lock(log.mutex);
                                               log.order.push_back(*static_cast<int*>(argument));
                                           },
                                           &numbers[i]));
                                   }
                                   ok(cu.cuStreamSynchronize(s));
                                   std::lock_guard const lock(log.mutex);
                                   check(log.order == std::vector<int>(numbers, numbers + 20), "order");
                               }};

fact const forbidden{"callbacks_must_not_call_the_driver",
                     "Driver API, Stream Management, cuStreamAddCallback: \"Callbacks must not make any CUDA "
                     "API calls. Attempting to use "
                     "a CUDA API will result in CUDA_ERROR_NOT_PERMITTED.\"",
                     [] {
                         std::atomic<int> answered{-1};
                         stream const s;
                         ok(cu.cuStreamAddCallback(
                             s,
                             [](CUstream, CUresult, void* argument) {
                                 CUdeviceptr x = 0;
                                 static_cast<std::atomic<int>*>(argument)->store(cu.cuMemAlloc_v2(&x, 16));
                             },
                             &answered, 0));
                         ok(cu.cuStreamSynchronize(s));
                         answers(static_cast<CUresult>(answered.load()), CUDA_ERROR_NOT_PERMITTED);
                     }};

fact const told{"a_callback_gets_its_stream_and_success",
                "Driver API, Stream Management, cuStreamAddCallback: \"Adds a callback to be called on the "
                "host after all currently "
                "enqueued items in the stream have completed. For each cuStreamAddCallback call, the "
                "callback will be executed "
                "exactly once.\"",
                [] {
                    struct call_type {
                        std::atomic<int> calls{0};
                        std::atomic<CUstream> with{nullptr};
                        std::atomic<int> status{-1};
                    } call;
                    stream const s;
                    ok(cu.cuStreamAddCallback(
                        s,
                        [](CUstream with, CUresult status, void* argument) {
                            auto& to = *static_cast<call_type*>(argument);
                            to.with = with;
                            to.status = status;
                            ++to.calls;
                        },
                        &call, 0));
                    ok(cu.cuStreamSynchronize(s));
                    check(call.calls == 1, "calls: " + std::to_string(call.calls));
                    check(call.with == static_cast<CUstream>(s), "stream");
                    answers(static_cast<CUresult>(call.status.load()), CUDA_SUCCESS);
                }};

fact const joined{"a_host_function_sees_what_its_stream_has_joined",
                  "Driver API, Execution Control, cuLaunchHostFunc: \"The start of execution of the function "
                  "has the same effect as "
                  "synchronizing an event recorded in the same stream immediately prior to the function. It "
                  "thus synchronizes streams "
                  "which have been 'joined' prior to the function.\"",
                  [] {
                      struct look {
                          pinned<int> x{1};
                          std::atomic<int> seen{-1};
                      } shared;
                      stream const first;
                      stream const second;
                      event const e;
                      ok(cu.cuMemsetD32Async(shared.x.address(), 8, 1, first));
                      ok(cu.cuEventRecord(e, first));
                      ok(cu.cuStreamWaitEvent(second, e, 0));
                      ok(cu.cuLaunchHostFunc(
                          second,
                          [](void* argument) {
                              auto& to = *static_cast<look*>(argument);
                              to.seen = to.x.read();
                          },
                          &shared));
                      ok(cu.cuStreamSynchronize(second));
                      check(shared.seen == 8, "seen: " + std::to_string(shared.seen));
                  }};

} // namespace
} // namespace facts
