// SPDX-License-Identifier: BSL-1.0
// A slow and obvious model of OpenMP's data environment: one cell a byte, every construct done at once and
// in order.
#pragma once

#include <omp_co/error.hpp>

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdint>
#include <deque>
#include <vector>

namespace model {

using omp_co::errc;

/// The host memory that the model knows, in bytes.
inline constexpr int memory_size = 24;
inline constexpr int most_regions = 60;
using byte_set = std::bitset<memory_size>;
/// A set of regions, a bit each.
using region_set = std::uint64_t;

constexpr region_set only(int region) { return region_set{1} << region; }

enum class construct { target, enter_data, exit_data, update };
enum class type { to, from, tofrom, alloc, release, delete_ };

constexpr bool enters(construct c) { return c == construct::target || c == construct::enter_data; }
constexpr bool exits(construct c) { return c == construct::target || c == construct::exit_data; }
constexpr bool copies_to(type t) { return t == type::to || t == type::tofrom; }
constexpr bool copies_from(type t) { return t == type::from || t == type::tofrom; }

struct clause {
    type what;
    int first;
    int count;
    bool always = false;
    bool present = false;
    bool hold = false;

    int last() const { return first + count; }
    bool overlaps(int begin, int end) const { return first < end && begin < last(); }
    bool within(int begin, int end) const { return begin <= first && last() <= end; }
    bool within(clause const& other) const { return within(other.first, other.last()); }
};

inline constexpr int unknown = -1;

/// A byte: its value, and the regions without which it would not be there.
struct cell {
    int value = unknown;
    region_set needs = 0;
};

struct mapping {
    int first;
    int last;
    int count = 0;
    int creator;
    int holds = 0;
    std::array<cell, memory_size> device{};

    bool live() const { return count > 0 || holds > 0; }
    void end() { count = holds = 0; }
    int& counted(clause const& c) { return c.hold ? holds : count; }
};

/// What a construct does to the data environment.
struct effects {
    std::vector<int> mappings; ///< one a clause; -1: none
    std::vector<int> filled;   ///< mappings that the region created or copied into
    byte_set in;
    byte_set out;
};

class reference {
public:
    bool moves = true; ///< false: unified memory

    std::array<cell, memory_size> host{};
    std::deque<mapping> mappings; ///< all there ever were

    /// The live mapping of a byte, -1 if there is none.
    int mapping_of(int byte) const
    {
        for (std::size_t i = 0; i < mappings.size(); ++i)
            if (mappings[i].live() && mappings[i].first <= byte && byte < mappings[i].last) return int(i);
        return -1;
    }

    /// Any of these is a reason to refuse the construct; none: it must be accepted.
    std::vector<errc> errors(construct c, std::vector<clause> const& clauses) const
    {
        std::vector<errc> all;
        for (clause const& one : clauses) {
            if (one.count == 0) continue;
            int const found = covering(one);
            if (found >= 0) continue;
            for (mapping const& m : mappings)
                if (m.live() && one.overlaps(m.first, m.last)) all.push_back(errc::partially_present);
            if (one.present) all.push_back(errc::not_present);
            if (!enters(c)) continue;
            for (clause const& other : clauses)
                if (is_largest(other, clauses) && other.overlaps(one.first, one.last()) &&
                    !one.within(other) && covering(other) < 0)
                    all.push_back(errc::partially_present);
        }
        return all;
    }

    /// Everything before the kernel.
    effects enter(construct c, std::vector<clause> const& clauses, int region)
    {
        effects e;
        std::vector<int> created;
        for (clause const& one : clauses) e.mappings.push_back(one.count == 0 ? mapping_of(one.first) : -1);
        for (clause const& one : clauses) {
            if (!enters(c) || one.count == 0 || covering(one) >= 0 || !is_largest(one, clauses)) continue;
            created.push_back(int(mappings.size()));
            mappings.push_back({one.first, one.last(), 1, region});
            mappings.back().device.fill({unknown, only(region)});
        }
        for (std::size_t i = 0; i < clauses.size(); ++i)
            if (clauses[i].count != 0) e.mappings[i] = covering(clauses[i]);
        for (int const m : created) at(m).end();
        for (std::size_t i = 0; i < clauses.size(); ++i)
            if (enters(c) && clauses[i].count != 0) ++at(e.mappings[i]).counted(clauses[i]);

        e.filled = created;
        for (std::size_t i = 0; i < clauses.size(); ++i) {
            clause const& one = clauses[i];
            int const m = e.mappings[i];
            if (!moves || m < 0 || one.count == 0 || !copies_to(one.what) || c == construct::exit_data)
                continue;
            bool const is_new = std::find(created.begin(), created.end(), m) != created.end();
            if (!is_new && !one.always && c != construct::update) continue;
            for (int b = one.first; b < one.last(); ++b) {
                at(m).device[index(b)] = {host[index(b)].value, host[index(b)].needs | only(region)};
                e.in.set(index(b));
            }
            e.filled.push_back(m);
        }
        return e;
    }

    /// Everything after the kernel.
    void leave(construct c, std::vector<clause> const& clauses, int region, effects& e)
    {
        for (std::size_t i = 0; i < clauses.size(); ++i) {
            if (!exits(c) || clauses[i].count == 0 || e.mappings[i] < 0) continue;
            int& count = at(e.mappings[i]).counted(clauses[i]);
            count = clauses[i].what == type::delete_ ? 0 : std::max(0, count - 1);
        }
        for (std::size_t i = 0; i < clauses.size(); ++i) {
            clause const& one = clauses[i];
            if (!moves || e.mappings[i] < 0 || !copies_from(one.what) || c == construct::enter_data) continue;
            mapping const& m = at(e.mappings[i]);
            if (m.live() && !one.always && c != construct::update) continue;
            for (int b = one.first; b < one.last(); ++b) {
                host[index(b)] = {m.device[index(b)].value, m.device[index(b)].needs | only(region)};
                e.out.set(index(b));
            }
        }
    }

    /// The failure of `region` becomes known: what it mapped is gone.
    void lose(int region, effects const& e)
    {
        for (int const m : e.filled)
            if (at(m).creator == region) at(m).end();
    }

    /// The counts of an `enter data` that failed.
    void take_back(std::vector<clause> const& clauses, effects const& e, int region)
    {
        for (std::size_t i = 0; i < clauses.size(); ++i) {
            if (clauses[i].count == 0) continue;
            mapping& m = at(e.mappings[i]);
            int& count = m.counted(clauses[i]);
            if (m.creator != region) count = std::max(0, count - 1);
        }
    }

    mapping& at(int m) { return mappings[index(m)]; }

    static std::size_t index(int i) { return static_cast<std::size_t>(i); }

private:
    int covering(clause const& one) const
    {
        int const m = mapping_of(one.first);
        return m >= 0 && one.within(mappings[index(m)].first, mappings[index(m)].last) ? m : -1;
    }

    /// Whether no other clause of the construct holds this one. Of equal ones the first counts.
    static bool is_largest(clause const& one, std::vector<clause> const& clauses)
    {
        for (clause const& other : clauses) {
            if (&other == &one || other.count == 0 || !one.within(other)) continue;
            if (other.count > one.count || &other < &one) return false;
        }
        return one.count != 0;
    }
};

} // namespace model
