// SPDX-License-Identifier: BSL-1.0
// A data environment without a device: takes regions to acceptance and to retirement, and keeps their blocks.
#pragma once

#include "items.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bed {

using omp_co::detail::map_copy_in;
using omp_co::detail::map_copy_out;
using omp_co::detail::map_created;
using omp_co::detail::present_entry;
using omp_co::detail::stream_clock;

class region {
public:
    std::vector<map_item> items;
    std::uint64_t serial = 0;
    stream_clock* stream = nullptr;
    stream_clock const* queue = nullptr; ///< the same, if it may be skipped
    omp_co::backend::sequence number = 0;
    std::map<stream_clock*, omp_co::backend::sequence> waits; ///< also for its own stream
    errc refused{};
    std::string why;

    bool accepted() const { return refused == errc{}; }
    bool copies_in(std::size_t i = 0) const { return items[i].has(map_copy_in); }
    bool copies_out(std::size_t i = 0) const { return items[i].has(map_copy_out); }
    bool waits_for(region const& earlier) const
    {
        auto const at = waits.find(earlier.stream);
        return at != waits.end() && at->second >= earlier.number;
    }

    /// The bytes that move, all clauses together.
    std::size_t bytes(std::uint32_t way) const
    {
        std::size_t n = 0;
        for (map_item const& i : items) n += i.has(way) ? i.bytes : 0;
        return n;
    }
};

class test_bed {
public:
    explicit test_bed(bool unified = false) : environment(unified) {}

    /// Accepts a region on a stream of its own choice. It waits for its turn to retire.
    region& accept(std::size_t stream, std::initializer_list<map_item> items, bool on_queue = false)
    {
        region& r = *regions_.emplace_back(std::make_unique<region>());
        r.items = items;
        if (omp_co::detail::refusal const refused = environment.check(r.items)) {
            r.refused = refused.code;
            r.why = describe(refused);
            return r;
        }
        (void)environment.reserve(r.items);
        for (map_item& item : r.items)
            if (environment.needs_block(item)) item.device = take_block(item.bytes);
        r.serial = ++serial;
        r.stream = &streams.at(stream);
        r.queue = on_queue ? r.stream : nullptr;
        environment.apply(r.items, r.serial, r.queue);
        r.number = ++r.stream->accepted;
        environment.for_each_conflict(r.items, r.serial,
                                      [&](stream_clock& s, omp_co::backend::sequence number, bool) {
                                          auto& mine = r.waits[&s];
                                          mine = std::max(mine, number);
                                      });
        environment.record(r.items, *r.stream, r.number, r.serial);
        return r;
    }

    /// Post-processing. True: it succeeded. `arrived`: it failed after its copies in. `skipped`: it never began.
    bool retire(region& r, bool failed = false, bool arrived = false, bool skipped = false)
    {
        r.stream->enqueued = r.stream->retired = r.number;
        failed = failed || environment.relied_on_failure(r.items, r.serial);
        using undone_counts = omp_co::detail::data_environment::undone_counts;
        undone_counts const which = skipped ? undone_counts::all : undone_counts::begun;
        if (failed) environment.undo(r.items, r.serial, arrived, which, serial, r.queue);
        environment.retire(r.items, r.serial, [this](void* block, std::size_t) { blocks_.erase(block); });
        return !failed;
    }

    /// A region that nothing overlaps in time.
    region& run(std::initializer_list<map_item> items)
    {
        region& r = accept(0, items);
        if (r.accepted()) retire(r);
        return r;
    }

    /// The reference count at `p`; nothing if it is not mapped, as a program sees it.
    std::optional<std::uint64_t> count(void const* p)
    {
        present_entry const* const e = environment.table().holding(p);
        if (e == nullptr || !e->live()) return {};
        return e->count;
    }

    bool is_present(void const* p) { return count(p).has_value(); }

    /// What a kernel's argument would be.
    void* device_address(region& r, std::size_t i = 0)
    {
        environment.resolve(r.items);
        return r.items[i].device;
    }

    std::size_t blocks() const { return blocks_.size(); }

    /// An entry that is not counted, as for associated memory.
    void associate(void* p, std::size_t n)
    {
        present_entry& e = environment.table().create();
        e.block = associated_.data();
        e.owns_block = false;
        e.count = omp_co::detail::infinite_count;
        environment.table().insert(e, {static_cast<char*>(p), static_cast<char*>(p) + n});
    }

    omp_co::detail::data_environment environment;
    std::array<stream_clock, 4> streams{};
    std::uint64_t serial = 0;

private:
    void* take_block(std::size_t bytes)
    {
        auto block = std::make_unique<char[]>(bytes);
        void* const p = block.get();
        blocks_[p] = std::move(block);
        return p;
    }

    std::vector<std::unique_ptr<region>> regions_;
    std::map<void*, std::unique_ptr<char[]>> blocks_;
    std::array<char, 64> associated_{};
};

} // namespace bed
