// SPDX-License-Identifier: BSL-1.0
// Device blocks for the entries that a region brings: all of them or none, and a queue for regions that must wait until
// others give memory back. What a program allocates waits for another thread that asks the driver, and for nothing else.
#pragma once

#include <omp_co/detail/block_pool.hpp>
#include <omp_co/detail/data_environment.hpp>
#include <omp_co/detail/region.hpp>

#include <cstddef>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace omp_co::detail {

/// Guarded by its device's lock.
class region_memory {
public:
    static constexpr std::string_view cannot_be_used = "the device cannot be used";

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

    /// Whether what the latest take() lacked is being asked for, and if not, why there is none: success if memory is short.
    bool coming() const noexcept { return coming_; }
    error_code why_none() const noexcept { return why_; }

    /// What a region with these clauses asks for in vain. `limit`: what the device has, 0 if it does not say.
    std::string describe_shortage(std::span<map_item const> items, std::size_t limit) const
    {
        std::size_t asked = 0;
        std::string names;
        for (map_item const& item : items) {
            if (!item.has(map_created)) continue;
            asked += item.bytes;
            if (item.name != nullptr) ((names += names.empty() ? " for " : ", ") += item.name);
        }
        std::string const text = std::to_string(asked) + " bytes of device memory asked" + names + ", " +
                                 std::to_string(pool_.in_use()) + " in use";
        return limit == 0 ? text : text + ", " + std::to_string(limit) + " in all";
    }

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
                fail_for_want(*first_, why_, "nothing in flight would give memory back");
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

    /// A region that is nothing but an allocation for the program: its only item gets the address.
    void ask(region& r) noexcept { asked_.push(r); }
    bool anybody_asks() const noexcept { return !asked_.empty(); }

    /// Calls `ended(region)` for those that have their memory, or will get none.
    template <class Ended>
    void answer(bool lost, Ended ended) noexcept
    {
        region_list asking(std::move(asked_));
        while (!asking.empty()) {
            region& r = *asking.pop();
            if (lost)
                r.fail(make_error_code(errc::device_lost), "the device is lost");
            else if (!allocate_for(r)) {
                asked_.push(r);
                continue;
            }
            ended(r);
        }
    }

    /// Of the program, which uses it on the host as well if it can; null if there is none. Throws std::bad_alloc.
    void* allocate_for_program(std::size_t bytes, bool host_accessible)
    {
        return keep_for_program(pool_.allocate(bytes), bytes, host_accessible);
    }

private:
    [[gnu::always_inline]] void* allocate(std::size_t bytes) noexcept
    {
        void* const block = pool_.reuse(bytes);
        return block != nullptr ? block : ask_for(bytes);
    }

    [[gnu::noinline]] void* ask_for(std::size_t bytes) noexcept
    {
        backend::supply const s = pool_.allocate_quickly(bytes, backend::memory_user::regions);
        if (s.block == nullptr) {
            coming_ = s.coming;
            why_ = s.why;
        }
        return s.block;
    }

    // False: somebody is asking the driver.
    bool allocate_for(region& r) noexcept
    {
        map_item& item = r.maps()[0];
        backend::supply const s = pool_.allocate_quickly(item.bytes, backend::memory_user::program);
        if (s.coming) return false;
        try {
            item.device = keep_for_program(s.block, item.bytes);
            if (item.device == nullptr) fail_for_want(r, s.why, {});
        } catch (std::bad_alloc const&) {
            r.fail(make_error_code(errc::out_of_memory), "no host memory");
        }
        return true;
    }

    void* keep_for_program(void* block, std::size_t bytes, bool on_host_too = false)
    {
        if (block == nullptr) return nullptr;
        try {
            environment_.memory().allocated(static_cast<char*>(block), bytes, on_host_too);
        } catch (...) {
            pool_.deallocate(block, bytes);
            throw;
        }
        return block;
    }

    static void fail_for_want(region& r, error_code why, std::string_view words) noexcept
    {
        if (why)
            r.fail(why, cannot_be_used);
        else
            r.fail(make_error_code(errc::out_of_memory), words);
    }

    // The entries are in the table by now.
    bool take_late(region& r) noexcept
    {
        for (map_item& item : r.maps()) {
            if (!item.has(map_created) || item.entry->block != nullptr) continue;
            item.device = allocate(item.entry->bytes());
            environment_.table().place(*item.entry, static_cast<char*>(item.device));
            if (item.device != nullptr) continue;
            if (coming_) return false; // what it has it keeps: given back, it would be asked for again and again
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
    error_code why_;
    region_list asked_;
};

} // namespace omp_co::detail
