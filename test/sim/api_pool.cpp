// SPDX-License-Identifier: BSL-1.0
// Stream-ordered memory and its pools.
//
// An allocation has its address at once; it is there for commands when its place in the stream has been reached, and
// goes when the place of its free has. Memory whose free is still in a stream may be taken again by that stream.
#include "allocate.hpp"
#include "commands.hpp"
#include "driver.hpp"

#include <algorithm>

using namespace omp_co_sim;

namespace {

void must_be_supported(session& s)
{
    if (s.sim.config.pools) return;
    s.misuse("the device does not have memory pools");
    throw failure{CUDA_ERROR_NOT_SUPPORTED};
}

void grew(memory_pool& pool)
{
    pool.used_high = std::max(pool.used_high, pool.used);
    pool.reserved = std::max(pool.reserved, pool.used);
    pool.reserved_high = std::max(pool.reserved_high, pool.reserved);
}

void shrank(memory_pool& pool)
{
    auto const keep = std::max<std::uint64_t>(pool.used, pool.threshold);
    pool.reserved = static_cast<std::size_t>(std::min<std::uint64_t>(pool.reserved, keep));
}

CUresult allocate(session& s, CUdeviceptr* address, std::size_t size, std::shared_ptr<memory_pool> pool,
                  stream& st)
{
    require(address && size > 0);
    if (st.capturing) {
        s.sim.log.note("allocations in a capture are not simulated");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    auto& d = s.device_at(pool->device);
    // What this stream has freed counts as free for it, once.
    auto const total = d.memory + (st.where == &d ? st.freed_later : 0);
    auto const room = total - std::min(total, d.used);
    auto const in_pool =
        pool->most == 0 ? room : std::min(room, pool->most - std::min(pool->most, pool->used));
    auto const a = allocate_on_device(s, d, size, memory_kind::pool, in_pool);
    a->pool = pool;
    a->owner = s.current_pointer();
    a->ready = false;
    pool->used += rounded(size);
    grew(*pool);
    try {
        s.enqueue(st, std::make_shared<state_change>([a] { a->ready = true; }));
    } catch (failure const&) {
        s.sim.release(*a);
        throw;
    }
    *address = a->base;
    return CUDA_SUCCESS;
}

CUresult set_attribute(session& s, memory_pool& pool, CUmemPool_attribute which, void const* value)
{
    switch (which) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
        pool.reuse[which - 1] = *static_cast<int const*>(value);
        return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        pool.threshold = *static_cast<cuuint64_t const*>(value);
        return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
        require(*static_cast<cuuint64_t const*>(value) == 0);
        pool.reserved_high = pool.reserved;
        pool.used_high = pool.used;
        return CUDA_SUCCESS;
    default:
        s.misuse("this attribute cannot be set");
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult get_attribute(memory_pool const& pool, CUmemPool_attribute which, void* value)
{
    auto const put = [&](std::uint64_t v) {
        *static_cast<cuuint64_t*>(value) = v;
        return CUDA_SUCCESS;
    };
    switch (which) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
        *static_cast<int*>(value) = pool.reuse[which - 1];
        return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        return put(pool.threshold);
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
        return put(pool.reserved);
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
        return put(pool.reserved_high);
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
        return put(pool.used);
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
        return put(pool.used_high);
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

} // namespace

extern "C" {

CUresult cuMemAllocAsync(CUdeviceptr* address, size_t size, CUstream handle)
{
    return call(id_cuMemAllocAsync, [&](session& s) {
        must_be_supported(s);
        auto const st = s.find(handle);
        return allocate(s, address, size, st->where->current_pool, *st);
    });
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address, size_t size, CUmemoryPool pool, CUstream handle)
{
    return call(id_cuMemAllocFromPoolAsync, [&](session& s) {
        must_be_supported(s);
        auto const st = s.find(handle);
        return allocate(s, address, size, s.find(pool), *st);
    });
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream handle)
{
    return call(id_cuMemFreeAsync, [&](session& s) {
        must_be_supported(s);
        auto const st = s.find(handle);
        if (address == 0) return CUDA_SUCCESS;
        require(!st->capturing, CUDA_ERROR_NOT_SUPPORTED);
        auto const a = freeable(s, address);
        require(!a->on_host() && a->kind != memory_kind::module_global);
        auto const bytes = rounded(a->size);
        auto const alive = s.sim.generation.load();
        auto free = std::make_shared<state_change>([a, st, bytes, alive, &sim = s.sim] {
            st->freed_later -= bytes;
            if (sim.generation != alive || sim.memory.find(a->base) != a) return;
            sim.release(*a);
            if (a->pool) shrank(*a->pool);
        });
        a->dying = true;
        st->freed_later += bytes;
        try {
            s.enqueue(*st, free);
        } catch (failure const&) {
            st->freed_later -= bytes;
            a->dying = false;
            throw;
        }
        return CUDA_SUCCESS;
    });
}

CUresult cuMemPoolCreate(CUmemoryPool* handle, CUmemPoolProps const* properties)
{
    return call(id_cuMemPoolCreate, [&](session& s) {
        must_be_supported(s);
        require(handle && properties && properties->allocType == CU_MEM_ALLOCATION_TYPE_PINNED);
        bool const plain = properties->handleTypes == CU_MEM_HANDLE_TYPE_NONE && properties->usage == 0 &&
                           properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE;
        require(plain, CUDA_ERROR_NOT_SUPPORTED);
        auto pool = std::make_shared<memory_pool>();
        pool->device = s.device_at(properties->location.id).ordinal;
        pool->most = properties->maxSize;
        s.sim.pools.add(pool, std::string(s.name()));
        *handle = pool->handle;
        return CUDA_SUCCESS;
    });
}

CUresult cuMemPoolDestroy(CUmemoryPool handle)
{
    return call(id_cuMemPoolDestroy, [&](session& s) {
        auto const pool = s.find(handle);
        require(!pool->is_default);
        auto& d = s.device_at(pool->device);
        if (d.current_pool == pool) d.current_pool = d.default_pool;
        s.sim.pools.remove(handle);
        return CUDA_SUCCESS;
    });
}

CUresult cuMemPoolTrimTo(CUmemoryPool handle, size_t keep)
{
    return call(id_cuMemPoolTrimTo, [&](session& s) {
        auto const pool = s.find(handle);
        pool->reserved = std::min(pool->reserved, std::max(pool->used, keep));
        return CUDA_SUCCESS;
    });
}

CUresult cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute which, void* value)
{
    return call(id_cuMemPoolSetAttribute, [&](session& s) {
        require(value != nullptr);
        return set_attribute(s, *s.find(handle), which, value);
    });
}

CUresult cuMemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute which, void* value)
{
    return call(id_cuMemPoolGetAttribute, [&](session& s) {
        require(value != nullptr);
        return get_attribute(*s.find(handle), which, value);
    });
}

CUresult cuMemPoolSetAccess(CUmemoryPool handle, CUmemAccessDesc const* list, size_t count)
{
    return call(id_cuMemPoolSetAccess, [&](session& s) {
        require(count == 0 || list);
        auto const pool = s.find(handle);
        for (std::size_t i = 0; i < count; ++i) {
            require(list[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE);
            auto const ordinal = s.device_at(list[i].location.id).ordinal;
            bool const visible = list[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
            require(visible || list[i].flags == CU_MEM_ACCESS_FLAGS_PROT_NONE);
            require(visible || ordinal != pool->device);
            s.sim.memory.set_access(*pool, ordinal, visible);
        }
        return CUDA_SUCCESS;
    });
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool handle, CUmemLocation* location)
{
    return call(id_cuMemPoolGetAccess, [&](session& s) {
        require(flags && location && location->type == CU_MEM_LOCATION_TYPE_DEVICE);
        auto const pool = s.find(handle);
        auto const ordinal = s.device_at(location->id).ordinal;
        bool const visible = ordinal == pool->device || pool->access.contains(ordinal);
        *flags = visible ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
        return CUDA_SUCCESS;
    });
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* handle, CUdevice device)
{
    return call(id_cuDeviceGetDefaultMemPool, [&](session& s) {
        require(handle != nullptr);
        must_be_supported(s);
        *handle = s.device_at(device).default_pool->handle;
        return CUDA_SUCCESS;
    });
}

CUresult cuDeviceGetMemPool(CUmemoryPool* handle, CUdevice device)
{
    return call(id_cuDeviceGetMemPool, [&](session& s) {
        require(handle != nullptr);
        must_be_supported(s);
        *handle = s.device_at(device).current_pool->handle;
        return CUDA_SUCCESS;
    });
}

CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool handle)
{
    return call(id_cuDeviceSetMemPool, [&](session& s) {
        must_be_supported(s);
        auto const pool = s.find(handle);
        auto& d = s.device_at(device);
        require(pool->device == d.ordinal);
        d.current_pool = pool;
        return CUDA_SUCCESS;
    });
}

} // extern "C"
