// SPDX-License-Identifier: BSL-1.0
// The mapping algorithm (OpenMP 5.2, 5.8): takes the data clauses of a region, changes the present table as if the
// region had already run, and says what must be moved and which earlier regions must be waited for. Pure
// bookkeeping: no device call, no Asio, no lock of its own.
//
// A region goes through: check (may refuse; changes nothing), reserve (may throw; changes nothing that shows), then
// apply and record, which cannot fail, and at last retire.
#pragma once

#include <omp_co/detail/map_item.hpp>
#include <omp_co/detail/present_table.hpp>
#include <omp_co/detail/refusal.hpp>

#include <algorithm>
#include <boost/container/small_vector.hpp>
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

    /// The usual case in one step: a single clause, of data that is present. False: nothing has changed, and check() and
    /// reserve() say what is to be said. True: they need not be called.
    [[gnu::hot]] bool find_present(std::span<map_item> items) noexcept
    {
        if (items.size() != 1) return false;
        map_item& item = items[0];
        if (item.has(map_raw) || item.bytes == 0 || !sensible(item)) return false;
        present_entry* const e = table_.holding(item.host);
        if (e == nullptr || !e->live() || item.end() > e->range.end) return false;
        if (e->uses.size() == e->uses.capacity()) return false; // record() may add one
        item.leader = 0;
        item.entry = e;
        return true;
    }

    /// Finds each clause's entry, groups those that need a new one, and reports the first clause that cannot be.
    /// Dying entries count as absent: what a program sees must not depend on how fast a device is.
    refusal check(std::span<map_item> items)
    {
        if (items.size() == 1) return find(items[0], 0); // no pointer to join, which has two
        if (!items.empty() && items[0].has(map_raw)) {
            for (map_item& item : items)
                if (refusal r = find_raw(item)) return r;
            return {};
        }
        order_.resize(items.size());
        for (std::uint32_t i = 0; i < items.size(); ++i) order_[i] = i;
        std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
            map_item const& l = items[a];
            map_item const& r = items[b];
            if (l.host != r.host) return l.host < r.host;
            if (l.bytes != r.bytes) return l.bytes > r.bytes;
            return l.has(map_enter) != r.has(map_enter) ? l.has(map_enter) : a < b; // who may bring it first
        });
        map_item const* group = nullptr;
        for (std::uint32_t const at : order_) {
            map_item& item = items[at];
            if (!sensible(item)) return {errc::invalid_argument, &item, {}};
            if (group != nullptr && item.bytes != 0 && item.begin() < group->end()) {
                if (item.end() > group->end())
                    return {errc::partially_present, &item, {group->begin(), group->end()}, group->name};
                if (item.has(map_present)) return {errc::not_present, &item, {}};
                item.leader = group->leader;
                continue;
            }
            if (refusal r = find(item, at)) return r;
            if (item.has(map_created)) group = &item;
        }
        for (std::uint32_t i = 0; i < items.size(); ++i)
            if (items[i].has(map_attach | map_attach_target) && items[i].bytes != 0 &&
                items[i].entry == nullptr && items[i].leader == i)
                return nowhere(items, items[i]);
        return {};
    }

    /// Takes the host memory that apply and record need. Throws std::bad_alloc. Returns the most waits that
    /// record can ask for.
    std::size_t reserve(std::span<map_item> items)
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

    /// Puts memory that a program allocated on the device into the table. Throws std::bad_alloc, and then the block is the
    /// caller's.
    void allocated(char* block, std::size_t bytes)
    {
        table_.insert_allocation(table_.create(), block, bytes);
    }

    /// Takes it out again: `free(block, bytes)` now, or when the last region that uses it retires. False: `p` is not the
    /// beginning of such memory.
    template <class Free>
    bool deallocate(void* p, Free free) noexcept
    {
        present_entry* const e = table_.allocation_at(p);
        if (e == nullptr) return false;
        e->count = 0;
        if (e->pending != 0) return true;
        free(e->block, e->bytes());
        table_.remove(*e);
        return true;
    }

    /// Makes host memory count as mapped to device memory that is there (omp_target_associate_ptr), for ever. Throws
    /// std::bad_alloc.
    errc associate(byte_range host, char* device)
    {
        if (host.begin == nullptr || host.end <= host.begin || device == nullptr)
            return errc::invalid_argument;
        for (present_entry* e = table_.first_overlap(host); e != nullptr; e = table_.next_overlap(e, host)) {
            if (!e->live()) continue;
            bool const same = e->count == infinite_count && e->block == device &&
                              e->range.begin == host.begin && e->range.end == host.end;
            return same ? errc{} : errc::invalid_argument;
        }
        table_.index_blocks();
        map_item item;
        item.host = host.begin;
        item.bytes = static_cast<std::size_t>(host.end - host.begin);
        item.device = device;
        item.entry = &table_.create();
        try {
            std::size_t inherited = 1;
            auto const count = [&](present_entry& e) {
                inherited += e.range.overlaps(host) ? e.uses.size() : 0;
            };
            for (present_entry* e = table_.first_overlap(host); e != nullptr;
                 e = table_.next_overlap(e, host))
                count(*e);
            table_.for_each_orphan(count);
            item.entry->uses.reserve(inherited);
        } catch (...) {
            table_.recycle(*item.entry);
            throw;
        }
        open(item, latest_); // another number whenever a region has been accepted in between
        item.entry->owns_block = false;
        item.entry->count = infinite_count;
        return {};
    }

    /// Ends that. False: `p` is not the beginning of associated memory, or it is held.
    bool disassociate(void const* p) noexcept
    {
        present_entry* const e = table_.holding(p);
        if (e == nullptr || e->count != infinite_count || e->holds != 0 || e->range.begin != p) return false;
        e->count = 0;
        if (e->pending == 0) table_.remove(*e);
        return true;
    }

    /// Whether this clause's entry is new and needs a block of its own.
    bool needs_block(map_item const& item) const noexcept
    {
        return item.has(map_created) && item.entry->range.empty() && !unified_;
    }

    /// Changes counts and decides motions. `serial` numbers accepted regions of this device.
    [[gnu::hot]] void apply(std::span<map_item> items, std::uint64_t serial) noexcept
    {
        latest_ = serial;
        if (items.size() == 1 && only_moves(items[0])) return move(items[0], serial);
        if (std::all_of(items.begin(), items.end(),
                        &is_resident)) { // counts go up and down, and nothing moves
            for (map_item& item : items) {
                item.joined = item.entry->joined;
                if (item.has(map_written)) item.entry->synced = {};
            }
            return;
        }
        std::uint32_t all = 0;
        for (map_item& item : items) {
            all |= item.flags;
            if (item.has(map_created)) open(item, serial);
        }
        for (map_item& item : items) enter(items, item, serial);
        if ((all & map_attach) != 0)
            for (map_item& item : items)
                if (item.has(map_attach)) attach(item, *(&item + 1));
        for (map_item& item : items)
            if (item.entry != nullptr && item.has(map_written)) item.entry->synced = {};
        for (map_item& item : items) leave(item);
        for (map_item& item : items) motion_out(items, item, serial);
        if (!ever_joined_) return;
        for (map_item& item : items)
            if (item.entry != nullptr && !item.has(map_attach | map_raw)) item.joined = item.entry->joined;
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
            stream_use& use = use_of(*item.entry, stream);
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
            note_failure(e, serial, now);
            if (!item.has(map_raw) && items[item.leader].has(map_created) && !e.orphan) table_.orphan(e);
        }
    }

    /// Post-processing of a region: `free(block, bytes)` for every entry that ends here. `failed`: the region
    /// failed, so what it alone brought dies, and who relied on that fails too; `now` is the latest serial.
    template <class Free>
    [[gnu::hot]] void retire(std::span<map_item> items, std::uint64_t serial, bool failed, bool arrived,
                             std::uint64_t now, Free free) noexcept
    {
        if (failed) {
            fail(items, serial, now, arrived);
            for (map_item& item : items) take_back(item, serial);
        }
        for (map_item& item : items) {
            present_entry* const e = std::exchange(item.entry, nullptr);
            if (e == nullptr) continue;
            // The program has its side back and may write it.
            if (item.has(map_copy_in | map_copy_out) && serial >= e->synced_since) e->synced = {};
            if (--e->pending != 0) continue;
            if (e->live()) {
                e->uses.clear();
                e->failures.clear();
                continue;
            }
            if (e->owns_block && e->block != nullptr) free(e->block, e->bytes());
            table_.remove(*e);
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

    // Mapped before and after, and asked for no more than that.
    static bool is_resident(map_item const& item) noexcept
    {
        constexpr std::uint32_t both = map_enter | map_exit;
        constexpr std::uint32_t more = map_created | map_always | map_update | map_remove | map_raw |
                                       map_attach | map_attach_target | map_device;
        return item.entry != nullptr && item.bytes != 0 && (item.flags & (both | more)) == both;
    }

    // An update of what is mapped: no count changes.
    static bool only_moves(map_item const& item) noexcept
    {
        constexpr std::uint32_t more = map_enter | map_exit | map_written | map_raw;
        return item.entry != nullptr && (item.flags & (map_update | more)) == map_update;
    }

    void move(map_item& item, std::uint64_t serial) noexcept
    {
        item.joined = item.entry->joined;
        if (unified_ || !item.has(map_to | map_from)) return;
        if (item.has(map_to)) item.flags |= map_copy_in;
        if (item.has(map_from)) item.flags |= map_copy_out;
        if (item.shape == nullptr) sync(*item.entry, {item.begin(), item.end()}, serial);
    }

    static bool sensible(map_item const& item) noexcept
    {
        return item.bytes == 0 || (item.host != nullptr && item.end() > item.begin());
    }

    refusal find(map_item& item, std::uint32_t at) noexcept
    {
        if (item.has(map_raw)) return find_raw(item);
        item.leader = at;
        if (item.bytes == 0) { // only looks up; a kernel uses what it has found
            present_entry* e = nullptr;
            if (item.has(map_device))
                e = table_.at_device(item.host);
            else if (item.has(map_used))
                e = table_.holding(item.host);
            if (e != nullptr && e->live()) item.entry = e;
            return {};
        }
        if (!sensible(item)) return {errc::invalid_argument, &item, {}};
        byte_range const wanted{item.begin(), item.end()};
        for (present_entry* e = table_.first_overlap(wanted); e != nullptr;
             e = table_.next_overlap(e, wanted)) {
            if (!e->live()) continue;
            if (!e->range.covers(wanted)) return {errc::partially_present, &item, e->range, e->name};
            item.entry = e;
            return {};
        }
        if (item.has(map_present)) return {errc::not_present, &item, {}};
        if (item.has(map_enter)) item.flags |= map_created;
        return {};
    }

    // What is to be joined is not there, or only a part of it.
    static refusal nowhere(std::span<map_item const> items, map_item const& item) noexcept
    {
        byte_range const wanted{item.begin(), item.end()};
        for (map_item const& other : items)
            if (byte_range const r{other.begin(), other.end()}; other.has(map_created) && r.overlaps(wanted))
                return {errc::partially_present, &item, r, other.name};
        return {errc::not_present, &item, {}};
    }

    refusal find_raw(map_item& item) noexcept
    {
        if (item.bytes == 0 || item.has(map_unordered)) return {};
        present_entry* e = table_.at_device(item.device, item.bytes);
        if (e == nullptr) e = table_.at_device(item.device);
        if (e == nullptr || !e->live()) return {}; // somebody else's memory
        char* const end = static_cast<char*>(item.device) + item.bytes;
        if (end > e->block + e->bytes())
            return {errc::invalid_argument, &item, {e->block, e->block + e->bytes()}};
        item.entry = e;
        return {};
    }

    // The entry for a clause whose data is absent: a dying one is revived if what it holds can be lived on, any
    // other that it overlaps makes way, and its users are waited for.
    std::size_t reserve_new(map_item& item)
    {
        byte_range const wanted{item.begin(), item.end()};
        present_entry* const first = table_.first_overlap(wanted);
        if (first != nullptr && revivable(*first, item)) {
            item.entry = first;
            return 0;
        }
        item.entry = &table_.create();
        std::size_t inherited = 0;
        for (present_entry* e = first; e != nullptr; e = table_.next_overlap(e, wanted))
            inherited += e->uses.size();
        table_.for_each_orphan([&](present_entry& e) {
            if (e.range.overlaps(wanted)) inherited += e.uses.size();
        });
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

    void open(map_item& item, std::uint64_t serial) noexcept
    {
        present_entry& e = *item.entry;
        e.opened = serial;
        e.name = item.name;
        if (!e.range.empty()) return; // revived
        e.range = {item.begin(), item.end()};
        for (present_entry* old = table_.first_overlap(e.range); old != nullptr;) {
            present_entry* const next = table_.next_overlap(old, e.range);
            table_.orphan(*old);
            old = next;
        }
        if (table_.has_orphans())
            table_.for_each_orphan([&](present_entry& old) {
                if (old.range.overlaps(e.range)) inherit(e, old);
            });
        table_.insert(e);
        if (unified_) {
            table_.place(e, e.range.begin);
            e.owns_block = false;
            e.synced = e.range;
        } else {
            table_.place(e, static_cast<char*>(item.device));
        }
    }

    static void inherit(present_entry& e, present_entry const& old) noexcept
    {
        for (stream_use const& use : old.uses) {
            stream_use& mine = use_of(e, *use.stream);
            mine.motion = std::max(mine.motion, use.latest());
        }
    }

    static stream_use& use_of(present_entry& e, stream_clock& stream) noexcept
    {
        for (stream_use& use : e.uses)
            if (use.stream == &stream) return use;
        for (stream_use& use : e.uses) {
            if (use.latest() > use.stream->retired) continue;
            use = {&stream};
            return use;
        }
        e.uses.emplace_back(&stream); // capacity was reserved
        return e.uses.back();
    }

    void enter(std::span<map_item> items, map_item& item, std::uint64_t serial) noexcept
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
        if (item.shape == nullptr) sync(e, r, serial);
    }

    // The pointer is sent unless the device has it already.
    void attach(map_item& pointer, map_item const& target) noexcept
    {
        if (unified_ || pointer.entry == nullptr || target.entry == nullptr) return;
        present_entry& e = *pointer.entry;
        std::ptrdiff_t const offset = target.begin() - target.entry->range.begin;
        attachment_record* known = joined_at(e, pointer.begin());
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

    static attachment_record* joined_at(present_entry const& e, char const* pointer) noexcept
    {
        attachment_record* found = e.joined;
        while (found != nullptr && found->at != pointer) found = found->next;
        return found;
    }

    // The pointer may not have arrived: whoever joins it next sends it again.
    static void detach(map_item const& pointer) noexcept
    {
        attachment_record* const known = joined_at(*pointer.entry, pointer.begin());
        if (known != nullptr && pointer.has(map_copy_in)) known->pointee = nullptr;
    }

    static void leave(map_item& item) noexcept
    {
        if (item.entry == nullptr || item.bytes == 0 || !item.has(map_exit)) return;
        std::uint64_t& count = item.has(map_hold) ? item.entry->holds : item.entry->count;
        if (count == infinite_count || count == 0) return;
        count = item.has(map_remove) ? 0 : count - 1;
    }

    void motion_out(std::span<map_item> items, map_item& item, std::uint64_t serial) noexcept
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
        if (item.shape == nullptr) sync(*item.entry, {item.begin(), item.end()}, serial);
    }

    // A union that would have a gap keeps the larger part: too little costs a copy, too much would be wrong.
    static void sync(present_entry& e, byte_range r, std::uint64_t serial) noexcept
    {
        if (e.synced.empty()) e.synced_since = serial;
        if (!e.synced.empty() && r.begin <= e.synced.end && e.synced.begin <= r.end) {
            e.synced = {std::min(e.synced.begin, r.begin), std::max(e.synced.end, r.end)};
            return;
        }
        if (r.end - r.begin <= e.synced.end - e.synced.begin) return;
        e.synced = r;
        e.synced_since = serial;
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

    static void note_failure(present_entry& e, std::uint64_t serial, std::uint64_t now) noexcept
    {
        for (present_entry::failure& f : e.failures) {
            if (f.from != serial) continue;
            f.through = now;
            return;
        }
        try {
            e.failures.push_back({serial, now});
        } catch (...) { // no memory: then for more regions than is due
            e.failures.front() = {0, now};
        }
    }

    // `enter data` that failed must not leave its count behind.
    static void take_back(map_item& item, std::uint64_t serial) noexcept
    {
        if (item.entry == nullptr || item.bytes == 0 || !item.has(map_enter) || item.has(map_exit)) return;
        if (item.entry->opened > serial) return; // another mapping by now
        std::uint64_t& count = item.has(map_hold) ? item.entry->holds : item.entry->count;
        if (count != 0 && count != infinite_count) --count;
    }

    present_table table_;
    boost::container::small_vector<std::uint32_t, 16> order_;
    std::uint64_t latest_ = 0; // serial of the region that was accepted last
    bool unified_;
    bool ever_failed_ = false;
    bool ever_joined_ = false;
};

} // namespace omp_co::detail
