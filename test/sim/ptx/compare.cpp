// SPDX-License-Identifier: BSL-1.0
// Comparisons and what chooses by them: setp, set, selp, slct.
#include "half.hpp"
#include "rounding.hpp"
#include "translator.hpp"

#include <bit>
#include <cmath>

namespace omp_co_sim::ptx {
namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

enum class relation { eq, ne, lt, le, gt, ge };

template <relation R, class T>
bool holds(T a, T b)
{
    switch (R) {
    case relation::eq:
        return a == b;
    case relation::ne:
        return a < b || a > b; // false for NaN: the ordered form
    case relation::lt:
        return a < b;
    case relation::le:
        return a <= b;
    case relation::gt:
        return a > b;
    default:
        return a >= b;
    }
}

constexpr u32 flush_inputs = 1;
constexpr u32 or_unordered = 2;

template <relation R>
struct compare {
    template <class T>
    static instruction const* run(thread& t, instruction const& i)
    {
        t.slots[i.d] = holds<R>(get<T>(t, i.a), get<T>(t, i.b)) ? 1 : 0;
        return &i + 1;
    }
};
/// With .ftz, or also true when an operand is NaN.
template <relation R>
struct compare_carefully {
    template <class T>
    static instruction const* run(thread& t, instruction const& i)
    {
        auto a = get<T>(t, i.a);
        auto b = get<T>(t, i.b);
        if (i.mode & flush_inputs) {
            a = flushed(a);
            b = flushed(b);
        }
        bool const unordered = (i.mode & or_unordered) && (std::isnan(a) || std::isnan(b));
        t.slots[i.d] = unordered || holds<R>(a, b) ? 1 : 0;
        return &i + 1;
    }
};
/// num (mode 0) and nan (mode 1).
struct compare_nan {
    template <class T>
    static instruction const* run(thread& t, instruction const& i)
    {
        bool const nan = std::isnan(get<T>(t, i.a)) || std::isnan(get<T>(t, i.b));
        t.slots[i.d] = nan == (i.mode == 1) ? 1 : 0;
        return &i + 1;
    }
};

/// d = a combined with b: mode 0 and, 1 or, 2 xor; with 4 a is negated first.
instruction const* combine(thread& t, instruction const& i)
{
    u64 const a = i.mode & 4 ? 1 - t.slots[i.a] : t.slots[i.a];
    u64 const b = t.slots[i.b];
    u32 const how = i.mode & 3;
    t.slots[i.d] = how == 0 ? (a & b) : how == 1 ? (a | b) : (a ^ b);
    return &i + 1;
}

instruction const* copy_negated(thread& t, instruction const& i)
{
    t.slots[i.d] = 1 - t.slots[i.a];
    return &i + 1;
}
instruction const* copy(thread& t, instruction const& i)
{
    t.slots[i.d] = t.slots[i.a];
    return &i + 1;
}
/// d = c ? a : b
instruction const* select(thread& t, instruction const& i)
{
    t.slots[i.d] = t.slots[t.slots[i.c] ? i.a : i.b];
    return &i + 1;
}
struct select_by_sign {
    template <class T>
    static instruction const* run(thread& t, instruction const& i)
    {
        auto c = get<T>(t, i.c);
        if constexpr (std::is_floating_point_v<T>)
            if (i.mode & flush_inputs) c = flushed(c);
        t.slots[i.d] = t.slots[c >= 0 ? i.a : i.b];
        return &i + 1;
    }
};

/// f16 and bf16 compare as the floats that they are.
instruction const* widen_half(thread& t, instruction const& i)
{
    auto const bits = static_cast<u16>(t.slots[i.a]);
    set(t, i.d, i.mode ? to_float(bfloat{bits}) : to_float(half{bits}));
    return &i + 1;
}

template <relation R>
void emit_relation(translator& x, u32 d, u32 a, u32 b, type t, u32 mode)
{
    handler run = nullptr;
    if (mode != 0)
        run = choose<compare_carefully<R>, float, double>(t);
    else
        run = choose<compare<R>, u16, u32, u64, s16, s32, s64, float, double>(t);
    x.emit(x.known(run), d, a, b, 0, 0, mode);
}

/// The relation of the statement, for operands 1 and 2 (or 2 and 3) of type t, into slot d.
void emit_comparison(translator& x, std::string_view name, u32 d, u32 a, u32 b, type t)
{
    u32 mode = x.take("ftz") ? flush_inputs : 0;
    if (t == type{'f', 2} || t == type{'g', 2}) {
        u32 const wide_a = x.scratch();
        u32 const wide_b = x.scratch();
        x.emit(widen_half, wide_a, a, 0, 0, 0, t.kind == 'g' ? 1 : 0);
        x.emit(widen_half, wide_b, b, 0, 0, 0, t.kind == 'g' ? 1 : 0);
        a = wide_a;
        b = wide_b;
        t = {'f', 4};
    }
    bool const floating = t.kind == 'f';
    if (name == "num" || name == "nan") {
        x.emit(x.known(choose<compare_nan, float, double>(t)), d, a, b, 0, 0, name == "nan" ? 1 : 0);
        return;
    }
    if (floating && name.size() == 3 && name[2] == 'u') mode |= or_unordered;
    if (name == "lo" || name == "ls" || name == "hi" || name == "hs") t = plain(t);
    t = without_bits(t);
    auto const base = name.substr(0, 2);
    if (base == "eq") return emit_relation<relation::eq>(x, d, a, b, t, mode);
    if (base == "ne") return emit_relation<relation::ne>(x, d, a, b, t, mode);
    if (base == "lt" || base == "lo") return emit_relation<relation::lt>(x, d, a, b, t, mode);
    if (base == "le" || base == "ls") return emit_relation<relation::le>(x, d, a, b, t, mode);
    if (base == "gt" || base == "hi") return emit_relation<relation::gt>(x, d, a, b, t, mode);
    return emit_relation<relation::ge>(x, d, a, b, t, mode);
}

struct comparison {
    std::string_view relation;
    u32 combination; ///< as in `combine`; 3: none
};
comparison take_comparison(translator& x)
{
    auto const name = x.take_one_of({"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu",
                                     "ltu", "leu", "gtu", "geu", "num", "nan"});
    if (name.empty()) x.fail("no comparison that is known");
    auto const how = x.take_one_of({"and", "or", "xor"});
    return {name, how == "and" ? 0u : how == "or" ? 1u : how == "xor" ? 2u : 3u};
}

void emit_setp(translator& x)
{
    auto const how = take_comparison(x);
    bool const combined = how.combination != 3;
    x.expect_operands(combined ? 4 : 3, combined ? 4 : 3);
    type const t = x.take_type();
    auto const a = x.source(1, t);
    auto const b = x.source(2, t);
    auto const d = x.target(0);
    bool const both = x.at(0).has_second;
    if (!combined && !both) return emit_comparison(x, how.relation, d, a, b, t);
    auto const bare = x.scratch();
    emit_comparison(x, how.relation, bare, a, b, t);
    if (!combined) {
        x.emit(copy, d, bare);
        x.emit(copy_negated, x.second_target(0), bare);
        return;
    }
    // p may be the predicate that is combined: q first goes to a slot of its own.
    auto const c = x.source(3, predicate_type);
    auto const other = x.scratch();
    x.emit(combine, other, bare, c, 0, 0, how.combination | 4);
    x.emit(combine, d, bare, c, 0, 0, how.combination);
    if (both) x.emit(copy, x.second_target(0), other);
}

void emit_set(translator& x)
{
    auto const how = take_comparison(x);
    bool const combined = how.combination != 3;
    x.expect_operands(combined ? 4 : 3, combined ? 4 : 3);
    type const result = x.take_type();
    type const t = x.take_type();
    auto const a = x.source(1, t);
    auto const b = x.source(2, t);
    auto const bare = x.scratch();
    emit_comparison(x, how.relation, bare, a, b, t);
    if (combined) x.emit(combine, bare, bare, x.source(3, predicate_type), 0, 0, how.combination);
    if (result.size != 4) x.fail("needs a result of 32 bits");
    auto const yes = x.constant(result.kind == 'f' ? 0x3f80'0000u : 0xffff'ffffu);
    x.emit(select, x.target(0), yes, slots::zero, bare);
}

void emit_selp(translator& x)
{
    x.expect_operands(4, 4);
    type const t = x.take_type();
    auto const a = x.source(1, t);
    auto const b = x.source(2, t);
    auto const c = x.source(3, predicate_type);
    x.emit(select, x.target(0), a, b, c);
}

void emit_slct(translator& x)
{
    x.expect_operands(4, 4);
    type const t = x.take_type();
    type const by = x.take_type();
    u32 const mode = x.take("ftz") ? flush_inputs : 0;
    auto const a = x.source(1, t);
    auto const b = x.source(2, t);
    auto const c = x.source(3, by);
    x.emit(x.known(choose<select_by_sign, s32, float>(by)), x.target(0), a, b, c, 0, mode);
}

} // namespace

std::span<opcode_entry const> compare_opcodes()
{
    static constexpr opcode_entry table[] = {
        {"setp", emit_setp},
        {"set", emit_set},
        {"selp", emit_selp},
        {"slct", emit_slct},
    };
    return table;
}

} // namespace omp_co_sim::ptx
