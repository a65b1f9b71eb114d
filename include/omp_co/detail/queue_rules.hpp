// SPDX-License-Identifier: BSL-1.0
// When the constructs of a queue are told that they are done, and which of them hears of an error.
#pragma once

#include <omp_co/detail/aftermath.hpp>
#include <omp_co/detail/dependent.hpp>
#include <omp_co/detail/map_item.hpp>
#include <omp_co/detail/present_table.hpp>
#include <omp_co/detail/queue_lane.hpp>
#include <omp_co/error.hpp>

#include <cstddef>
#include <new>
#include <utility>

namespace omp_co::detail {

inline queue_ticket* ticket_of(region const& r) noexcept
{
    return r.order == nullptr ? nullptr : r.order->ticket;
}

/// Copies in up to this size are staged when they are enqueued, so that nobody waits for the device to read them.
inline constexpr std::size_t largest_staged = std::size_t{256} << 10;

/// Whether the program may read on the host, without a copy, what a kernel does with this data.
inline bool is_zero_copy(map_item const& item, backend::device& device,
                         backend::properties const& traits) noexcept
{
    if (item.has(map_raw)) return false;
    bool const names_data = item.bytes != 0 || item.has(map_used);
    if (traits.unified_memory) return names_data;
    if (!item.has(map_device) || item.host == nullptr) return false;
    if (item.entry != nullptr && !item.entry->is_associated()) return item.entry->on_host_too;
    return device.host_reaches(item.host);
}

/// Whether a failure was told since it was started. It may rely on what was skipped, as what was accepted by then does.
inline bool is_belated(queue_ticket const& t) noexcept
{
    return t.told_before != t.lane->told.load(std::memory_order_relaxed);
}

/// The data environment has decided what moves: fixes when the region's user may be told. Later copies in end with a signal
/// of their own.
inline void decide(region& r, queue_ticket& t, backend::device& device,
                   backend::properties const& traits) noexcept
{
    queue_lane& lane = *t.lane;
    if (is_belated(t)) {
        t.belated = t.waits = true;
        return;
    }
    if (std::exchange(lane.renew, false)) lane.renewed = t.renews = ++lane.stream->accepted;
    if ((r.decided & (map_copy_in | map_copy_out | map_device)) == 0 && !traits.unified_memory) return;
    std::size_t total = 0;
    bool plain = true;
    for (map_item const& item : r.maps()) {
        if (item.has(map_copy_out) || is_zero_copy(item, device, traits)) t.waits = true;
        if (!item.has(map_copy_in) || item.has(map_attach)) continue;
        total += item.bytes;
        plain = plain && item.is_plain();
    }
    if (t.waits) return;
    for (map_item const& item : r.maps()) // what the program may change soon
        if (item.has(map_copy_in) && item.entry != nullptr) item.entry->synced = {};
    if (total == 0 || traits.inline_execution) return;
    if (plain && total <= largest_staged) t.staging.reset(new (std::nothrow) char[total]);
    if (t.staging == nullptr) t.consumed = ++lane.stream->accepted;
}

inline void tell(queue_ticket& t, aftermath& out) noexcept
{
    if (t.user != nullptr) out.done.push(*std::exchange(t.user, nullptr));
}

/// Whether it is to end a mapping that never was, and its program was told of the failure. If that was not told yet, it will be
/// skipped as the beginning was.
inline bool has_nothing_to_end(queue_ticket const& t) noexcept
{
    if (!t.ends_scope || t.scope == nullptr || !t.scope->is_undone()) return false;
    return t.lane->renew || t.lane->renewed > t.scope->number;
}

/// Whether it is not to be accepted. The end of a data region is: nobody else ends the mapping.
inline bool is_pointless(queue_ticket const& t) noexcept
{
    return has_nothing_to_end(t) || (is_belated(t) && !t.ends_scope);
}

/// A region that failed may be the beginning of a data region, whose end is to know. False: that was abandoned, and has given its counts
/// back.
inline bool tell_scope(region const& r, queue_ticket const& t) noexcept
{
    return t.scope == nullptr || t.ends_scope || t.scope->undo(r.number);
}

/// Whether nothing of a region that failed counts, and what it was to end lives on: it was skipped. The end of a data region counts,
/// if its beginning does.
inline bool undoes_all(region const& r, queue_ticket const& t) noexcept
{
    if (r.error != errc::predecessor_failed) return false;
    return t.scope == nullptr || !t.ends_scope || t.scope->is_undone();
}

/// The region is about to be enqueued.
inline void skip_after_failure(region& r, queue_ticket& t) noexcept
{
    queue_lane& lane = *t.lane;
    if (t.renews != 0) {
        lane.skipping = false;
        ++lane.renewing;
    } else if (lane.skipping || t.belated) {
        r.fail(make_error_code(errc::predecessor_failed), failed_in_queue);
    }
}

/// It was enqueued, or not if it has failed before.
inline void note_enqueued(region const& r, queue_ticket const& t) noexcept
{
    if (r.error && !t.belated) t.lane->skipping = true;
}

/// Keeps the order of the stream, for they leave from the front as it retires them. Who has data read late comes late, and before the rest.
inline void withhold(queue_lane& lane, region& r) noexcept
{
    if (lane.withheld != nullptr && lane.last_withheld->number < r.number) {
        ticket_of(*lane.last_withheld)->next_withheld = &r;
        lane.last_withheld = &r;
        return;
    }
    region** at = &lane.withheld;
    while (*at != nullptr && (*at)->number < r.number) at = &ticket_of(**at)->next_withheld;
    ticket_of(r)->next_withheld = std::exchange(*at, &r);
    if (ticket_of(r)->next_withheld == nullptr) lane.last_withheld = &r;
}

/// Its sources are not needed any more. Its user is told if the queue has room for more.
inline void sources_consumed(region& r, queue_ticket& t, aftermath& out) noexcept
{
    t.consumed = 0;
    queue_lane& lane = *t.lane;
    if (t.waits || t.user == nullptr) return;
    if (lane.withheld == nullptr && lane.stream->load() <= lane.limit) return tell(t, out);
    withhold(lane, r);
}

/// It retires: the first error goes to the next one that waits. What was started before that was told relies on what never happened, as
/// the one that failed does.
inline void note_outcome(region& r, queue_ticket& t) noexcept
{
    queue_lane& lane = *t.lane;
    if (t.renews != 0) {
        --lane.renewing;
        lane.failing = false;
    }
    if (lane.failing) {
        r.arrived = false;
        r.fail(make_error_code(errc::predecessor_failed), failed_in_queue);
    }
    if (r.error) lane.failing = true;
    // A consequence of what was told is worth less than another failure.
    if (r.error && (!lane.pending || lane.pending == errc::predecessor_failed)) lane.pending = r.error;
    if (t.waits && lane.pending) {
        t.report = std::exchange(lane.pending, {});
        // Once for a failure and all that it skips, some of which may be heard of only now.
        if (lane.failing && lane.renewed < r.number && !std::exchange(lane.renew, true))
            lane.told.fetch_add(1, std::memory_order_release);
    }
    if (lane.failing && lane.renewing == 0) lane.skipping = true;
}

/// It retires. Users that waited for room may be told.
inline void settle(region& r, queue_ticket& t, aftermath& out) noexcept
{
    queue_lane& lane = *t.lane;
    if (t.belated)
        t.report = r.error; // what it fails for was told, and what is behind it was started after that
    else
        note_outcome(r, t);
    while (lane.withheld != nullptr && (lane.withheld == &r || lane.stream->load() <= lane.limit)) {
        region& next = *lane.withheld;
        queue_ticket& its = *ticket_of(next);
        lane.withheld = its.next_withheld;
        tell(its, out);
    }
    if (!t.waits) tell(t, out);
}

} // namespace omp_co::detail
