// SPDX-License-Identifier: BSL-1.0
// What a device says about itself, read once and without a context.
#pragma once

#include <omp_co/cuda/driver.hpp>

#include <cstddef>
#include <string>

namespace omp_co::cuda::engine {

struct limits {
    std::string name;
    std::size_t memory = 0;
    int architecture = 0; ///< 10 * major + minor
    unsigned max_threads = 0;
    unsigned max_block[3]{};
    unsigned max_grid[3]{};
    std::size_t max_pitch = 0;          ///< bytes from row to row of a copy
    std::size_t shared_bytes = 0;       ///< of a block, without asking
    std::size_t shared_bytes_optin = 0; ///< of a block, when a kernel asks for it
    bool pools = false;
    bool write_value_64 = false;
    bool usable = false; ///< not reserved (compute mode "prohibited")
};

/// What a block or grid may be in one dimension.
inline constexpr char const* block_limit_names[3]{"max_block_dim_x", "max_block_dim_y", "max_block_dim_z"};
inline constexpr char const* grid_limit_names[3]{"max_grid_dim_x", "max_grid_dim_y", "max_grid_dim_z"};

inline limits read_limits(driver::api const& d, driver::device_number number)
{
    using driver::device_attribute;
    auto const ask = [&](device_attribute a) {
        int value = 0;
        return d.device_get_attribute(&value, a, number) == driver::result::success ? value : 0;
    };
    auto const ask_unsigned = [&](device_attribute a) { return static_cast<unsigned>(ask(a)); };
    limits l;
    char name[256]{};
    if (d.device_get_name(name, sizeof name - 1, number) == driver::result::success) l.name = name;
    (void)d.device_total_mem(&l.memory, number);
    l.architecture = 10 * ask(device_attribute::compute_capability_major) +
                     ask(device_attribute::compute_capability_minor);
    l.max_threads = ask_unsigned(device_attribute::max_threads_per_block);
    l.max_block[0] = ask_unsigned(device_attribute::max_block_dim_x);
    l.max_block[1] = ask_unsigned(device_attribute::max_block_dim_y);
    l.max_block[2] = ask_unsigned(device_attribute::max_block_dim_z);
    l.max_grid[0] = ask_unsigned(device_attribute::max_grid_dim_x);
    l.max_grid[1] = ask_unsigned(device_attribute::max_grid_dim_y);
    l.max_grid[2] = ask_unsigned(device_attribute::max_grid_dim_z);
    l.max_pitch = ask_unsigned(device_attribute::max_pitch);
    l.shared_bytes = ask_unsigned(device_attribute::max_shared_memory_per_block);
    l.shared_bytes_optin = ask_unsigned(device_attribute::max_shared_memory_per_block_optin);
    if (l.shared_bytes_optin < l.shared_bytes) l.shared_bytes_optin = l.shared_bytes;
    l.pools = ask(device_attribute::memory_pools_supported) != 0;
    l.write_value_64 = ask(device_attribute::can_use_64_bit_stream_mem_ops) != 0;
    l.usable = ask(device_attribute::compute_mode) != static_cast<int>(driver::compute_mode::prohibited);
    return l;
}

} // namespace omp_co::cuda::engine
