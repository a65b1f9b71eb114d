// SPDX-License-Identifier: BSL-1.0
// The device of the model: streams whose commands run one by one, in any order that waits allow.
#pragma once

#include "world.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace model {

class played_device : public world {
public:
    using world::world;

protected:
    ~played_device() = default;

    /// What can happen on the device: a stream enqueues its next region, by `enqueue(stream)`, or runs a command.
    template <class Enqueue>
    bool advance(std::uint32_t pick, Enqueue enqueue)
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

    // Zero-length clauses look up at acceptance, whatever happens before the region is enqueued.
    void check_addresses(played_region const& r)
    {
        if (settings_.unified) return;
        for (std::size_t i = 0; i < r.items.size(); ++i) {
            map_item const& item = r.items[i];
            bool const addressed = r.clauses[i].what != type::device && r.clauses[i].what != type::source;
            if (r.effect.mappings[i] < 0 || (item.bytes == 0 && r.kind != construct::target)) continue;
            require(!addressed || item.device != item.host,
                    r.name() + ": a mapped clause has no device address");
            require(in_blocks(item), r.name() + ": a device address is in no block");
        }
    }

    static int command_count(played_region const& r)
    {
        int n = r.kind == construct::target ? 1 : 0;
        for (map_item const& item : r.items)
            n += int(item.has(moves_before)) + int(item.has(detail::map_copy_out));
        return n;
    }

private:
    static constexpr std::uint32_t moves_before = detail::map_copy_in | detail::map_within | detail::map_fill;

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

    // Pointers go behind the structures that they are in.
    void run(played_region& r, int command)
    {
        for (bool const pointers : {false, true})
            for (map_item const& item : r.items)
                if (item.has(moves_before) && item.has(detail::map_attach) == pointers && command-- == 0)
                    return move_in(item);
        if (r.kind == construct::target && command-- == 0) return run_kernel(r);
        for (map_item const& item : r.items)
            if (item.has(detail::map_copy_out) && command-- == 0)
                played_region::for_each_part(item, [&](std::size_t at, std::size_t bytes) {
                    std::memcpy(item.begin() + at, static_cast<char*>(item.device) + at, bytes);
                });
    }

    static void move_in(map_item const& item)
    {
        char* const to = static_cast<char*>(item.device);
        if (item.has(detail::map_attach)) return (void)std::memcpy(to, &item.attached->value, item.bytes);
        if (item.has(detail::map_fill)) return (void)std::memset(to, int(item.leader), item.bytes);
        if (item.has(detail::map_within)) return (void)std::memcpy(to, item.host, item.bytes);
        played_region::for_each_part(
            item, [&](std::size_t at, std::size_t bytes) { std::memcpy(to + at, item.begin() + at, bytes); });
    }

    void run_kernel(played_region& r)
    {
        if (settings_.unified) return; // who reads what when is not the library's business
        for (access const& a : r.reads) {
            if (!is_known(a.expected, only(r.id))) continue;
            int const found = *address(r, a);
            int const expected = value_of(a.expected);
            require(found == expected, "the kernel of " + r.name() + " reads " + std::to_string(found) +
                                           " in byte " + std::to_string(a.byte) + " instead of " +
                                           std::to_string(expected));
        }
        for (access const& a : r.writes) *address(r, a) = static_cast<unsigned char>(r.value);
    }

    // What a joined pointer points to is found through it.
    unsigned char* address(played_region const& r, access const& a) const
    {
        void* begin = r.items[a.argument].device;
        if (r.clauses[a.argument].what == type::pointee) {
            std::memcpy(&begin, r.items[a.argument - 1].device, sizeof begin);
            mapping const& m = reference_.at(r.effect.mappings[a.argument]);
            require(begin == address_of_.at(r.effect.mappings[a.argument]) +
                                 (r.clauses[a.argument].first - m.first),
                    r.name() + ": a joined pointer points elsewhere");
        }
        return static_cast<unsigned char*>(begin) + (a.byte - r.clauses[a.argument].first);
    }
};

} // namespace model
