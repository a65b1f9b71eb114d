// SPDX-License-Identifier: BSL-1.0
// Who must fail, and who may, when a region of the model fails: whoever relies on what that region brought,
// be it through a mapping or through a block whose copy in was spared.
#pragma once

#include "played.hpp"

#include <array>
#include <cstddef>
#include <map>
#include <vector>

namespace model {

class blame {
public:
    blame(played_regions const& regions, char const* memory) : regions_(regions), memory_(memory) {}

    /// A region has its effects and its motions. `revived`: entries that it found dying.
    void accepted(played_region& r, std::vector<present_entry*> const& revived)
    {
        byte_set const in = r.moved(detail::map_copy_in);
        byte_set const spared = r.effect.in & ~in;
        for (std::size_t i = 0; i < r.items.size(); ++i) note_spared(r, i, spared, revived);
        for (map_item const& item : r.items) {
            if (item.entry == nullptr || !item.has(detail::map_created)) continue;
            for (std::size_t b : bytes_of(*item.entry))
                if (!spared[b]) history_[item.entry].filled_by[b] = only(r.id);
        }
        for (std::size_t i = 0; i < r.items.size(); ++i) note_use(r, i, in);
        note_mappings(r);
    }

    /// A region fails, though nobody may know yet; and so will all who rely on it.
    void doom(played_region const& first)
    {
        failed_ |= only(first.id);
        for (auto const& r : regions_)
            if (r->in_flight() && must_fail(*r)) failed_ |= only(r->id);
    }

    region_set failed() const { return failed_; }
    bool must_fail(played_region const& r) const { return (r.relies_on & failed_) != 0; }

    /// A region may also fail for one that filled the same block before it, though it relied on nothing in there.
    bool may_fail(played_region const& r) const { return ((r.relies_on | r.older) & failed_) != 0; }

private:
    /// What happened to the block of an entry, through all its lives.
    struct history {
        std::array<region_set, memory_size> filled_by{}; ///< each byte of the block
        region_set users = 0;                            ///< that others may have relied on
    };

    void note_spared(played_region& r, std::size_t i, byte_set const& spared,
                     std::vector<present_entry*> const& revived)
    {
        map_item const& item = r.items[i];
        if (item.entry == nullptr || item.bytes == 0) return;
        bool const again = std::find(revived.begin(), revived.end(), item.entry) != revived.end();
        if (item.has(detail::map_created) && !again) history_[item.entry] = {};
        byte_set const mine = r.clauses[i].host_bytes() & spared;
        for (std::size_t b = 0; b < memory_size; ++b)
            if (mine[b]) r.relies_on |= history_[item.entry].filled_by[b] & in_flight();
    }

    void note_use(played_region& r, std::size_t i, byte_set const& in)
    {
        map_item const& item = r.items[i];
        if (item.entry == nullptr) return;
        history& past = history_[item.entry];
        r.older |= past.users & ~only(r.id);
        if (item.has(detail::map_created | detail::map_copy_in | detail::map_within | detail::map_fill))
            past.users |= only(r.id);
        byte_set const filled = r.clauses[i].host_bytes() & in;
        for (std::size_t b = 0; b < memory_size; ++b)
            if (filled[b]) past.filled_by[b] = only(r.id);
    }

    // A mapping is relied on by all who use it after those who filled it.
    void note_mappings(played_region& r)
    {
        for (auto const& earlier : regions_) {
            if (!earlier->in_flight()) continue;
            for (std::size_t i = 0; i < r.clauses.size(); ++i)
                for (int const m : earlier->effect.filled)
                    if (relies(r.clauses[i]) && r.effect.mappings[i] == m) r.relies_on |= only(earlier->id);
        }
        if (must_fail(r)) failed_ |= only(r.id);
    }

    // A map of no length only looks up.
    static bool relies(clause const& c) { return c.count != 0 || c.what == type::device; }

    region_set in_flight() const
    {
        region_set all = 0;
        for (auto const& r : regions_)
            if (r->in_flight()) all |= only(r->id);
        return all;
    }

    std::vector<std::size_t> bytes_of(present_entry const& e) const
    {
        std::vector<std::size_t> all;
        for (char const* p = e.range.begin; p != e.range.end; ++p) all.push_back(std::size_t(p - memory_));
        return all;
    }

    played_regions const& regions_;
    char const* memory_;
    std::map<present_entry*, history> history_;
    region_set failed_ = 0;
};

} // namespace model
