// SPDX-License-Identifier: BSL-1.0
// Counters of one device.
#pragma once

#include <cstddef>
#include <cstdint>

namespace omp_co {

/// What a device has done so far, and what it holds now. Failed regions move no bytes here.
struct device_statistics {
    std::uint64_t regions = 0;    ///< retired: constructs of every kind
    std::uint64_t copies_in = 0;  ///< motions host to device
    std::uint64_t copies_out = 0; ///< motions device to host
    std::uint64_t bytes_in = 0;
    std::uint64_t bytes_out = 0;
    std::size_t in_flight = 0;     ///< regions accepted and not retired
    std::size_t mapped_ranges = 0; ///< ranges with a count above zero
    std::size_t device_bytes = 0;  ///< bytes of device blocks in use, rounded up to their size classes
};

} // namespace omp_co
