// SPDX-License-Identifier: BSL-1.0
// Statements to instructions: operands to slots, modifiers, guards.
#include "translator.hpp"

#include <algorithm>
#include <bit>

namespace omp_co_sim::ptx {

void translator::fail(std::string const& message) const
{
    std::string text;
    if (statement_) {
        text = std::string{statement_->opcode};
        for (auto const m : statement_->modifiers) text += "." + std::string{m};
        text += ": ";
    }
    throw parse_error{statement_ ? statement_->line : current_->f->line, text + message};
}

operand const& translator::at(std::size_t index) const
{
    if (index >= statement_->operands.size()) fail("too few operands");
    return statement_->operands[index];
}

void translator::expect_operands(std::size_t least, std::size_t most) const
{
    if (count() < least || count() > most) fail("unexpected number of operands");
}

bool translator::take(std::string_view modifier)
{
    auto const found = std::find(modifiers_.begin(), modifiers_.end(), modifier);
    if (found == modifiers_.end()) return false;
    modifiers_.erase(found);
    return true;
}

std::string_view translator::take_one_of(std::initializer_list<std::string_view> modifiers)
{
    for (auto const m : modifiers)
        if (take(m)) return m;
    return {};
}

type translator::take_type()
{
    for (auto m = modifiers_.begin(); m != modifiers_.end(); ++m) {
        auto const t = type_named("." + std::string{*m});
        if (!t) continue;
        modifiers_.erase(m);
        return *t;
    }
    fail("no type that is known");
}

type translator::peek_type() const
{
    for (auto const m : modifiers_)
        if (auto const t = type_named("." + std::string{m})) return *t;
    fail("no type that is known");
}

handler translator::known(handler run) const
{
    if (!run) fail("not supported for this type");
    return run;
}

std::uint32_t translator::constant(std::uint64_t bits)
{
    if (bits == 0) return slots::zero;
    auto const [entry, is_new] = constants_.try_emplace(bits, out_.slot_count);
    if (is_new) out_.constants.push_back({out_.slot_count++, bits});
    return entry->second;
}

std::uint32_t translator::global_slot(std::size_t global, std::int64_t addend)
{
    auto const [entry, is_new] = global_slots_.try_emplace({global, addend}, out_.slot_count);
    if (is_new) out_.global_addresses.push_back({out_.slot_count++, global, addend});
    return entry->second;
}

std::uint32_t translator::source(operand const& o, type t)
{
    if (o.address || o.has_second) fail("unexpected form of an operand");
    bool const single = t.kind == 'f' && t.size == 4;
    bool const wide = t.kind == 'f' && t.size == 8;
    if (o.negated && o.kind != operand_kind::reg) fail("only a predicate can be negated");
    switch (o.kind) {
    case operand_kind::reg: {
        if (o.offset != 0) fail("an offset outside an address");
        auto const slot = current_->first_register + o.index;
        if (!o.negated) return slot;
        auto const out = scratch();
        emit(not_predicate, out, slot);
        return out;
    }
    case operand_kind::bits:
        if (single || wide) fail("an integer constant where a float is wanted");
        return constant(t.size < 8 && t.kind != 's' ? o.bits & ((std::uint64_t{1} << (8 * t.size)) - 1)
                                                    : o.bits);
    case operand_kind::float32:
        if (!wide) return constant(o.bits);
        return constant(std::bit_cast<std::uint64_t>(
            static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(o.bits)))));
    case operand_kind::float64:
        if (!single) return constant(o.bits);
        return constant(std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(o.bits))));
    case operand_kind::special:
        return special(o.name);
    case operand_kind::local_symbol:
    case operand_kind::module_symbol:
        return variable_address(o);
    case operand_kind::name:
        if (o.name == "WARP_SZ") return constant(32);
        fail("'" + std::string{o.name} + "' is not known");
    default:
        fail("unexpected kind of operand");
    }
}

std::uint32_t translator::target(operand const& o) const
{
    if (o.kind == operand_kind::nothing) return slots::sink;
    if (o.kind != operand_kind::reg || o.address || o.negated) fail("the result must go to a register");
    return current_->first_register + o.index;
}

std::uint32_t translator::second_target(std::size_t index) const
{
    auto const& o = at(index);
    return o.second ? current_->first_register + *o.second : slots::sink;
}

std::uint32_t translator::variable_address(operand const& o)
{
    if (o.kind == operand_kind::module_symbol) {
        declared const& d = unit_.variables[o.index];
        if (d.external) fail("external variable '" + std::string{d.name} + "' is not supported");
        if (d.dynamic) {
            auto const slot = out_.slot_count++;
            dynamic_shared_.push_back(slot);
            out_.constants.push_back({slot, static_cast<std::uint64_t>(o.offset)});
            return slot;
        }
        if (d.where == space::shared) return constant(static_cast<std::uint64_t>(place_shared(d) + o.offset));
        return global_slot(d.global, o.offset);
    }
    declared const& d = current_->f->variables[o.index];
    auto const offset = static_cast<std::uint64_t>(current_->variable_offsets[o.index] + o.offset);
    if (d.where == space::kernel_parameter) return constant(windows::parameters | offset);
    if (d.where == space::parameter) return constant(windows::local | offset);
    return constant(offset);
}

translator::place translator::address(std::size_t index, space where)
{
    operand const& o = at(index);
    if (!o.address) fail("expected an address in brackets");
    if (o.kind == operand_kind::reg)
        return {current_->first_register + o.index, o.offset,
                where == space::parameter ? space::generic : where};
    if (o.kind == operand_kind::bits) return {slots::zero, static_cast<std::int64_t>(o.bits), where};
    if (o.kind == operand_kind::module_symbol) {
        operand whole = o;
        whole.offset = 0;
        auto const of = unit_.variables[o.index].where;
        if (where != of && !(where == space::generic && (of == space::global || of == space::constant)))
            fail("'" + std::string{o.name} + "' is in another state space");
        return {variable_address(whole), o.offset, where};
    }
    if (o.kind != operand_kind::local_symbol) fail("'" + std::string{o.name} + "' is not known");
    declared const& d = current_->f->variables[o.index];
    bool const parameter = d.where == space::parameter || d.where == space::kernel_parameter;
    if (where != (parameter ? space::parameter : d.where))
        fail("'" + std::string{o.name} + "' is in another state space");
    auto const effective = d.where == space::parameter ? space::local : d.where;
    return {slots::zero, current_->variable_offsets[o.index] + o.offset, effective};
}

std::uint32_t translator::special(std::string_view name)
{
    struct row {
        std::string_view name;
        std::uint32_t slot;
    };
    static constexpr row rows[] = {
        {"%tid.x", slots::tid_x},
        {"%tid.y", slots::tid_y},
        {"%tid.z", slots::tid_z},
        {"%ctaid.x", slots::ctaid_x},
        {"%ctaid.y", slots::ctaid_y},
        {"%ctaid.z", slots::ctaid_z},
        {"%ntid.x", slots::ntid_x},
        {"%ntid.y", slots::ntid_y},
        {"%ntid.z", slots::ntid_z},
        {"%nctaid.x", slots::nctaid_x},
        {"%nctaid.y", slots::nctaid_y},
        {"%nctaid.z", slots::nctaid_z},
        {"%laneid", slots::laneid},
        {"%warpid", slots::warpid},
        {"%nwarpid", slots::nwarpid},
        {"%lanemask_eq", slots::lanemask_eq},
        {"%lanemask_lt", slots::lanemask_lt},
        {"%lanemask_le", slots::lanemask_le},
        {"%lanemask_gt", slots::lanemask_gt},
        {"%lanemask_ge", slots::lanemask_ge},
        {"%dynamic_smem_size", slots::dynamic_shared_size},
        {"%total_smem_size", slots::total_shared_size},
        {"%smid", slots::zero},
        {"%gridid", slots::zero},
    };
    for (row const& r : rows)
        if (r.name == name) return r.slot;
    if (name == "%nsmid") return constant(1);
    bool const cycles = name == "%clock" || name == "%clock64" || name == "%clock_hi";
    if (!cycles && name != "%globaltimer" && name != "%globaltimer_lo" && name != "%globaltimer_hi")
        fail("special register '" + std::string{name} + "' is not supported");
    auto const slot = scratch();
    emit(read_clock, slot, 0, 0, 0, name.ends_with("_hi") ? 1 : 0, cycles ? 0 : 1);
    return slot;
}

instruction& translator::emit(handler run, std::uint32_t d, std::uint32_t a, std::uint32_t b, std::uint32_t c,
                              std::uint32_t e, std::uint32_t mode)
{
    instruction i;
    i.run = run;
    i.d = d;
    i.a = a;
    i.b = b;
    i.c = c;
    i.e = e;
    i.mode = mode;
    program::origin from{"end of function", current_->f->line};
    if (statement_) {
        from = {std::string{statement_->opcode}, statement_->line};
        for (auto const m : statement_->modifiers) from.text += "." + std::string{m};
    }
    out_.origins.push_back(std::move(from));
    out_.code.push_back(i);
    return out_.code.back();
}

void translator::translate_statement(statement const& s)
{
    statement_ = &s;
    modifiers_ = s.modifiers;
    auto const found = find_emitter(s.opcode);
    if (!found) fail("this instruction is not supported");
    auto const start = out_.code.size();
    found(*this);
    if (!modifiers_.empty()) fail("modifier ." + std::string{modifiers_.front()} + " is not supported here");
    if (!s.guard) return;
    auto const emitted = out_.code.size() - start;
    if (emitted == 0) return;
    auto const guard = current_->first_register + *s.guard;
    std::uint32_t const wanted = s.guard_negated ? 0 : 1;
    if (emitted == 1) {
        out_.code[start].guard = guard;
        out_.code[start].wanted = wanted;
        return;
    }
    instruction over;
    over.run = skip;
    over.offset = static_cast<std::int64_t>(emitted);
    over.guard = guard;
    over.wanted = 1 - wanted;
    out_.code.insert(out_.code.begin() + static_cast<std::ptrdiff_t>(start), over);
    out_.origins.insert(out_.origins.begin() + static_cast<std::ptrdiff_t>(start), out_.origins[start]);
    for (auto& j : jumps_) j.instruction += j.instruction >= start ? 1 : 0;
    for (auto& c : calls_) c.instruction += c.instruction >= start ? 1 : 0;
}

emitter find_emitter(std::string_view opcode)
{
    static auto const table = [] {
        std::unordered_map<std::string_view, emitter> out;
        for (auto const& group : {integer_opcodes(), wide_opcodes(), bit_opcodes(), float_opcodes(),
                                  compare_opcodes(), convert_opcodes(), move_opcodes(), memory_opcodes(),
                                  atomic_opcodes(), control_opcodes(), warp_opcodes()})
            for (auto const& entry : group) out[entry.opcode] = entry.emit;
        return out;
    }();
    auto const found = table.find(opcode);
    return found == table.end() ? nullptr : found->second;
}

} // namespace omp_co_sim::ptx
