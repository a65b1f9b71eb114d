// SPDX-License-Identifier: BSL-1.0
// Integer arithmetic.
#include "translator.hpp"

#include <limits>
#include <type_traits>

namespace omp_co_sim::ptx {
namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
__extension__ using s128 = __int128;
__extension__ using u128 = unsigned __int128;

/// The type that holds every product of two Ts.
template <class T>
using twice = std::conditional_t<sizeof(T) == 8, std::conditional_t<std::is_signed_v<T>, s128, u128>,
                                 std::conditional_t<std::is_signed_v<T>, s64, u64>>;
template <class T>
using exactly_twice = std::conditional_t<sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, s32, u32>,
                                         std::conditional_t<std::is_signed_v<T>, s64, u64>>;

// Wrapping operations are given unsigned types.
struct plus {
    template <class T>
    static T of(T a, T b)
    {
        return static_cast<T>(a + b);
    }
};
struct minus {
    template <class T>
    static T of(T a, T b)
    {
        return static_cast<T>(a - b);
    }
};
struct low_product {
    template <class T>
    static T of(T a, T b)
    {
        return static_cast<T>(u64{a} * b);
    }
};
struct low_product_plus {
    template <class T>
    static T of(T a, T b, T c)
    {
        return static_cast<T>(u64{a} * b + c);
    }
};
struct high_product {
    template <class T>
    static T of(T a, T b)
    {
        return static_cast<T>((static_cast<twice<T>>(a) * b) >> (8 * sizeof(T)));
    }
};
struct high_product_plus {
    template <class T>
    static T of(T a, T b, T c)
    {
        using unsigned_t = std::make_unsigned_t<T>;
        return static_cast<T>(static_cast<unsigned_t>(static_cast<unsigned_t>(high_product::of<T>(a, b)) +
                                                      static_cast<unsigned_t>(c)));
    }
};
struct wide_product {
    template <class T>
    static exactly_twice<T> of(T a, T b)
    {
        return static_cast<exactly_twice<T>>(static_cast<exactly_twice<T>>(a) *
                                             static_cast<exactly_twice<T>>(b));
    }
};
struct quotient {
    template <class T>
    static T of(T a, T b)
    {
        if (b == 0) return static_cast<T>(-1);
        if (std::is_signed_v<T> && b == static_cast<T>(-1))
            return static_cast<T>(u64{0} - static_cast<u64>(a));
        return static_cast<T>(a / b);
    }
};
struct remainder {
    template <class T>
    static T of(T a, T b)
    {
        if (b == 0) return a;
        if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
        return static_cast<T>(a % b);
    }
};
struct smaller {
    template <class T>
    static T of(T a, T b)
    {
        return b < a ? b : a;
    }
};
struct larger {
    template <class T>
    static T of(T a, T b)
    {
        return a < b ? b : a;
    }
};
struct difference_plus {
    template <class T>
    static T of(T a, T b, T c)
    {
        auto const d =
            a < b ? static_cast<u64>(b) - static_cast<u64>(a) : static_cast<u64>(a) - static_cast<u64>(b);
        return static_cast<T>(static_cast<u64>(c) + d);
    }
};
struct magnitude {
    template <class T>
    static T of(T a)
    {
        return a < 0 ? static_cast<T>(u64{0} - static_cast<u64>(a)) : a;
    }
};
struct negation {
    template <class T>
    static T of(T a)
    {
        return static_cast<T>(u64{0} - static_cast<u64>(a));
    }
};
struct saturating_plus {
    static s32 clamp(s64 wide)
    {
        if (wide > std::numeric_limits<s32>::max()) return std::numeric_limits<s32>::max();
        if (wide < std::numeric_limits<s32>::min()) return std::numeric_limits<s32>::min();
        return static_cast<s32>(wide);
    }
    static s32 of(s32 a, s32 b) { return clamp(s64{a} + b); }
};
struct saturating_minus {
    static s32 of(s32 a, s32 b) { return saturating_plus::clamp(s64{a} - b); }
};

template <class T>
s64 low_24(T v)
{
    if constexpr (std::is_signed_v<T>)
        return static_cast<s32>(static_cast<u32>(v) << 8) >> 8;
    else
        return static_cast<s64>(v & 0xffffff);
}
template <unsigned Shift>
struct product_24 {
    template <class T>
    static T of(T a, T b)
    {
        return static_cast<T>((low_24(a) * low_24(b)) >> Shift);
    }
};
template <unsigned Shift>
struct product_24_plus {
    template <class T>
    static T of(T a, T b, T c)
    {
        return static_cast<T>(static_cast<u32>(product_24<Shift>::of(a, b)) + static_cast<u32>(c));
    }
};

/// d = c + a . b over four bytes; `mode`: 1 a signed, 2 b signed.
instruction const* dot_bytes(thread& t, instruction const& i)
{
    auto const a = get<u32>(t, i.a);
    auto const b = get<u32>(t, i.b);
    auto const byte = [](u32 v, unsigned n, bool is_signed) {
        auto const bits = static_cast<std::uint8_t>(v >> (8 * n));
        return is_signed ? s64{static_cast<std::int8_t>(bits)} : s64{bits};
    };
    s64 sum = get<u32>(t, i.c);
    for (unsigned n = 0; n < 4; ++n) sum += byte(a, n, i.mode & 1) * byte(b, n, i.mode & 2);
    set(t, i.d, static_cast<u32>(sum));
    return &i + 1;
}

void emit_binary(translator& x, handler run, type t)
{
    x.expect_operands(3, 3);
    auto const a = x.source(1, t);
    auto const b = x.source(2, t);
    x.emit(x.known(run), x.target(0), a, b);
}
void emit_ternary(translator& x, handler run, type t, type third)
{
    x.expect_operands(4, 4);
    auto const a = x.source(1, t);
    auto const b = x.source(2, t);
    auto const c = x.source(3, third);
    x.emit(x.known(run), x.target(0), a, b, c);
}

template <class Op, class Saturating>
void emit_sum(translator& x)
{
    if (is_float(x.peek_type())) return emit_float(x);
    if (x.take("cc")) return emit_with_carry(x);
    type const t = x.take_type();
    if (x.take("sat"))
        return emit_binary(x, t == type{'s', 4} ? &binary<Saturating>::template run<s32> : nullptr, t);
    emit_binary(x, choose<binary<Op>, u16, u32, u64>(plain(t)), t);
}

void emit_product(translator& x)
{
    if (is_float(x.peek_type())) return emit_float(x);
    type const t = x.take_type();
    auto const part = x.take_one_of({"lo", "hi", "wide"});
    if (part == "lo") return emit_binary(x, choose<binary<low_product>, u16, u32, u64>(plain(t)), t);
    if (part == "hi") return emit_binary(x, choose<binary<high_product>, u16, u32, u64, s16, s32, s64>(t), t);
    if (part == "wide") return emit_binary(x, choose<binary<wide_product>, u16, u32, s16, s32>(t), t);
    x.fail("needs .lo, .hi or .wide");
}

/// a * b in T, c and the result twice as wide.
struct wide_product_plus {
    template <class T>
    static instruction const* run(thread& t, instruction const& i)
    {
        using wide = exactly_twice<T>;
        auto const product = wide_product::of<T>(get<T>(t, i.a), get<T>(t, i.b));
        set(t, i.d, static_cast<wide>(static_cast<u64>(product) + static_cast<u64>(get<wide>(t, i.c))));
        return &i + 1;
    }
};

void emit_multiply_add(translator& x)
{
    if (is_float(x.peek_type())) return emit_float(x);
    if (x.take("cc")) return emit_with_carry(x);
    type const t = x.take_type();
    auto const part = x.take_one_of({"lo", "hi", "wide"});
    if (part == "lo")
        return emit_ternary(x, choose<ternary<low_product_plus>, u16, u32, u64>(plain(t)), t, t);
    if (part == "hi")
        return emit_ternary(x, choose<ternary<high_product_plus>, u16, u32, u64, s16, s32, s64>(t), t, t);
    if (part == "wide")
        return emit_ternary(x, choose<wide_product_plus, u16, u32, s16, s32>(t), t,
                            {t.kind, static_cast<std::uint8_t>(2 * t.size)});
    x.fail("needs .lo, .hi or .wide");
}

template <template <unsigned> class Op, bool Ternary>
void emit_24(translator& x)
{
    type const t = x.take_type();
    bool const high = x.take("hi");
    if (!high && !x.take("lo")) x.fail("needs .lo or .hi");
    if constexpr (Ternary)
        emit_ternary(x, high ? choose<ternary<Op<16>>, u32, s32>(t) : choose<ternary<Op<0>>, u32, s32>(t), t,
                     t);
    else
        emit_binary(x, high ? choose<binary<Op<16>>, u32, s32>(t) : choose<binary<Op<0>>, u32, s32>(t), t);
}

template <class Op>
void emit_all(translator& x)
{
    if (is_float(x.peek_type())) return emit_float(x);
    type const t = x.take_type();
    emit_binary(x, choose<binary<Op>, u16, u32, u64, s16, s32, s64>(t), t);
}

template <class Op>
void emit_unary(translator& x)
{
    if (is_float(x.peek_type())) return emit_float(x);
    x.expect_operands(2, 2);
    type const t = x.take_type();
    auto const a = x.source(1, t);
    x.emit(x.known(choose<unary<Op>, s16, s32, s64>(t)), x.target(0), a);
}

void emit_sad(translator& x)
{
    type const t = x.take_type();
    emit_ternary(x, choose<ternary<difference_plus>, u16, u32, u64, s16, s32, s64>(t), t, t);
}

void emit_dot(translator& x)
{
    x.expect_operands(4, 4);
    type const t = x.take_type();
    type const u = x.take_type();
    auto const a = x.source(1, t);
    auto const b = x.source(2, u);
    auto const c = x.source(3, u32_type);
    x.emit(dot_bytes, x.target(0), a, b, c, 0, (t.kind == 's' ? 1u : 0u) | (u.kind == 's' ? 2u : 0u));
}

} // namespace

std::span<opcode_entry const> integer_opcodes()
{
    static constexpr opcode_entry table[] = {
        {"add", emit_sum<plus, saturating_plus>},
        {"sub", emit_sum<minus, saturating_minus>},
        {"mul", emit_product},
        {"mad", emit_multiply_add},
        {"mul24", emit_24<product_24, false>},
        {"mad24", emit_24<product_24_plus, true>},
        {"sad", emit_sad},
        {"div", emit_all<quotient>},
        {"rem", emit_all<remainder>},
        {"min", emit_all<smaller>},
        {"max", emit_all<larger>},
        {"abs", emit_unary<magnitude>},
        {"neg", emit_unary<negation>},
        {"dp4a", emit_dot},
    };
    return table;
}

} // namespace omp_co_sim::ptx
