// SPDX-License-Identifier: BSL-1.0
// Names and texts of the driver's error codes.
#include "settings.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace omp_co_sim {
namespace {

struct error_entry {
    CUresult code;
    std::string name;
    std::string text;
};

// "CUDA_ERROR_OUT_OF_MEMORY": "out of memory".
std::string readable(std::string_view name)
{
    constexpr std::string_view prefix = "CUDA_ERROR_";
    if (!name.starts_with(prefix)) return "no error";
    std::string text(name.substr(prefix.size()));
    for (char& c : text) c = c == '_' ? ' ' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

std::vector<error_entry> const& entries()
{
    static std::vector<error_entry> const list = [] {
        std::vector<error_entry> all;
#define OMP_CO_SIM_ERROR(code) all.push_back({code, #code, readable(#code)});
#include "errors.inc"
#undef OMP_CO_SIM_ERROR
        return all;
    }();
    return list;
}

error_entry const* find(CUresult code)
{
    auto const& all = entries();
    auto const at = std::find_if(all.begin(), all.end(), [&](auto const& e) { return e.code == code; });
    return at == all.end() ? nullptr : &*at;
}

} // namespace

CUresult parse_error_code(std::string_view text)
{
    for (auto const& e : entries())
        if (e.name == text) return e.code;
    int value = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    bool const whole = error == std::errc{} && end == text.data() + text.size();
    auto const* e = whole ? find(static_cast<CUresult>(value)) : nullptr;
    return e ? e->code : CUDA_SUCCESS;
}

char const* error_name(CUresult code)
{
    auto const* e = find(code);
    return e ? e->name.c_str() : nullptr;
}

char const* error_text(CUresult code)
{
    auto const* e = find(code);
    return e ? e->text.c_str() : nullptr;
}

bool is_sticky(CUresult code)
{
    static constexpr std::array sticky{
        CUDA_ERROR_ECC_UNCORRECTABLE,
        CUDA_ERROR_NVLINK_UNCORRECTABLE,
        CUDA_ERROR_ILLEGAL_ADDRESS,
        CUDA_ERROR_LAUNCH_TIMEOUT,
        CUDA_ERROR_ASSERT,
        CUDA_ERROR_HARDWARE_STACK_ERROR,
        CUDA_ERROR_ILLEGAL_INSTRUCTION,
        CUDA_ERROR_MISALIGNED_ADDRESS,
        CUDA_ERROR_INVALID_ADDRESS_SPACE,
        CUDA_ERROR_INVALID_PC,
        CUDA_ERROR_LAUNCH_FAILED,
    };
    return std::find(sticky.begin(), sticky.end(), code) != sticky.end();
}

} // namespace omp_co_sim
