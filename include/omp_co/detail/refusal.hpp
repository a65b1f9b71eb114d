// SPDX-License-Identifier: BSL-1.0
// Why clauses were refused, in words.
#pragma once

#include <omp_co/detail/map_item.hpp>
#include <omp_co/detail/present_table.hpp>
#include <omp_co/error.hpp>

#include <cstddef>
#include <cstdio>
#include <string>

namespace omp_co::detail {

/// Why a set of clauses was refused: the clause, and the range it collides with.
struct refusal {
    errc code{};
    map_item const* item = nullptr;
    byte_range other;
    char const* name = nullptr; ///< of that range

    explicit operator bool() const noexcept { return code != errc{}; }
};

inline std::string to_string(byte_range r)
{
    char text[80];
    std::snprintf(text, sizeof text, "[%p, %p) of %zu bytes", static_cast<void*>(r.begin),
                  static_cast<void*>(r.end), static_cast<std::size_t>(r.end - r.begin));
    return text;
}

inline std::string describe(refusal const& r)
{
    map_item const& i = *r.item;
    if (r.code == errc::not_present && i.has(map_attach | map_attach_target))
        return std::string(i.has(map_attach) ? "attach: the pointer "
                                             : "attach: what the pointer points to, ") +
               to_string({i.begin(), i.end()}) + ", is not present";
    std::string text = clause_text(i) + ": the range " + to_string({i.begin(), i.end()});
    if (r.code == errc::not_present) return text + " is not present";
    if (r.code == errc::partially_present)
        return text + " extends beyond the mapped range " + to_string(r.other) +
               (r.name == nullptr ? std::string() : std::string(", ") + r.name);
    if (i.has(map_raw))
        return std::to_string(i.bytes) + " bytes at " +
               to_string({static_cast<char*>(i.device), static_cast<char*>(i.device) + i.bytes}) +
               " extend beyond the device memory " + to_string(r.other);
    if (i.host == nullptr) return clause_text(i) + ": a null pointer with a size";
    return text + " wraps around the address space";
}

} // namespace omp_co::detail
