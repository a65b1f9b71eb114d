// SPDX-License-Identifier: BSL-1.0
// What calls of the driver cost their caller, and how long their work takes, in tight loops without anything between.
// Usage: driver_costs [rounds]. Prints JSON lines: /caller is what a call takes its caller, /whole until its work is over too.
// 77: no device.
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

void print(char const* name, char const* part, double value)
{
    std::printf("{\"name\":\"driver/%s%s\",\"value\":%.3f,\"unit\":\"us/call\"}\n", name, part, value);
    std::fflush(stdout);
}

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
    print(name, "/caller", best.caller);
    print(name, "/whole", best.whole);
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
    print(name, "", best);
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
    measure("launch", s, rounds, start_kernel);
    measure("record", s, rounds, [&] { ok(cu.cuEventRecord(untimed, s)); });
    measure("record_timed", s, rounds, [&] { ok(cu.cuEventRecord(timed, s)); });
    measure("query", s, rounds, [&] { ok(cu.cuEventQuery(untimed)); });
    measure("stream_query", s, rounds, [&] { ok(cu.cuStreamQuery(s)); });
    bool const values = attribute(CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS) != 0;
    if (values)
        measure("write_value", s, rounds, [&] { ok(cu.cuStreamWriteValue64_v2(s, host.address(), 1, 0)); });
    measure("host_function", s, std::max(rounds / 10, 1), [&] {
        ok(cu.cuLaunchHostFunc(
            s, [](void*) {}, nullptr));
    });
    measure("copy_256", s, rounds, [&] { ok(cu.cuMemcpyHtoDAsync_v2(x, host.get(), 256, s)); });
    measure("copy_1m", s, std::max(rounds / 10, 1),
            [&] { ok(cu.cuMemcpyHtoDAsync_v2(x, host.get(), 1 << 20, s)); });
    if (attribute(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED) != 0) {
        measure("alloc_free", s, rounds, [&] {
            CUdeviceptr y = 0;
            ok(cu.cuMemAllocAsync(&y, 4096, s));
            ok(cu.cuMemFreeAsync(y, s));
        });
    }
    measure_round_trip("round_trip/synchronise", rounds * burst / 10 + 1, [&] {
        start_kernel();
        ok(cu.cuStreamSynchronize(s));
    });
    measure_round_trip("round_trip/query", rounds * burst / 10 + 1, [&] {
        start_kernel();
        ok(cu.cuEventRecord(untimed, s));
        while (cu.cuEventQuery(untimed) == CUDA_ERROR_NOT_READY) {
        }
    });
    if (!values) return;
    unsigned long long number = 1;
    measure_round_trip("round_trip/read", rounds * burst / 10 + 1, [&] {
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
