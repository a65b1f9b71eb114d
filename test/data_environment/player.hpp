// SPDX-License-Identifier: BSL-1.0
// Plays a sequence on a data environment and on the reference at once, carries out the motions in an order
// that the recorded waits allow, and throws `violation` at the first difference.
#pragma once

#include "program.hpp"

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

class player : public program {
public:
    using program::program;

    void play(std::vector<step> const& steps)
    {
        for (step const& s : steps) {
            play(s);
            check();
        }
        for (std::uint32_t i = 0; drain_one(i); ++i) check();
        check_end();
    }

private:
    void play(step const& s)
    {
        switch (s.what) {
        case action::start:
        case action::abandon:
            return accept(s);
        case action::advance:
            return (void)go_on(s.pick);
        case action::retire:
            return (void)retire_one(s.pick);
        case action::write:
            return write(int(s.pick % memory_size), s.value);
        case action::allocate:
            return allocate(int(s.pick % slots), s.value);
        case action::deallocate:
            return deallocate(int(s.pick % slots));
        case action::associate:
            return s.clauses.empty() ? void() : associate(s.clauses.front());
        case action::disassociate:
            return disassociate(chosen_byte(s));
        }
    }

    bool drain_one(std::uint32_t pick) { return go_on(pick * 7) || retire_one(pick); }

    bool go_on(std::uint32_t pick)
    {
        return advance(pick, [this](played_stream& stream) { enqueue(stream); });
    }

    // Acceptance, as device_core does it.

    void accept(step const& s)
    {
        if (regions_.size() == most_regions) return;
        auto made = std::make_unique<played_region>();
        played_region& r = *made;
        r.id = int(regions_.size());
        r.kind = s.kind;
        r.clauses = possible_clauses(s);
        if (r.clauses.empty() || races(r)) return;
        make_items(r);

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
        note_addresses(r);
        compare_motions(r, revived); // with unified memory neither side has any
        blame_.accepted(r, revived);
        int const commands = command_count(r);
        if (s.fail_at >= 0 && commands != 0) r.fails_at = s.fail_at % commands;
        regions_.push_back(std::move(made));
    }

    void make_items(played_region& r)
    {
        for (clause const& c : r.clauses) {
            char* const block =
                names_slot(c.what) ? address_of_.at(reference_.allocated[index(c.slot)]) : nullptr;
            r.items.push_back(maps(c.what) ? item_of(r.kind, c, memory_.data() + c.first)
                                           : other_item_of(c, memory_.data(), block));
            if (c.what == type::attach) r.items.back().attached = &r.joins.emplace_back();
            if (c.what == type::source) r.items[r.items.size() - 2].host = r.items.back().device;
        }
    }

    void note_addresses(played_region const& r)
    {
        for (std::size_t i = 0; i < r.items.size(); ++i) {
            int const m = r.effect.mappings[i];
            if (m >= 0 && r.items[i].entry != nullptr) address_of_.emplace(m, r.items[i].entry->block);
        }
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
            clause const& c = r.clauses[i];
            if (m < 0 || c.what == type::attach) continue;
            int const last = c.what == type::device ? reference_.at(m).last
                             : c.count == 0         ? c.first + 1
                                                    : c.last();
            for (int b = c.first; b < last; ++b) {
                if ((s.touched >> ((b + int(i)) % 64) & 1) == 0) continue;
                if (!in_use(m, b, false)) read(r, i, b);
                if (may_write(c) && !reference_.at(m).keeps(b) && !in_use(m, b, true))
                    r.writes.push_back({i, b, {}});
            }
        }
        for (access const& w : r.writes)
            reference_.device(r.effect.mappings[w.argument], w.byte) = {r.value, only(r.id)};
    }

    static bool may_write(clause const& c)
    {
        if (c.what == type::device) return !c.read_only;
        return c.what != type::to && c.what != type::pointee && c.count != 0;
    }

    void read(played_region& r, std::size_t argument, int byte)
    {
        cell expected = reference_.device(r.effect.mappings[argument], byte);
        if (r.clauses[argument].what == type::pointee) { // by way of the pointer
            if (r.effect.mappings[argument - 1] < 0) return;
            expected.needs |=
                reference_.device(r.effect.mappings[argument - 1], r.clauses[argument - 1].first).needs;
        }
        r.reads.push_back({argument, byte, expected});
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
            require(r.clauses[i].what != type::attach ||
                        r.items[i].has(detail::map_copy_in) == r.effect.sent[i],
                    r.name() + (r.effect.sent[i] ? " does not send" : " sends") + " a pointer");
            if (r.items[i].entry == nullptr) continue;
            bool const again = std::find(revived.begin(), revived.end(), r.items[i].entry) != revived.end();
            byte_set const spared = r.clauses[i].host_bytes() & r.effect.in & ~in;
            require(again || spared.none(), r.name() + " does not copy in " + text(spared));
        }
    }

    // Enqueueing and post-processing.

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
            reference_.lose(r.clauses, r.id, r.effect);
        }
        std::vector<std::pair<void*, std::size_t>> freed; // looked at later: retire is noexcept
        if (r.failed)
            environment_.undo(r.items, r.serial(), false,
                              omp_co::detail::data_environment::undone_counts::begun, regions_.size());
        environment_.retire(r.items, r.serial(),
                            [&](void* block, std::size_t bytes) { freed.emplace_back(block, bytes); });
        for (auto const& [block, bytes] : freed) give_block(block, bytes);
        if (r.failed) follow_failure(r);
        if (r.failed && r.kind == construct::enter_data) reference_.take_back(r.clauses, r.effect, r.id);
    }

    void know_failure(played_region& r)
    {
        r.failed = true;
        blame_.doom(r);
        reference_.lose(r.clauses, r.id, r.effect);
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
