// SPDX-License-Identifier: BSL-1.0
// The present table of one device: which host ranges have a device copy, and who uses each of them.
#pragma once

#include <omp_co/backend.hpp>
#include <omp_co/detail/address_map.hpp>
#include <omp_co/detail/present_entry.hpp>

#include <boost/intrusive/list.hpp>
#include <cstddef>
#include <utility>

namespace omp_co::detail {

/// The entries that can be found, by address. They never overlap. Orphans are kept beside them until the last
/// region that uses them has retired.
class present_table {
public:
    present_table() = default;
    present_table(present_table const&) = delete;
    present_table& operator=(present_table const&) = delete;

    ~present_table()
    {
        for_each([](present_entry& e) { delete &e; });
        orphans_.clear_and_dispose([](present_entry* e) { delete e; });
        allocations_.clear_and_dispose([](present_entry* e) { delete e; });
        spare_.clear_and_dispose([](present_entry* e) { delete e; });
    }

    /// Whom to tell of mappings that begin and end.
    void watch(backend::host_watch* w) noexcept { watch_ = w; }

    /// The entry with the lowest address that overlaps `r`, null if none does.
    present_entry* first_overlap(byte_range r) noexcept
    {
        where p;
        if (entries_.last_not_above(r.begin, p)) {
            present_entry& before = entries_.entry(p);
            if (before.range.end > r.begin) return &before;
            if (!entries_.next(p)) return nullptr;
        }
        if (entries_.size() == 0) return nullptr;
        present_entry& e = entries_.entry(p);
        return e.range.begin < r.end ? &e : nullptr;
    }

    /// The entry that follows `e` and still overlaps `r`.
    present_entry* next_overlap(present_entry* e, byte_range r) noexcept
    {
        if (e->range.end >= r.end) return nullptr;
        where p = entries_.find(e->range.begin, *e);
        if (!entries_.next(p)) return nullptr;
        present_entry& next = entries_.entry(p);
        return next.range.begin < r.end ? &next : nullptr;
    }

    /// The entry that holds the byte at `p`, null if none does.
    present_entry* holding(void const* p) noexcept
    {
        where at;
        if (!entries_.last_not_above(static_cast<char const*>(p), at)) return nullptr;
        present_entry& e = entries_.entry(at);
        return p < e.range.end ? &e : nullptr;
    }

    /// The entry whose block holds `bytes` bytes at the device address `p`, null if none does. Associated memory may lie
    /// within an allocation; the innermost one counts.
    present_entry* at_device(void const* p, std::size_t bytes = 1) noexcept
    {
        index_blocks();
        auto const* const at = static_cast<char const*>(p);
        where found;
        for (bool any = blocks_.last_not_above(at, found); any; any = blocks_.previous(found)) {
            present_entry& e = blocks_.entry(found);
            bool const over = e.is_associated() && !e.live(); // what is beneath is the program's again
            if (!over && at + bytes <= e.block + e.bytes()) return &e;
            if (!e.is_associated()) break;
        }
        return nullptr;
    }

    /// The program's own memory that begins at the device address `p`, null if there is none.
    present_entry* allocation_at(void const* p) noexcept
    {
        index_blocks();
        where found;
        for (bool any = blocks_.last_not_above(static_cast<char const*>(p), found); any;
             any = blocks_.previous(found)) {
            present_entry& e = blocks_.entry(found);
            if (e.block != p) break;
            if (e.allocation && e.live()) return &e;
        }
        return nullptr;
    }

    /// Calls `f(entry)` for whatever has its block within `e`'s, that one included.
    template <class F>
    void for_each_within(present_entry const& e, F f) noexcept
    {
        index_blocks();
        where at;
        for (bool any = blocks_.last_not_above(e.block + e.bytes() - 1, at); any;
             any = blocks_.previous(at)) {
            if (blocks_.entry(at).block < e.block) break;
            f(blocks_.entry(at));
        }
    }

    /// How many uses an entry of `r` would take over from those that make way for it.
    std::size_t users_of(byte_range r) noexcept
    {
        std::size_t users = 0;
        for (present_entry* e = first_overlap(r); e != nullptr; e = next_overlap(e, r))
            users += e->uses.size();
        for_each_orphan([&](present_entry& e) {
            if (e.range.overlaps(r)) users += e.uses.size();
        });
        return users;
    }

    /// Makes `e` stand for the host range `r`. What it overlaps makes way, and whoever uses that comes first. `disjoint`: it is known
    /// to overlap no other entry.
    [[gnu::always_inline]] void insert(present_entry& e, byte_range r, bool disjoint = false) noexcept
    {
        e.range = r;
        if (!disjoint || has_orphans()) make_way(e, r, disjoint);
        entries_.insert(r.begin, e);
    }

    /// Makes `e` stand for memory that a program allocated on the device.
    void insert_allocation(present_entry& e, char* block, std::size_t bytes) noexcept
    {
        index_blocks();
        e.allocation = true;
        e.range = {block, block + bytes};
        e.count = 1;
        allocations_.push_back(e);
        place(e, block);
    }

    /// Gives `e` its block on the device, or takes it away again.
    [[gnu::always_inline]] void place(present_entry& e, char* block) noexcept
    {
        if (watch_ != nullptr || indexed_) make_known(e, block);
        e.block = block;
    }

    /// Looks blocks up from now on. Before the first pointer to device memory nobody does, and most programs name none; whoever
    /// associates memory that lies in other memory calls this first, for then the order counts.
    void index_blocks() noexcept
    {
        if (std::exchange(indexed_, true)) return;
        auto const index = [&](present_entry& e) {
            if (e.block != nullptr) blocks_.insert(e.block, e); // create() has made room
        };
        for_each_orphan(index); // older than what stands in their place
        for_each(index);
    }

    /// Takes `e` out of sight; it stays until its last region retires.
    void orphan(present_entry& e) noexcept
    {
        if (watch_ != nullptr) tell(e, nullptr);
        entries_.erase(e.range.begin, e);
        orphans_.push_back(e);
        e.orphan = true;
        e.count = e.holds = 0;
    }

    /// Takes `e` out altogether and keeps it for reuse. Its block is the caller's.
    void remove(present_entry& e) noexcept
    {
        if (e.allocation)
            allocations_.erase(allocations_.iterator_to(e));
        else if (e.orphan)
            orphans_.erase(orphans_.iterator_to(e));
        else
            entries_.erase(e.range.begin, e);
        recycle(e);
    }

    /// A blank entry, not in the table, which has room for it. Throws std::bad_alloc.
    [[gnu::always_inline]] present_entry& create()
    {
        entries_.reserve(alive_ + 1);
        blocks_.reserve(alive_ + 1);
        if (spare_.empty()) spare_.push_front(*new present_entry);
        present_entry& e = spare_.front();
        spare_.pop_front();
        ++alive_;
        return e;
    }

    void recycle(present_entry& e) noexcept
    {
        place(e, nullptr);
        e.forget_attachments();
        static_cast<entry_state&>(e) = {};
        e.failures.clear();
        e.uses.clear();
        --alive_;
        entries_.shrink(alive_);
        blocks_.shrink(alive_);
        if (spare_.size() < most_spare)
            spare_.push_front(e);
        else
            delete &e;
    }

    template <class F>
    void for_each_orphan(F f)
    {
        for (auto it = orphans_.begin(); it != orphans_.end();) f(*it++);
    }

    template <class F>
    void for_each(F f)
    {
        where p;
        for (bool any = entries_.size() != 0; any; any = entries_.next(p)) f(entries_.entry(p));
    }

    template <class F>
    void for_each_allocation(F f)
    {
        for (auto it = allocations_.begin(); it != allocations_.end();) f(*it++);
    }

    std::size_t size() const noexcept { return entries_.size(); }
    bool has_orphans() const noexcept { return !orphans_.empty(); }

private:
    static constexpr std::size_t most_spare = 1024;

    [[gnu::noinline]] void make_known(present_entry& e, char* block) noexcept
    {
        if (watch_ != nullptr) tell(e, block);
        if (!indexed_) return;
        if (e.block != nullptr) blocks_.erase(e.block, e);
        if (block != nullptr) blocks_.insert(block, e);
    }

    // What overlaps `r` makes way for `e`, and whoever uses that comes first.
    [[gnu::noinline]] void make_way(present_entry& e, byte_range r, bool disjoint) noexcept
    {
        for (present_entry* old = disjoint ? nullptr : first_overlap(r); old != nullptr;) {
            present_entry* const next = next_overlap(old, r);
            orphan(*old);
            old = next;
        }
        for_each_orphan([&](present_entry& old) {
            if (old.range.overlaps(r)) e.come_after(old);
        });
    }

    // A mapping begins when it has its block, and ends when it is an orphan or gone.
    void tell(present_entry const& e, char* block) noexcept
    {
        if (e.allocation || e.orphan) return;
        if (e.block != nullptr) watch_->unmapped(e.range.begin);
        if (block != nullptr) watch_->mapped(e.range.begin, block, e.bytes());
    }

    using where = address_map<present_entry>::position;

    address_map<present_entry> entries_; // by the begin of their range
    address_map<present_entry> blocks_;  // equal keys: memory within memory, or where an orphan stood
    std::size_t alive_ = 0;              // entries that are not spare
    boost::intrusive::list<present_entry> orphans_;
    boost::intrusive::list<present_entry> allocations_;
    boost::intrusive::list<present_entry> spare_;
    backend::host_watch* watch_ = nullptr;
    bool indexed_ = false; ///< whether blocks_ holds what has a block
};

} // namespace omp_co::detail
