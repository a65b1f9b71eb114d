// SPDX-License-Identifier: BSL-1.0
// What threads of a warp or a block do together: barriers, votes, shuffles, matches, reductions.
//
// A warp operation keeps the slot of its mask in instruction::e. The scheduler gathers the threads and then calls
// instruction::together.
#include "translator.hpp"

namespace omp_co_sim::ptx {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s32 = std::int32_t;

u32 lane_of(thread const& t) { return get<u32>(t, slots::laneid); }

instruction const* wait_for_warp(thread& t, instruction const& i)
{
    if (i.together != answer_active_mask && !(get<u32>(t, i.e) >> lane_of(t) & 1))
        return t.fail(i, fault_kind::illegal_instruction);
    t.state = state::at_warp_operation;
    t.pc = &i;
    return nullptr;
}

instruction const* wait_at_barrier(thread& t, instruction const& i)
{
    auto const which = get<u32>(t, i.a);
    if (which >= t.in->arrivals.size()) return t.fail(i, fault_kind::illegal_instruction);
    if (i.mode == barrier_mode::arrive) {
        ++t.in->arrivals[which];
        return &i + 1;
    }
    t.state = state::at_barrier;
    t.pc = &i;
    t.barrier = which;
    t.expected = get<u32>(t, i.b);
    return nullptr;
}

void meet(std::span<thread* const>) {}

enum vote_mode : u32 { all, any, uniform, ballot };

void vote(std::span<thread* const> group)
{
    u32 ones = 0;
    u32 members = 0;
    for (auto const t : group) {
        u32 const bit = u32{1} << lane_of(*t);
        members |= bit;
        if (t->slots[t->pc->a]) ones |= bit;
    }
    for (auto const t : group) {
        u32 out = ones;
        if (t->pc->mode == all) out = ones == members;
        if (t->pc->mode == any) out = ones != 0;
        if (t->pc->mode == uniform) out = ones == members || ones == 0;
        set(*t, t->pc->d, out);
    }
}

enum shuffle_mode : u32 { up, down, butterfly, index };

/// a, b, c as in the manual; the predicate's slot in instruction::offset.
void shuffle(std::span<thread* const> group)
{
    u32 values[32];
    u32 present = 0;
    for (auto const t : group) {
        values[lane_of(*t)] = get<u32>(*t, t->pc->a);
        present |= u32{1} << lane_of(*t);
    }
    for (auto const t : group) {
        instruction const& i = *t->pc;
        u32 const lane = lane_of(*t);
        u32 const by = get<u32>(*t, i.b) & 31;
        u32 const segments = get<u32>(*t, i.c) >> 8 & 31;
        u32 const clamp = get<u32>(*t, i.c) & 31;
        u32 const first = lane & segments;
        u32 const last = first | (clamp & ~segments);
        u32 from = lane;
        bool inside = false;
        switch (i.mode) {
        case up:
            from = lane - by;
            inside = static_cast<s32>(from) >= static_cast<s32>(last);
            break;
        case down:
            from = lane + by;
            inside = from <= last;
            break;
        case butterfly:
            from = lane ^ by;
            inside = from <= last;
            break;
        default:
            from = first | (by & ~segments);
            inside = from <= last;
        }
        if (!inside) from = lane;
        // The value of a lane that does not take part is not defined; this one keeps its own.
        set(*t, i.d, values[present >> from & 1 ? from : lane]);
        t->slots[static_cast<std::size_t>(i.offset)] = inside ? 1 : 0;
    }
}

/// mode: the width in bits, with `match_all` added.
constexpr u32 match_all = 1;
void match(std::span<thread* const> group)
{
    u64 values[32];
    u32 members = 0;
    for (auto const t : group) {
        values[lane_of(*t)] = t->pc->mode & 64 ? t->slots[t->pc->a] : get<u32>(*t, t->pc->a);
        members |= u32{1} << lane_of(*t);
    }
    for (auto const t : group) {
        u32 same = 0;
        for (auto const other : group)
            if (values[lane_of(*other)] == values[lane_of(*t)]) same |= u32{1} << lane_of(*other);
        if (!(t->pc->mode & match_all)) {
            set(*t, t->pc->d, same);
            continue;
        }
        set(*t, t->pc->d, same == members ? members : u32{0});
        t->slots[static_cast<std::size_t>(t->pc->offset)] = same == members ? 1 : 0;
    }
}

enum reduction : u32 { sum, least, greatest, signed_least, signed_greatest, bit_and, bit_or, bit_xor };

u32 reduced(u32 how, u32 a, u32 b)
{
    switch (how) {
    case sum:
        return a + b;
    case least:
        return a < b ? a : b;
    case greatest:
        return a < b ? b : a;
    case signed_least:
        return static_cast<s32>(a) < static_cast<s32>(b) ? a : b;
    case signed_greatest:
        return static_cast<s32>(a) < static_cast<s32>(b) ? b : a;
    case bit_and:
        return a & b;
    case bit_or:
        return a | b;
    default:
        return a ^ b;
    }
}

void reduce(std::span<thread* const> group)
{
    u32 out = get<u32>(*group[0], group[0]->pc->a);
    for (auto const t : group.subspan(1)) out = reduced(t->pc->mode, out, get<u32>(*t, t->pc->a));
    for (auto const t : group) set(*t, t->pc->d, out);
}

void elect(std::span<thread* const> group)
{
    u32 const leader = lane_of(*group[0]);
    for (auto const t : group) {
        set(*t, t->pc->d, leader);
        t->slots[static_cast<std::size_t>(t->pc->offset)] = t == group[0] ? 1 : 0;
    }
}

instruction& emit_together(translator& x, warp_handler together, u32 d, u32 a, u32 b, u32 c, u32 mask,
                           u32 mode)
{
    auto& i = x.emit(wait_for_warp, d, a, b, c, mask, mode);
    i.together = together;
    return i;
}

void need_sync(translator& x)
{
    if (!x.take("sync")) x.fail("only the .sync form is supported");
}

void emit_vote(translator& x)
{
    need_sync(x);
    x.expect_operands(3, 3);
    auto const how = x.take_one_of({"all", "any", "uni", "ballot"});
    if (how.empty()) x.fail("needs .all, .any, .uni or .ballot");
    x.take_type();
    auto const a = x.source(1, predicate_type);
    auto const mask = x.source(2, u32_type);
    u32 const mode = how == "all" ? all : how == "any" ? any : how == "uni" ? uniform : ballot;
    emit_together(x, vote, x.target(0), a, 0, 0, mask, mode);
}

void emit_shuffle(translator& x)
{
    need_sync(x);
    x.expect_operands(5, 5);
    auto const how = x.take_one_of({"up", "down", "bfly", "idx"});
    if (how.empty()) x.fail("needs .up, .down, .bfly or .idx");
    x.take_type();
    auto const a = x.source(1, u32_type);
    auto const b = x.source(2, u32_type);
    auto const c = x.source(3, u32_type);
    auto const mask = x.source(4, u32_type);
    u32 const mode = how == "up" ? up : how == "down" ? down : how == "bfly" ? butterfly : index;
    emit_together(x, shuffle, x.target(0), a, b, c, mask, mode).offset = x.second_target(0);
}

void emit_match(translator& x)
{
    need_sync(x);
    x.expect_operands(3, 3);
    bool const everyone = x.take("all");
    if (!everyone && !x.take("any")) x.fail("needs .all or .any");
    type const t = x.take_type();
    auto const a = x.source(1, t);
    auto const mask = x.source(2, u32_type);
    u32 const mode = 8u * t.size + (everyone ? match_all : 0);
    emit_together(x, match, x.target(0), a, 0, 0, mask, mode).offset = x.second_target(0);
}

void emit_reduction(translator& x)
{
    need_sync(x);
    x.expect_operands(3, 3);
    auto const how = x.take_one_of({"add", "min", "max", "and", "or", "xor"});
    type const t = x.take_type();
    if (t.size != 4 || t.kind == 'f' || how.empty()) x.fail("this reduction is not supported");
    bool const is_signed = t.kind == 's';
    u32 const mode = how == "add"   ? sum
                     : how == "min" ? (is_signed ? signed_least : least)
                     : how == "max" ? (is_signed ? signed_greatest : greatest)
                     : how == "and" ? bit_and
                     : how == "or"  ? bit_or
                                    : bit_xor;
    auto const a = x.source(1, t);
    auto const mask = x.source(2, u32_type);
    emit_together(x, reduce, x.target(0), a, 0, 0, mask, mode);
}

void emit_elect(translator& x)
{
    need_sync(x);
    x.expect_operands(2, 2);
    auto const mask = x.source(1, u32_type);
    emit_together(x, elect, x.target(0), 0, 0, 0, mask, 0).offset = x.second_target(0);
}

void emit_active(translator& x)
{
    x.expect_operands(1, 1);
    x.take_type();
    emit_together(x, answer_active_mask, x.target(0), 0, 0, 0, slots::zero, 0);
}

/// d, which barrier, how many threads (or all), the predicate.
void emit_barrier_reduction(translator& x)
{
    x.expect_operands(3, 4);
    auto const how = x.take_one_of({"popc", "and", "or"});
    if (how.empty()) x.fail("needs .popc, .and or .or");
    x.take_type();
    auto const which = x.source(1, u32_type);
    auto const expected = x.count() == 4 ? x.source(2, u32_type) : u32{slots::zero};
    auto const p = x.source(x.count() - 1, predicate_type);
    u32 const mode = how == "popc"  ? barrier_mode::count
                     : how == "and" ? barrier_mode::all
                                    : barrier_mode::any;
    x.emit(wait_at_barrier, x.target(0), which, expected, p, 0, mode);
}

void emit_barrier(translator& x)
{
    for (auto const m : {"cta", "aligned"}) x.take(m);
    if (x.take("warp")) {
        need_sync(x);
        x.expect_operands(1, 1);
        emit_together(x, meet, slots::sink, 0, 0, 0, x.source(0, u32_type), 0);
        return;
    }
    if (x.take("red")) return emit_barrier_reduction(x);
    bool const arrives = x.take("arrive");
    if (!arrives) need_sync(x);
    x.expect_operands(arrives ? 2 : 1, 2);
    auto const which = x.source(0, u32_type);
    auto const expected = x.count() == 2 ? x.source(1, u32_type) : u32{slots::zero};
    x.emit(wait_at_barrier, slots::sink, which, expected, 0, 0,
           arrives ? barrier_mode::arrive : barrier_mode::sync);
}

} // namespace

void answer_active_mask(std::span<thread* const> group)
{
    u32 members = 0;
    for (auto const t : group) members |= u32{1} << lane_of(*t);
    for (auto const t : group) set(*t, t->pc->d, members);
}

std::span<opcode_entry const> warp_opcodes()
{
    static constexpr opcode_entry table[] = {
        {"bar", emit_barrier}, {"barrier", emit_barrier}, {"vote", emit_vote},   {"shfl", emit_shuffle},
        {"match", emit_match}, {"redux", emit_reduction}, {"elect", emit_elect}, {"activemask", emit_active},
    };
    return table;
}

} // namespace omp_co_sim::ptx
