// SPDX-License-Identifier: BSL-1.0
// Contexts: the primary one of each device, contexts of the program, each thread's stack of them.
#include "driver.hpp"

using namespace omp_co_sim;

namespace {

void activate(session& s, context& c, std::shared_ptr<context> const& self)
{
    if (c.active) return;
    c.active = true;
    c.id = s.sim.next_number++;
    c.legacy = std::make_shared<stream>();
    c.legacy->owner = self;
    c.legacy->where = c.where;
    c.legacy->legacy = true;
    c.legacy->number = s.sim.next_number++;
    c.legacy->queue->domain = c.where->domain;
    c.where->domain->queues.push_back(c.legacy->queue);
}

std::shared_ptr<context> create(session& s, CUcontext* handle, unsigned flags, CUdevice ordinal)
{
    require(handle != nullptr);
    auto& d = s.device_at(ordinal);
    s.healthy(d);
    auto c = std::make_shared<context>();
    c->where = &d;
    c->flags = flags;
    activate(s, *c, c);
    s.sim.contexts.add(c, std::string(s.name()));
    thread_state::get().stack.push_back(c);
    *handle = c->handle;
    return c;
}

// A context on a faulted device may be made current; what is called in it then answers the fault.
std::shared_ptr<context> const& usable(session& s, CUcontext handle)
{
    auto const& c = s.find(handle);
    if (!c->active) {
        s.misuse("wrong context: " + describe("context", handle) + " is not active");
        throw failure{CUDA_ERROR_CONTEXT_IS_DESTROYED};
    }
    return c;
}

context& any_current(session& s)
{
    auto const c = s.current_pointer();
    require(c != nullptr, CUDA_ERROR_INVALID_CONTEXT);
    return *c;
}

} // namespace

extern "C" {

CUresult cuDevicePrimaryCtxRetain(CUcontext* handle, CUdevice device)
{
    return call(id_cuDevicePrimaryCtxRetain, [&](session& s) {
        require(handle != nullptr);
        auto& d = s.device_at(device);
        s.healthy(d);
        d.primary->flags = d.primary_flags;
        activate(s, *d.primary, d.primary);
        ++d.primary_count;
        *handle = d.primary->handle;
        return CUDA_SUCCESS;
    });
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    return call(id_cuDevicePrimaryCtxRelease_v2, [&](session& s) {
        auto& d = s.device_at(device);
        if (d.primary_count == 0) {
            s.misuse("released more often than retained");
            return CUDA_ERROR_INVALID_CONTEXT;
        }
        if (--d.primary_count == 0 && d.primary->active) s.sim.destroy(s.lock, d.primary);
        return CUDA_SUCCESS;
    });
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device)
{
    return call(id_cuDevicePrimaryCtxReset_v2, [&](session& s) {
        auto& d = s.device_at(device);
        if (d.primary->active) s.sim.destroy(s.lock, d.primary);
        s.healthy(d);
        return CUDA_SUCCESS;
    });
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int* flags, int* active)
{
    return call(id_cuDevicePrimaryCtxGetState, [&](session& s) {
        require(flags && active);
        auto const& d = s.device_at(device);
        *flags = d.primary_flags;
        *active = d.primary->active ? 1 : 0;
        return CUDA_SUCCESS;
    });
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned int flags)
{
    return call(id_cuDevicePrimaryCtxSetFlags_v2, [&](session& s) {
        auto& d = s.device_at(device);
        require((flags & ~static_cast<unsigned>(CU_CTX_FLAGS_MASK)) == 0);
        d.primary_flags = flags;
        d.primary->flags = flags;
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxCreate_v2(CUcontext* handle, unsigned int flags, CUdevice device)
{
    return call(id_cuCtxCreate_v2, [&](session& s) {
        create(s, handle, flags, device);
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxCreate_v3(CUcontext* handle, CUexecAffinityParam*, int count, unsigned int flags,
                        CUdevice device)
{
    return call(id_cuCtxCreate_v3, [&](session& s) {
        require(count == 0, CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
        create(s, handle, flags, device);
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxCreate_v4(CUcontext* handle, CUctxCreateParams* parameters, unsigned int flags, CUdevice device)
{
    return call(id_cuCtxCreate_v4, [&](session& s) {
        bool const plain = !parameters || (parameters->numExecAffinityParams == 0 && !parameters->cigParams);
        require(plain, CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
        create(s, handle, flags, device);
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxDestroy_v2(CUcontext handle)
{
    return call(id_cuCtxDestroy_v2, [&](session& s) {
        auto const c = s.find(handle);
        if (c->primary) {
            s.misuse("a primary context is released, not destroyed");
            return CUDA_ERROR_INVALID_CONTEXT;
        }
        s.sim.destroy(s.lock, c);
        s.sim.contexts.remove(handle);
        auto& stack = thread_state::get().stack;
        if (!stack.empty() && stack.back() == c) stack.pop_back();
        return CUDA_SUCCESS;
    });
}

[[gnu::hot]] CUresult cuCtxPushCurrent_v2(CUcontext handle)
{
    return call(id_cuCtxPushCurrent_v2, [&](session& s) {
        thread_state::get().stack.push_back(usable(s, handle));
        return CUDA_SUCCESS;
    });
}

[[gnu::hot]] CUresult cuCtxPopCurrent_v2(CUcontext* handle)
{
    return call(id_cuCtxPopCurrent_v2, [&](session&) {
        auto& stack = thread_state::get().stack;
        require(!stack.empty() && stack.back(), CUDA_ERROR_INVALID_CONTEXT);
        if (handle) *handle = stack.back()->handle;
        stack.pop_back();
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxSetCurrent(CUcontext handle)
{
    return call(id_cuCtxSetCurrent, [&](session& s) {
        auto const c = handle ? usable(s, handle) : nullptr;
        auto& stack = thread_state::get().stack;
        if (!stack.empty()) stack.pop_back();
        if (c) stack.push_back(c);
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxGetCurrent(CUcontext* handle)
{
    return call(id_cuCtxGetCurrent, [&](session& s) {
        require(handle != nullptr);
        auto const c = s.current_pointer();
        *handle = c ? c->handle : nullptr;
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxGetDevice(CUdevice* device)
{
    return call(id_cuCtxGetDevice, [&](session& s) {
        require(device != nullptr);
        *device = any_current(s).where->ordinal;
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext handle)
{
    return call(id_cuCtxGetDevice_v2, [&](session& s) {
        require(device != nullptr);
        *device = (handle ? *s.find(handle) : any_current(s)).where->ordinal;
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxGetFlags(unsigned int* flags)
{
    return call(id_cuCtxGetFlags, [&](session& s) {
        require(flags != nullptr);
        *flags = any_current(s).flags;
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxSynchronize(void)
{
    return call(id_cuCtxSynchronize, [&](session& s) {
        auto& c = s.current();
        s.unsafe_while_capturing();
        s.synchronise(c);
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxSynchronize_v2(CUcontext handle)
{
    return call(id_cuCtxSynchronize_v2, [&](session& s) {
        auto const c = handle ? usable(s, handle) : s.current_pointer();
        if (!handle) s.current();
        s.healthy(*c->where);
        s.unsafe_while_capturing();
        s.synchronise(*c);
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxGetId(CUcontext handle, unsigned long long* id)
{
    return call(id_cuCtxGetId, [&](session& s) {
        require(id != nullptr);
        *id = handle == nullptr ? s.current().id : usable(s, handle)->id;
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest)
{
    return call(id_cuCtxGetStreamPriorityRange, [&](session& s) {
        s.current();
        if (least) *least = 0;
        if (greatest) *greatest = -5;
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags)
{
    return call(id_cuCtxEnablePeerAccess, [&](session& s) {
        require(flags == 0);
        auto& c = s.current();
        auto const other = usable(s, peer);
        require(other.get() != &c, CUDA_ERROR_INVALID_CONTEXT);
        require(other->where != c.where, CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
        auto const fresh = c.peers.insert(other->where->ordinal).second;
        return fresh ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    });
}

CUresult cuCtxDisablePeerAccess(CUcontext peer)
{
    return call(id_cuCtxDisablePeerAccess, [&](session& s) {
        auto& c = s.current();
        auto const was = c.peers.erase(usable(s, peer)->where->ordinal) > 0;
        return was ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
    });
}

CUresult cuCtxGetApiVersion(CUcontext handle, unsigned int* version)
{
    return call(id_cuCtxGetApiVersion, [&](session& s) {
        require(version != nullptr);
        if (handle) s.find(handle);
        *version = 3020;
        return CUDA_SUCCESS;
    });
}

} // extern "C"
