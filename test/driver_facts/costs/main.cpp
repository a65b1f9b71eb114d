// SPDX-License-Identifier: BSL-1.0
// What calls of the driver cost their caller, and how long their work takes, in tight loops without anything between.
// Usage: driver_costs [rounds]. A line for each: microseconds of the caller, of the whole until it was over. 77: no device.
#include "../facts.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace facts {

void ok(CUresult got, place where)
{
    if (got == CUDA_SUCCESS) return;
    char const* name = nullptr;
    cu.cuGetErrorName(got, &name);
    std::printf("%s:%u: answered %s\n", where.file_name(), static_cast<unsigned>(where.line()),
                name ? name : "?");
    std::exit(1);
}

namespace {

using clock = std::chrono::steady_clock;

double microseconds(clock::duration d) { return std::chrono::duration<double, std::micro>(d).count(); }

// A stream takes about 1,000 commands before it blocks its caller.
constexpr int burst = 250;

struct cost {
    double caller = 0;
    double whole = 0;
};

// The best of five, each of `rounds` bursts.
template <class Call>
void measure(char const* name, CUstream s, int rounds, Call const& call)
{
    cost best{1e9, 1e9};
    for (int repeat = 0; repeat < 5; ++repeat) {
        clock::duration caller{};
        clock::duration whole{};
        for (int i = 0; i < rounds; ++i) {
            auto const start = clock::now();
            for (int j = 0; j < burst; ++j) call();
            auto const given = clock::now();
            ok(cu.cuStreamSynchronize(s));
            caller += given - start;
            whole += clock::now() - start;
        }
        auto const calls = static_cast<double>(rounds) * burst;
        best.caller = std::min(best.caller, microseconds(caller) / calls);
        best.whole = std::min(best.whole, microseconds(whole) / calls);
    }
    std::printf("%-34s %9.3f %9.3f\n", name, best.caller, best.whole);
}

// Launch, then wait, one after the other.
template <class Once>
void measure_round_trip(char const* name, int rounds, Once const& once)
{
    double best = 1e9;
    for (int repeat = 0; repeat < 5; ++repeat) {
        auto const start = clock::now();
        for (int i = 0; i < rounds; ++i) once();
        best = std::min(best, microseconds(clock::now() - start) / rounds);
    }
    std::printf("%-34s %9s %9.3f\n", name, "", best);
}

void measure_all(int rounds)
{
    kernels const k;
    auto const f = k["nothing"];
    device_memory const x(1 << 20);
    pinned<unsigned long long> const host(1 << 17);
    stream const s;
    event const untimed;
    event const timed(CU_EVENT_DEFAULT);
    auto const start_kernel = [&] { ok(cu.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, nullptr, nullptr)); };
    std::printf("%-34s %9s %9s\n", "microseconds a call", "caller", "whole");
    measure("launch of an empty kernel", s, rounds, start_kernel);
    measure("event record, untimed", s, rounds, [&] { ok(cu.cuEventRecord(untimed, s)); });
    measure("event record, timed", s, rounds, [&] { ok(cu.cuEventRecord(timed, s)); });
    measure("event query, complete", s, rounds, [&] { ok(cu.cuEventQuery(untimed)); });
    measure("stream query, idle", s, rounds, [&] { ok(cu.cuStreamQuery(s)); });
    bool const values = attribute(CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS) != 0;
    if (values)
        measure("write value", s, rounds, [&] { ok(cu.cuStreamWriteValue64_v2(s, host.address(), 1, 0)); });
    measure("host function", s, std::max(rounds / 10, 1), [&] {
        ok(cu.cuLaunchHostFunc(
            s, [](void*) {}, nullptr));
    });
    measure("copy of 256 bytes, pinned", s, rounds,
            [&] { ok(cu.cuMemcpyHtoDAsync_v2(x, host.get(), 256, s)); });
    measure("copy of 1 MiB, pinned", s, std::max(rounds / 10, 1),
            [&] { ok(cu.cuMemcpyHtoDAsync_v2(x, host.get(), 1 << 20, s)); });
    if (attribute(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED) != 0) {
        measure("stream-ordered alloc and free", s, rounds, [&] {
            CUdeviceptr y = 0;
            ok(cu.cuMemAllocAsync(&y, 4096, s));
            ok(cu.cuMemFreeAsync(y, s));
        });
    }
    measure_round_trip("launch, stream synchronise", rounds * burst / 10 + 1, [&] {
        start_kernel();
        ok(cu.cuStreamSynchronize(s));
    });
    measure_round_trip("launch, record, query until done", rounds * burst / 10 + 1, [&] {
        start_kernel();
        ok(cu.cuEventRecord(untimed, s));
        while (cu.cuEventQuery(untimed) == CUDA_ERROR_NOT_READY) {
        }
    });
    if (!values) return;
    unsigned long long number = 1;
    measure_round_trip("launch, write value, read until done", rounds * burst / 10 + 1, [&] {
        start_kernel();
        ok(cu.cuStreamWriteValue64_v2(s, host.address(), ++number, 0));
        while (host.read() != number) {
        }
    });
}

} // namespace
} // namespace facts

int main(int argc, char** argv)
{
    using facts::cu;
    int const rounds = argc > 1 ? std::atoi(argv[1]) : 40;
    if (rounds <= 0) {
        std::puts("usage: driver_costs [rounds]");
        return 2;
    }
    facts::load_driver();
    CUcontext context = nullptr;
    facts::ok(cu.cuDevicePrimaryCtxRetain(&context, 0));
    facts::ok(cu.cuCtxSetCurrent(context));
    facts::measure_all(rounds);
    facts::ok(cu.cuDevicePrimaryCtxRelease_v2(0));
    return 0;
}
