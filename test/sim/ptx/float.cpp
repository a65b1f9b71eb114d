// SPDX-License-Identifier: BSL-1.0
// Arithmetic and elementary functions of float and double. The approximate forms are as exact as the host's library.
#include "rounding.hpp"
#include "translator.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_map>

namespace omp_co_sim::ptx {
namespace {

struct plus {
    template <class T>
    static T of(T a, T b)
    {
        return a + b;
    }
};
struct minus {
    template <class T>
    static T of(T a, T b)
    {
        return a - b;
    }
};
struct product {
    template <class T>
    static T of(T a, T b)
    {
        return a * b;
    }
};
struct quotient {
    template <class T>
    static T of(T a, T b)
    {
        return a / b;
    }
};
struct fused {
    template <class T>
    static T of(T a, T b, T c)
    {
        return std::fma(a, b, c);
    }
};
/// A NaN loses against a number; -0 is below +0.
struct smaller {
    template <class T>
    static T of(T a, T b)
    {
        if (std::isnan(a)) return b;
        if (a == b) return std::signbit(a) ? a : b;
        return b < a ? b : a;
    }
};
struct larger {
    template <class T>
    static T of(T a, T b)
    {
        if (std::isnan(a)) return b;
        if (a == b) return std::signbit(a) ? b : a;
        return a < b ? b : a;
    }
};
struct magnitude {
    template <class T>
    static T of(T a)
    {
        return std::fabs(a);
    }
};
struct negation {
    template <class T>
    static T of(T a)
    {
        return -a;
    }
};
struct square_root {
    template <class T>
    static T of(T a)
    {
        return std::sqrt(a);
    }
};
struct reciprocal {
    template <class T>
    static T of(T a)
    {
        return T{1} / a;
    }
};
struct reciprocal_root {
    template <class T>
    static T of(T a)
    {
        return T{1} / std::sqrt(a);
    }
};
struct sine {
    static float of(float a) { return std::sin(a); }
};
struct cosine {
    static float of(float a) { return std::cos(a); }
};
struct exponential {
    static float of(float a) { return std::exp2(a); }
};
struct logarithm {
    static float of(float a) { return std::log2(a); }
};
struct hyperbolic_tangent {
    static float of(float a) { return std::tanh(a); }
};
struct sign_of_first {
    template <class T>
    static T of(T a, T b)
    {
        return std::copysign(b, a);
    }
};

template <class T>
T finish(std::uint32_t mode, T v)
{
    if (mode & float_mode::flush) v = flushed(v);
    return mode & float_mode::saturate ? saturated(v) : v;
}
template <class T>
T operand_of(thread const& t, instruction const& i, std::uint32_t slot)
{
    T const v = get<T>(t, slot);
    return i.mode & float_mode::flush ? flushed(v) : v;
}

/// The forms with modifiers.
template <class Op, int Operands>
struct careful {
    template <class T>
    static instruction const* run(thread& t, instruction const& i)
    {
        T const a = operand_of<T>(t, i, i.a);
        T out{};
        if constexpr (Operands == 1) {
            out = rounded(
                i.mode, [](T x) { return Op::of(x); }, a);
        } else if constexpr (Operands == 2) {
            T const b = operand_of<T>(t, i, i.b);
            bool const nan = (i.mode & float_mode::keep_nan) && (std::isnan(a) || std::isnan(b));
            out = nan ? std::numeric_limits<T>::quiet_NaN()
                      : rounded(
                            i.mode, [](T x, T y) { return Op::of(x, y); }, a, b);
        } else {
            T const b = operand_of<T>(t, i, i.b);
            T const c = operand_of<T>(t, i, i.c);
            out = rounded(
                i.mode, [](T x, T y, T z) { return Op::of(x, y, z); }, a, b, c);
        }
        set(t, i.d, finish(i.mode, out));
        return &i + 1;
    }
};

struct row {
    int operands;
    handler single; ///< without modifiers
    handler wide;
    handler careful_single;
    handler careful_wide;
};

template <class Op>
constexpr row row_1{1, &unary<Op>::template run<float>, &unary<Op>::template run<double>,
                    &careful<Op, 1>::template run<float>, &careful<Op, 1>::template run<double>};
template <class Op>
constexpr row single_1{1, &unary<Op>::template run<float>, nullptr, &careful<Op, 1>::template run<float>,
                       nullptr};
template <class Op>
constexpr row row_2{2, &binary<Op>::template run<float>, &binary<Op>::template run<double>,
                    &careful<Op, 2>::template run<float>, &careful<Op, 2>::template run<double>};
template <class Op>
constexpr row row_3{3, &ternary<Op>::template run<float>, &ternary<Op>::template run<double>,
                    &careful<Op, 3>::template run<float>, &careful<Op, 3>::template run<double>};

row const& row_of(translator& x)
{
    static std::unordered_map<std::string_view, row> const rows = {
        {"add", row_2<plus>},
        {"sub", row_2<minus>},
        {"mul", row_2<product>},
        {"div", row_2<quotient>},
        {"fma", row_3<fused>},
        {"mad", row_3<fused>},
        {"min", row_2<smaller>},
        {"max", row_2<larger>},
        {"abs", row_1<magnitude>},
        {"neg", row_1<negation>},
        {"sqrt", row_1<square_root>},
        {"rcp", row_1<reciprocal>},
        {"rsqrt", row_1<reciprocal_root>},
        {"copysign", row_2<sign_of_first>},
        {"sin", single_1<sine>},
        {"cos", single_1<cosine>},
        {"ex2", single_1<exponential>},
        {"lg2", single_1<logarithm>},
        {"tanh", single_1<hyperbolic_tangent>},
    };
    auto const found = rows.find(x.opcode());
    if (found == rows.end()) x.fail("not supported for float types");
    return found->second;
}

enum property : std::uint32_t { finite, infinite, number, notanumber, normal, subnormal };

struct test_property {
    template <class T>
    static instruction const* run(thread& t, instruction const& i)
    {
        T const v = get<T>(t, i.a);
        bool out = false;
        switch (i.mode) {
        case finite:
            out = std::isfinite(v);
            break;
        case infinite:
            out = std::isinf(v);
            break;
        case number:
            out = !std::isnan(v);
            break;
        case notanumber:
            out = std::isnan(v);
            break;
        case normal:
            out = std::isnormal(v);
            break;
        default:
            out = std::fpclassify(v) == FP_SUBNORMAL;
        }
        set(t, i.d, std::uint32_t{out});
        return &i + 1;
    }
};

void emit_test(translator& x)
{
    x.expect_operands(2, 2);
    type const t = x.take_type();
    static constexpr std::string_view names[] = {"finite",     "infinite", "number",
                                                 "notanumber", "normal",   "subnormal"};
    std::uint32_t mode = 0;
    while (mode < 6 && !x.take(names[mode])) ++mode;
    if (mode == 6) x.fail("needs a property");
    auto const a = x.source(1, t);
    x.emit(x.known(choose<test_property, float, double>(t)), x.target(0), a, 0, 0, 0, mode);
}

} // namespace

void emit_float(translator& x)
{
    row const& r = row_of(x);
    type const t = x.take_type();
    if (t != type{'f', 4} && t != type{'f', 8}) return emit_half(x, t);
    bool const single = t.size == 4;
    std::uint32_t mode = take_rounding(x);
    for (auto const exact : {"approx", "full"}) x.take(exact);
    if (x.take("ftz")) mode |= float_mode::flush;
    if (x.take("sat")) mode |= float_mode::saturate;
    if (x.take("NaN")) mode |= float_mode::keep_nan;
    auto const count = static_cast<std::size_t>(r.operands);
    x.expect_operands(count + 1, count + 1);
    std::uint32_t in[3] = {};
    for (std::size_t n = 0; n < count; ++n) in[n] = x.source(n + 1, t);
    auto const run = mode == 0 ? (single ? r.single : r.wide) : (single ? r.careful_single : r.careful_wide);
    x.emit(x.known(run), x.target(0), in[0], in[1], in[2], 0, mode);
}

std::span<opcode_entry const> float_opcodes()
{
    static constexpr opcode_entry table[] = {
        {"fma", emit_float},  {"sqrt", emit_float}, {"rcp", emit_float},      {"rsqrt", emit_float},
        {"sin", emit_float},  {"cos", emit_float},  {"ex2", emit_float},      {"lg2", emit_float},
        {"tanh", emit_float}, {"testp", emit_test}, {"copysign", emit_float},
    };
    return table;
}

} // namespace omp_co_sim::ptx
