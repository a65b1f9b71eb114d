// SPDX-License-Identifier: BSL-1.0
// Pinned buffers through which copies of pageable memory go: blocks of 4 to 64 KiB, and chunks of 1 MiB for larger ones.
#pragma once

#include <omp_co/cuda/pinned_memory.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <mutex>
#include <vector>

namespace omp_co::cuda::engine {

/// Any thread may call. Only `grow` calls the driver, and may be slow.
class staging {
public:
    static constexpr std::size_t smallest = std::size_t{4} << 10;
    static constexpr std::size_t largest_block = std::size_t{64} << 10;
    static constexpr std::size_t chunk_bytes = std::size_t{1} << 20;

    /// One class for each power of two up to largest_block, then the chunks.
    static constexpr unsigned chunk = 5;

    struct buffer {
        char* data = nullptr;
        unsigned kind = 0;
    };

    explicit staging(context& c) noexcept : context_(c) {}
    staging(staging const&) = delete;
    staging& operator=(staging const&) = delete;

    static constexpr unsigned kind_for(std::size_t bytes) noexcept
    {
        if (bytes <= smallest) return 0;
        return static_cast<unsigned>(std::bit_width(bytes - 1) - std::bit_width(smallest - 1));
    }

    /// A null pointer if none is free.
    buffer take(unsigned kind) noexcept
    {
        std::lock_guard guard(mutex_);
        std::vector<char*>& free = free_[kind];
        if (free.empty()) return {};
        buffer const b{free.back(), kind};
        free.pop_back();
        return b;
    }

    void give(buffer b) noexcept
    {
        std::lock_guard guard(mutex_);
        free_[b.kind].push_back(b.data); // capacity was reserved
    }

    /// On a helper, with the context current. False: no more are to be had until some are given back.
    bool grow(unsigned kind) noexcept
    {
        std::lock_guard growing(growing_);
        std::size_t const bytes = kind == chunk ? chunk_bytes : smallest << kind;
        if (made_[kind] >= most_bytes(kind)) return false;
        result why{};
        pinned_memory pages(context_, chunk_bytes, why);
        if (pages.data() == nullptr) return false;
        std::lock_guard guard(mutex_);
        try {
            free_[kind].reserve((made_[kind] + chunk_bytes) / bytes);
            pages_.reserve(pages_.size() + 1);
        } catch (...) {
            pages.release(context_);
            return false;
        }
        for (std::size_t at = 0; at < chunk_bytes; at += bytes) free_[kind].push_back(pages.data() + at);
        pages_.push_back(std::move(pages));
        made_[kind] += chunk_bytes;
        return true;
    }

    /// Whether there are buffers of this kind, free or in use.
    bool has(unsigned kind) noexcept
    {
        std::lock_guard growing(growing_);
        return made_[kind] != 0;
    }

    /// Nothing is in flight any more, and the context is current.
    void release() noexcept
    {
        for (pinned_memory& p : pages_) p.release(context_);
        pages_.clear();
    }

private:
    static constexpr std::size_t most_bytes(unsigned kind) noexcept
    {
        return std::size_t{kind == chunk ? 8U : 16U} << 20;
    }

    context& context_;
    std::mutex growing_;
    std::mutex mutex_;
    std::array<std::vector<char*>, chunk + 1> free_; // guarded by mutex_
    std::array<std::size_t, chunk + 1> made_{};      // guarded by growing_
    std::vector<pinned_memory> pages_;               // guarded by mutex_
};

} // namespace omp_co::cuda::engine
