// SPDX-License-Identifier: BSL-1.0
// Plays a sequence on a data environment and on the reference at once, carries out the motions in an order
// that the recorded waits allow, and throws `violation` at the first difference. Longer than other headers:
// acceptance, the device, post-processing and the program act on the same few tables.
#pragma once

#include "blame.hpp"
#include "items.hpp"
#include "played.hpp"
#include "reference.hpp"
#include "sequence.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace model {

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
        for (auto const& r : regions_) require(!r->in_flight(), r->name() + " never ends");
        require(!environment_.table().has_orphans(), "an orphan is left behind");
        std::size_t live = 0;
        for (mapping const& m : reference_.mappings) live += m.live() ? 1U : 0U;
        require(environment_.table().size() == live, "a dead entry is left behind");
        require(blocks_.size() == (settings_.unified ? 0 : live), "a block is left behind");
    }

private:
    void play(step const& s)
    {
        switch (s.what) {
        case action::start:
        case action::abandon:
            return accept(s);
        case action::advance:
            return (void)advance(s.pick);
        case action::retire:
            return (void)retire_one(s.pick);
        case action::write:
            return write(int(s.pick % memory_size), s.value);
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
        for (clause const& c : s.clauses) r.items.push_back(item_of(s.kind, c, memory_.data() + c.first));

        std::vector<errc> const possible = reference_.errors(r.kind, r.clauses);
        detail::refusal const refused = environment_.check(r.items);
        if (refused || !possible.empty()) return check_refusal(refused, possible);
        std::size_t const most_waits = environment_.reserve(r.items);
        if (s.what == action::abandon) return environment_.discard(r.items);

        std::vector<present_entry*> revived;
        for (map_item& item : r.items) {
            if (environment_.needs_block(item))
                item.device = take_block(item.bytes);
            else if (item.has(detail::map_created))
                revived.push_back(item.entry);
        }
        std::uint64_t const serial = r.serial();
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
        compare_motions(r, revived); // with unified memory neither side has any
        blame_.accepted(r, revived);
        int const commands = command_count(r);
        if (s.fail_at >= 0 && commands != 0) r.fails_at = s.fail_at % commands;
        regions_.push_back(std::move(made));
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
        bool own = false;
        auto const note = [&](detail::stream_clock& clock, omp_co::backend::sequence number, bool) {
            auto const at = std::size_t(static_cast<played_stream*>(&clock) - streams_.data());
            if (at == r.stream) return (void)(own = own || number >= r.number);
            for (wait& w : r.waits)
                if (w.stream == at) return (void)(w.number = std::max(w.number, number));
            r.waits.push_back({at, number});
        };
        environment_.for_each_conflict(r.items, r.serial(), note);
        require(!own, "a region waits for itself");
        require(r.waits.size() <= most, "more waits than reserve said");
    }

    void record(played_region& r, played_stream& stream)
    {
        std::vector<std::size_t> capacities;
        for (map_item const& item : r.items)
            capacities.push_back(item.entry == nullptr ? 0 : item.entry->uses.capacity());
        environment_.record(r.items, stream, r.number, r.serial());
        for (std::size_t i = 0; i < r.items.size(); ++i) {
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
            if (!other->in_flight()) continue;
            auto const touches = [&](access const& a) {
                return a.byte == byte && other->effect.mappings[a.argument] == m;
            };
            if (std::any_of(other->writes.begin(), other->writes.end(), touches)) return true;
            if (also_read && std::any_of(other->reads.begin(), other->reads.end(), touches)) return true;
        }
        return false;
    }

    // Copies out are exactly the reference's. A copy in may be spared where an entry was revived.
    void compare_motions(played_region const& r, std::vector<present_entry*> const& revived)
    {
        byte_set const in = r.moved(detail::map_copy_in);
        byte_set const out = r.moved(detail::map_copy_out);
        require(out == r.effect.out,
                r.name() + " copies out " + text(out) + " instead of " + text(r.effect.out));
        require((in & ~r.effect.in).none(),
                r.name() + " copies in " + text(in) + " instead of " + text(r.effect.in));
        for (std::size_t i = 0; i < r.items.size(); ++i) {
            if (r.items[i].entry == nullptr) continue;
            bool const again = std::find(revived.begin(), revived.end(), r.items[i].entry) != revived.end();
            byte_set const spared = played_region::bytes_of(r.clauses[i]) & r.effect.in & ~in;
            require(again || spared.none(), r.name() + " does not copy in " + text(spared));
        }
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
        if (enqueues)
            enqueue(streams_[at]);
        else
            run_command(streams_[at]);
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
        if (!environment_.relied_on_failure(r.items, r.serial())) return check_addresses(r);
        expect_failure(r);
        know_failure(r);
        environment_.fail(r.items, r.serial(), regions_.size(), false);
        follow_failure(r);
    }

    // Zero-length clauses look up at acceptance, whatever happens before the region is enqueued.
    void check_addresses(played_region const& r)
    {
        if (settings_.unified) return;
        for (std::size_t i = 0; i < r.items.size(); ++i) {
            map_item const& item = r.items[i];
            if (r.effect.mappings[i] < 0 || (item.bytes == 0 && r.kind != construct::target)) continue;
            require(item.device != item.host, r.name() + ": a mapped clause has no device address");
            bool known = false;
            for (auto const& [block, bytes] : blocks_)
                known = known || (item.device >= block && static_cast<char*>(item.device) + item.bytes <=
                                                              static_cast<char*>(block) + bytes);
            require(known, r.name() + ": a device address is in no block");
        }
    }

    void run_command(played_stream& s)
    {
        played_region& r = region_of(s, s.executed + 1);
        int const commands = command_count(r);
        if (r.next_command < commands && !r.failed && !r.broken) {
            if (r.next_command == r.fails_at) {
                r.broken = true;
                blame_.doom(r);
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
        for (map_item const& item : r.items)
            n += int(item.has(detail::map_copy_in)) + int(item.has(detail::map_copy_out));
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
            if (a.expected.value == unknown || ((a.expected.needs | only(r.id)) & blame_.failed()) != 0)
                continue;
            int const found = *address(r, a);
            require(found == a.expected.value,
                    "the kernel of " + r.name() + " reads " + std::to_string(found) + " in byte " +
                        std::to_string(a.byte) + " instead of " + std::to_string(a.expected.value));
        }
        for (access const& a : r.writes) *address(r, a) = static_cast<unsigned char>(r.value);
    }

    static unsigned char* address(played_region const& r, access const& a)
    {
        return static_cast<unsigned char*>(r.items[a.argument].device) +
               (a.byte - r.clauses[a.argument].first);
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
            bool const relied = environment_.relied_on_failure(r.items, r.serial());
            if (relied && !r.broken) expect_failure(r);
            bool const must = blame_.must_fail(r);
            require(relied || r.broken || !must, r.name() + " succeeds although what it relied on failed");
            if (relied || r.broken) know_failure(r);
        } else {
            reference_.lose(r.id, r.effect);
        }
        std::vector<std::pair<void*, std::size_t>> freed; // looked at later: retire is noexcept
        environment_.retire(r.items, r.serial(), r.failed, false, regions_.size(),
                            [&](void* block, std::size_t bytes) { freed.emplace_back(block, bytes); });
        for (auto const& [block, bytes] : freed) give_block(block, bytes);
        if (r.failed) follow_failure(r);
        if (r.failed && r.kind == construct::enter_data) reference_.take_back(r.clauses, r.effect, r.id);
    }

    void know_failure(played_region& r)
    {
        r.failed = true;
        blame_.doom(r);
        reference_.lose(r.id, r.effect);
    }

    // What a region in flight brings relying on the one that failed may go at once, or when that region ends.
    void follow_failure(played_region const& failed)
    {
        for (auto const& r : regions_) {
            if (!r->in_flight() || ((r->relies_on | r->older) & only(failed.id)) == 0) continue;
            for (int const m : r->effect.filled) {
                mapping& mine = reference_.at(m);
                if (!mine.live() || mine.creator != r->id) continue;
                present_entry const* const e = environment_.table().holding(memory_.data() + mine.first);
                if (e == nullptr || !e->live()) mine.end();
            }
        }
    }

    void expect_failure(played_region const& r)
    {
        require(blame_.may_fail(r), r.name() + " fails although nothing that it relied on did");
    }

    // The program.

    void write(int byte, int value)
    {
        for (auto const& r : regions_)
            if (r->in_flight() && (r->effect.in | r->effect.out)[std::size_t(byte)]) return;
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
            if (r->in_flight()) pending |= r->effect.out;
        for (std::size_t b = 0; b < memory_size; ++b) {
            cell const& c = reference_.host[b];
            if (pending[b] || c.value == unknown || (c.needs & blame_.failed()) != 0) continue;
            require(memory_[b] == c.value, "the host's byte " + std::to_string(b) + " is " +
                                               std::to_string(memory_[b]) + " instead of " +
                                               std::to_string(c.value));
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
        require(e->count == std::uint64_t(expected.count), what + ": the count is " +
                                                               std::to_string(e->count) + " instead of " +
                                                               std::to_string(expected.count));
        require(e->holds == std::uint64_t(expected.holds), what + ": held " + std::to_string(e->holds) +
                                                               " times instead of " +
                                                               std::to_string(expected.holds));
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
            if (!r->in_flight()) continue;
            for (std::size_t i = 0; i < r->items.size(); ++i) {
                bool const inside = r->at != stage::parked && r->items[i].device >= block &&
                                    r->items[i].device < static_cast<char*>(block) + bytes;
                require(!inside && (r->items[i].entry == nullptr || r->items[i].entry->block != block),
                        "a block is freed that " + r->name() + " uses");
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
    played_regions regions_;
    blame blame_{regions_, reinterpret_cast<char const*>(memory_.data())};
    std::map<void*, std::size_t> blocks_;
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
