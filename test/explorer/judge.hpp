// SPDX-License-Identifier: BSL-1.0
// What may be said of one region: whether its motions, its refusal, its lack of memory and its result are right. Empty
// where nothing is wrong.
#pragma once

#include "job.hpp"
#include "present_model.hpp"

#include <omp_co/detail/region.hpp>
#include <omp_co/detail/stream_queue.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace omp_co_test::explorer {

/// Only what is asked for moves; only what a revived entry still holds may be left out.
inline std::string judge_motions(job& j, omp_co::detail::region const& r, present_model& model)
{
    cell_mask in_wanted = 0;
    cell_mask in_done = 0;
    cell_mask out_wanted = 0;
    cell_mask out_done = 0;
    for (std::size_t i = 0; i < j.uses.size(); ++i) {
        use const& u = j.uses[i];
        clause const& c = j.what.clauses[i];
        j.copies_in[i] = r.items[i].has(omp_co::detail::map_copy_in);
        if (j.copies_in[i] && !u.wants_in) return "it copies in what is there already";
        if (u.wants_in && !j.copies_in[i] && (!u.created || c.always)) return "it leaves a copy in out";
        if (u.wants_in) in_wanted |= c.cells();
        if (j.copies_in[i]) in_done |= c.cells();
        if (u.wants_out) out_wanted |= c.cells();
        if (r.items[i].has(omp_co::detail::map_copy_out)) out_done |= c.cells();
    }
    if (out_wanted != out_done) return "it copies out something else than what ends here";
    for (use& u : j.uses) {
        if (!u.created) continue;
        u.entry->carried = in_wanted & ~in_done & u.entry->cells();
        if (u.entry->carried == 0 || u.entry->carried_from != nullptr) continue;
        u.entry->carried_from = model.previous(*u.entry, j.id);
        if (u.entry->carried_from == nullptr)
            return "it leaves a copy in out, and nobody had that data before";
    }
    return {};
}

/// Whether `a` cannot move before `b` has.
inline bool waits_for(job const& a, job const& b)
{
    if (!a.in_flight() || a.region == nullptr || a.what.device != b.what.device) return false;
    if (a.queue == b.queue && a.number > b.number) return true;
    for (omp_co::detail::stream_wait const* w = a.region->waits; w != nullptr; w = w->next)
        if (w->stream == b.queue && w->number >= b.number) return true;
    return false;
}

/// `j` was told that there is no memory. Everything on its device that does not wait for it, or for memory itself, might
/// still give memory back. Only of a later region that is parked for another device nobody can say whether it waits for
/// `j` in the end.
inline std::string judge_out_of_memory(job const& j, std::vector<job*> const& active)
{
    if (j.group != nullptr && (j.group->refused || j.group->failed)) return {};
    std::vector<job const*> stuck;
    auto const is_stuck = [&](job const* a) {
        return std::find(stuck.begin(), stuck.end(), a) != stuck.end();
    };
    for (job const* a : active)
        if (a->region != nullptr && a->in_flight() && a->what.device == j.what.device &&
            (a == &j || a->short_of_memory || a->region->needs_memory ||
             a->region->error == omp_co::errc::out_of_memory))
            stuck.push_back(a);
    for (std::size_t i = 0; i < stuck.size(); ++i)
        for (job const* a : active)
            if (!is_stuck(a) && waits_for(*a, *stuck[i])) stuck.push_back(a);
    for (job const* a : active) {
        if (!a->in_flight() || a->what.device != j.what.device || (a->id > j.id && !a->enqueued)) continue;
        if (!is_stuck(a))
            return "out_of_memory while region " + std::to_string(a->id) + " might still give memory back";
    }
    return {};
}

/// Whether something failed that it shares a mapping with, or a mapping whose content its own took over.
inline bool relied_on_failure(job const& j)
{
    for (use const& u : j.uses)
        for (incarnation const* e = u.entry; e != nullptr; e = e->carried_from)
            for (incarnation::failure const& f : e->failures)
                if (f.by < j.id && j.id <= f.through) return true;
    return false;
}

/// `lost`: the code of its device's loss.
inline std::string judge_result(job const& j, error_code lost)
{
    if (lost && j.error == lost) return {};
    error_code const direct = j.group == nullptr ? error_code()
                              : j.group->refused ? j.group->refused
                                                 : j.group->failed;
    if (!j.error) {
        if (!j.executed()) return "it succeeded and was never done";
        if (direct) return "it succeeded although a command of it failed: " + direct.message();
        if (j.what.what == construct::enter_data && !lost && relied_on_failure(j))
            for (use const& u : j.uses)
                if (u.entry != nullptr && u.entry->killed)
                    return "it succeeded, and its mapping died with a failed region";
        return {};
    }
    if (j.error == direct) return {};
    if (j.error == omp_co::errc::out_of_memory) return {}; // judged when it happened
    if (j.error != omp_co::errc::predecessor_failed) return "it failed for no reason: " + j.error.message();
    return relied_on_failure(j) ? "" : "predecessor_failed, and nothing that it relied on has failed";
}

} // namespace omp_co_test::explorer
