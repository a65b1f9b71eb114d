// SPDX-License-Identifier: BSL-1.0
// Random sequences of constructs and of what devices do with them, as values that can be printed and
// shrunk. Numbers in a step are taken modulo what is possible when it is played, so that any part of a
// sequence is a sequence.
#pragma once

#include "vocabulary.hpp"

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <random>
#include <vector>

namespace model {

enum class action {
    start,        ///< accept a construct
    abandon,      ///< check and reserve a construct, then give it up
    advance,      ///< a stream enqueues a region, or runs one command of one
    retire,       ///< post-processing of a region that is done
    write,        ///< the program changes a byte of its memory
    allocate,     ///< memory on the device for the program
    deallocate,   ///< even while regions use it
    associate,    ///< host memory with what was allocated
    disassociate, ///< a byte, which associated memory may begin with
};

struct step {
    action what;
    construct kind{};
    std::vector<clause> clauses{};
    std::uint32_t pick = 0;    ///< the stream, or which of the possible things, or the byte
    int fail_at = -1;          ///< the command of a construct that fails; -1: none
    std::uint64_t touched = 0; ///< which bytes the kernel reads and writes, where it may
    int value = 0;             ///< of a byte that is written
};

using sequence = std::vector<step>;

class generator {
public:
    explicit generator(std::uint64_t seed) : random_(seed) {}

    sequence make()
    {
        sequence all;
        int const length = 10 + below(130);
        constructs_ = 15 + below(30);
        failures_ = chance(60) ? 0 : 12;
        allocations_ = chance(50) ? 0 : 4 + below(26);
        joins_ = chance(50) ? 0 : 40;
        for (int i = 0; i < length; ++i) all.push_back(make_step());
        return all;
    }

private:
    int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
    bool chance(int percent) { return below(100) < percent; }

    step make_step()
    {
        step s{action::advance};
        s.pick = static_cast<std::uint32_t>(random_());
        int const dice = below(100);
        if (dice < constructs_) return make_construct(s);
        if (dice < constructs_ + 15)
            s.what = action::retire;
        else if (dice < constructs_ + 25)
            s.what = action::write;
        else if (dice < constructs_ + 25 + allocations_)
            return make_memory(s);
        s.value = below(256);
        return s;
    }

    step make_memory(step s)
    {
        static constexpr action actions[]{action::allocate,  action::allocate,  action::deallocate,
                                          action::associate, action::associate, action::disassociate};
        s.what = actions[below(6)];
        s.value = 1 + below(memory_size);
        if (s.what == action::associate) {
            s.clauses.push_back(associated_range());
            s.clauses.back().slot = below(slots);
            s.clauses.back().host = chance(70) ? 0 : below(8); // a byte of what was allocated
        }
        return s;
    }

    // Often what joined pointers point to.
    clause associated_range()
    {
        clause one = make_range();
        if (pointee_.count == 0 || chance(40)) return one;
        one.first = pointee_.first;
        one.count = pointee_.count;
        return one;
    }

    step make_construct(step s)
    {
        s.what = chance(5) ? action::abandon : action::start;
        int const kind = below(11);
        s.kind = kind < 5                         ? construct::target
                 : kind < 7                       ? construct::enter_data
                 : kind < 9                       ? construct::exit_data
                 : kind < 10 || allocations_ == 0 ? construct::update
                                                  : construct::memory;
        if (s.kind == construct::memory)
            make_copy(s);
        else
            make_clauses(s);
        if (chance(failures_)) s.fail_at = below(4);
        s.touched = random_();
        s.value = below(256);
        return s;
    }

    void make_clauses(step& s)
    {
        int const clauses = chance(55) ? 1 : 2 + below(3);
        for (int i = 0; i < clauses; ++i) s.clauses.push_back(make_clause(s.kind));
        if (enters(s.kind) && chance(joins_)) join(s);
        if (s.kind == construct::target && allocations_ != 0 && chance(20)) {
            clause one{type::device, below(memory_size), 0};
            one.slot = below(slots);
            one.read_only = chance(40);
            s.clauses.push_back(one);
        }
    }

    // Mostly the same pointer to the same pointee.
    void join(step& s)
    {
        bool const other = pointee_.count == 0 || chance(30);
        clause const pointer{type::attach, pointer_size * below(memory_size / pointer_size), pointer_size};
        clause pointee = make_range();
        pointee.what = type::pointee;
        if (pointee_.count == 0) {
            pointer_ = pointer;
            pointee_ = pointee;
        }
        s.clauses.push_back(other && chance(50) ? pointer : pointer_);
        s.clauses.push_back(other ? pointee : pointee_);
    }

    // Between the host and what was allocated, within that, or a fill.
    void make_copy(step& s)
    {
        static constexpr type whats[]{type::fill, type::copy_in, type::copy_out, type::within};
        clause one = make_range();
        one.what = whats[below(4)];
        one.slot = below(slots);
        one.count = std::max(1, one.count);
        if (chance(60)) one.first = 0;
        one.host = one.what == type::fill ? below(256) : below(memory_size - one.count + 1);
        s.clauses.push_back(one);
        if (one.what != type::within) return;
        one.what = type::source;
        one.slot = below(slots);
        one.first = below(8);
        s.clauses.push_back(one);
    }

    clause make_clause(construct c)
    {
        static constexpr type of_target[]{type::to, type::from, type::tofrom, type::alloc};
        static constexpr type of_enter[]{type::to, type::alloc};
        static constexpr type of_exit[]{type::from, type::release, type::delete_};
        static constexpr type of_update[]{type::to, type::from};
        clause one = make_range();
        switch (c) {
        case construct::target:
            one.what = of_target[below(4)];
            break;
        case construct::enter_data:
            one.what = of_enter[below(2)];
            break;
        case construct::exit_data:
            one.what = of_exit[below(3)];
            break;
        case construct::update:
        case construct::memory:
            one.what = of_update[below(2)];
            break;
        }
        one.always = chance(15);
        one.present = chance(8);
        one.hold = chance(12);
        return one;
    }

    clause make_range()
    {
        clause one{};
        // A few objects that come again and again, and now and then any range.
        static constexpr int objects[][2]{{0, 8}, {8, 4}, {12, 12}, {0, 24}, {4, 8}, {0, 8}, {2, 3}, {8, 4}};
        if (chance(75)) {
            auto const& object = objects[below(8)];
            one.first = object[0];
            one.count = object[1];
        } else {
            one.first = below(memory_size);
            one.count = below(memory_size - one.first + 1);
        }
        return one;
    }

    std::mt19937_64 random_;
    int constructs_ = 0;
    int failures_ = 0;
    int allocations_ = 0;
    int joins_ = 0;
    clause pointer_{};
    clause pointee_{};
};

inline char const* name_of(type t)
{
    static constexpr char const* names[]{"to",      "from",     "tofrom",  "alloc",         "release",
                                         "delete_", "attach",   "pointee", "is_device_ptr", "fill",
                                         "copy_in", "copy_out", "within",  "source"};
    return names[static_cast<int>(t)];
}

inline std::ostream& operator<<(std::ostream& out, clause const& c)
{
    out << name_of(c.what) << "([" << c.first << ", " << c.last() << ")";
    if (names_slot(c.what)) out << " of allocation " << c.slot;
    if (c.host != 0) out << ", host or value " << c.host;
    if (c.read_only) out << ", const";
    if (c.always) out << ", always";
    if (c.present) out << ", present";
    if (c.hold) out << ", hold";
    return out << ")";
}

inline std::ostream& operator<<(std::ostream& out, step const& s)
{
    static constexpr char const* kinds[]{"target", "enter_data", "exit_data", "update", "memory"};
    switch (s.what) {
    case action::advance:
        return out << "advance " << s.pick;
    case action::retire:
        return out << "retire " << s.pick;
    case action::write:
        return out << "write byte " << s.pick % memory_size << " = " << s.value;
    case action::allocate:
        return out << "allocate " << s.value << " bytes at " << s.pick % slots;
    case action::deallocate:
        return out << "deallocate " << s.pick % slots;
    case action::associate:
        out << "associate";
        for (clause const& c : s.clauses)
            out << " [" << c.first << ", " << c.last() << ") with allocation " << c.slot << " from byte "
                << c.host << " on";
        return out;
    case action::disassociate:
        return out << "disassociate, pick " << s.pick << ", value " << s.value;
    case action::abandon:
        out << "abandon ";
        break;
    case action::start:
        break;
    }
    out << kinds[static_cast<int>(s.kind)] << ", stream pick " << s.pick;
    for (clause const& c : s.clauses) out << ", " << c;
    if (s.kind == construct::target) out << ", touches " << s.touched << ", writes " << s.value;
    if (s.fail_at >= 0) out << ", fails at command " << s.fail_at;
    return out;
}

inline std::ostream& operator<<(std::ostream& out, sequence const& all)
{
    for (step const& s : all) out << "    " << s << '\n';
    return out;
}

} // namespace model
