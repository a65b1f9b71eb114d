// SPDX-License-Identifier: BSL-1.0
// PTX text to tokens: comments, identifiers with $ and %, dotted modifiers, the 0f and 0d forms of floats.
#include "lexer.hpp"

#include "interpreter.hpp"

#include <bit>
#include <charconv>
#include <string>

namespace omp_co_sim::ptx {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool starts_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%';
}
bool in_word(char c) { return is_digit(c) || (starts_word(c) && c != '%'); }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

class lexer {
public:
    explicit lexer(std::string_view text) : text_{text} {}

    std::vector<token> run()
    {
        std::vector<token> out;
        while (skip_blanks()) out.push_back(next());
        out.push_back({token_kind::end, {}, 0, line_});
        return out;
    }

private:
    char peek(std::size_t ahead = 0) const
    {
        return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
    }

    bool skip_blanks()
    {
        while (position_ < text_.size()) {
            char const c = peek();
            if (c == '\n') ++line_;
            if (c == '/' && peek(1) == '/') {
                while (position_ < text_.size() && peek() != '\n') ++position_;
                continue;
            }
            if (c == '/' && peek(1) == '*') {
                skip_block_comment();
                continue;
            }
            if (c != ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != '\v' && c != '\0')
                return true;
            ++position_;
        }
        return false;
    }

    void skip_block_comment()
    {
        auto const close = text_.find("*/", position_ + 2);
        if (close == std::string_view::npos) throw parse_error{line_, "comment without an end"};
        for (; position_ < close + 2; ++position_)
            if (peek() == '\n') ++line_;
    }

    token next()
    {
        char const c = peek();
        if (starts_word(c)) return word();
        if (c == '.' && (in_word(peek(1)))) return dotted();
        if (is_digit(c)) return number();
        if (c == '"') return string();
        return {token_kind::mark, take(1), 0, line_};
    }

    std::string_view take(std::size_t count)
    {
        auto const out = text_.substr(position_, count);
        position_ += count;
        return out;
    }

    token word()
    {
        std::size_t n = 1;
        while (in_word(peek(n))) ++n;
        return {token_kind::word, take(n), 0, line_};
    }

    token dotted()
    {
        std::size_t n = 1;
        while (in_word(peek(n)) || (peek(n) == ':' && peek(n + 1) == ':') ||
               (peek(n) == ':' && peek(n - 1) == ':'))
            ++n;
        return {token_kind::dotted, take(n), 0, line_};
    }

    token string()
    {
        auto const close = text_.find('"', position_ + 1);
        if (close == std::string_view::npos) throw parse_error{line_, "string without an end"};
        auto const body = text_.substr(position_ + 1, close - position_ - 1);
        int const line = line_;
        for (char const c : body)
            if (c == '\n') ++line_;
        position_ = close + 1;
        return {token_kind::string, body, 0, line};
    }

    token number()
    {
        char const kind = peek(1);
        if (peek() == '0' && (kind == 'f' || kind == 'F')) return bits(token_kind::float32, 8);
        if (peek() == '0' && (kind == 'd' || kind == 'D')) return bits(token_kind::float64, 16);
        if (peek() == '0' && (kind == 'x' || kind == 'X')) return integer(2, 16);
        if (peek() == '0' && (kind == 'b' || kind == 'B')) return integer(2, 2);
        std::size_t n = 1;
        while (is_digit(peek(n))) ++n;
        if (peek(n) == '.' && is_digit(peek(n + 1))) return decimal();
        return integer(0, peek() == '0' && n > 1 ? 8 : 10);
    }

    token bits(token_kind kind, std::size_t digits)
    {
        std::uint64_t value = 0;
        auto const first = text_.data() + position_ + 2;
        std::size_t n = 0;
        while (is_hex(peek(n + 2))) ++n;
        if (n != digits) throw parse_error{line_, "a float constant in hexadecimal has 8 or 16 digits"};
        std::from_chars(first, first + n, value, 16);
        return {kind, take(n + 2), value, line_};
    }

    token integer(std::size_t prefix, int base)
    {
        std::uint64_t value = 0;
        auto const first = text_.data() + position_ + prefix;
        auto const [last, error] = std::from_chars(first, text_.data() + text_.size(), value, base);
        if (error != std::errc{} || last == first)
            throw parse_error{line_, "a number that does not fit 64 bits"};
        auto length = prefix + static_cast<std::size_t>(last - first);
        if (peek(length) == 'U') ++length;
        return {token_kind::integer, take(length), value, line_};
    }

    token decimal()
    {
        double value = 0;
        auto const first = text_.data() + position_;
        auto const [last, error] = std::from_chars(first, text_.data() + text_.size(), value);
        if (error != std::errc{}) throw parse_error{line_, "not a float constant"};
        return {token_kind::float64, take(static_cast<std::size_t>(last - first)),
                std::bit_cast<std::uint64_t>(value), line_};
    }

    std::string_view text_;
    std::size_t position_ = 0;
    int line_ = 1;
};

} // namespace

std::vector<token> tokens_of(std::string_view text) { return lexer{text}.run(); }

} // namespace omp_co_sim::ptx
