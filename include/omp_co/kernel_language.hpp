// SPDX-License-Identifier: BSL-1.0
// For .cu and .hip files: the indices of a kernel that a range() runs. Neither Asio nor coroutines are reached from here,
// since nvcc does not compile them. To other compilers this header is empty.
#pragma once

#if defined(__CUDACC__) || defined(__HIPCC__)

namespace omp_co {

/// The index of this thread in each dimension of the range, x fastest. Beyond the range's end in the last teams: compare
/// with the counts, which the kernel takes as parameters.
__device__ inline unsigned long long index_x()
{
    return static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline unsigned long long index_y()
{
    return static_cast<unsigned long long>(blockIdx.y) * blockDim.y + threadIdx.y;
}
__device__ inline unsigned long long index_z()
{
    return static_cast<unsigned long long>(blockIdx.z) * blockDim.z + threadIdx.z;
}

/// How many threads the launch has in a dimension: the stride of a loop that visits a range of any size.
__device__ inline unsigned long long threads_x()
{
    return static_cast<unsigned long long>(gridDim.x) * blockDim.x;
}
__device__ inline unsigned long long threads_y()
{
    return static_cast<unsigned long long>(gridDim.y) * blockDim.y;
}
__device__ inline unsigned long long threads_z()
{
    return static_cast<unsigned long long>(gridDim.z) * blockDim.z;
}

} // namespace omp_co

#endif
