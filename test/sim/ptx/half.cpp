// SPDX-License-Identifier: BSL-1.0
// Arithmetic of half precision and bfloat16, single and packed: computed in double, rounded once more to the format.
#include "half.hpp"

#include "rounding.hpp"
#include "translator.hpp"

namespace omp_co_sim::ptx {
namespace {

enum operation : std::uint32_t { add, sub, mul, fma, least, greatest, neg, abs };
constexpr std::uint32_t operation_shift = 8; ///< in instruction::mode, above the bits of float_mode

double computed(std::uint32_t what, double a, double b, double c)
{
    switch (what) {
    case add:
        return a + b;
    case sub:
        return a - b;
    case mul:
        return a * b;
    case fma:
        return std::fma(a, b, c);
    case least:
        return std::fmin(a, b);
    case greatest:
        return std::fmax(a, b);
    case neg:
        return -a;
    default:
        return std::fabs(a);
    }
}

half encode(double v, half) { return to_half(v); }
bfloat encode(double v, bfloat) { return to_bfloat(v); }

template <class Format, int Lanes>
instruction const* run(thread& t, instruction const& i)
{
    std::uint64_t out = 0;
    for (int lane = 0; lane < Lanes; ++lane) {
        auto const in = [&](std::uint32_t slot) {
            return double{to_float(Format{static_cast<std::uint16_t>(t.slots[slot] >> (16 * lane))})};
        };
        double const a = in(i.a);
        double const b = in(i.b);
        double v = computed(i.mode >> operation_shift, a, b, in(i.c));
        if ((i.mode & float_mode::keep_nan) && (std::isnan(a) || std::isnan(b))) v = std::nan("");
        if (i.mode & float_mode::saturate) v = saturated(v);
        out |= std::uint64_t{encode(v, Format{}).bits} << (16 * lane);
    }
    t.slots[i.d] = out;
    return &i + 1;
}

} // namespace

void emit_half(translator& x, type t)
{
    static constexpr std::string_view names[] = {"add", "sub", "mul", "fma", "min", "max", "neg", "abs"};
    std::uint32_t what = 0;
    while (what < 8 && names[what] != x.opcode()) ++what;
    if (what == 8) x.fail("not supported for half precision");
    x.take("rn");
    std::uint32_t mode = what << operation_shift;
    if (x.take("sat")) mode |= float_mode::saturate;
    if (x.take("NaN")) mode |= float_mode::keep_nan;
    std::size_t const count = what == fma ? 3 : what >= neg ? 1 : 2;
    x.expect_operands(count + 1, count + 1);
    std::uint32_t in[3] = {};
    for (std::size_t n = 0; n < count; ++n) in[n] = x.source(n + 1, {'b', t.size});
    auto const run_it = t.kind == 'f'   ? &run<half, 1>
                        : t.kind == 'g' ? &run<bfloat, 1>
                        : t.kind == 'h' ? &run<half, 2>
                                        : &run<bfloat, 2>;
    x.emit(run_it, x.target(0), in[0], in[1], in[2], 0, mode);
}

} // namespace omp_co_sim::ptx
