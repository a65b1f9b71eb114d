// SPDX-License-Identifier: BSL-1.0
// Turns the statements of a kernel and of the functions that it calls into a program. The groups of instructions
// (integer.cpp, memory.cpp, …) each bring a table from opcode to a function that emits what the opcode does.
#pragma once

#include "program.hpp"
#include "syntax.hpp"
#include "thread.hpp"

#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace omp_co_sim::ptx {

class translator {
public:
    translator(unit const& u, program& out) : unit_{u}, out_{out} {}

    /// The whole program of one kernel.
    void translate(function const& kernel);

    // For the statement that is being translated:

    std::size_t count() const noexcept { return statement_->operands.size(); }
    operand const& at(std::size_t index) const;
    std::string_view opcode() const noexcept { return statement_->opcode; }
    void expect_operands(std::size_t least, std::size_t most) const;

    /// Takes a modifier out of those still to be understood; what is left at the end is an error.
    bool take(std::string_view modifier);
    /// The first of these that is there, taken; empty when none is.
    std::string_view take_one_of(std::initializer_list<std::string_view> modifiers);
    /// The first modifier that is a type, taken.
    type take_type();
    /// The same, left in its place.
    type peek_type() const;

    /// A slot to read: a register, a constant, a special register, the address of a variable, a negated predicate.
    std::uint32_t source(std::size_t index, type t) { return source(at(index), t); }
    std::uint32_t source(operand const& o, type t);
    /// A slot to write.
    std::uint32_t target(std::size_t index) { return target(at(index)); }
    std::uint32_t target(operand const& o) const;
    /// The slot of q in p|q; slots::sink when there is none.
    std::uint32_t second_target(std::size_t index) const;
    /// A slot for a value in between.
    std::uint32_t scratch() { return out_.slot_count++; }
    std::uint32_t constant(std::uint64_t bits);

    /// An address operand: base slot, offset, and the space in which they are meant.
    struct place {
        std::uint32_t base;
        std::int64_t offset;
        space where;
    };
    place address(std::size_t index, space where);

    instruction& emit(handler run, std::uint32_t d = slots::sink, std::uint32_t a = 0, std::uint32_t b = 0,
                      std::uint32_t c = 0, std::uint32_t e = 0, std::uint32_t mode = 0);
    /// `run` or, when it is null, an error about the type.
    handler known(handler run) const;

    // Control flow:
    void jump_to_label(instruction& i, std::size_t operand_index);
    std::uint32_t branch_table(std::size_t operand_index);
    void call(operand const* results, std::string_view callee, operand const* arguments);
    void end_of_function(handler exit_kernel, handler leave_function);

    [[noreturn]] void fail(std::string const& message) const;

private:
    struct linked {
        function const* f = nullptr;
        std::uint32_t first_register = 0;
        std::uint32_t return_slot = 0;
        std::vector<std::int64_t> variable_offsets; ///< in local, shared or parameter memory
        std::uint32_t entry = 0;
    };

    linked& link(function const& f, std::string_view caller);
    void layout(linked& l);
    void translate_body(linked& l);
    void translate_statement(statement const& s);
    std::uint32_t variable_address(operand const& o);
    std::uint32_t special(std::string_view name);
    std::uint32_t global_slot(std::size_t global, std::int64_t addend);
    std::int64_t place_local(std::size_t size, std::size_t alignment);
    std::int64_t place_shared(declared const& d);
    void copy_local(std::int64_t to, std::int64_t from, std::size_t bytes);
    void finish();

    struct jump {
        std::size_t instruction;
        std::uint32_t label;
    };
    struct call_site {
        std::size_t instruction;
        std::string_view callee;
    };

    unit const& unit_;
    program& out_;
    linked* current_ = nullptr;
    statement const* statement_ = nullptr;
    std::vector<std::string_view> modifiers_;
    std::vector<jump> jumps_;
    std::vector<std::pair<std::size_t, std::size_t>> tables_; ///< program's table, function's table
    std::vector<call_site> calls_;
    std::map<std::string_view, linked> functions_;
    std::vector<std::string_view> waiting_; ///< linked, body not yet translated
    std::map<std::string_view, std::vector<std::string_view>> callees_;
    std::unordered_map<std::uint64_t, std::uint32_t> constants_;
    std::map<std::pair<std::size_t, std::int64_t>, std::uint32_t> global_slots_;
    std::map<std::string_view, std::int64_t> shared_;
    std::vector<std::uint32_t>
        dynamic_shared_; ///< slots that hold offsets from the beginning of dynamic memory
};

/// The state space that the statement names, taken; generic when it names none. `.param::func` and the like too.
space take_space(translator& x);
/// Takes what only concerns caches.
void take_cache_hints(translator& x);
/// Takes .volatile, .relaxed, .acquire, .release, .acq_rel and a scope; true when one of them was there.
bool take_strength(translator& x);

using emitter = void (*)(translator&);
struct opcode_entry {
    std::string_view opcode;
    emitter emit;
};

std::span<opcode_entry const> integer_opcodes();
std::span<opcode_entry const> wide_opcodes();
std::span<opcode_entry const> bit_opcodes();
std::span<opcode_entry const> float_opcodes();
std::span<opcode_entry const> compare_opcodes();
std::span<opcode_entry const> convert_opcodes();
std::span<opcode_entry const> move_opcodes();
std::span<opcode_entry const> memory_opcodes();
std::span<opcode_entry const> atomic_opcodes();
std::span<opcode_entry const> control_opcodes();
std::span<opcode_entry const> warp_opcodes();

/// The emitter of an opcode; null when it is not known.
emitter find_emitter(std::string_view opcode);

/// add, sub, mul, fma and the like for the float types.
void emit_float(translator& x);
/// The same for half precision and bfloat16, single and packed; the type is taken already.
void emit_half(translator& x, type t);
/// add, sub and mad with .cc, and those that take the carry in.
void emit_with_carry(translator& x);

/// Reads a clock into slot d; mode 0: cycles (nanoseconds here), 1: globaltimer.
instruction const* read_clock(thread& t, instruction const& i);
/// Jumps over the next `offset` instructions.
instruction const* skip(thread& t, instruction const& i);
instruction const* jump_always(thread& t, instruction const& i);
instruction const* enter_function(thread& t, instruction const& i);
instruction const* copy_local_bytes(thread& t, instruction const& i);
instruction const* not_predicate(thread& t, instruction const& i);
/// A failed `assert`: message, file, line, function in local memory at d, a, b, c.
instruction const* failed_assertion(thread& t, instruction const& i);

template <class T>
constexpr type type_of()
{
    if constexpr (std::is_same_v<T, bool>)
        return {'p', 1};
    else if constexpr (std::is_floating_point_v<T>)
        return {'f', sizeof(T)};
    else
        return {std::is_signed_v<T> ? 's' : 'u', sizeof(T)};
}

/// `Group::run<T>` for the one of `Ts` that is `t`; null when none is.
template <class Group, class... Ts>
handler choose(type t)
{
    handler out = nullptr;
    ((type_of<Ts>() == t ? void(out = &Group::template run<Ts>) : void()), ...);
    return out;
}

/// The unsigned integer type of the same size: for what does not look at the sign.
constexpr type plain(type t) { return {'u', t.size}; }
/// b-types as unsigned, others as they are.
constexpr type without_bits(type t) { return t.kind == 'b' ? plain(t) : t; }

/// d = Op(a), d = Op(a, b), d = Op(a, b, c) for operands of one type.
template <class Op>
struct unary {
    template <class T>
    static instruction const* run(thread& t, instruction const& i)
    {
        set(t, i.d, Op::of(get<T>(t, i.a)));
        return &i + 1;
    }
};
template <class Op>
struct binary {
    template <class T>
    static instruction const* run(thread& t, instruction const& i)
    {
        set(t, i.d, Op::of(get<T>(t, i.a), get<T>(t, i.b)));
        return &i + 1;
    }
};
template <class Op>
struct ternary {
    template <class T>
    static instruction const* run(thread& t, instruction const& i)
    {
        set(t, i.d, Op::of(get<T>(t, i.a), get<T>(t, i.b), get<T>(t, i.c)));
        return &i + 1;
    }
};

constexpr bool is_float(type t) { return t.kind == 'f' || t.kind == 'g' || t.kind == 'h' || t.kind == 'k'; }

inline constexpr type predicate_type{'p', 1};
inline constexpr type u32_type{'u', 4};

} // namespace omp_co_sim::ptx
