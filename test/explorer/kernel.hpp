// SPDX-License-Identifier: BSL-1.0
// The kernel of every target region, written once for the device and for the replay: what it writes depends on all
// that it has read so far, so that a wrong order shows in the bytes.
#pragma once

#include "job.hpp"

#include <omp_co/detail/host_kernel.hpp>
#include <omp_co/detail/map_item.hpp>

#include <array>
#include <cstdint>
#include <cstring>

namespace omp_co_test::explorer {

/// Runs a kernel over `cell_at(clause, index of the cell)`. The result's state is unknown or missing if anything
/// that went in was.
template <class CellAt>
cell run_kernel(unsigned id, request const& r, CellAt cell_at)
{
    cell digest{cell::state::known, mix(id, 17), 0};
    for (std::size_t i = 0; i < r.clauses.size(); ++i) {
        clause const& c = r.clauses[i];
        if (c.kernel == touch::leave) continue;
        for (unsigned at = c.first; at < c.first + c.count; ++at) {
            cell& mine = cell_at(i, at);
            if (reads(c.kernel)) {
                if (mine.now != cell::state::known && digest.now != cell::state::missing) digest = mine;
                digest.value = mix(digest.value, mine.value);
            }
            if (c.kernel == touch::add)
                mine.value += mix(id, at);
            else if (writes(c.kernel))
                mine = {digest.now, mix(digest.value, at), digest.culprit};
        }
    }
    return digest;
}

/// Its host variant.
inline void run_on_device(omp_co::backend::invocation const& call, std::size_t, std::size_t, void*)
{
    job& j = *static_cast<job*>(const_cast<void*>(call.closure));
    cell current;
    std::uint64_t* place = nullptr;
    auto const store = [&] {
        if (place != nullptr) std::memcpy(place, &current.value, sizeof current.value);
    };
    cell const digest = run_kernel(j.id, j.what, [&](std::size_t clause_index, unsigned at) -> cell& {
        store();
        place = *static_cast<std::uint64_t**>(call.arguments[clause_index]) +
                (at - j.what.clauses[clause_index].first);
        current.now = cell::state::known;
        std::memcpy(&current.value, place, sizeof current.value);
        return current;
    });
    store();
    j.digest = digest.value;
    j.ran = true;
}

inline constexpr omp_co::detail::host_kernel device_kernel{&run_on_device};

inline omp_co::detail::map_item make_item(construct what, clause const& c, std::uint64_t* host)
{
    using namespace omp_co;
    auto const s = section(host, c.first, c.count);
    map_modifier const m((c.always ? detail::map_always : 0U) | (c.present ? detail::map_present : 0U));
    switch (what) {
    case construct::target:
        if (c.type == map_type::to) return detail::make_item<construct::target>(to(s, m));
        if (c.type == map_type::from) return detail::make_item<construct::target>(from(s, m));
        if (c.type == map_type::tofrom) return detail::make_item<construct::target>(tofrom(s, m));
        return detail::make_item<construct::target>(alloc(s, m));
    case construct::enter_data:
        if (c.type == map_type::to) return detail::make_item<construct::enter_data>(to(s, m));
        return detail::make_item<construct::enter_data>(alloc(s, m));
    case construct::exit_data:
        if (c.type == map_type::from) return detail::make_item<construct::exit_data>(from(s, m));
        if (c.type == map_type::release) return detail::make_item<construct::exit_data>(release(s, m));
        return detail::make_item<construct::exit_data>(delete_(s, m));
    default:
        if (c.type == map_type::to) return detail::make_item<construct::update>(to(s, m));
        return detail::make_item<construct::update>(from(s, m));
    }
}

/// What a region points to.
class payload {
public:
    void connect(omp_co::detail::region& r, job& j, std::uint64_t* host)
    {
        std::size_t const n = j.what.clauses.size();
        for (std::size_t i = 0; i < n; ++i) {
            items_[i] = make_item(j.what.what, j.what.clauses[i], host);
            items_[i].device = items_[i].host;
            arguments_[i] = &items_[i].device;
        }
        r.items = items_.data();
        r.item_count = static_cast<std::uint32_t>(n);
        if (j.what.what != construct::target) return;
        call_.what = &device_kernel;
        call_.closure = &j;
        call_.arguments = arguments_.data();
        call_.argument_count = static_cast<unsigned>(n);
        r.call = &call_;
    }

private:
    std::array<omp_co::detail::map_item, 4> items_;
    std::array<void*, 4> arguments_{};
    omp_co::backend::invocation call_;
};

} // namespace omp_co_test::explorer
