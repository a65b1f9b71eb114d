// SPDX-License-Identifier: BSL-1.0
// Whole kernels as users write them: what the interpreter must run without surprises.
#include <cstdint>

extern "C" __global__ void saxpy(int n, float a, float const* x, float* y) {
    int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) y[i] = a * x[i] + y[i];
}

constexpr int tile = 16;

extern "C" __global__ void matmul(float const* a, float const* b, float* c, int n) {
    __shared__ float sa[tile][tile];
    __shared__ float sb[tile][tile];
    int const row = blockIdx.y * tile + threadIdx.y;
    int const column = blockIdx.x * tile + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k += tile) {
        sa[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
        sb[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
        __syncthreads();
        for (int j = 0; j < tile; ++j) sum += sa[threadIdx.y][j] * sb[j][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

extern "C" __global__ void reduce(float const* x, int n, float* result) {
    __shared__ float partial[32];
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0.0f;
        for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
        if (threadIdx.x == 0) atomicAdd(result, sum);
    }
}

extern "C" __global__ void histogram(unsigned char const* x, int n, unsigned* bins) {
    __shared__ unsigned local[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) local[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[x[i]], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        if (local[i]) atomicAdd(&bins[i], local[i]);
}

struct small {
    char tag;
    short half;
    double value;
};
struct large {
    small items[3];
    float matrix[4][4];
    unsigned char tail[5];
};

extern "C" __global__ void structs(char c, small s, short h, large l, double* out, int pick) {
    double sum = c + s.tag + s.half + s.value + h;
    sum += l.items[pick].value + l.items[pick].half;
    sum += l.matrix[pick][3 - pick] + l.tail[pick + 2];
    out[threadIdx.x] = sum + threadIdx.x;
}

extern "C" __global__ void index3(int* out, int nx, int ny, int nz) {
    int const x = blockIdx.x * blockDim.x + threadIdx.x;
    int const y = blockIdx.y * blockDim.y + threadIdx.y;
    int const z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < nx && y < ny && z < nz) out[(z * ny + y) * nx + x] = x + 100 * y + 10000 * z;
}

__constant__ int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
__constant__ float weights[2][3] = {{0.5f, 1.5f, 2.5f}, {-1.0f, -2.0f, -3.0f}};
__device__ int counter = 41;
__device__ int cells[4] = {1, 2, 3, 4};
__device__ int* where = &cells[2];
__device__ char const* const words[3] = {"zero", "one", "two"};

extern "C" __global__ void tables(int* out) {
    int const i = threadIdx.x;
    out[i] = table[i % 8] + static_cast<int>(10 * weights[i % 2][i % 3]) + *where + words[i % 3][1];
    if (i == 0) atomicAdd(&counter, 1);
    *where = 7;
}

extern "C" __global__ void dynamic_shared(int const* in, int* out) {
    extern __shared__ int buffer[];
    buffer[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = buffer[blockDim.x - 1 - threadIdx.x];
}

__device__ __noinline__ double mixed(small s, int n, double const* x) {
    double r = s.value;
    for (int i = 0; i < n; ++i) r = r * x[i] + s.half;
    return r;
}
__device__ __noinline__ small make(int i) { return small{static_cast<char>(i), static_cast<short>(i * 2), i * 0.5}; }
__device__ __noinline__ void fill(int* p, int n) {
    for (int i = 0; i < n; ++i) p[i] = i * i;
}

extern "C" __global__ void calls(double const* x, int n, double* out) {
    int scratch[8];
    fill(scratch, 8);
    small const s = make(static_cast<int>(threadIdx.x) + 1);
    out[threadIdx.x] = mixed(s, n, x) + s.tag + scratch[threadIdx.x % 8];
}

extern "C" __global__ void switches(int const* in, int* out, int n) {
    int const i = threadIdx.x;
    if (i >= n) return;
    int r = in[i];
    switch (r) {
    case 0: r = i * 3; break;
    case 1: r = in[(i + 1) % n] - 7; break;
    case 2: r = r << (i & 7); break;
    case 3: r = i / 3; break;
    case 4: r = i % 5; break;
    case 5: r = in[0] ^ i; break;
    case 6: r = -i; break;
    case 7: r = out[i] + 1; break;
    default: r = 1000 + r;
    }
    out[i] = r;
}
