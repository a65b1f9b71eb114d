// SPDX-License-Identifier: BSL-1.0
// One device of a case: the library's side, the model's side, and whether they agree.
#pragma once

#include "present_model.hpp"

#include <omp_co/detail/device_core.hpp>
#include <support/stepped_device.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace omp_co_test::explorer {

struct device_state {
    stepped_device* device = nullptr; ///< null once removed
    omp_co::detail::device_slot* slot = nullptr;
    std::uint32_t generation = 0;
    present_model model;
    bool faulty = false; ///< lost, and the library knows
    error_code lost;
    std::uint64_t accepted = 0;

    /// The table must say at any time what a sequential run would. Empty: it does.
    std::string compare_table(std::uint64_t const* host) const
    {
        if (device == nullptr || faulty) return {};
        std::map<unsigned, std::pair<unsigned, std::uint64_t>> theirs;
        for_each_entry([&](omp_co::detail::present_entry& e) {
            auto const first = reinterpret_cast<std::uint64_t*>(e.range.begin) - host;
            if (e.live())
                theirs[static_cast<unsigned>(first)] = {static_cast<unsigned>(e.bytes() / 8), e.count};
        });
        std::map<unsigned, std::pair<unsigned, std::uint64_t>> ours;
        for (incarnation* e : model.live()) ours[e->first] = {e->count, e->references};
        if (ours == theirs) return {};
        return "is wrong; it has" + to_text(theirs) + ", and a sequential run" + to_text(ours);
    }

    /// What is left of regions and mappings, though there should be nothing. Empty: nothing.
    std::string leftovers() const
    {
        if (device == nullptr) return {};
        if (slot->in_flight.load() != 0) return "in_flight is not zero";
        if (slot->pending_outs.load() != 0) return "pending_outs is not zero";
        omp_co::device_statistics const s = slot->core->statistics();
        if (s.regions != accepted) return "not as many regions retired as were accepted";
        if (faulty) return {};
        if (s.device_bytes != 0) return "blocks are in use";
        bool any = slot->core->environment().table().has_orphans();
        for_each_entry([&](omp_co::detail::present_entry&) { any = true; });
        return any ? "entries are left" : "";
    }

    /// Whether the library no longer sees a mapping of this range that a sequential run would still have.
    bool misses(incarnation const& e, std::uint64_t const* host) const
    {
        if (device == nullptr) return false;
        bool found = std::none_of(model.live().begin(), model.live().end(),
                                  [&](incarnation const* each) { return each->first == e.first; });
        for_each_entry([&](omp_co::detail::present_entry& each) {
            found |= each.live() && reinterpret_cast<std::uint64_t*>(each.range.begin) == host + e.first;
        });
        return !found;
    }

private:
    template <class F>
    void for_each_entry(F f) const
    {
        omp_co::detail::device_lock lock(slot->mutex);
        slot->core->environment().table().for_each(f);
    }

    static std::string to_text(std::map<unsigned, std::pair<unsigned, std::uint64_t>> const& entries)
    {
        std::string text;
        for (auto const& [first, rest] : entries)
            text += " [" + std::to_string(first) + "+" + std::to_string(rest.first) + " x" +
                    std::to_string(rest.second) + "]";
        return text;
    }
};

} // namespace omp_co_test::explorer
