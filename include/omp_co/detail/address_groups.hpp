// SPDX-License-Identifier: BSL-1.0
// Who names which address, in the order in which they came: for each address, groups whose members run together, each group
// behind the one before it.
#pragma once

#include <omp_co/detail/dependent.hpp>

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <utility>

namespace omp_co::detail {

struct dependence_location {
    dependence_group* last = nullptr;
};

struct dependence_group {
    dependence_location* at = nullptr;
    dependence_group* previous = nullptr;
    dependence_group* next = nullptr;
    dependent::item* members = nullptr;
    dependence_type type = dependence_type::in;
};

class address_groups {
public:
    /// Puts `d`, which has room for another item, into the last group of an address, or into one behind it, and calls
    /// `before(p, alone)` for each member of the group before that; `alone` if both are of type `out`. Throws std::bad_alloc.
    template <class F>
    void join(dependent& d, dependence wish, F before)
    {
        dependence_location& at = location_of(wish.address);
        dependence_group* g = at.last;
        if (g == nullptr || g->type != wish.type || wish.type == dependence_type::out)
            g = &append(at, wish.type);
        d.items.push_back({&d, g, nullptr, g->members});
        dependent::item& mine = d.items.back();
        if (g->members != nullptr) g->members->previous = &mine;
        g->members = &mine;
        if (g->previous == nullptr) return;
        bool const alone = g->type == dependence_type::out && g->previous->type == dependence_type::out;
        for (dependent::item const* i = g->previous->members; i != nullptr; i = i->next)
            if (i->owner != &d) before(*i->owner, alone);
    }

    /// Takes it out of all its groups.
    void leave(dependent& d) noexcept
    {
        for (dependent::item& i : d.items) {
            (i.previous == nullptr ? i.in->members : i.previous->next) = i.next;
            if (i.next != nullptr) i.next->previous = i.previous;
            if (i.in->members == nullptr) remove(*i.in);
        }
        d.items.clear();
        if (unused_ > most_unused && unused_ > locations_.size() / 2) sweep();
    }

private:
    // An address is seldom named only once, so its place stays for a while.
    static constexpr std::size_t most_unused = 1024;

    dependence_location& location_of(void const* address)
    {
        auto const found = locations_.find(address);
        if (found != locations_.end()) return *found->second;
        dependence_location& made = spare_locations_.take();
        try {
            locations_.emplace(address, &made);
        } catch (...) {
            spare_locations_.give(made);
            throw;
        }
        ++unused_;
        return made;
    }

    dependence_group& append(dependence_location& at, dependence_type type)
    {
        dependence_group& g = spare_groups_.take();
        g = {&at, at.last, nullptr, nullptr, type};
        if (at.last == nullptr)
            --unused_;
        else
            at.last->next = &g;
        at.last = &g;
        return g;
    }

    void remove(dependence_group& g) noexcept
    {
        if (g.previous != nullptr) g.previous->next = g.next;
        (g.next == nullptr ? g.at->last : g.next->previous) = g.previous;
        if (g.at->last == nullptr) ++unused_;
        spare_groups_.give(g);
    }

    void sweep() noexcept
    {
        for (auto at = locations_.begin(); at != locations_.end();) {
            auto const here = at++;
            if (here->second->last != nullptr) continue;
            spare_locations_.give(*here->second);
            locations_.erase(here);
        }
        unused_ = 0;
    }

    boost::unordered_flat_map<void const*, dependence_location*> locations_;
    spare_objects<dependence_location> spare_locations_;
    spare_objects<dependence_group> spare_groups_;
    std::size_t unused_ = 0; ///< locations without a group
};

} // namespace omp_co::detail
