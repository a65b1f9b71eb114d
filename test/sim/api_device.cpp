// SPDX-License-Identifier: BSL-1.0
// Devices and their attributes.
#include "driver.hpp"
#include "limits.hpp"

#include <cstdio>
#include <cstring>

using namespace omp_co_sim;

namespace {

// What is not listed is 0: "not supported" for a question, "unknown" for a number.
int attribute(settings const& config, device const& d, CUdevice_attribute which)
{
    auto const yes = [](bool b) { return b ? 1 : 0; };
    switch (which) {
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
        return limits::threads_of_block;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
        return limits::block_z;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
        return limits::grid_x;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
        return limits::grid_yz;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
        return limits::shared_of_block;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
        return limits::shared_of_block_on_request;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
        return limits::shared_of_multiprocessor;
    case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK:
        return limits::shared_reserved;
    case CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY:
        return 65536;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
        return limits::warp;
    case CU_DEVICE_ATTRIBUTE_MAX_PITCH:
        return limits::pitch;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
        return 65536;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
        return 1500000;
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
        return 1500000;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
        return 384;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
        return 4 << 20;
    case CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT:
        return 512;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
        return limits::multiprocessors;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
        return limits::threads_of_multiprocessor;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
        return limits::blocks_of_multiprocessor;
    case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT:
        return 2;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
        return d.ordinal + 1;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        return config.compute_capability / 10;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        return config.compute_capability % 10;
    case CU_DEVICE_ATTRIBUTE_GPU_OVERLAP:
    case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
    case CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM:
    case CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED:
        return 1;
    case CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR:
        return yes(config.write_value && config.driver_version >= 11070);
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
        return yes(config.pools);
    default:
        return 0;
    }
}

} // namespace

extern "C" {

CUresult cuDeviceGet(CUdevice* device, int ordinal)
{
    return call(id_cuDeviceGet, [&](session& s) {
        require(device != nullptr);
        *device = s.device_at(ordinal).ordinal;
        return CUDA_SUCCESS;
    });
}

CUresult cuDeviceGetCount(int* count)
{
    return call(id_cuDeviceGetCount, [&](session& s) {
        require(count != nullptr);
        *count = static_cast<int>(s.sim.devices.size());
        return CUDA_SUCCESS;
    });
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device)
{
    return call(id_cuDeviceGetName, [&](session& s) {
        require(name && length > 0);
        std::snprintf(name, static_cast<std::size_t>(length), "omp_co simulated device %d",
                      s.device_at(device).ordinal);
        return CUDA_SUCCESS;
    });
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute which, CUdevice device)
{
    return call(id_cuDeviceGetAttribute, [&](session& s) {
        require(value && which > 0 && which < CU_DEVICE_ATTRIBUTE_MAX);
        *value = attribute(s.sim.config, s.device_at(device), which);
        return CUDA_SUCCESS;
    });
}

CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice device)
{
    return call(id_cuDeviceTotalMem_v2, [&](session& s) {
        require(bytes != nullptr);
        *bytes = s.device_at(device).memory;
        return CUDA_SUCCESS;
    });
}

CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device)
{
    return call(id_cuDeviceGetUuid_v2, [&](session& s) {
        require(uuid != nullptr);
        std::memset(uuid, 0, sizeof *uuid);
        std::memcpy(uuid->bytes, "omp_co_sim", 10);
        uuid->bytes[15] = static_cast<char>(s.device_at(device).ordinal);
        return CUDA_SUCCESS;
    });
}

CUresult cuDeviceGetPCIBusId(char* text, int length, CUdevice device)
{
    return call(id_cuDeviceGetPCIBusId, [&](session& s) {
        require(text && length > 0);
        std::snprintf(text, static_cast<std::size_t>(length), "0000:%02x:00.0",
                      s.device_at(device).ordinal + 1);
        return CUDA_SUCCESS;
    });
}

CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer)
{
    return call(id_cuDeviceCanAccessPeer, [&](session& s) {
        require(can != nullptr);
        *can = s.device_at(device).ordinal != s.device_at(peer).ordinal ? 1 : 0;
        return CUDA_SUCCESS;
    });
}

CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute which, CUdevice source,
                                 CUdevice destination)
{
    return call(id_cuDeviceGetP2PAttribute, [&](session& s) {
        require(value != nullptr);
        require(s.device_at(source).ordinal != s.device_at(destination).ordinal, CUDA_ERROR_INVALID_DEVICE);
        bool const yes = which == CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED ||
                         which == CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED;
        *value = yes ? 1 : 0;
        return CUDA_SUCCESS;
    });
}

} // extern "C"
