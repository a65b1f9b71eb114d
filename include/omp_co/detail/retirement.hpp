// SPDX-License-Identifier: BSL-1.0
// How regions on one device end: how far its streams have come, what failed, and what follows from that.
//
// Every function is called with the device's lock held.
#pragma once

#include <omp_co/detail/aftermath.hpp>
#include <omp_co/detail/data_environment.hpp>
#include <omp_co/detail/dependence_graph.hpp>
#include <omp_co/detail/device_slot.hpp>
#include <omp_co/detail/info.hpp>
#include <omp_co/detail/outdated.hpp>
#include <omp_co/detail/queue_rules.hpp>
#include <omp_co/detail/region_memory.hpp>
#include <omp_co/detail/region_waits.hpp>
#include <omp_co/detail/stream_set.hpp>
#include <omp_co/device_statistics.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace omp_co::detail {

/// The half of device_core that comes after enqueueing, with all that both halves share.
class retirement {
protected:
    retirement(device_slot& slot, std::unique_ptr<backend::device> device, dependence_graph& dependences)
        : slot_(slot),
          dependences_(dependences),
          device_(std::move(device)),
          traits_(device_->traits()),
          environment_(traits_.unified_memory),
          memory_(*device_, environment_),
          watch_(device_->watch()),
          waits_(slot_, traits_, environment_),
          streams_(*device_)
    {
        environment_.table().watch(watch_);
    }
    retirement(retirement const&) = delete;
    retirement& operator=(retirement const&) = delete;
    ~retirement() = default;

    /// Asks a stream how far it has come, once, and retires what is done.
    [[gnu::hot]] void reap(stream_queue& s, aftermath& out)
    {
        if (!lost_) {
            backend::progress const at = s.commands->completed();
            reap_through(s, at, out);
            end_dependents(out);
            if (!at.error) return;
            lose(at.error);
        }
        fail_flying(s, out);
    }

    /// Retires the first region of a stream that has no commands, and so is done once it is enqueued.
    void retire_unsent(stream_queue& s, aftermath& out)
    {
        retire(s, out);
        end_dependents(out);
    }

    /// A region that relies on one that failed fails too.
    [[gnu::hot]] void meet_failures(region& r) noexcept
    {
        dependent const* const node = node_of(r);
        if (environment_.has_failed() || (node != nullptr && node->predecessor_failed))
            meet_failures_before(r);
    }

    /// Tells the user of a queue that a region's copies in are over, unless what the program puts into its own stream afterwards might get
    /// in front of it. False: not yet.
    static bool tell_early(stream_queue& s, region& r, queue_ticket& t, aftermath& out) noexcept
    {
        t.consumed = 0;
        t.late = s.adopted && s.commands != nullptr && !s.commands->handed_over(r.number);
        if (!t.late) sources_consumed(r, t, out);
        return !t.late;
    }

    /// The backend has refused a command when it took the region's signal.
    [[gnu::cold, gnu::noinline]] static void note_refusal(stream_queue& s, region& r) noexcept
    {
        note_failure(r, s.commands->refused(r.number));
    }

    /// Wakes the parked regions whose wait on this stream is over.
    void notify(stream_queue& s, aftermath& out)
    {
        s.unpark_if([&](stream_wait& w) {
            if (w.number > (w.until_retired ? s.retired : s.enqueued)) return false;
            region& r = *w.parked;
            device_slot* const slot = r.slot; // read first: at zero the region is somebody else's
            if (w.foreign) waits_.give(&w);
            if (r.unmet.fetch_sub(1, std::memory_order_acq_rel) != 1) return true;
            if (slot == &slot_)
                kicked_ = true;
            else
                out.kick(*slot);
            return true;
        });
    }

    /// A block that nobody uses any more.
    void give_back(void* block, std::size_t bytes) noexcept
    {
        if (lost_)
            memory_.pool().leak(block, bytes);
        else
            memory_.pool().deallocate(block, bytes);
    }

    /// Nothing runs on the device any more.
    void lose(error_code ec) noexcept
    {
        lost_ = ec;
        kicked_ = true;
        memory_.give_up();
    }

    device_slot& slot_;
    dependence_graph& dependences_;
    std::unique_ptr<backend::device> device_;
    backend::properties const& traits_;
    data_environment environment_;
    region_memory memory_;
    backend::host_watch* watch_;
    region_waits waits_;
    stream_set streams_;
    std::uint64_t serial_ = 0; ///< of the region that was accepted last
    device_statistics statistics_;
    error_code lost_;
    bool kicked_ = false; ///< something that is parked may go on

private:
    [[gnu::cold, gnu::noinline]] void fail_flying(stream_queue& s, aftermath& out)
    {
        while (!s.flying.empty()) {
            s.flying.front()->fail(lost_, "the device is lost");
            retire(s, out);
        }
        end_dependents(out);
    }

    // Of all that has just retired, for the price of one lock.
    void end_dependents(aftermath& out) noexcept
    {
        if (!ended_.empty()) dependences_.end(ended_, out);
    }

    // What a region waited for retires first, whichever stream is noticed first: it may have relied on that.
    [[gnu::noinline]] void reap_awaited(region const& r, aftermath& out)
    {
        for (stream_wait* w = r.waits; w != nullptr; w = w->next) {
            if (w->stream->retired >= w->number) continue;
            backend::progress other = w->stream->commands->completed();
            other.completed = std::min(other.completed, w->number);
            reap_through(*w->stream, other, out);
        }
    }

    [[gnu::hot, gnu::always_inline]] void reap_through(stream_queue& s, backend::progress const& at,
                                                       aftermath& out)
    {
        while (!s.flying.empty() && s.flying.front()->number <= at.completed) {
            region& r = *s.flying.front();
            if (r.waits != nullptr) reap_awaited(r, out);
            if (at.failures) {
                queue_ticket const* const ticket = ticket_of(r);
                if (ticket != nullptr && ticket->consumed != 0)
                    note_failure(r, s.commands->take_failure(ticket->consumed));
                note_failure(r, s.commands->take_failure(r.number));
            }
            retire(s, out);
        }
        if (s.ordered && !s.flying.empty()) look_for_consumed(s, at, out);
    }

    [[gnu::noinline]] void meet_failures_before(region& r) noexcept
    {
        if (r.error) return;
        if (environment_.relied_on_failure(r.maps(), r.serial))
            return r.fail(make_error_code(errc::predecessor_failed), "data that it uses never arrived");
        dependent const* const node = node_of(r);
        if (node != nullptr && node->predecessor_failed && !node->goes_on)
            r.fail(make_error_code(errc::predecessor_failed), dependence_graph::failed_before);
    }

    // The copies in of the region that is at work may be over, and others be handed over.
    void look_for_consumed(stream_queue& s, backend::progress const& at, aftermath& out) noexcept
    {
        region& r = *s.flying.front();
        queue_ticket* const ticket = ticket_of(r);
        if (ticket != nullptr && ticket->consumed != 0 && ticket->consumed <= at.completed) {
            if (at.failures) note_failure(r, s.commands->take_failure(ticket->consumed));
            tell_early(s, r, *ticket, out);
        }
        if (!s.adopted) return;
        for (region* late = s.flying.front(); late != nullptr; late = late->next) {
            queue_ticket* const its = ticket_of(*late);
            if (its != nullptr && its->late && !tell_early(s, *late, *its, out)) return;
        }
    }

    [[gnu::hot]] void retire(stream_queue& s, aftermath& out)
    {
        region& r = *s.flying.pop();
        s.retired = r.number;
        s.commands_flying -= r.commands;
        if (!s.parked.empty()) kicked_ = true;
        meet_failures(r);
        if (r.why != nullptr && r.why->timing().measured && !lost_) s.commands->measure(r.why->timing());
        while (r.waits != nullptr) waits_.give(std::exchange(r.waits, r.waits->next));
        if (queue_ticket* const ticket = ticket_of(r)) settle(r, *ticket, out);
        count(r);
        if (r.error) inform(slot_.number, r, [&](info_writer const& w) { w.failed(environment_.table()); });
        if (watch_ != nullptr) tell(*watch_, r);
        if (r.item_count != 0) {
            if (r.error) undo(r);
            environment_.retire(r.maps(), r.serial,
                                [this](void* block, std::size_t bytes) { give_back(block, bytes); });
        }
        if (s.waiters != nullptr) notify(s, out);
        if (dependences_.races().on()) dependences_.races().ended(r);
        if (node_of(r) != nullptr) {
            if (r.error) // what retires next may be its successor, and is to know
                dependences_.end(*r.order, r.error, out);
            else
                ended_.push(*r.order);
        }
        --slot_.in_flight;
        out.done.push(r);
    }

    [[gnu::cold, gnu::noinline]] void undo(region& r) noexcept
    {
        queue_ticket const* const ticket = ticket_of(r);
        auto counts = data_environment::undone_counts::begun;
        if (ticket != nullptr && !tell_scope(r, *ticket))
            counts = data_environment::undone_counts::none;
        else if (ticket != nullptr && undoes_all(r, *ticket))
            counts = data_environment::undone_counts::all;
        environment_.undo(r.maps(), r.serial, r.arrived, counts, serial_,
                          ticket == nullptr ? nullptr : r.stream);
    }

    [[gnu::hot, gnu::always_inline]] void count(region& r) noexcept
    {
        ++statistics_.regions;
        if ((r.decided & map_copy_out) != 0) --slot_.pending_outs;
        if ((r.decided & (map_copy_in | map_copy_out)) != 0 && !r.error) count_motions(r);
        waits_.forget(r);
    }

    void count_motions(region& r) noexcept
    {
        for (map_item const& item : r.maps()) {
            if (item.has(map_copy_in) && !item.has(map_attach)) {
                ++statistics_.copies_in;
                statistics_.bytes_in += item.moved_bytes();
            }
            if (!item.has(map_copy_out)) continue;
            ++statistics_.copies_out;
            statistics_.bytes_out += item.moved_bytes();
        }
    }

    static void note_failure(region& r, backend::failure const& f) noexcept
    {
        if (!f.error) return;
        r.arrived = r.arrived && f.arrived;
        r.fail(f.error, f.what);
    }

    ended_dependents ended_; ///< have retired, and dependences_ is to know
};

} // namespace omp_co::detail
