// SPDX-License-Identifier: BSL-1.0
// The CUDA driver API's handles, enumerators and structures, as far as omp_co uses them: declared here so that no
// program needs cuda.h. The handles are the driver's own types, so a user's CUstream fits.
#pragma once

#include <cstddef>
#include <cstdint>

struct CUarray_st;
struct CUctx_st;
struct CUevent_st;
struct CUfunc_st;
struct CUmemPoolHandle_st;
struct CUmod_st;
struct CUstream_st;

namespace omp_co::cuda::driver {

using array_handle = CUarray_st*;
using context_handle = CUctx_st*;
using event_handle = CUevent_st*;
using function_handle = CUfunc_st*;
using pool_handle = CUmemPoolHandle_st*;
using module_handle = CUmod_st*;
using stream_handle = CUstream_st*;

using device_number = int;
using device_address = unsigned long long;

using host_function = void (*)(void*);
using shared_memory_for_block = std::size_t (*)(int block_size);

/// CUresult. Every code has a name (error.hpp); those that omp_co names are here.
enum class result : unsigned {
    success = 0,
    invalid_value = 1,
    out_of_memory = 2,
    not_initialized = 3,
    deinitialized = 4,
    stub_library = 34,
    device_unavailable = 46,
    no_device = 100,
    invalid_device = 101,
    device_not_licensed = 102,
    invalid_image = 200,
    invalid_context = 201,
    no_binary_for_gpu = 209,
    ecc_uncorrectable = 214,
    context_already_in_use = 216,
    peer_access_unsupported = 217,
    invalid_ptx = 218,
    nvlink_uncorrectable = 220,
    jit_compiler_not_found = 221,
    unsupported_ptx_version = 222,
    jit_compilation_disabled = 223,
    unsupported_devside_sync = 225,
    contained = 226,
    invalid_source = 300,
    file_not_found = 301,
    shared_object_symbol_not_found = 302,
    shared_object_init_failed = 303,
    operating_system = 304,
    invalid_handle = 400,
    illegal_state = 401,
    not_found = 500,
    not_ready = 600,
    illegal_address = 700,
    launch_out_of_resources = 701,
    launch_timeout = 702,
    peer_access_already_enabled = 704,
    context_is_destroyed = 709,
    assertion = 710,
    too_many_peers = 711,
    host_memory_already_registered = 712,
    host_memory_not_registered = 713,
    hardware_stack_error = 714,
    illegal_instruction = 715,
    misaligned_address = 716,
    invalid_address_space = 717,
    invalid_pc = 718,
    launch_failed = 719,
    cooperative_launch_too_large = 720,
    tensor_memory_leak = 721,
    not_permitted = 800,
    not_supported = 801,
    system_not_ready = 802,
    system_driver_mismatch = 803,
    compat_not_supported_on_device = 804,
    mps_connection_failed = 805,
    mps_rpc_failure = 806,
    mps_server_not_ready = 807,
    mps_max_clients_reached = 808,
    mps_max_connections_reached = 809,
    mps_client_terminated = 810,
    cdp_not_supported = 811,
    cdp_version_mismatch = 812,
    stream_capture_unsupported = 900,
    stream_capture_invalidated = 901,
    stream_capture_merge = 902,
    stream_capture_unmatched = 903,
    stream_capture_unjoined = 904,
    stream_capture_isolation = 905,
    stream_capture_implicit = 906,
    captured_event = 907,
    stream_capture_wrong_thread = 908,
    external_device = 911,
    invalid_cluster_size = 912,
    function_not_loaded = 913,
    unknown = 999,
};

/// CUdevice_attribute.
enum class device_attribute : unsigned {
    max_threads_per_block = 1,
    max_block_dim_x = 2,
    max_block_dim_y = 3,
    max_block_dim_z = 4,
    max_grid_dim_x = 5,
    max_grid_dim_y = 6,
    max_grid_dim_z = 7,
    max_shared_memory_per_block = 8,
    warp_size = 10,
    max_pitch = 11,
    multiprocessor_count = 16,
    kernel_exec_timeout = 17,
    integrated = 18,
    can_map_host_memory = 19,
    compute_mode = 20,
    concurrent_kernels = 31,
    pci_bus_id = 33,
    pci_device_id = 34,
    max_threads_per_multiprocessor = 39,
    async_engine_count = 40,
    unified_addressing = 41,
    pci_domain_id = 50,
    compute_capability_major = 75,
    compute_capability_minor = 76,
    stream_priorities_supported = 78,
    managed_memory = 83,
    pageable_memory_access = 88,
    concurrent_managed_access = 89,
    can_use_host_pointer_for_registered_mem = 91,
    max_shared_memory_per_block_optin = 97,
    host_register_supported = 99,
    pageable_memory_access_uses_host_page_tables = 100,
    max_blocks_per_multiprocessor = 106,
    reserved_shared_memory_per_block = 111,
    read_only_host_register_supported = 113,
    memory_pools_supported = 115,
    /// Of cuStreamWriteValue64_v2; 93 is that of the first version. The 32-bit one of the second has no attribute.
    can_use_64_bit_stream_mem_ops = 122,
};

enum class compute_mode : unsigned { normal = 0, prohibited = 2, exclusive_process = 3 };

/// Flags of the functions, to be or-ed: they are plain numbers in the driver's prototypes too.
inline constexpr unsigned context_schedule_auto = 0x00;
inline constexpr unsigned context_schedule_blocking_sync = 0x04;
inline constexpr unsigned context_map_host = 0x08;
inline constexpr unsigned stream_default = 0x0;
inline constexpr unsigned stream_non_blocking = 0x1;
inline constexpr unsigned event_default = 0x0;
inline constexpr unsigned event_blocking_sync = 0x1;
inline constexpr unsigned event_disable_timing = 0x2;
inline constexpr unsigned event_wait_default = 0x0;
inline constexpr unsigned write_value_default = 0x0; ///< the only one of the second version
inline constexpr unsigned host_alloc_portable = 0x01;
inline constexpr unsigned host_alloc_device_map = 0x02;
inline constexpr unsigned host_alloc_write_combined = 0x04;
inline constexpr unsigned host_register_portable = 0x01;
inline constexpr unsigned host_register_device_map = 0x02;
inline constexpr unsigned host_register_read_only = 0x08;

/// CUdriverProcAddress_flags: streams of the plain functions, not of those for a default stream a thread.
inline constexpr std::uint64_t proc_address_legacy_stream = 1;
enum class proc_address_status : unsigned { success = 0, symbol_not_found = 1, version_not_sufficient = 2 };

enum class capture_status : unsigned { none = 0, active = 1, invalidated = 2 };
enum class capture_mode : unsigned { global = 0, thread_local_ = 1, relaxed = 2 };
enum class loading_mode : unsigned { eager = 1, lazy = 2 };

/// CUfunction_attribute.
enum class function_attribute : unsigned {
    max_threads_per_block = 0,
    shared_size_bytes = 1,
    const_size_bytes = 2,
    local_size_bytes = 3,
    num_regs = 4,
    ptx_version = 5,
    binary_version = 6,
    max_dynamic_shared_size_bytes = 8,
    preferred_shared_memory_carveout = 9,
};

/// CUjit_option.
enum class jit_option : unsigned {
    max_registers = 0,
    info_log_buffer = 3,
    info_log_buffer_size_bytes = 4,
    error_log_buffer = 5,
    error_log_buffer_size_bytes = 6,
    optimization_level = 7,
    generate_debug_info = 11,
    log_verbose = 12,
    generate_line_info = 13,
};

/// CUpointer_attribute.
enum class pointer_attribute : unsigned {
    context = 1,
    memory_type = 2,
    device_pointer = 3,
    host_pointer = 4,
    sync_memops = 6,
    buffer_id = 7,
    is_managed = 8,
    device_ordinal = 9,
    range_start_addr = 11,
    range_size = 12,
    mapped = 13,
    mempool_handle = 17,
};

enum class memory_type : unsigned { host = 1, device = 2, array = 3, unified = 4 };

/// CUmemPool_attribute.
enum class pool_attribute : unsigned {
    reuse_follow_event_dependencies = 1,
    reuse_allow_opportunistic = 2,
    reuse_allow_internal_dependencies = 3,
    release_threshold = 4,
    reserved_mem_current = 5,
    reserved_mem_high = 6,
    used_mem_current = 7,
    used_mem_high = 8,
};

enum class allocation_type : unsigned { invalid = 0, pinned = 1 };
enum class handle_type : unsigned { none = 0, posix_file_descriptor = 1 };
enum class location_type : unsigned { invalid = 0, device = 1 };
enum class access_flags : unsigned { none = 0, read = 1, read_write = 3 };

/// CUuuid.
struct uuid {
    char bytes[16];
};

/// CUmemLocation.
struct memory_location {
    location_type type;
    int id;
};

/// CUmemAccessDesc.
struct access_description {
    memory_location location;
    access_flags flags;
};

/// CUmemPoolProps.
struct pool_properties {
    allocation_type type;
    handle_type handles;
    memory_location location;
    void* security_attributes;
    std::size_t max_size; ///< 0: the driver chooses
    unsigned short usage;
    unsigned char reserved[54];
};

/// One side of a copy between pitched blocks. `Host` is void, const on the side that is read.
template <class Host>
struct plane_2d {
    std::size_t x_in_bytes;
    std::size_t y;
    memory_type type;
    Host* host;
    device_address address;
    array_handle array;
    std::size_t pitch;
};

/// CUDA_MEMCPY2D.
struct copy_2d {
    plane_2d<void const> from;
    plane_2d<void> to;
    std::size_t width_in_bytes;
    std::size_t height;
};

/// One side of a copy between boxes.
template <class Host>
struct box_3d {
    std::size_t x_in_bytes;
    std::size_t y;
    std::size_t z;
    std::size_t level;
    memory_type type;
    Host* host;
    device_address address;
    array_handle array;
    context_handle owner;
    std::size_t pitch;
    std::size_t height;
};

/// CUDA_MEMCPY3D_PEER, and CUDA_MEMCPY3D, where the place of `owner` is reserved and must be null.
struct copy_3d {
    box_3d<void const> from;
    box_3d<void> to;
    std::size_t width_in_bytes;
    std::size_t height;
    std::size_t depth;
};

} // namespace omp_co::cuda::driver
