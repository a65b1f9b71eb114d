// SPDX-License-Identifier: BSL-1.0
// What a player acts on: a data environment and the reference beside it, the program's memory, the streams, and the blocks
// on the device; and what a program can see of it.
#pragma once

#include "blame.hpp"
#include "played.hpp"
#include "reference.hpp"

#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

namespace model {

class world {
public:
    explicit world(settings s) : settings_(s), environment_(s.unified)
    {
        reference_.moves = !s.unified;
        for (int b = 0; b < memory_size; ++b) {
            memory_[index(b)] = static_cast<unsigned char>(100 + b);
            reference_.host[index(b)].value = 100 + b;
        }
    }
    world(world const&) = delete;
    world& operator=(world const&) = delete;

protected:
    ~world()
    {
        for (auto const& [block, bytes] : blocks_) std::free(block);
    }

    void write(int byte, int value)
    {
        for (auto const& r : regions_)
            if (r->in_flight() && (r->effect.in | r->effect.out)[index(byte)]) return;
        memory_[index(byte)] = static_cast<unsigned char>(value);
        reference_.host[index(byte)] = {value, 0};
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
            require(memory_[b] == value_of(c), "the host's byte " + std::to_string(b) + " is " +
                                                   std::to_string(memory_[b]) + " instead of " +
                                                   std::to_string(value_of(c)));
        }
    }

    /// Nothing is in flight any more.
    void check_end()
    {
        for (auto const& r : regions_) require(!r->in_flight(), r->name() + " never ends");
        require(!environment_.table().has_orphans(), "an orphan is left behind");
        std::size_t mapped = 0;
        std::size_t blocks = 0;
        for (mapping const& m : reference_.mappings) {
            if (!m.live()) continue;
            mapped += m.allocation ? 0U : 1U;
            blocks += m.allocation || (m.of < 0 && !settings_.unified) ? 1U : 0U;
        }
        require(environment_.table().size() == mapped, "a dead entry is left behind");
        require(blocks_.size() == blocks, "a block is left behind");
    }

    /// A known byte; of a pointer, of what it points to.
    int value_of(cell const& c) const
    {
        if (c.value < first_link) return c.value;
        link const& l = reference_.links[index((c.value - first_link) / pointer_size)];
        char const* const to = address_of_.at(l.mapping) + l.offset;
        std::array<unsigned char, sizeof to> bytes{};
        std::memcpy(bytes.data(), &to, sizeof to);
        return bytes[index((c.value - first_link) % pointer_size)];
    }

    bool is_known(cell const& c, region_set also = 0) const
    {
        return c.value != unknown && ((c.needs | also) & blame_.failed()) == 0;
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
            for (map_item const& item : r->items) {
                bool const inside = r->at != stage::parked && item.device >= block &&
                                    item.device < static_cast<char*>(block) + bytes;
                bool const entered = item.entry != nullptr && item.entry->block >= block &&
                                     item.entry->block < static_cast<char*>(block) + bytes;
                require(!inside && !entered, "a block is freed that " + r->name() + " uses");
            }
        }
        std::memset(block, 0xee, bytes);
        std::free(block);
        blocks_.erase(at);
    }

    bool in_blocks(map_item const& item) const
    {
        for (auto const& [block, bytes] : blocks_)
            if (item.device >= block &&
                static_cast<char*>(item.device) + item.bytes <= static_cast<char*>(block) + bytes)
                return true;
        return false;
    }

    played_region& region_of(played_stream const& s, std::uint64_t number) const
    {
        return *regions_[std::size_t(s.regions[number - 1])];
    }

    static std::string text(byte_set const& s)
    {
        std::string all = "{";
        for (std::size_t b = 0; b < memory_size; ++b)
            if (s[b]) all.append(all.size() > 1 ? " " : "").append(std::to_string(b));
        return all += '}';
    }

    settings settings_;
    detail::data_environment environment_;
    reference reference_;
    alignas(void*) std::array<unsigned char, memory_size> memory_{};
    std::array<played_stream, 3> streams_{};
    played_regions regions_;
    blame blame_{regions_, reinterpret_cast<char const*>(memory_.data())};
    std::map<void*, std::size_t> blocks_;
    std::map<int, char*> address_of_; ///< where mappings are on the device

private:
    void check_presence(int byte)
    {
        std::string const what = "byte " + std::to_string(byte);
        present_entry* e = environment_.table().holding(memory_.data() + byte);
        if (e != nullptr && !e->live()) e = nullptr;
        int const m = reference_.mapping_of(byte);
        require((e != nullptr) == (m >= 0), what + (m >= 0 ? " is not present" : " is present"));
        if (m < 0) return;
        mapping const& expected = reference_.at(m);
        require(e->range.begin == reinterpret_cast<char*>(memory_.data()) + expected.first &&
                    e->range.end == reinterpret_cast<char*>(memory_.data()) + expected.last,
                what + " is in the wrong range");
        std::uint64_t const count =
            expected.infinite ? detail::infinite_count : std::uint64_t(expected.count);
        require(e->count == count,
                what + ": the count is " + std::to_string(e->count) + " instead of " + std::to_string(count));
        require(e->holds == std::uint64_t(expected.holds), what + ": held " + std::to_string(e->holds) +
                                                               " times instead of " +
                                                               std::to_string(expected.holds));
        require(!settings_.unified || e->block == e->range.begin, what + ": unified memory has a block");
        require(e->block == address_of_.at(m), what + " is elsewhere on the device");
    }
};

} // namespace model
