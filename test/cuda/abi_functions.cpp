// SPDX-License-Identifier: BSL-1.0
// Every function of the driver table has the type that the toolkit's cuda.h gives to its symbol and cudaTypedefs.h to
// its version.
#include <omp_co/cuda/driver_api.hpp>

#include <boost/test/unit_test.hpp>

#ifdef OMP_CO_TEST_CUDA_INCLUDE

#include "same_abi.hpp"

#include <cuda.h>
#include <cudaTypedefs.h>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <type_traits>

namespace {

namespace driver = omp_co::cuda::driver;
using driver::functions;

} // namespace

template <>
struct same_abi::ours<CUuuid> : std::type_identity<driver::uuid> {
};
template <>
struct same_abi::ours<CUmemPoolProps> : std::type_identity<driver::pool_properties> {
};
template <>
struct same_abi::ours<CUmemAccessDesc> : std::type_identity<driver::access_description> {
};
template <>
struct same_abi::ours<CUDA_MEMCPY2D> : std::type_identity<driver::copy_2d> {
};
template <>
struct same_abi::ours<CUDA_MEMCPY3D> : std::type_identity<driver::copy_3d> {
};
template <>
struct same_abi::ours<CUDA_MEMCPY3D_PEER> : std::type_identity<driver::copy_3d> {
};

namespace {

struct compared {
    char const* symbol;
    int version; ///< of the type compared with
};

template <class Ours, class Exported, class Versioned>
consteval compared pair(char const* symbol, int version)
{
    static_assert(same_abi::same<typename Ours::signature, Exported>, "not the type of this symbol");
    static_assert(same_abi::same<typename Ours::signature, std::remove_pointer_t<Versioned>>,
                  "not the type of this version");
    return {symbol, version};
}

constexpr compared all_compared[]{
    pair<decltype(functions::init), decltype(::cuInit), PFN_cuInit_v2000>("cuInit", 2000),
    pair<decltype(functions::driver_get_version), decltype(::cuDriverGetVersion),
         PFN_cuDriverGetVersion_v2020>("cuDriverGetVersion", 2020),
    pair<decltype(functions::get_error_name), decltype(::cuGetErrorName), PFN_cuGetErrorName_v6000>(
        "cuGetErrorName", 6000),
    pair<decltype(functions::get_error_string), decltype(::cuGetErrorString), PFN_cuGetErrorString_v6000>(
        "cuGetErrorString", 6000),
    pair<decltype(functions::device_get_count), decltype(::cuDeviceGetCount), PFN_cuDeviceGetCount_v2000>(
        "cuDeviceGetCount", 2000),
    pair<decltype(functions::device_get), decltype(::cuDeviceGet), PFN_cuDeviceGet_v2000>("cuDeviceGet",
                                                                                          2000),
    pair<decltype(functions::device_get_name), decltype(::cuDeviceGetName), PFN_cuDeviceGetName_v2000>(
        "cuDeviceGetName", 2000),
    pair<decltype(functions::device_get_uuid), decltype(::cuDeviceGetUuid_v2), PFN_cuDeviceGetUuid_v11040>(
        "cuDeviceGetUuid_v2", 11040),
    pair<decltype(functions::device_total_mem), decltype(::cuDeviceTotalMem_v2), PFN_cuDeviceTotalMem_v3020>(
        "cuDeviceTotalMem_v2", 3020),
    pair<decltype(functions::device_get_attribute), decltype(::cuDeviceGetAttribute),
         PFN_cuDeviceGetAttribute_v2000>("cuDeviceGetAttribute", 2000),
    pair<decltype(functions::device_can_access_peer), decltype(::cuDeviceCanAccessPeer),
         PFN_cuDeviceCanAccessPeer_v4000>("cuDeviceCanAccessPeer", 4000),
    pair<decltype(functions::primary_ctx_retain), decltype(::cuDevicePrimaryCtxRetain),
         PFN_cuDevicePrimaryCtxRetain_v7000>("cuDevicePrimaryCtxRetain", 7000),
    pair<decltype(functions::primary_ctx_release), decltype(::cuDevicePrimaryCtxRelease_v2),
         PFN_cuDevicePrimaryCtxRelease_v11000>("cuDevicePrimaryCtxRelease_v2", 11000),
    pair<decltype(functions::primary_ctx_set_flags), decltype(::cuDevicePrimaryCtxSetFlags_v2),
         PFN_cuDevicePrimaryCtxSetFlags_v11000>("cuDevicePrimaryCtxSetFlags_v2", 11000),
    pair<decltype(functions::primary_ctx_get_state), decltype(::cuDevicePrimaryCtxGetState),
         PFN_cuDevicePrimaryCtxGetState_v7000>("cuDevicePrimaryCtxGetState", 7000),
    pair<decltype(functions::ctx_push_current), decltype(::cuCtxPushCurrent_v2), PFN_cuCtxPushCurrent_v4000>(
        "cuCtxPushCurrent_v2", 4000),
    pair<decltype(functions::ctx_pop_current), decltype(::cuCtxPopCurrent_v2), PFN_cuCtxPopCurrent_v4000>(
        "cuCtxPopCurrent_v2", 4000),
    pair<decltype(functions::ctx_set_current), decltype(::cuCtxSetCurrent), PFN_cuCtxSetCurrent_v4000>(
        "cuCtxSetCurrent", 4000),
    pair<decltype(functions::ctx_get_current), decltype(::cuCtxGetCurrent), PFN_cuCtxGetCurrent_v4000>(
        "cuCtxGetCurrent", 4000),
    pair<decltype(functions::ctx_get_device), decltype(::cuCtxGetDevice), PFN_cuCtxGetDevice_v2000>(
        "cuCtxGetDevice", 2000),
    pair<decltype(functions::ctx_get_id), decltype(::cuCtxGetId), PFN_cuCtxGetId_v12000>("cuCtxGetId", 12000),
    pair<decltype(functions::ctx_synchronize), decltype(::cuCtxSynchronize), PFN_cuCtxSynchronize_v2000>(
        "cuCtxSynchronize", 2000),
    pair<decltype(functions::ctx_get_stream_priority_range), decltype(::cuCtxGetStreamPriorityRange),
         PFN_cuCtxGetStreamPriorityRange_v5050>("cuCtxGetStreamPriorityRange", 5050),
    pair<decltype(functions::ctx_enable_peer_access), decltype(::cuCtxEnablePeerAccess),
         PFN_cuCtxEnablePeerAccess_v4000>("cuCtxEnablePeerAccess", 4000),
    pair<decltype(functions::stream_create), decltype(::cuStreamCreate), PFN_cuStreamCreate_v2000>(
        "cuStreamCreate", 2000),
    pair<decltype(functions::stream_create_with_priority), decltype(::cuStreamCreateWithPriority),
         PFN_cuStreamCreateWithPriority_v5050>("cuStreamCreateWithPriority", 5050),
    pair<decltype(functions::stream_destroy), decltype(::cuStreamDestroy_v2), PFN_cuStreamDestroy_v4000>(
        "cuStreamDestroy_v2", 4000),
    pair<decltype(functions::stream_query), decltype(::cuStreamQuery), PFN_cuStreamQuery_v2000>(
        "cuStreamQuery", 2000),
    pair<decltype(functions::stream_synchronize), decltype(::cuStreamSynchronize),
         PFN_cuStreamSynchronize_v2000>("cuStreamSynchronize", 2000),
    pair<decltype(functions::stream_wait_event), decltype(::cuStreamWaitEvent), PFN_cuStreamWaitEvent_v3020>(
        "cuStreamWaitEvent", 3020),
    pair<decltype(functions::stream_get_ctx), decltype(::cuStreamGetCtx), PFN_cuStreamGetCtx_v9020>(
        "cuStreamGetCtx", 9020),
    pair<decltype(functions::stream_is_capturing), decltype(::cuStreamIsCapturing),
         PFN_cuStreamIsCapturing_v10000>("cuStreamIsCapturing", 10000),
    pair<decltype(functions::thread_exchange_stream_capture_mode),
         decltype(::cuThreadExchangeStreamCaptureMode), PFN_cuThreadExchangeStreamCaptureMode_v10010>(
        "cuThreadExchangeStreamCaptureMode", 10010),
    pair<decltype(functions::stream_write_value_32), decltype(::cuStreamWriteValue32_v2),
         PFN_cuStreamWriteValue32_v11070>("cuStreamWriteValue32_v2", 11070),
    pair<decltype(functions::stream_write_value_64), decltype(::cuStreamWriteValue64_v2),
         PFN_cuStreamWriteValue64_v11070>("cuStreamWriteValue64_v2", 11070),
    pair<decltype(functions::launch_host_func), decltype(::cuLaunchHostFunc), PFN_cuLaunchHostFunc_v10000>(
        "cuLaunchHostFunc", 10000),
    pair<decltype(functions::event_create), decltype(::cuEventCreate), PFN_cuEventCreate_v2000>(
        "cuEventCreate", 2000),
    pair<decltype(functions::event_destroy), decltype(::cuEventDestroy_v2), PFN_cuEventDestroy_v4000>(
        "cuEventDestroy_v2", 4000),
    pair<decltype(functions::event_record), decltype(::cuEventRecord), PFN_cuEventRecord_v2000>(
        "cuEventRecord", 2000),
    pair<decltype(functions::event_query), decltype(::cuEventQuery), PFN_cuEventQuery_v2000>("cuEventQuery",
                                                                                             2000),
    pair<decltype(functions::event_synchronize), decltype(::cuEventSynchronize),
         PFN_cuEventSynchronize_v2000>("cuEventSynchronize", 2000),
    pair<decltype(functions::event_elapsed_time), decltype(::cuEventElapsedTime),
         PFN_cuEventElapsedTime_v2000>("cuEventElapsedTime", 2000),
    pair<decltype(functions::mem_get_info), decltype(::cuMemGetInfo_v2), PFN_cuMemGetInfo_v3020>(
        "cuMemGetInfo_v2", 3020),
    pair<decltype(functions::mem_alloc), decltype(::cuMemAlloc_v2), PFN_cuMemAlloc_v3020>("cuMemAlloc_v2",
                                                                                          3020),
    pair<decltype(functions::mem_free), decltype(::cuMemFree_v2), PFN_cuMemFree_v3020>("cuMemFree_v2", 3020),
    pair<decltype(functions::mem_get_address_range), decltype(::cuMemGetAddressRange_v2),
         PFN_cuMemGetAddressRange_v3020>("cuMemGetAddressRange_v2", 3020),
    pair<decltype(functions::pointer_get_attribute), decltype(::cuPointerGetAttribute),
         PFN_cuPointerGetAttribute_v4000>("cuPointerGetAttribute", 4000),
    pair<decltype(functions::pointer_get_attributes), decltype(::cuPointerGetAttributes),
         PFN_cuPointerGetAttributes_v7000>("cuPointerGetAttributes", 7000),
    pair<decltype(functions::mem_alloc_async), decltype(::cuMemAllocAsync), PFN_cuMemAllocAsync_v11020>(
        "cuMemAllocAsync", 11020),
    pair<decltype(functions::mem_alloc_from_pool_async), decltype(::cuMemAllocFromPoolAsync),
         PFN_cuMemAllocFromPoolAsync_v11020>("cuMemAllocFromPoolAsync", 11020),
    pair<decltype(functions::mem_free_async), decltype(::cuMemFreeAsync), PFN_cuMemFreeAsync_v11020>(
        "cuMemFreeAsync", 11020),
    pair<decltype(functions::device_get_default_mem_pool), decltype(::cuDeviceGetDefaultMemPool),
         PFN_cuDeviceGetDefaultMemPool_v11020>("cuDeviceGetDefaultMemPool", 11020),
    pair<decltype(functions::mem_pool_create), decltype(::cuMemPoolCreate), PFN_cuMemPoolCreate_v11020>(
        "cuMemPoolCreate", 11020),
    pair<decltype(functions::mem_pool_destroy), decltype(::cuMemPoolDestroy), PFN_cuMemPoolDestroy_v11020>(
        "cuMemPoolDestroy", 11020),
    pair<decltype(functions::mem_pool_trim_to), decltype(::cuMemPoolTrimTo), PFN_cuMemPoolTrimTo_v11020>(
        "cuMemPoolTrimTo", 11020),
    pair<decltype(functions::mem_pool_set_attribute), decltype(::cuMemPoolSetAttribute),
         PFN_cuMemPoolSetAttribute_v11020>("cuMemPoolSetAttribute", 11020),
    pair<decltype(functions::mem_pool_get_attribute), decltype(::cuMemPoolGetAttribute),
         PFN_cuMemPoolGetAttribute_v11020>("cuMemPoolGetAttribute", 11020),
    pair<decltype(functions::mem_pool_set_access), decltype(::cuMemPoolSetAccess),
         PFN_cuMemPoolSetAccess_v11020>("cuMemPoolSetAccess", 11020),
    pair<decltype(functions::mem_host_alloc), decltype(::cuMemHostAlloc), PFN_cuMemHostAlloc_v2020>(
        "cuMemHostAlloc", 2020),
    pair<decltype(functions::mem_free_host), decltype(::cuMemFreeHost), PFN_cuMemFreeHost_v2000>(
        "cuMemFreeHost", 2000),
    pair<decltype(functions::mem_host_register), decltype(::cuMemHostRegister_v2),
         PFN_cuMemHostRegister_v6050>("cuMemHostRegister_v2", 6050),
    pair<decltype(functions::mem_host_unregister), decltype(::cuMemHostUnregister),
         PFN_cuMemHostUnregister_v4000>("cuMemHostUnregister", 4000),
    pair<decltype(functions::mem_host_get_device_pointer), decltype(::cuMemHostGetDevicePointer_v2),
         PFN_cuMemHostGetDevicePointer_v3020>("cuMemHostGetDevicePointer_v2", 3020),
    pair<decltype(functions::memcpy_htod_async), decltype(::cuMemcpyHtoDAsync_v2),
         PFN_cuMemcpyHtoDAsync_v3020>("cuMemcpyHtoDAsync_v2", 3020),
    pair<decltype(functions::memcpy_dtoh_async), decltype(::cuMemcpyDtoHAsync_v2),
         PFN_cuMemcpyDtoHAsync_v3020>("cuMemcpyDtoHAsync_v2", 3020),
    pair<decltype(functions::memcpy_dtod_async), decltype(::cuMemcpyDtoDAsync_v2),
         PFN_cuMemcpyDtoDAsync_v3020>("cuMemcpyDtoDAsync_v2", 3020),
    pair<decltype(functions::memcpy_async), decltype(::cuMemcpyAsync), PFN_cuMemcpyAsync_v4000>(
        "cuMemcpyAsync", 4000),
    pair<decltype(functions::memcpy_peer_async), decltype(::cuMemcpyPeerAsync), PFN_cuMemcpyPeerAsync_v4000>(
        "cuMemcpyPeerAsync", 4000),
    pair<decltype(functions::memcpy_2d_async), decltype(::cuMemcpy2DAsync_v2), PFN_cuMemcpy2DAsync_v3020>(
        "cuMemcpy2DAsync_v2", 3020),
    pair<decltype(functions::memcpy_3d_async), decltype(::cuMemcpy3DAsync_v2), PFN_cuMemcpy3DAsync_v3020>(
        "cuMemcpy3DAsync_v2", 3020),
    pair<decltype(functions::memcpy_3d_peer_async), decltype(::cuMemcpy3DPeerAsync),
         PFN_cuMemcpy3DPeerAsync_v4000>("cuMemcpy3DPeerAsync", 4000),
    pair<decltype(functions::memset_d8_async), decltype(::cuMemsetD8Async), PFN_cuMemsetD8Async_v3020>(
        "cuMemsetD8Async", 3020),
    pair<decltype(functions::memset_d16_async), decltype(::cuMemsetD16Async), PFN_cuMemsetD16Async_v3020>(
        "cuMemsetD16Async", 3020),
    pair<decltype(functions::memset_d32_async), decltype(::cuMemsetD32Async), PFN_cuMemsetD32Async_v3020>(
        "cuMemsetD32Async", 3020),
    pair<decltype(functions::module_load_data_ex), decltype(::cuModuleLoadDataEx),
         PFN_cuModuleLoadDataEx_v2010>("cuModuleLoadDataEx", 2010),
    pair<decltype(functions::module_unload), decltype(::cuModuleUnload), PFN_cuModuleUnload_v2000>(
        "cuModuleUnload", 2000),
    pair<decltype(functions::module_get_function), decltype(::cuModuleGetFunction),
         PFN_cuModuleGetFunction_v2000>("cuModuleGetFunction", 2000),
    pair<decltype(functions::module_get_global), decltype(::cuModuleGetGlobal_v2),
         PFN_cuModuleGetGlobal_v3020>("cuModuleGetGlobal_v2", 3020),
    pair<decltype(functions::module_get_loading_mode), decltype(::cuModuleGetLoadingMode),
         PFN_cuModuleGetLoadingMode_v11070>("cuModuleGetLoadingMode", 11070),
    pair<decltype(functions::module_get_function_count), decltype(::cuModuleGetFunctionCount),
         PFN_cuModuleGetFunctionCount_v12040>("cuModuleGetFunctionCount", 12040),
    pair<decltype(functions::module_enumerate_functions), decltype(::cuModuleEnumerateFunctions),
         PFN_cuModuleEnumerateFunctions_v12040>("cuModuleEnumerateFunctions", 12040),
    pair<decltype(functions::func_get_name), decltype(::cuFuncGetName), PFN_cuFuncGetName_v12030>(
        "cuFuncGetName", 12030),
    pair<decltype(functions::func_load), decltype(::cuFuncLoad), PFN_cuFuncLoad_v12040>("cuFuncLoad", 12040),
    pair<decltype(functions::func_get_attribute), decltype(::cuFuncGetAttribute),
         PFN_cuFuncGetAttribute_v2020>("cuFuncGetAttribute", 2020),
    pair<decltype(functions::func_set_attribute), decltype(::cuFuncSetAttribute),
         PFN_cuFuncSetAttribute_v9000>("cuFuncSetAttribute", 9000),
    pair<decltype(functions::func_get_param_info), decltype(::cuFuncGetParamInfo),
         PFN_cuFuncGetParamInfo_v12040>("cuFuncGetParamInfo", 12040),
    pair<decltype(functions::occupancy_max_active_blocks),
         decltype(::cuOccupancyMaxActiveBlocksPerMultiprocessor),
         PFN_cuOccupancyMaxActiveBlocksPerMultiprocessor_v6050>("cuOccupancyMaxActiveBlocksPerMultiprocessor",
                                                                6050),
    pair<decltype(functions::occupancy_max_potential_block_size),
         decltype(::cuOccupancyMaxPotentialBlockSize), PFN_cuOccupancyMaxPotentialBlockSize_v6050>(
        "cuOccupancyMaxPotentialBlockSize", 6050),
    pair<decltype(functions::launch_kernel), decltype(::cuLaunchKernel), PFN_cuLaunchKernel_v4000>(
        "cuLaunchKernel", 4000),
};

BOOST_AUTO_TEST_SUITE(cuda_abi)

BOOST_AUTO_TEST_CASE(every_function_of_the_table_is_compared_at_the_version_that_is_asked_for)
{
    std::map<std::string, int> versions;
    for (compared const& c : all_compared) BOOST_TEST(versions.emplace(c.symbol, c.version).second, c.symbol);
    functions const table;
    std::size_t count = 0;
    for (auto const* e = table.all.first; e != nullptr; e = e->next()) {
        ++count;
        auto const found = versions.find(e->symbol());
        BOOST_TEST((found != versions.end() && found->second == e->version()), e->symbol());
    }
    BOOST_TEST(count == versions.size());
}

BOOST_AUTO_TEST_CASE(every_version_asked_for_is_one_that_the_toolkit_lists)
{
    std::ifstream file(OMP_CO_TEST_CUDA_INCLUDE "/cudaTypedefs.h");
    std::string const text{std::istreambuf_iterator<char>(file), {}};
    BOOST_REQUIRE(!text.empty());
    functions const table;
    for (auto const* e = table.all.first; e != nullptr; e = e->next()) {
        std::string const name = "PFN_" + e->base_name() + "_v" + std::to_string(e->version()) + ")";
        BOOST_TEST(text.find(name) != std::string::npos, name);
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace

#endif
