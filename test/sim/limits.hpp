// SPDX-License-Identifier: BSL-1.0
// What a simulated device can do: the same numbers in its attributes, in launches and in occupancy.
#pragma once

namespace omp_co_sim::limits {

inline constexpr int threads_of_block = 1024;
inline constexpr int block_z = 64;
inline constexpr int grid_x = 2147483647;
inline constexpr int grid_yz = 65535;
inline constexpr int pitch = 2147483647; ///< of copies of boxes
inline constexpr int warp = 32;
inline constexpr int multiprocessors = 16;
inline constexpr int threads_of_multiprocessor = 2048;
inline constexpr int blocks_of_multiprocessor = 32;
inline constexpr int shared_of_block = 49152;
inline constexpr int shared_of_block_on_request = 101376;
inline constexpr int shared_of_multiprocessor = 102400;
inline constexpr int shared_reserved = 1024; ///< of each block

} // namespace omp_co_sim::limits
