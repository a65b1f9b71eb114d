// SPDX-License-Identifier: BSL-1.0
// Stream capture. What is captured is counted, not kept: there is no graph to launch (cuGraphInstantiate and its kin
// are not simulated), but a program can find out that a capture is in progress, and what breaks one.
#include "driver.hpp"

#include <algorithm>

using namespace omp_co_sim;

namespace {

CUstreamCaptureStatus status_of(stream const& s)
{
    if (!s.capturing) return CU_STREAM_CAPTURE_STATUS_NONE;
    return s.capturing->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

CUresult answer(session& s, CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* recorded,
                CUgraphNode const** dependencies, size_t* count)
{
    require(status != nullptr);
    auto const st = s.find(handle);
    *status = status_of(*st);
    if (*status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return CUDA_SUCCESS;
    if (dependencies || count) {
        s.sim.log.note("the nodes of a capture are not simulated");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (id) *id = st->capturing->id;
    if (recorded) *recorded = st->capturing->recorded->handle;
    return CUDA_SUCCESS;
}

} // namespace

extern "C" {

CUresult cuStreamBeginCapture_v2(CUstream handle, CUstreamCaptureMode mode)
{
    return call(id_cuStreamBeginCapture_v2, [&](session& s) {
        require(mode <= CU_STREAM_CAPTURE_MODE_RELAXED);
        auto const st = s.find(handle);
        require(!st->legacy, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        require(!st->capturing, CUDA_ERROR_ILLEGAL_STATE);
        auto c = std::make_shared<capture>();
        c->id = s.sim.next_number++;
        c->mode = mode;
        c->thread = std::this_thread::get_id();
        c->recorded = std::make_shared<graph>();
        s.sim.captures.push_back(c);
        st->capturing = c;
        st->began_capture = true;
        return CUDA_SUCCESS;
    });
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph* recorded)
{
    return call(id_cuStreamEndCapture, [&](session& s) {
        require(recorded != nullptr);
        *recorded = nullptr;
        auto const st = s.find(handle);
        auto const c = st->capturing;
        require(c != nullptr, CUDA_ERROR_ILLEGAL_STATE);
        require(st->began_capture, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
        bool const wrong_thread =
            c->mode != CU_STREAM_CAPTURE_MODE_RELAXED && c->thread != std::this_thread::get_id();
        require(!wrong_thread, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
        auto const owner = st->owner.lock();
        for (auto const& other : owner->streams) {
            if (other->capturing != c) continue;
            other->capturing.reset();
            other->began_capture = false;
        }
        std::erase(s.sim.captures, c);
        require(!c->invalid, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        s.sim.graphs.add(c->recorded, std::string(s.name()));
        *recorded = c->recorded->handle;
        return CUDA_SUCCESS;
    });
}

CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus* status)
{
    return call(id_cuStreamIsCapturing, [&](session& s) {
        require(status != nullptr);
        auto const st = s.find(handle);
        if (st->legacy) {
            auto const owner = st->owner.lock();
            for (auto const& other : owner->streams)
                require(!other->capturing || !other->blocking(), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
        }
        *status = status_of(*st);
        return CUDA_SUCCESS;
    });
}

CUresult cuStreamGetCaptureInfo_v2(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id,
                                   CUgraph* recorded, CUgraphNode const** dependencies, size_t* count)
{
    return call(id_cuStreamGetCaptureInfo_v2,
                [&](session& s) { return answer(s, handle, status, id, recorded, dependencies, count); });
}

CUresult cuStreamGetCaptureInfo_v3(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id,
                                   CUgraph* recorded, CUgraphNode const** dependencies,
                                   CUgraphEdgeData const** edges, size_t* count)
{
    return call(id_cuStreamGetCaptureInfo_v3, [&](session& s) {
        require(edges == nullptr, CUDA_ERROR_NOT_SUPPORTED);
        return answer(s, handle, status, id, recorded, dependencies, count);
    });
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode)
{
    return call(id_cuThreadExchangeStreamCaptureMode, [&](session&) {
        require(mode && *mode <= CU_STREAM_CAPTURE_MODE_RELAXED);
        std::swap(*mode, thread_state::get().capture_mode);
        return CUDA_SUCCESS;
    });
}

CUresult cuGraphDestroy(CUgraph handle)
{
    return call(id_cuGraphDestroy, [&](session& s) {
        if (!s.sim.graphs.find(handle)) {
            s.misuse(describe("graph", handle) + " is no such handle");
            return CUDA_ERROR_INVALID_HANDLE;
        }
        s.sim.graphs.remove(handle);
        return CUDA_SUCCESS;
    });
}

} // extern "C"
