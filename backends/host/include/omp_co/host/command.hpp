// SPDX-License-Identifier: BSL-1.0
// The commands of a host stream, and the queue that carries them from the enqueueing thread to a worker.
#pragma once

#include <omp_co/backend.hpp>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

namespace omp_co::host {

class stream;

enum class command_kind : unsigned char {
    nothing,
    copy,
    box_in,
    box_out,
    fill,
    launch,
    wait,
    begin_timing,
    end_timing
};

/// Copies a box to the device's side of memory, or from there.
inline void copy_box_in(void* device, void const* host, backend::box const& shape) noexcept
{
    shape.for_each_row([&](std::size_t to, std::size_t from) {
        std::memcpy(static_cast<char*>(device) + to, static_cast<char const*>(host) + from, shape.row);
    });
}
inline void copy_box_out(void* host, void const* device, backend::box const& shape) noexcept
{
    shape.for_each_row([&](std::size_t from, std::size_t to) {
        std::memcpy(static_cast<char*>(host) + to, static_cast<char const*>(device) + from, shape.row);
    });
}

struct command {
    struct copy_arguments {
        void* to;
        void const* from;
        std::size_t bytes;
    };
    struct box_arguments {
        void* to;
        void const* from;
        backend::box const* shape;
    };
    struct fill_arguments {
        void* to;
        std::size_t bytes;
        unsigned char value;
    };
    struct wait_arguments {
        stream* other;
        backend::sequence number;
    };

    command_kind kind = command_kind::nothing;
    bool goes_on = false;         ///< behind the signal too, what fails is skipped
    backend::sequence signal = 0; ///< published after the command; 0: none
    union {
        copy_arguments copy;
        box_arguments box;
        fill_arguments fill;
        backend::invocation const* call;
        wait_arguments wait;
        backend::timing* timing;
    };

    command() noexcept : copy{} {}
};

/// One producer, one consumer, any length. What was pushed is seen once it is published.
class command_queue {
public:
    /// Has chunks in reserve, so that a usual stream allocates nothing later.
    command_queue() : write_(new chunk), oldest_(write_), read_(write_)
    {
        for (; chunks_ < first_chunks; ++chunks_) {
            chunk* const c = new (std::nothrow) chunk;
            if (c == nullptr) return;
            c->next = std::exchange(oldest_, c);
        }
    }
    command_queue(command_queue const&) = delete;
    command_queue& operator=(command_queue const&) = delete;
    ~command_queue()
    {
        while (oldest_ != nullptr) delete std::exchange(oldest_, oldest_->next);
    }

    // The producer's side.

    /// Null when the host has no memory.
    command* push() noexcept
    {
        if (write_at_ == chunk::size) {
            chunk* const fresh = take_chunk();
            if (fresh == nullptr) return nullptr;
            fresh->next = nullptr;
            write_->next = fresh;
            write_ = fresh;
            write_at_ = 0;
        }
        ++pushed_;
        last_ = &write_->commands[write_at_++];
        return last_;
    }

    /// The latest command pushed and not published; null if there is none.
    command* last() noexcept { return last_; }

    void publish() noexcept
    {
        last_ = nullptr; // to ask published_ would fetch it from the consumer's core
        published_.store(pushed_, std::memory_order_seq_cst);
    }

    // The consumer's side.

    /// Looks at what the producer writes only when all that it saw there was taken.
    bool empty() noexcept
    {
        if (taken_ == seen_) seen_ = published_.load(std::memory_order_seq_cst);
        return taken_ == seen_;
    }

    /// How many commands were popped so far.
    std::uint64_t taken() const noexcept { return taken_; }

    /// Whether more than `count` commands were published so far. Any thread.
    bool published_beyond(std::uint64_t count) const noexcept
    {
        return published_.load(std::memory_order_seq_cst) != count;
    }

    command const& front() noexcept
    {
        chunk* at = read_.load(std::memory_order_relaxed);
        if (read_at_ == chunk::size) {
            at = at->next;
            read_.store(at, std::memory_order_release);
            read_at_ = 0;
        }
        return at->commands[read_at_];
    }

    void pop() noexcept
    {
        ++read_at_;
        ++taken_;
    }

private:
    struct chunk {
        static constexpr unsigned size = 64;
        command commands[size];
        chunk* next = nullptr;
    };

    // One that the consumer has left; a long queue's chunks are given back, a usual one's are used again and again.
    chunk* take_chunk() noexcept
    {
        chunk const* const in_use = read_.load(std::memory_order_acquire);
        while (oldest_ != in_use) {
            chunk* const c = std::exchange(oldest_, oldest_->next);
            if (chunks_ <= most_kept) return c;
            delete c;
            --chunks_;
        }
        chunk* const c = new (std::nothrow) chunk;
        if (c != nullptr) ++chunks_;
        return c;
    }

    static constexpr unsigned first_chunks = 4;
    static constexpr unsigned most_kept = 16;

    alignas(64) chunk* write_;
    chunk* oldest_;
    unsigned chunks_ = 1;
    unsigned write_at_ = 0;
    std::uint64_t pushed_ = 0;
    command* last_ = nullptr;
    alignas(64) std::atomic<std::uint64_t> published_{0};
    alignas(64) std::atomic<chunk*> read_;
    unsigned read_at_ = 0;
    std::uint64_t taken_ = 0;
    std::uint64_t seen_ = 0; // of published_
};

} // namespace omp_co::host
