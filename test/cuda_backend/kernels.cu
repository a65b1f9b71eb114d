// SPDX-License-Identifier: BSL-1.0
// The kernels of these tests. kernels.hpp has what nvcc makes of them: see there.

extern "C" __global__ void add_index(unsigned* p, unsigned long n)
{
    unsigned long const i = blockIdx.x * (unsigned long)blockDim.x + threadIdx.x;
    if (i < n) p[i] += (unsigned)i;
}

extern "C" __global__ void mark_2d(int* p, int nx, int ny)
{
    int const x = blockIdx.x * blockDim.x + threadIdx.x;
    int const y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < nx && y < ny) p[y * nx + x] += x + 1000 * y + 1;
}

extern "C" __global__ void mark_3d(int* p, int nx, int ny, int nz)
{
    int const x = blockIdx.x * blockDim.x + threadIdx.x;
    int const y = blockIdx.y * blockDim.y + threadIdx.y;
    int const z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < nx && y < ny && z < nz) p[(z * ny + y) * nx + x] += x + 100 * y + 10000 * z;
}

extern "C" __global__ void increment(int* p)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) ++*p;
}

extern "C" __global__ void add_from(int const* a, int* b) { *b += *a; }

struct triple {
    double factor;
    short shift;
    char sign;
};

extern "C" __global__ void with_struct(triple t, double* p)
{
    *p = *p * t.factor + (t.sign < 0 ? -t.shift : t.shift);
}

extern "C" __global__ void reverse_team(int* p)
{
    extern __shared__ int part[];
    int* const mine = p + blockIdx.x * blockDim.x;
    part[threadIdx.x] = mine[threadIdx.x];
    __syncthreads();
    mine[threadIdx.x] = part[blockDim.x - 1 - threadIdx.x];
}

extern "C" __global__ void team_sizes(int* p)
{
    if (threadIdx.x == 0 && threadIdx.y == 0) {
        p[0] = gridDim.x;
        p[1] = blockDim.x;
        p[2] = blockDim.y;
    }
}

extern "C" __global__ void __launch_bounds__(64) at_most_64(int* p)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) *p = blockDim.x;
}

extern "C" __global__ void trap(int* p)
{
    ++*p;
    asm volatile("trap;");
}

extern "C" __global__ void wild_store(int* p) { *(int*)16 = *p; }
