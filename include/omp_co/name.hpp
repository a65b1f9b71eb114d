// SPDX-License-Identifier: BSL-1.0
// What messages call a region, or the data that a clause maps.
#pragma once

#include <cstddef>
#include <string_view>

namespace omp_co {

/// What messages call a region. The text must outlive the operation.
class name_clause {
public:
    constexpr explicit name_clause(std::string_view text) noexcept : text_(text) {}
    constexpr std::string_view text() const noexcept { return text_; }

private:
    std::string_view text_;
};

/// The same of a string literal, which data can be called too.
class literal_name : public name_clause {
public:
    constexpr explicit literal_name(char const* text) noexcept : name_clause(text), literal_(text) {}
    constexpr char const* c_str() const noexcept { return literal_; }

private:
    char const* literal_;
};

/// A clause: what messages call the region. The text must live as long as a diagnostics object that the construct names has to.
constexpr name_clause name(std::string_view text) noexcept { return name_clause(text); }

/// A string literal, also as a further argument of a data clause, `to(x, name("x"))`: what OMP_CO_INFO's lines and the words of
/// `explain` call that data. An array of characters that is no literal must end in a zero and outlive the mapping.
template <std::size_t N>
constexpr literal_name name(char const (&text)[N]) noexcept
{
    return literal_name(text);
}

} // namespace omp_co
