// SPDX-License-Identifier: BSL-1.0
// One kernel and the functions that it calls: where their variables and registers lie, calls, jumps, returns.
#include "translator.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace omp_co_sim::ptx {
namespace {

std::size_t round_up(std::size_t n, std::size_t alignment) { return (n + alignment - 1) & ~(alignment - 1); }

constexpr std::size_t local_limit = 512 * 1024;

} // namespace

std::int64_t translator::place_local(std::size_t size, std::size_t alignment)
{
    auto const at = round_up(out_.local_bytes, alignment);
    out_.local_bytes = at + size;
    if (out_.local_bytes > local_limit) fail("more local memory than a thread can have (512 KiB)");
    return static_cast<std::int64_t>(at);
}

std::int64_t translator::place_shared(declared const& d)
{
    auto const [entry, is_new] = shared_.try_emplace(d.name, 0);
    if (!is_new) return entry->second;
    auto const at = round_up(out_.static_shared_bytes, d.alignment);
    out_.static_shared_bytes = at + d.size;
    return entry->second = static_cast<std::int64_t>(at);
}

void translator::layout(linked& l)
{
    function const& f = *l.f;
    l.first_register = out_.slot_count;
    out_.slot_count += f.registers;
    l.return_slot = out_.slot_count++;
    l.variable_offsets.resize(f.variables.size());
    std::size_t parameters = 0;
    for (std::size_t i = 0; i < f.variables.size(); ++i) {
        declared const& d = f.variables[i];
        if (d.dynamic) fail("extern .shared inside a function is not supported");
        switch (d.where) {
        case space::kernel_parameter:
            parameters = round_up(parameters, d.alignment);
            l.variable_offsets[i] = static_cast<std::int64_t>(parameters);
            parameters += d.size;
            break;
        case space::shared:
            l.variable_offsets[i] = place_shared(d);
            break;
        default:
            l.variable_offsets[i] = place_local(d.size, d.alignment);
        }
    }
    if (f.is_kernel) out_.parameter_bytes = parameters;
}

translator::linked& translator::link(function const& f, std::string_view caller)
{
    if (!caller.empty()) callees_[caller].push_back(f.name);
    std::function<bool(std::string_view)> const leads_back = [&](std::string_view from) {
        if (from == caller) return true;
        auto const& next = callees_[from];
        return std::any_of(next.begin(), next.end(), leads_back);
    };
    if (!caller.empty() && leads_back(f.name))
        fail("recursion is not supported ('" + std::string{f.name} + "')");
    auto const [entry, is_new] = functions_.try_emplace(f.name);
    if (!is_new) return entry->second;
    entry->second.f = &f;
    auto* const before = std::exchange(current_, &entry->second);
    layout(entry->second);
    current_ = before ? before : current_;
    waiting_.push_back(f.name);
    return entry->second;
}

void translator::translate(function const& kernel)
{
    out_.kernel = std::string{kernel.name};
    link(kernel, {});
    while (!waiting_.empty()) {
        auto const name = waiting_.back();
        waiting_.pop_back();
        translate_body(functions_.at(name));
    }
    finish();
}

void translator::translate_body(linked& l)
{
    current_ = &l;
    l.entry = static_cast<std::uint32_t>(out_.code.size());
    jumps_.clear();
    tables_.clear();
    std::vector<std::uint32_t> starts;
    for (statement const& s : l.f->body) {
        starts.push_back(static_cast<std::uint32_t>(out_.code.size()));
        translate_statement(s);
    }
    starts.push_back(static_cast<std::uint32_t>(out_.code.size()));
    statement_ = nullptr;
    find_emitter("ret")(*this);
    auto const where = [&](std::uint32_t label) { return starts[l.f->labels[label]]; };
    for (auto const& j : jumps_)
        out_.code[j.instruction].offset =
            static_cast<std::int64_t>(where(j.label)) - static_cast<std::int64_t>(j.instruction);
    for (auto const& [mine, theirs] : tables_)
        for (auto const label : l.f->tables[theirs].labels) out_.branch_tables[mine].push_back(where(label));
}

void translator::finish()
{
    for (auto const& c : calls_) {
        auto const entry = functions_.at(c.callee).entry;
        out_.code[c.instruction].offset =
            static_cast<std::int64_t>(entry) - static_cast<std::int64_t>(c.instruction);
    }
    if (dynamic_shared_.empty()) return;
    out_.static_shared_bytes = round_up(out_.static_shared_bytes, 16);
    for (auto const slot : dynamic_shared_)
        for (auto& c : out_.constants)
            if (c.slot == slot) c.bits += out_.static_shared_bytes;
}

void translator::jump_to_label(instruction& i, std::size_t operand_index)
{
    operand const& o = at(operand_index);
    if (o.kind != operand_kind::label) fail("expected a label");
    jumps_.push_back({static_cast<std::size_t>(&i - out_.code.data()), o.index});
}

std::uint32_t translator::branch_table(std::size_t operand_index)
{
    operand const& o = at(operand_index);
    if (o.kind != operand_kind::name) fail("expected a list of branch targets");
    tables_.emplace_back(out_.branch_tables.size(), o.index);
    out_.branch_tables.emplace_back();
    return static_cast<std::uint32_t>(out_.branch_tables.size() - 1);
}

void translator::copy_local(std::int64_t to, std::int64_t from, std::size_t bytes)
{
    emit(copy_local_bytes, static_cast<std::uint32_t>(to), static_cast<std::uint32_t>(from)).offset =
        static_cast<std::int64_t>(bytes);
}

void translator::call(operand const* results, std::string_view callee, operand const* arguments)
{
    auto const found = unit_.function_named.find(callee);
    if (found == unit_.function_named.end()) fail("'" + std::string{callee} + "' is not a function");
    function const& f = unit_.functions[found->second];
    static std::vector<operand> const none;
    auto const& in = arguments ? arguments->elements : none;
    auto const& out = results ? results->elements : none;
    if (in.size() != f.parameters.size() || out.size() != f.results.size())
        fail("the call does not fit '" + std::string{callee} + "'");
    auto const local_offset = [&](operand const& o) {
        if (o.kind != operand_kind::local_symbol || current_->f->variables[o.index].where != space::parameter)
            fail("arguments and results of a call must be .param variables");
        return current_->variable_offsets[o.index];
    };
    if (callee == "__assertfail" && in.size() >= 4) {
        std::array<std::uint32_t, 4> at{};
        for (std::size_t i = 0; i < 4; ++i) at[i] = static_cast<std::uint32_t>(local_offset(in[i]));
        emit(failed_assertion, at[0], at[1], at[2], at[3]);
        return;
    }
    if (callee == "vprintf") fail("printf in a kernel is not supported");
    if (!f.has_body) fail("external function '" + std::string{callee} + "' is not supported");
    linked const& to = link(f, current_->f->name);
    auto const same_size = [&](operand const& o, std::uint32_t formal) {
        auto const size = f.variables[formal].size;
        if (current_->f->variables[o.index].size != size)
            fail("an argument's size differs from the parameter's");
        return size;
    };
    for (std::size_t i = 0; i < in.size(); ++i) {
        auto const from = local_offset(in[i]);
        copy_local(to.variable_offsets[f.parameters[i]], from, same_size(in[i], f.parameters[i]));
    }
    emit(enter_function, to.return_slot);
    calls_.push_back({out_.code.size() - 1, f.name});
    for (std::size_t i = 0; i < out.size(); ++i) {
        auto const into = local_offset(out[i]);
        copy_local(into, to.variable_offsets[f.results[i]], same_size(out[i], f.results[i]));
    }
}

void translator::end_of_function(handler exit_kernel, handler leave_function)
{
    if (current_->f->is_kernel)
        emit(exit_kernel);
    else
        emit(leave_function, slots::sink, current_->return_slot);
}

} // namespace omp_co_sim::ptx
