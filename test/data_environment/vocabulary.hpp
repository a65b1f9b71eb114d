// SPDX-License-Identifier: BSL-1.0
// The words of the model: constructs, clauses, and what bytes and mappings are.
#pragma once

#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>

namespace model {

/// The host memory that the model knows, in bytes. Pointers may lie at every multiple of their size.
inline constexpr int memory_size = 24;
inline constexpr int pointer_size = int(sizeof(void*));
/// What the program may have allocated on the device at a time.
inline constexpr int slots = 3;
inline constexpr int most_regions = 60;
using byte_set = std::bitset<memory_size>;
/// A set of regions, a bit each.
using region_set = std::uint64_t;

constexpr region_set only(int region) { return region_set{1} << region; }
constexpr std::size_t index(int i) { return static_cast<std::size_t>(i); }

/// `memory` is a copy between addresses that are given, or a fill.
enum class construct { target, enter_data, exit_data, update, memory };

enum class type {
    to,
    from,
    tofrom,
    alloc,
    release,
    delete_,
    attach,  ///< a pointer; the next clause is its pointee
    pointee, ///< what it points to
    device,  ///< is_device_ptr
    // of `memory`, to or from what the program allocated
    fill,
    copy_in,
    copy_out,
    within, ///< the next clause is its source
    source,
};

constexpr bool enters(construct c) { return c == construct::target || c == construct::enter_data; }
constexpr bool exits(construct c) { return c == construct::target || c == construct::exit_data; }
constexpr bool maps(type t) { return t <= type::delete_; }
constexpr bool names_slot(type t) { return t >= type::device; }
constexpr bool copies_to(type t) { return t == type::to || t == type::tofrom; }
constexpr bool copies_from(type t) { return t == type::from || t == type::tofrom; }

struct clause {
    type what;
    int first; ///< byte of the host, or of what was allocated
    int count;
    bool always = false;
    bool present = false;
    bool hold = false;
    int slot = 0;           ///< which allocation
    int host = 0;           ///< the byte of the host that is copied from or to
    bool read_only = false; ///< is_device_ptr of const

    int last() const { return first + count; }
    bool overlaps(int begin, int end) const { return first < end && begin < last(); }
    bool within(int begin, int end) const { return begin <= first && last() <= end; }
    bool within(clause const& other) const { return within(other.first, other.last()); }

    /// The host bytes that it may move.
    byte_set host_bytes() const
    {
        byte_set all;
        if (maps(what))
            for (int b = first; b < last(); ++b) all.set(index(b));
        if (what == type::copy_in || what == type::copy_out)
            for (int b = host; b < host + count; ++b) all.set(index(b));
        return all;
    }
};

inline constexpr int unknown = -1;
/// Values from here on are bytes of pointers: `first_link + link * pointer_size + which byte`.
inline constexpr int first_link = 256;

/// A byte: its value, and the regions without which it would not be there.
struct cell {
    int value = unknown;
    region_set needs = 0;
};

/// Where a joined pointer points to.
struct link {
    int mapping;
    int offset;

    friend bool operator==(link const&, link const&) = default;
};

/// A host range on the device, or memory that the program allocated there.
struct mapping {
    int first;
    int last;
    int count = 0;
    int creator = -1;
    int holds = 0;
    std::array<cell, memory_size> device{};
    std::map<int, link> joined{}; ///< pointers in it, by their first byte
    bool allocation = false;
    bool infinite = false; ///< associated
    int of = -1;           ///< the allocation that it is associated with, from byte `at` on
    int at = 0;

    bool live() const { return count > 0 || holds > 0 || infinite; }
    void end()
    {
        count = holds = 0;
        infinite = false;
    }
    bool keeps(int byte) const ///< a joined pointer, which motions leave alone
    {
        return std::any_of(joined.begin(), joined.end(),
                           [&](auto const& j) { return j.first <= byte && byte < j.first + pointer_size; });
    }
    void enter(clause const& c)
    {
        if (c.hold)
            ++holds;
        else if (!infinite)
            ++count;
    }
    void leave(clause const& c)
    {
        int& counted = c.hold ? holds : count;
        counted = c.what == type::delete_ ? 0 : std::max(0, counted - 1);
    }
};

} // namespace model
