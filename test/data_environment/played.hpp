// SPDX-License-Identifier: BSL-1.0
// What a player knows of the regions and streams that it plays.
#pragma once

#include "items.hpp"
#include "reference.hpp"

#include <omp_co/detail/joined_pointers.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace model {

namespace detail = omp_co::detail;
using detail::map_item;
using detail::present_entry;

/// The data environment did what it must not.
struct violation {
    std::string what;
};

inline void require(bool holds, std::string const& what)
{
    if (!holds) throw violation{what};
}

struct settings {
    bool unified = false;
    bool device_waits = true;
};

enum class stage { parked, enqueued, done, retired };

struct played_stream : detail::stream_clock {
    std::uint64_t executed = 0; ///< signals done on the device
    std::vector<int> regions;   ///< in order; number n is regions[n - 1]
};

struct wait {
    std::size_t stream;
    omp_co::backend::sequence number;
};

/// A byte that a kernel reads or writes through one of its arguments.
struct access {
    std::size_t argument;
    int byte;
    cell expected;
};

struct played_region {
    int id = 0;
    construct kind{};
    std::vector<clause> clauses;
    std::vector<map_item> items;
    std::deque<detail::attachment> joins;
    effects effect;
    std::size_t stream = 0;
    omp_co::backend::sequence number = 0;
    std::vector<wait> waits;
    std::vector<access> reads;
    std::vector<access> writes;
    int value = 0;
    stage at = stage::parked;
    int next_command = 0;
    int fails_at = -1;
    bool broken = false;      ///< a command of it failed on the device
    bool failed = false;      ///< its failure is known
    region_set relies_on = 0; ///< regions in flight that brought what it uses
    region_set older = 0;     ///< regions that filled its blocks before it

    std::uint64_t serial() const { return std::uint64_t(id) + 1; }
    std::string name() const { return "region " + std::to_string(id); }
    bool in_flight() const { return at != stage::retired; }

    /// The bytes of the host that the library moves one way: not pointers that are joined.
    byte_set moved(std::uint32_t way) const
    {
        byte_set all;
        for (std::size_t i = 0; i < items.size(); ++i) {
            if (!items[i].has(way) || clauses[i].what == type::attach) continue;
            int const first = maps(clauses[i].what) ? clauses[i].first : clauses[i].host;
            for_each_part(items[i], [&](std::size_t begin, std::size_t bytes) {
                for (std::size_t b = 0; b < bytes; ++b) all.set(index(first) + begin + b);
            });
        }
        return all;
    }

    /// What of an item moves, as the library does it.
    template <class F>
    static void for_each_part(map_item const& item, F f)
    {
        if (item.joined == nullptr) return f(std::size_t{0}, item.bytes);
        (void)detail::for_each_gap(item, [&](std::size_t begin, std::size_t bytes) {
            f(begin, bytes);
            return omp_co::error_code();
        });
    }
};

/// A clause as the construct hands it to the data environment.
inline map_item item_of(construct kind, clause const& c, void* p)
{
    using detail::map_always, detail::map_hold, detail::map_present;
    std::uint32_t const more =
        (c.always ? map_always : 0U) | (c.present ? map_present : 0U) | (c.hold ? map_hold : 0U);
    std::size_t const n = std::size_t(c.count);
    switch (kind) {
    case construct::target:
        if (c.what == type::to) return bed::target::to(p, n, more);
        if (c.what == type::from) return bed::target::from(p, n, more);
        if (c.what == type::tofrom) return bed::target::tofrom(p, n, more);
        return bed::target::alloc(p, n, more);
    case construct::enter_data:
        return c.what == type::to ? bed::enter::to(p, n, more) : bed::enter::alloc(p, n, more);
    case construct::exit_data:
        if (c.what == type::from) return bed::exit::from(p, n, more);
        return c.what == type::release ? bed::exit::release(p, n, more) : bed::exit::delete_(p, n, more);
    case construct::update:
        return c.what == type::to ? bed::update::to(p, n, more) : bed::update::from(p, n, more);
    case construct::memory:
        break;
    }
    return {};
}

/// The clauses that are no maps. `block`: where their allocation is on the device.
inline map_item other_item_of(clause const& c, unsigned char* memory, char* block)
{
    using namespace omp_co::detail;
    std::size_t const n = std::size_t(c.count);
    if (c.what == type::attach) return bed::item(map_attach | map_used, memory + c.first, n);
    if (c.what == type::pointee) return bed::item(map_attach_target | map_used, memory + c.first, n);
    if (c.what == type::device)
        return bed::item(map_device | map_used | (c.read_only ? 0U : map_written), block + c.first, 0);
    bool const beside = c.what == type::copy_in || c.what == type::copy_out;
    map_item raw = bed::item(map_raw, beside ? memory + c.host : nullptr, n);
    raw.device = block + c.first;
    if (c.what == type::copy_out) raw.flags |= map_copy_out;
    if (c.what == type::copy_in) raw.flags |= map_written | map_copy_in;
    if (c.what == type::within) raw.flags |= map_written | map_within; // from what its source says
    if (c.what == type::source) raw.flags |= map_used | map_outside;
    if (c.what == type::fill) {
        raw.flags |= map_written | map_fill;
        raw.leader = std::uint32_t(c.host);
    }
    return raw;
}

using played_regions = std::vector<std::unique_ptr<played_region>>;

} // namespace model
