// SPDX-License-Identifier: BSL-1.0
// How a host device is made.
#pragma once

#include <chrono>
#include <cstddef>
#include <thread>

namespace omp_co::host {

/// The cores less one, for the event loop; at least one.
inline unsigned default_workers() noexcept
{
    unsigned const cores = std::thread::hardware_concurrency();
    return cores > 2 ? cores - 1 : 1;
}

struct options {
    /// Threads that run kernels and copies. 0: they run in the call that starts them, as on LLVM's host device.
    unsigned workers = default_workers();
    /// Device memory is host memory: nothing is copied.
    bool unified_memory = false;
    /// How long a worker without work spins before it sleeps.
    std::chrono::nanoseconds spin = std::chrono::microseconds(50);
    /// Bytes of device memory; 0: as much as the host has.
    std::size_t memory = 0;
    /// Finds forgotten maps and stale reads, in programs built with AddressSanitizer; else, or with unified_memory, making the
    /// device is an error. Kernels run one at a time in the call that starts them, whatever `workers` says. Reported is who touches
    /// - on the host: mapped data while the device's copy is newer, and the device's memory;
    /// - in a kernel: host memory that is mapped, or that its closure or firstprivate values point to.
    /// While a kernel runs no other thread of the program may use such memory. More in docs/design/strict.md.
    bool strict = false;
};

} // namespace omp_co::host
