// SPDX-License-Identifier: BSL-1.0
// The present table as OpenMP defines it, for regions that run one after another, each in no time. What the library
// decides at acceptance must look like this whatever is in flight.
#pragma once

#include "schedule.hpp"

#include <omp_co/error.hpp>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

namespace omp_co_test::explorer {

struct job;

/// What a cell holds, when regions run in the order of acceptance.
struct cell {
    enum class state : unsigned char {
        known,
        unknown, ///< never initialised, or written by kernels that no rule orders
        missing, ///< what should be here never arrived, because `culprit` failed
    };
    state now = state::unknown;
    std::uint64_t value = 0;
    unsigned culprit = 0;
};

/// A mapping from its creation to the moment its count reaches zero. The library may serve two of them with one
/// entry that it revives.
struct incarnation {
    unsigned first = 0;
    unsigned count = 0;
    std::uint64_t references = 0;
    unsigned creator = 0;
    bool killed = false;                 ///< by a failure
    cell_mask carried = 0;               ///< not copied in, for the library found these cells up to date …
    incarnation* carried_from = nullptr; ///< … where this one left them

    /// Regions accepted after `by` and up to `through` relied on what `by`, which failed, should have brought.
    struct failure {
        unsigned by;
        unsigned through;
    };
    std::vector<failure> failures;
    std::vector<cell> content;

    cell_mask cells() const noexcept { return cells_of(first, count); }
    cell& at(unsigned index) { return content[index - first]; }
};

/// How one clause takes part.
struct use {
    incarnation* entry = nullptr;
    bool created = false;
    bool wants_in = false;
    bool wants_out = false;
};

class present_model {
public:
    struct plan {
        std::vector<omp_co::errc> refusals; ///< any of them may be reported
        std::vector<use> uses;
    };

    /// Decides; changes nothing.
    plan decide(request const& r)
    {
        plan p;
        p.uses.resize(r.clauses.size());
        bool const enters = r.what == construct::target || r.what == construct::enter_data;
        std::vector<std::size_t> absent;
        for (std::size_t i = 0; i < r.clauses.size(); ++i) {
            clause const& c = r.clauses[i];
            if (c.count == 0) {
                if (r.what == construct::target) p.uses[i].entry = holding(c.first);
                continue;
            }
            auto const it = std::find_if(live_.begin(), live_.end(),
                                         [&](incarnation* e) { return (e->cells() & c.cells()) != 0; });
            if (it == live_.end())
                absent.push_back(i);
            else if ((c.cells() & ~(*it)->cells()) != 0)
                p.refusals.push_back(omp_co::errc::partially_present);
            else
                p.uses[i].entry = *it;
        }
        for (std::size_t const i : absent)
            if (r.clauses[i].present) p.refusals.push_back(omp_co::errc::not_present);
        if (enters) create(r, absent, p);
        if (!p.refusals.empty()) return p;
        decide_motions(r, p);
        return p;
    }

    /// The region with this plan was accepted.
    void apply(request const& r, std::vector<use> const& uses, unsigned id)
    {
        for (use const& u : uses) {
            if (!u.created || std::find(live_.begin(), live_.end(), u.entry) != live_.end()) continue;
            u.entry->creator = id;
            live_.push_back(u.entry);
        }
        for (std::size_t i = 0; i < uses.size(); ++i)
            if (counts(r, uses, i) && enters(r.what)) ++uses[i].entry->references;
        for (std::size_t i = 0; i < uses.size(); ++i)
            if (counts(r, uses, i)) count_down(*uses[i].entry, r.what, r.clauses[i].type);
        drop_dead();
    }

    /// A failed `enter data` takes its counts back.
    void take_back(std::vector<use> const& uses)
    {
        for (use const& u : uses)
            if (u.entry != nullptr && u.entry->references != 0) --u.entry->references;
        drop_dead();
    }

    /// What `by` should have brought into `e` never arrives. The failure of whoever brought it there ends it, and all
    /// that lives on its content. Where its creator only took over what was there, `gone` says how the library sees it.
    void fail(incarnation& e, unsigned by, bool gone)
    {
        e.failures.push_back({by, ~0U});
        if (e.creator == by && (e.carried_from == nullptr || gone)) kill(e);
    }

    /// Who is accepted from now on does not rely on `by` any more.
    void close_failures(unsigned by, unsigned latest)
    {
        for (incarnation& e : all_)
            for (incarnation::failure& f : e.failures)
                if (f.by == by) f.through = latest;
    }

    /// The latest mapping of just this range before region `id`.
    incarnation* previous(incarnation const& e, unsigned id)
    {
        incarnation* found = nullptr;
        for (incarnation& each : all_)
            if (each.first == e.first && each.count == e.count && &each != &e && each.creator < id)
                found = &each;
        return found;
    }

    std::vector<incarnation*> const& live() const noexcept { return live_; }
    std::deque<incarnation>& all() noexcept { return all_; }

private:
    incarnation* holding(unsigned index) const
    {
        auto const it = std::find_if(live_.begin(), live_.end(),
                                     [&](incarnation* e) { return (e->cells() & cells_of(index, 1)) != 0; });
        return it == live_.end() ? nullptr : *it;
    }

    // A section of no length uses what is mapped at its address, and no more.
    static bool counts(request const& r, std::vector<use> const& uses, std::size_t i)
    {
        return uses[i].entry != nullptr && r.clauses[i].count != 0;
    }

    static bool enters(construct c) { return c == construct::target || c == construct::enter_data; }

    // Clauses of one construct that overlap share the widest one's mapping.
    void create(request const& r, std::vector<std::size_t>& absent, plan& p)
    {
        std::sort(absent.begin(), absent.end(), [&](std::size_t a, std::size_t b) {
            clause const& l = r.clauses[a];
            clause const& m = r.clauses[b];
            if (l.first != m.first) return l.first < m.first;
            return l.count != m.count ? l.count > m.count : a < b;
        });
        incarnation* widest = nullptr;
        for (std::size_t const i : absent) {
            clause const& c = r.clauses[i];
            if (widest == nullptr || (widest->cells() & c.cells()) == 0) {
                widest = &all_.emplace_back();
                widest->first = c.first;
                widest->count = c.count;
                widest->creator = ~0U;
            } else if ((c.cells() & ~widest->cells()) != 0) {
                p.refusals.push_back(omp_co::errc::partially_present);
            }
            p.uses[i] = {widest, true, false, false};
        }
    }

    static void decide_motions(request const& r, plan& p)
    {
        bool const exits = r.what == construct::target || r.what == construct::exit_data;
        for (std::size_t i = 0; i < p.uses.size(); ++i) {
            use& u = p.uses[i];
            clause const& c = r.clauses[i];
            if (!counts(r, p.uses, i)) continue;
            bool const update = r.what == construct::update;
            bool const into = c.type == map_type::to || c.type == map_type::tofrom;
            bool const back = c.type == map_type::from || c.type == map_type::tofrom;
            u.wants_in = into && (u.created || c.always || update);
            u.wants_out = back && (update || (exits && (c.always || ends(r, p, u))));
        }
    }

    // Whether the mapping's count is zero after the region.
    static bool ends(request const& r, plan const& p, use const& u)
    {
        std::uint64_t count = u.entry->references;
        if (enters(r.what))
            for (std::size_t i = 0; i < p.uses.size(); ++i)
                count += counts(r, p.uses, i) && p.uses[i].entry == u.entry;
        for (std::size_t i = 0; i < p.uses.size(); ++i) {
            if (!counts(r, p.uses, i) || p.uses[i].entry != u.entry || count == 0) continue;
            count = r.clauses[i].type == map_type::delete_ ? 0 : count - 1;
        }
        return count == 0;
    }

    static void count_down(incarnation& e, construct c, map_type type)
    {
        if ((c != construct::target && c != construct::exit_data) || e.references == 0) return;
        e.references = type == map_type::delete_ ? 0 : e.references - 1;
    }

    void drop_dead()
    {
        std::erase_if(live_, [](incarnation* e) { return e->references == 0; });
    }

    void kill(incarnation& e)
    {
        e.killed = true;
        std::erase(live_, &e);
        for (incarnation& each : all_)
            if (each.carried_from == &e && !each.killed) kill(each);
    }

    std::deque<incarnation> all_;
    std::vector<incarnation*> live_;
};

} // namespace omp_co_test::explorer
