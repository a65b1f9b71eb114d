// SPDX-License-Identifier: BSL-1.0
// Data clauses as the data environment takes them, made without the constructs. test/units/clauses.cpp
// holds them against what the constructs make.
#pragma once

#include <omp_co/detail/data_environment.hpp>

#include <cstddef>
#include <cstdint>

namespace bed {

using omp_co::errc;
using omp_co::detail::map_item;

inline constexpr std::uint32_t always = omp_co::detail::map_always;
inline constexpr std::uint32_t present = omp_co::detail::map_present;

inline map_item item(std::uint32_t flags, void const* p, std::size_t bytes)
{
    map_item i;
    i.host = const_cast<void*>(p);
    i.device = i.host; // as the constructs leave it
    i.bytes = bytes;
    i.flags = flags;
    return i;
}

// NOLINTBEGIN(bugprone-easily-swappable-parameters)
namespace target {

inline constexpr std::uint32_t both =
    omp_co::detail::map_enter | omp_co::detail::map_exit | omp_co::detail::map_used;
inline map_item to(void const* p, std::size_t n, std::uint32_t more = 0)
{
    return item(both | omp_co::detail::map_to | more, p, n);
}
inline map_item from(void* p, std::size_t n, std::uint32_t more = 0)
{
    return item(both | omp_co::detail::map_from | omp_co::detail::map_written | more, p, n);
}
inline map_item tofrom(void* p, std::size_t n, std::uint32_t more = 0)
{
    return item(both | omp_co::detail::map_to | omp_co::detail::map_from | omp_co::detail::map_written | more,
                p, n);
}
inline map_item alloc(void* p, std::size_t n, std::uint32_t more = 0)
{
    return item(both | omp_co::detail::map_written | more, p, n);
}

} // namespace target

namespace enter {

inline map_item to(void const* p, std::size_t n, std::uint32_t more = 0)
{
    return item(omp_co::detail::map_enter | omp_co::detail::map_to | more, p, n);
}
inline map_item alloc(void const* p, std::size_t n, std::uint32_t more = 0)
{
    return item(omp_co::detail::map_enter | more, p, n);
}

} // namespace enter

namespace exit {

inline map_item from(void* p, std::size_t n, std::uint32_t more = 0)
{
    return item(omp_co::detail::map_exit | omp_co::detail::map_from | more, p, n);
}
inline map_item release(void const* p, std::size_t n, std::uint32_t more = 0)
{
    return item(omp_co::detail::map_exit | more, p, n);
}
inline map_item delete_(void const* p, std::size_t n, std::uint32_t more = 0)
{
    return item(omp_co::detail::map_exit | omp_co::detail::map_remove | more, p, n);
}

} // namespace exit

namespace update {

inline map_item to(void const* p, std::size_t n, std::uint32_t more = 0)
{
    return item(omp_co::detail::map_update | omp_co::detail::map_to | more, p, n);
}
inline map_item from(void* p, std::size_t n, std::uint32_t more = 0)
{
    return item(omp_co::detail::map_update | omp_co::detail::map_from | more, p, n);
}

} // namespace update
// NOLINTEND(bugprone-easily-swappable-parameters)

} // namespace bed
