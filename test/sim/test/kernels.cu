// SPDX-License-Identifier: BSL-1.0
// Kernels for the tests, compiled by nvcc to PTX and to fatbins.

struct point {
    float x, y;
    char tag;
};

__device__ int counter = 5;
__constant__ float table[4] = {1, 2, 4, 8};

extern "C" __global__ void saxpy(float a, float const* x, float* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

extern "C" __global__ void reverse(int* x)
{
    extern __shared__ int block[];
    block[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = block[blockDim.x - 1 - threadIdx.x];
}

extern "C" __global__ void take(point p, float* out)
{
    out[0] = p.x + p.y + p.tag + table[2];
    atomicAdd(&counter, 1);
}

extern "C" __global__ void store(int* x) { *x = 1; }

extern "C" __global__ void stop() { __trap(); }

extern "C" __global__ void __launch_bounds__(64) small() {}
