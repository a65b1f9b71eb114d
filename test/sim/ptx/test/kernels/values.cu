// SPDX-License-Identifier: BSL-1.0
// One operation after another on given operands; the host computes the same and compares.
#include <cstdint>

extern "C" __global__ void integers32(int const* a, int const* b, int n, int* out) {
    int const i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int const x = a[i];
    int const y = b[i];
    unsigned const u = static_cast<unsigned>(x);
    unsigned const v = static_cast<unsigned>(y);
    int* o = out + i * 32;
    o[0] = x + y;
    o[1] = x - y;
    o[2] = x * y;
    o[3] = __mulhi(x, y);
    o[4] = static_cast<int>(__umulhi(u, v));
    o[5] = y ? x / y : 0;
    o[6] = y ? x % y : 0;
    o[7] = v ? static_cast<int>(u / v) : 0;
    o[8] = v ? static_cast<int>(u % v) : 0;
    o[9] = min(x, y);
    o[10] = max(x, y);
    o[11] = static_cast<int>(min(u, v));
    o[12] = static_cast<int>(max(u, v));
    o[13] = x & y;
    o[14] = x | y;
    o[15] = x ^ y;
    o[16] = ~x;
    o[17] = x << (y & 31);
    o[18] = x >> (y & 31);
    o[19] = static_cast<int>(u >> (v & 31));
    o[20] = __popc(u);
    o[21] = __clz(x);
    o[22] = static_cast<int>(__brev(u));
    o[23] = __ffs(x);
    o[24] = static_cast<int>(__byte_perm(u, v, 0x2705));
    o[25] = static_cast<int>(__funnelshift_l(u, v, v));
    o[26] = static_cast<int>(__funnelshift_rc(u, v, v));
    o[27] = abs(x);
    o[28] = x < y ? x : (u < v ? 7 : 9);
    o[29] = static_cast<int>(__usad(u, v, 5u));
    o[30] = __mul24(x, y);
    o[31] = (x & y) ^ (~x & 0x5555) ^ (y | 3);
}

extern "C" __global__ void integers64(long long const* a, long long const* b, int n, long long* out) {
    int const i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    long long const x = a[i];
    long long const y = b[i];
    unsigned long long const u = static_cast<unsigned long long>(x);
    unsigned long long const v = static_cast<unsigned long long>(y);
    long long* o = out + i * 24;
    o[0] = x + y;
    o[1] = x - y;
    o[2] = x * y;
    o[3] = __mul64hi(x, y);
    o[4] = static_cast<long long>(__umul64hi(u, v));
    o[5] = y ? x / y : 0;
    o[6] = y ? x % y : 0;
    o[7] = v ? static_cast<long long>(u / v) : 0;
    o[8] = v ? static_cast<long long>(u % v) : 0;
    o[9] = x < y ? x : y;
    o[10] = u < v ? 1 : 2;
    o[11] = x << (y & 63);
    o[12] = x >> (y & 63);
    o[13] = static_cast<long long>(u >> (v & 63));
    o[14] = __popcll(u);
    o[15] = __clzll(x);
    o[16] = static_cast<long long>(__brevll(u));
    o[17] = static_cast<long long>(static_cast<int>(x)) * static_cast<int>(y);
    o[18] = static_cast<long long>(static_cast<unsigned long long>(static_cast<unsigned>(x)) * static_cast<unsigned>(y));
    __int128 const wide = static_cast<__int128>(x) * y + x;
    o[19] = static_cast<long long>(wide >> 64);
    o[20] = static_cast<long long>(wide);
    o[21] = __ffsll(x);
    o[22] = (x >> 5) & 0x1fff;
    o[23] = static_cast<long long>(u ^ (v & ~u));
}

extern "C" __global__ void narrow(signed char const* a, short const* b, int n, int* out, unsigned char* bytes,
                                  short* shorts) {
    int const i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    signed char const c = a[i];
    short const s = b[i];
    out[i * 6 + 0] = c + s;
    out[i * 6 + 1] = static_cast<unsigned char>(c) * static_cast<unsigned short>(s);
    out[i * 6 + 2] = static_cast<signed char>(s);
    out[i * 6 + 3] = static_cast<short>(c * s);
    out[i * 6 + 4] = s / (c ? c : 1);
    out[i * 6 + 5] = static_cast<unsigned short>(s) >> 3;
    bytes[i] = static_cast<unsigned char>(c + s);
    shorts[i] = static_cast<short>(s - c);
}

extern "C" __global__ void floats(float const* a, float const* b, int n, float* out) {
    int const i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float const x = a[i];
    float const y = b[i];
    float* o = out + i * 32;
    o[0] = x + y;
    o[1] = x - y;
    o[2] = x * y;
    o[3] = x / y;
    o[4] = fmaf(x, y, x);
    o[5] = fminf(x, y);
    o[6] = fmaxf(x, y);
    o[7] = fabsf(x);
    o[8] = -x;
    o[9] = copysignf(x, y);
    o[10] = sqrtf(fabsf(x));
    o[11] = __fadd_rz(x, y);
    o[12] = __fadd_ru(x, y);
    o[13] = __fadd_rd(x, y);
    o[14] = __fmul_rz(x, y);
    o[15] = __fdiv_ru(x, y);
    o[16] = __fsqrt_rd(fabsf(x));
    o[17] = __frcp_ru(x);
    o[18] = __fmaf_rd(x, y, 1.0f);
    o[19] = __saturatef(x);
    o[20] = floorf(x);
    o[21] = ceilf(x);
    o[22] = truncf(x);
    o[23] = rintf(x);
    o[24] = roundf(x);
    o[25] = x < y ? 1.0f : (x == y ? 2.0f : 3.0f);
    o[26] = isnan(x) ? 1.0f : (isinf(x) ? 2.0f : 3.0f);
    o[27] = !(x < y) ? x : y;
    o[28] = fmodf(x, 3.0f);
    o[29] = __int_as_float(__float_as_int(x) ^ 0x80000000);
    o[30] = x != y || !(x > 0) ? 4.0f : 5.0f;
    o[31] = fdimf(x, y);
}

extern "C" __global__ void float_math(float const* a, int n, float* out) {
    int const i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float const x = a[i];
    float* o = out + i * 16;
    o[0] = sinf(x);
    o[1] = cosf(x);
    o[2] = tanf(x);
    o[3] = expf(x);
    o[4] = logf(fabsf(x));
    o[5] = log2f(fabsf(x));
    o[6] = exp2f(x);
    o[7] = powf(fabsf(x), 1.7f);
    o[8] = atan2f(x, 2.0f);
    o[9] = tanhf(x);
    o[10] = rsqrtf(fabsf(x));
    o[11] = erff(x);
    o[12] = cbrtf(x);
    o[13] = __sinf(x);
    o[14] = __expf(x);
    o[15] = hypotf(x, 3.0f);
}

extern "C" __global__ void double_math(double const* a, double const* b, int n, double* out) {
    int const i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double const x = a[i];
    double const y = b[i];
    double* o = out + i * 24;
    o[0] = x + y;
    o[1] = x * y - x;
    o[2] = x / y;
    o[3] = fma(x, y, 1.0);
    o[4] = sqrt(fabs(x));
    o[5] = sin(x);
    o[6] = cos(x);
    o[7] = exp(x);
    o[8] = log(fabs(x));
    o[9] = pow(fabs(x), y);
    o[10] = fmin(x, y);
    o[11] = fmax(x, y);
    o[12] = floor(x);
    o[13] = rint(x);
    o[14] = __dadd_ru(x, y);
    o[15] = __dmul_rd(x, y);
    o[16] = __ddiv_rz(x, y);
    o[17] = copysign(x, y);
    o[18] = atan(x);
    o[19] = rsqrt(fabs(x));
    o[20] = x < y ? 1.0 : 2.0;
    o[21] = fmod(x, y);
    o[22] = cbrt(x);
    o[23] = tan(x);
}

extern "C" __global__ void conversions(float const* f, double const* d, long long const* l, int n, long long* out,
                                       float* fout, double* dout) {
    int const i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float const x = f[i];
    double const y = d[i];
    long long const v = l[i];
    long long* o = out + i * 24;
    o[0] = static_cast<int>(x);
    o[1] = static_cast<unsigned>(x);
    o[2] = static_cast<long long>(x);
    o[3] = static_cast<long long>(static_cast<unsigned long long>(x));
    o[4] = __float2int_rn(x);
    o[5] = __float2int_ru(x);
    o[6] = __float2int_rd(x);
    o[7] = __float2uint_rn(x);
    o[8] = static_cast<int>(y);
    o[9] = static_cast<long long>(y);
    o[10] = __double2int_rn(y);
    o[11] = __double2ll_ru(y);
    o[12] = __double2uint_rd(y);
    o[13] = static_cast<signed char>(x);
    o[14] = static_cast<unsigned short>(x);
    o[15] = __float_as_int(x);
    o[16] = __double_as_longlong(y);
    o[17] = __double2hiint(y);
    o[18] = __float2ll_rn(x);
    o[19] = llrint(y);
    o[20] = lroundf(x);
    o[21] = static_cast<long long>(__double2ull_rn(y));
    float* p = fout + i * 12;
    p[0] = static_cast<float>(v);
    p[1] = static_cast<float>(static_cast<unsigned long long>(v));
    p[2] = __ll2float_rz(v);
    p[3] = __ll2float_ru(v);
    p[4] = __int2float_rd(static_cast<int>(v));
    p[5] = __uint2float_ru(static_cast<unsigned>(v));
    p[6] = static_cast<float>(y);
    p[7] = __double2float_rz(y);
    p[8] = __double2float_ru(y);
    p[9] = __double2float_rd(y);
    p[10] = static_cast<float>(static_cast<signed char>(v));
    p[11] = static_cast<float>(static_cast<unsigned short>(v));
    double* q = dout + i * 6;
    q[0] = static_cast<double>(v);
    q[1] = static_cast<double>(static_cast<unsigned long long>(v));
    q[2] = __ll2double_ru(v);
    q[3] = __ull2double_rd(static_cast<unsigned long long>(v));
    q[4] = x;
    q[5] = static_cast<int>(v);
}
