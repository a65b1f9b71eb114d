// SPDX-License-Identifier: BSL-1.0
// Which entry of the present table each data clause of a region means, and what cannot be asked for (OpenMP 5.2, 5.8.3: what is
// mapped in part is an error).
#pragma once

#include <omp_co/detail/map_item.hpp>
#include <omp_co/detail/present_table.hpp>
#include <omp_co/detail/refusal.hpp>

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <cstddef>
#include <cstdint>
#include <span>

namespace omp_co::detail {

/// Changes nothing but the items.
class entry_lookup {
public:
    explicit entry_lookup(present_table& table) noexcept : table_(table) {}

    /// What a look at a single clause tells.
    enum class presence : unsigned char {
        unclear, ///< nothing has changed, and check() and data_environment::reserve() say what is to be said
        present, ///< its entry is found, and has room for another use: they need not be called
        absent   ///< the clause brings the data, and nothing of it is there: check() need not be called
    };

    /// The usual cases in one step.
    [[gnu::hot, gnu::always_inline]] presence look(std::span<map_item> items) noexcept
    {
        if (items.size() != 1) return presence::unclear;
        map_item& item = items[0];
        if (item.has(map_raw) || item.bytes == 0 || !sensible(item)) return presence::unclear;
        byte_range const wanted{item.begin(), item.end()};
        present_entry* const e = table_.first_overlap(wanted);
        if (e == nullptr) {
            if ((item.flags & (map_enter | map_present)) != map_enter) return presence::unclear;
            item.leader = 0;
            item.flags |= map_created | map_disjoint;
            return presence::absent;
        }
        if (!e->live() || !e->range.covers(wanted)) return presence::unclear;
        if (e->uses.size() == e->uses.capacity()) return presence::unclear; // record() may add one
        item.leader = 0;
        item.entry = e;
        return presence::present;
    }

    /// Finds each clause's entry, groups those that need a new one, and reports the first clause that cannot be.
    /// Dying entries count as absent: what a program sees must not depend on how fast a device is.
    refusal check(std::span<map_item> items)
    {
        if (items.size() == 1) return find(items[0], 0); // no pointer to join, which has two
        if (!items.empty() && items[0].has(map_raw)) {
            for (map_item& item : items)
                if (refusal r = find_raw(item)) return r;
            return {};
        }
        order_.resize(items.size());
        for (std::uint32_t i = 0; i < items.size(); ++i) order_[i] = i;
        std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
            map_item const& l = items[a];
            map_item const& r = items[b];
            if (l.host != r.host) return l.host < r.host;
            if (l.bytes != r.bytes) return l.bytes > r.bytes;
            return l.has(map_enter) != r.has(map_enter) ? l.has(map_enter) : a < b; // who may bring it first
        });
        map_item const* group = nullptr;
        for (std::uint32_t const at : order_) {
            map_item& item = items[at];
            if (!sensible(item)) return {errc::invalid_argument, &item, {}};
            if (group != nullptr && item.bytes != 0 && item.begin() < group->end()) {
                if (item.end() > group->end())
                    return {errc::partially_present, &item, {group->begin(), group->end()}, group->name};
                if (item.has(map_present)) return {errc::not_present, &item, {}};
                item.leader = group->leader;
                continue;
            }
            if (refusal r = find(item, at)) return r;
            if (item.has(map_created)) group = &item;
        }
        for (std::uint32_t i = 0; i < items.size(); ++i)
            if (items[i].has(map_attach | map_attach_target) && items[i].bytes != 0 &&
                items[i].entry == nullptr && items[i].leader == i)
                return nowhere(items, items[i]);
        return {};
    }

private:
    static bool sensible(map_item const& item) noexcept
    {
        return item.bytes == 0 || (item.host != nullptr && item.end() > item.begin());
    }

    refusal find(map_item& item, std::uint32_t at) noexcept
    {
        if (item.has(map_raw)) return find_raw(item);
        item.leader = at;
        if (item.bytes == 0) { // only looks up; a kernel uses what it has found
            present_entry* e = nullptr;
            if (item.has(map_device))
                e = table_.at_device(item.host);
            else if (item.has(map_used))
                e = table_.holding(item.host);
            if (e != nullptr && e->live()) item.entry = e;
            return {};
        }
        if (!sensible(item)) return {errc::invalid_argument, &item, {}};
        byte_range const wanted{item.begin(), item.end()};
        present_entry* const first = table_.first_overlap(wanted);
        for (present_entry* e = first; e != nullptr; e = table_.next_overlap(e, wanted)) {
            if (!e->live()) continue;
            if (!e->range.covers(wanted)) return {errc::partially_present, &item, e->range, e->name};
            item.entry = e;
            return {};
        }
        if (item.has(map_present)) return {errc::not_present, &item, {}};
        if (item.has(map_enter)) item.flags |= first == nullptr ? map_created | map_disjoint : map_created;
        return {};
    }

    // What is to be joined is not there, or only a part of it.
    static refusal nowhere(std::span<map_item const> items, map_item const& item) noexcept
    {
        byte_range const wanted{item.begin(), item.end()};
        for (map_item const& other : items)
            if (byte_range const r{other.begin(), other.end()}; other.has(map_created) && r.overlaps(wanted))
                return {errc::partially_present, &item, r, other.name};
        return {errc::not_present, &item, {}};
    }

    refusal find_raw(map_item& item) noexcept
    {
        if (item.bytes == 0 || item.has(map_unordered)) return {};
        present_entry* e = table_.at_device(item.device, item.bytes);
        if (e == nullptr) e = table_.at_device(item.device);
        if (e == nullptr || !e->live()) return {}; // somebody else's memory
        char* const end = static_cast<char*>(item.device) + item.bytes;
        if (end > e->block + e->bytes())
            return {errc::invalid_argument, &item, {e->block, e->block + e->bytes()}};
        item.entry = e;
        return {};
    }

    present_table& table_;
    boost::container::small_vector<std::uint32_t, 16> order_; // of the items at hand, by address
};

} // namespace omp_co::detail
