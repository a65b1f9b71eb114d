// SPDX-License-Identifier: BSL-1.0
// What threads of a block do to each other: votes, shuffles, barriers, atomics; and faults.
#include <cstdint>

extern "C" __global__ void votes(int const* in, unsigned* out) {
    int const i = threadIdx.x;
    bool const p = in[i] > 0;
    unsigned* o = out + i * 10;
    o[0] = __ballot_sync(0xffffffffu, p);
    o[1] = __any_sync(0xffffffffu, in[i] == 5);
    o[2] = __all_sync(0xffffffffu, in[i] > -100);
    o[3] = __syncthreads_count(p);
    o[4] = __syncthreads_and(p);
    o[5] = __syncthreads_or(p);
    if (i % 2) {
        o[6] = __ballot_sync(0xaaaaaaaau, p);
        o[7] = __activemask();
    } else {
        o[6] = __shfl_sync(0x55555555u, in[i], 6);
        o[7] = __activemask();
    }
    __syncwarp();
    o[8] = __match_any_sync(0xffffffffu, in[i]);
    int same = 0;
    o[9] = __match_all_sync(0xffffffffu, in[0], &same) + same;
}

extern "C" __global__ void shuffles(int const* in, long long* out) {
    int const i = threadIdx.x;
    long long* o = out + i * 6;
    o[0] = __shfl_up_sync(0xffffffffu, in[i], 3);
    o[1] = __shfl_down_sync(0xffffffffu, in[i], 5, 16);
    o[2] = __shfl_xor_sync(0xffffffffu, in[i], 9);
    o[3] = __shfl_sync(0xffffffffu, in[i], i * 7, 8);
    o[4] = __shfl_sync(0xffffffffu, static_cast<long long>(in[i]) << 33, 31 - i % 32);
    o[5] = static_cast<long long>(__shfl_up_sync(0xffffffffu, in[i] * 0.5, 1) * 4);
}

extern "C" __global__ void lanes(unsigned* out) {
    unsigned lt, le, gt, ge, eq, lane, warp;
    asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(lt));
    asm volatile("mov.u32 %0, %%lanemask_le;" : "=r"(le));
    asm volatile("mov.u32 %0, %%lanemask_gt;" : "=r"(gt));
    asm volatile("mov.u32 %0, %%lanemask_ge;" : "=r"(ge));
    asm volatile("mov.u32 %0, %%lanemask_eq;" : "=r"(eq));
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
    unsigned* o = out + threadIdx.x * 9;
    o[0] = lt;
    o[1] = le;
    o[2] = gt;
    o[3] = ge;
    o[4] = eq;
    o[5] = lane;
    o[6] = warp;
    long long const t = clock64();
    o[7] = clock64() >= t;
    unsigned long long time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    o[8] = time != 0;
}

extern "C" __global__ void atomics(int* i, unsigned* u, unsigned long long* l, float* f, double* d, int* s) {
    __shared__ int shared[4];
    int const t = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (threadIdx.x < 4) shared[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&i[0], t);
    atomicMin(&i[1], 500 - t);
    atomicMax(&i[2], t);
    atomicAnd(&u[0], ~(1u << (t % 32)));
    atomicOr(&u[1], 1u << (t % 32));
    atomicXor(&u[2], static_cast<unsigned>(t));
    atomicInc(&u[3], 9u);
    atomicDec(&u[4], 9u);
    u[8 + t] = atomicExch(&u[5], static_cast<unsigned>(t));
    unsigned long long old = l[0];
    unsigned long long seen;
    do {
        seen = old;
        old = atomicCAS(&l[0], seen, seen * 3 + 1);
    } while (old != seen);
    atomicAdd(&l[1], 1ull << 33);
    atomicMax(&l[2], static_cast<unsigned long long>(t) << 20);
    atomicMin(&l[3], static_cast<unsigned long long>(t) << 20);
    atomicExch(&l[4], 77ull);
    atomicAdd(f, 0.5f);
    atomicAdd(d, 0.25);
    atomicAdd(&shared[t % 4], t);
    atomicCAS(&shared[0], -1, 0);
    atomicSub(&i[3], 2);
    __threadfence();
    __syncthreads();
    if (threadIdx.x < 4) atomicAdd(&s[threadIdx.x], shared[threadIdx.x]);
}

extern "C" __global__ void handshake(int volatile* out) {
    __shared__ int volatile flag;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        while (flag == 0) {}
        out[0] = flag;
    }
    if (threadIdx.x == 40) flag = 5;
}

extern "C" __global__ void named_barriers(int* out) {
    __shared__ int value[2];
    unsigned const half = threadIdx.x / 64;
    if (threadIdx.x % 64 == 0) value[half] = static_cast<int>(half) + 10;
    if (half == 0)
        asm volatile("bar.sync 1, 64;" ::: "memory");
    else
        asm volatile("barrier.sync 2, 64;" ::: "memory");
    out[threadIdx.x] = value[half];
}

struct alignas(16) four {
    float x, y, z, w;
};
extern "C" __global__ void vectors(float4 const* in, float4* out, int2* pairs, longlong2* wide) {
    float4 v = in[threadIdx.x];
    float4 w = __ldg(&in[threadIdx.x]);
    v.x += w.w;
    v.z *= 2;
    out[threadIdx.x] = v;
    int2 p = pairs[threadIdx.x];
    pairs[threadIdx.x] = make_int2(p.y, p.x);
    longlong2 l = wide[threadIdx.x];
    wide[threadIdx.x] = make_longlong2(l.y, l.x + 1);
}

__device__ __noinline__ int load_any(int const* p) { return *p; }
extern "C" __global__ void generic(int const* in, int* out, int which) {
    __shared__ int s[64];
    int l[4] = {in[0], in[1], in[2], in[3]};
    s[threadIdx.x] = in[threadIdx.x] * 2;
    __syncthreads();
    int const* p = which == 0 ? in + threadIdx.x : which == 1 ? s + 63 - threadIdx.x : l + threadIdx.x % 4;
    out[threadIdx.x] = load_any(p) + (__isShared(p) ? 1000 : 0) + (__isGlobal(p) ? 2000 : 0) + (__isLocal(p) ? 4000 : 0);
}

extern "C" __global__ void relaxed(int* flag, int* data) {
    data[0] = 5;
    asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(flag), "r"(1) : "memory");
    int v;
    asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(v) : "l"(flag) : "memory");
    data[1] = v;
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
    asm volatile("ld.relaxed.sys.s32 %0, [%1];" : "=r"(v) : "l"(data) : "memory");
    data[2] = v;
}

extern "C" __global__ void store_null(int* p) { *p = 1; }
extern "C" __global__ void store_misaligned(char* p) { *reinterpret_cast<int*>(p + 1) = 1; }
extern "C" __global__ void load_beyond(int const* p, int n, int* out) { out[0] = p[n]; }
extern "C" __global__ void traps(int n) {
    if (threadIdx.x == static_cast<unsigned>(n)) __trap();
}
extern "C" __global__ void spins(int volatile* p) {
    while (*p == 0) {}
}
extern "C" __global__ void shared_beyond(int n, int* out) {
    __shared__ int s[8];
    s[threadIdx.x] = 1;
    __syncthreads();
    out[0] = s[n];
}
extern "C" __global__ void stuck() {
    if (threadIdx.x < 32)
        asm volatile("barrier.sync 1, 64;" ::: "memory");
    else
        asm volatile("barrier.sync 2, 64;" ::: "memory");
}
