// SPDX-License-Identifier: BSL-1.0
// What a region must wait for: by its data, by its place in the order of dependences, and for copies to the host memory that it
// reads.
#pragma once

#include <omp_co/backend.hpp>
#include <omp_co/detail/data_environment.hpp>
#include <omp_co/detail/dependent.hpp>
#include <omp_co/detail/device_slot.hpp>
#include <omp_co/detail/queue_rules.hpp>
#include <omp_co/detail/region.hpp>
#include <omp_co/detail/stream_queue.hpp>

#include <algorithm>
#include <atomic>
#include <boost/container/small_vector.hpp>
#include <cstddef>

namespace omp_co::detail {

/// Guarded by its device's lock.
class region_waits {
public:
    region_waits(device_slot& slot, backend::properties const& traits, data_environment& environment) noexcept
        : slot_(slot), traits_(traits), environment_(environment)
    {
    }

    /// The unfinished work that a region is to come behind.
    struct conflicts {
        stream_queue* one = nullptr; ///< a stream with such work
        bool several = false;        ///< there are others
        stream_queue* followed =
            nullptr; ///< the stream of what wrote what the region is about to write; not a queue's

        bool beside(stream_queue const& s) const noexcept { return several || (one != nullptr && one != &s); }
    };

    conflicts conflicts_of(region& r) noexcept
    {
        conflicts met;
        auto const meet = [&](stream_clock& clock, bool writes) {
            stream_queue& s = static_cast<stream_queue&>(clock);
            met.several |= met.one != nullptr && met.one != &s;
            met.one = &s;
            if (writes && met.followed == nullptr && s.commands != nullptr && !s.ordered) met.followed = &s;
        };
        environment_.for_each_conflict(
            r.maps(), r.serial, [&](stream_clock& s, backend::sequence, bool writes) { meet(s, writes); },
            r.way == region::queued);
        if (dependent const* const node = node_of(r))
            for (stream_place const& p : node->behind)
                if (p.number > p.stream->retired) meet(*p.stream, p.alone);
        return met;
    }

    /// Makes sure that collect() and note() find memory; `uses`: how many waits its data can ask for. Throws std::bad_alloc.
    void reserve(region& r, std::size_t uses)
    {
        if (dependent const* const node = node_of(r)) uses += node->behind.size();
        if (!pool_.has(uses) || may_read_early(r) || copies_raw_out(r)) reserve_more(r, uses);
    }

    /// A region that was accepted: what it copies to the host counts from now on. True: without an entry that tells.
    bool note(region& r) noexcept
    {
        if ((r.decided & map_raw) == 0 || !copies_raw_out(r)) return false;
        raw_outs_.push_back(&r);
        return true;
    }

    /// It retires.
    void forget(region& r) noexcept
    {
        if (!raw_outs_.empty() && copies_raw_out(r))
            raw_outs_.erase(std::find(raw_outs_.begin(), raw_outs_.end(), &r));
    }

    /// Parks another device's region until copies out to these bytes have reached the host.
    void park_foreign(byte_range range, region& r)
    {
        for_each_pending_out(range, [&](stream_clock& clock, backend::sequence number) {
            pool_.reserve(1);
            stream_queue& s = static_cast<stream_queue&>(clock);
            stream_wait& w = *pool_.take(nullptr, s, number);
            w.foreign = true;
            s.park(r, w, true);
        });
    }

    void give(stream_wait* w) noexcept { pool_.give(w); }

    /// Whether what a region copies in may be read before the device has come to that, while copies out are pending.
    bool may_read_early(region const& r) const noexcept
    {
        return (traits_.stages_copies || ticket_of(r) != nullptr) &&
               slot_.pending_outs.load(std::memory_order_relaxed) != 0;
    }

    /// One wait a stream. A device can wait only for what is already enqueued, and some cannot wait at all: then
    /// the region is parked.
    void collect(region& r) noexcept
    {
        auto const wait_of = [&](stream_queue& other, backend::sequence number) -> stream_wait& {
            for (stream_wait* w = r.waits; w != nullptr; w = w->next) {
                if (w->stream != &other) continue;
                w->number = std::max(w->number, number);
                return *w;
            }
            r.waits = pool_.take(r.waits, other, number);
            return *r.waits;
        };
        auto const wait_for = [&](stream_clock& clock, backend::sequence number) {
            stream_queue& other = static_cast<stream_queue&>(clock);
            if (&other != r.stream) wait_of(other, number);
        };
        environment_.for_each_conflict(
            r.maps(), r.serial, [&](stream_clock& s, backend::sequence number, bool) { wait_for(s, number); },
            r.way == region::queued);
        if (dependent const* const node = node_of(r))
            for (stream_place const& p : node->behind)
                if (p.number > p.stream->retired) wait_for(*p.stream, p.number);
        for_each_copy_out_before(r, true, [&](stream_clock& clock, backend::sequence number) {
            wait_of(static_cast<stream_queue&>(clock), number).until_retired = true; // also in its own stream
        });
        bool const by_device = traits_.device_waits && r.stream->commands != nullptr;
        for (stream_wait* w = r.waits; w != nullptr; w = w->next) {
            if (by_device && !w->until_retired && w->stream->enqueued >= w->number) continue;
            w->stream->park(r, *w, !by_device || w->until_retired);
        }
    }

private:
    [[gnu::noinline]] void reserve_more(region& r, std::size_t uses)
    {
        for_each_copy_out_before(r, false, [&](stream_clock&, backend::sequence) { ++uses; });
        pool_.reserve(uses);
        if (copies_raw_out(r)) raw_outs_.reserve(raw_outs_.size() + 1);
    }

    static bool copies_raw_out(region& r) noexcept
    {
        return r.item_count != 0 && r.maps()[0].writes_host_raw();
    }

    // Copies to these bytes of the host that are accepted and not retired.
    template <class F>
    void for_each_pending_out(byte_range range, F f)
    {
        environment_.for_each_pending_out(range, f);
        for (region* const other : raw_outs_) {
            map_item const& item = other->maps()[0];
            if (range.overlaps({item.begin(), item.host_end()})) f(*other->stream, other->number);
        }
    }

    // The same for the bytes that such a region copies in, and where copies out are staged for those that it copies out: they are to
    // get to the host in the order in which they leave the device. `decided`: the data environment has.
    template <class F>
    void for_each_copy_out_before(region& r, bool decided, F f)
    {
        if (!may_read_early(r)) return;
        for (map_item const& item : r.maps()) {
            bool const reads = item.reads_host() && (!decided || item.has(map_copy_in));
            bool const writes = traits_.stages_copies && item.bytes != 0 &&
                                !item.has(map_attach | map_unordered) &&
                                item.has(decided ? map_copy_out : map_from | map_copy_out);
            if (reads || writes) for_each_pending_out({item.begin(), item.host_end()}, f);
        }
    }

    device_slot& slot_;
    backend::properties const& traits_;
    data_environment& environment_;
    wait_pool pool_;
    boost::container::small_vector<region*, 8> raw_outs_; // copy to the host without an entry that tells
};

} // namespace omp_co::detail
