// SPDX-License-Identifier: BSL-1.0
// A place in the tokens, and the ways to move on from it.
#pragma once

#include "interpreter.hpp"
#include "lexer.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace omp_co_sim::ptx {

class cursor {
public:
    explicit cursor(std::vector<token> tokens) : tokens_{std::move(tokens)} {}

    token const& peek(std::size_t ahead = 0) const
    {
        auto const last = tokens_.size() - 1;
        return tokens_[position_ + ahead < last ? position_ + ahead : last];
    }
    token const& next()
    {
        token const& t = peek();
        if (t.kind == token_kind::end) fail("the text ends in the middle of something");
        ++position_;
        return t;
    }
    bool at_end() const { return peek().kind == token_kind::end; }

    template <class What>
    bool accept(What what)
    {
        if (!peek().is(what)) return false;
        ++position_;
        return true;
    }
    void expect(char c)
    {
        if (!accept(c)) fail(std::string{"expected '"} + c + "'" + found());
    }
    std::string_view word(char const* what)
    {
        if (peek().kind != token_kind::word) fail(std::string{"expected "} + what + found());
        return next().text;
    }
    /// An integer with or without a sign, as bits.
    std::uint64_t integer(char const* what)
    {
        bool const minus = accept('-');
        if (peek().kind != token_kind::integer) fail(std::string{"expected "} + what + found());
        auto const bits = next().bits;
        return minus ? std::uint64_t{0} - bits : bits;
    }
    void skip_to(char c)
    {
        while (!accept(c)) next();
    }

    [[noreturn]] void fail(std::string const& message) const { throw parse_error{peek().line, message}; }
    std::string found() const
    {
        if (at_end()) return " at the end of the text";
        return " before '" + std::string{peek().text} + "'";
    }

private:
    std::vector<token> tokens_;
    std::size_t position_ = 0;
};

} // namespace omp_co_sim::ptx
