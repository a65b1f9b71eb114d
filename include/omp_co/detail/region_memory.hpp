// SPDX-License-Identifier: BSL-1.0
// Device blocks for the entries that a region brings: all of them or none, and a queue for regions that must wait until
// others give memory back.
#pragma once

#include <omp_co/detail/block_pool.hpp>
#include <omp_co/detail/data_environment.hpp>
#include <omp_co/detail/region.hpp>

#include <cstddef>
#include <span>
#include <utility>

namespace omp_co::detail {

/// Guarded by its device's lock.
class region_memory {
public:
    region_memory(backend::device& source, data_environment& environment) noexcept
        : pool_(source), environment_(environment)
    {
    }

    block_pool& pool() noexcept { return pool_; }
    block_pool const& pool() const noexcept { return pool_; }

    /// For a region that is about to be accepted: its new entries are not in the table yet. False: there is not enough, or
    /// more is coming.
    bool take(std::span<map_item> items) noexcept
    {
        for (map_item& item : items) {
            if (!environment_.needs_block(item)) continue;
            item.device = allocate(item.bytes);
            if (item.device != nullptr) continue;
            for (map_item& taken : items) {
                if (&taken == &item) break;
                if (environment_.needs_block(taken))
                    pool_.deallocate(std::exchange(taken.device, nullptr), taken.bytes);
            }
            return false;
        }
        return true;
    }

    /// Marks a region that is accepted without its blocks, if it needs any.
    void defer(region& r) noexcept
    {
        for (map_item& item : r.maps()) {
            if (!environment_.needs_block(item)) continue;
            item.device = nullptr;
            r.needs_memory = true;
        }
    }

    /// The first in the queue, if anybody waits.
    region const& first() const noexcept { return *first_; }

    bool anybody_waits() const noexcept { return first_ != nullptr; }

    /// Whether what the latest take() lacked is being asked for.
    bool coming() const noexcept { return coming_; }

    void queue(region& r) noexcept
    {
        (first_ == nullptr ? first_ : last_->next_short) = &r;
        last_ = &r;
    }

    /// Serves the queue in its order, so that a large region is not starved by small ones. True: somebody was served.
    /// `hopeless`: nothing in flight would give memory back.
    template <class Hopeless>
    bool serve(Hopeless hopeless) noexcept
    {
        bool served = false;
        while (first_ != nullptr) {
            if (!take_late(*first_)) {
                if (served || coming_ || !hopeless()) return served;
                first_->fail(make_error_code(errc::out_of_memory),
                             "nothing in flight would give memory back");
            }
            release_first();
            served = true;
        }
        return served;
    }

    /// The device is lost: nobody waits for memory any more.
    void give_up() noexcept
    {
        while (first_ != nullptr) release_first();
    }

private:
    void* allocate(std::size_t bytes) noexcept
    {
        backend::supply const s = pool_.allocate_quickly(bytes);
        coming_ = s.coming;
        return s.block;
    }

    // The entries are in the table by now.
    bool take_late(region& r) noexcept
    {
        for (map_item& item : r.maps()) {
            if (!item.has(map_created) || item.entry->block != nullptr) continue;
            item.device = allocate(item.entry->bytes());
            environment_.table().place(*item.entry, static_cast<char*>(item.device));
            if (item.device != nullptr) continue;
            for (map_item& taken : r.maps()) {
                if (&taken == &item) break;
                if (!taken.has(map_created) || taken.device == nullptr || taken.device != taken.entry->block)
                    continue;
                pool_.deallocate(std::exchange(taken.device, nullptr), taken.entry->bytes());
                environment_.table().place(*taken.entry, nullptr);
            }
            return false;
        }
        return true;
    }

    void release_first() noexcept
    {
        region& r = *first_;
        first_ = std::exchange(r.next_short, nullptr);
        r.needs_memory = false;
    }

    block_pool pool_;
    data_environment& environment_;
    region* first_ = nullptr;
    region* last_ = nullptr; // if there is a first one
    bool coming_ = false;
};

} // namespace omp_co::detail
