// SPDX-License-Identifier: BSL-1.0
// One kernel's iteration space, shared among the workers that are free.
#pragma once

#include <omp_co/detail/host_kernel.hpp>
#include <omp_co/detail/spin.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <limits>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace omp_co::host {

/// Null when there is none.
inline void* allocate_aligned(std::size_t alignment, std::size_t bytes) noexcept
{
    return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

struct no_private_memory final : std::bad_alloc {
    char const* what() const noexcept override { return "no host memory for private data"; }
};

/// Private memory for the parts of a call, `parts` times `bytes`: the thread's own, or, in a kernel that runs another one
/// inside, a block besides. Throws no_private_memory.
class scratch_memory {
public:
    explicit scratch_memory(std::size_t bytes, std::size_t parts)
        : scratch_memory(parts <= most / std::max<std::size_t>(bytes, 1) ? bytes * parts : most)
    {
    }
    explicit scratch_memory(std::size_t bytes)
    {
        if (bytes == 0) return;
        arena& mine = local();
        if (mine.taken) {
            block_ = allocate(bytes);
            return;
        }
        if (bytes > mine.bytes) {
            std::free(mine.block);
            mine.bytes = 0;
            mine.block = nullptr;
            mine.block = allocate(bytes);
            mine.bytes = bytes;
        }
        mine.taken = true;
        arena_ = &mine;
    }
    scratch_memory(scratch_memory const&) = delete;
    scratch_memory& operator=(scratch_memory const&) = delete;
    ~scratch_memory()
    {
        if (arena_ != nullptr) arena_->taken = false;
        std::free(block_);
    }

    void* get() const noexcept { return arena_ != nullptr ? arena_->block : block_; }

private:
    static constexpr std::size_t most = std::numeric_limits<std::size_t>::max() / 2; // of which there is never so much

    // Outlives its thread's other objects: static ones that compute later still get blocks of their own.
    struct arena {
        void* block;
        std::size_t bytes;
        bool taken;
        bool registered;
    };

    struct cleaner {
        ~cleaner()
        {
            std::free(storage().block);
            storage() = {nullptr, 0, true, true};
        }
    };

    static arena& storage() noexcept
    {
        static thread_local constinit arena the{};
        return the;
    }

    static arena& local() noexcept
    {
        arena& mine = storage();
        if (!mine.registered) {
            mine.registered = true;
            static thread_local cleaner at_exit;
            (void)at_exit;
        }
        return mine;
    }

    static void* allocate(std::size_t bytes)
    {
        void* const block = allocate_aligned(backend::block_alignment(bytes), bytes);
        if (block == nullptr) throw no_private_memory();
        return block;
    }

    arena* arena_ = nullptr;
    void* block_ = nullptr;
};

/// What an exception of a kernel says, or that there was no memory to run it in.
inline backend::failure failure_of(std::exception_ptr const& thrown) noexcept
{
    backend::failure f{make_error_code(errc::kernel_failed), {}};
    auto const say = [&](char const* first, char const* rest) noexcept {
        try {
            f.what = std::string(first) + rest;
        } catch (...) { // no memory for words
        }
    };
    try {
        std::rethrow_exception(thrown);
    } catch (no_private_memory const& e) {
        f.error = make_error_code(errc::out_of_memory);
        say(e.what(), "");
    } catch (std::exception const& e) {
        say("the kernel threw: ", e.what());
    } catch (...) {
        say("the kernel threw", "");
    }
    return f;
}

/// Runs a part of a call in this thread with private memory of the caller's. An exception of the kernel becomes a failure.
inline void run_part_in(backend::invocation const& call, std::size_t first, std::size_t last,
                        void* private_memory, backend::failure& failure) noexcept
{
    try {
        static_cast<detail::host_kernel const*>(call.what)->run(call, first, last, private_memory);
    } catch (...) {
        failure = failure_of(std::current_exception());
    }
}

/// Runs a part of a call in this thread, or all of one that reduces. An exception of the kernel becomes a failure.
inline void run_part(backend::invocation const& call, std::size_t first, std::size_t last,
                     backend::failure& failure) noexcept
{
    try {
        scratch_memory const scratch(call.scratch_bytes);
        if (call.reduce != nullptr) call.reduce->begin(call.reduce->context, scratch.get());
        run_part_in(call, first, last, scratch.get(), failure);
        if (call.reduce != nullptr && !failure.error)
            call.reduce->combine(call.reduce->context, scratch.get());
    } catch (...) {
        failure = failure_of(std::current_exception());
    }
}

/// Where piece `piece` of `pieces` begins.
constexpr std::size_t share(std::size_t total, std::size_t piece, std::size_t pieces) noexcept
{
    return total / pieces * piece + std::min(piece, total % pieces);
}

/// Private memory for each piece of a call that reduces. Which iterations are a piece depends on the number of workers only,
/// so the result does too.
class partial_results {
public:
    /// Throws no_private_memory, or what the user's types throw.
    partial_results(backend::invocation const& call, std::size_t pieces)
        : call_(call), pieces_(pieces), stride_(aligned_size(call.scratch_bytes)), memory_(stride_, pieces)
    {
        for (std::size_t i = 0; i < pieces; ++i) call.reduce->begin(call.reduce->context, of(i));
    }

    char* of(std::size_t piece) const noexcept { return static_cast<char*>(memory_.get()) + piece * stride_; }
    void combine() const
    {
        for (std::size_t i = 0; i < pieces_; ++i) call_.reduce->combine(call_.reduce->context, of(i));
    }

private:
    // Each piece's memory is aligned as that of a part alone.
    static std::size_t aligned_size(std::size_t bytes) noexcept
    {
        std::size_t const alignment = backend::block_alignment(bytes);
        return (bytes + alignment - 1) / alignment * alignment;
    }

    backend::invocation const& call_;
    std::size_t pieces_;
    std::size_t stride_;
    scratch_memory memory_;
};

/// A loop that its owner has opened to other workers, in pieces of contiguous iterations.
class team {
public:
    /// Whether a worker that comes now may find a piece. A hint.
    bool open() const noexcept { return open_.load(std::memory_order_relaxed); }

    /// Opens [first, last) in `pieces` pieces and counts that in `open_teams`, until the last piece is taken. The first `done`
    /// pieces are not wanted any more. `partial`: each has its own private memory. The owner's thread.
    void start(backend::invocation const& call, std::size_t first, std::size_t last, std::size_t pieces,
               std::atomic<unsigned>& open_teams, std::size_t done = 0,
               partial_results const* partial = nullptr) noexcept
    {
        partial_ = partial;
        open_teams_ = &open_teams;
        call_ = &call;
        first_ = first;
        last_ = last;
        pieces_ = pieces;
        failed_.store(false, std::memory_order_relaxed);
        next_.store(done, std::memory_order_relaxed);
        open_teams.fetch_add(1, std::memory_order_seq_cst);
        open_.store(true, std::memory_order_seq_cst);
    }

    /// Takes pieces until none is left. Any worker.
    void help() noexcept
    {
        guests_.fetch_add(1, std::memory_order_seq_cst);
        if (open_.load(std::memory_order_seq_cst)) work();
        if (guests_.fetch_sub(1, std::memory_order_seq_cst) == 1 && asleep_.load(std::memory_order_seq_cst))
            guests_.notify_one();
    }

    /// The owner's part: takes pieces too, then waits for the guests: spins for a while, then sleeps.
    void finish(backend::failure& failure, std::chrono::nanoseconds spinning) noexcept
    {
        work();
        wait_for_guests(spinning);
        if (failed_.load(std::memory_order_acquire)) failure = std::exchange(failure_, {});
    }

private:
    void work() noexcept
    {
        std::size_t const total = last_ - first_;
        for (;;) {
            std::size_t const piece = next_.fetch_add(1, std::memory_order_acq_rel);
            if (piece >= pieces_) return;
            if (piece + 1 == pieces_) { // nothing is left for others to look for
                open_.store(false, std::memory_order_seq_cst);
                open_teams_->fetch_sub(1, std::memory_order_relaxed);
            }
            if (failed_.load(std::memory_order_relaxed)) continue;
            std::size_t const begin = first_ + share(total, piece, pieces_);
            std::size_t const end = first_ + share(total, piece + 1, pieces_);
            backend::failure f;
            if (partial_ != nullptr)
                run_part_in(*call_, begin, end, partial_->of(piece), f);
            else
                run_part(*call_, begin, end, f);
            if (f.error) report(std::move(f));
        }
    }

    void wait_for_guests(std::chrono::nanoseconds spinning) noexcept
    {
        auto const alone = [this] { return guests_.load(std::memory_order_seq_cst) == 0; };
        if (alone() || omp_co::detail::spin_for(spinning, alone)) return;
        asleep_.store(true, std::memory_order_seq_cst);
        for (unsigned n = guests_.load(std::memory_order_seq_cst); n != 0;
             n = guests_.load(std::memory_order_seq_cst))
            guests_.wait(n, std::memory_order_seq_cst);
        asleep_.store(false, std::memory_order_relaxed);
    }

    void report(backend::failure&& f) noexcept
    {
        std::lock_guard guard(mutex_);
        if (failed_.load(std::memory_order_relaxed)) return;
        failure_ = std::move(f);
        failed_.store(true, std::memory_order_release);
    }

    std::atomic<bool> open_{false};
    std::atomic<unsigned> guests_{0};
    std::atomic<bool> asleep_{false}; ///< the owner waits for guests_ to change
    std::atomic<unsigned>* open_teams_ = nullptr;
    backend::invocation const* call_ = nullptr;
    partial_results const* partial_ = nullptr;
    std::size_t first_ = 0;
    std::size_t last_ = 0;
    std::size_t pieces_ = 1;
    alignas(64) std::atomic<std::size_t> next_{0};
    std::atomic<bool> failed_{false};
    std::mutex mutex_;
    backend::failure failure_;
};

} // namespace omp_co::host
