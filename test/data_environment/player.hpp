// SPDX-License-Identifier: BSL-1.0
// Plays a sequence on a data environment and on the reference at once, carries out the motions in an order that the
// recorded waits allow, and throws `violation` at the first difference.
#pragma once

#include "items.hpp"
#include "reference.hpp"
#include "sequence.hpp"

#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

namespace model {

namespace detail = omp_co::detail;
using detail::map_item;
using detail::present_entry;

struct violation {
    std::string what;
};

inline void require(bool holds, std::string const& what)
{
    if (!holds) throw violation{what};
}

/// How a region of the model stands.
enum class stage { parked, enqueued, done, retired };

struct played_stream : detail::stream_clock {
    std::uint64_t executed = 0; ///< signals done on the device
    std::vector<int> regions;   ///< in order; number n is regions[n - 1]
};

struct wait {
    std::size_t stream;
    omp_co::backend::sequence number;
};

/// A byte that a kernel reads or writes through one of its arguments.
struct access {
    std::size_t argument;
    int byte;
    cell expected;
};

struct played_region {
    int id = 0;
    construct kind{};
    std::vector<clause> clauses;
    std::vector<map_item> items;
    std::vector<present_entry*> entries; ///< one an item, also after it has retired
    effects effect;
    std::size_t stream = 0;
    omp_co::backend::sequence number = 0;
    std::vector<wait> waits;
    std::vector<access> reads;
    std::vector<access> writes;
    int value = 0;
    stage at = stage::parked;
    int next_command = 0;
    int fails_at = -1;
    bool broken = false;      ///< a command of it failed on the device
    bool failed = false;      ///< its failure is known
    region_set relies_on = 0; ///< regions in flight that brought what it uses
};

struct settings {
    bool unified = false;
    bool device_waits = true;
};

class player {
public:
    explicit player(settings s) : settings_(s), environment_(s.unified)
    {
        reference_.moves = !s.unified;
        for (int b = 0; b < memory_size; ++b) {
            memory_[std::size_t(b)] = static_cast<unsigned char>(100 + b);
            reference_.host[std::size_t(b)].value = 100 + b;
        }
    }
    player(player const&) = delete;
    player& operator=(player const&) = delete;
    ~player()
    {
        for (auto const& [block, bytes] : blocks_) std::free(block);
    }

    void play(std::vector<step> const& steps)
    {
        for (step const& s : steps) {
            play(s);
            check();
        }
        for (std::uint32_t i = 0; drain_one(i); ++i) check();
        for (auto const& r : regions_) require(r->at == stage::retired, name(*r) + " never ends");
        require(!environment_.table().has_orphans(), "an orphan is left behind");
        std::size_t live = 0;
        for (mapping const& m : reference_.mappings) live += m.count > 0 ? 1U : 0U;
        require(environment_.table().size() == live, "a dead entry is left behind");
        require(blocks_.size() == (settings_.unified ? 0 : live), "a block is left behind");
    }

private:
    void play(step const& s)
    {
        switch (s.what) {
        case action::start:
        case action::abandon: return accept(s);
        case action::advance: return (void)advance(s.pick);
        case action::retire: return (void)retire_one(s.pick);
        case action::write: return write(int(s.pick % memory_size), s.value);
        }
    }

    bool drain_one(std::uint32_t pick) { return advance(pick * 7) || retire_one(pick); }

    // Acceptance, as device_core does it.

    void accept(step const& s)
    {
        if (regions_.size() == most_regions) return;
        auto made = std::make_unique<played_region>();
        played_region& r = *made;
        r.id = int(regions_.size());
        r.kind = s.kind;
        r.clauses = s.clauses;
        for (clause const& c : s.clauses) r.items.push_back(item_of(s.kind, c));

        std::vector<errc> const possible = reference_.errors(r.kind, r.clauses);
        detail::refusal const refused = environment_.check(r.items);
        if (refused || !possible.empty()) return check_refusal(refused, possible);
        std::size_t const most_waits = environment_.reserve(r.items);
        if (s.what == action::abandon) return environment_.discard(r.items);

        std::vector<present_entry*> revived;
        for (map_item& item : r.items) {
            if (environment_.needs_block(item)) item.device = take_block(item.bytes);
            else if (item.has(detail::map_created)) revived.push_back(item.entry);
        }
        std::uint64_t const serial = serial_of(r);
        environment_.apply(r.items, serial);
        r.stream = s.pick % streams_.size();
        played_stream& stream = streams_[r.stream];
        r.number = ++stream.accepted;
        stream.regions.push_back(r.id);
        collect_waits(r, most_waits);
        record(r, stream);
        r.effect = reference_.enter(r.kind, r.clauses, r.id);
        choose_accesses(r, s);
        reference_.leave(r.kind, r.clauses, r.id, r.effect);
        compare_motions(r, revived);
        note_reliance(r);
        int const commands = command_count(r);
        if (s.fail_at >= 0 && commands != 0) r.fails_at = s.fail_at % commands;
        regions_.push_back(std::move(made));
    }

    map_item item_of(construct kind, clause const& c)
    {
        using detail::map_always, detail::map_present;
        std::uint32_t const more = (c.always ? map_always : 0U) | (c.present ? map_present : 0U);
        void* const p = memory_.data() + c.first;
        std::size_t const n = std::size_t(c.count);
        switch (kind) {
        case construct::target:
            if (c.what == type::to) return bed::target::to(p, n, more);
            if (c.what == type::from) return bed::target::from(p, n, more);
            if (c.what == type::tofrom) return bed::target::tofrom(p, n, more);
            return bed::target::alloc(p, n, more);
        case construct::enter_data: return c.what == type::to ? bed::enter::to(p, n, more) : bed::enter::alloc(p, n, more);
        case construct::exit_data:
            if (c.what == type::from) return bed::exit::from(p, n, more);
            return c.what == type::release ? bed::exit::release(p, n, more) : bed::exit::delete_(p, n, more);
        case construct::update: return c.what == type::to ? bed::update::to(p, n, more) : bed::update::from(p, n, more);
        }
        return {};
    }

    void check_refusal(detail::refusal const& refused, std::vector<errc> const& possible)
    {
        require(bool(refused), "accepted what must be refused");
        require(!possible.empty(), "refused what must be accepted: " + describe(refused));
        require(std::find(possible.begin(), possible.end(), refused.code) != possible.end(),
                "refused for the wrong reason: " + describe(refused));
    }

    void collect_waits(played_region& r, std::size_t most)
    {
        environment_.for_each_conflict(r.items, serial_of(r),
                                       [&](detail::stream_clock& clock, omp_co::backend::sequence number, bool) {
                                           auto const at = std::size_t(static_cast<played_stream*>(&clock) - streams_.data());
                                           require(number < r.number || at != r.stream, "a region waits for itself");
                                           if (at == r.stream) return;
                                           for (wait& w : r.waits)
                                               if (w.stream == at) return (void)(w.number = std::max(w.number, number));
                                           r.waits.push_back({at, number});
                                       });
        require(r.waits.size() <= most, "more waits than reserve said");
    }

    void record(played_region& r, played_stream& stream)
    {
        std::vector<std::size_t> capacities;
        for (map_item const& item : r.items) capacities.push_back(item.entry == nullptr ? 0 : item.entry->uses.capacity());
        environment_.record(r.items, stream, r.number, serial_of(r));
        for (std::size_t i = 0; i < r.items.size(); ++i) {
            r.entries.push_back(r.items[i].entry);
            if (r.items[i].entry == nullptr) continue;
            require(r.items[i].entry->uses.capacity() == capacities[i], "record allocates");
        }
    }

    // A kernel touches what no other region in flight makes a race of.
    void choose_accesses(played_region& r, step const& s)
    {
        if (r.kind != construct::target) return;
        r.value = s.value;
        for (std::size_t i = 0; i < r.clauses.size(); ++i) {
            int const m = r.effect.mappings[i];
            if (m < 0) continue;
            clause const& c = r.clauses[i];
            int const last = c.count == 0 ? c.first + 1 : c.last();
            for (int b = c.first; b < last; ++b) {
                if ((s.touched >> ((b + int(i)) % 64) & 1) == 0) continue;
                if (!in_use(m, b, false)) r.reads.push_back({i, b, reference_.at(m).device[std::size_t(b)]});
                if (c.what != type::to && c.count != 0 && !in_use(m, b, true)) r.writes.push_back({i, b, {}});
            }
        }
        for (access const& w : r.writes)
            reference_.at(r.effect.mappings[w.argument]).device[std::size_t(w.byte)] = {r.value, only(r.id)};
    }

    bool in_use(int m, int byte, bool also_read) const
    {
        for (auto const& other : regions_) {
            if (other->at == stage::retired) continue;
            auto const touches = [&](access const& a) {
                return a.byte == byte && other->effect.mappings[a.argument] == m;
            };
            if (std::any_of(other->writes.begin(), other->writes.end(), touches)) return true;
            if (also_read && std::any_of(other->reads.begin(), other->reads.end(), touches)) return true;
        }
        return false;
    }

    // Copies out are exactly the reference's. A copy in may be spared where an entry was revived.
    void compare_motions(played_region& r, std::vector<present_entry*> const& revived)
    {
        if (settings_.unified) {
            for (map_item const& item : r.items)
                require(!item.has(detail::map_copy_in | detail::map_copy_out), "unified memory moves");
            return;
        }
        byte_set const in = moved(r, detail::map_copy_in);
        byte_set const out = moved(r, detail::map_copy_out);
        require(out == r.effect.out, name(r) + " copies out " + text(out) + " instead of " + text(r.effect.out));
        require((in & ~r.effect.in).none(), name(r) + " copies in " + text(in) + " instead of " + text(r.effect.in));
        for (std::size_t i = 0; i < r.items.size(); ++i) {
            present_entry* const e = r.items[i].entry;
            if (e == nullptr || r.clauses[i].count == 0) continue;
            bool const again = std::find(revived.begin(), revived.end(), e) != revived.end();
            if (r.items[i].has(detail::map_created) && !again) history_[e] = {};
            for (std::size_t b : bytes_of(r.clauses[i])) {
                if (!r.effect.in[b] || in[b]) continue;
                require(again, name(r) + " does not copy in byte " + std::to_string(b));
                r.relies_on |= history_[e].filled_by[b] & in_flight();
            }
        }
        byte_set const spared = r.effect.in & ~in;
        for (map_item const& item : r.items) {
            if (item.entry == nullptr || !item.has(detail::map_created)) continue;
            for (char* p = item.entry->range.begin; p != item.entry->range.end; ++p)
                if (!spared[byte_of(p)]) history_[item.entry].filled_by[byte_of(p)] = only(r.id);
        }
        for (std::size_t i = 0; i < r.items.size(); ++i) note_history(r, i, in);
    }

    static byte_set moved(played_region const& r, std::uint32_t way)
    {
        byte_set all;
        for (std::size_t i = 0; i < r.items.size(); ++i)
            if (r.items[i].has(way))
                for (std::size_t b : bytes_of(r.clauses[i])) all.set(b);
        return all;
    }

    static std::vector<std::size_t> bytes_of(clause const& c)
    {
        std::vector<std::size_t> all;
        for (int b = c.first; b < c.last(); ++b) all.push_back(std::size_t(b));
        return all;
    }

    /// What happened to the block of an entry, through all its lives.
    struct history {
        std::array<region_set, memory_size> filled_by{}; ///< each byte of the block
        region_set users = 0;                        ///< that others may have relied on
    };

    void note_history(played_region const& r, std::size_t i, byte_set const& in)
    {
        map_item const& item = r.items[i];
        if (item.entry == nullptr) return;
        history& past = history_[item.entry];
        bool whole = true;
        for (char* p = item.entry->range.begin; p != item.entry->range.end; ++p) whole = whole && in[byte_of(p)];
        if (whole && item.has(detail::map_created)) past.users = 0; // nothing older can show any more
        older_users_[std::size_t(r.id)] |= past.users & ~only(r.id);
        if (item.has(detail::map_created | detail::map_copy_in)) past.users |= only(r.id);
        for (std::size_t b : bytes_of(r.clauses[i]))
            if (in[b]) past.filled_by[b] = only(r.id);
    }

    // A mapping is relied on by all who use it after those who filled it.
    void note_reliance(played_region& r)
    {
        for (auto const& earlier : regions_) {
            if (earlier->at == stage::retired) continue;
            for (std::size_t i = 0; i < r.clauses.size(); ++i)
                for (int const m : earlier->effect.filled)
                    if (r.clauses[i].count != 0 && r.effect.mappings[i] == m) r.relies_on |= only(earlier->id);
        }
        if ((r.relies_on & failed_) != 0) failed_ |= only(r.id);
    }

    region_set in_flight() const
    {
        region_set all = 0;
        for (auto const& r : regions_)
            if (r->at != stage::retired) all |= only(r->id);
        return all;
    }

    // The device.

    // What can happen on the device: a stream enqueues its next region, or runs a command.
    bool advance(std::uint32_t pick)
    {
        std::vector<std::pair<std::size_t, bool>> possible;
        for (std::size_t s = 0; s < streams_.size(); ++s) {
            if (may_enqueue(streams_[s])) possible.emplace_back(s, true);
            if (may_run(streams_[s])) possible.emplace_back(s, false);
        }
        if (possible.empty()) return false;
        auto const [at, enqueues] = possible[pick % possible.size()];
        if (enqueues) enqueue(streams_[at]);
        else run_command(streams_[at]);
        return true;
    }

    bool may_enqueue(played_stream const& s) const
    {
        if (s.enqueued == s.regions.size()) return false;
        for (wait const& w : region_of(s, s.enqueued + 1).waits) {
            played_stream const& other = streams_[w.stream];
            if ((settings_.device_waits ? other.enqueued : other.retired) < w.number) return false;
        }
        return true;
    }

    bool may_run(played_stream const& s) const
    {
        if (s.executed == s.enqueued) return false;
        for (wait const& w : region_of(s, s.executed + 1).waits)
            if (streams_[w.stream].executed < w.number) return false;
        return true;
    }

    void enqueue(played_stream& s)
    {
        played_region& r = region_of(s, ++s.enqueued);
        environment_.resolve(r.items);
        r.at = stage::enqueued;
        if (!environment_.relied_on_failure(r.items, serial_of(r))) return check_addresses(r);
        expect_failure(r);
        know_failure(r);
        environment_.fail(r.items, serial_of(r), regions_.size());
        follow_failure(r);
    }

    // Zero-length clauses look up at acceptance, whatever happens before the region is enqueued.
    void check_addresses(played_region const& r)
    {
        if (settings_.unified) return;
        for (std::size_t i = 0; i < r.items.size(); ++i) {
            map_item const& item = r.items[i];
            if (r.effect.mappings[i] < 0) continue;
            require(item.device != item.host, name(r) + ": a mapped clause has no device address");
            bool known = false;
            for (auto const& [block, bytes] : blocks_)
                known = known || (item.device >= block && static_cast<char*>(item.device) + item.bytes <= static_cast<char*>(block) + bytes);
            require(known, name(r) + ": a device address is in no block");
        }
    }

    void run_command(played_stream& s)
    {
        played_region& r = region_of(s, s.executed + 1);
        int const commands = command_count(r);
        if (r.next_command < commands && !r.failed && !r.broken) {
            if (r.next_command == r.fails_at) {
                r.broken = true;
                doom(r);
            } else {
                run(r, r.next_command);
            }
            ++r.next_command;
            if (r.next_command < commands) return;
        }
        r.at = stage::done;
        ++s.executed;
    }

    static int command_count(played_region const& r)
    {
        int n = r.kind == construct::target ? 1 : 0;
        for (map_item const& item : r.items) n += int(item.has(detail::map_copy_in)) + int(item.has(detail::map_copy_out));
        return n;
    }

    void run(played_region& r, int command)
    {
        for (map_item const& item : r.items)
            if (item.has(detail::map_copy_in) && command-- == 0)
                return (void)std::memcpy(item.device, item.host, item.bytes);
        if (r.kind == construct::target && command-- == 0) return run_kernel(r);
        for (map_item const& item : r.items)
            if (item.has(detail::map_copy_out) && command-- == 0)
                return (void)std::memcpy(item.host, item.device, item.bytes);
    }

    void run_kernel(played_region& r)
    {
        if (settings_.unified) return; // who reads what when is not the library's business
        for (access const& a : r.reads) {
            if (a.expected.value == unknown || ((a.expected.needs | only(r.id)) & failed_) != 0) continue;
            int const found = *address(r, a);
            require(found == a.expected.value, "the kernel of " + name(r) + " reads " + std::to_string(found) + " in byte " +
                                                   std::to_string(a.byte) + " instead of " + std::to_string(a.expected.value));
        }
        for (access const& a : r.writes) *address(r, a) = static_cast<unsigned char>(r.value);
    }

    static unsigned char* address(played_region const& r, access const& a)
    {
        return static_cast<unsigned char*>(r.items[a.argument].device) + (a.byte - r.clauses[a.argument].first);
    }

    // Post-processing.

    bool retire_one(std::uint32_t pick)
    {
        std::vector<std::size_t> possible;
        for (std::size_t s = 0; s < streams_.size(); ++s)
            if (may_retire(streams_[s])) possible.push_back(s);
        if (possible.empty()) return false;
        retire(streams_[possible[pick % possible.size()]]);
        return true;
    }

    // Per entry post-processing follows the table's order.
    bool may_retire(played_stream const& s) const
    {
        if (s.retired == s.executed) return false;
        for (wait const& w : region_of(s, s.retired + 1).waits)
            if (streams_[w.stream].retired < w.number) return false;
        return true;
    }

    void retire(played_stream& s)
    {
        played_region& r = region_of(s, ++s.retired);
        r.at = stage::retired;
        if (!r.failed) {
            bool const relied = environment_.relied_on_failure(r.items, serial_of(r));
            if (relied && !r.broken) expect_failure(r);
            bool const must = must_fail(r);
            require(relied || r.broken || !must, name(r) + " succeeds although what it relied on failed");
            if (relied || r.broken) know_failure(r);
        } else {
            reference_.lose(r.id, r.effect);
        }
        environment_.retire(r.items, serial_of(r), r.failed, regions_.size(),
                            [this](void* block, std::size_t bytes) { give_block(block, bytes); });
        if (r.failed) follow_failure(r);
        if (r.failed && r.kind == construct::enter_data) reference_.take_back(r.clauses, r.effect, r.id);
    }

    // Who fails, though nobody may know yet: this region, and all who rely on it.
    void doom(played_region const& first)
    {
        failed_ |= only(first.id);
        for (auto const& r : regions_)
            if (r->at != stage::retired && (r->relies_on & failed_) != 0) failed_ |= only(r->id);
    }

    void know_failure(played_region& r)
    {
        r.failed = true;
        doom(r);
        reference_.lose(r.id, r.effect);
    }

    // What a region in flight brings relying on the one that failed may go at once, or when that region ends.
    void follow_failure(played_region const& failed)
    {
        for (auto const& r : regions_) {
            region_set const older = r->relies_on | older_users_[std::size_t(r->id)];
            if (r->at == stage::retired || (older & only(failed.id)) == 0) continue;
            for (int const m : r->effect.filled) {
                mapping& mine = reference_.at(m);
                if (mine.count == 0 || mine.creator != r->id) continue;
                present_entry const* const e = environment_.table().holding(memory_.data() + mine.first);
                if (e == nullptr || !e->live()) mine.count = 0;
            }
        }
    }

    bool must_fail(played_region const& r) const { return (r.relies_on & failed_) != 0; }

    // A region may also fail for one that used the same block before it, unless it filled the block anew.
    void expect_failure(played_region const& r)
    {
        require(must_fail(r) || (older_users_[std::size_t(r.id)] & failed_) != 0,
                name(r) + " fails although nothing that it relied on did");
    }

    // The program.

    void write(int byte, int value)
    {
        for (auto const& r : regions_)
            if (r->at != stage::retired && (r->effect.in | r->effect.out)[std::size_t(byte)]) return;
        memory_[std::size_t(byte)] = static_cast<unsigned char>(value);
        reference_.host[std::size_t(byte)] = {value, 0};
    }

    // What a program can see, at any time.
    void check()
    {
        for (int b = 0; b < memory_size; ++b) check_presence(b);
        if (settings_.unified) return;
        byte_set pending;
        for (auto const& r : regions_)
            if (r->at != stage::retired) pending |= r->effect.out;
        for (std::size_t b = 0; b < memory_size; ++b) {
            cell const& c = reference_.host[b];
            if (pending[b] || c.value == unknown || (c.needs & failed_) != 0) continue;
            require(memory_[b] == c.value, "the host's byte " + std::to_string(b) + " is " + std::to_string(memory_[b]) +
                                               " instead of " + std::to_string(c.value));
        }
    }

    void check_presence(int byte)
    {
        std::string const what = "byte " + std::to_string(byte);
        present_entry const* e = environment_.table().holding(memory_.data() + byte);
        if (e != nullptr && !e->live()) e = nullptr;
        int const m = reference_.mapping_of(byte);
        require((e != nullptr) == (m >= 0), what + (m >= 0 ? " is not present" : " is present"));
        if (m < 0) return;
        mapping const& expected = reference_.at(m);
        require(e->range.begin == reinterpret_cast<char*>(memory_.data()) + expected.first &&
                    e->range.end == reinterpret_cast<char*>(memory_.data()) + expected.last,
                what + " is in the wrong range");
        require(e->count == std::uint64_t(expected.count),
                what + ": the count is " + std::to_string(e->count) + " instead of " + std::to_string(expected.count));
        require(!settings_.unified || e->block == e->range.begin, what + ": unified memory has a block");
    }

    void* take_block(std::size_t bytes)
    {
        void* const block = std::malloc(bytes);
        std::memset(block, 0xdd, bytes);
        blocks_[block] = bytes;
        return block;
    }

    void give_block(void* block, std::size_t bytes)
    {
        auto const at = blocks_.find(block);
        require(at != blocks_.end() && at->second == bytes, "a block is freed that is none");
        for (auto const& r : regions_) {
            if (r->at == stage::retired) continue;
            for (std::size_t i = 0; i < r->items.size(); ++i) {
                bool const inside = r->at != stage::parked && r->items[i].device >= block &&
                                    r->items[i].device < static_cast<char*>(block) + bytes;
                require(!inside && (r->items[i].entry == nullptr || r->items[i].entry->block != block),
                        "a block is freed that " + name(*r) + " uses");
            }
        }
        std::memset(block, 0xee, bytes);
        std::free(block);
        blocks_.erase(at);
    }

    played_region& region_of(played_stream const& s, std::uint64_t number) const
    {
        return *regions_[std::size_t(s.regions[number - 1])];
    }

    static std::uint64_t serial_of(played_region const& r) { return std::uint64_t(r.id) + 1; }

    std::size_t byte_of(char const* p) const { return std::size_t(p - reinterpret_cast<char const*>(memory_.data())); }

    static std::string name(played_region const& r) { return "region " + std::to_string(r.id); }

    static std::string text(byte_set const& s)
    {
        std::string all = "{";
        for (std::size_t b = 0; b < memory_size; ++b)
            if (s[b]) all += (all.size() > 1 ? " " : "") + std::to_string(b);
        return all + "}";
    }

    settings settings_;
    detail::data_environment environment_;
    reference reference_;
    std::array<unsigned char, memory_size> memory_{};
    std::array<played_stream, 3> streams_{};
    std::vector<std::unique_ptr<played_region>> regions_;
    std::map<void*, std::size_t> blocks_;
    std::map<present_entry*, history> history_;
    std::array<region_set, most_regions> older_users_{};
    region_set failed_ = 0;
};

/// Plays a sequence from the start. The first difference, or nothing.
inline std::string play(settings s, std::vector<step> const& steps)
{
    try {
        player(s).play(steps);
    } catch (violation const& v) {
        return v.what;
    }
    return {};
}

} // namespace model
