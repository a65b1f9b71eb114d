// SPDX-License-Identifier: BSL-1.0
// Streams, events, host functions, values, time.
#include "harness.hpp"

#include <thread>

using namespace std::chrono_literals;

namespace {

void CUDA_CB count_up(void* p) { ++*static_cast<std::atomic<int>*>(p); }

test_case const asynchronous{"a_launch_returns_before_the_kernel_ends", [] {
                                 session s;
                                 auto const stream = s.stream();
                                 launch(s.kernel("hold"), stream);
                                 expect(cu.cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
                                 release_kernels();
                                 expect(cu.cuStreamSynchronize(stream));
                                 expect(cu.cuStreamQuery(stream));
                             }};

test_case const in_order{"commands_of_a_stream_run_in_order", [] {
                             session s;
                             auto const stream = s.stream();
                             auto const x = s.memory(400);
                             auto* const host = static_cast<float*>(s.pinned(400));
                             expect(cu.cuMemsetD8Async(x, 0, 400, stream));
                             float a = 1;
                             int n = 100;
                             auto add = s.kernel("add");
                             CUdeviceptr p = x;
                             for (int i = 0; i < 50; ++i) launch(add, stream, {&p, &a, &n});
                             expect(cu.cuMemcpyDtoHAsync_v2(host, x, 400, stream));
                             expect(cu.cuStreamSynchronize(stream));
                             check(host[0] == 50 && host[99] == 50, "sum");
                         }};

test_case const snapshot{"an_event_is_a_snapshot", [] {
                             session s;
                             auto const stream = s.stream();
                             auto const e = s.event();
                             expect(cu.cuEventQuery(e));
                             expect(cu.cuEventRecord(e, stream));
                             launch(s.kernel("hold"), stream);
                             expect(cu.cuEventSynchronize(e));
                             expect(cu.cuEventRecord(e, stream));
                             expect(cu.cuEventQuery(e), CUDA_ERROR_NOT_READY);
                             release_kernels();
                             expect(cu.cuEventSynchronize(e));
                         }};

test_case const wait_event{"a_stream_waits_for_what_was_recorded", [] {
                               session s;
                               auto const first = s.stream();
                               auto const second = s.stream();
                               auto const e = s.event();
                               launch(s.kernel("hold"), first);
                               expect(cu.cuEventRecord(e, first));
                               expect(cu.cuStreamWaitEvent(second, e, 0));
                               // A later record does not change what is waited for.
                               std::this_thread::sleep_for(2ms);
                               expect(cu.cuStreamQuery(second), CUDA_ERROR_NOT_READY);
                               expect(cu.cuEventDestroy_v2(e));
                               release_kernels();
                               expect(cu.cuStreamSynchronize(second));
                           }};

test_case const unrecorded{"a_wait_for_an_event_never_recorded_waits_for_nothing", [] {
                               session s;
                               auto const stream = s.stream();
                               auto const e = s.event();
                               expect(cu.cuStreamWaitEvent(stream, e, 0));
                               expect(cu.cuStreamSynchronize(stream));
                               check(reported("never recorded"), "said");
                           }};

test_case const legacy{"the_legacy_stream_orders_blocking_streams", [] {
                           session s;
                           auto const blocking = s.stream(CU_STREAM_DEFAULT);
                           auto const other = s.stream(CU_STREAM_DEFAULT);
                           auto const free = s.stream();
                           auto hold = s.kernel("hold");
                           auto nothing = s.kernel("nothing");
                           launch(hold, blocking);
                           launch(nothing, nullptr);
                           launch(nothing, other);
                           launch(nothing, free);
                           expect(cu.cuStreamSynchronize(free));
                           std::this_thread::sleep_for(2ms);
                           expect(cu.cuStreamQuery(nullptr), CUDA_ERROR_NOT_READY);
                           expect(cu.cuStreamQuery(other), CUDA_ERROR_NOT_READY);
                           release_kernels();
                           expect(cu.cuStreamSynchronize(other));
                           expect(cu.cuStreamQuery(CU_STREAM_LEGACY));
                       }};

test_case const per_thread{"the_per_thread_stream_belongs_to_its_thread", [] {
                               session s;
                               launch(s.kernel("hold"), CU_STREAM_PER_THREAD);
                               expect(cu.cuStreamQuery(CU_STREAM_PER_THREAD), CUDA_ERROR_NOT_READY);
                               auto const c = s.context();
                               std::thread([&] {
                                   expect(cu.cuCtxSetCurrent(c));
                                   expect(cu.cuStreamQuery(CU_STREAM_PER_THREAD));
                               }).join();
                               release_kernels();
                               expect(cu.cuStreamSynchronize(CU_STREAM_PER_THREAD));
                           }};

test_case const full{"a_stream_blocks_its_caller_at_1024_commands", [] {
                         session s;
                         auto const stream = s.stream();
                         auto const c = s.context();
                         launch(s.kernel("hold"), stream);
                         auto nothing = s.kernel("nothing");
                         std::atomic<int> enqueued{1};
                         std::thread caller([&] {
                             expect(cu.cuCtxSetCurrent(c));
                             for (int i = 0; i < 1030; ++i) {
                                 launch(nothing, stream);
                                 ++enqueued;
                             }
                         });
                         std::this_thread::sleep_for(150ms);
                         check(enqueued == 1024, "blocked at " + std::to_string(enqueued));
                         release_kernels();
                         caller.join();
                         expect(cu.cuStreamSynchronize(stream));
                     }};

test_case const host_functions{"host_functions_run_on_a_thread_of_the_driver_in_order", [] {
                                   session s;
                                   auto const stream = s.stream();
                                   static std::thread::id thread;
                                   static std::atomic<int> seen;
                                   seen = 0;
                                   launch(s.kernel("hold"), stream);
                                   expect(cu.cuLaunchHostFunc(
                                       stream, [](void*) { thread = std::this_thread::get_id(); }, nullptr));
                                   expect(cu.cuLaunchHostFunc(stream, count_up, &seen));
                                   std::this_thread::sleep_for(2ms);
                                   check(seen == 0, "not before the kernel");
                                   release_kernels();
                                   expect(cu.cuStreamSynchronize(stream));
                                   check(seen == 1, "ran");
                                   check(thread != std::this_thread::get_id(), "elsewhere");
                               }};

test_case const host_misuse{"a_host_function_may_not_call_the_driver", [] {
                                session s;
                                auto const stream = s.stream();
                                static CUresult result;
                                result = CUDA_SUCCESS;
                                expect(cu.cuLaunchHostFunc(
                                    stream, [](void*) { result = cu.cuCtxSynchronize(); }, nullptr));
                                expect(cu.cuStreamSynchronize(stream));
                                expect(result, CUDA_ERROR_NOT_PERMITTED);
                                check(reported("cuCtxSynchronize: called inside a host function"), "said");
                            }};

test_case const callbacks{"callbacks_are_told_the_result", [] {
                              session s;
                              auto const stream = s.stream();
                              static std::atomic<int> result;
                              result = -1;
                              expect(cu.cuStreamAddCallback(
                                  stream, [](CUstream, CUresult r, void*) { result = r; }, nullptr, 0));
                              expect(cu.cuStreamSynchronize(stream));
                              check(result == CUDA_SUCCESS, "success");
                          }};

test_case const lost{"host_functions_can_be_lost", [] {
                         session s({{"LOSE_HOST_FUNCTIONS", "1"}});
                         auto const stream = s.stream();
                         static std::atomic<int> seen;
                         seen = 0;
                         expect(cu.cuLaunchHostFunc(stream, count_up, &seen));
                         expect(cu.cuStreamSynchronize(stream));
                         check(seen == 0, "lost");
                         expect(cu.cuLaunchHostFunc(stream, count_up, &seen));
                         expect(cu.cuStreamSynchronize(stream));
                         check(seen == 1, "the next one runs");
                         check(reported("host function was lost"), "said");
                     }};

test_case const values{"values_are_written_in_stream_order", [] {
                           session s;
                           auto const stream = s.stream();
                           auto* const slot = static_cast<std::uint64_t*>(s.pinned(64));
                           *slot = 0;
                           CUdeviceptr address = 0;
                           expect(cu.cuMemHostGetDevicePointer_v2(&address, slot, 0));
                           launch(s.kernel("hold"), stream);
                           expect(cu.cuStreamWriteValue64_v2(stream, address, 7, 0));
                           expect(cu.cuStreamWriteValue32_v2(stream, address + 8, 9, 0));
                           std::atomic_ref<std::uint64_t> seen(*slot);
                           check(seen == 0, "not yet");
                           release_kernels();
                           while (seen != 7) std::this_thread::yield();
                           expect(cu.cuStreamSynchronize(stream));
                           check(static_cast<std::uint32_t>(slot[1]) == 9, "32 bits");
                           expect(cu.cuStreamWriteValue64_v2(stream, address + 4, 7, 0),
                                  CUDA_ERROR_INVALID_VALUE);
                       }};

test_case const wait_values{"a_stream_waits_for_a_value", [] {
                                session s;
                                auto const stream = s.stream();
                                auto* const slot = static_cast<std::uint32_t*>(s.pinned(64));
                                *slot = 0;
                                expect(cu.cuStreamWaitValue32_v2(stream, reinterpret_cast<CUdeviceptr>(slot),
                                                                 5, CU_STREAM_WAIT_VALUE_GEQ));
                                std::this_thread::sleep_for(2ms);
                                expect(cu.cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
                                std::atomic_ref<std::uint32_t>(*slot).store(6);
                                expect(cu.cuStreamSynchronize(stream));
                                CUstreamBatchMemOpParams ops[2]{};
                                ops[0].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
                                ops[0].writeValue.address = reinterpret_cast<CUdeviceptr>(slot + 1);
                                ops[0].writeValue.value = 11;
                                ops[1].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
                                ops[1].waitValue.address = reinterpret_cast<CUdeviceptr>(slot + 1);
                                ops[1].waitValue.value = 11;
                                ops[1].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
                                expect(cu.cuStreamBatchMemOp_v2(stream, 2, ops, 0));
                                expect(cu.cuStreamSynchronize(stream));
                                check(slot[1] == 11, "batch");
                            }};

test_case const modelled{"modelled_kernels_cost_time_and_no_cpu", [] {
                             session s({{"KERNEL_US", "20000"}});
                             std::vector<CUstream> streams;
                             for (int i = 0; i < 8; ++i) streams.push_back(s.stream());
                             auto nothing = s.kernel("nothing");
                             auto const cpu = cpu_seconds();
                             auto const wall = milliseconds([&] {
                                 for (auto* stream : streams)
                                     for (int i = 0; i < 5; ++i) launch(nothing, stream);
                                 expect(cu.cuCtxSynchronize());
                             });
                             check(wall > 99 && wall < 160,
                                   "five in a row, streams side by side: " + std::to_string(wall));
                             check(cpu_seconds() - cpu < 0.02, "cpu " + std::to_string(cpu_seconds() - cpu));
                         }};

test_case const drift{"modelled_times_do_not_drift", [] {
                          session s({{"KERNEL_US", "200"}});
                          auto const stream = s.stream();
                          auto const before = s.event(CU_EVENT_DEFAULT);
                          auto const after = s.event(CU_EVENT_DEFAULT);
                          auto nothing = s.kernel("nothing");
                          launch(nothing, stream);
                          expect(cu.cuEventRecord(before, stream));
                          for (int i = 0; i < 100; ++i) launch(nothing, stream);
                          expect(cu.cuEventRecord(after, stream));
                          float ms = 0;
                          expect(cu.cuEventElapsedTime_v2(&ms, before, after), CUDA_ERROR_NOT_READY);
                          expect(cu.cuEventSynchronize(after));
                          expect(cu.cuEventElapsedTime_v2(&ms, before, after));
                          check(ms > 19.99F && ms < 20.01F, "elapsed " + std::to_string(ms));
                          auto const untimed = s.event();
                          expect(cu.cuEventRecord(untimed, stream));
                          expect(cu.cuEventElapsedTime(&ms, before, untimed), CUDA_ERROR_INVALID_HANDLE);
                      }};

test_case const one_at_a_time{"concurrent_kernels_are_limited", [] {
                                  session s({{"KERNEL_US", "10000"}, {"CONCURRENT_KERNELS", "1"}});
                                  auto nothing = s.kernel("nothing");
                                  auto const wall = milliseconds([&] {
                                      for (int i = 0; i < 4; ++i) launch(nothing, s.stream());
                                      expect(cu.cuCtxSynchronize());
                                  });
                                  check(wall > 39, "one after another: " + std::to_string(wall));
                              }};

test_case const by_name{"kernels_have_times_of_their_own", [] {
                            session s({{"KERNEL_US", "1,nothing:15000"}});
                            auto const wall = milliseconds([&] {
                                launch(s.kernel("nothing"), nullptr);
                                expect(cu.cuCtxSynchronize());
                            });
                            check(wall > 14.9, "modelled: " + std::to_string(wall));
                        }};

test_case const lanes{"copies_have_an_engine_for_each_direction", [] {
                          session s({{"BANDWIDTH", "0.001"}, {"LATENCY_US", "100"}});
                          auto const up = s.stream();
                          auto const down = s.stream();
                          auto const more = s.stream();
                          std::size_t const bytes = 10'000; // 10 ms
                          auto const x = s.memory(bytes);
                          auto const y = s.memory(bytes);
                          auto* const host = static_cast<char*>(s.pinned(3 * bytes));
                          auto const both = milliseconds([&] {
                              expect(cu.cuMemcpyHtoDAsync_v2(x, host, bytes, up));
                              expect(cu.cuMemcpyDtoHAsync_v2(host + bytes, y, bytes, down));
                              expect(cu.cuCtxSynchronize());
                          });
                          check(both > 10.0 && both < 18, "two directions at once: " + std::to_string(both));
                          auto const same = milliseconds([&] {
                              expect(cu.cuMemcpyHtoDAsync_v2(x, host, bytes, up));
                              expect(cu.cuMemcpyHtoDAsync_v2(y, host, bytes, more));
                              expect(cu.cuCtxSynchronize());
                          });
                          check(same > 20.0, "one direction shares: " + std::to_string(same));
                      }};

test_case const pipeline{
    "a_three_stage_pipeline_overlaps", [] {
        session s({{"KERNEL_US", "1000"}, {"BANDWIDTH", "0.01"}});
        std::size_t const bytes = 10'000; // 1 ms
        std::vector<CUstream> streams;
        std::vector<CUdeviceptr> blocks;
        for (int i = 0; i < 4; ++i) {
            streams.push_back(s.stream());
            blocks.push_back(s.memory(bytes));
        }
        auto* const host = static_cast<char*>(s.pinned(4 * bytes));
        auto* const result = static_cast<char*>(s.pinned(4 * bytes));
        auto nothing = s.kernel("nothing");
        auto const wall = milliseconds([&] {
            for (std::size_t i = 0; i < 64; ++i) {
                auto* const stream = streams[i % 4];
                expect(cu.cuMemcpyHtoDAsync_v2(blocks[i % 4], host, bytes, stream));
                launch(nothing, stream);
                expect(cu.cuMemcpyDtoHAsync_v2(result + i % 4 * bytes, blocks[i % 4], bytes, stream));
            }
            expect(cu.cuCtxSynchronize());
        });
        check(192 / wall > 2.7, "speed-up " + std::to_string(192 / wall));
    }};

test_case const idle{"idle_streams_cost_nothing", [] {
                         session s;
                         for (int i = 0; i < 50; ++i) launch(s.kernel("nothing"), s.stream());
                         expect(cu.cuCtxSynchronize());
                         auto const cpu = cpu_seconds();
                         std::this_thread::sleep_for(200ms);
                         check(cpu_seconds() - cpu < 0.002, "cpu");
                     }};

test_case const many_threads{"many_threads_use_many_streams", [] {
                                 session s;
                                 auto const c = s.context();
                                 auto add = s.kernel("add");
                                 std::vector<std::thread> threads;
                                 std::atomic<int> right{0};
                                 for (int t = 0; t < 4; ++t) {
                                     threads.emplace_back([&] {
                                         expect(cu.cuCtxSetCurrent(c));
                                         CUstream stream = nullptr;
                                         expect(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
                                         void* pinned = nullptr;
                                         expect(cu.cuMemHostAlloc(&pinned, 4, 0));
                                         for (int round = 0; round < 20; ++round) {
                                             CUdeviceptr x = 0;
                                             float a = 2;
                                             int n = 1;
                                             expect(cu.cuMemAllocAsync(&x, 4, stream));
                                             expect(cu.cuMemsetD32Async(x, 0, 1, stream));
                                             launch(add, stream, {&x, &a, &n});
                                             expect(cu.cuMemcpyDtoHAsync_v2(pinned, x, 4, stream));
                                             expect(cu.cuMemFreeAsync(x, stream));
                                             expect(cu.cuStreamSynchronize(stream));
                                             if (*static_cast<float*>(pinned) == 2) ++right;
                                         }
                                         expect(cu.cuMemFreeHost(pinned));
                                         expect(cu.cuStreamDestroy_v2(stream));
                                     });
                                 }
                                 for (auto& t : threads) t.join();
                                 check(right == 80, "results");
                             }};

test_case const chain{"a_chain_through_many_streams_stays_in_order", [] {
                          session s;
                          auto x = s.memory(4);
                          expect(cu.cuMemsetD32_v2(x, 0, 1));
                          expect(cu.cuCtxSynchronize());
                          std::vector<CUstream> streams;
                          for (int i = 0; i < 8; ++i) streams.push_back(s.stream());
                          auto const e = s.event();
                          auto add = s.kernel("add");
                          float a = 1;
                          int n = 1;
                          unsigned random = 1;
                          for (int i = 0; i < 1000; ++i) {
                              random = random * 1664525 + 1013904223;
                              auto* const stream = streams[random >> 29];
                              if (i > 0) expect(cu.cuStreamWaitEvent(stream, e, 0));
                              launch(add, stream, {&x, &a, &n});
                              expect(cu.cuEventRecord(e, stream));
                          }
                          expect(cu.cuEventSynchronize(e));
                          float out = 0;
                          expect(cu.cuMemcpyDtoH_v2(&out, x, 4));
                          check(out == 1000, "sum " + std::to_string(out));
                      }};

test_case const threads{"long_kernels_never_stop_other_streams", [] {
                            session s({{"THREADS", "2"}});
                            std::vector<CUstream> streams;
                            for (int i = 0; i < 6; ++i) {
                                streams.push_back(s.stream());
                                launch(s.kernel("hold"), streams.back());
                            }
                            auto const other = s.stream();
                            auto* const pinned = static_cast<char*>(s.pinned(4));
                            expect(cu.cuMemsetD8Async(reinterpret_cast<CUdeviceptr>(pinned), 3, 4, other));
                            expect(cu.cuStreamSynchronize(other));
                            check(pinned[3] == 3, "set");
                            release_kernels();
                            expect(cu.cuCtxSynchronize());
                        }};

test_case const destroyed{"a_stream_destroyed_with_work_finishes_it", [] {
                              session s;
                              auto const stream = s.stream();
                              static std::atomic<int> seen;
                              seen = 0;
                              launch(s.kernel("hold"), stream);
                              expect(cu.cuLaunchHostFunc(stream, count_up, &seen));
                              expect(cu.cuStreamDestroy_v2(stream));
                              release_kernels();
                              expect(cu.cuCtxSynchronize());
                              check(seen == 1, "finished");
                              expect(cu.cuStreamQuery(stream), CUDA_ERROR_INVALID_HANDLE);
                          }};

} // namespace
