// SPDX-License-Identifier: BSL-1.0
// One region as the explorer follows it, from acceptance to the end of its await.
#pragma once

#include "present_model.hpp"
#include "schedule.hpp"

#include <omp_co/detail/region.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace omp_co_test::explorer {

inline constexpr unsigned no_context = ~0U;

struct job {
    job(unsigned i, request const& r, std::uint64_t* memory)
        : id(i), what(r), host(memory), uses(r.clauses.size()), copies_in(r.clauses.size())
    {
    }

    unsigned id; ///< in the order of acceptance, on all devices
    request what;
    std::uint64_t* host;
    unsigned context = no_context;

    // What the model says.
    std::vector<use> uses;

    // What the library says.
    omp_co::detail::region* region = nullptr; ///< null once it may be gone
    omp_co::detail::region::end_function end = nullptr;
    bool accepted = false;
    bool failure_seen = false;
    bool arrived = false; ///< when its failure was seen: the copies in were, or could still be, done
    bool retired = false;
    bool short_of_memory = false; ///< when last looked at
    bool enqueued = false;        ///< when last looked at
    error_code error;             ///< once retired, refused, or seen to have failed
    unsigned stream = 0;
    omp_co::detail::stream_queue* queue = nullptr;
    backend::sequence number = 0;
    std::vector<bool> copies_in; ///< by clause: the library copies it in

    // What the device saw.
    std::shared_ptr<command_group> group;
    bool ran = false;
    std::uint64_t digest = 0;

    // Cells whose value depends on what no rule orders.
    cell_mask racy_reads = 0;  ///< by the kernel
    cell_mask racy_writes = 0; ///< by the kernel
    cell_mask racy_copies_in = 0;
    cell_mask racy_copies_out = 0;

    // What its user sees.
    bool ended = false;
    bool may_vanish = false; ///< its context is being destroyed
    bool cancelled = false;
    bool perhaps_cancelled = false; ///< if its coroutine was still at it

    bool in_flight() const noexcept { return accepted && !retired; }
    bool executed() const noexcept
    {
        return group != nullptr && group->signalled && group->commands.back().now == command::state::done;
    }
    /// The clause that a copy belongs to; their number if there is none.
    std::size_t clause_of(command const& c) const noexcept
    {
        std::size_t i = 0;
        while (i < uses.size() && (uses[i].entry == nullptr || what.clauses[i].first != first_cell(c) ||
                                   what.clauses[i].count * sizeof(std::uint64_t) != c.bytes))
            ++i;
        return i;
    }
    unsigned first_cell(command const& c) const noexcept
    {
        return static_cast<unsigned>(static_cast<std::uint64_t*>(c.host) - host);
    }
};

} // namespace omp_co_test::explorer
