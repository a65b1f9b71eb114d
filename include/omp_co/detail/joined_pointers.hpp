// SPDX-License-Identifier: BSL-1.0
// The bytes of a mapped structure between its joined pointers.
#pragma once

#include <omp_co/detail/map_item.hpp>
#include <omp_co/detail/present_table.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace omp_co::detail {

/// Calls `f(offset, bytes)` for what a motion may touch of a structure some of whose pointers are joined: each side keeps its
/// own pointers.
template <class F>
error_code for_each_gap(map_item const& item, F f) noexcept
{
    try {
        std::vector<std::size_t> pointers;
        for (attachment_record const* a = item.joined; a != nullptr; a = a->next)
            if (a->at >= item.begin() && a->at < item.end())
                pointers.push_back(static_cast<std::size_t>(a->at - item.begin()));
        std::sort(pointers.begin(), pointers.end());
        backend::box whole;
        whole.row = item.bytes;
        error_code ec;
        (item.shape == nullptr ? whole : *item.shape).for_each_row([&](std::size_t at, std::size_t) {
            std::size_t const end = at + (item.shape == nullptr ? item.bytes : item.shape->row);
            auto next = std::lower_bound(pointers.begin(), pointers.end(), at);
            while (at < end && !ec) {
                std::size_t const stop = next == pointers.end() ? end : std::min(end, *next);
                if (stop > at) ec = f(at, stop - at);
                at = stop + (stop < end ? sizeof(void*) : 0);
                if (next != pointers.end()) ++next;
                if (stop == end) break;
            }
        });
        return ec;
    } catch (...) {
        return make_error_code(errc::out_of_memory);
    }
}

} // namespace omp_co::detail
