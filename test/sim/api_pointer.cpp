// SPDX-License-Identifier: BSL-1.0
// Questions about addresses.
#include "driver.hpp"

using namespace omp_co_sim;

namespace {

template <class T>
CUresult put(void* data, T value)
{
    *static_cast<T*>(data) = value;
    return CUDA_SUCCESS;
}

CUresult answer(session& s, void* data, CUpointer_attribute which, CUdeviceptr address)
{
    auto const a = s.sim.memory.find(address);
    if (which == CU_POINTER_ATTRIBUTE_MAPPED) return put<int>(data, a ? 1 : 0);
    require(a != nullptr);
    bool const in_device = !a->on_host();
    switch (which) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        return put<CUcontext>(data, a->owner ? a->owner->handle : nullptr);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: {
        bool const host = a->kind == memory_kind::pinned || a->kind == memory_kind::registered;
        return put<unsigned>(data, host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
    }
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        return put<CUdeviceptr>(data, address);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        require(!in_device);
        return put<void*>(data, reinterpret_cast<void*>(address));
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        return put<unsigned long long>(data, a->id);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        return put<int>(data, a->kind == memory_kind::managed ? 1 : 0);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        return put<int>(data, a->device);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        return put<CUdeviceptr>(data, a->base);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        return put<std::size_t>(data, a->size);
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        return put<CUmemoryPool>(data, a->pool ? a->pool->handle : nullptr);
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
        return put<int>(data, 0);
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
        return put<int>(data, 0);
    default:
        s.sim.log.note("pointer attribute " + std::to_string(which) + " is not simulated");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
}

// What an address that the driver does not know answers in a list.
void put_nothing(void* data, CUpointer_attribute which)
{
    switch (which) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        put<std::uint64_t>(data, 0);
        return;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        put<int>(data, -2);
        return;
    default:
        put<int>(data, 0);
        return;
    }
}

} // namespace

extern "C" {

CUresult cuPointerGetAttribute(void* data, CUpointer_attribute which, CUdeviceptr address)
{
    return call(id_cuPointerGetAttribute, [&](session& s) {
        require(data != nullptr);
        return answer(s, data, which, address);
    });
}

CUresult cuPointerGetAttributes(unsigned int count, CUpointer_attribute* which, void** data,
                                CUdeviceptr address)
{
    return call(id_cuPointerGetAttributes, [&](session& s) {
        require(count == 0 || (which && data));
        for (unsigned i = 0; i < count; ++i) {
            try {
                auto const result = answer(s, data[i], which[i], address);
                if (result != CUDA_SUCCESS) return result;
            } catch (failure const&) {
                put_nothing(data[i], which[i]);
            }
        }
        return CUDA_SUCCESS;
    });
}

} // extern "C"
