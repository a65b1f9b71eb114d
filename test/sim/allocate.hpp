// SPDX-License-Identifier: BSL-1.0
// Device memory: what cuMemAlloc, the pools and modules share.
#pragma once

#include "driver.hpp"

namespace omp_co_sim {

/// Throws out of memory when more than `available` would be needed.
std::shared_ptr<allocation> allocate_on_device(session& s, device& d, std::size_t size, memory_kind kind,
                                               std::size_t available);

/// What is left of the device's memory.
std::size_t available(device const& d);

/// The allocation that begins at `address`; reports what else it is and throws.
std::shared_ptr<allocation> freeable(session& s, CUdeviceptr address);

} // namespace omp_co_sim
