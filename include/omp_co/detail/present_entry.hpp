// SPDX-License-Identifier: BSL-1.0
// One mapped host range of a device: its counts, who uses it, what of it is equal on both sides, and what never arrived.
#pragma once

#include <omp_co/backend.hpp>
#include <omp_co/detail/map_item.hpp>

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <boost/intrusive/list_hook.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

namespace omp_co::detail {

/// How far one stream has come, in sequence numbers. Regions get their number when they are accepted.
struct stream_clock {
    backend::sequence accepted = 0;
    backend::sequence enqueued = 0;
    backend::sequence retired = 0;
    bool ordered = false; ///< a queue's: its kernels are ordered against all others that use the same data
};

/// The latest regions of one stream that used an entry, by kind of use.
struct stream_use {
    stream_clock* stream;
    backend::sequence motion = 0;
    backend::sequence kernel = 0;
    backend::sequence written = 0; ///< kernel that may write it

    backend::sequence latest() const noexcept { return motion > kernel ? motion : kernel; }
};

/// A half-open host range.
struct byte_range {
    char* begin = nullptr;
    char* end = nullptr;

    bool empty() const noexcept { return begin == end; }
    bool covers(byte_range r) const noexcept { return begin <= r.begin && r.end <= end; }
    bool overlaps(byte_range r) const noexcept { return begin < r.end && r.begin < end; }
};

inline constexpr std::uint64_t infinite_count = std::numeric_limits<std::uint64_t>::max();

/// What of an entry is as it was at first once the entry is used again.
struct entry_state {
    byte_range range;
    char* block = nullptr;     ///< device address; null until there is memory
    std::uint64_t count = 0;   ///< OpenMP's dynamic reference count
    std::uint64_t holds = 0;   ///< counts of maps with `hold`
    std::uint64_t overdue = 0; ///< counts to be taken back, from what exits have taken that may be undone
    std::uint64_t leaving = 0; ///< counts that exits on one queue have taken which are not retired
    stream_clock const* leaving_on = nullptr; ///< that queue's
    std::uint32_t pending = 0;                ///< accepted regions that are not retired
    bool orphan = false;
    bool owns_block = true;   ///< false: associated or unified memory
    bool allocation = false;  ///< memory without a host range: `range` is its own
    bool on_host_too = false; ///< an allocation that the host, too, uses between regions
    /// The allocation around this associated memory, if the program has given it back: it counts this entry as one of its users.
    present_entry* keeps = nullptr;
    std::uint64_t opened = 0;       ///< serial of the region that created or revived it
    byte_range synced;              ///< equal on both sides once all accepted work is done
    std::uint64_t synced_since = 0; ///< serial of the first region whose motion made it so
    /// The pointers in it that point to mapped data, latest first; never shortened.
    attachment_record* joined = nullptr;
    char const* name = nullptr; ///< what the clause that mapped it called it
};

/// One mapped host range. Live while its count is above zero; *dying* while it is zero and regions that use it
/// are in flight; an *orphan* once a newer entry, or a failure, has taken its place.
struct present_entry : entry_state, boost::intrusive::list_base_hook<> {
    present_entry() = default;
    present_entry(present_entry const&) = delete;
    present_entry& operator=(present_entry const&) = delete;
    ~present_entry() { forget_attachments(); }

    /// Whose data never arrived, and the latest region that may have relied on it.
    struct failure {
        std::uint64_t from;
        std::uint64_t through;
    };
    boost::container::small_vector<stream_use, 2> uses;
    boost::container::small_vector<failure, 1> failures;

    bool live() const noexcept { return (count | holds) != 0; }
    bool dying() const noexcept { return !live(); }
    bool is_associated() const noexcept { return !owns_block && block != range.begin; } // nor unified
    void forget_attachments() noexcept
    {
        while (joined != nullptr) delete std::exchange(joined, joined->next);
    }
    std::size_t bytes() const noexcept { return static_cast<std::size_t>(range.end - range.begin); }
    bool failed_for(std::uint64_t serial) const noexcept
    {
        for (failure const& f : failures)
            if (serial > f.from && serial <= f.through) return true;
        return false;
    }

    /// What region `serial` brings never arrives; all up to `now` may have relied on it.
    void note_failure(std::uint64_t serial, std::uint64_t now) noexcept
    {
        for (failure& f : failures) {
            if (f.from != serial) continue;
            f.through = now;
            return;
        }
        try {
            failures.push_back({serial, now});
        } catch (...) { // no memory: then for more regions than is due
            failures.front() = {0, now};
        }
    }

    /// The stream's place among the users. There is room: somebody has reserved it.
    stream_use& use_by(stream_clock& stream) noexcept
    {
        for (stream_use& use : uses)
            if (use.stream == &stream) return use;
        for (stream_use& use : uses) {
            if (use.latest() > use.stream->retired) continue;
            use = {&stream};
            return use;
        }
        uses.emplace_back(&stream);
        return uses.back();
    }

    /// Whoever used `old` comes before everything that uses this one.
    void come_after(present_entry const& old) noexcept
    {
        for (stream_use const& use : old.uses) {
            stream_use& mine = use_by(*use.stream);
            mine.motion = std::max(mine.motion, use.latest());
        }
    }

    /// A motion of region `serial` makes `r` equal on both sides. A union that would have a gap keeps the larger part: too little
    /// costs a copy, too much would be wrong.
    [[gnu::always_inline]] void sync(byte_range r, std::uint64_t serial) noexcept
    {
        if (synced.empty()) synced_since = serial;
        if (!synced.empty() && r.begin <= synced.end && synced.begin <= r.end) {
            synced = {std::min(synced.begin, r.begin), std::max(synced.end, r.end)};
            return;
        }
        if (r.end - r.begin <= synced.end - synced.begin) return;
        synced = r;
        synced_since = serial;
    }

    /// The pointer at host address `pointer`, if it is joined.
    attachment_record* joined_at(char const* pointer) const noexcept
    {
        attachment_record* found = joined;
        while (found != nullptr && found->at != pointer) found = found->next;
        return found;
    }
};

} // namespace omp_co::detail
