// SPDX-License-Identifier: BSL-1.0
// Launches, modules, faults, capture, injection and the report.
#include "harness.hpp"

#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>

using namespace std::chrono_literals;

namespace {

void CUDA_CB count_up(void* p) { ++*static_cast<std::atomic<int>*>(p); }

test_case const wild{"a_wild_write_loses_the_device_and_no_other", [] {
                         session s({{"DEVICES", "2"}});
                         auto const stream = s.stream();
                         auto const other = s.context(1);
                         auto const e = s.event();
                         static std::atomic<int> seen;
                         static std::atomic<int> told;
                         seen = 0;
                         told = 0;
                         auto* const slot = static_cast<std::uint64_t*>(s.pinned(8));
                         *slot = 0;
                         launch(s.kernel("hold"), stream);
                         CUdeviceptr null = 0;
                         launch(s.kernel("wild"), stream, {&null});
                         expect(cu.cuLaunchHostFunc(stream, count_up, &seen));
                         expect(cu.cuStreamAddCallback(
                             stream, [](CUstream, CUresult r, void*) { told = r; }, nullptr, 0));
                         expect(
                             cu.cuStreamWriteValue64_v2(stream, reinterpret_cast<CUdeviceptr>(slot), 1, 0));
                         expect(cu.cuEventRecord(e, stream));
                         release_kernels();
                         expect(cu.cuStreamSynchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
                         expect(cu.cuStreamQuery(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
                         expect(cu.cuEventQuery(e), CUDA_ERROR_ILLEGAL_ADDRESS);
                         CUdeviceptr x = 0;
                         expect(cu.cuMemAlloc_v2(&x, 8), CUDA_ERROR_ILLEGAL_ADDRESS);
                         expect(cu.cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
                         std::this_thread::sleep_for(5ms);
                         check(seen == 0, "no host function");
                         check(told == CUDA_ERROR_ILLEGAL_ADDRESS, "callbacks are told");
                         check(*slot == 0, "no value");
                         expect(cu.cuCtxSetCurrent(other));
                         x = s.memory(8);
                         expect(cu.cuCtxSynchronize());
                         CUcontext again = nullptr;
                         expect(cu.cuDevicePrimaryCtxRetain(&again, 0), CUDA_ERROR_ILLEGAL_ADDRESS);
                     }};

test_case const trap{"the_nth_launch_traps", [] {
                         session s({{"TRAP", "nothing:2"}});
                         auto nothing = s.kernel("nothing");
                         launch(nothing, nullptr);
                         expect(cu.cuCtxSynchronize());
                         launch(nothing, nullptr);
                         expect(cu.cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
                     }};

test_case const no_peer{"memory_of_a_device_that_is_no_peer_is_illegal", [] {
                            session s({{"DEVICES", "2"}});
                            auto const second = s.context(1);
                            auto x = s.memory(4);
                            expect(cu.cuMemsetD32_v2(x, 0, 1));
                            expect(cu.cuCtxSynchronize());
                            auto const first = s.context(0);
                            float a = 1;
                            int n = 1;
                            expect(cu.cuCtxSetCurrent(second));
                            expect(cu.cuCtxEnablePeerAccess(first, 0));
                            {
                                CUmodule m = nullptr;
                                CUfunction f = nullptr;
                                expect(cu.cuModuleLoadData(&m, OMP_CO_SIM_REGISTERED_IMAGE));
                                expect(cu.cuModuleGetFunction(&f, m, "add"));
                                launch(f, nullptr, {&x, &a, &n});
                                expect(cu.cuCtxSynchronize());
                                expect(cu.cuCtxDisablePeerAccess(first));
                                launch(f, nullptr, {&x, &a, &n});
                                expect(cu.cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
                            }
                            expect(cu.cuCtxSetCurrent(first));
                            float out = 0;
                            expect(cu.cuMemcpyDtoH_v2(&out, x, 4));
                            check(out == 1, "with access it was added");
                        }};

test_case const limits{
    "launches_over_the_limits_are_refused", [] {
        session s;
        auto f = s.kernel("nothing");
        auto const go = [&](unsigned gx, unsigned gy, unsigned bx, unsigned bz, unsigned shared) {
            return cu.cuLaunchKernel(f, gx, gy, 1, bx, 1, bz, shared, nullptr, nullptr, nullptr);
        };
        expect(go(0, 1, 1, 1, 0), CUDA_ERROR_INVALID_VALUE);
        expect(go(1, 65536, 1, 1, 0), CUDA_ERROR_INVALID_VALUE);
        expect(go(1, 1, 1025, 1, 0), CUDA_ERROR_INVALID_VALUE);
        expect(go(1, 1, 512, 4, 0), CUDA_ERROR_INVALID_VALUE);
        expect(go(1, 1, 1, 65, 0), CUDA_ERROR_INVALID_VALUE);
        expect(go(1, 1, 1, 1, 50000), CUDA_ERROR_INVALID_VALUE);
        expect(cu.cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 60000));
        expect(go(1, 1, 1, 1, 50000));
        CUlaunchConfig config{};
        config.gridDimX = config.gridDimY = config.gridDimZ = 1;
        config.blockDimX = config.blockDimY = config.blockDimZ = 1;
        expect(cu.cuLaunchKernelEx(&config, f, nullptr, nullptr));
        CUlaunchAttribute attribute{};
        attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
        attribute.value.cooperative = 1;
        config.attrs = &attribute;
        config.numAttrs = 1;
        expect(cu.cuLaunchKernelEx(&config, f, nullptr, nullptr), CUDA_ERROR_NOT_SUPPORTED);
        expect(cu.cuCtxSynchronize());
    }};

test_case const described{
    "parameters_are_described_and_packed", [] {
        session s;
        auto f = s.kernel("add");
        std::size_t offset = 1;
        std::size_t size = 0;
        expect(cu.cuFuncGetParamInfo(f, 2, &offset, &size));
        check(offset == 12 && size == 4, "third");
        expect(cu.cuFuncGetParamInfo(f, 3, &offset, &size), CUDA_ERROR_INVALID_VALUE);
        auto const x = s.memory(4);
        expect(cu.cuMemsetD32_v2(x, 0, 1));
        struct {
            CUdeviceptr p;
            float a;
            int n;
        } packed{x, 5, 1};
        std::size_t bytes = sizeof packed;
        void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                         CU_LAUNCH_PARAM_END};
        expect(cu.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
        float out = 0;
        expect(cu.cuMemcpyDtoH_v2(&out, x, 4));
        check(out == 5, "buffer");
        bytes = 8;
        expect(cu.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra), CUDA_ERROR_INVALID_VALUE);
        check(reported("add takes 16"), "said");
        int blocks = 0;
        expect(cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 256, 0));
        check(blocks == 8, "occupancy");
        int threads = 0;
        expect(cu.cuOccupancyMaxPotentialBlockSize(&blocks, &threads, f, nullptr, 0, 0));
        check(threads >= 256 && blocks >= 16, "block size");
    }};

test_case const images{
    "what_is_no_ptx_is_refused_with_the_right_code", [] {
        session s;
        CUmodule m = nullptr;
        char const cubin[32] = "\177ELF";
        expect(cu.cuModuleLoadData(&m, cubin), CUDA_ERROR_NO_BINARY_FOR_GPU);
        expect(cu.cuModuleLoadData(&m, "this is nothing that can run"), CUDA_ERROR_INVALID_IMAGE);
        expect(cu.cuModuleLoad(&m, "/no/such/file"), CUDA_ERROR_FILE_NOT_FOUND);
        char log[256] = "";
        CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
        void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
        expect(cu.cuModuleLoadDataEx(&m, ".version 99.0\n.target sm_80\n", 2, options, values),
               CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
        check(std::strstr(log, "Unsupported .version 99.0") != nullptr, log);
        check(reinterpret_cast<std::size_t>(values[1]) == std::strlen(log) + 1, "size of the log");
        cu.set("CC", "75");
        expect(cu.cuModuleLoadDataEx(&m, ".version 7.0\n.target sm_80\n", 0, nullptr, nullptr),
               CUDA_ERROR_INVALID_PTX);
        CUfunction f = nullptr;
        expect(cu.cuModuleLoadData(&m, OMP_CO_SIM_REGISTERED_IMAGE));
        expect(cu.cuModuleGetFunction(&f, m, "no_such_kernel"), CUDA_ERROR_NOT_FOUND);
        expect(cu.cuModuleGetFunction(&f, m, "nothing"));
        expect(cu.cuModuleUnload(m));
        expect(cu.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
               CUDA_ERROR_INVALID_HANDLE);
        check(reported("after its module was unloaded"), "said");
    }};

test_case const libraries{"a_library_belongs_to_no_context", [] {
                              session s({{"DEVICES", "2"}});
                              CUlibrary l = nullptr;
                              expect(cu.cuLibraryLoadData(&l, OMP_CO_SIM_REGISTERED_IMAGE, nullptr, nullptr,
                                                          0, nullptr, nullptr, 0));
                              CUkernel k = nullptr;
                              expect(cu.cuLibraryGetKernel(&k, l, "nothing"));
                              launch(reinterpret_cast<CUfunction>(k), nullptr);
                              expect(cu.cuCtxSetCurrent(s.context(1)));
                              launch(reinterpret_cast<CUfunction>(k), nullptr);
                              CUfunction f = nullptr;
                              expect(cu.cuKernelGetFunction(&f, k));
                              launch(f, nullptr);
                              expect(cu.cuCtxSynchronize());
                              expect(cu.cuLibraryUnload(l));
                              expect(cu.cuLibraryGetKernel(&k, l, "nothing"), CUDA_ERROR_INVALID_HANDLE);
                          }};

test_case const injected{
    "calls_fail_on_request", [] {
        session s({{"FAULT", "cuMemAlloc:2:CUDA_ERROR_OUT_OF_MEMORY,cuStreamCreate:1:46"}});
        auto const x = s.memory(8);
        CUdeviceptr y = 0;
        expect(cu.cuMemAlloc_v2(&y, 8), CUDA_ERROR_OUT_OF_MEMORY);
        expect(cu.cuMemAlloc_v2(&y, 8));
        CUstream stream = nullptr;
        expect(cu.cuStreamCreate(&stream, 0), CUDA_ERROR_DEVICE_UNAVAILABLE);
        expect(cu.cuMemFree_v2(x));
        check(cu.set("FAULT", "cuMemAlloc:x:2") == 1, "a bad rule");
        check(cu.set("FAULT", "*:2:CUDA_ERROR_ECC_UNCORRECTABLE") == 0, "a good one");
        expect(cu.cuMemFree_v2(y));
        expect(cu.cuCtxSynchronize(), CUDA_ERROR_ECC_UNCORRECTABLE);
        expect(cu.cuCtxSynchronize(), CUDA_ERROR_ECC_UNCORRECTABLE);
        check(cu.count("cuMemAlloc") == 3 && cu.count("cuMemAlloc_v2") == 3, "counted");
        check(cu.count("*") > 6, "all");
    }};

// What a region does; stops at the first error, then gives back what it has.
CUresult region()
{
    CUcontext c = nullptr;
    CUmodule m = nullptr;
    CUfunction f = nullptr;
    CUstream stream = nullptr;
    CUevent e = nullptr;
    CUdeviceptr x = 0;
    void* pinned = nullptr;
    CUresult r = cu.cuDevicePrimaryCtxRetain(&c, 0);
    auto const then = [&r](auto const& step) {
        if (r == CUDA_SUCCESS) r = step();
    };
    float a = 1;
    int n = 16;
    void* parameters[] = {&x, &a, &n};
    bool const retained = r == CUDA_SUCCESS;
    then([&] { return cu.cuCtxPushCurrent_v2(c); });
    bool const pushed = r == CUDA_SUCCESS;
    then([&] { return cu.cuModuleLoadData(&m, OMP_CO_SIM_REGISTERED_IMAGE); });
    then([&] { return cu.cuModuleGetFunction(&f, m, "add"); });
    then([&] { return cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING); });
    then([&] { return cu.cuEventCreate(&e, CU_EVENT_DISABLE_TIMING); });
    then([&] { return cu.cuMemHostAlloc(&pinned, 64, 0); });
    then([&] { return cu.cuMemAllocAsync(&x, 64, stream); });
    then([&] { return cu.cuMemcpyHtoDAsync_v2(x, pinned, 64, stream); });
    then([&] { return cu.cuLaunchKernel(f, 1, 1, 1, 16, 1, 1, 0, stream, parameters, nullptr); });
    then([&] { return cu.cuMemcpyDtoHAsync_v2(pinned, x, 64, stream); });
    then([&] { return cu.cuStreamWriteValue64_v2(stream, reinterpret_cast<CUdeviceptr>(pinned), 1, 0); });
    then([&] { return cu.cuEventRecord(e, stream); });
    then([&] { return cu.cuEventSynchronize(e); });
    auto const first = r;
    // Again until it is done: the fault may hit what gives back.
    auto const surely = [](auto const& step) {
        if (step() != CUDA_SUCCESS) step();
    };
    if (x) surely([&] { return cu.cuMemFreeAsync(x, stream); });
    if (stream) surely([&] { return cu.cuStreamSynchronize(stream); });
    if (pinned) surely([&] { return cu.cuMemFreeHost(pinned); });
    if (e) surely([&] { return cu.cuEventDestroy_v2(e); });
    if (stream) surely([&] { return cu.cuStreamDestroy_v2(stream); });
    if (m) surely([&] { return cu.cuModuleUnload(m); });
    if (pushed) surely([&] { return cu.cuCtxPopCurrent_v2(nullptr); });
    if (retained) surely([&] { return cu.cuDevicePrimaryCtxRelease_v2(0); });
    return first;
}

test_case const every_call{
    "a_fault_at_each_call_leaves_nothing_behind", [] {
        for (char const* error : {"CUDA_ERROR_OUT_OF_MEMORY", "CUDA_ERROR_ILLEGAL_ADDRESS"}) {
            int failed = 0;
            for (int n = 1; n <= 14; ++n) {
                cu.reset();
                expect(cu.cuInit(0));
                check(cu.set("FAULT", ("*:" + std::to_string(n) + ":" + error).c_str()) == 0, "rule");
                if (region() != CUDA_SUCCESS) ++failed;
                check(!reported("leak") && !reported("misuse"), report());
            }
            check(failed == 14, "each call failed once: " + std::to_string(failed));
        }
        cu.reset();
        expect(cu.cuInit(0));
        expect(region());
        check(report().empty(), report());
    }};

test_case const capture{
    "a_capture_is_seen_and_can_be_broken", [] {
        session s;
        auto const stream = s.stream();
        auto const other = s.stream();
        auto const e = s.event();
        auto nothing = s.kernel("nothing");
        expect(cu.cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        CUstreamCaptureStatus status{};
        expect(cu.cuStreamIsCapturing(stream, &status));
        check(status == CU_STREAM_CAPTURE_STATUS_ACTIVE, "active");
        launch(nothing, stream);
        expect(cu.cuEventRecord(e, stream));
        expect(cu.cuStreamWaitEvent(other, e, 0));
        expect(cu.cuStreamIsCapturing(other, &status));
        check(status == CU_STREAM_CAPTURE_STATUS_ACTIVE, "joined");
        CUgraph g = nullptr;
        expect(cu.cuStreamEndCapture(stream, &g));
        check(g != nullptr, "graph");
        expect(cu.cuGraphDestroy(g));
        expect(cu.cuEventQuery(e), CUDA_ERROR_CAPTURED_EVENT);
        expect(cu.cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        auto const c = s.context();
        std::thread([&] {
            expect(cu.cuCtxSetCurrent(c));
            CUdeviceptr x = 0;
            expect(cu.cuMemAlloc_v2(&x, 8), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        }).join();
        expect(cu.cuStreamEndCapture(stream, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        expect(cu.cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
        std::thread([&] {
            expect(cu.cuCtxSetCurrent(c));
            s.memory(8);
        }).join();
        auto mode = CU_STREAM_CAPTURE_MODE_RELAXED;
        expect(cu.cuThreadExchangeStreamCaptureMode(&mode));
        s.memory(8);
        expect(cu.cuThreadExchangeStreamCaptureMode(&mode));
        expect(cu.cuStreamGetCaptureInfo_v2(stream, &status, nullptr, nullptr, nullptr, nullptr));
        check(status == CU_STREAM_CAPTURE_STATUS_ACTIVE, "still active");
        expect(cu.cuStreamQuery(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        expect(cu.cuStreamEndCapture(stream, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        auto const blocking = s.stream(CU_STREAM_DEFAULT);
        expect(cu.cuStreamBeginCapture_v2(blocking, CU_STREAM_CAPTURE_MODE_RELAXED));
        expect(cu.cuLaunchKernel(nothing, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
               CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
        expect(cu.cuStreamEndCapture(blocking, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    }};

test_case const misuse{"misuse_is_reported", [] {
                           session s({{"DEVICES", "2"}});
                           auto const stream = s.stream();
                           auto nothing = s.kernel("nothing");
                           auto const gone = s.event();
                           expect(cu.cuEventDestroy_v2(gone));
                           expect(cu.cuEventDestroy_v2(gone), CUDA_ERROR_INVALID_HANDLE);
                           check(reported("cuEventDestroy_v2: event"), "destroyed twice");
                           expect(cu.cuCtxSetCurrent(s.context(1)));
                           auto const e = s.event();
                           expect(cu.cuEventRecord(e, stream), CUDA_ERROR_INVALID_HANDLE);
                           check(reported("cross-device event"), "cross-device event");
                           expect(cu.cuLaunchKernel(nothing, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr),
                                  CUDA_ERROR_INVALID_HANDLE);
                           check(reported("cuLaunchKernel: wrong context"), "wrong context");
                           expect(cu.cuStreamSynchronize(stream));
                       }};

test_case const leaks{"leaks_are_listed", [] {
                          session s;
                          expect(cu.cuDevicePrimaryCtxRelease_v2(0));
                          check(report().empty(), report());
                          s.context();
                          auto const stream = s.stream();
                          auto const e = s.event();
                          auto const x = s.memory(100);
                          auto* const pinned = s.pinned(10);
                          s.kernel("nothing");
                          auto const text = report();
                          for (char const* kind :
                               {"leak: context", "leak: stream", "leak: event", "leak: module",
                                "leak: device memory", "leak: pinned memory"})
                              check(text.find(kind) != std::string::npos, kind);
                          check(text.find("100 bytes") != std::string::npos, "size");
                          expect(cu.cuStreamDestroy_v2(stream));
                          expect(cu.cuEventDestroy_v2(e));
                          expect(cu.cuMemFree_v2(x));
                          expect(cu.cuMemFreeHost(pinned));
                          check(!reported("leak: stream") && !reported("leak: device memory"), "less");
                          expect(cu.cuDevicePrimaryCtxRelease_v2(0));
                          check(report().empty(), report());
                      }};

} // namespace
