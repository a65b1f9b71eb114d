// SPDX-License-Identifier: BSL-1.0
// OMP_CO_CHECK=races: two regions in flight that touch the same mapped bytes, one of them writing, with nothing that orders them.
//
// What orders two regions is a chain of depend clauses, a queue of their device that one of them is on, for the table orders its regions
// among all others on their data, or that one was awaited before the other one started, and then it is not in flight. That a device
// happens to run them one after the other does not count. Two devices know nothing of each other's queues; a region of a queue whose
// await may have ended, since the host's memory was read, is only compared for what it writes there.
#pragma once

#include <omp_co/detail/map_item.hpp>
#include <omp_co/detail/present_table.hpp>
#include <omp_co/detail/region.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace omp_co::detail {

/// OMP_CO_CHECK. False: it is not understood.
inline bool read_checks(char const* text, bool& races) noexcept
{
    std::string_view const given = text == nullptr ? std::string_view() : std::string_view(text);
    races = given == "races";
    return races || given.empty() || given == "none";
}

/// One region, from when it gets its place in the order until it ends.
struct checked_region {
    /// Memory that it touches: of a device, or the host's (null).
    struct access {
        void const* space;
        byte_range range;
        bool writes;
        std::string clause;
    };

    stream_clock const* queue = nullptr;
    void const* device = nullptr;
    std::size_t index = 0;             ///< among those that have not ended
    std::vector<std::uint64_t> before; ///< bit i: it comes behind the one with that index
    std::vector<access> accesses;
    std::string name;

    bool comes_behind(std::size_t other) const noexcept
    {
        return other / 64 < before.size() && (before[other / 64] >> other % 64 & 1) != 0;
    }
};

class race_checker {
public:
    race_checker()
    {
        (void)read_checks(std::getenv("OMP_CO_CHECK"), on_at_start_);
        on_ = on_at_start_;
    }

    bool on() const noexcept { return on_.load(std::memory_order_relaxed); }
    void turn(bool on) noexcept
    {
        std::lock_guard guard(mutex_);
        on_.store(on, std::memory_order_relaxed);
        if (on) return;
        records_.clear(); // nobody says any more when they end
        in_use_.clear();
        told_.clear();
    }
    std::uint64_t found() const noexcept { return found_.load(std::memory_order_relaxed); }

    /// A region has got its place behind others that have not ended.
    template <class Predecessors, class RegionOf>
    void ordered(region const& r, Predecessors const& predecessors, RegionOf region_of) noexcept
    try {
        std::lock_guard guard(mutex_);
        checked_region& mine = record_of(r);
        for (auto const& p : predecessors) {
            auto const at = records_.find(region_of(p));
            if (at == records_.end()) continue;
            come_behind(mine, *at->second);
        }
    } catch (std::bad_alloc const&) { // then it may be reported for nothing
    }

    /// It was accepted, and what it moves is decided. `unified`: the device works in the host's memory.
    void accepted(region& r, void const* device, int number, bool unified) noexcept
    try {
        std::lock_guard guard(mutex_);
        checked_region& mine = record_of(r);
        mine.name = r.name().empty() ? "a region" : std::string(r.name());
        mine.name += number < 0 ? " on a virtual device" : " on device " + std::to_string(number);
        mine.device = device;
        mine.queue = r.way == region::queued ? r.stream : nullptr;
        for (map_item const& item : r.maps()) note(mine, item, unified ? nullptr : device);
        for (auto const& [other, theirs] : records_)
            if (other != &r && are_ordered(mine, *theirs)) come_behind(mine, *theirs);
        for (auto const& [other, theirs] : records_)
            if (other != &r) compare(mine, *theirs);
    } catch (std::bad_alloc const&) {
    }

    void ended(region const& r) noexcept
    {
        std::lock_guard guard(mutex_);
        auto const at = records_.find(&r);
        if (at == records_.end()) return;
        std::size_t const index = at->second->index;
        records_.erase(at);
        for (auto const& [other, theirs] : records_)
            if (index / 64 < theirs->before.size())
                theirs->before[index / 64] &= ~(std::uint64_t{1} << index % 64);
        in_use_[index] = false;
    }

private:
    using bits = std::vector<std::uint64_t>;

    checked_region& record_of(region const& r)
    {
        std::unique_ptr<checked_region>& record = records_[&r];
        if (record != nullptr) return *record;
        record = std::make_unique<checked_region>();
        std::size_t index = 0;
        while (index < in_use_.size() && in_use_[index]) ++index;
        if (index == in_use_.size()) in_use_.push_back(false);
        in_use_[index] = true;
        record->index = index;
        return *record;
    }

    static void come_behind(checked_region& mine, checked_region const& theirs)
    {
        bits& into = mine.before;
        into.resize(std::max({into.size(), theirs.before.size(), theirs.index / 64 + 1}));
        for (std::size_t i = 0; i < theirs.before.size(); ++i) into[i] |= theirs.before[i];
        into[theirs.index / 64] |= std::uint64_t{1} << theirs.index % 64;
    }

    // Two of which one is on a queue, in the order in which their device accepted them.
    static bool are_ordered(checked_region const& mine, checked_region const& theirs) noexcept
    {
        if (mine.queue == nullptr && theirs.queue == nullptr) return false;
        if (mine.queue == theirs.queue) return true;
        checked_region::access const *x = nullptr, *y = nullptr;
        return mine.device == theirs.device && clash(mine, theirs, x, y);
    }

    // The first two accesses of which one writes what the other one touches. `by_device`: their devices see that copies in come behind
    // copies out, and what has been read is not in flight any more.
    static bool clash(checked_region const& a, checked_region const& b, checked_region::access const*& x,
                      checked_region::access const*& y, bool by_device = false) noexcept
    {
        for (checked_region::access const& mine : a.accesses)
            for (checked_region::access const& theirs : b.accesses) {
                if (mine.space != theirs.space || !(mine.writes || theirs.writes) ||
                    !mine.range.overlaps(theirs.range))
                    continue;
                if (by_device && (!mine.writes || (b.queue != nullptr && !theirs.writes))) continue;
                x = &mine;
                y = &theirs;
                return true;
            }
        return false;
    }

    // On the device what the clause says, and on the host what moves.
    static void note(checked_region& mine, map_item const& item, void const* device)
    {
        if (item.has(map_attach | map_attach_target | map_device | map_unordered) || item.bytes == 0) return;
        byte_range on_host{item.begin(), item.end()};
        byte_range on_device = on_host;
        if (item.has(map_raw)) {
            char* const at = static_cast<char*>(item.device);
            on_device = {at, at + item.bytes};
            if (present_entry const* const e = item.entry; e != nullptr && !e->allocation)
                on_device = {e->range.begin + (at - e->block), e->range.begin + (at - e->block) + item.bytes};
        }
        bool const writes = item.has(map_written) || (item.has(map_update) && item.has(map_to));
        bool const touches = writes || item.has(map_used | map_copy_in | map_copy_out | map_update);
        if (touches) mine.accesses.push_back({device, on_device, writes, clause_text(item)});
        bool const moves = item.has(map_copy_in | map_copy_out) && !item.has(map_within);
        if (moves) mine.accesses.push_back({nullptr, on_host, item.has(map_copy_out), clause_text(item)});
    }

    // `a` was accepted later.
    void compare(checked_region const& a, checked_region const& b)
    {
        if (a.comes_behind(b.index) || b.comes_behind(a.index)) return;
        bool const on_queue = a.queue != nullptr || b.queue != nullptr;
        if (on_queue && a.device == b.device) return;
        checked_region::access const *x = nullptr, *y = nullptr;
        if (clash(a, b, x, y, on_queue)) report(a, *x, b, *y);
    }

    void report(checked_region const& a, checked_region::access const& x, checked_region const& b,
                checked_region::access const& y)
    {
        found_.fetch_add(1, std::memory_order_relaxed);
        byte_range const both{std::max(x.range.begin, y.range.begin), std::min(x.range.end, y.range.end)};
        char range[64];
        std::snprintf(range, sizeof range, "[%p, %p)", static_cast<void*>(both.begin),
                      static_cast<void*>(both.end));
        std::string const text = "omp_co: race: " + a.name + ", " + x.clause + ", and " + b.name + ", " +
                                 y.clause + ", are in flight without an order; both touch " + range +
                                 (x.space == nullptr ? " of the host\n" : "\n");
        if (told_.size() < most_told && told_.insert(text).second)
            (void)std::fwrite(text.data(), 1, text.size(), stderr);
    }

    static constexpr std::size_t most_told = 4096;

    std::atomic<bool> on_{false};
    std::atomic<std::uint64_t> found_{0};
    bool on_at_start_ = false;
    std::mutex mutex_; // behind any device's and the dependence_graph's
    std::unordered_map<region const*, std::unique_ptr<checked_region>> records_;
    std::vector<bool> in_use_;
    std::unordered_set<std::string> told_; ///< each but once: a loop would say the same for ever
};

} // namespace omp_co::detail
