// SPDX-License-Identifier: BSL-1.0
// The CUDA driver's functions that omp_co uses: each with its type, the symbol that has this type, and the version of
// CUDA (1000 * major + 10 * minor) that brought it.
#pragma once

#include <omp_co/cuda/driver_types.hpp>
#include <omp_co/detail/entry_point.hpp>

template <>
inline constexpr omp_co::cuda::driver::result omp_co::detail::absent_answer<omp_co::cuda::driver::result> =
    omp_co::cuda::driver::result::not_supported;

namespace omp_co::cuda::driver {

/// A function asked for is called like the driver's; `if (f.launch_kernel)` asks whether it was found, and one that
/// was not answers `not_supported`. Without a suffix in its symbol, a function has the type of its first version.
struct functions {
    template <class Signature>
    using function = detail::function<Signature>;
    static constexpr detail::need optional = detail::need::optional;

    functions() = default;
    functions(functions const&) = delete;
    functions& operator=(functions const&) = delete;

    detail::entry_list all;

    // the driver and its devices
    function<result(unsigned)> init{all, "cuInit", 2000};
    function<result(int*)> driver_get_version{all, "cuDriverGetVersion", 2020};
    function<result(result, char const**)> get_error_name{all, "cuGetErrorName", 6000};
    function<result(result, char const**)> get_error_string{all, "cuGetErrorString", 6000};
    function<result(int*)> device_get_count{all, "cuDeviceGetCount", 2000};
    function<result(device_number*, int)> device_get{all, "cuDeviceGet", 2000};
    function<result(char*, int, device_number)> device_get_name{all, "cuDeviceGetName", 2000};
    function<result(uuid*, device_number)> device_get_uuid{all, "cuDeviceGetUuid_v2", 11040};
    function<result(std::size_t*, device_number)> device_total_mem{all, "cuDeviceTotalMem_v2", 3020};
    function<result(int*, device_attribute, device_number)> device_get_attribute{all, "cuDeviceGetAttribute",
                                                                                 2000};
    function<result(int*, device_number, device_number)> device_can_access_peer{all, "cuDeviceCanAccessPeer",
                                                                                4000};

    // contexts
    function<result(context_handle*, device_number)> primary_ctx_retain{all, "cuDevicePrimaryCtxRetain",
                                                                        7000};
    function<result(device_number)> primary_ctx_release{all, "cuDevicePrimaryCtxRelease_v2", 11000};
    function<result(device_number, unsigned)> primary_ctx_set_flags{all, "cuDevicePrimaryCtxSetFlags_v2",
                                                                    11000};
    function<result(device_number, unsigned*, int*)> primary_ctx_get_state{all, "cuDevicePrimaryCtxGetState",
                                                                           7000};
    function<result(context_handle)> ctx_push_current{all, "cuCtxPushCurrent_v2", 4000};
    function<result(context_handle*)> ctx_pop_current{all, "cuCtxPopCurrent_v2", 4000};
    function<result(context_handle)> ctx_set_current{all, "cuCtxSetCurrent", 4000};
    function<result(context_handle*)> ctx_get_current{all, "cuCtxGetCurrent", 4000};
    function<result(device_number*)> ctx_get_device{all, "cuCtxGetDevice", 2000};
    function<result(context_handle, unsigned long long*)> ctx_get_id{all, "cuCtxGetId", 12000, optional};
    function<result()> ctx_synchronize{all, "cuCtxSynchronize", 2000};
    function<result(int*, int*)> ctx_get_stream_priority_range{all, "cuCtxGetStreamPriorityRange", 5050};
    function<result(context_handle, unsigned)> ctx_enable_peer_access{all, "cuCtxEnablePeerAccess", 4000};

    // streams
    function<result(stream_handle*, unsigned)> stream_create{all, "cuStreamCreate", 2000};
    function<result(stream_handle*, unsigned, int)> stream_create_with_priority{
        all, "cuStreamCreateWithPriority", 5050};
    function<result(stream_handle)> stream_destroy{all, "cuStreamDestroy_v2", 4000};
    function<result(stream_handle)> stream_query{all, "cuStreamQuery", 2000};
    function<result(stream_handle)> stream_synchronize{all, "cuStreamSynchronize", 2000};
    function<result(stream_handle, event_handle, unsigned)> stream_wait_event{all, "cuStreamWaitEvent", 3020};
    function<result(stream_handle, context_handle*)> stream_get_ctx{all, "cuStreamGetCtx", 9020};
    function<result(stream_handle, capture_status*)> stream_is_capturing{all, "cuStreamIsCapturing", 10000};
    function<result(capture_mode*)> thread_exchange_stream_capture_mode{
        all, "cuThreadExchangeStreamCaptureMode", 10010};
    function<result(stream_handle, device_address, std::uint32_t, unsigned)> stream_write_value_32{
        all, "cuStreamWriteValue32_v2", 11070, optional};
    function<result(stream_handle, device_address, std::uint64_t, unsigned)> stream_write_value_64{
        all, "cuStreamWriteValue64_v2", 11070, optional};
    function<result(stream_handle, host_function, void*)> launch_host_func{all, "cuLaunchHostFunc", 10000};

    // events
    function<result(event_handle*, unsigned)> event_create{all, "cuEventCreate", 2000};
    function<result(event_handle)> event_destroy{all, "cuEventDestroy_v2", 4000};
    function<result(event_handle, stream_handle)> event_record{all, "cuEventRecord", 2000};
    function<result(event_handle)> event_query{all, "cuEventQuery", 2000};
    function<result(event_handle)> event_synchronize{all, "cuEventSynchronize", 2000};
    function<result(float*, event_handle, event_handle)> event_elapsed_time{all, "cuEventElapsedTime", 2000};

    // memory
    function<result(std::size_t*, std::size_t*)> mem_get_info{all, "cuMemGetInfo_v2", 3020};
    function<result(device_address*, std::size_t)> mem_alloc{all, "cuMemAlloc_v2", 3020};
    function<result(device_address)> mem_free{all, "cuMemFree_v2", 3020};
    function<result(device_address*, std::size_t*, device_address)> mem_get_address_range{
        all, "cuMemGetAddressRange_v2", 3020};
    function<result(void*, pointer_attribute, device_address)> pointer_get_attribute{
        all, "cuPointerGetAttribute", 4000};
    function<result(unsigned, pointer_attribute*, void**, device_address)> pointer_get_attributes{
        all, "cuPointerGetAttributes", 7000};

    // stream-ordered memory
    function<result(device_address*, std::size_t, stream_handle)> mem_alloc_async{all, "cuMemAllocAsync",
                                                                                  11020};
    function<result(device_address*, std::size_t, pool_handle, stream_handle)> mem_alloc_from_pool_async{
        all, "cuMemAllocFromPoolAsync", 11020};
    function<result(device_address, stream_handle)> mem_free_async{all, "cuMemFreeAsync", 11020};
    function<result(pool_handle*, device_number)> device_get_default_mem_pool{
        all, "cuDeviceGetDefaultMemPool", 11020};
    function<result(pool_handle*, pool_properties const*)> mem_pool_create{all, "cuMemPoolCreate", 11020};
    function<result(pool_handle)> mem_pool_destroy{all, "cuMemPoolDestroy", 11020};
    function<result(pool_handle, std::size_t)> mem_pool_trim_to{all, "cuMemPoolTrimTo", 11020};
    function<result(pool_handle, pool_attribute, void*)> mem_pool_set_attribute{all, "cuMemPoolSetAttribute",
                                                                                11020};
    function<result(pool_handle, pool_attribute, void*)> mem_pool_get_attribute{all, "cuMemPoolGetAttribute",
                                                                                11020};
    function<result(pool_handle, access_description const*, std::size_t)> mem_pool_set_access{
        all, "cuMemPoolSetAccess", 11020};

    // pinned host memory
    function<result(void**, std::size_t, unsigned)> mem_host_alloc{all, "cuMemHostAlloc", 2020};
    function<result(void*)> mem_free_host{all, "cuMemFreeHost", 2000};
    function<result(void*, std::size_t, unsigned)> mem_host_register{all, "cuMemHostRegister_v2", 6050};
    function<result(void*)> mem_host_unregister{all, "cuMemHostUnregister", 4000};
    function<result(device_address*, void*, unsigned)> mem_host_get_device_pointer{
        all, "cuMemHostGetDevicePointer_v2", 3020};

    // copies
    function<result(device_address, void const*, std::size_t, stream_handle)> memcpy_htod_async{
        all, "cuMemcpyHtoDAsync_v2", 3020};
    function<result(void*, device_address, std::size_t, stream_handle)> memcpy_dtoh_async{
        all, "cuMemcpyDtoHAsync_v2", 3020};
    function<result(device_address, device_address, std::size_t, stream_handle)> memcpy_dtod_async{
        all, "cuMemcpyDtoDAsync_v2", 3020};
    function<result(device_address, device_address, std::size_t, stream_handle)> memcpy_async{
        all, "cuMemcpyAsync", 4000};
    function<result(device_address, context_handle, device_address, context_handle, std::size_t,
                    stream_handle)>
        memcpy_peer_async{all, "cuMemcpyPeerAsync", 4000};
    function<result(copy_2d const*, stream_handle)> memcpy_2d_async{all, "cuMemcpy2DAsync_v2", 3020};
    function<result(copy_3d const*, stream_handle)> memcpy_3d_async{all, "cuMemcpy3DAsync_v2", 3020};
    function<result(copy_3d const*, stream_handle)> memcpy_3d_peer_async{all, "cuMemcpy3DPeerAsync", 4000};
    function<result(device_address, unsigned char, std::size_t, stream_handle)> memset_d8_async{
        all, "cuMemsetD8Async", 3020};
    function<result(device_address, unsigned short, std::size_t, stream_handle)> memset_d16_async{
        all, "cuMemsetD16Async", 3020};
    function<result(device_address, unsigned, std::size_t, stream_handle)> memset_d32_async{
        all, "cuMemsetD32Async", 3020};

    // images and kernels
    function<result(module_handle*, void const*, unsigned, jit_option*, void**)> module_load_data_ex{
        all, "cuModuleLoadDataEx", 2010};
    function<result(module_handle)> module_unload{all, "cuModuleUnload", 2000};
    function<result(function_handle*, module_handle, char const*)> module_get_function{
        all, "cuModuleGetFunction", 2000};
    function<result(device_address*, std::size_t*, module_handle, char const*)> module_get_global{
        all, "cuModuleGetGlobal_v2", 3020};
    function<result(loading_mode*)> module_get_loading_mode{all, "cuModuleGetLoadingMode", 11070, optional};
    function<result(unsigned*, module_handle)> module_get_function_count{all, "cuModuleGetFunctionCount",
                                                                         12040, optional};
    function<result(function_handle*, unsigned, module_handle)> module_enumerate_functions{
        all, "cuModuleEnumerateFunctions", 12040, optional};
    function<result(char const**, function_handle)> func_get_name{all, "cuFuncGetName", 12030, optional};
    function<result(function_handle)> func_load{all, "cuFuncLoad", 12040, optional};
    function<result(int*, function_attribute, function_handle)> func_get_attribute{all, "cuFuncGetAttribute",
                                                                                   2020};
    function<result(function_handle, function_attribute, int)> func_set_attribute{all, "cuFuncSetAttribute",
                                                                                  9000};
    function<result(function_handle, std::size_t, std::size_t*, std::size_t*)> func_get_param_info{
        all, "cuFuncGetParamInfo", 12040, optional};
    function<result(int*, function_handle, int, std::size_t)> occupancy_max_active_blocks{
        all, "cuOccupancyMaxActiveBlocksPerMultiprocessor", 6050};
    function<result(int*, int*, function_handle, shared_memory_for_block, std::size_t, int)>
        occupancy_max_potential_block_size{all, "cuOccupancyMaxPotentialBlockSize", 6050};
    function<result(function_handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                    stream_handle, void**, void**)>
        launch_kernel{all, "cuLaunchKernel", 4000};
};

} // namespace omp_co::cuda::driver
