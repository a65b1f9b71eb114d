// SPDX-License-Identifier: BSL-1.0
// What a player knows of the regions and streams that it plays.
#pragma once

#include "items.hpp"
#include "reference.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
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

    /// The bytes that the library moves one way.
    byte_set moved(std::uint32_t way) const
    {
        byte_set all;
        for (std::size_t i = 0; i < items.size(); ++i)
            if (items[i].has(way)) all |= bytes_of(clauses[i]);
        return all;
    }

    static byte_set bytes_of(clause const& c)
    {
        byte_set all;
        for (int b = c.first; b < c.last(); ++b) all.set(std::size_t(b));
        return all;
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
    }
    return {};
}

using played_regions = std::vector<std::unique_ptr<played_region>>;

} // namespace model
