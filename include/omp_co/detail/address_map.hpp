// SPDX-License-Identifier: BSL-1.0
// Entries by address: sorted chunks of a few cache lines below one sorted list of where they begin. With 100,000 entries a
// look-up reads one chunk from memory where a binary tree reads seventeen nodes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace omp_co::detail {

/// A map from addresses to pointers, some of which may be equal; of these the latest is the last. Only reserve() throws.
/// One thread at a time, also for look-ups: it remembers the last one, for whoever maps data asks for the same address four
/// times, and whoever uses it asks again.
template <class Entry>
class address_map {
    struct chunk;

public:
    /// Where an entry is; not valid any more once another one comes or goes.
    struct position {
        std::size_t chunk = 0;
        std::size_t slot = 0;
    };

    std::size_t size() const noexcept { return size_; }

    /// Makes room for `entries` in all, in whatever order they come and go.
    void reserve(std::size_t entries)
    {
        if (entries > room_) make_room(entries);
    }

    /// Gives memory back that no `entries` will need.
    void shrink(std::size_t entries) noexcept
    {
        if (spare_.size() >= always_spare) give_back(entries);
    }

    void insert(char* key, Entry& e) noexcept
    {
        if (chunks_.empty()) add_chunk(0);
        position before;
        std::size_t slot = last_not_above(key, before) ? before.slot + 1 : 0;
        std::size_t at = before.chunk;
        if (chunks_[at]->size == most) {
            split(at);
            if (slot > most / 2) {
                ++at;
                slot -= most / 2;
            }
        }
        chunk& c = *chunks_[at];
        std::move_backward(c.keys + slot, c.keys + c.size, c.keys + c.size + 1);
        std::move_backward(c.entries + slot, c.entries + c.size, c.entries + c.size + 1);
        c.keys[slot] = key;
        c.entries[slot] = &e;
        ++c.size;
        ++size_;
        firsts_[at] = c.keys[0];
        last_.any = false;
    }

    /// `e` is there, at `key`.
    void erase(char* key, Entry const& e) noexcept
    {
        position const p = find(key, e);
        last_.any = false;
        chunk& c = *chunks_[p.chunk];
        std::move(c.keys + p.slot + 1, c.keys + c.size, c.keys + p.slot);
        std::move(c.entries + p.slot + 1, c.entries + c.size, c.entries + p.slot);
        --c.size;
        --size_;
        if (c.size == 0) return remove_chunk(p.chunk);
        firsts_[p.chunk] = c.keys[0];
        if (c.size > most / 2) return; // no neighbour's would fit
        if (p.chunk + 1 < chunks_.size()) join(p.chunk);
        if (p.chunk > 0) join(p.chunk - 1);
    }

    /// The last entry at or below `key`; false: none is.
    bool last_not_above(char const* key, position& p) const noexcept
    {
        if (last_.any && last_.key == key) {
            p = last_.at;
            return true;
        }
        if (size_ == 0 || key < firsts_[0]) return false;
        p.chunk = search(firsts_.data(), firsts_.size(), key);
        p.slot = search(chunks_[p.chunk]->keys, chunks_[p.chunk]->size, key);
        last_ = {true, key, p};
        return true;
    }

    /// `e` is there, at `key`.
    position find(char const* key, Entry const& e) const noexcept
    {
        position p;
        (void)last_not_above(key, p);
        while (&entry(p) != &e) (void)previous(p);
        return p;
    }

    Entry& entry(position p) const noexcept { return *chunks_[p.chunk]->entries[p.slot]; }

    /// False: `p` was the last one.
    bool next(position& p) const noexcept
    {
        if (++p.slot < chunks_[p.chunk]->size) return true;
        p.slot = 0;
        return ++p.chunk < chunks_.size();
    }

    /// False: `p` was the first one.
    bool previous(position& p) const noexcept
    {
        if (p.slot > 0) {
            --p.slot;
            return true;
        }
        if (p.chunk == 0) return false;
        --p.chunk;
        p.slot = chunks_[p.chunk]->size - 1;
        return true;
    }

private:
    static constexpr std::size_t most = 32;
    static constexpr std::size_t always_spare = 64; // chunks

    struct chunk {
        char* keys[most];
        Entry* entries[most];
        std::size_t size = 0;
    };

    struct answer {
        bool any = false;
        char const* key = nullptr;
        position at;
    };

    // The last of `n` sorted keys that is not above `key`; 0 if none is. Without branches that cannot be foretold.
    static std::size_t search(char* const* keys, std::size_t n, char const* key) noexcept
    {
        std::size_t at = 0;
        while (n > 1) {
            std::size_t const half = n / 2;
            at += keys[at + half] <= key ? half : 0;
            n -= half;
        }
        return at;
    }

    [[gnu::noinline]] void make_room(std::size_t entries)
    {
        // Two neighbours hold more than half of what one can, so that there are fewer chunks than this.
        std::size_t const wanted = entries / (most / 4) + 2;
        if (chunks_.capacity() < wanted) {
            std::size_t const room = 2 * wanted;
            firsts_.reserve(room);
            chunks_.reserve(room);
            spare_.reserve(room);
        }
        while (chunks_.size() + spare_.size() < wanted) spare_.push_back(std::make_unique<chunk>());
        room_ = entries;
    }

    [[gnu::noinline]] void give_back(std::size_t entries) noexcept
    {
        while (!spare_.empty() && chunks_.size() + spare_.size() > entries / (most / 8) + always_spare) {
            spare_.pop_back();
            room_ = entries;
        }
    }

    // reserve() has made room.
    void add_chunk(std::size_t at) noexcept
    {
        auto const offset = static_cast<std::ptrdiff_t>(at);
        chunks_.insert(chunks_.begin() + offset, std::move(spare_.back()));
        firsts_.insert(firsts_.begin() + offset, nullptr);
        spare_.pop_back();
    }

    void remove_chunk(std::size_t at) noexcept
    {
        auto const offset = static_cast<std::ptrdiff_t>(at);
        spare_.push_back(std::move(chunks_[at]));
        chunks_.erase(chunks_.begin() + offset);
        firsts_.erase(firsts_.begin() + offset);
    }

    static void move_tail(chunk& from, std::size_t slot, chunk& to) noexcept
    {
        std::copy(from.keys + slot, from.keys + from.size, to.keys + to.size);
        std::copy(from.entries + slot, from.entries + from.size, to.entries + to.size);
        to.size += from.size - slot;
        from.size = slot;
    }

    void split(std::size_t at) noexcept
    {
        add_chunk(at + 1);
        move_tail(*chunks_[at], most / 2, *chunks_[at + 1]);
        firsts_[at + 1] = chunks_[at + 1]->keys[0];
    }

    // Makes one of two neighbours that hold little.
    void join(std::size_t at) noexcept
    {
        chunk& next = *chunks_[at + 1];
        if (chunks_[at]->size + next.size > most / 2) return;
        move_tail(next, 0, *chunks_[at]);
        remove_chunk(at + 1);
    }

    std::vector<char*> firsts_; // of each chunk the first key
    std::vector<std::unique_ptr<chunk>> chunks_;
    std::vector<std::unique_ptr<chunk>> spare_;
    std::size_t size_ = 0;
    std::size_t room_ = 0; ///< entries that there is memory for, at least
    mutable answer last_;
};

} // namespace omp_co::detail
