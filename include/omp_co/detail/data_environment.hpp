// SPDX-License-Identifier: BSL-1.0
// The mapping algorithm (OpenMP 5.2, 5.8): takes the data clauses of a region, changes the present table as if the
// region had already run, and says what must be moved and which earlier regions must be waited for. Pure
// bookkeeping: no device call, no Asio, no lock of its own.
//
// A region goes through: check (may refuse; changes nothing), reserve (may throw; changes nothing that shows), then
// apply and record, which cannot fail, and at last, if it failed, undo, and retire.
#pragma once

#include <omp_co/detail/entry_lookup.hpp>
#include <omp_co/detail/map_item.hpp>
#include <omp_co/detail/present_table.hpp>
#include <omp_co/detail/program_memory.hpp>
#include <omp_co/detail/refusal.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace omp_co::detail {

class data_environment {
public:
    /// `unified`: the device reads host memory, so entries count but have no block and nothing moves.
    explicit data_environment(bool unified = false) noexcept : unified_(unified) {}

    present_table& table() noexcept { return table_; }
    bool unified() const noexcept { return unified_; }

    /// Device memory of the program's own.
    program_memory memory() noexcept { return {table_, latest_, unified_}; }

    using presence = entry_lookup::presence;

    /// What check() does in the usual cases of a single clause.
    [[gnu::always_inline]] presence look(std::span<map_item> items) noexcept { return lookup_.look(items); }

    /// Finds each clause's entry, groups those that need a new one, and reports the first clause that cannot be.
    refusal check(std::span<map_item> items) { return lookup_.check(items); }

    /// Takes the host memory that apply and record need. Throws std::bad_alloc. Returns the most waits that
    /// record can ask for.
    [[gnu::always_inline]] std::size_t reserve(std::span<map_item> items)
    {
        std::size_t waits = 0;
        for (map_item& item : items) {
            if (item.has(map_attach)) item.attached->record = std::make_unique<attachment_record>();
            if (item.has(map_created)) waits += reserve_new(item);
            if (item.entry == nullptr) continue;
            item.entry->uses.reserve(item.entry->uses.size() + 1);
            waits += item.entry->uses.size();
        }
        return waits;
    }

    /// Gives back what reserve took, for a region that is not accepted after all.
    void discard(std::span<map_item> items) noexcept
    {
        for (map_item& item : items) {
            if (!item.has(map_created) || item.entry == nullptr) continue;
            if (item.entry->range.empty()) table_.recycle(*item.entry);
            item.entry = nullptr;
        }
    }

    /// Whether this clause's entry is new and needs a block of its own.
    bool needs_block(map_item const& item) const noexcept
    {
        return item.has(map_created) && item.entry->range.empty() && !unified_;
    }

    /// Changes counts and decides motions. `serial` numbers accepted regions of this device. `queue`: the stream of its queue, which may
    /// skip it, and then nothing of it counts; null if it is on none. Returns the flags that the clauses have now, of all of them.
    [[gnu::hot, gnu::always_inline]] std::uint32_t apply(std::span<map_item> items, std::uint64_t serial,
                                                         stream_clock const* queue = nullptr) noexcept
    {
        latest_ = serial;
        return items.size() == 1 ? apply_alone(items, serial, queue) : apply_together(items, serial, queue);
    }

    /// Calls `f(stream, number, writes)` for every earlier use, not retired, that a region with these clauses must wait for.
    /// `ordered`: its kernel is a queue's.
    template <class F>
    void for_each_conflict(std::span<map_item const> items, std::uint64_t serial, F f,
                           bool ordered = false) const noexcept
    {
        for (map_item const& item : items) {
            if (item.entry == nullptr) continue;
            bool const exclusive = moves(item, serial);
            for (stream_use const& use : item.entry->uses) {
                backend::sequence until = use.motion;
                if (exclusive)
                    until = use.latest();
                else if (ordered || use.stream->ordered)
                    until = item.has(map_written) ? use.latest() : std::max(use.motion, use.written);
                if (until > use.stream->retired) f(*use.stream, until, item.has(map_written) || exclusive);
            }
        }
    }

    /// Notes that region `number` of `stream` uses these entries.
    [[gnu::hot]] void record(std::span<map_item const> items, stream_clock& stream, backend::sequence number,
                             std::uint64_t serial) noexcept
    {
        for (map_item const& item : items) {
            if (item.entry == nullptr) continue;
            ++item.entry->pending;
            stream_use& use = item.entry->use_by(stream);
            bool const exclusive = moves(item, serial);
            (exclusive ? use.motion : use.kernel) = number;
            if (!exclusive && item.has(map_written)) use.written = number;
        }
    }

    /// Whether something has ever failed to arrive.
    bool has_failed() const noexcept { return ever_failed_; }

    /// Whether something that these clauses relied on never arrived.
    [[gnu::hot]] bool relied_on_failure(std::span<map_item const> items, std::uint64_t serial) const noexcept
    {
        return ever_failed_ && std::any_of(items.begin(), items.end(), [&](map_item const& i) {
                   return i.entry != nullptr && i.entry->failed_for(serial);
               });
    }

    /// Fills in the device addresses; every block is there by now.
    void resolve(std::span<map_item> items) noexcept
    {
        for (map_item& item : items) {
            present_entry* const e = item.entry;
            if (item.has(map_raw | map_attach_target)) {
                if (item.has(map_raw)) continue;
                (&item - 1)->attached->value = e == nullptr ? item.host : on_device(*e, item);
            }
            bool const translated = e != nullptr && !item.has(map_device);
            item.device = translated ? on_device(*e, item) : item.host;
        }
    }

    /// A region failed: what it brought is unusable. Out of sight at once; who relied on it so far fails too. `arrived`: it
    /// failed when its copies in were done, and then what its kernel only reads is as it should be.
    void fail(std::span<map_item> items, std::uint64_t serial, std::uint64_t now, bool arrived) noexcept
    {
        for (map_item& item : items) {
            if (item.entry == nullptr || (arrived && !item.has(map_written))) continue;
            ever_failed_ = true;
            present_entry& e = *item.entry;
            e.synced = {};
            if (item.has(map_attach)) detach(item);
            if (!brought(items, item)) continue;
            e.note_failure(serial, now);
            if (!item.has(map_raw) && items[item.leader].has(map_created) && !e.orphan) table_.orphan(e);
        }
    }

    /// Which changes of counts are undone with a region that failed.
    enum class undone_counts : unsigned char {
        none,  ///< they are already: what it began was given up
        begun, ///< of what it was to begin, as what it was to end is over
        all    ///< nothing of it has happened, so what it was to end lives on
    };

    /// The region is about to retire with an error, so what it alone brought dies, and who relied on that fails too; `now` is the
    /// latest serial.
    void undo(std::span<map_item> items, std::uint64_t serial, bool arrived, undone_counts which,
              std::uint64_t now, stream_clock const* queue = nullptr) noexcept
    {
        fail(items, serial, now, arrived);
        if (which == undone_counts::none) return;
        for (map_item& item : items) take_back(item, serial, queue);
        if (which == undone_counts::begun) return;
        for (map_item& item : items) give_back(item, serial);
    }

    /// Post-processing of a region: `free(block, bytes)` for every entry that ends here.
    template <class Free>
    [[gnu::hot, gnu::always_inline]] void retire(std::span<map_item> items, std::uint64_t serial,
                                                 Free free) noexcept
    {
        for (map_item& item : items) {
            if (item.entry == nullptr) continue;
            leave_for_good(item, serial);
            present_entry* const e = std::exchange(item.entry, nullptr);
            // The program has its side back and may write it.
            if (item.has(map_copy_in | map_copy_out) && serial >= e->synced_since) e->synced = {};
            if (--e->pending != 0) continue;
            present_entry* const kept = std::exchange(e->keeps, nullptr);
            settle(*e, free);
            if (kept != nullptr && --kept->pending == 0) settle(*kept, free);
        }
    }

    /// Whether a copy out over `range` is accepted and not retired (asked before another device copies in).
    template <class F>
    void for_each_pending_out(byte_range range, F f)
    {
        auto const visit = [&](present_entry& e) {
            if (e.pending == 0) return;
            for (stream_use const& use : e.uses)
                if (use.motion > use.stream->retired) f(*use.stream, use.motion);
        };
        for (present_entry* e = table_.first_overlap(range); e != nullptr; e = table_.next_overlap(e, range))
            visit(*e);
        table_.for_each_orphan([&](present_entry& e) {
            if (e.range.overlaps(range)) visit(e);
        });
    }

    /// Another device is going to write this host memory: what is dying here is no longer equal to it.
    void host_changes(byte_range range) noexcept
    {
        for (present_entry* e = table_.first_overlap(range); e != nullptr; e = table_.next_overlap(e, range))
            e->synced = {};
    }

private:
    // Nowhere if the device was lost while the region waited for memory.
    static void* on_device(present_entry const& e, map_item const& item) noexcept
    {
        return e.block == nullptr ? nullptr : e.block + (item.begin() - e.range.begin);
    }

    // The same as apply() for a single clause, which joins no pointer, for that needs two.
    [[gnu::always_inline]] std::uint32_t apply_alone(std::span<map_item> items, std::uint64_t serial,
                                                     stream_clock const* queue) noexcept
    {
        map_item& item = items[0];
        if (item.entry == nullptr) return item.flags;
        if (only_moves(item)) return move(item, serial);
        if (is_resident(item)) {
            stay(item);
            return item.flags;
        }
        if (item.has(map_created)) open(item, serial);
        enter(items, item, serial);
        leave(item, queue);
        motion_out(items, item, serial);
        note_joined(item);
        return item.flags;
    }

    [[gnu::noinline]] std::uint32_t apply_together(std::span<map_item> items, std::uint64_t serial,
                                                   stream_clock const* queue) noexcept
    {
        std::uint32_t all = 0;
        bool resident = true;
        for (map_item const& item : items) {
            all |= item.flags;
            resident = resident && is_resident(item);
        }
        if (resident) {
            for (map_item& item : items) stay(item);
            return all;
        }
        if ((all & map_created) != 0)
            for (map_item& item : items)
                if (item.has(map_created)) open(item, serial);
        for (map_item& item : items) enter(items, item, serial);
        if ((all & map_attach) != 0)
            for (map_item& item : items)
                if (item.has(map_attach)) attach(item, *(&item + 1));
        for (map_item& item : items) leave(item, queue);
        for (map_item& item : items) {
            motion_out(items, item, serial);
            all |= item.flags;
            note_joined(item);
        }
        return all;
    }

    // Mapped before and after, and asked for no more than that.
    static bool is_resident(map_item const& item) noexcept
    {
        constexpr std::uint32_t both = map_enter | map_exit;
        constexpr std::uint32_t more = map_created | map_always | map_update | map_remove | map_raw |
                                       map_attach | map_attach_target | map_device;
        return item.entry != nullptr && item.bytes != 0 && (item.flags & (both | more)) == both;
    }

    // Its count goes up and down, and nothing moves.
    static void stay(map_item& item) noexcept
    {
        item.joined = item.entry->joined;
        if (item.has(map_written)) item.entry->synced = {};
    }

    // An update of what is mapped, which has an entry: no count changes.
    static bool only_moves(map_item const& item) noexcept
    {
        constexpr std::uint32_t more = map_enter | map_exit | map_written | map_raw;
        return (item.flags & (map_update | more)) == map_update;
    }

    // The last region that uses it has retired.
    template <class Free>
    void settle(present_entry& e, Free& free) noexcept
    {
        if (e.live()) {
            e.uses.clear();
            e.failures.clear();
            return;
        }
        if (e.owns_block && e.block != nullptr) free(e.block, e.bytes());
        table_.remove(e);
    }

    std::uint32_t move(map_item& item, std::uint64_t serial) noexcept
    {
        item.joined = item.entry->joined;
        if (unified_ || !item.has(map_to | map_from)) return item.flags;
        if (item.has(map_to)) item.flags |= map_copy_in;
        if (item.has(map_from)) item.flags |= map_copy_out;
        if (item.shape == nullptr) item.entry->sync({item.begin(), item.end()}, serial);
        return item.flags;
    }

    // The entry for a clause whose data is absent: a dying one is revived if what it holds can be lived on, any
    // other that it overlaps makes way, and its users are waited for.
    [[gnu::always_inline]] std::size_t reserve_new(map_item& item)
    {
        if (item.has(map_disjoint) && !table_.has_orphans()) { // the usual case
            item.entry = &table_.create();
            return 0;
        }
        byte_range const wanted{item.begin(), item.end()};
        present_entry* const first = table_.first_overlap(wanted);
        if (first != nullptr && revivable(*first, item)) {
            item.entry = first;
            return 0;
        }
        item.entry = &table_.create();
        std::size_t const inherited = table_.users_of(wanted);
        item.entry->uses.reserve(inherited + 1);
        return inherited;
    }

    // The same range, and no copy in needed. Who brings data of its own gets a block of its own. Joined pointers are not as
    // on the host, and a block that was associated is the program's again.
    bool revivable(present_entry const& e, map_item const& item) const noexcept
    {
        byte_range const wanted{item.begin(), item.end()};
        if (e.range.begin != wanted.begin || e.range.end != wanted.end) return false;
        return unified_ || (e.joined == nullptr && e.owns_block && item.has(map_to) &&
                            !item.has(map_always) && e.synced.covers(wanted));
    }

    [[gnu::always_inline]] void open(map_item& item, std::uint64_t serial) noexcept
    {
        present_entry& e = *item.entry;
        e.opened = serial;
        e.overdue = e.leaving = 0;
        e.name = item.name;
        if (!e.range.empty()) return; // revived
        table_.insert(e, {item.begin(), item.end()}, item.has(map_disjoint));
        if (unified_) {
            table_.place(e, e.range.begin);
            e.owns_block = false;
            e.synced = e.range;
        } else {
            table_.place(e, static_cast<char*>(item.device));
        }
    }

    [[gnu::always_inline]] void enter(std::span<map_item> items, map_item& item, std::uint64_t serial) noexcept
    {
        if (item.has(map_raw)) return;
        if (item.leader < items.size() && item.bytes != 0 && &items[item.leader] != &item)
            item.entry = items[item.leader].entry;
        if (item.bytes == 0 || item.entry == nullptr) return;
        present_entry& e = *item.entry;
        if (item.has(map_enter) && item.has(map_hold))
            ++e.holds;
        else if (item.has(map_enter) && e.count != infinite_count)
            ++e.count;
        if (!item.has(map_to) || unified_) return;
        byte_range const r{item.begin(), item.end()};
        bool const wanted = item.has(map_always | map_update) || (e.opened == serial && !e.synced.covers(r));
        if (!wanted) return;
        item.flags |= map_copy_in;
        // A single one that is written would be taken back at once.
        if (item.shape == nullptr && (items.size() != 1 || !item.has(map_written))) e.sync(r, serial);
    }

    // The pointer is sent unless the device has it already.
    void attach(map_item& pointer, map_item const& target) noexcept
    {
        if (unified_ || pointer.entry == nullptr || target.entry == nullptr) return;
        present_entry& e = *pointer.entry;
        std::ptrdiff_t const offset = target.begin() - target.entry->range.begin;
        attachment_record* known = e.joined_at(pointer.begin());
        if (known != nullptr && known->pointee == target.entry && known->opened == target.entry->opened &&
            known->offset == offset)
            return;
        if (known == nullptr) {
            ever_joined_ = true;
            known = pointer.attached->record.release();
            known->at = pointer.begin();
            known->next = std::exchange(e.joined, known);
        }
        known->pointee = target.entry;
        known->opened = target.entry->opened;
        known->offset = offset;
        pointer.flags |= map_copy_in;
    }

    // The pointer may not have arrived: whoever joins it next sends it again.
    static void detach(map_item const& pointer) noexcept
    {
        attachment_record* const known = pointer.entry->joined_at(pointer.begin());
        if (known != nullptr && pointer.has(map_copy_in)) known->pointee = nullptr;
    }

    [[gnu::always_inline]] static void leave(map_item& item, stream_clock const* queue) noexcept
    {
        if (item.entry != nullptr && item.has(map_written)) item.entry->synced = {};
        if (!counts(item) || !item.has(map_exit)) return;
        std::uint64_t& count = count_of(item);
        std::uint64_t const before = count;
        if (count != infinite_count && count != 0) count = item.has(map_remove) ? 0 : count - 1;
        if (item.has(map_enter)) return;
        item.dropped = before - count;
        if (queue == nullptr || item.has(map_hold)) return;
        present_entry& e = *item.entry;
        if (e.leaving == 0) e.leaving_on = queue;
        if (e.leaving_on != queue) return;
        item.flags |= map_undoable;
        e.leaving += item.dropped;
    }

    [[gnu::always_inline]] void motion_out(std::span<map_item> items, map_item& item, std::uint64_t serial) noexcept
    {
        if (item.entry == nullptr || item.bytes == 0 || !item.has(map_from) || unified_) return;
        if (item.entry->live() && !item.has(map_always | map_update)) return;
        if (!item.has(map_exit | map_update)) return;
        for (map_item const& other : items) { // the same range once
            if (&other == &item) break;
            if (other.has(map_copy_out) && other.host == item.host && other.bytes == item.bytes &&
                other.shape == nullptr)
                return;
        }
        item.flags |= map_copy_out;
        if (item.shape == nullptr) item.entry->sync({item.begin(), item.end()}, serial);
    }

    void note_joined(map_item& item) const noexcept
    {
        if (ever_joined_ && item.entry != nullptr && !item.has(map_attach | map_raw))
            item.joined = item.entry->joined;
    }

    // Motions exclude everything. So does a region that begins a mapping, unless it only reads: later regions of that
    // mapping are not ordered after the users of an earlier one by anything else.
    static bool moves(map_item const& item, std::uint64_t serial) noexcept
    {
        if (item.has(map_copy_in | map_copy_out | map_within | map_fill | map_outside)) return true;
        return item.entry->opened == serial && item.bytes != 0 &&
               (item.has(map_written) || !item.has(map_exit));
    }

    // What others may have relied on. A region that only reads what was there brings nothing.
    static bool brought(std::span<map_item const> items, map_item const& item) noexcept
    {
        if (item.has(map_copy_in)) return true;
        if (item.has(map_raw)) return item.has(map_written);
        bool const began = item.bytes != 0 && items[item.leader].has(map_created);
        return began && (item.has(map_written) || !item.has(map_exit));
    }

    // `enter data` that failed must not leave its count behind.
    static void take_back(map_item& item, std::uint64_t serial, stream_clock const* queue) noexcept
    {
        if (!counts(item) || !item.has(map_enter) || item.has(map_exit)) return;
        if (item.entry->opened > serial) return; // another mapping by now
        std::uint64_t& count = count_of(item);
        if (count == infinite_count) return;
        // Exits behind it on its queue may be undone as well: till then the count stays as high as that makes it.
        present_entry const& e = *item.entry;
        bool const follows =
            !item.has(map_hold) && queue != nullptr && e.leaving_on == queue && e.overdue < e.leaving;
        if (count == 0 || follows)
            ++item.entry->overdue;
        else
            --count;
    }

    // What an `exit data` was to end has ended: also what was to be taken back meanwhile.
    static void leave_for_good(map_item const& item, std::uint64_t serial) noexcept
    {
        present_entry& e = *item.entry;
        if (!item.has(map_undoable) || item.dropped == 0 || e.opened > serial) return;
        e.leaving -= item.dropped;
        std::uint64_t const taken = std::min({e.overdue, item.dropped, e.count});
        e.overdue -= taken;
        e.count -= taken;
    }

    // What an `exit data` that was skipped was to end lives on, unless somebody has mapped it anew meanwhile.
    static void give_back(map_item& item, std::uint64_t serial) noexcept
    {
        if (!counts(item) || item.has(map_enter) || !item.has(map_exit)) return;
        present_entry& e = *item.entry;
        if (e.opened > serial || e.orphan || count_of(item) == infinite_count) return;
        std::uint64_t const taken = std::min(e.overdue, item.dropped);
        count_of(item) += item.dropped - taken;
        e.overdue -= taken;
        if (item.has(map_undoable)) e.leaving -= item.dropped;
        item.dropped = 0;
    }

    static bool counts(map_item const& item) noexcept { return item.entry != nullptr && item.bytes != 0; }
    static std::uint64_t& count_of(map_item& item) noexcept
    {
        return item.has(map_hold) ? item.entry->holds : item.entry->count;
    }

    present_table table_;
    entry_lookup lookup_{table_};
    std::uint64_t latest_ = 0; // serial of the region that was accepted last
    bool unified_;
    bool ever_failed_ = false;
    bool ever_joined_ = false;
};

} // namespace omp_co::detail
