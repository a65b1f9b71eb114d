// SPDX-License-Identifier: BSL-1.0
// Copies of two and three dimensions. Arrays are not simulated.
#include "copy.hpp"
#include "limits.hpp"

using namespace omp_co_sim;

namespace {

struct side_values {
    CUmemorytype type;
    void const* host;
    CUdeviceptr device;
    std::size_t x, y, z, lod;
    std::size_t pitch, height;
};

copy_side side(session& s, side_values const& v, std::size_t width, std::size_t height, std::size_t depth)
{
    if (v.type == CU_MEMORYTYPE_ARRAY || v.lod != 0) {
        s.sim.log.note("arrays are not simulated");
        throw failure{CUDA_ERROR_NOT_SUPPORTED};
    }
    require(v.type == CU_MEMORYTYPE_HOST || v.type == CU_MEMORYTYPE_DEVICE ||
            v.type == CU_MEMORYTYPE_UNIFIED);
    require(v.pitch <= std::size_t{limits::pitch});
    bool const one_row = height <= 1 && depth <= 1;
    require(v.pitch >= v.x + width || (v.pitch == 0 && one_row));
    require(v.height >= v.y + height || depth <= 1);
    auto const pitch = v.pitch == 0 ? width : v.pitch;
    auto const first = v.type == CU_MEMORYTYPE_HOST ? reinterpret_cast<CUdeviceptr>(v.host) : v.device;
    auto const plane = pitch * v.height;
    return {first + v.z * plane + v.y * pitch + v.x, pitch, plane, v.type == CU_MEMORYTYPE_DEVICE};
}

copy_box box_of(session& s, CUDA_MEMCPY2D const* p)
{
    require(p != nullptr);
    copy_box box;
    box.width = p->WidthInBytes;
    box.height = p->Height;
    box.source =
        side(s, {p->srcMemoryType, p->srcHost, p->srcDevice, p->srcXInBytes, p->srcY, 0, 0, p->srcPitch, 0},
             box.width, box.height, 1);
    box.destination =
        side(s, {p->dstMemoryType, p->dstHost, p->dstDevice, p->dstXInBytes, p->dstY, 0, 0, p->dstPitch, 0},
             box.width, box.height, 1);
    return box;
}

// CUDA_MEMCPY3D and CUDA_MEMCPY3D_PEER name these alike.
template <class Parameters>
copy_box box_of_three(session& s, Parameters const* p)
{
    require(p != nullptr);
    copy_box box;
    box.width = p->WidthInBytes;
    box.height = p->Height;
    box.depth = p->Depth;
    box.source = side(s,
                      {p->srcMemoryType, p->srcHost, p->srcDevice, p->srcXInBytes, p->srcY, p->srcZ,
                       p->srcLOD, p->srcPitch, p->srcHeight},
                      box.width, box.height, box.depth);
    box.destination = side(s,
                           {p->dstMemoryType, p->dstHost, p->dstDevice, p->dstXInBytes, p->dstY, p->dstZ,
                            p->dstLOD, p->dstPitch, p->dstHeight},
                           box.width, box.height, box.depth);
    return box;
}

copy_box box_of_peers(session& s, CUDA_MEMCPY3D_PEER const* p)
{
    auto const box = box_of_three(s, p);
    s.healthy(*s.find(p->srcContext)->where);
    s.healthy(*s.find(p->dstContext)->where);
    return box;
}

CUresult put(session& s, CUstream handle, copy_box const& box, copy_call how)
{
    auto const st = s.find(handle);
    return copy(s, *st, box, how);
}

} // namespace

extern "C" {

CUresult cuMemcpy2D_v2(CUDA_MEMCPY2D const* p)
{
    return call(id_cuMemcpy2D_v2,
                [&](session& s) { return put(s, nullptr, box_of(s, p), copy_call::synchronous); });
}

CUresult cuMemcpy2DUnaligned_v2(CUDA_MEMCPY2D const* p)
{
    return call(id_cuMemcpy2DUnaligned_v2,
                [&](session& s) { return put(s, nullptr, box_of(s, p), copy_call::synchronous); });
}

CUresult cuMemcpy2DAsync_v2(CUDA_MEMCPY2D const* p, CUstream stream)
{
    return call(id_cuMemcpy2DAsync_v2,
                [&](session& s) { return put(s, stream, box_of(s, p), copy_call::asynchronous); });
}

CUresult cuMemcpy3D_v2(CUDA_MEMCPY3D const* p)
{
    return call(id_cuMemcpy3D_v2,
                [&](session& s) { return put(s, nullptr, box_of_three(s, p), copy_call::synchronous); });
}

CUresult cuMemcpy3DAsync_v2(CUDA_MEMCPY3D const* p, CUstream stream)
{
    return call(id_cuMemcpy3DAsync_v2,
                [&](session& s) { return put(s, stream, box_of_three(s, p), copy_call::asynchronous); });
}

CUresult cuMemcpy3DPeer(CUDA_MEMCPY3D_PEER const* p)
{
    return call(id_cuMemcpy3DPeer,
                [&](session& s) { return put(s, nullptr, box_of_peers(s, p), copy_call::synchronous); });
}

CUresult cuMemcpy3DPeerAsync(CUDA_MEMCPY3D_PEER const* p, CUstream stream)
{
    return call(id_cuMemcpy3DPeerAsync,
                [&](session& s) { return put(s, stream, box_of_peers(s, p), copy_call::asynchronous); });
}

} // extern "C"
