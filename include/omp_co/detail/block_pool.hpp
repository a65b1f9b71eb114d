// SPDX-License-Identifier: BSL-1.0
// Device memory blocks of one device, kept for reuse: an allocation costs a page fault a page on the host and a
// synchronisation on most accelerators.
#pragma once

#include <omp_co/backend.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <vector>

namespace omp_co::detail {

/// Size classes of four steps an octave, a free list each. Takes no lock: the device's lock covers it.
class block_pool {
public:
    explicit block_pool(backend::device& source) noexcept : source_(source) {}
    block_pool(block_pool const&) = delete;
    block_pool& operator=(block_pool const&) = delete;
    ~block_pool() { trim(); }

    /// A block of at least `bytes` for the program, null if the device has none left (free blocks are given back first).
    void* allocate(std::size_t bytes) noexcept
    {
        if (has_free(bytes)) source_.settle();
        return allocate_by(bytes,
                           [this](std::size_t n) {
                               return backend::supply{source_.allocate(n), false};
                           })
            .block;
    }

    /// A free block for a region, null if there is none at hand.
    [[gnu::always_inline]] void* reuse(std::size_t bytes) noexcept
    {
        return bytes > largest ? nullptr : reuse(class_of(bytes));
    }

    /// The same as allocate(), but never takes long.
    backend::supply allocate_quickly(std::size_t bytes, backend::memory_user u) noexcept
    {
        if (u == backend::memory_user::program && has_free(bytes) && !source_.settled())
            return {nullptr, true};
        return allocate_by(bytes, [&](std::size_t n) { return source_.allocate_quickly(n, u); });
    }

    /// Takes back what allocate(bytes) gave.
    void deallocate(void* block, std::size_t bytes) noexcept
    {
        if (give_back_exact(block, bytes)) return source_.deallocate(block, bytes);
        auto const [at, rounded] = class_of(bytes);
        in_use_ -= rounded;
        if (cached_ + rounded <= most_cached() && keep(block, at)) {
            cached_ += rounded;
            return;
        }
        source_.deallocate(block, rounded);
    }

    /// A block that must not be reused, because a lost device may still write it.
    void leak(void* block, std::size_t bytes) noexcept
    {
        if (!give_back_exact(block, bytes)) in_use_ -= class_of(bytes).bytes;
    }

    /// Gives all free blocks back to the device.
    void trim() noexcept
    {
        for (unsigned at = 0; at < classes; ++at) {
            for (void* block : free_[at]) source_.deallocate(block, bytes_of(at));
            free_[at].clear();
        }
        cached_ = 0;
    }

    std::size_t in_use() const noexcept { return in_use_; }

private:
    static constexpr unsigned smallest_shift = 6; // 64 bytes
    static constexpr unsigned classes = (64 - smallest_shift) * 4;
    static constexpr std::size_t largest = std::size_t{1} << 62;
    static constexpr std::size_t always_cached = std::size_t{64} << 20;

    struct size_class {
        unsigned at;       ///< which of the free lists
        std::size_t bytes; ///< what its blocks have
    };

    static size_class class_of(std::size_t bytes) noexcept
    {
        if (bytes <= (std::size_t{1} << smallest_shift)) return {0, std::size_t{1} << smallest_shift};
        std::size_t const last = bytes - 1;
        unsigned const shift = static_cast<unsigned>(std::bit_width(last)) - 3;
        std::size_t const quarters = (last >> shift) + 1; // of an octave: five to eight
        return {(shift + 2 - smallest_shift) * 4 + static_cast<unsigned>(quarters) - 4, quarters << shift};
    }

    // The other way round.
    static std::size_t bytes_of(unsigned at) noexcept
    {
        if (at == 0) return std::size_t{1} << smallest_shift;
        return std::size_t{(at - 1) % 4 + 5} << ((at - 1) / 4 + smallest_shift - 2);
    }

    // As much again as is in use, so that a steady program never allocates and a shrinking one gives back.
    std::size_t most_cached() const noexcept { return in_use_ < always_cached ? always_cached : in_use_; }

    bool has_free(std::size_t bytes) const noexcept
    {
        return bytes <= largest && !free_[class_of(bytes).at].empty();
    }

    [[gnu::always_inline]] void* reuse(size_class c) noexcept
    {
        std::vector<void*>& free = free_[c.at];
        if (free.empty()) return nullptr;
        void* const block = free.back();
        free.pop_back();
        cached_ -= c.bytes;
        in_use_ += c.bytes;
        return block;
    }

    template <class Ask>
    backend::supply allocate_by(std::size_t bytes, Ask ask) noexcept
    {
        if (bytes > largest) return {};
        size_class const c = class_of(bytes);
        if (void* const block = reuse(c)) return {block, false};
        std::size_t const rounded = c.bytes;
        backend::supply s = ask(rounded);
        if (s.block == nullptr && !s.coming && !s.why && cached_ != 0) {
            trim();
            s = ask(rounded);
        }
        if (s.block == nullptr && !s.coming && !s.why) return allocate_exactly(bytes, ask);
        if (s.block != nullptr) in_use_ += rounded;
        return s;
    }

    // Where the device has just not enough for the rounded size.
    template <class Ask>
    backend::supply allocate_exactly(std::size_t bytes, Ask ask) noexcept
    {
        if (bytes == 0 || class_of(bytes).bytes == bytes) return {};
        try {
            exact_.reserve(exact_.size() + 1);
        } catch (...) {
            return {};
        }
        backend::supply const s = ask(bytes);
        if (s.block == nullptr) return s;
        exact_.push_back(s.block);
        in_use_ += bytes;
        return s;
    }

    bool give_back_exact(void* block, std::size_t bytes) noexcept
    {
        if (exact_.empty() || std::erase(exact_, block) == 0) return false;
        in_use_ -= bytes;
        return true;
    }

    bool keep(void* block, unsigned at) noexcept
    {
        try {
            free_[at].push_back(block);
            return true;
        } catch (...) {
            return false;
        }
    }

    backend::device& source_;
    std::array<std::vector<void*>, classes> free_;
    std::vector<void*> exact_; ///< blocks in use that no class has
    std::size_t cached_ = 0;
    std::size_t in_use_ = 0;
};

} // namespace omp_co::detail
