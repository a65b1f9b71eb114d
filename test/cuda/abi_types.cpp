// SPDX-License-Identifier: BSL-1.0
// The driver's enumerators, flags and handles as declared by us equal those of the toolkit's cuda.h.
#include <omp_co/cuda/driver_types.hpp>

#ifdef OMP_CO_TEST_CUDA_INCLUDE

#include "same_abi.hpp"

#include <cuda.h>
#include <type_traits>

namespace {

namespace driver = omp_co::cuda::driver;

static_assert(std::is_same_v<driver::array_handle, CUarray>);
static_assert(std::is_same_v<driver::context_handle, CUcontext>);
static_assert(std::is_same_v<driver::event_handle, CUevent>);
static_assert(std::is_same_v<driver::function_handle, CUfunction>);
static_assert(std::is_same_v<driver::pool_handle, CUmemoryPool>);
static_assert(std::is_same_v<driver::module_handle, CUmodule>);
static_assert(std::is_same_v<driver::stream_handle, CUstream>);
static_assert(std::is_same_v<driver::device_number, CUdevice>);
static_assert(std::is_same_v<driver::device_address, CUdeviceptr>);
static_assert(std::is_same_v<driver::host_function, CUhostFn>);
static_assert(std::is_same_v<driver::shared_memory_for_block, CUoccupancyB2DSize>);

static_assert(same_abi::same<driver::result, CUresult>);
static_assert(same_abi::same<driver::device_attribute, CUdevice_attribute>);
static_assert(same_abi::same<driver::compute_mode, CUcomputemode>);
static_assert(same_abi::same<driver::proc_address_status, CUdriverProcAddressQueryResult>);
static_assert(same_abi::same<driver::capture_status, CUstreamCaptureStatus>);
static_assert(same_abi::same<driver::capture_mode, CUstreamCaptureMode>);
static_assert(same_abi::same<driver::loading_mode, CUmoduleLoadingMode>);
static_assert(same_abi::same<driver::function_attribute, CUfunction_attribute>);
static_assert(same_abi::same<driver::jit_option, CUjit_option>);
static_assert(same_abi::same<driver::pointer_attribute, CUpointer_attribute>);
static_assert(same_abi::same<driver::memory_type, CUmemorytype>);
static_assert(same_abi::same<driver::pool_attribute, CUmemPool_attribute>);
static_assert(same_abi::same<driver::allocation_type, CUmemAllocationType>);
static_assert(same_abi::same<driver::handle_type, CUmemAllocationHandleType>);
static_assert(same_abi::same<driver::location_type, CUmemLocationType>);
static_assert(same_abi::same<driver::access_flags, CUmemAccess_flags>);

static_assert([] {
    using enum driver::result;
    return same_abi::equal(success, CUDA_SUCCESS) &&
           same_abi::equal(invalid_value, CUDA_ERROR_INVALID_VALUE) &&
           same_abi::equal(out_of_memory, CUDA_ERROR_OUT_OF_MEMORY) &&
           same_abi::equal(not_initialized, CUDA_ERROR_NOT_INITIALIZED) &&
           same_abi::equal(deinitialized, CUDA_ERROR_DEINITIALIZED) &&
           same_abi::equal(stub_library, CUDA_ERROR_STUB_LIBRARY) &&
           same_abi::equal(device_unavailable, CUDA_ERROR_DEVICE_UNAVAILABLE) &&
           same_abi::equal(no_device, CUDA_ERROR_NO_DEVICE) &&
           same_abi::equal(invalid_device, CUDA_ERROR_INVALID_DEVICE) &&
           same_abi::equal(device_not_licensed, CUDA_ERROR_DEVICE_NOT_LICENSED) &&
           same_abi::equal(invalid_image, CUDA_ERROR_INVALID_IMAGE) &&
           same_abi::equal(invalid_context, CUDA_ERROR_INVALID_CONTEXT) &&
           same_abi::equal(no_binary_for_gpu, CUDA_ERROR_NO_BINARY_FOR_GPU) &&
           same_abi::equal(ecc_uncorrectable, CUDA_ERROR_ECC_UNCORRECTABLE) &&
           same_abi::equal(context_already_in_use, CUDA_ERROR_CONTEXT_ALREADY_IN_USE) &&
           same_abi::equal(peer_access_unsupported, CUDA_ERROR_PEER_ACCESS_UNSUPPORTED) &&
           same_abi::equal(invalid_ptx, CUDA_ERROR_INVALID_PTX) &&
           same_abi::equal(nvlink_uncorrectable, CUDA_ERROR_NVLINK_UNCORRECTABLE) &&
           same_abi::equal(jit_compiler_not_found, CUDA_ERROR_JIT_COMPILER_NOT_FOUND) &&
           same_abi::equal(unsupported_ptx_version, CUDA_ERROR_UNSUPPORTED_PTX_VERSION) &&
           same_abi::equal(jit_compilation_disabled, CUDA_ERROR_JIT_COMPILATION_DISABLED) &&
           same_abi::equal(unsupported_devside_sync, CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC) &&
           same_abi::equal(contained, CUDA_ERROR_CONTAINED) &&
           same_abi::equal(invalid_source, CUDA_ERROR_INVALID_SOURCE) &&
           same_abi::equal(file_not_found, CUDA_ERROR_FILE_NOT_FOUND) &&
           same_abi::equal(shared_object_symbol_not_found, CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND) &&
           same_abi::equal(shared_object_init_failed, CUDA_ERROR_SHARED_OBJECT_INIT_FAILED) &&
           same_abi::equal(operating_system, CUDA_ERROR_OPERATING_SYSTEM) &&
           same_abi::equal(invalid_handle, CUDA_ERROR_INVALID_HANDLE) &&
           same_abi::equal(illegal_state, CUDA_ERROR_ILLEGAL_STATE) &&
           same_abi::equal(not_found, CUDA_ERROR_NOT_FOUND) &&
           same_abi::equal(not_ready, CUDA_ERROR_NOT_READY) &&
           same_abi::equal(illegal_address, CUDA_ERROR_ILLEGAL_ADDRESS) &&
           same_abi::equal(launch_out_of_resources, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES) &&
           same_abi::equal(launch_timeout, CUDA_ERROR_LAUNCH_TIMEOUT) &&
           same_abi::equal(peer_access_already_enabled, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED) &&
           same_abi::equal(context_is_destroyed, CUDA_ERROR_CONTEXT_IS_DESTROYED) &&
           same_abi::equal(assertion, CUDA_ERROR_ASSERT) &&
           same_abi::equal(too_many_peers, CUDA_ERROR_TOO_MANY_PEERS) &&
           same_abi::equal(host_memory_already_registered, CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED) &&
           same_abi::equal(host_memory_not_registered, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED) &&
           same_abi::equal(hardware_stack_error, CUDA_ERROR_HARDWARE_STACK_ERROR) &&
           same_abi::equal(illegal_instruction, CUDA_ERROR_ILLEGAL_INSTRUCTION) &&
           same_abi::equal(misaligned_address, CUDA_ERROR_MISALIGNED_ADDRESS) &&
           same_abi::equal(invalid_address_space, CUDA_ERROR_INVALID_ADDRESS_SPACE) &&
           same_abi::equal(invalid_pc, CUDA_ERROR_INVALID_PC) &&
           same_abi::equal(launch_failed, CUDA_ERROR_LAUNCH_FAILED) &&
           same_abi::equal(cooperative_launch_too_large, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE) &&
           same_abi::equal(tensor_memory_leak, CUDA_ERROR_TENSOR_MEMORY_LEAK) &&
           same_abi::equal(not_permitted, CUDA_ERROR_NOT_PERMITTED) &&
           same_abi::equal(not_supported, CUDA_ERROR_NOT_SUPPORTED) &&
           same_abi::equal(system_not_ready, CUDA_ERROR_SYSTEM_NOT_READY) &&
           same_abi::equal(system_driver_mismatch, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH) &&
           same_abi::equal(compat_not_supported_on_device, CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE) &&
           same_abi::equal(mps_connection_failed, CUDA_ERROR_MPS_CONNECTION_FAILED) &&
           same_abi::equal(mps_rpc_failure, CUDA_ERROR_MPS_RPC_FAILURE) &&
           same_abi::equal(mps_server_not_ready, CUDA_ERROR_MPS_SERVER_NOT_READY) &&
           same_abi::equal(mps_max_clients_reached, CUDA_ERROR_MPS_MAX_CLIENTS_REACHED) &&
           same_abi::equal(mps_max_connections_reached, CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED) &&
           same_abi::equal(mps_client_terminated, CUDA_ERROR_MPS_CLIENT_TERMINATED) &&
           same_abi::equal(cdp_not_supported, CUDA_ERROR_CDP_NOT_SUPPORTED) &&
           same_abi::equal(cdp_version_mismatch, CUDA_ERROR_CDP_VERSION_MISMATCH) &&
           same_abi::equal(stream_capture_unsupported, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED) &&
           same_abi::equal(stream_capture_invalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED) &&
           same_abi::equal(stream_capture_merge, CUDA_ERROR_STREAM_CAPTURE_MERGE) &&
           same_abi::equal(stream_capture_unmatched, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED) &&
           same_abi::equal(stream_capture_unjoined, CUDA_ERROR_STREAM_CAPTURE_UNJOINED) &&
           same_abi::equal(stream_capture_isolation, CUDA_ERROR_STREAM_CAPTURE_ISOLATION) &&
           same_abi::equal(stream_capture_implicit, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT) &&
           same_abi::equal(captured_event, CUDA_ERROR_CAPTURED_EVENT) &&
           same_abi::equal(stream_capture_wrong_thread, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD) &&
           same_abi::equal(external_device, CUDA_ERROR_EXTERNAL_DEVICE) &&
           same_abi::equal(invalid_cluster_size, CUDA_ERROR_INVALID_CLUSTER_SIZE) &&
           same_abi::equal(function_not_loaded, CUDA_ERROR_FUNCTION_NOT_LOADED) &&
           same_abi::equal(unknown, CUDA_ERROR_UNKNOWN);
}());

static_assert([] {
    using enum driver::device_attribute;
    return same_abi::equal(max_threads_per_block, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK) &&
           same_abi::equal(max_block_dim_x, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X) &&
           same_abi::equal(max_block_dim_y, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y) &&
           same_abi::equal(max_block_dim_z, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z) &&
           same_abi::equal(max_grid_dim_x, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X) &&
           same_abi::equal(max_grid_dim_y, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y) &&
           same_abi::equal(max_grid_dim_z, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z) &&
           same_abi::equal(max_shared_memory_per_block, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK) &&
           same_abi::equal(warp_size, CU_DEVICE_ATTRIBUTE_WARP_SIZE) &&
           same_abi::equal(max_pitch, CU_DEVICE_ATTRIBUTE_MAX_PITCH) &&
           same_abi::equal(multiprocessor_count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) &&
           same_abi::equal(kernel_exec_timeout, CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT) &&
           same_abi::equal(integrated, CU_DEVICE_ATTRIBUTE_INTEGRATED) &&
           same_abi::equal(can_map_host_memory, CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY) &&
           same_abi::equal(compute_mode, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE) &&
           same_abi::equal(concurrent_kernels, CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS) &&
           same_abi::equal(pci_bus_id, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID) &&
           same_abi::equal(pci_device_id, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID) &&
           same_abi::equal(max_threads_per_multiprocessor,
                           CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR) &&
           same_abi::equal(async_engine_count, CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT) &&
           same_abi::equal(unified_addressing, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING) &&
           same_abi::equal(pci_domain_id, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID) &&
           same_abi::equal(compute_capability_major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) &&
           same_abi::equal(compute_capability_minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR) &&
           same_abi::equal(stream_priorities_supported, CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED) &&
           same_abi::equal(managed_memory, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY) &&
           same_abi::equal(pageable_memory_access, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS) &&
           same_abi::equal(concurrent_managed_access, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS) &&
           same_abi::equal(can_use_host_pointer_for_registered_mem,
                           CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM) &&
           same_abi::equal(max_shared_memory_per_block_optin,
                           CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN) &&
           same_abi::equal(host_register_supported, CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED) &&
           same_abi::equal(pageable_memory_access_uses_host_page_tables,
                           CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES) &&
           same_abi::equal(max_blocks_per_multiprocessor,
                           CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR) &&
           same_abi::equal(reserved_shared_memory_per_block,
                           CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK) &&
           same_abi::equal(read_only_host_register_supported,
                           CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED) &&
           same_abi::equal(memory_pools_supported, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED) &&
           same_abi::equal(can_use_64_bit_stream_mem_ops, CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS);
}());

static_assert([] {
    using enum driver::compute_mode;
    return same_abi::equal(normal, CU_COMPUTEMODE_DEFAULT) &&
           same_abi::equal(prohibited, CU_COMPUTEMODE_PROHIBITED) &&
           same_abi::equal(exclusive_process, CU_COMPUTEMODE_EXCLUSIVE_PROCESS);
}());

static_assert([] {
    using enum driver::proc_address_status;
    return same_abi::equal(success, CU_GET_PROC_ADDRESS_SUCCESS) &&
           same_abi::equal(symbol_not_found, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND) &&
           same_abi::equal(version_not_sufficient, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
}());

static_assert([] {
    using enum driver::capture_status;
    return same_abi::equal(none, CU_STREAM_CAPTURE_STATUS_NONE) &&
           same_abi::equal(active, CU_STREAM_CAPTURE_STATUS_ACTIVE) &&
           same_abi::equal(invalidated, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
}());

static_assert([] {
    using enum driver::capture_mode;
    return same_abi::equal(global, CU_STREAM_CAPTURE_MODE_GLOBAL) &&
           same_abi::equal(thread_local_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) &&
           same_abi::equal(relaxed, CU_STREAM_CAPTURE_MODE_RELAXED);
}());

static_assert([] {
    using enum driver::loading_mode;
    return same_abi::equal(eager, CU_MODULE_EAGER_LOADING) && same_abi::equal(lazy, CU_MODULE_LAZY_LOADING);
}());

static_assert([] {
    using enum driver::function_attribute;
    return same_abi::equal(max_threads_per_block, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK) &&
           same_abi::equal(shared_size_bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES) &&
           same_abi::equal(const_size_bytes, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES) &&
           same_abi::equal(local_size_bytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES) &&
           same_abi::equal(num_regs, CU_FUNC_ATTRIBUTE_NUM_REGS) &&
           same_abi::equal(ptx_version, CU_FUNC_ATTRIBUTE_PTX_VERSION) &&
           same_abi::equal(binary_version, CU_FUNC_ATTRIBUTE_BINARY_VERSION) &&
           same_abi::equal(max_dynamic_shared_size_bytes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) &&
           same_abi::equal(preferred_shared_memory_carveout,
                           CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
}());

static_assert([] {
    using enum driver::jit_option;
    return same_abi::equal(max_registers, CU_JIT_MAX_REGISTERS) &&
           same_abi::equal(info_log_buffer, CU_JIT_INFO_LOG_BUFFER) &&
           same_abi::equal(info_log_buffer_size_bytes, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES) &&
           same_abi::equal(error_log_buffer, CU_JIT_ERROR_LOG_BUFFER) &&
           same_abi::equal(error_log_buffer_size_bytes, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) &&
           same_abi::equal(optimization_level, CU_JIT_OPTIMIZATION_LEVEL) &&
           same_abi::equal(generate_debug_info, CU_JIT_GENERATE_DEBUG_INFO) &&
           same_abi::equal(log_verbose, CU_JIT_LOG_VERBOSE) &&
           same_abi::equal(generate_line_info, CU_JIT_GENERATE_LINE_INFO);
}());

static_assert([] {
    using enum driver::pointer_attribute;
    return same_abi::equal(context, CU_POINTER_ATTRIBUTE_CONTEXT) &&
           same_abi::equal(memory_type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE) &&
           same_abi::equal(device_pointer, CU_POINTER_ATTRIBUTE_DEVICE_POINTER) &&
           same_abi::equal(host_pointer, CU_POINTER_ATTRIBUTE_HOST_POINTER) &&
           same_abi::equal(sync_memops, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS) &&
           same_abi::equal(buffer_id, CU_POINTER_ATTRIBUTE_BUFFER_ID) &&
           same_abi::equal(is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED) &&
           same_abi::equal(device_ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) &&
           same_abi::equal(range_start_addr, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR) &&
           same_abi::equal(range_size, CU_POINTER_ATTRIBUTE_RANGE_SIZE) &&
           same_abi::equal(mapped, CU_POINTER_ATTRIBUTE_MAPPED) &&
           same_abi::equal(mempool_handle, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE);
}());

static_assert([] {
    using enum driver::memory_type;
    return same_abi::equal(host, CU_MEMORYTYPE_HOST) && same_abi::equal(device, CU_MEMORYTYPE_DEVICE) &&
           same_abi::equal(array, CU_MEMORYTYPE_ARRAY) && same_abi::equal(unified, CU_MEMORYTYPE_UNIFIED);
}());

static_assert([] {
    using enum driver::pool_attribute;
    return same_abi::equal(reuse_follow_event_dependencies,
                           CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES) &&
           same_abi::equal(reuse_allow_opportunistic, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC) &&
           same_abi::equal(reuse_allow_internal_dependencies,
                           CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES) &&
           same_abi::equal(release_threshold, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) &&
           same_abi::equal(reserved_mem_current, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) &&
           same_abi::equal(reserved_mem_high, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH) &&
           same_abi::equal(used_mem_current, CU_MEMPOOL_ATTR_USED_MEM_CURRENT) &&
           same_abi::equal(used_mem_high, CU_MEMPOOL_ATTR_USED_MEM_HIGH);
}());

static_assert([] {
    using enum driver::allocation_type;
    return same_abi::equal(invalid, CU_MEM_ALLOCATION_TYPE_INVALID) &&
           same_abi::equal(pinned, CU_MEM_ALLOCATION_TYPE_PINNED);
}());

static_assert([] {
    using enum driver::handle_type;
    return same_abi::equal(none, CU_MEM_HANDLE_TYPE_NONE) &&
           same_abi::equal(posix_file_descriptor, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
}());

static_assert([] {
    using enum driver::location_type;
    return same_abi::equal(invalid, CU_MEM_LOCATION_TYPE_INVALID) &&
           same_abi::equal(device, CU_MEM_LOCATION_TYPE_DEVICE);
}());

static_assert([] {
    using enum driver::access_flags;
    return same_abi::equal(none, CU_MEM_ACCESS_FLAGS_PROT_NONE) &&
           same_abi::equal(read, CU_MEM_ACCESS_FLAGS_PROT_READ) &&
           same_abi::equal(read_write, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
}());

static_assert(same_abi::equal(driver::context_schedule_auto, CU_CTX_SCHED_AUTO));
static_assert(same_abi::equal(driver::context_schedule_blocking_sync, CU_CTX_SCHED_BLOCKING_SYNC));
static_assert(same_abi::equal(driver::context_map_host, CU_CTX_MAP_HOST));
static_assert(same_abi::equal(driver::stream_default, CU_STREAM_DEFAULT));
static_assert(same_abi::equal(driver::stream_non_blocking, CU_STREAM_NON_BLOCKING));
static_assert(same_abi::equal(driver::event_blocking_sync, CU_EVENT_BLOCKING_SYNC));
static_assert(same_abi::equal(driver::event_disable_timing, CU_EVENT_DISABLE_TIMING));
static_assert(same_abi::equal(driver::event_wait_default, CU_EVENT_WAIT_DEFAULT));
static_assert(same_abi::equal(driver::write_value_default, CU_STREAM_WRITE_VALUE_DEFAULT));
static_assert(same_abi::equal(driver::host_alloc_portable, CU_MEMHOSTALLOC_PORTABLE));
static_assert(same_abi::equal(driver::host_alloc_device_map, CU_MEMHOSTALLOC_DEVICEMAP));
static_assert(same_abi::equal(driver::host_alloc_write_combined, CU_MEMHOSTALLOC_WRITECOMBINED));
static_assert(same_abi::equal(driver::host_register_portable, CU_MEMHOSTREGISTER_PORTABLE));
static_assert(same_abi::equal(driver::host_register_device_map, CU_MEMHOSTREGISTER_DEVICEMAP));
static_assert(same_abi::equal(driver::host_register_read_only, CU_MEMHOSTREGISTER_READ_ONLY));
static_assert(same_abi::equal(driver::proc_address_legacy_stream, CU_GET_PROC_ADDRESS_LEGACY_STREAM));

} // namespace

#endif
