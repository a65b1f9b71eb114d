// SPDX-License-Identifier: BSL-1.0
// Checks of a program while it runs.
#pragma once

#include <omp_co/detail/registry.hpp>

#include <cstdint>

namespace omp_co {

/// Checks regions for data races from now on, as the environment variable OMP_CO_CHECK=races does from the start; false: no
/// longer. Two regions that are in flight together, touch the same mapped bytes, and of which one writes, are reported on stderr with
/// their names, their clauses and the range, unless something orders them: depend clauses, a queue, or that one was awaited
/// before the other one was started. A queue orders its regions among all others of its device, and none of another device's. Each
/// finding is told once, up to 4,096 different ones, and counted every time. What has ended before the other one starts is not in
/// flight, awaited or not: a slow device shows more.
///
/// What a kernel really touches is not known: a clause stands for all of the memory that it names. Memory that a kernel reaches
/// by is_device_ptr() is left out, and so are copies between devices and what runs on the initial device. Thread safety: any
/// thread. It costs a comparison with every region in flight, and nothing when it is off.
inline void check_races(bool on) noexcept { detail::registry::instance().races().turn(on); }

/// How many pairs of regions have been reported.
inline std::uint64_t races_found() noexcept { return detail::registry::instance().races().found(); }

} // namespace omp_co
