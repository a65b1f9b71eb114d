// SPDX-License-Identifier: BSL-1.0
// How the host learns which signal of a stream was reached: a word that the stream writes, or events.
#pragma once

#include <omp_co/cuda/event_pool.hpp>
#include <omp_co/cuda/pinned_memory.hpp>
#include <omp_co/cuda/ring.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

namespace omp_co::cuda::engine {

enum class completion_kind : unsigned char { write_64, write_32, events };

/// A cache line for each stream of a device, in pinned memory that its streams write and the host reads. Any thread.
class signal_words {
public:
    static constexpr std::size_t line = 64;
    static constexpr std::size_t page = 4096;

    struct word {
        char* host = nullptr;
        driver::device_address address = 0;
    };

    /// A word that nobody else has, with the context current; none, and why, if the driver gives no more memory for them.
    word take(context& c, result& why) noexcept
    {
        std::lock_guard guard(mutex_);
        why = free_.empty() ? grow(c) : result::success;
        if (why != result::success) return {};
        word const w = free_.back();
        free_.pop_back();
        std::memset(w.host, 0, line);
        return w;
    }

    /// Whoever wrote it has done so for the last time.
    void give(word w) noexcept
    {
        std::lock_guard guard(mutex_);
        if (w.host != nullptr) free_.push_back(w); // capacity was reserved
    }

    void release(context& c) noexcept
    {
        for (pinned_memory& p : pages_) p.release(c);
    }

private:
    result grow(context& c) noexcept
    try {
        result why{};
        pages_.reserve(pages_.size() + 1);
        free_.reserve((pages_.size() + 1) * (page / line));
        pinned_memory made(c, page, why);
        if (made.data() == nullptr) return why;
        driver::device_address address = 0;
        why = c.driver().mem_host_get_device_pointer(&address, made.data(), 0);
        if (!c.check(why)) {
            made.release(c);
            return why;
        }
        for (std::size_t at = page; at != 0; at -= line)
            free_.push_back({made.data() + at - line, address + at - line});
        pages_.push_back(std::move(made));
        return why;
    } catch (...) {
        return result::out_of_memory;
    }

    std::mutex mutex_;
    std::vector<pinned_memory> pages_; // guarded by mutex_
    std::vector<word> free_;           // guarded by mutex_
};

/// The signals of one stream. `record` is for the thread that submits; the rest, one thread at a time, beside it.
class completion {
public:
    completion(context& c, event_pool& events) noexcept : context_(c), events_(events) {}

    /// Before the first signal is recorded.
    void open(completion_kind kind, signal_words::word w) noexcept
    {
        word_ = w;
        if (kind != completion_kind::events && w.host != nullptr)
            kind_.store(kind, std::memory_order_release);
    }

    /// A signal that never got to the device counts as reached.
    void skip(backend::sequence number) noexcept { advance(number); }

    /// Puts a signal at the stream's tail, with the context current. Where a write is refused, an event serves for this
    /// signal.
    result record(driver::stream_handle where, backend::sequence number) noexcept
    {
        if (kind() != completion_kind::events) {
            result const r = write(where, number);
            if (context_.check(r) || context_.lost() != result::success) return r;
        }
        return record_event(where, number);
    }

    /// The last signal that the device has reached, as far as can be told without an error.
    backend::sequence reached() noexcept
    {
        if (kind() != completion_kind::events) read_word();
        if (pending_count_.load(std::memory_order_acquire) != 0) query_events();
        return reached_.load(std::memory_order_acquire);
    }

    /// Where it is written, if it is.
    signal_words::word word() const noexcept { return word_; }

    /// Nothing is in flight any more.
    void release() noexcept
    {
        std::lock_guard guard(mutex_);
        for (; !pending_.empty(); pending_.pop()) events_.give(pending_.front().event);
        pending_count_ = 0;
    }

private:
    struct recorded {
        backend::sequence number = 0;
        driver::event_handle event = nullptr;
    };

    completion_kind kind() const noexcept { return kind_.load(std::memory_order_acquire); }

    result write(driver::stream_handle where, backend::sequence number) noexcept
    {
        driver::api const& d = context_.driver();
        if (kind() == completion_kind::write_64)
            return d.stream_write_value_64(where, word_.address, number, driver::write_value_default);
        return d.stream_write_value_32(where, word_.address, static_cast<std::uint32_t>(number),
                                       driver::write_value_default);
    }

    result record_event(driver::stream_handle where, backend::sequence number) noexcept
    {
        driver::event_handle const e = events_.record(where);
        if (e == nullptr) return wait_for(where, number);
        std::lock_guard guard(mutex_);
        try {
            pending_.push({number, e});
        } catch (...) {
            events_.give(e);
            return wait_for(where, number);
        }
        pending_count_.store(pending_.size(), std::memory_order_release);
        return result::success;
    }

    // There is no other way left to learn when this signal is reached.
    result wait_for(driver::stream_handle where, backend::sequence number) noexcept
    {
        result const r = context_.driver().stream_synchronize(where);
        if (context_.check(r)) advance(number);
        return r;
    }

    void read_word() noexcept
    {
        backend::sequence const known = reached_.load(std::memory_order_relaxed);
        backend::sequence now = 0;
        if (kind() == completion_kind::write_64) {
            now = std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(word_.host))
                      .load(std::memory_order_acquire);
        } else {
            // Never 2^31 signals behind, so the upper half is that of the last known one, or the next.
            auto const low = std::atomic_ref<std::uint32_t>(*reinterpret_cast<std::uint32_t*>(word_.host))
                                 .load(std::memory_order_acquire);
            auto const ahead = static_cast<std::int32_t>(low - static_cast<std::uint32_t>(known));
            now = ahead > 0 ? known + static_cast<std::uint32_t>(ahead) : known;
        }
        advance(now);
    }

    void query_events() noexcept
    {
        current in(context_);
        if (!in) return;
        std::lock_guard guard(mutex_);
        while (!pending_.empty()) {
            recorded const head = pending_.front();
            if (head.number > reached_.load(std::memory_order_relaxed)) {
                result const r = context_.driver().event_query(head.event);
                if (!context_.answers(r) || r != result::success) break;
                advance(head.number);
            }
            events_.give(head.event);
            pending_.pop();
        }
        pending_count_.store(pending_.size(), std::memory_order_release);
    }

    // The waker's look and the owner's may meet here.
    void advance(backend::sequence now) noexcept
    {
        backend::sequence known = reached_.load(std::memory_order_relaxed);
        while (known < now && !reached_.compare_exchange_weak(known, now, std::memory_order_acq_rel)) {
        }
    }

    context& context_;
    event_pool& events_;
    std::atomic<completion_kind> kind_{completion_kind::events};
    signal_words::word word_;
    std::atomic<backend::sequence> reached_{0};
    std::atomic<std::size_t> pending_count_{0};
    std::mutex mutex_;
    ring<recorded> pending_; // guarded by mutex_
};

} // namespace omp_co::cuda::engine
