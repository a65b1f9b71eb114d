// SPDX-License-Identifier: BSL-1.0
// How long a region took on its device.
#pragma once

#include <chrono>
#include <cstdint>

namespace omp_co::backend {

/// Filled by the stream that a region runs on.
struct timing {
    std::chrono::nanoseconds elapsed{0};
    std::int64_t begin = 0;               ///< as the backend likes
    void* events[2] = {nullptr, nullptr}; ///< as the backend likes
    bool measured = false;                ///< its end was enqueued
};

} // namespace omp_co::backend
