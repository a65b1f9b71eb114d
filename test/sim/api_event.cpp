// SPDX-License-Identifier: BSL-1.0
// Events: a record is a marker in a stream, and the event is whatever marker it recorded last.
#include "command_memory.hpp"
#include "commands.hpp"
#include "driver.hpp"

using namespace omp_co_sim;

namespace {

CUresult record(session& s, CUevent handle, CUstream where, unsigned flags)
{
    require(flags <= CU_EVENT_RECORD_EXTERNAL);
    auto const e = s.find(handle);
    auto const st = s.find(where);
    require(flags == CU_EVENT_RECORD_DEFAULT || st->capturing);
    if (e->owner.lock() != st->owner.lock()) {
        s.misuse(e->where != st->where
                     ? "cross-device event: recorded in a stream of another device"
                     : "wrong context: the event belongs to another context than the stream");
        return CUDA_ERROR_INVALID_HANDLE;
    }
    auto const c = make_command<marker>();
    if (!s.enqueue(*st, c)) {
        e->captured = st->capturing;
        return CUDA_SUCCESS;
    }
    e->captured.reset();
    e->recorded = c;
    return CUDA_SUCCESS;
}

// An event that was captured stands for nothing that runs.
void must_not_be_captured(session& s, event const& e)
{
    if (!e.captured) return;
    e.captured->invalid = true;
    s.misuse("the event was last recorded in a capture");
    throw failure{CUDA_ERROR_CAPTURED_EVENT};
}

CUresult elapsed(session& s, float* milliseconds, CUevent start, CUevent end)
{
    require(milliseconds != nullptr);
    auto const first = s.find(start);
    auto const last = s.find(end);
    auto const timed = [](event const& e) { return (e.flags & CU_EVENT_DISABLE_TIMING) == 0; };
    require(first->owner.lock() == last->owner.lock(), CUDA_ERROR_INVALID_HANDLE);
    require(first->recorded && last->recorded && timed(*first) && timed(*last), CUDA_ERROR_INVALID_HANDLE);
    if (!first->recorded->done() || !last->recorded->done()) return CUDA_ERROR_NOT_READY;
    *milliseconds =
        static_cast<float>(static_cast<double>(last->recorded->end() - first->recorded->end()) / 1e6);
    return CUDA_SUCCESS;
}

} // namespace

extern "C" {

CUresult cuEventCreate(CUevent* handle, unsigned int flags)
{
    return call(id_cuEventCreate, [&](session& s) {
        constexpr unsigned known = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING;
        require(handle != nullptr);
        require((flags & CU_EVENT_INTERPROCESS) == 0, CUDA_ERROR_NOT_SUPPORTED);
        require((flags & ~known) == 0);
        auto& c = s.current();
        auto e = std::make_shared<event>();
        e->owner = s.current_pointer();
        e->where = c.where;
        e->flags = flags;
        s.sim.events.add(e, std::string(s.name()));
        *handle = e->handle;
        return CUDA_SUCCESS;
    });
}

CUresult cuEventRecord(CUevent handle, CUstream where)
{
    return call(id_cuEventRecord, [&](session& s) { return record(s, handle, where, 0); });
}

CUresult cuEventRecordWithFlags(CUevent handle, CUstream where, unsigned int flags)
{
    return call(id_cuEventRecordWithFlags, [&](session& s) { return record(s, handle, where, flags); });
}

CUresult cuEventQuery(CUevent handle)
{
    return call(id_cuEventQuery, [&](session& s) {
        auto const e = s.find(handle);
        must_not_be_captured(s, *e);
        s.unsafe_while_capturing();
        return !e->recorded || e->recorded->done() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
    });
}

CUresult cuEventSynchronize(CUevent handle)
{
    return call(id_cuEventSynchronize, [&](session& s) {
        auto const e = s.find(handle);
        must_not_be_captured(s, *e);
        s.unsafe_while_capturing();
        auto& where = *e->where;
        if (e->recorded) s.wait(std::shared_ptr(e->recorded), where);
        return CUDA_SUCCESS;
    });
}

CUresult cuEventDestroy_v2(CUevent handle)
{
    return call(id_cuEventDestroy_v2, [&](session& s) {
        s.find(handle);
        s.sim.events.remove(handle);
        return CUDA_SUCCESS;
    });
}

CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end)
{
    return call(id_cuEventElapsedTime, [&](session& s) { return elapsed(s, milliseconds, start, end); });
}

CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent start, CUevent end)
{
    return call(id_cuEventElapsedTime_v2, [&](session& s) { return elapsed(s, milliseconds, start, end); });
}

} // extern "C"
