// SPDX-License-Identifier: BSL-1.0
// Streams: creation, questions, waits for events, host functions.
#include "commands.hpp"
#include "driver.hpp"

#include <algorithm>

using namespace omp_co_sim;

namespace {

// Priorities are kept and answered; the schedule is the same for all.
CUresult create(session& s, CUstream* handle, unsigned flags, int priority)
{
    require(handle && (flags & ~static_cast<unsigned>(CU_STREAM_NON_BLOCKING)) == 0);
    auto& c = s.current();
    auto made = std::make_shared<stream>();
    made->owner = s.current_pointer();
    made->where = c.where;
    made->flags = flags;
    made->priority = std::clamp(priority, -5, 0);
    made->number = s.sim.next_number++;
    made->queue->domain = c.where->domain;
    auto& queues = c.where->domain->queues;
    std::erase_if(queues, [](auto const& q) { return q.expired(); });
    queues.push_back(made->queue);
    std::erase_if(c.streams, [](auto const& old) { return old->destroyed && old->queue->commands.empty(); });
    c.streams.push_back(made);
    s.sim.streams.add(made, std::string(s.name()));
    *handle = made->handle;
    return CUDA_SUCCESS;
}

class host_function final : public command {
public:
    host_function(CUhostFn function, void* argument, bool lost)
        : function_(function), argument_(argument), lost_(lost)
    {
    }
    weight how() const override { return weight::host; }
    outcome run() override
    {
        if (!lost_) function_(argument_);
        return {};
    }

private:
    CUhostFn function_;
    void* argument_;
    bool lost_;
};

// Runs also after a fault, and is told of it.
class stream_callback final : public command {
public:
    stream_callback(engine& schedule, CUstream stream, CUstreamCallback function, void* argument)
        : schedule_(schedule), stream_(stream), function_(function), argument_(argument)
    {
    }
    weight how() const override { return weight::host; }
    outcome run() override
    {
        ran_ = true;
        function_(stream_, CUDA_SUCCESS, argument_);
        return {};
    }
    void over(CUresult status) override
    {
        if (ran_) return;
        schedule_.post_host([f = function_, s = stream_, a = argument_, status] { f(s, status, a); });
    }

private:
    engine& schedule_;
    CUstream stream_;
    CUstreamCallback function_;
    void* argument_;
    bool ran_ = false;
};

} // namespace

extern "C" {

CUresult cuStreamCreate(CUstream* handle, unsigned int flags)
{
    return call(id_cuStreamCreate, [&](session& s) { return create(s, handle, flags, 0); });
}

CUresult cuStreamCreateWithPriority(CUstream* handle, unsigned int flags, int priority)
{
    return call(id_cuStreamCreateWithPriority,
                [&](session& s) { return create(s, handle, flags, priority); });
}

CUresult cuStreamDestroy_v2(CUstream handle)
{
    return call(id_cuStreamDestroy_v2, [&](session& s) {
        require(handle && handle != CU_STREAM_LEGACY && handle != CU_STREAM_PER_THREAD,
                CUDA_ERROR_INVALID_HANDLE);
        auto const st = s.find(handle);
        if (st->capturing) st->capturing->invalid = true;
        st->destroyed = true;
        s.sim.streams.remove(handle);
        if (auto const owner = st->owner.lock(); owner && st->queue->commands.empty())
            owner->streams.remove(st);
        return CUDA_SUCCESS;
    });
}

CUresult cuStreamQuery(CUstream handle)
{
    return call(id_cuStreamQuery, [&](session& s) {
        auto const st = s.find(handle);
        s.not_capturing(*st);
        s.unsafe_while_capturing();
        return st->queue->commands.empty() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
    });
}

CUresult cuStreamSynchronize(CUstream handle)
{
    return call(id_cuStreamSynchronize, [&](session& s) {
        auto const st = s.find(handle);
        s.not_capturing(*st);
        s.unsafe_while_capturing();
        s.synchronise(*st);
        return CUDA_SUCCESS;
    });
}

CUresult cuStreamWaitEvent(CUstream handle, CUevent waited, unsigned int flags)
{
    return call(id_cuStreamWaitEvent, [&](session& s) {
        require(flags <= CU_EVENT_WAIT_EXTERNAL);
        auto const st = s.find(handle);
        require(flags == CU_EVENT_WAIT_DEFAULT || st->capturing);
        auto const e = s.find(waited);
        if (e->captured) {
            // Waiting for a captured event makes the stream part of the capture.
            require(!st->legacy && (!st->capturing || st->capturing == e->captured),
                    CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
            require(!e->captured->invalid, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
            st->capturing = e->captured;
            return CUDA_SUCCESS;
        }
        if (!e->recorded) {
            s.misuse("wait for an event that was never recorded: it waits for nothing");
            return CUDA_SUCCESS;
        }
        require(!st->capturing, CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
        if (e->recorded->done()) return CUDA_SUCCESS;
        auto const c = std::make_shared<marker>();
        s.sim.schedule.depend(*c, *e->recorded);
        s.enqueue(*st, c);
        return CUDA_SUCCESS;
    });
}

CUresult cuStreamGetCtx(CUstream handle, CUcontext* context)
{
    return call(id_cuStreamGetCtx, [&](session& s) {
        require(context != nullptr);
        auto const owner = s.find(handle)->owner.lock();
        *context = owner->handle;
        return CUDA_SUCCESS;
    });
}

CUresult cuStreamGetFlags(CUstream handle, unsigned int* flags)
{
    return call(id_cuStreamGetFlags, [&](session& s) {
        require(flags != nullptr);
        *flags = s.find(handle)->flags;
        return CUDA_SUCCESS;
    });
}

CUresult cuStreamGetPriority(CUstream handle, int* priority)
{
    return call(id_cuStreamGetPriority, [&](session& s) {
        require(priority != nullptr);
        *priority = s.find(handle)->priority;
        return CUDA_SUCCESS;
    });
}

CUresult cuStreamGetId(CUstream handle, unsigned long long* id)
{
    return call(id_cuStreamGetId, [&](session& s) {
        require(id != nullptr);
        *id = s.find(handle)->number;
        return CUDA_SUCCESS;
    });
}

CUresult cuStreamGetDevice(CUstream handle, CUdevice* device)
{
    return call(id_cuStreamGetDevice, [&](session& s) {
        require(device != nullptr);
        *device = s.find(handle)->where->ordinal;
        return CUDA_SUCCESS;
    });
}

CUresult cuStreamAddCallback(CUstream handle, CUstreamCallback function, void* argument, unsigned int flags)
{
    return call(id_cuStreamAddCallback, [&](session& s) {
        require(function && flags == 0);
        auto const st = s.find(handle);
        require(!st->capturing, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        s.enqueue(*st, std::make_shared<stream_callback>(s.sim.schedule, handle, function, argument));
        return CUDA_SUCCESS;
    });
}

CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void* argument)
{
    return call(id_cuLaunchHostFunc, [&](session& s) {
        require(function != nullptr);
        auto const st = s.find(handle);
        auto& left = s.sim.config.lose_host_functions;
        bool const lost = left > 0 && !st->capturing;
        if (lost) {
            --left;
            s.sim.log.note("a host function was lost, as OMP_CO_SIM_LOSE_HOST_FUNCTIONS asks");
        }
        s.enqueue(*st, std::make_shared<host_function>(function, argument, lost));
        return CUDA_SUCCESS;
    });
}

} // extern "C"
