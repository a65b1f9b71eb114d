// SPDX-License-Identifier: BSL-1.0
// Copies of one row.
#include "copy.hpp"

using namespace omp_co_sim;

namespace {

constexpr auto now_call = copy_call::synchronous;
constexpr auto later_call = copy_call::asynchronous;

CUdeviceptr address(void const* p) { return reinterpret_cast<CUdeviceptr>(p); }

CUresult put(session& s, CUstream handle, copy_box const& box, copy_call how)
{
    auto const st = s.find(handle);
    return copy(s, *st, box, how);
}

void must_be_contexts(session& s, CUcontext one, CUcontext other)
{
    s.healthy(*s.find(one)->where);
    s.healthy(*s.find(other)->where);
}

} // namespace

extern "C" {

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    return call(id_cuMemcpy,
                [&](session& s) { return put(s, nullptr, row(to, false, from, false, bytes), now_call); });
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    return call(id_cuMemcpyAsync,
                [&](session& s) { return put(s, stream, row(to, false, from, false, bytes), later_call); });
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, void const* from, size_t bytes)
{
    return call(id_cuMemcpyHtoD_v2, [&](session& s) {
        return put(s, nullptr, row(to, true, address(from), false, bytes), now_call);
    });
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, void const* from, size_t bytes, CUstream stream)
{
    return call(id_cuMemcpyHtoDAsync_v2, [&](session& s) {
        return put(s, stream, row(to, true, address(from), false, bytes), later_call);
    });
}

CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, size_t bytes)
{
    return call(id_cuMemcpyDtoH_v2, [&](session& s) {
        return put(s, nullptr, row(address(to), false, from, true, bytes), now_call);
    });
}

CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    return call(id_cuMemcpyDtoHAsync_v2, [&](session& s) {
        return put(s, stream, row(address(to), false, from, true, bytes), later_call);
    });
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    return call(id_cuMemcpyDtoD_v2,
                [&](session& s) { return put(s, nullptr, row(to, true, from, true, bytes), now_call); });
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    return call(id_cuMemcpyDtoDAsync_v2,
                [&](session& s) { return put(s, stream, row(to, true, from, true, bytes), later_call); });
}

CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                      size_t bytes)
{
    return call(id_cuMemcpyPeer, [&](session& s) {
        must_be_contexts(s, to_context, from_context);
        return put(s, nullptr, row(to, true, from, true, bytes), now_call);
    });
}

CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                           size_t bytes, CUstream stream)
{
    return call(id_cuMemcpyPeerAsync, [&](session& s) {
        must_be_contexts(s, to_context, from_context);
        return put(s, stream, row(to, true, from, true, bytes), later_call);
    });
}

} // extern "C"
