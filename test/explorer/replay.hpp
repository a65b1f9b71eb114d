// SPDX-License-Identifier: BSL-1.0
// Runs all regions once more, one after another in the order of acceptance, on plain values, and compares what each
// of them moved, computed and left behind.
#pragma once

#include "job.hpp"
#include "kernel.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace omp_co_test::explorer {

struct history_event {
    enum class kind : unsigned char { accepted, noticed, written } what;
    job* who = nullptr; ///< accepted; or its failure was noticed: later regions know
    unsigned first = 0; ///< written by the program
    std::vector<std::uint64_t> values;
};

class replay {
public:
    explicit replay(std::array<std::uint64_t, cell_count> const& host)
    {
        for (unsigned i = 0; i < cell_count; ++i) host_[i] = {cell::state::known, host[i], 0};
    }

    void run(std::vector<history_event> const& history)
    {
        for (history_event const& e : history) {
            if (e.what == history_event::kind::accepted)
                accept(*e.who);
            else if (e.what == history_event::kind::noticed)
                forgive(*e.who);
            else
                write(e);
        }
    }

    void compare_host(std::array<std::uint64_t, cell_count> const& host)
    {
        for (unsigned i = 0; i < cell_count; ++i)
            if (host_[i].now == cell::state::known && host_[i].value != host[i])
                complain("host cell " + std::to_string(i) + " differs from a sequential run");
    }

    std::string const& verdict() const noexcept { return verdict_; }

private:
    void write(history_event const& e)
    {
        for (unsigned i = 0; i < e.values.size(); ++i) {
            host_[e.first + i] = {cell::state::known, e.values[i], 0};
            unsure_ &= ~cells_of(e.first + i, 1);
        }
    }

    void accept(job& j)
    {
        who_ = &j;
        seen_.push_back(&j);
        for (use const& u : j.uses)
            if (u.created && u.entry->content.empty()) open(*u.entry);
        for (std::size_t i = 0; i < j.uses.size(); ++i)
            if (j.copies_in[i]) copy_in(j, i);
        if (j.what.what == construct::target) kernel(j);
        for (std::size_t i = 0; i < j.uses.size(); ++i)
            if (j.uses[i].wants_out) copy_out(j, i);
    }

    // What the library did not copy in because it found it there.
    void open(incarnation& e)
    {
        e.content.resize(e.count);
        for (unsigned i = e.first; i < e.first + e.count; ++i) {
            cell_mask const bit = cells_of(i, 1);
            if ((e.carried & bit) == 0) continue;
            cell& mine = e.at(i);
            if (e.carried_from == nullptr || e.carried_from->content.empty()) continue;
            cell const& old = e.carried_from->at(i);
            if (old.now != cell::state::known)
                mine = old;
            else if ((unsure_ & bit) == 0)
                mine = host_[i];
        }
    }

    void copy_in(job& j, std::size_t index)
    {
        clause const& c = j.what.clauses[index];
        incarnation& e = *j.uses[index].entry;
        command const* const did = find(j, command::kind::copy_in, c);
        bool const arrived = did != nullptr && did->now == command::state::done;
        if (!arrived && !j.error) complain("it succeeded without its copy in");
        for (unsigned i = c.first; i < c.first + c.count; ++i) {
            cell& mine = e.at(i);
            if (!arrived) {
                mine = {cell::state::missing, 0, j.id};
                continue;
            }
            mine = host_[i];
            if ((j.racy_copies_in & cells_of(i, 1)) != 0) mine.now = cell::state::unknown;
            if (mine.now == cell::state::known && did->moved[i - c.first] != mine.value)
                return complain("its copy in brought other bytes than in a sequential run, cell " +
                                std::to_string(i));
        }
    }

    void kernel(job& j)
    {
        if (!j.ran && !j.error) complain("it succeeded without its kernel");
        if (!j.ran) {
            for (std::size_t i = 0; i < j.uses.size(); ++i) spoil(j, i);
            return;
        }
        cell copy;
        cell const digest = run_kernel(j.id, j.what, [&](std::size_t index, unsigned at) -> cell& {
            cell& mine = j.uses[index].entry->at(at);
            if (!reads(j.what.clauses[index].kernel) || (j.racy_reads & cells_of(at, 1)) == 0) return mine;
            copy = {cell::state::unknown, 0, 0};
            return j.what.clauses[index].kernel == touch::read ? copy : (mine = copy);
        });
        if (digest.now == cell::state::missing && !j.error)
            complain("it succeeded with data that region " + std::to_string(digest.culprit) +
                     ", which failed, left out");
        if (digest.now == cell::state::known && digest.value != j.digest)
            complain("its kernel computed something else than in a sequential run");
        for (std::size_t i = 0; i < j.uses.size(); ++i)
            for_cells(j.what.clauses[i].cells(), [&](unsigned at) { settle(*j.uses[i].entry, at, j); });
    }

    // Who computes with what is missing fails himself; what he wrote into a mapping that was there before is not what
    // others are told about.
    static void settle(incarnation& e, unsigned at, job const& j)
    {
        cell& mine = e.at(at);
        bool const told =
            e.creator == j.id || std::any_of(e.failures.begin(), e.failures.end(),
                                             [&](auto const& f) { return f.by == mine.culprit; });
        if ((j.racy_writes & cells_of(at, 1)) != 0 || (mine.now == cell::state::missing && !told))
            mine.now = cell::state::unknown;
    }

    // The kernel did not run: what it would have written is not there. Whoever mapped it first is relied on.
    void spoil(job& j, std::size_t index)
    {
        use const& u = j.uses[index];
        clause const& c = j.what.clauses[index];
        if (u.entry == nullptr || c.type == map_type::to) return;
        for_cells(c.cells(), [&](unsigned at) {
            cell& mine = u.entry->at(at);
            if (u.entry->creator == j.id)
                mine = {cell::state::missing, 0, j.id};
            else if (mine.now == cell::state::known)
                mine.now = cell::state::unknown;
        });
    }

    void copy_out(job& j, std::size_t index)
    {
        clause const& c = j.what.clauses[index];
        incarnation& e = *j.uses[index].entry;
        command const* const did = find(j, command::kind::copy_out, c);
        bool const arrived = did != nullptr && did->now == command::state::done;
        if (!arrived && !j.error) complain("it succeeded without its copy out");
        for (unsigned i = c.first; i < c.first + c.count; ++i) {
            cell_mask const bit = cells_of(i, 1);
            if (!arrived) {
                unsure_ |= bit;
                continue;
            }
            unsure_ &= ~bit;
            cell& mine = e.at(i);
            if (mine.now == cell::state::missing && !j.error)
                return complain("it succeeded and copied out what region " + std::to_string(mine.culprit) +
                                ", which failed, left out");
            if (mine.now == cell::state::known && did->moved[i - c.first] != mine.value)
                return complain("its copy out brought other bytes than in a sequential run, cell " +
                                std::to_string(i));
            host_[i] = mine;
            if (mine.now == cell::state::missing || (j.racy_copies_out & bit) != 0)
                host_[i].now = cell::state::unknown;
        }
    }

    // Whoever comes now knew of the failure, and uses what is there at his own risk.
    void forgive(job const& failed)
    {
        for (job* j : seen_)
            for (use const& u : j->uses) {
                if (u.entry == nullptr) continue;
                for (cell& c : u.entry->content)
                    if (c.now == cell::state::missing && c.culprit == failed.id) c.now = cell::state::unknown;
            }
    }

    static command const* find(job const& j, command::kind kind, clause const& c)
    {
        if (j.group == nullptr) return nullptr;
        for (command const& each : j.group->commands)
            if (each.what == kind && each.bytes == c.count * sizeof(std::uint64_t) &&
                j.first_cell(each) == c.first)
                return &each;
        return nullptr;
    }

    template <class F>
    static void for_cells(cell_mask cells, F f)
    {
        for (unsigned i = 0; i < cell_count; ++i)
            if ((cells & cells_of(i, 1)) != 0) f(i);
    }

    void complain(std::string const& what)
    {
        if (!verdict_.empty()) return;
        verdict_ = what;
        if (who_ != nullptr)
            verdict_ = "region " + std::to_string(who_->id) + " (" + to_text(who_->what) + "): " + what;
    }

    std::array<cell, cell_count> host_;
    cell_mask unsure_ = 0; ///< host cells whose copy out failed
    std::vector<job*> seen_;
    job const* who_ = nullptr;
    std::string verdict_;
};

} // namespace omp_co_test::explorer
