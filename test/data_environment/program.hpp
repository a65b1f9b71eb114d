// SPDX-License-Identifier: BSL-1.0
// The program of the model: which constructs it may ask for, and the memory that it allocates on the device and associates
// with its own.
#pragma once

#include "device.hpp"
#include "sequence.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace model {

class program : public played_device {
public:
    using played_device::played_device;

protected:
    ~program() = default;

    // What a program can ask for here. A pointer and its pointee, a copy and its source go together.
    std::vector<clause> possible_clauses(step const& s) const
    {
        std::vector<clause> all;
        for (std::size_t i = 0; i < s.clauses.size(); ++i) {
            clause const& one = s.clauses[i];
            bool const pair = one.what == type::attach || one.what == type::within;
            if (one.what == type::pointee || one.what == type::source || !may_name(one)) continue;
            if (pair) {
                if (i + 1 == s.clauses.size()) continue;
                clause const& second = s.clauses[i + 1];
                if (second.what != (one.what == type::attach ? type::pointee : type::source)) continue;
                bool const mixed = second.slot == one.slot && second.overlaps(one.first, one.last());
                if (!may_name(second) || (one.what == type::within && mixed)) continue;
                all.push_back(one);
                all.push_back(second);
                continue;
            }
            all.push_back(one);
        }
        return all;
    }

    // Copies between given addresses are ordered on the device only.
    bool races(played_region const& mine) const
    {
        byte_set wanted;
        for (clause const& c : mine.clauses) wanted |= c.host_bytes();
        return std::any_of(regions_.begin(), regions_.end(), [&](auto const& other) {
            bool const given = mine.kind == construct::memory || other->kind == construct::memory;
            return given && other->in_flight() && ((other->effect.in | other->effect.out) & wanted).any();
        });
    }

    // While memory is associated, programs name it by its host range.
    bool may_name(clause const& one) const
    {
        if (!names_slot(one.what)) return true;
        int const a = reference_.allocated[index(one.slot)];
        return a >= 0 && one.first < reference_.at(a).last && !is_associated(a);
    }

    bool is_associated(int allocation) const
    {
        for (std::size_t m = 0; m < reference_.mappings.size(); ++m)
            if (reference_.mappings[m].of == allocation &&
                (reference_.mappings[m].live() || in_flight(int(m))))
                return true;
        return false;
    }

    bool in_flight(int m) const
    {
        return std::any_of(regions_.begin(), regions_.end(),
                           [&](auto const& r) { return r->in_flight() && r->effect.uses(m); });
    }

    void allocate(int slot, int bytes)
    {
        if (reference_.allocated[index(slot)] >= 0) return;
        char* const block = static_cast<char*>(take_block(std::size_t(bytes)));
        environment_.memory().allocated(block, std::size_t(bytes));
        reference_.allocate(slot, bytes);
        address_of_[reference_.allocated[index(slot)]] = block;
    }

    void deallocate(int slot)
    {
        std::vector<std::pair<void*, std::size_t>> freed;
        auto const free = [&](void* block, std::size_t bytes) { freed.emplace_back(block, bytes); };
        int const a = reference_.allocated[index(slot)];
        if (a >= 0 && is_associated(a)) return;
        void* const p = a >= 0 ? address_of_.at(a) : static_cast<void*>(memory_.data());
        require(environment_.memory().deallocate(p, free) == (a >= 0),
                "deallocate is wrong about what was allocated");
        for (auto const& [block, bytes] : freed) give_block(block, bytes);
        require(freed.empty() == (a < 0 || in_flight(a)), "memory in use is given back, or other is not");
        if (a >= 0) reference_.deallocate(slot);
    }

    void associate(clause const& what)
    {
        int const a = reference_.allocated[index(what.slot)];
        if (settings_.unified || what.count == 0 || a < 0 || in_flight(a)) return;
        if (what.host + what.count > reference_.at(a).last || is_shared(a, what)) return;
        char* const begin = reinterpret_cast<char*>(memory_.data()) + what.first;
        char* const device = address_of_.at(a) + what.host;
        errc const result = environment_.memory().associate({begin, begin + what.count}, device);
        int const mappings = int(reference_.mappings.size());
        errc const expected = reference_.associate(what) ? errc{} : errc::invalid_argument;
        require(result == expected, "associate is wrong about what is mapped");
        if (int(reference_.mappings.size()) != mappings) address_of_[mappings] = device;
    }

    // Two names of the same memory are not ordered.
    bool is_shared(int allocation, clause const& what) const
    {
        for (std::size_t i = 0; i < reference_.mappings.size(); ++i) {
            mapping const& m = reference_.mappings[i];
            bool const same = m.first == what.first && m.last == what.last() && m.at == what.host && m.live();
            if (m.of != allocation || same || !(m.live() || in_flight(int(i)))) continue;
            if (m.at < what.host + what.count && what.host < m.at + m.last - m.first) return true;
        }
        return false;
    }

    // Mostly one where associated memory begins, if there is any.
    int chosen_byte(step const& s) const
    {
        std::vector<int> begins;
        for (mapping const& m : reference_.mappings)
            if (m.infinite) begins.push_back(m.first);
        if (begins.empty() || s.value % 4 == 0) return int(s.pick % memory_size);
        return begins[s.pick % begins.size()];
    }

    void disassociate(int byte)
    {
        bool const done = environment_.memory().disassociate(memory_.data() + byte);
        require(done == reference_.disassociate(byte), "disassociate is wrong about what is associated");
    }
};

} // namespace model
