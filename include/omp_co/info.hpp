// SPDX-License-Identifier: BSL-1.0
// What omp_co says of its work on stderr (LLVM's LIBOMPTARGET_INFO).
#pragma once

#include <omp_co/detail/info.hpp>

namespace omp_co {

/// Which lines are written from now on, as OMP_CO_INFO says for the beginning: a sum of
///     0x01  the data clauses of each region
///     0x02  data that is mapped already
///     0x04  all that is mapped, when a region fails or is refused
///     0x08  mappings that begin, end, or change their count
///     0x20  copies
/// Each line names the device and, where there is one, the region's name(). Any thread.
inline void set_info(unsigned bits) noexcept
{
    detail::info_bits().store(bits & detail::info_all, std::memory_order_relaxed);
}

} // namespace omp_co
