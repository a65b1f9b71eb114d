// SPDX-License-Identifier: BSL-1.0
// A region as commands of its stream.
#pragma once

#include <omp_co/backend.hpp>
#include <omp_co/detail/joined_pointers.hpp>
#include <omp_co/detail/map_item.hpp>
#include <omp_co/detail/queue_rules.hpp>
#include <omp_co/detail/region.hpp>
#include <omp_co/detail/stream_queue.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace omp_co::detail {

/// Whether the device takes the box as it is.
inline bool is_one_command(backend::properties const& traits, backend::box const& shape) noexcept
{
    return traits.box_stride_limit != 0 &&
           std::max(shape.host.row, shape.device.row) <= traits.box_stride_limit;
}

/// What is moved before the kernel runs.
inline constexpr std::uint32_t moves_in = map_copy_in | map_within | map_fill | map_from_device;

/// How many commands a motion takes at most.
inline std::uint32_t commands_of(backend::properties const& traits, map_item const& item) noexcept
{
    if (item.is_plain()) return 1;
    std::uint32_t more = 0;
    for (attachment_record const* a = item.joined; a != nullptr; a = a->next) ++more;
    if (item.shape == nullptr || (is_one_command(traits, *item.shape) && !item.has(map_from_device)))
        return 1 + more;
    constexpr std::size_t most = std::size_t{1} << 30;
    return more + static_cast<std::uint32_t>(std::min(most, item.shape->rows * item.shape->slices));
}

/// From another device, row by row.
inline error_code copy_from(backend::stream& out, map_item const& item) noexcept
{
    backend::box whole;
    whole.row = item.bytes;
    backend::box const& shape = item.shape == nullptr ? whole : *item.shape;
    error_code ec;
    shape.for_each_row([&](std::size_t to, std::size_t from) {
        if (!ec)
            ec = out.copy_from(static_cast<char*>(item.device) + to, *item.source, item.begin() + from,
                               shape.row);
    });
    return ec;
}

inline error_code move_in(backend::properties const& traits, backend::stream& out,
                          map_item const& item) noexcept
{
    char* const device = static_cast<char*>(item.device);
    backend::box const* const shape = item.shape;
    if (item.has(map_within)) {
        if (shape == nullptr) return out.copy_within(device, item.host, item.bytes);
        return is_one_command(traits, *shape) ? out.copy_box_within(device, item.host, *shape)
                                              : out.copy_rows_within(device, item.host, *shape);
    }
    if (item.has(map_from_device)) return copy_from(out, item);
    if (item.has(map_fill)) return out.fill(device, static_cast<unsigned char>(item.leader), item.bytes);
    if (item.joined != nullptr)
        return for_each_gap(item, [&](std::size_t at, std::size_t bytes) {
            return out.copy_in(device + at, item.begin() + at, bytes);
        });
    if (shape == nullptr) return out.copy_in(device, item.host, item.bytes);
    return is_one_command(traits, *shape) ? out.copy_box_in(device, item.host, *shape)
                                          : out.copy_rows_in(device, item.host, *shape);
}

inline error_code move_out(backend::properties const& traits, backend::stream& out,
                           map_item const& item) noexcept
{
    char const* const device = static_cast<char const*>(item.device);
    backend::box const* const shape = item.shape;
    if (item.joined != nullptr)
        return for_each_gap(item, [&](std::size_t at, std::size_t bytes) {
            return out.copy_out(item.begin() + at, device + at, bytes);
        });
    if (shape == nullptr) return out.copy_out(item.host, device, item.bytes);
    return is_one_command(traits, *shape) ? out.copy_box_out(item.host, device, *shape)
                                          : out.copy_rows_out(item.host, device, *shape);
}

template <bool OnQueue>
[[gnu::hot, gnu::always_inline]] inline error_code enqueue_as(backend::properties const& traits,
                                                              region& r) noexcept
{
    backend::stream& out = *r.stream->commands;
    error_code ec = r.error;
    queue_ticket* const ticket = OnQueue ? r.order->ticket : nullptr;
    auto const number_taken =
        [&](error_code refused) { // also if there is nothing before it: none is left out
            if (!ec) ec = refused;
            ++r.commands;
        };
    if (ticket != nullptr && ticket->renews != 0) number_taken(out.signal(ticket->renews));
    if (traits.device_waits)
        for (stream_wait* w = r.waits; w != nullptr && !ec; w = w->next, ++r.commands)
            if (w->stream->commands != nullptr && !w->until_retired)
                ec = out.wait(*w->stream->commands, w->number);
    bool const timed = r.why != nullptr && !ec;
    if (timed) ec = out.begin_timing(r.why->timing(), r.call);
    if ((r.decided & moves_in) != 0) {
        char* staging = ticket == nullptr ? nullptr : ticket->staging.get();
        for (map_item const& item : r.maps()) {
            if (ec || !item.has(moves_in) || item.has(map_attach)) continue;
            if (item.is_plain()) {
                void const* source = item.host;
                if (staging != nullptr) {
                    source = std::memcpy(staging, item.host, item.bytes);
                    staging += item.bytes;
                }
                ec = out.copy_in(item.device, source, item.bytes);
                ++r.commands;
                continue;
            }
            ec = move_in(traits, out, item);
            r.commands += commands_of(traits, item);
        }
    }
    if ((r.decided & map_attach) != 0) // behind the structures that they are in
        for (map_item const& item : r.maps()) {
            if (ec || !item.has(map_attach) || !item.has(map_copy_in)) continue;
            ec = out.copy_in(item.device, &item.attached->value, item.bytes);
            ++r.commands;
        }
    r.arrived = !ec;
    if (ticket != nullptr && ticket->consumed != 0) number_taken(out.mark(ticket->consumed));
    if (r.call != nullptr && !ec) {
        ec = out.launch(*r.call);
        ++r.commands;
    }
    if ((r.decided & map_copy_out) != 0)
        for (map_item const& item : r.maps()) {
            if (ec || !item.has(map_copy_out)) continue;
            ec = item.is_plain() ? out.copy_out(item.host, item.device, item.bytes)
                                 : move_out(traits, out, item);
            r.commands += commands_of(traits, item);
        }
    if (timed && !ec) ec = out.end_timing(r.why->timing());
    if (timed) r.commands += 2;
    if (timed && !ec) r.why->timing().measured = true;
    if (ec) r.fail(ec, "the device refused a command");
    ++r.commands;
    return ticket != nullptr ? out.mark(r.number) : out.signal(r.number);
}

/// Enqueues a region's waits, copies in, kernel, copies out and signal, and counts them. What is refused is the region's
/// error; what is returned is its signal's.
[[gnu::hot, gnu::always_inline]] inline error_code enqueue(backend::properties const& traits,
                                                           region& r) noexcept
{
    return ticket_of(r) == nullptr ? enqueue_as<false>(traits, r) : enqueue_as<true>(traits, r);
}

} // namespace omp_co::detail
