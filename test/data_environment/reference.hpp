// SPDX-License-Identifier: BSL-1.0
// A slow and obvious model of OpenMP's data environment: one cell a byte, every construct done at once and
// in order.
#pragma once

#include "vocabulary.hpp"

#include <omp_co/error.hpp>

#include <algorithm>
#include <array>
#include <deque>
#include <vector>

namespace model {

using omp_co::errc;

/// What a construct does to the data environment.
struct effects {
    std::vector<int> mappings; ///< one a clause; -1: none
    std::vector<int> filled;   ///< mappings that the region created or copied into
    std::vector<bool> sent;    ///< pointers that go to the device, one a clause
    byte_set in;
    byte_set out;

    bool uses(int m) const { return std::find(mappings.begin(), mappings.end(), m) != mappings.end(); }
};

class reference {
public:
    using clauses = std::vector<clause>;

    bool moves = true; ///< false: unified memory

    std::array<cell, memory_size> host{};
    std::deque<mapping> mappings; ///< all there ever were
    std::vector<link> links;
    std::array<int, slots> allocated = [] {
        std::array<int, slots> none{};
        none.fill(-1);
        return none;
    }();

    /// The live mapping of a byte, -1 if there is none.
    int mapping_of(int byte) const
    {
        for (std::size_t i = 0; i < mappings.size(); ++i) {
            mapping const& m = mappings[i];
            if (m.live() && !m.allocation && m.first <= byte && byte < m.last) return int(i);
        }
        return -1;
    }

    /// Any of these is a reason to refuse the construct; none: it must be accepted.
    std::vector<errc> errors(construct c, clauses const& all) const
    {
        std::vector<errc> found;
        for (clause const& one : all)
            if (names_slot(one.what))
                slot_errors(one, found);
            else
                range_errors(c, one, all, found);
        return found;
    }

    /// Everything before the kernel.
    effects enter(construct c, clauses const& all, int region)
    {
        effects e;
        for (clause const& one : all) e.mappings.push_back(looked_up(one));
        e.sent.resize(all.size());
        std::vector<int> const created = create(c, all, region);
        for (std::size_t i = 0; i < all.size(); ++i)
            if (all[i].count != 0 && !names_slot(all[i].what)) e.mappings[i] = covering(all[i]);
        for (int const m : created) at(m).end();
        for (std::size_t i = 0; i < all.size(); ++i)
            if (all[i].count != 0 && maps(all[i].what) && enters(c)) at(e.mappings[i]).enter(all[i]);
        e.filled = created;
        if (!moves && c != construct::memory) return e;
        for (std::size_t i = 0; i < all.size(); ++i)
            if (all[i].what == type::attach) join(all, i, e);
        for (std::size_t i = 0; i < all.size(); ++i) {
            bool const is_new = std::find(created.begin(), created.end(), e.mappings[i]) != created.end();
            if (wants_copy(c, all[i], is_new)) copy_to(all[i], region, e, e.mappings[i]);
        }
        for (std::size_t i = 0; i < all.size(); ++i)
            if (e.sent[i]) send(all, i, region, e);
        if (c == construct::memory) run_memory(all, region, e);
        return e;
    }

    /// Everything after the kernel.
    void leave(construct c, clauses const& all, int region, effects& e)
    {
        for (std::size_t i = 0; i < all.size(); ++i)
            if (exits(c) && maps(all[i].what) && all[i].count != 0 && e.mappings[i] >= 0)
                at(e.mappings[i]).leave(all[i]);
        for (std::size_t i = 0; i < all.size(); ++i) {
            clause const& one = all[i];
            if (!moves || e.mappings[i] < 0 || !copies_from(one.what) || c == construct::enter_data) continue;
            mapping const& m = at(e.mappings[i]);
            if (m.live() && !one.always && c != construct::update) continue;
            for (int b = one.first; b < one.last(); ++b)
                if (!m.keeps(b)) copy_out(device(e.mappings[i], b), b, region, e);
        }
    }

    /// The failure of `region` becomes known: what it mapped is gone.
    void lose(clauses const& all, int region, effects const& e)
    {
        for (int const m : e.filled)
            if (at(m).creator == region) at(m).end();
        for (std::size_t i = 0; i < all.size(); ++i) // pointers that may not have arrived go again
            if (e.sent[i]) at(e.mappings[i]).joined[all[i].first].mapping = -1;
    }

    /// The counts of an `enter data` that failed.
    void take_back(clauses const& all, effects const& e, int region)
    {
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (all[i].count == 0 || !maps(all[i].what)) continue;
            mapping& m = at(e.mappings[i]);
            int& count = all[i].hold ? m.holds : m.count;
            if (m.creator != region) count = std::max(0, count - 1);
        }
    }

    void allocate(int slot, int bytes)
    {
        allocated[index(slot)] = int(mappings.size());
        mappings.push_back({0, bytes, 1});
        mappings.back().allocation = true;
    }

    void deallocate(int slot)
    {
        at(allocated[index(slot)]).end();
        allocated[index(slot)] = -1;
    }

    /// Whether it succeeds.
    bool associate(clause const& what)
    {
        for (mapping const& m : mappings) {
            if (!m.live() || m.allocation || !what.overlaps(m.first, m.last)) continue;
            return m.infinite && m.first == what.first && m.last == what.last() &&
                   m.of == allocated[index(what.slot)] && m.at == what.host;
        }
        mappings.push_back({what.first, what.last()});
        mapping& m = mappings.back();
        m.infinite = true;
        m.of = allocated[index(what.slot)];
        m.at = what.host;
        return true;
    }

    bool disassociate(int byte)
    {
        int const m = mapping_of(byte);
        if (m < 0 || !at(m).infinite || at(m).first != byte || at(m).holds != 0) return false;
        at(m).end();
        return true;
    }

    mapping& at(int m) { return mappings[index(m)]; }
    mapping const& at(int m) const { return mappings[index(m)]; }

    /// A byte on the device, which an associated mapping shares with what it is associated with.
    cell& device(int m, int byte)
    {
        mapping& mine = at(m);
        return mine.of < 0 ? mine.device[index(byte)]
                           : at(mine.of).device[index(mine.at + byte - mine.first)];
    }

private:
    void slot_errors(clause const& one, std::vector<errc>& found) const
    {
        if (one.last() > at(allocated[index(one.slot)]).last) found.push_back(errc::invalid_argument);
    }

    void range_errors(construct c, clause const& one, clauses const& all, std::vector<errc>& found) const
    {
        if (one.count == 0 || covering(one) >= 0) return;
        for (mapping const& m : mappings)
            if (m.live() && !m.allocation && one.overlaps(m.first, m.last))
                found.push_back(errc::partially_present);
        bool brought = false;
        for (clause const& other : all) {
            if (!enters(c) || !is_largest(other, all) || covering(other) >= 0) continue;
            brought = brought || one.within(other);
            if (other.overlaps(one.first, one.last()) && !one.within(other))
                found.push_back(errc::partially_present);
        }
        if (one.present || (!maps(one.what) && !brought)) found.push_back(errc::not_present);
    }

    int looked_up(clause const& one) const
    {
        if (names_slot(one.what)) return allocated[index(one.slot)];
        return one.count == 0 ? mapping_of(one.first) : -1;
    }

    // They count one, to be found, until their clauses count.
    std::vector<int> create(construct c, clauses const& all, int region)
    {
        std::vector<int> created;
        for (clause const& one : all) {
            if (!enters(c) || covering(one) >= 0 || !is_largest(one, all)) continue;
            created.push_back(int(mappings.size()));
            mappings.push_back({one.first, one.last(), 1, region});
            mappings.back().device.fill({unknown, only(region)});
        }
        return created;
    }

    // The pointer goes to the device unless that points there already.
    void join(clauses const& all, std::size_t i, effects& e)
    {
        int const target = e.mappings[i + 1];
        if (e.mappings[i] < 0 || target < 0) return;
        mapping& m = at(e.mappings[i]);
        link const to{target, all[i + 1].first - at(target).first};
        auto const known = m.joined.find(all[i].first);
        if (known != m.joined.end() && known->second == to) return;
        m.joined[all[i].first] = to;
        e.sent[i] = true;
    }

    void send(clauses const& all, std::size_t i, int region, effects& e)
    {
        int const m = e.mappings[i];
        int const target = e.mappings[i + 1];
        int const value = first_link + int(links.size()) * pointer_size;
        links.push_back({target, all[i + 1].first - at(target).first});
        for (int k = 0; k < pointer_size; ++k) device(m, all[i].first + k) = {value + k, only(region)};
        e.filled.push_back(m);
    }

    static bool wants_copy(construct c, clause const& one, bool is_new)
    {
        if (!copies_to(one.what) || one.count == 0 || c == construct::exit_data) return false;
        return is_new || one.always || c == construct::update;
    }

    void copy_to(clause const& one, int region, effects& e, int m)
    {
        if (m < 0) return;
        for (int b = one.first; b < one.last(); ++b) {
            if (at(m).keeps(b)) continue;
            device(m, b) = {host[index(b)].value, host[index(b)].needs | only(region)};
            e.in.set(index(b));
        }
        e.filled.push_back(m);
    }

    void copy_out(cell const& from, int byte, int region, effects& e)
    {
        host[index(byte)] = {from.value, from.needs | only(region)};
        e.out.set(index(byte));
    }

    void run_memory(clauses const& all, int region, effects& e)
    {
        clause const& one = all.front();
        mapping& m = at(e.mappings.front());
        for (int i = 0; i < one.count; ++i) {
            cell& mine = m.device[index(one.first + i)];
            if (one.what == type::copy_out) {
                copy_out(mine, one.host + i, region, e);
                continue;
            }
            if (one.what == type::fill) mine = {one.host, 0};
            if (one.what == type::copy_in) {
                mine = host[index(one.host + i)];
                e.in.set(index(one.host + i));
            }
            if (one.what == type::within) mine = at(e.mappings[1]).device[index(all[1].first + i)];
            mine.needs |= only(region);
        }
        if (one.what != type::copy_out) e.filled.push_back(e.mappings.front());
    }

    int covering(clause const& one) const
    {
        int const m = names_slot(one.what) ? -1 : mapping_of(one.first);
        return m >= 0 && one.within(at(m).first, at(m).last) ? m : -1;
    }

    /// Whether no other clause of the construct holds this one. Of equal ones the first counts.
    static bool is_largest(clause const& one, clauses const& all)
    {
        if (!maps(one.what)) return false;
        for (clause const& other : all) {
            if (&other == &one || other.count == 0 || !maps(other.what) || !one.within(other)) continue;
            if (other.count > one.count || &other < &one) return false;
        }
        return one.count != 0;
    }
};

} // namespace model
