// SPDX-License-Identifier: BSL-1.0
// Whether regions may, must or must not run on a device.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace omp_co::detail {

/// OMP_TARGET_OFFLOAD (OpenMP 5.2, 21.2.8).
enum class offload : unsigned char { by_default, mandatory, disabled, unknown };

inline offload offload_policy() noexcept
{
    char const* const text = std::getenv("OMP_TARGET_OFFLOAD");
    if (text == nullptr || *text == '\0') return offload::by_default;
    auto const is = [text](std::string_view word) {
        std::string_view const given = text;
        return given.size() == word.size() &&
               std::equal(given.begin(), given.end(), word.begin(), [](char g, char w) {
                   return g == w || (g >= 'a' && g <= 'z' && g - 'a' + 'A' == w);
               });
    };
    if (is("DEFAULT")) return offload::by_default;
    if (is("MANDATORY")) return offload::mandatory;
    return is("DISABLED") ? offload::disabled : offload::unknown;
}

} // namespace omp_co::detail
