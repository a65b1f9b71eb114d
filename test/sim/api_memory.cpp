// SPDX-License-Identifier: BSL-1.0
// Memory of devices and of the host, and questions about addresses.
#include "allocate.hpp"
#include "driver.hpp"

#include <new>

using namespace omp_co_sim;

namespace omp_co_sim {

std::shared_ptr<allocation> allocate_on_device(session& s, device& d, std::size_t size, memory_kind kind,
                                               std::size_t available)
{
    auto const need = rounded(size);
    require(need >= size && need <= available, CUDA_ERROR_OUT_OF_MEMORY);
    auto a = s.sim.memory.create(d.addresses, size);
    require(a != nullptr, CUDA_ERROR_OUT_OF_MEMORY);
    a->kind = kind;
    a->device = d.ordinal;
    d.used += need;
    return a;
}

std::size_t available(device const& d) { return d.used < d.memory ? d.memory - d.used : 0; }

std::shared_ptr<allocation> freeable(session& s, CUdeviceptr address)
{
    auto a = s.sim.memory.find(address);
    if (a && a->base == address && !a->dying) return a;
    auto const text = describe("address", reinterpret_cast<void*>(address));
    bool const twice = (a && a->dying) || s.sim.memory.was_freed(address);
    s.misuse(twice ? "double free: " + text : text + " is not what an allocation returned");
    throw failure{CUDA_ERROR_INVALID_VALUE};
}

} // namespace omp_co_sim

namespace {

constexpr std::align_val_t page{4096};

std::shared_ptr<allocation> pinned(session& s, std::size_t size, memory_kind kind, unsigned flags)
{
    require(size > 0);
    auto& c = s.current();
    s.unsafe_while_capturing();
    auto* const p = static_cast<std::byte*>(::operator new(size, page, std::nothrow));
    require(p != nullptr, CUDA_ERROR_OUT_OF_MEMORY);
    std::shared_ptr<std::byte> bytes(p, [](std::byte* q) { ::operator delete(q, page); });
    auto a = s.sim.memory.adopt(p, size, std::move(bytes));
    require(a != nullptr, CUDA_ERROR_UNKNOWN);
    a->kind = kind;
    a->device = c.where->ordinal;
    a->flags = flags;
    a->owner = s.current_pointer();
    return a;
}

std::shared_ptr<allocation> host_memory(session& s, void const* p, memory_kind kind)
{
    auto a = s.sim.memory.find(reinterpret_cast<std::uint64_t>(p));
    return a && a->kind == kind ? a : nullptr;
}

} // namespace

extern "C" {

CUresult cuMemAlloc_v2(CUdeviceptr* address, size_t size)
{
    return call(id_cuMemAlloc_v2, [&](session& s) {
        require(address && size > 0);
        auto& c = s.current();
        s.unsafe_while_capturing();
        s.synchronise(c);
        auto const a = allocate_on_device(s, *c.where, size, memory_kind::device, available(*c.where));
        a->owner = s.current_pointer();
        *address = a->base;
        return CUDA_SUCCESS;
    });
}

CUresult cuMemFree_v2(CUdeviceptr address)
{
    return call(id_cuMemFree_v2, [&](session& s) {
        auto& c = s.current();
        if (address == 0) return CUDA_SUCCESS;
        s.unsafe_while_capturing();
        auto const a = freeable(s, address);
        require(a->kind == memory_kind::device || a->kind == memory_kind::pool ||
                a->kind == memory_kind::managed);
        a->dying = true;
        // Stream-ordered memory is taken to be unused by now.
        if (a->kind != memory_kind::pool) s.synchronise(c);
        s.sim.release(*a);
        return CUDA_SUCCESS;
    });
}

CUresult cuMemAllocManaged(CUdeviceptr* address, size_t size, unsigned int flags)
{
    return call(id_cuMemAllocManaged, [&](session& s) {
        require(address && (flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST));
        *address = pinned(s, size, memory_kind::managed, flags)->base;
        return CUDA_SUCCESS;
    });
}

CUresult cuMemGetInfo_v2(size_t* free, size_t* total)
{
    return call(id_cuMemGetInfo_v2, [&](session& s) {
        require(free && total);
        auto const& d = *s.current().where;
        *free = available(d);
        *total = d.memory;
        return CUDA_SUCCESS;
    });
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, size_t* size, CUdeviceptr address)
{
    return call(id_cuMemGetAddressRange_v2, [&](session& s) {
        s.current();
        auto const a = s.sim.memory.find(address);
        require(a != nullptr, CUDA_ERROR_NOT_FOUND);
        if (base) *base = a->base;
        if (size) *size = a->size;
        return CUDA_SUCCESS;
    });
}

CUresult cuMemHostAlloc(void** memory, size_t size, unsigned int flags)
{
    return call(id_cuMemHostAlloc, [&](session& s) {
        constexpr unsigned known =
            CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
        require(memory && (flags & ~known) == 0);
        *memory = reinterpret_cast<void*>(pinned(s, size, memory_kind::pinned, flags)->base);
        return CUDA_SUCCESS;
    });
}

CUresult cuMemAllocHost_v2(void** memory, size_t size)
{
    return call(id_cuMemAllocHost_v2, [&](session& s) {
        require(memory != nullptr);
        *memory = reinterpret_cast<void*>(pinned(s, size, memory_kind::pinned, 0)->base);
        return CUDA_SUCCESS;
    });
}

CUresult cuMemFreeHost(void* memory)
{
    return call(id_cuMemFreeHost, [&](session& s) {
        auto& c = s.current();
        if (!memory) return CUDA_SUCCESS;
        s.unsafe_while_capturing();
        auto const a = freeable(s, reinterpret_cast<CUdeviceptr>(memory));
        require(a->kind == memory_kind::pinned);
        a->dying = true;
        s.synchronise(c);
        s.sim.release(*a);
        return CUDA_SUCCESS;
    });
}

CUresult cuMemHostRegister_v2(void* memory, size_t size, unsigned int flags)
{
    return call(id_cuMemHostRegister_v2, [&](session& s) {
        constexpr unsigned known = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP;
        require(memory && size > 0);
        require((flags & ~known) == 0, CUDA_ERROR_NOT_SUPPORTED);
        auto& c = s.current();
        s.unsafe_while_capturing();
        auto const a = s.sim.memory.adopt(memory, size, nullptr);
        require(a != nullptr, CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
        a->kind = memory_kind::registered;
        a->device = c.where->ordinal;
        a->flags = flags;
        a->owner = s.current_pointer();
        return CUDA_SUCCESS;
    });
}

CUresult cuMemHostUnregister(void* memory)
{
    return call(id_cuMemHostUnregister, [&](session& s) {
        auto& c = s.current();
        s.unsafe_while_capturing();
        auto const a = host_memory(s, memory, memory_kind::registered);
        require(a && a->base == reinterpret_cast<std::uint64_t>(memory),
                CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
        s.synchronise(c);
        s.sim.release(*a);
        return CUDA_SUCCESS;
    });
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* address, void* memory, unsigned int flags)
{
    return call(id_cuMemHostGetDevicePointer_v2, [&](session& s) {
        require(address && flags == 0);
        s.current();
        auto const a = s.sim.memory.find(reinterpret_cast<std::uint64_t>(memory));
        require(a && a->on_host());
        *address = reinterpret_cast<CUdeviceptr>(memory);
        return CUDA_SUCCESS;
    });
}

CUresult cuMemHostGetFlags(unsigned int* flags, void* memory)
{
    return call(id_cuMemHostGetFlags, [&](session& s) {
        require(flags != nullptr);
        s.current();
        auto const a = host_memory(s, memory, memory_kind::pinned);
        require(a != nullptr);
        // With unified addressing all pinned memory is portable and mapped.
        *flags = a->flags | CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP;
        return CUDA_SUCCESS;
    });
}

} // extern "C"
