// SPDX-License-Identifier: BSL-1.0
// cvt in all its roundings, with saturation and flushing.
#include "half.hpp"
#include "rounding.hpp"
#include "translator.hpp"

#include <cmath>
#include <limits>
#include <type_traits>

namespace omp_co_sim::ptx {
namespace {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
__extension__ using s128 = __int128;

/// In instruction::mode beside the bits of float_mode: a float is rounded to a whole number.
constexpr u32 to_whole = 32;

template <class T>
T whole(T v, u32 mode)
{
    switch (mode & float_mode::rounding_mask) {
    case float_mode::to_zero:
        return std::trunc(v);
    case float_mode::down:
        return std::floor(v);
    case float_mode::up:
        return std::ceil(v);
    default:
        return std::nearbyint(v);
    }
}

/// Out of range goes to the nearest limit. NaN: zero, but for 64 bits on either side the highest bit alone.
template <class To, class From>
To integer_of(From v, u32 mode)
{
    using limits = std::numeric_limits<To>;
    if (std::isnan(v)) {
        bool const wide = sizeof(From) == 8 || sizeof(To) == 8;
        return wide ? static_cast<To>(u64{1} << (8 * sizeof(To) - 1)) : To{0};
    }
    From const rounded_value = whole(v, mode);
    auto const beyond = std::ldexp(From{1}, limits::digits);
    if (rounded_value >= beyond) return limits::max();
    if (rounded_value < static_cast<From>(limits::min())) return limits::min();
    return static_cast<To>(rounded_value);
}

template <class To, class From>
To clamped(From v)
{
    using limits = std::numeric_limits<To>;
    if (s128{v} > s128{limits::max()}) return limits::max();
    if (s128{v} < s128{limits::min()}) return limits::min();
    return static_cast<To>(v);
}

template <class To, class From>
To converted(From v, u32 mode)
{
    constexpr bool from_float = std::is_floating_point_v<From>;
    constexpr bool to_float = std::is_floating_point_v<To>;
    if constexpr (from_float)
        if (mode & float_mode::flush) v = flushed(v);
    if constexpr (!from_float && !to_float) {
        return mode & float_mode::saturate ? clamped<To>(v) : static_cast<To>(v);
    } else if constexpr (from_float && !to_float) {
        return integer_of<To>(v, mode);
    } else {
        To out{};
        if constexpr (from_float && std::is_same_v<To, From>)
            out = mode & to_whole ? whole(v, mode) : v;
        else
            out = rounded(
                mode, [](From x) { return static_cast<To>(x); }, v);
        if (mode & float_mode::flush) out = flushed(out);
        return mode & float_mode::saturate ? saturated(out) : out;
    }
}

template <class To>
struct convert_to {
    template <class From>
    static instruction const* run(thread& t, instruction const& i)
    {
        set(t, i.d, converted<To>(get<From>(t, i.a), i.mode));
        return &i + 1;
    }
};

/// The handler for one result type and any operand type.
template <class To>
void pick(type to, type from, handler& out)
{
    if (type_of<To>() != to) return;
    out = choose<convert_to<To>, u8, u16, u32, u64, s8, s16, s32, s64, float, double>(from);
}

handler conversion(type to, type from)
{
    handler out = nullptr;
    pick<u8>(to, from, out);
    pick<u16>(to, from, out);
    pick<u32>(to, from, out);
    pick<u64>(to, from, out);
    pick<s8>(to, from, out);
    pick<s16>(to, from, out);
    pick<s32>(to, from, out);
    pick<s64>(to, from, out);
    pick<float>(to, from, out);
    pick<double>(to, from, out);
    return out;
}

/// A half (mode 0) or bfloat16 (mode 1) as a double.
instruction const* widen(thread& t, instruction const& i)
{
    auto const bits = static_cast<u16>(t.slots[i.a]);
    set(t, i.d, double{i.mode ? to_float(bfloat{bits}) : to_float(half{bits})});
    return &i + 1;
}
constexpr u32 to_bits_bfloat = 1;
constexpr u32 to_bits_zero = 2;
constexpr u32 to_bits_pair = 4;
constexpr u32 to_bits_relu = 8;
/// Doubles at a (and b, the lower half of a pair) to half or bfloat16.
instruction const* shorten(thread& t, instruction const& i)
{
    auto const bits = [&](u32 slot) {
        auto v = get<double>(t, slot);
        if ((i.mode & to_bits_relu) && !(v > 0)) v = std::isnan(v) ? v : 0.0;
        bool const zero = (i.mode & to_bits_zero) != 0;
        return u64{i.mode & to_bits_bfloat ? to_bfloat(v, zero).bits : to_half(v, zero).bits};
    };
    t.slots[i.d] = i.mode & to_bits_pair ? bits(i.a) << 16 | bits(i.b) : bits(i.a);
    return &i + 1;
}

bool is_half(type t) { return t == type{'f', 2} || t.kind == 'g'; }

/// Operand `index` as a double in a slot.
u32 as_double(translator& x, std::size_t index, type from, u32 mode)
{
    auto const in = x.source(index, is_half(from) ? type{'b', 2} : from);
    auto const out = x.scratch();
    if (is_half(from))
        x.emit(widen, out, in, 0, 0, 0, from.kind == 'g' ? 1 : 0);
    else
        x.emit(x.known(conversion({'f', 8}, from)), out, in, 0, 0, 0, mode & float_mode::flush);
    return out;
}

void emit_to_half(translator& x, type to, type from, u32 mode)
{
    bool const pair = to.kind == 'h' || to.kind == 'k';
    x.expect_operands(pair ? 3 : 2, pair ? 3 : 2);
    if ((mode & float_mode::rounding_mask) > float_mode::to_zero ||
        (mode & (float_mode::saturate | to_whole)))
        x.fail("this rounding or saturation is not supported for half precision");
    u32 how = to.kind == 'g' || to.kind == 'k' ? to_bits_bfloat : 0;
    if (mode & float_mode::to_zero) how |= to_bits_zero;
    if (pair) how |= to_bits_pair;
    if (x.take("relu")) how |= to_bits_relu;
    auto const a = as_double(x, 1, from, mode);
    auto const b = pair ? as_double(x, 2, from, mode) : a;
    x.emit(shorten, x.target(0), a, b, 0, 0, how);
}

void emit_cvt(translator& x)
{
    type to = x.take_type();
    type from = x.take_type();
    u32 mode = 0;
    auto const integer_rounding = x.take_one_of({"rni", "rzi", "rmi", "rpi"});
    if (integer_rounding == "rzi")
        mode = float_mode::to_zero;
    else if (integer_rounding == "rmi")
        mode = float_mode::down;
    else if (integer_rounding == "rpi")
        mode = float_mode::up;
    else if (integer_rounding.empty())
        mode = take_rounding(x);
    if (!integer_rounding.empty()) mode |= to_whole;
    if (x.take("ftz")) mode |= float_mode::flush;
    if (x.take("sat")) mode |= float_mode::saturate;
    to = without_bits(to);
    from = without_bits(from);
    if (is_half(to) || to.kind == 'h' || to.kind == 'k') return emit_to_half(x, to, from, mode);
    x.expect_operands(2, 2);
    auto a = x.source(1, from);
    if (is_half(from)) {
        a = as_double(x, 1, from, 0);
        // The same answers as from float: a half has no NaN payload or subnormal that a float cannot hold.
        auto const single = x.scratch();
        x.emit(conversion({'f', 4}, {'f', 8}), single, a);
        a = single;
        from = {'f', 4};
    }
    x.emit(x.known(conversion(to, from)), x.target(0), a, 0, 0, 0, mode);
}

} // namespace

std::span<opcode_entry const> convert_opcodes()
{
    static constexpr opcode_entry table[] = {{"cvt", emit_cvt}};
    return table;
}

} // namespace omp_co_sim::ptx
