// SPDX-License-Identifier: BSL-1.0
// The copies of one stream between the host and the device. Pinned memory goes to the driver as it is; all other memory
// through pinned buffers, because the driver would block its caller for it until the stream has come that far.
#pragma once

#include <omp_co/cuda/command.hpp>
#include <omp_co/cuda/copy_piece.hpp>
#include <omp_co/cuda/parts.hpp>
#include <omp_co/cuda/pinned_ranges.hpp>
#include <omp_co/cuda/ring.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <limits>
#include <mutex>

namespace omp_co::cuda::engine {

/// `copy` is for whoever submits the stream's commands at the time, `go_on` for the helper, `settle` for whoever
/// reports completions.
class transfers {
public:
    static constexpr backend::sequence none = std::numeric_limits<backend::sequence>::max();

    explicit transfers(parts& p) noexcept : parts_(p) {}

    /// Submits a copy, or as much of it as can be submitted now; `number` is its region's. `failed` is set if the
    /// driver refused it. The context is current.
    help copy(command& c, driver::stream_handle where, backend::sequence number, bool on_helper,
              result& failed) noexcept
    {
        if (c.bytes == 0) return help::finished;
        if (pinned(c)) {
            copy_piece const all = piece_of(c, 0, c.bytes);
            failed = submit(c, all, all.host, all.host_strides, where);
            return help::finished;
        }
        if (c.bytes <= staging::largest_block) {
            unsigned const kind = staging::kind_for(c.bytes);
            staging::buffer b = parts_.buffers.take(kind);
            if (b.data == nullptr) {
                if (!on_helper) return help::waits_for_device;
                if (parts_.buffers.grow(kind)) b = parts_.buffers.take(kind);
            }
            if (b.data != nullptr) {
                failed = copy_block(c, b, where, number);
                return help::finished;
            }
        }
        return on_helper ? copy_chunk(c, where, number, failed) : help::waits_for_device;
    }

    /// Chunks that the device is done with: those that came from it are copied to where they belong.
    help go_on() noexcept
    {
        help answer = help::finished;
        while (!chunks_.empty()) {
            flight const& f = chunks_.front();
            result const r = parts_.device.driver().event_query(f.event);
            if (!parts_.device.answers(r) || r != result::success)
                return answer == help::moved ? answer : help::waits_for_device;
            if (f.to.host != nullptr) f.to.unpack(f.buffer.data);
            parts_.events.give(f.event);
            parts_.buffers.give(f.buffer);
            chunks_.pop();
            announce();
            answer = help::moved;
        }
        return answer;
    }

    bool chunks_in_flight() noexcept { return !chunks_.empty(); }

    /// The first region some of whose data has not reached the host, though the device may be done.
    backend::sequence unfinished() const noexcept { return unfinished_.load(std::memory_order_acquire); }

    /// Everything up to `number` is known to be done: the data arrives on the host, and the buffers are free.
    void settle(backend::sequence number) noexcept
    {
        if (held_count_.load(std::memory_order_acquire) == 0) return;
        std::lock_guard guard(mutex_);
        while (!held_.empty() && held_.front().number <= number) {
            held const& h = held_.front();
            if (h.to.host != nullptr) h.to.unpack(h.buffer.data);
            parts_.buffers.give(h.buffer);
            held_.pop();
        }
        held_count_.store(held_.size(), std::memory_order_release);
    }

    /// The region has failed: what it would have copied out does not reach the host.
    void abandon(backend::sequence number, bool on_helper) noexcept
    {
        {
            std::lock_guard guard(mutex_);
            held_.for_each([&](held& h) {
                if (h.number == number) h.to.host = nullptr;
            });
        }
        if (!on_helper) return; // then it has no chunks
        chunks_.for_each([&](flight& f) {
            if (f.number == number) f.to.host = nullptr;
        });
        announce();
    }

    /// Nothing is in flight any more, and nobody else calls.
    void release() noexcept
    {
        for (; !chunks_.empty(); chunks_.pop()) {
            parts_.events.give(chunks_.front().event);
            parts_.buffers.give(chunks_.front().buffer);
        }
        for (; !held_.empty(); held_.pop()) parts_.buffers.give(held_.front().buffer);
    }

    /// The device is lost: nothing more is copied, and no buffer is given back, for the device may still write.
    void drop() noexcept
    {
        for (; !chunks_.empty(); chunks_.pop()) parts_.events.give(chunks_.front().event);
        unfinished_.store(none, std::memory_order_release);
    }

private:
    /// A buffer that is free once region `number` is done, and then has to go to the user's memory, if `to` names some.
    struct held {
        backend::sequence number = 0;
        staging::buffer buffer;
        copy_piece to;
    };

    /// The same for a chunk, whose event tells.
    struct flight {
        driver::event_handle event = nullptr;
        backend::sequence number = 0;
        staging::buffer buffer;
        copy_piece to;
    };

    // For small copies, asking the driver costs more than staging.
    bool pinned(command const& c) const noexcept
    {
        std::size_t const reach = c.shape == nullptr ? c.bytes : c.shape->reach(c.shape->host);
        if (pinned_ranges::all().hold(c.host, reach)) return true;
        if (c.bytes <= staging::largest_block || c.done != 0) return false;
        return driver_knows(c.host) && driver_knows(c.host + reach - 1);
    }

    // Registered by somebody else, or managed.
    bool driver_knows(char const* p) const noexcept
    {
        driver::memory_type type{};
        return parts_.device.driver().pointer_get_attribute(&type, driver::pointer_attribute::memory_type,
                                                            reinterpret_cast<driver::device_address>(p)) ==
               result::success;
    }

    // Between the piece's place on the device and `host`, which is the user's memory or a buffer.
    result submit(command const& c, copy_piece const& p, char* host, backend::box::strides host_strides,
                  driver::stream_handle where) noexcept
    {
        result const r =
            p.submit(parts_.device.driver(), c.what == command::kind::copy_in, host, host_strides, where);
        (void)parts_.device.check(r);
        return r;
    }

    result copy_block(command const& c, staging::buffer b, driver::stream_handle where,
                      backend::sequence number) noexcept
    {
        bool const in = c.what == command::kind::copy_in;
        std::lock_guard guard(mutex_);
        try {
            held_.reserve(1);
        } catch (...) {
            parts_.buffers.give(b);
            return result::out_of_memory;
        }
        copy_piece p = piece_of(c, 0, c.bytes);
        if (in) p.pack(b.data);
        result const r = submit(c, p, b.data, p.packed(), where);
        if (r != result::success) {
            parts_.buffers.give(b);
            return r;
        }
        if (in) p.host = nullptr;
        held_.push({number, b, p});
        held_count_.store(held_.size(), std::memory_order_release);
        return r;
    }

    help copy_chunk(command& c, driver::stream_handle where, backend::sequence number,
                    result& failed) noexcept
    {
        staging::buffer b = parts_.buffers.take(staging::chunk);
        if (b.data == nullptr && parts_.buffers.grow(staging::chunk)) b = parts_.buffers.take(staging::chunk);
        if (b.data == nullptr) {
            if (parts_.buffers.has(staging::chunk)) return help::waits_for_device; // until one comes back
            failed = result::out_of_memory;
            return help::finished;
        }
        bool const in = c.what == command::kind::copy_in;
        copy_piece p = piece_of(c, c.done, staging::chunk_bytes);
        failed = result::out_of_memory;
        try {
            chunks_.reserve(1);
        } catch (...) {
            parts_.buffers.give(b);
            return help::finished;
        }
        if (in) p.pack(b.data);
        failed = submit(c, p, b.data, p.packed(), where);
        if (failed != result::success) {
            parts_.buffers.give(b);
            return help::finished;
        }
        c.done += p.bytes();
        if (in) p.host = nullptr;
        driver::event_handle const e = parts_.events.record(where);
        if (e != nullptr) {
            chunks_.push({e, number, b, p});
            announce();
        } else {
            failed = parts_.device.driver().stream_synchronize(where);
            if (!parts_.device.check(failed))
                return help::finished; // the buffer may still be in use: it is gone
            if (p.host != nullptr) p.unpack(b.data);
            parts_.buffers.give(b);
        }
        return c.done == c.bytes ? help::finished : help::moved;
    }

    // In the order of submission: what comes in does not keep its region from being done.
    void announce() noexcept
    {
        backend::sequence first = none;
        chunks_.for_each([&](flight const& f) {
            if (f.to.host != nullptr) first = std::min(first, f.number);
        });
        unfinished_.store(first, std::memory_order_release);
    }

    parts& parts_;
    std::mutex mutex_;
    ring<held> held_; // guarded by mutex_
    std::atomic<std::size_t> held_count_{0};
    ring<flight> chunks_; // the helper's alone
    std::atomic<backend::sequence> unfinished_{none};
};

} // namespace omp_co::cuda::engine
