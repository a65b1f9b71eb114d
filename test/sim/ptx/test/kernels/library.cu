// SPDX-License-Identifier: BSL-1.0
// Kernels that lean on the toolkit's own headers: CUB's collectives, cooperative groups, cuda::atomic, half precision,
// asynchronous copies, assertions.
#include <cassert>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cuda/atomic>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;

extern "C" __global__ void block_sum(int const* in, int* out) {
    using reduce = cub::BlockReduce<int, 128>;
    __shared__ typename reduce::TempStorage storage;
    int const sum = reduce{storage}.Sum(in[blockIdx.x * 128 + threadIdx.x]);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

extern "C" __global__ void block_scan(int const* in, int* out) {
    using scan = cub::BlockScan<int, 128, cub::BLOCK_SCAN_WARP_SCANS>;
    __shared__ typename scan::TempStorage storage;
    int value = in[threadIdx.x];
    scan{storage}.ExclusiveSum(value, value);
    out[threadIdx.x] = value;
}

extern "C" __global__ void block_sort(unsigned const* in, unsigned* out) {
    using sort = cub::BlockRadixSort<unsigned, 64, 4>;
    __shared__ typename sort::TempStorage storage;
    unsigned keys[4];
    for (int i = 0; i < 4; ++i) keys[i] = in[threadIdx.x * 4 + i];
    sort{storage}.Sort(keys);
    for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = keys[i];
}

extern "C" __global__ void groups(int const* in, int* out) {
    auto const block = cg::this_thread_block();
    auto const tile = cg::tiled_partition<8>(block);
    int const sum = cg::reduce(tile, in[block.thread_rank()], cg::plus<int>{});
    int const last = tile.shfl(in[block.thread_rank()], 7);
    block.sync();
    out[block.thread_rank()] = sum * 1000 + last;
    if (in[block.thread_rank()] % 3 == 0) {
        auto const active = cg::coalesced_threads();
        if (active.thread_rank() == 0) atomicAdd(&out[block.size()], static_cast<int>(active.size()));
    }
}

extern "C" __global__ void standard_atomics(int* counter, int* flag) {
    cuda::atomic_ref<int, cuda::thread_scope_device> c{*counter};
    cuda::atomic_ref<int, cuda::thread_scope_device> f{*flag};
    c.fetch_add(2, cuda::memory_order_relaxed);
    c.fetch_max(5, cuda::memory_order_acq_rel);
    int expected = static_cast<int>(threadIdx.x);
    while (!f.compare_exchange_weak(expected, expected + 1)) expected = static_cast<int>(threadIdx.x);
    cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
}

extern "C" __global__ void halves(float const* in, int n, unsigned short* bits, float* back, float* sums) {
    int const i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __half const h = __float2half(in[i]);
    bits[i * 3] = __half_as_ushort(h);
    bits[i * 3 + 1] = __bfloat16_as_ushort(__float2bfloat16(in[i]));
    bits[i * 3 + 2] = __half_as_ushort(__float2half_rz(in[i]));
    back[i] = __half2float(h);
    __half2 const two = __floats2half2_rn(in[i], in[(i + 1) % n]);
    __half2 const sum = __hfma2(two, two, __half2half2(h));
    sums[i * 3] = __low2float(sum);
    sums[i * 3 + 1] = __high2float(sum);
    sums[i * 3 + 2] = __half2float(__hadd(__hmul(h, h), __float2half(0.5f)));
}

extern "C" __global__ void pipeline(float4 const* in, float4* out) {
    __shared__ float4 staged[64];
    __pipeline_memcpy_async(&staged[threadIdx.x], &in[threadIdx.x], sizeof(float4));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[threadIdx.x] = staged[63 - threadIdx.x];
}

extern "C" __global__ void asserts(int n) { assert(n < 3 && "n is small"); }

extern "C" __global__ void __launch_bounds__(64) bounded(int* out) { out[threadIdx.x] = 1; }

extern "C" __global__ void held(const __grid_constant__ int4 values, int* out, int pick) {
    int const* p = &values.x;
    out[0] = p[pick];
}

template <unsigned Width>
__device__ unsigned long long hash(unsigned long long v) {
    v ^= v >> 33;
    v *= 0xff51afd7ed558ccdull;
    return v ^ (v >> Width);
}
extern "C" __global__ void wide(unsigned long long const* a, unsigned long long* out) {
    unsigned __int128 x = static_cast<unsigned __int128>(a[0]) << 64 | a[1];
    unsigned __int128 const y = static_cast<unsigned __int128>(a[2]) << 32 | a[3];
    x = x * y + x / (y | 1) - (x >> 7);
    out[0] = static_cast<unsigned long long>(x >> 64);
    out[1] = static_cast<unsigned long long>(x);
    out[2] = hash<29>(a[0]);
}
