// SPDX-License-Identifier: BSL-1.0
// PTX text to tokens.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace omp_co_sim::ptx {

enum class token_kind : std::uint8_t {
    word,    ///< identifier, register, opcode without its modifiers
    dotted,  ///< directive or modifier, with its dot: ".global", ".L2::128B"
    integer, ///< bits in `bits`
    float32, ///< 0f…, bits in `bits`
    float64, ///< 0d… or decimal, bits of the double in `bits`
    string,  ///< without its quotes
    mark,    ///< one character of punctuation
    end,
};

struct token {
    token_kind kind = token_kind::end;
    std::string_view text;
    std::uint64_t bits = 0;
    int line = 0;

    bool is(char c) const noexcept { return kind == token_kind::mark && text[0] == c; }
    bool is(std::string_view dotted) const noexcept { return kind == token_kind::dotted && text == dotted; }
};

/// All tokens, the last of kind `end`. The tokens point into `text`. Throws `parse_error`.
std::vector<token> tokens_of(std::string_view text);

} // namespace omp_co_sim::ptx
