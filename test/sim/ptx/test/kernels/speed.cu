// SPDX-License-Identifier: BSL-1.0
// Loops whose instructions can be counted.

extern "C" __global__ void mix(unsigned* out, unsigned rounds) {
    unsigned a = threadIdx.x;
    unsigned b = blockIdx.x;
#pragma unroll 1
    for (unsigned i = 0; i < rounds; ++i) {
        a = a * 1664525u + 1013904223u;
        b ^= a >> 7;
        a += b << 3;
        if (a & 16) b += 5;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = a ^ b;
}
