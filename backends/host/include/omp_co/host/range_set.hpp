// SPDX-License-Identifier: BSL-1.0
// A set of bytes of memory, kept as ranges that do not touch.
#pragma once

#include <omp_co/host/poison.hpp>

#include <algorithm>
#include <iterator>
#include <map>

namespace omp_co::host {

class range_set {
public:
    /// Throws std::bad_alloc, and then nothing has changed.
    void add(memory_range r)
    {
        if (r.empty()) return;
        auto it = ranges_.upper_bound(r.begin);
        if (it != ranges_.begin() && std::prev(it)->second >= r.begin) --it;
        if (it == ranges_.end() || it->first > r.begin) it = ranges_.emplace_hint(it, r.begin, r.end);
        it->second = std::max(it->second, r.end);
        for (auto next = std::next(it); next != ranges_.end() && next->first <= it->second;) {
            it->second = std::max(it->second, next->second);
            next = ranges_.erase(next);
        }
    }

    /// Calls `f(part)` for each part of `r` that was in the set, and takes it out. Short of memory to keep what is behind `r` of
    /// a range that reaches beyond both its ends, takes that out too.
    template <class F>
    void remove(memory_range r, F f) noexcept
    {
        if (r.empty()) return;
        auto it = ranges_.upper_bound(r.begin);
        if (it != ranges_.begin() && std::prev(it)->second > r.begin) --it;
        while (it != ranges_.end() && it->first < r.end) {
            memory_range const old{it->first, it->second};
            memory_range part{std::max(old.begin, r.begin), std::min(old.end, r.end)};
            if (old.end > part.end) {
                try {
                    ranges_.emplace(part.end, old.end);
                } catch (...) {
                    part.end = old.end;
                }
            }
            if (old.begin < part.begin) {
                it->second = part.begin;
                ++it;
            } else {
                it = ranges_.erase(it);
            }
            f(part);
            if (part.end >= r.end) return;
        }
    }

    template <class F>
    void for_each(F f) const
    {
        for (auto const& [begin, end] : ranges_) f(memory_range{begin, end});
    }

private:
    std::map<char*, char*> ranges_;
};

} // namespace omp_co::host
