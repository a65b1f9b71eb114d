// SPDX-License-Identifier: BSL-1.0
// Arithmetic in several words: the carry lies in a slot of its own.
#include "translator.hpp"

namespace omp_co_sim::ptx {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
__extension__ using s128 = __int128;
__extension__ using u128 = unsigned __int128;

/// mode: 1 takes the carry in, 2 leaves one.
enum : u32 { carry_in = 1, carry_out = 2 };

template <class T>
instruction const* sum(thread& t, instruction const& i, T a, T b)
{
    u128 const carry = i.mode & carry_in ? t.slots[slots::carry] : 0;
    u128 const wide = u128{a} + b + carry;
    if (i.mode & carry_out) t.slots[slots::carry] = (wide >> (8 * sizeof(T))) != 0 ? 1 : 0;
    set(t, i.d, static_cast<T>(wide));
    return &i + 1;
}

struct add_carry {
    template <class T>
    static instruction const* run(thread& t, instruction const& i)
    {
        return sum(t, i, get<T>(t, i.a), get<T>(t, i.b));
    }
};

/// The flag is the hardware's, a + ~b + 1: set when nothing was borrowed. The compiler's own division of 128-bit
/// integers reads it with addc after subc.cc, so it matters.
struct subtract_borrow {
    template <class T>
    static instruction const* run(thread& t, instruction const& i)
    {
        u128 const borrow = i.mode & carry_in ? 1 - t.slots[slots::carry] : 0;
        u128 const a = get<T>(t, i.a);
        u128 const taken = u128{get<T>(t, i.b)} + borrow;
        if (i.mode & carry_out) t.slots[slots::carry] = a < taken ? 0 : 1;
        set(t, i.d, static_cast<T>(a - taken));
        return &i + 1;
    }
};

struct low_mad {
    template <class T>
    static instruction const* run(thread& t, instruction const& i)
    {
        return sum(t, i, static_cast<T>(get<T>(t, i.a) * get<T>(t, i.b)), get<T>(t, i.c));
    }
};

/// For signed types too: the high half depends on the sign, the sum does not.
struct high_mad {
    template <class T>
    static instruction const* run(thread& t, instruction const& i)
    {
        using unsigned_t = std::make_unsigned_t<T>;
        using wide = std::conditional_t<std::is_signed_v<T>, s128, u128>;
        wide const product = wide{get<T>(t, i.a)} * get<T>(t, i.b);
        return sum(t, i, static_cast<unsigned_t>(product >> (8 * sizeof(T))), get<unsigned_t>(t, i.c));
    }
};

void emit(translator& x, u32 mode)
{
    type const t = x.take_type();
    bool const mad = x.opcode().starts_with("mad");
    x.expect_operands(mad ? 4 : 3, mad ? 4 : 3);
    auto const a = x.source(1, t);
    auto const b = x.source(2, t);
    auto const c = mad ? x.source(3, t) : u32{slots::zero};
    handler run = nullptr;
    if (x.opcode().starts_with("add"))
        run = choose<add_carry, u32, u64>(plain(t));
    else if (x.opcode().starts_with("sub"))
        run = choose<subtract_borrow, u32, u64>(plain(t));
    else if (x.take("lo"))
        run = choose<low_mad, u32, u64>(plain(t));
    else if (x.take("hi"))
        run = choose<high_mad, u32, u64, std::int32_t, std::int64_t>(without_bits(t));
    x.emit(x.known(run), x.target(0), a, b, c, 0, mode);
}

void emit_carry_in(translator& x) { emit(x, x.take("cc") ? carry_in | carry_out : carry_in); }

} // namespace

void emit_with_carry(translator& x) { emit(x, carry_out); }

std::span<opcode_entry const> wide_opcodes()
{
    static constexpr opcode_entry table[] = {
        {"addc", emit_carry_in},
        {"subc", emit_carry_in},
        {"madc", emit_carry_in},
    };
    return table;
}

} // namespace omp_co_sim::ptx
