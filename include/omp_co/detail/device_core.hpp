// SPDX-License-Identifier: BSL-1.0
// The life of regions on one device: acceptance and enqueueing, on top of their retirement.
//
// Every function is called with the device's lock held; only while commands go to the backend is it given up, unless
// that is quick, and then the stream is marked, so that whoever accepts a region for it meanwhile leaves it to the
// marking thread.
#pragma once

#include <omp_co/detail/aftermath.hpp>
#include <omp_co/detail/data_environment.hpp>
#include <omp_co/detail/dependence_graph.hpp>
#include <omp_co/detail/device_slot.hpp>
#include <omp_co/detail/enqueue.hpp>
#include <omp_co/detail/info.hpp>
#include <omp_co/detail/queue_rules.hpp>
#include <omp_co/detail/region_memory.hpp>
#include <omp_co/detail/region_waits.hpp>
#include <omp_co/detail/retirement.hpp>
#include <omp_co/detail/stream_set.hpp>
#include <omp_co/device_statistics.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <string_view>
#include <utility>

namespace omp_co::detail {

class device_core : private retirement {
public:
    device_core(device_slot& slot, std::unique_ptr<backend::device> device, dependence_graph& dependences)
        : retirement(slot, std::move(device), dependences)
    {
    }

    /// Nothing is in flight. What is still mapped is given back, unless a lost device may still write it.
    ~device_core()
    {
        device_->stop();
        environment_.table().for_each([this](present_entry& e) {
            if (e.owns_block && e.block != nullptr && !lost_) memory_.pool().deallocate(e.block, e.bytes());
        });
        environment_.table().for_each_allocation([this](present_entry& e) {
            if (!lost_) memory_.pool().deallocate(e.block, e.bytes());
        });
    }

    backend::device& device() noexcept { return *device_; }
    data_environment& environment() noexcept { return environment_; }
    block_pool& pool() noexcept { return memory_.pool(); }
    error_code lost() const noexcept { return lost_; }

    /// Accepts a region: gives it its place in the order. An error: it was refused, nothing has changed, and the region is the
    /// caller's again.
    [[gnu::hot, gnu::always_inline]] error_code place(region& r)
    {
        if (lost_) return make_error_code(errc::device_lost);
        queue_ticket* const ticket = ticket_of(r);
        if (ticket != nullptr && is_pointless(*ticket)) {
            r.fail(make_error_code(errc::predecessor_failed), failed_in_queue);
            inform(slot_.number, r, [&](info_writer const& w) { w.failed(environment_.table()); });
            return r.error;
        }
        if (error_code const ec = prepare(r)) return ec;
        r.serial = ++serial_;
        r.decided =
            environment_.apply(r.maps(), r.serial, ticket == nullptr ? nullptr : ticket->lane->stream);
        inform(slot_.number, r, [&](info_writer const& w) { w.accepted(r.maps(), r.serial); });
        region_waits::conflicts const met = waits_.conflicts_of(r);
        stream_queue& s =
            ticket == nullptr ? streams_.pick(r.way, met.followed, traffic()) : place_in_queue(r, *ticket);
        r.stream = &s;
        r.number = ++s.accepted;
        if (met.beside(s) || waits_.may_read_early(r)) waits_.collect(r);
        if (r.item_count != 0) {
            environment_.record(r.maps(), s, r.number, r.serial);
            if ((r.decided & map_copy_out) != 0) ++slot_.pending_outs;
            if (waits_.note(r)) host_changes({r.items->begin(), r.items->host_end()});
        }
        if (dependences_.races().on() && (r.way == region::ordinary || r.way == region::queued))
            dependences_.races().accepted(r, &slot_, slot_.number, environment_.unified());
        ++slot_.in_flight;
        if (r.needs_memory) memory_.queue(r);
        s.parked.push(r);
        return {};
    }

    /// The same for a region that is an allocation for the program: it is in no order.
    error_code place_allocation(region& r) noexcept
    {
        if (lost_) return make_error_code(errc::device_lost);
        ++slot_.in_flight;
        memory_.ask(r);
        return {};
    }

    /// Enqueues what has just been placed, if nothing is in the way.
    [[gnu::hot, gnu::always_inline]] void start(region& r, device_lock& lock, aftermath& out)
    {
        if (r.order != nullptr) note_place(r, out);
        if (!r.stream->enqueuing) drive(*r.stream, lock, out);
        go_on(lock, out);
    }

    void release_held(region& held, device_lock& lock, aftermath& out)
    {
        held.unmet.fetch_sub(1, std::memory_order_relaxed);
        drive(*held.stream, lock, out);
        go_on(lock, out);
    }

    /// Asks every stream with regions in flight how far it has come, once, and retires what is done.
    [[gnu::hot]] void poll(device_lock& lock, aftermath& out)
    {
        streams_.for_each([&](stream_queue& s) {
            if (!s.flying.empty()) reap(s, out);
        });
        go_on(lock, out);
    }

    /// Enqueues what is no longer parked.
    void go_on(device_lock& lock, aftermath& out)
    {
        if (kicked_ || memory_.anybody_waits() || memory_.anybody_asks()) look_at_parked(lock, out);
    }

    void kick() noexcept { kicked_ = true; }

    /// Arms a wake-up for every stream with regions in flight. False: one cannot.
    bool arm() noexcept
    {
        bool armed = true;
        streams_.for_each([&](stream_queue& s) {
            if (!s.flying.empty()) armed &= s.commands->arm();
        });
        return armed;
    }

    /// Whether a region is in flight of which `which(region)` is true.
    template <class Predicate>
    bool has_region(Predicate which) const noexcept
    {
        return streams_.any_region(which);
    }

    device_statistics statistics() const noexcept
    {
        device_statistics copy = statistics_;
        copy.in_flight = slot_.in_flight.load(std::memory_order_relaxed);
        copy.mapped_ranges = mapped_ranges();
        copy.device_bytes = memory_.pool().in_use();
        return copy;
    }

    /// For a region of another device that is about to copy `range` in: parks it until pending copies out of
    /// this device have reached the host.
    void wait_for_copies_out(byte_range range, region& r) { waits_.park_foreign(range, r); }

    /// A region of another device is about to write this host memory.
    void host_changes(byte_range range) noexcept { environment_.host_changes(range); }

    /// A stream for a queue alone. Throws std::bad_alloc.
    stream_queue* open_queue(error_code& ec) { return streams_.open_queue(ec); }
    stream_queue* adopt_queue(void* native, error_code& ec)
    {
        streams_.forget_closed(serial_ + 1);
        return streams_.adopt(native, ec);
    }
    void close_queue(stream_queue& s) noexcept
    {
        streams_.close_queue(s, serial_);
        streams_.forget_closed(serial_ + 1);
    }

    /// Memory on the device for the program, null if there is none.
    void* allocate(std::size_t bytes)
    {
        if (bytes == 0 || lost_) return nullptr;
        return memory_.allocate_for_program(bytes, traits_.host_accessible);
    }

    /// Whether what is given back should be offered soon.
    bool somebody_waits_for_memory() const noexcept { return memory_.anybody_waits(); }

    /// False: it is not the beginning of such memory. Kept until the last region that uses it has retired.
    bool deallocate(void* p) noexcept
    {
        return environment_.memory().deallocate(
            p, [this](void* block, std::size_t bytes) { give_back(block, bytes); });
    }

    /// Undoes wait_for_copies_out.
    void forget(region& r) noexcept
    {
        streams_.for_each([&](stream_queue& s) {
            s.unpark_if([&](stream_wait& w) {
                if (w.parked != &r) return false;
                r.unmet.fetch_sub(1, std::memory_order_relaxed);
                waits_.give(&w);
                return true;
            });
        });
    }

private:
    [[gnu::noinline]] void look_at_parked(device_lock& lock, aftermath& out)
    {
        do {
            if (memory_.anybody_waits()) serve_memory();
            if (memory_.anybody_asks()) notice_loss();
            if (memory_.anybody_asks())
                memory_.answer(static_cast<bool>(lost_), [&](region& r) {
                    --slot_.in_flight;
                    out.done.push(r);
                });
            if (!std::exchange(kicked_, false)) return;
            streams_.for_each([&](stream_queue& s) {
                if (!s.enqueuing) drive(s, lock, out);
            });
        } while (kicked_ || memory_.anybody_waits());
    }

    [[gnu::always_inline]] void note_place(region& r, aftermath& out)
    {
        // The users of a queue may all have been told, and a program may start a whole graph before it waits: nobody else looks. The load
        // grows by one or by two.
        if (r.stream->load() / 2 % (look_every / 2) == 0 && !r.stream->flying.empty()) reap(*r.stream, out);
        if (dependent* const node = node_of(r)) dependences_.accepted(*node, {r.stream, r.number}, out);
    }

    stream_queue& place_in_queue(region& r, queue_ticket& ticket) noexcept
    {
        decide(r, ticket, *device_, traits_);
        return *ticket.lane->stream;
    }

    // Everything that can go wrong before the region counts as accepted.
    [[gnu::hot, gnu::always_inline]] error_code prepare(region& r)
    {
        std::span<map_item> const items = r.maps();
        data_environment::presence const found = environment_.look(items);
        if (found != data_environment::presence::present && !items.empty()) return prepare_new(r, found);
        try {
            if (needs_stream(r))
                if (error_code const ec = streams_.reserve(r.way, traffic())) return ec;
            if (!items.empty() || node_of(r) != nullptr)
                waits_.reserve(r, items.empty() ? 0 : items[0].entry->uses.size());
            return {};
        } catch (std::bad_alloc const&) {
            return make_error_code(errc::out_of_memory);
        }
    }

    // The same for what may bring data.
    [[gnu::hot, gnu::always_inline]] error_code prepare_new(region& r, data_environment::presence found)
    {
        std::span<map_item> const items = r.maps();
        if (found == data_environment::presence::unclear)
            if (refusal const refused = environment_.check(items)) return refuse(r, refused);
        try {
            if (needs_stream(r))
                if (error_code const ec = streams_.reserve(r.way, traffic())) return ec;
            waits_.reserve(r, environment_.reserve(items));
        } catch (std::bad_alloc const&) {
            environment_.discard(items);
            return make_error_code(errc::out_of_memory);
        }
        if (!memory_.anybody_waits()) {
            if (memory_.take(items)) return {};
            if (!memory_.coming() && slot_.in_flight.load(std::memory_order_relaxed) == 0)
                return refuse_for_memory(r);
        }
        memory_.defer(r);
        return {};
    }

    bool needs_stream(region const& r) const noexcept
    {
        if (r.way == region::ordinary) return !streams_.has_one(traffic());
        return r.way != region::queued; // which has its queue's
    }

    [[gnu::cold, gnu::noinline]] error_code refuse(region& r, refusal const& refused)
    {
        error_code const ec = make_error_code(refused.code);
        if (r.why != nullptr) r.fail(ec, describe(refused));
        inform(slot_.number, r, [&](info_writer const& w) {
            r.error = ec;
            w.failed(environment_.table());
        });
        return ec;
    }

    // There was none, and nothing is in flight.
    error_code refuse_for_memory(region& r)
    {
        error_code ec = device_->lost();
        if (ec)
            lose(ec);
        else if (ec = memory_.why_none(); !ec)
            return refuse_for_shortage(r);
        r.fail(ec, lost_ ? std::string_view("the device is lost") : region_memory::cannot_be_used);
        environment_.discard(r.maps());
        return ec;
    }

    error_code refuse_for_shortage(region& r)
    {
        error_code const ec = make_error_code(errc::out_of_memory);
        if (r.why != nullptr) r.fail(ec, memory_.describe_shortage(r.maps(), traits_.memory_limit));
        environment_.discard(r.maps());
        return ec;
    }

    // Where nothing is in flight nobody else does.
    bool notice_loss() noexcept
    {
        error_code const ec = device_->lost();
        if (!ec || lost_ || anything_flying()) return false;
        lose(ec);
        return true;
    }

    void serve_memory() noexcept
    {
        if (!notice_loss() && memory_.serve([this] { return !anything_flying(); })) kicked_ = true;
    }

    bool anything_flying() const noexcept
    {
        return streams_.any_of([&](stream_queue const& s) {
            if (!s.flying.empty() || s.enqueuing) return true;
            region const* const head = s.parked.front();
            if (head == nullptr) return false;
            // Its copy is under way, unless that waits on the other device for what waits here for memory.
            if (head->way == region::held) return waits_are_over(*head) && precedes_waiters(*head);
            return ready(s) || goes_on(*head);
        });
    }

    // Who comes later may rely on one that waits for memory.
    bool precedes_waiters(region const& r) const noexcept
    {
        return !memory_.anybody_waits() || r.serial < memory_.first().serial;
    }

    static bool waits_are_over(region const& r) noexcept
    {
        for (stream_wait const* w = r.waits; w != nullptr; w = w->next)
            if (w->number > w->stream->retired) return false;
        return true;
    }

    // Parked for another device's region only, and accepted before whoever is first in the queue for memory: it
    // will run and retire, with no help from there.
    bool goes_on(region const& r) const noexcept
    {
        if (r.needs_memory || !precedes_waiters(r)) return false;
        for (stream_wait const* w = r.waits; w != nullptr; w = w->next) {
            bool const by_device = traits_.device_waits && !w->until_retired;
            if (w->number > (by_device ? w->stream->enqueued : w->stream->retired)) return false;
        }
        return true;
    }

    bool ready(stream_queue const& s) const noexcept
    {
        region* const r = s.parked.front();
        if (r->needs_memory || r->unmet.load(std::memory_order_acquire) != 0) return false;
        std::size_t const limit = traits_.command_limit;
        if (limit == 0 || s.commands_flying == 0 || lost_) return true;
        std::size_t wanted =
            s.commands_flying + 2 + (r->why == nullptr ? 0 : 2) + (ticket_of(*r) == nullptr ? 0 : 2);
        if (r->waits != nullptr || (r->decided & (moves_in | map_copy_out)) != 0)
            wanted += commands_before_and_behind(*r);
        return wanted <= limit;
    }

    // Waits and motions, at most.
    std::size_t commands_before_and_behind(region& r) const noexcept
    {
        std::size_t commands = 0;
        for (stream_wait const* w = r.waits; w != nullptr; w = w->next) ++commands;
        for (map_item const& item : r.maps()) commands += 2 * commands_of(traits_, item);
        return commands;
    }

    stream_set::traffic traffic() const noexcept
    {
        return {serial_, slot_.in_flight.load(std::memory_order_relaxed)};
    }

    // Whether to enqueue it takes about as long as to give the lock up and take it again.
    bool is_quick(region& r) const noexcept
    {
        if (traits_.quick_enqueueing) return true;
        if (!traits_.inline_execution || r.call != nullptr) return false;
        constexpr std::size_t most = 8192;
        std::size_t moved = 0;
        for (map_item const& item : r.maps()) {
            if (item.has(map_raw) || item.shape != nullptr) return false; // another device's, or many rows
            if (item.has(map_copy_in | map_copy_out)) moved += item.bytes;
        }
        return moved <= most;
    }

    // The error is its signal's. The lock not by way of its own functions, which would check what is known here.
    [[gnu::hot, gnu::always_inline]] error_code send(stream_queue& s, region& r, std::mutex& held) noexcept
    {
        s.current = &r;
        bool const quick = is_quick(r);
        if (!quick) held.unlock();
        error_code const signalled = enqueue(traits_, r);
        if (!quick) held.lock();
        s.current = nullptr;
        if (traits_.refuses_at_signal && s.commands->refuses()) note_refusal(s, r);
        return signalled;
    }

    [[gnu::hot]] void drive(stream_queue& s, device_lock& lock, aftermath& out)
    {
        s.enqueuing = true;
        while (!s.parked.empty() && ready(s)) {
            region& r = *s.parked.pop();
            environment_.resolve(r.maps());
            inform(slot_.number, r, [&](info_writer const& w) { w.moves(r.maps()); });
            queue_ticket* const ticket = ticket_of(r);
            if (ticket != nullptr) skip_after_failure(r, *ticket);
            meet_failures(r);
            bool const is_sent = !lost_ && s.commands != nullptr;
            error_code const signalled = is_sent ? send(s, r, *lock.mutex()) : error_code();
            if (r.error) environment_.fail(r.maps(), r.serial, serial_, r.arrived);
            s.enqueued = r.number;
            s.commands_flying += r.commands;
            s.flying.push(r);
            if (ticket != nullptr) note_enqueued(r, *ticket);
            if (ticket != nullptr && ticket->consumed == 0) tell_early(s, r, *ticket, out);
            if (s.waiters != nullptr) notify(s, out);
            // Without its signal nobody can tell when the region is done.
            if (signalled) lose(signalled);
            if (s.commands == nullptr) {
                retire_unsent(s, out);
            } else if (lost_ || traits_.inline_execution) {
                reap(s, out);
            }
        }
        s.enqueuing = false;
    }

    std::size_t mapped_ranges() const noexcept
    {
        std::size_t live = 0;
        const_cast<data_environment&>(environment_).table().for_each([&](present_entry& e) {
            live += e.live();
        });
        return live;
    }

    static constexpr std::uint64_t look_every = 32; ///< regions of a stream
};

} // namespace omp_co::detail
