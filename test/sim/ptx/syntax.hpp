// SPDX-License-Identifier: BSL-1.0
// What the parser makes of a module's text: functions with statements whose names are resolved to registers and
// variables. It points into the text and lives only as long as `parse` runs.
#pragma once

#include "interpreter.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace omp_co_sim::ptx {

/// A type as instructions name it: 'p' predicate, 'b' bits, 'u', 's', 'f' float, 'g' bfloat16, 'h' packed halves,
/// 'k' packed bfloat16.
struct type {
    char kind = 0;
    std::uint8_t size = 0;
    friend bool operator==(type, type) = default;
};

/// `dotted` with its dot; empty when it is no type.
std::optional<type> type_named(std::string_view dotted);

enum class space : std::uint8_t { generic, global, constant, shared, local, parameter, kernel_parameter };

/// A variable outside or inside a function; .global and .const ones are in the module's list too.
struct declared {
    std::string_view name;
    space where = space::generic;
    std::size_t size = 0;
    std::size_t alignment = 1;
    bool dynamic = false;   ///< extern .shared x[]
    bool external = false;  ///< declared here and defined nowhere
    std::size_t global = 0; ///< index in module::globals()
};

enum class operand_kind : std::uint8_t {
    nothing,       ///< _
    reg,           ///< index: register of the function
    bits,          ///< bits: integer constant
    float32,       ///< bits
    float64,       ///< bits
    local_symbol,  ///< index: function::variables, offset
    module_symbol, ///< index: unit::variables, offset
    special,       ///< name: %tid.x
    name,          ///< a function, or something unknown
    label,         ///< index: function::labels
    list,          ///< elements: {a, b} or (a, b)
};

struct operand {
    operand_kind kind = operand_kind::nothing;
    bool negated = false; ///< !p
    bool address = false; ///< [x+offset]
    std::uint32_t index = 0;
    std::optional<std::uint32_t> second; ///< p|q: the register q, or for `_|q` and `p|_`, absent
    bool has_second = false;
    std::int64_t offset = 0;
    std::uint64_t bits = 0;
    std::string_view name;
    std::vector<operand> elements;
};

struct statement {
    std::string_view opcode;
    std::vector<std::string_view> modifiers; ///< without their dots
    std::vector<operand> operands;
    std::optional<std::uint32_t> guard; ///< register
    bool guard_negated = false;
    int line = 0;
};

/// .branchtargets: the table's own label and the labels that it lists.
struct branch_table {
    std::vector<std::uint32_t> labels;
};

struct function {
    std::string_view name;
    bool is_kernel = false;
    bool has_body = false;
    int line = 0;
    std::vector<std::uint32_t> results;    ///< in variables
    std::vector<std::uint32_t> parameters; ///< in variables
    std::vector<declared> variables;
    std::uint32_t registers = 0;
    std::vector<statement> body;
    std::vector<std::size_t> labels; ///< label index to statement index
    std::vector<branch_table> tables;
    std::array<unsigned, 3> max_threads{};
    std::array<unsigned, 3> required_threads{};
};

struct unit {
    std::string version;
    std::string target;
    std::vector<function> functions;
    std::unordered_map<std::string_view, std::size_t> function_named;
    std::vector<declared> variables;
    std::unordered_map<std::string_view, std::uint32_t> variable_named;
    std::vector<variable> globals;
};

/// The syntax of a whole module. Throws `parse_error`.
unit parse_unit(std::string_view text);

} // namespace omp_co_sim::ptx
