// SPDX-License-Identifier: BSL-1.0
// What a region leaves outdated on the host, for a device that wants to know.
#pragma once

#include <omp_co/detail/joined_pointers.hpp>
#include <omp_co/detail/present_table.hpp>
#include <omp_co/detail/region.hpp>

#include <cstddef>

namespace omp_co::detail {

/// A copy to mapped memory on the device whose address was given. From its own place on the host it makes both equal.
inline void tell_copied_to(backend::host_watch& watch, map_item const& item, present_entry const& e) noexcept
{
    if (e.joined != nullptr) return;
    char* const host = e.range.begin + (static_cast<char*>(item.device) - e.block);
    if (item.has(map_copy_in) && item.host == host) return;
    if (item.shape == nullptr) return watch.outdated(host, item.bytes);
    item.shape->for_each_row(
        [&](std::size_t at, std::size_t) { watch.outdated(host + at, item.shape->row); });
}

/// What a kernel had to write of an entry. Of a structure that a mapper reads, and of joined pointers, the host's own values go
/// on counting. Without a length it had all of the entry.
inline void tell_written(backend::host_watch& watch, map_item const& item, present_entry const& e) noexcept
{
    if (item.has(map_structure)) return;
    if (item.bytes != 0 && item.joined == nullptr) return watch.outdated(item.host, item.bytes);
    if (item.bytes != 0)
        return static_cast<void>(for_each_gap(item, [&](std::size_t at, std::size_t bytes) {
            watch.outdated(item.begin() + at, bytes);
            return error_code();
        }));
    if (e.joined == nullptr) watch.outdated(e.range.begin, e.bytes());
}

/// Called when the region has ended and before its entries are let go. After a failure the host's copy, as it was, is the only
/// one whose state is known.
inline void tell(backend::host_watch& watch, region& r) noexcept
{
    if (r.error || (r.call != nullptr && r.call->range.total() == 0)) return;
    for (map_item const& item : r.maps()) {
        present_entry const* const e = item.entry;
        if (e == nullptr || e->orphan || e->allocation || !item.has(map_written)) continue;
        if (item.has(map_raw))
            tell_copied_to(watch, item, *e);
        else
            tell_written(watch, item, *e);
    }
    for (map_item const& item : r.maps()) // behind the kernel
        if (item.has(map_copy_out) && !item.has(map_raw) && item.shape == nullptr)
            watch.renewed(item.host, item.bytes);
}

} // namespace omp_co::detail
