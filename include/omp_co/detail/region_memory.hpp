// SPDX-License-Identifier: BSL-1.0
// Device blocks for the entries that a region brings: all of them or none, and a queue for regions that must wait until
// others give memory back. What a program allocates waits in the same queue.
#pragma once

#include <omp_co/detail/block_pool.hpp>
#include <omp_co/detail/data_environment.hpp>
#include <omp_co/detail/region.hpp>

#include <cstddef>
#include <new>
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

    /// Whether what the latest take() lacked is being asked for, and if not, why there is none.
    bool coming() const noexcept { return coming_; }
    error_code why_none() const noexcept { return why_ ? why_ : make_error_code(errc::out_of_memory); }

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
            if (!(is_allocation(*first_) ? allocate_for(*first_) : take_late(*first_))) {
                if (served || coming_ || !hopeless()) return served;
                first_->fail(why_none(), "nothing in flight would give memory back");
            }
            release_first();
            served = true;
        }
        return served;
    }

    /// The device is lost: nobody waits for memory any more.
    void give_up() noexcept
    {
        while (first_ != nullptr) {
            if (is_allocation(*first_))
                first_->fail(make_error_code(errc::device_lost), "the device is lost");
            release_first();
        }
    }

    /// Allocations of the program that have ended, for whoever tells their owners.
    region_list& answered() noexcept { return answered_; }

private:
    void* allocate(std::size_t bytes) noexcept
    {
        backend::supply const s = pool_.allocate_quickly(bytes);
        coming_ = s.coming;
        why_ = s.why;
        return s.block;
    }

    static bool is_allocation(region& r) noexcept { return r.maps()[0].has(map_allocation); }

    bool allocate_for(region& r) noexcept
    {
        map_item& item = r.maps()[0];
        item.device = allocate(item.bytes);
        if (item.device == nullptr) return false;
        try {
            environment_.allocated(static_cast<char*>(item.device), item.bytes);
        } catch (std::bad_alloc const&) {
            pool_.deallocate(std::exchange(item.device, nullptr), item.bytes);
            r.fail(make_error_code(errc::out_of_memory), "no host memory");
        }
        return true;
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
        if (is_allocation(r)) answered_.push(r);
    }

    block_pool pool_;
    data_environment& environment_;
    region* first_ = nullptr;
    region* last_ = nullptr; // if there is a first one
    bool coming_ = false;
    error_code why_;
    region_list answered_;
};

} // namespace omp_co::detail
