// SPDX-License-Identifier: BSL-1.0
// Bit operations: logic, shifts, fields, counts, permutations.
#include "translator.hpp"

#include <bit>
#include <type_traits>

namespace omp_co_sim::ptx {
namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

struct bit_and {
    template <class T>
    static T of(T a, T b)
    {
        return static_cast<T>(a & b);
    }
};
struct bit_or {
    template <class T>
    static T of(T a, T b)
    {
        return static_cast<T>(a | b);
    }
};
struct bit_xor {
    template <class T>
    static T of(T a, T b)
    {
        return static_cast<T>(a ^ b);
    }
};
struct bit_not {
    template <class T>
    static T of(T a)
    {
        return static_cast<T>(~a);
    }
};
struct bool_not {
    template <class T>
    static T of(T a)
    {
        return a == 0 ? 1 : 0;
    }
};

/// Shifts by 32-bit amounts; those beyond the width give zeros or copies of the sign.
template <bool Left>
struct shift {
    template <class T>
    static instruction const* run(thread& t, instruction const& i)
    {
        constexpr u32 width = 8 * sizeof(T);
        auto const v = get<T>(t, i.a);
        auto const by = get<u32>(t, i.b);
        if constexpr (Left)
            set(t, i.d, static_cast<T>(by < width ? u64{static_cast<u64>(v)} << by : 0));
        else if constexpr (std::is_signed_v<T>)
            set(t, i.d, static_cast<T>(v >> (by < width ? by : width - 1)));
        else
            set(t, i.d, static_cast<T>(by < width ? v >> by : 0));
        return &i + 1;
    }
};

/// shf: mode 1 right, 2 clamp the amount at 32 (else wrap).
instruction const* funnel_shift(thread& t, instruction const& i)
{
    u64 const both = u64{get<u32>(t, i.b)} << 32 | get<u32>(t, i.a);
    auto const by = get<u32>(t, i.c);
    auto const n = i.mode & 2 ? (by < 32 ? by : 32) : by & 31;
    set(t, i.d, i.mode & 1 ? static_cast<u32>(both >> n) : static_cast<u32>((both << n) >> 32));
    return &i + 1;
}

struct extract_field {
    template <class T>
    static instruction const* run(thread& t, instruction const& i)
    {
        constexpr u32 width = 8 * sizeof(T);
        using bits = std::make_unsigned_t<T>;
        auto const v = get<bits>(t, i.a);
        u32 const first = get<u32>(t, i.b) & 0xff;
        u32 const count = get<u32>(t, i.c) & 0xff;
        bits out = 0;
        if (count != 0) {
            bits const shifted = first < width ? static_cast<bits>(v >> first) : bits{0};
            bits const mask =
                count < width ? static_cast<bits>((bits{1} << count) - 1) : static_cast<bits>(~bits{0});
            out = shifted & mask;
            u32 const last = first + count - 1 < width - 1 ? first + count - 1 : width - 1;
            bool const negative = std::is_signed_v<T> && ((v >> last) & 1) != 0;
            u32 const filled = first < width ? (count < width - first ? count : width - first) : 0;
            if (negative && filled < width) out = static_cast<bits>(out | (~bits{0} << filled));
        }
        set(t, i.d, static_cast<T>(out));
        return &i + 1;
    }
};

/// a into b at bit c, e bits long.
struct insert_field {
    template <class T>
    static instruction const* run(thread& t, instruction const& i)
    {
        constexpr u32 width = 8 * sizeof(T);
        auto const into = get<T>(t, i.b);
        u32 const first = get<u32>(t, i.c) & 0xff;
        u32 const count = get<u32>(t, i.e) & 0xff;
        T const mask = count < width ? static_cast<T>((T{1} << count) - 1) : static_cast<T>(~T{0});
        T out = into;
        if (first < width)
            out = static_cast<T>((into & ~(mask << first)) | ((get<T>(t, i.a) & mask) << first));
        set(t, i.d, out);
        return &i + 1;
    }
};

struct count_ones {
    template <class T>
    static u32 of(T a)
    {
        return static_cast<u32>(std::popcount(a));
    }
};
struct leading_zeros {
    template <class T>
    static u32 of(T a)
    {
        return static_cast<u32>(std::countl_zero(a));
    }
};
struct reversed {
    template <class T>
    static T of(T a)
    {
        T out = 0;
        for (unsigned n = 0; n < 8 * sizeof(T); ++n, a = static_cast<T>(a >> 1))
            out = static_cast<T>(out << 1 | (a & 1));
        return out;
    }
};
/// The highest bit that differs from the sign, or its distance from the top.
template <bool Distance>
struct find_leading {
    template <class T>
    static u32 of(T a)
    {
        using bits = std::make_unsigned_t<T>;
        bits const v = static_cast<bits>(std::is_signed_v<T> && a < 0 ? ~a : a);
        if (v == 0) return 0xffff'ffff;
        auto const zeros = static_cast<u32>(std::countl_zero(v));
        return Distance ? zeros : 8 * static_cast<u32>(sizeof(T)) - 1 - zeros;
    }
};

/// lop3: bit n of the table answers for the inputs whose bits spell n.
instruction const* logic_3(thread& t, instruction const& i)
{
    u32 const a = get<u32>(t, i.a);
    u32 const b = get<u32>(t, i.b);
    u32 const c = get<u32>(t, i.c);
    u32 out = 0;
    for (u32 n = 0; n < 8; ++n)
        if (i.mode >> n & 1) out |= (n & 4 ? a : ~a) & (n & 2 ? b : ~b) & (n & 1 ? c : ~c);
    set(t, i.d, out);
    return &i + 1;
}

/// prmt: mode 0 the general form, else the named forms in the order of the manual.
instruction const* permute(thread& t, instruction const& i)
{
    u64 const bytes = u64{get<u32>(t, i.b)} << 32 | get<u32>(t, i.a);
    auto const byte = [bytes](u32 n) { return static_cast<u32>(bytes >> (8 * (n & 7))) & 0xff; };
    u32 const control = get<u32>(t, i.c);
    u32 const n = control & 3;
    u32 out = 0;
    for (u32 k = 0; k < 4; ++k) {
        u32 v = 0;
        switch (i.mode) {
        case 1:
            v = byte(n + k);
            break; // f4e
        case 2:
            v = byte(n - k + 8);
            break; // b4e
        case 3:
            v = byte(n);
            break; // rc8
        case 4:
            v = byte(k > n ? k : n);
            break; // ecl
        case 5:
            v = byte(k < n ? k : n);
            break; // ecr
        case 6:
            v = byte((n & 1) * 2 + (k & 1));
            break; // rc16
        default: {
            u32 const select = control >> (4 * k);
            v = byte(select);
            if (select & 8) v = v & 0x80 ? 0xff : 0;
        }
        }
        out |= v << (8 * k);
    }
    set(t, i.d, out);
    return &i + 1;
}

/// bmsk: b ones from bit a on; mode 1 clamps a and b at 32 (else they wrap).
instruction const* bit_mask(thread& t, instruction const& i)
{
    u32 const first = i.mode ? get<u32>(t, i.a) : get<u32>(t, i.a) & 31;
    u32 const count = i.mode ? get<u32>(t, i.b) : get<u32>(t, i.b) & 31;
    u32 const from = first < 32 ? ~u32{0} << first : 0;
    bool const to_the_top = count >= 32 || first >= 32 || first + count >= 32;
    set(t, i.d, from & ~(to_the_top ? 0 : ~u32{0} << (first + count)));
    return &i + 1;
}

/// szext: the low b bits of a extended by their sign (mode 2) or by zeros; mode 1 as above.
instruction const* extend_bits(thread& t, instruction const& i)
{
    u32 const a = get<u32>(t, i.a);
    u32 const b = get<u32>(t, i.b);
    u32 const count = b & 31;
    bool const whole = (i.mode & 1) != 0 && b >= 32;
    u32 const above = whole ? 0 : ~u32{0} << count;
    bool const negative = (i.mode & 2) != 0 && count != 0 && !whole && (a >> (count - 1) & 1) != 0;
    set(t, i.d, (a & ~above) | (negative ? above : 0));
    return &i + 1;
}

template <class Op>
void emit_logic(translator& x)
{
    x.expect_operands(3, 3);
    type const t = x.take_type();
    auto const a = x.source(1, t);
    auto const b = x.source(2, t);
    auto const width = t == predicate_type ? type{'u', 8} : plain(t);
    x.emit(x.known(choose<binary<Op>, u16, u32, u64>(width)), x.target(0), a, b);
}

template <bool Boolean>
void emit_not(translator& x)
{
    x.expect_operands(2, 2);
    type const t = x.take_type();
    auto const a = x.source(1, t);
    auto run = choose<unary<bit_not>, u16, u32, u64>(plain(t));
    if (Boolean || t == predicate_type)
        run = choose<unary<bool_not>, u16, u32, u64>(t == predicate_type ? type{'u', 8} : plain(t));
    x.emit(x.known(run), x.target(0), a);
}

template <bool Left>
void emit_shift(translator& x)
{
    x.expect_operands(3, 3);
    type const t = x.take_type();
    auto const a = x.source(1, t);
    auto const b = x.source(2, u32_type);
    auto const run = Left ? choose<shift<true>, u16, u32, u64>(plain(t))
                          : choose<shift<false>, u16, u32, u64, s16, s32, s64>(without_bits(t));
    x.emit(x.known(run), x.target(0), a, b);
}

void emit_funnel(translator& x)
{
    x.expect_operands(4, 4);
    type const t = x.take_type();
    bool const right = x.take("r");
    if (!right && !x.take("l")) x.fail("needs .l or .r");
    bool const clamp = x.take("clamp");
    if (!clamp && !x.take("wrap")) x.fail("needs .clamp or .wrap");
    auto const a = x.source(1, t);
    auto const b = x.source(2, t);
    auto const c = x.source(3, u32_type);
    x.emit(funnel_shift, x.target(0), a, b, c, 0, (right ? 1u : 0u) | (clamp ? 2u : 0u));
}

void emit_extract(translator& x)
{
    x.expect_operands(4, 4);
    type const t = x.take_type();
    auto const a = x.source(1, t);
    auto const b = x.source(2, u32_type);
    auto const c = x.source(3, u32_type);
    x.emit(x.known(choose<extract_field, u32, u64, s32, s64>(t)), x.target(0), a, b, c);
}

void emit_insert(translator& x)
{
    x.expect_operands(5, 5);
    type const t = x.take_type();
    auto const a = x.source(1, t);
    auto const b = x.source(2, t);
    auto const c = x.source(3, u32_type);
    auto const e = x.source(4, u32_type);
    x.emit(x.known(choose<insert_field, u32, u64>(plain(t))), x.target(0), a, b, c, e);
}

template <class Op>
void emit_count(translator& x)
{
    x.expect_operands(2, 2);
    type const t = x.take_type();
    auto const a = x.source(1, t);
    x.emit(x.known(choose<unary<Op>, u32, u64>(plain(t))), x.target(0), a);
}

void emit_find(translator& x)
{
    x.expect_operands(2, 2);
    type const t = x.take_type();
    auto const a = x.source(1, t);
    auto const run = x.take("shiftamt") ? choose<unary<find_leading<true>>, u32, u64, s32, s64>(t)
                                        : choose<unary<find_leading<false>>, u32, u64, s32, s64>(t);
    x.emit(x.known(run), x.target(0), a);
}

void emit_logic_3(translator& x)
{
    x.expect_operands(5, 5);
    type const t = x.take_type();
    auto const a = x.source(1, t);
    auto const b = x.source(2, t);
    auto const c = x.source(3, t);
    if (x.at(4).kind != operand_kind::bits || x.at(4).bits > 255)
        x.fail("the table must be a constant below 256");
    x.emit(logic_3, x.target(0), a, b, c, 0, static_cast<u32>(x.at(4).bits));
}

template <bool Mask>
void emit_mask(translator& x)
{
    x.expect_operands(3, 3);
    type const t = x.take_type();
    u32 mode = x.take("clamp") ? 1 : 0;
    if (mode == 0 && !x.take("wrap")) x.fail("needs .clamp or .wrap");
    if (!Mask && t.kind == 's') mode |= 2;
    auto const a = x.source(1, u32_type);
    auto const b = x.source(2, u32_type);
    x.emit(Mask ? bit_mask : extend_bits, x.target(0), a, b, 0, 0, mode);
}

void emit_permute(translator& x)
{
    x.expect_operands(4, 4);
    type const t = x.take_type();
    static constexpr std::string_view forms[] = {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};
    u32 mode = 0;
    for (u32 n = 0; n < 6; ++n)
        if (x.take(forms[n])) mode = n + 1;
    auto const a = x.source(1, t);
    auto const b = x.source(2, t);
    auto const c = x.source(3, t);
    x.emit(permute, x.target(0), a, b, c, 0, mode);
}

} // namespace

instruction const* not_predicate(thread& t, instruction const& i) { return unary<bool_not>::run<u64>(t, i); }

std::span<opcode_entry const> bit_opcodes()
{
    static constexpr opcode_entry table[] = {
        {"and", emit_logic<bit_and>},
        {"or", emit_logic<bit_or>},
        {"xor", emit_logic<bit_xor>},
        {"not", emit_not<false>},
        {"cnot", emit_not<true>},
        {"shl", emit_shift<true>},
        {"shr", emit_shift<false>},
        {"shf", emit_funnel},
        {"bfe", emit_extract},
        {"bfi", emit_insert},
        {"popc", emit_count<count_ones>},
        {"clz", emit_count<leading_zeros>},
        {"brev", emit_count<reversed>},
        {"bfind", emit_find},
        {"lop3", emit_logic_3},
        {"prmt", emit_permute},
        {"bmsk", emit_mask<true>},
        {"szext", emit_mask<false>},
    };
    return table;
}

} // namespace omp_co_sim::ptx
