// SPDX-License-Identifier: BSL-1.0
// What motions of a structure touch when some of its pointers are joined to mapped data: all but those pointers, so that
// each side keeps its own.
#pragma once

#include <omp_co/detail/map_item.hpp>
#include <omp_co/error.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace omp_co::detail {

/// Calls `f(offset, bytes)`, until it gives an error, for every part of `item` that moves, first to last.
template <class F>
error_code for_each_gap(map_item const& item, F f) noexcept
{
    try {
        constexpr auto size = static_cast<std::ptrdiff_t>(sizeof(void*));
        std::vector<std::ptrdiff_t> pointers; // where they begin; one may reach in from before the item
        for (attachment_record const* a = item.joined; a != nullptr; a = a->next)
            if (a->at + size > item.begin() && a->at < item.end()) pointers.push_back(a->at - item.begin());
        std::sort(pointers.begin(), pointers.end());
        backend::box whole;
        whole.row = item.bytes;
        backend::box const& rows = item.shape == nullptr ? whole : *item.shape;
        error_code ec;
        rows.for_each_row([&](std::size_t first, std::size_t) {
            auto at = static_cast<std::ptrdiff_t>(first);
            std::ptrdiff_t const end = at + static_cast<std::ptrdiff_t>(rows.row);
            auto const move = [&](std::ptrdiff_t until) {
                if (until > at && !ec)
                    ec = f(static_cast<std::size_t>(at), static_cast<std::size_t>(until - at));
            };
            auto next = std::upper_bound(pointers.begin(), pointers.end(), at - size);
            for (; next != pointers.end() && *next < end; ++next) {
                move(*next);
                at = std::max(at, *next + size);
            }
            move(end);
        });
        return ec;
    } catch (...) {
        return make_error_code(errc::out_of_memory);
    }
}

} // namespace omp_co::detail
