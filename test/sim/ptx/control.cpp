// SPDX-License-Identifier: BSL-1.0
// Branches, calls, ends, fences, clocks.
#include "translator.hpp"

#include <atomic>
#include <chrono>
#include <cstring>

namespace omp_co_sim::ptx {
namespace {

instruction const* jump_by_table(thread& t, instruction const& i)
{
    auto const& table = t.in->code->branch_tables[i.mode];
    auto const index = get<std::uint32_t>(t, i.a);
    if (index >= table.size()) return t.fail(i, fault_kind::illegal_instruction);
    return &t.in->code->code[table[index]];
}

instruction const* leave_kernel(thread& t, instruction const&)
{
    t.state = state::exited;
    return nullptr;
}

/// What a call adds to thread::path: its place, spread over the word.
std::uint64_t step(std::uint64_t return_index) { return (return_index + 1) * 0x9e37'79b9'7f4a'7c15; }

instruction const* leave_function(thread& t, instruction const& i)
{
    t.path -= step(t.slots[i.a]);
    return &t.in->code->code[t.slots[i.a]];
}

instruction const* trap(thread& t, instruction const& i) { return t.fail(i, fault_kind::trap); }

instruction const* fence(thread& t, instruction const& i)
{
    // An exchange, not std::atomic_thread_fence: race detectors understand it.
    static std::atomic<int> place;
    place.exchange(0);
    static_cast<void>(t);
    return &i + 1;
}

/// The end of the time slice comes as for any instruction; only the order of threads could tell.
instruction const* pass(thread&, instruction const& i) { return &i + 1; }

void emit_branch(translator& x)
{
    x.expect_operands(1, 1);
    x.take("uni");
    x.jump_to_label(x.emit(jump_always), 0);
}

void emit_indexed_branch(translator& x)
{
    x.expect_operands(2, 2);
    if (!x.take("idx")) x.fail("needs .idx");
    x.take("uni");
    auto const index = x.source(0, u32_type);
    x.emit(jump_by_table, slots::sink, index, 0, 0, 0, x.branch_table(1));
}

void emit_call(translator& x)
{
    x.take("uni");
    std::size_t next = 0;
    auto const list = [&]() -> operand const* {
        if (next >= x.count() || x.at(next).kind != operand_kind::list) return nullptr;
        return &x.at(next++);
    };
    auto const results = list();
    operand const& callee = x.at(next++);
    if (callee.kind != operand_kind::name) x.fail("calls through pointers are not supported");
    auto const arguments = list();
    if (next != x.count()) x.fail("calls through pointers are not supported");
    x.call(results, callee.name, arguments);
}

void emit_return(translator& x) { x.end_of_function(leave_kernel, leave_function); }
void emit_exit(translator& x) { x.emit(leave_kernel); }
void emit_trap(translator& x) { x.emit(trap); }

void emit_fence(translator& x)
{
    while (
        !x.take_one_of({"cta", "gl", "gpu", "sys", "cluster", "sc", "acq_rel", "proxy", "alias"}).empty()) {
    }
    x.emit(fence);
}

void emit_sleep(translator& x)
{
    x.expect_operands(1, 1);
    x.take_type();
    x.source(0, u32_type);
    x.emit(pass);
}

/// A string of the device's, as far as it can be read.
std::string text_at(thread& t, std::uint32_t local_offset)
{
    std::uint64_t address = 0;
    std::memcpy(&address, t.local + local_offset, sizeof(address));
    std::string out;
    while (out.size() < 1024) {
        auto const p = t.in->global(address++, 1, access::read);
        if (!p || *p == std::byte{0}) break;
        out += static_cast<char>(*p);
    }
    return out;
}

} // namespace

instruction const* jump_always(thread&, instruction const& i) { return &i + i.offset; }

instruction const* skip(thread&, instruction const& i) { return &i + 1 + i.offset; }

instruction const* enter_function(thread& t, instruction const& i)
{
    t.slots[i.d] = static_cast<std::uint64_t>(&i + 1 - t.in->code->code.data());
    t.path += step(t.slots[i.d]);
    return &i + i.offset;
}

instruction const* copy_local_bytes(thread& t, instruction const& i)
{
    std::memcpy(t.local + i.d, t.local + i.a, static_cast<std::size_t>(i.offset));
    return &i + 1;
}

instruction const* read_clock(thread& t, instruction const& i)
{
    using namespace std::chrono;
    auto const now =
        i.mode == 0 ? steady_clock::now().time_since_epoch() : system_clock::now().time_since_epoch();
    auto const ticks = static_cast<std::uint64_t>(duration_cast<nanoseconds>(now).count());
    set(t, i.d, i.e ? ticks >> 32 : ticks);
    return &i + 1;
}

instruction const* failed_assertion(thread& t, instruction const& i)
{
    std::uint32_t line = 0;
    std::memcpy(&line, t.local + i.b, sizeof(line));
    t.in->failed_words = text_at(t, i.a) + ":" + std::to_string(line) + ": " + text_at(t, i.c) +
                         ": assertion `" + text_at(t, i.d) + "` failed";
    return t.fail(i, fault_kind::assertion);
}

std::span<opcode_entry const> control_opcodes()
{
    static constexpr opcode_entry table[] = {
        {"bra", emit_branch},  {"brx", emit_indexed_branch}, {"call", emit_call},  {"ret", emit_return},
        {"exit", emit_exit},   {"trap", emit_trap},          {"brkpt", emit_trap}, {"membar", emit_fence},
        {"fence", emit_fence}, {"nanosleep", emit_sleep},
    };
    return table;
}

} // namespace omp_co_sim::ptx
