// The peer on LLVM's OpenMP offload runtime (its x86-64 host device): the workloads of ../regions.cpp.
// SPDX-License-Identifier: BSL-1.0
//
// Build: clang++-19 -O2 -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu llvm_target.cpp -o llvm_target
// Use:   llvm_target [--ops N] [workload...]        prints JSON lines; exits 1 when a result is wrong
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <omp.h>
#include <string>
#include <vector>

namespace {

constexpr long resident_size = 64; // floats that stay on the device
constexpr long slots = 256;        // blocks of 64 floats, each mapped by the region that uses it
constexpr long block_size = 1024;  // floats in 4 KiB

std::vector<float> resident, mapped, block;

double cpu_now()
{
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return double(t.tv_sec) * 1e9 + double(t.tv_nsec);
}

double wall_now()
{
    auto since = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double, std::nano>(since).count();
}

void resident_sync(long n)
{
    float* p = resident.data();
    for (long i = 0; i < n; ++i) {
#pragma omp target map(tofrom : p [0:64])
        p[i & 63] += 1.f;
    }
}

void mapped_sync(long n)
{
    for (long i = 0; i < n; ++i) {
        float* s = mapped.data() + 64 * (i & 255);
#pragma omp target map(tofrom : s [0:64])
        s[i & 63] += 1.f;
    }
}

void enter_exit_4k(long n)
{
    float* r = block.data();
    for (long i = 0; i < n; ++i) {
#pragma omp target enter data map(to : r [0:1024])
#pragma omp target exit data map(from : r [0:1024])
    }
}

void update_4k(long n)
{
    float* r = block.data();
    for (long i = 0; i < n; ++i) {
#pragma omp target update to(r [0:1024])
#pragma omp target update from(r [0:1024])
    }
}

void resident_nowait(long n)
{
    float* p = resident.data();
#pragma omp parallel
#pragma omp single
    {
        for (long i = 0; i < n; ++i) {
#pragma omp target nowait map(tofrom : p [0:64])
            p[i & 63] += 1.f;
        }
#pragma omp taskwait
    }
}

void mapped_nowait_depend(long n)
{
    float* q = mapped.data();
#pragma omp parallel
#pragma omp single
    {
        for (long i = 0; i < n; ++i) {
            float* s = q + 64 * (i & 255);
#pragma omp target nowait map(tofrom : s [0:64]) depend(inout : s[0])
            s[i & 63] += 1.f;
        }
#pragma omp taskwait
    }
}

void chain_nowait(long n)
{
    float* p = resident.data();
#pragma omp parallel
#pragma omp single
    {
        for (long i = 0; i < n; ++i) {
#pragma omp target nowait map(tofrom : p [0:64]) depend(inout : p[0])
            p[i & 63] += 1.f;
        }
#pragma omp taskwait
    }
}

double sum(std::vector<float> const& v)
{
    double total = 0;
    for (float f : v) total += f;
    return total;
}

// Unordered regions may run side by side and lose an increment: the program's race, not the runtime's fault.
enum class order { strict, free };

bool added(std::vector<float> const& v, long n, order o)
{
    double got = sum(v), want = double(n);
    return o == order::strict ? got == want : got <= want && got >= 0.9 * want;
}

bool intact(std::vector<float> const& v)
{
    for (std::size_t i = 0; i < v.size(); ++i)
        if (v[i] != float(i)) return false;
    return true;
}

struct workload {
    char const* name;
    void (*run)(long);
    std::vector<float>* data;
    bool stays;    // on the device before and after
    bool counts;   // adds one an op; else it only moves the data
    order ordered; // how exact the sum must be
};

// Synchronous ones first: the helper threads of the others would spin beside them.
workload const workloads[] = {
    {"resident_sync", resident_sync, &resident, true, true, order::strict},
    {"mapped_sync", mapped_sync, &mapped, false, true, order::strict},
    {"enter_exit_4k", enter_exit_4k, &block, false, false, order::strict},
    {"update_4k", update_4k, &block, true, false, order::strict},
    {"resident_nowait", resident_nowait, &resident, true, true, order::free},
    {"mapped_nowait_depend", mapped_nowait_depend, &mapped, false, true, order::strict},
    {"chain_nowait", chain_nowait, &resident, true, true, order::strict},
};

bool measure(workload const& w, long n)
{
    std::vector<float>& v = *w.data;
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = w.counts ? 0.f : float(i);
    float* p = v.data();
    std::size_t size = v.size();
    if (w.stays) {
#pragma omp target enter data map(to : p [0:size])
    }
    long warm = n; // some workloads have all their tasks in flight: their memory is to be there
    w.run(warm);
    double cpu = cpu_now(), wall = wall_now();
    w.run(n);
    wall = wall_now() - wall;
    cpu = cpu_now() - cpu;
    if (w.stays) {
        if (!w.counts) std::memset(p, 0, size * sizeof(float)); // what comes back must be the device's copy
#pragma omp target exit data map(from : p [0:size])
    }
    std::printf("{\"name\":\"%s\",\"value\":%.1f,\"unit\":\"ns/op\"}\n", w.name, wall / double(n));
    std::printf("{\"name\":\"%s.cpu\",\"value\":%.1f,\"unit\":\"cpu_ns/op\"}\n", w.name, cpu / double(n));
    std::fflush(stdout);
    bool right = w.counts ? added(v, n + warm, w.ordered) : intact(v);
    if (!right) std::fprintf(stderr, "llvm_target: %s: wrong result\n", w.name);
    return right;
}

bool has_offload_device()
{
    int initial = 1;
#pragma omp target map(from : initial)
    initial = omp_is_initial_device();
    return !initial;
}

} // namespace

int main(int argc, char** argv)
{
    long n = 20000;
    std::vector<std::string> wanted;
    for (int i = 1; i < argc; ++i) {
        if (std::string(argv[i]) == "--ops" && i + 1 < argc)
            n = std::atol(argv[++i]);
        else
            wanted.emplace_back(argv[i]);
    }
    if (n < 1) {
        std::fputs("use: llvm_target [--ops N] [workload...]\n", stderr);
        return 2;
    }
    if (!has_offload_device()) {
        std::fputs("llvm_target: no offload device\n", stderr);
        return 3;
    }
    resident.resize(resident_size);
    mapped.resize(resident_size * slots);
    block.resize(block_size);
    bool right = true;
    for (workload const& w : workloads) {
        bool chosen = wanted.empty();
        for (std::string const& name : wanted) chosen = chosen || name == w.name;
        if (chosen) right = measure(w, n) && right;
    }
    return right ? 0 : 1;
}
