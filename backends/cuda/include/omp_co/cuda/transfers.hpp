// SPDX-License-Identifier: BSL-1.0
// The copies of one stream between the host and the device. Pinned memory goes to the driver as it is; all other memory
// through pinned buffers, because the driver would block its caller for it until the stream has come that far.
#pragma once

#include <omp_co/cuda/command.hpp>
#include <omp_co/cuda/parts.hpp>
#include <omp_co/cuda/pinned_ranges.hpp>
#include <omp_co/cuda/ring.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
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
            failed = submit(c, c.host, 0, c.bytes, where);
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
            if (r == result::not_ready) return answer == help::moved ? answer : help::waits_for_device;
            if (!parts_.device.check(r)) return help::waits_for_device;
            if (f.to != nullptr) std::memcpy(f.to, f.buffer.data, f.bytes);
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
            if (h.to != nullptr) std::memcpy(h.to, h.buffer.data, h.bytes);
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
                if (h.number == number) h.to = nullptr;
            });
        }
        if (!on_helper) return; // then it has no chunks
        chunks_.for_each([&](flight& f) {
            if (f.number == number) f.to = nullptr;
        });
        announce();
    }

    /// The device is lost: nothing more is copied, and no buffer is given back, for the device may still write.
    void drop() noexcept
    {
        for (; !chunks_.empty(); chunks_.pop()) parts_.events.give(chunks_.front().event);
        unfinished_.store(none, std::memory_order_release);
    }

private:
    /// A buffer that is free once region `number` is done, and then has to go to the user's memory, if `to` says so.
    struct held {
        backend::sequence number = 0;
        staging::buffer buffer;
        char* to = nullptr;
        std::size_t bytes = 0;
    };

    /// The same for a chunk, whose event tells.
    struct flight {
        driver::event_handle event = nullptr;
        backend::sequence number = 0;
        staging::buffer buffer;
        char* to = nullptr;
        std::size_t bytes = 0;
    };

    // For small copies, asking the driver costs more than staging.
    bool pinned(command const& c) const noexcept
    {
        if (pinned_ranges::all().hold(c.host, c.bytes)) return true;
        if (c.bytes <= staging::largest_block || c.done != 0) return false;
        return driver_knows(c.host) && driver_knows(c.host + c.bytes - 1);
    }

    // Registered by somebody else, or managed.
    bool driver_knows(char const* p) const noexcept
    {
        driver::memory_type type{};
        return parts_.device.driver().pointer_get_attribute(&type, driver::pointer_attribute::memory_type,
                                                            reinterpret_cast<driver::device_address>(p)) ==
               result::success;
    }

    result submit(command const& c, char* host, std::size_t at, std::size_t bytes,
                  driver::stream_handle where) noexcept
    {
        driver::api const& d = parts_.device.driver();
        auto const device = reinterpret_cast<driver::device_address>(c.device + at);
        result const r = c.what == command::kind::copy_in ? d.memcpy_htod_async(device, host, bytes, where)
                                                          : d.memcpy_dtoh_async(host, device, bytes, where);
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
        if (in) std::memcpy(b.data, c.host, c.bytes);
        result const r = submit(c, b.data, 0, c.bytes, where);
        if (r != result::success) {
            parts_.buffers.give(b);
            return r;
        }
        held_.push({number, b, in ? nullptr : c.host, c.bytes});
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
        std::size_t const bytes = std::min(c.bytes - c.done, staging::chunk_bytes);
        failed = result::out_of_memory;
        try {
            chunks_.reserve(1);
        } catch (...) {
            parts_.buffers.give(b);
            return help::finished;
        }
        if (in) std::memcpy(b.data, c.host + c.done, bytes);
        failed = submit(c, b.data, c.done, bytes, where);
        if (failed != result::success) {
            parts_.buffers.give(b);
            return help::finished;
        }
        char* const to = in ? nullptr : c.host + c.done;
        driver::event_handle const e = parts_.events.record(where);
        if (e != nullptr) {
            chunks_.push({e, number, b, to, bytes});
            announce();
        } else {
            failed = parts_.device.driver().stream_synchronize(where);
            if (!parts_.device.check(failed))
                return help::finished; // the buffer may still be in use: it is gone
            if (to != nullptr) std::memcpy(to, b.data, bytes);
            parts_.buffers.give(b);
        }
        c.done += bytes;
        return c.done == c.bytes ? help::finished : help::moved;
    }

    // In the order of submission: what comes in does not keep its region from being done.
    void announce() noexcept
    {
        backend::sequence first = none;
        chunks_.for_each([&](flight const& f) {
            if (f.to != nullptr) first = std::min(first, f.number);
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
