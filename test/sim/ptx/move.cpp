// SPDX-License-Identifier: BSL-1.0
// Moves, packing and unpacking, addresses between the spaces.
#include "translator.hpp"

namespace omp_co_sim::ptx {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

instruction const* copy(thread& t, instruction const& i)
{
    t.slots[i.d] = t.slots[i.a];
    return &i + 1;
}

/// d = d with the low `mode` bits of a at bit `offset`; the first part (offset 0) clears the rest.
instruction const* put_part(thread& t, instruction const& i)
{
    u64 const part = t.slots[i.a] & ((u64{1} << i.mode) - 1);
    t.slots[i.d] = i.offset == 0 ? part : t.slots[i.d] | part << i.offset;
    return &i + 1;
}
/// d = `mode` bits of a from bit `offset`.
instruction const* take_part(thread& t, instruction const& i)
{
    t.slots[i.d] = t.slots[i.a] >> i.offset & ((u64{1} << i.mode) - 1);
    return &i + 1;
}

u32 part_width(translator& x, type t, std::size_t parts)
{
    if (parts != 2 && parts != 4) x.fail("two or four parts make a whole");
    return static_cast<u32>(8 * t.size / parts);
}

void emit_move(translator& x)
{
    x.expect_operands(2, 2);
    type const t = x.take_type();
    operand const& to = x.at(0);
    operand const& from = x.at(1);
    if (from.kind == operand_kind::list) {
        // By way of a scratch slot: the result may be one of the parts.
        auto const width = part_width(x, t, from.elements.size());
        auto const whole = x.scratch();
        u32 at = 0;
        for (operand const& part : from.elements) {
            auto const slot = x.source(part, {'b', static_cast<std::uint8_t>(width / 8)});
            x.emit(put_part, whole, slot, 0, 0, 0, width).offset = at;
            at += width;
        }
        x.emit(copy, x.target(to), whole);
        return;
    }
    auto const value = x.source(from, t);
    if (to.kind != operand_kind::list) {
        x.emit(copy, x.target(to), value);
        return;
    }
    auto const width = part_width(x, t, to.elements.size());
    auto const whole = x.scratch();
    x.emit(copy, whole, value);
    u32 at = 0;
    for (operand const& part : to.elements) {
        if (part.kind != operand_kind::nothing)
            x.emit(take_part, x.target(part), whole, 0, 0, 0, width).offset = at;
        at += width;
    }
}

u64 window_of(translator& x, space where)
{
    switch (where) {
    case space::shared:
        return windows::shared;
    case space::local:
        return windows::local;
    case space::generic:
        x.fail("needs a state space");
    default:
        return 0; // the addresses are generic ones already
    }
}

instruction const* add_window(thread& t, instruction const& i)
{
    t.slots[i.d] = t.slots[i.a] + static_cast<u64>(i.offset);
    return &i + 1;
}

void emit_convert_address(translator& x)
{
    x.expect_operands(2, 2);
    bool const to_space = x.take("to");
    u64 const window = window_of(x, take_space(x));
    type const t = x.take_type();
    if (t.size != 8) x.fail("only 64-bit addresses are supported");
    auto const a = x.source(1, t);
    x.emit(add_window, x.target(0), a).offset =
        static_cast<std::int64_t>(to_space ? u64{0} - window : window);
}

/// mode: the upper half of the window; 0: none of the windows.
instruction const* is_in_window(thread& t, instruction const& i)
{
    u64 const window = t.slots[i.a] & windows::mask;
    bool const special =
        window == windows::shared || window == windows::local || window == windows::parameters;
    t.slots[i.d] = i.mode ? window == u64{i.mode} << 32 : !special;
    return &i + 1;
}

void emit_is_space(translator& x)
{
    x.expect_operands(2, 2);
    auto const where = take_space(x);
    if (where == space::constant) x.fail("constant memory cannot be told from global memory");
    u64 const window = where == space::parameter ? windows::parameters : window_of(x, where);
    auto const a = x.source(1, {'u', 8});
    x.emit(is_in_window, x.target(0), a, 0, 0, 0, static_cast<u32>(window >> 32));
}

} // namespace

std::span<opcode_entry const> move_opcodes()
{
    static constexpr opcode_entry table[] = {
        {"mov", emit_move},
        {"cvta", emit_convert_address},
        {"isspacep", emit_is_space},
    };
    return table;
}

} // namespace omp_co_sim::ptx
