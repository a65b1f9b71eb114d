// SPDX-License-Identifier: BSL-1.0
// From an image in memory to code: which of a fatbin's entries, and whether this driver and device could take it.
#include "code.hpp"
#include "control.h"

#include <charconv>
#include <cstring>
#include <optional>

namespace omp_co_sim {
namespace {

constexpr std::uint32_t wrapper_magic = 0x466243b1;
constexpr std::uint32_t container_magic = 0xba55ed50;
constexpr char elf_magic[] = {0x7f, 'E', 'L', 'F'};

// What __cudaRegisterFatBinary and cuModuleLoadFatBinary are given.
struct fatbin_wrapper {
    std::uint32_t magic;
    std::uint32_t version;
    void const* data;
    void const* more;
};

struct fatbin_header {
    std::uint32_t magic;
    std::uint16_t version;
    std::uint16_t header_size;
    std::uint64_t size; ///< of what follows the header
};

// The part of an entry's header that matters here.
struct fatbin_entry {
    std::uint16_t kind; ///< 1: PTX, 2: ELF
    std::uint16_t version;
    std::uint32_t header_size;
    std::uint64_t size;
    std::uint32_t compressed_size;
    std::uint32_t unknown;
    std::uint16_t minor;
    std::uint16_t major;
    std::uint32_t architecture;
};

constexpr std::uint16_t ptx_entry = 1;

template <class T>
T read(std::byte const* at)
{
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

struct ptx_choice {
    std::string_view text;
    unsigned architecture = 0;
};

// The PTX of the newest architecture that the device has.
std::string_view ptx_of_fatbin(std::byte const* image, int compute_capability)
{
    auto const header = read<fatbin_header>(image);
    auto const* at = image + header.header_size;
    auto const* const end = at + header.size;
    std::optional<ptx_choice> best;
    bool any_ptx = false;
    while (at + sizeof(fatbin_entry) <= end) {
        auto const entry = read<fatbin_entry>(at);
        auto const* const payload = at + entry.header_size;
        if (entry.header_size == 0 || payload + entry.size > end)
            throw image_error(CUDA_ERROR_INVALID_IMAGE, "the fatbin's table of entries is damaged");
        at = payload + entry.size;
        if (entry.kind != ptx_entry) continue;
        any_ptx = true;
        if (entry.architecture > static_cast<unsigned>(compute_capability)) continue;
        if (best && best->architecture >= entry.architecture) continue;
        best = {{reinterpret_cast<char const*>(payload), entry.size}, entry.architecture};
    }
    if (!best) {
        throw image_error(CUDA_ERROR_NO_BINARY_FOR_GPU,
                          any_ptx ? "all PTX in the fatbin is for newer devices"
                                  : "the fatbin holds no PTX, and the simulator runs nothing else");
    }
    if (best->text.find(".version") == std::string_view::npos) {
        throw image_error(
            CUDA_ERROR_NOT_SUPPORTED,
            "the fatbin's PTX is compressed; for the simulator, build it with nvcc --no-compress");
    }
    return best->text;
}

// The number after a directive: ".version 9.0" gives 90, ".target sm_80" gives 80.
std::optional<int> directive(std::string_view text, std::string_view name, std::string_view prefix)
{
    auto at = text.find(name);
    if (at == std::string_view::npos) return std::nullopt;
    at = text.find_first_not_of(" \t", at + name.size());
    if (at == std::string_view::npos || !text.substr(at).starts_with(prefix)) return std::nullopt;
    auto rest = text.substr(at + prefix.size(), 8);
    int whole = 0;
    auto const [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), whole);
    if (error != std::errc{}) return std::nullopt;
    if (!prefix.empty()) return whole;
    int minor = 0;
    if (end < rest.data() + rest.size() && *end == '.')
        std::from_chars(end + 1, rest.data() + rest.size(), minor);
    return 10 * whole + minor;
}

// PTX 7.0 came with CUDA 11.0, 8.0 with 12.0, 9.0 with 13.0; the minor versions go along, roughly.
int newest_ptx(int driver_version)
{
    int const major = driver_version / 1000 - 4;
    int const minor = driver_version % 1000 / 10;
    bool const drifts = major == 8 && minor >= 6;
    return 10 * major + minor - (drifts ? 1 : 0);
}

void must_suit(std::string_view text, int compute_capability, int driver_version)
{
    auto const version = directive(text, ".version", "");
    auto const target = directive(text, ".target", "sm_");
    if (!version || !target)
        throw image_error(CUDA_ERROR_INVALID_IMAGE, "the image is no PTX, fatbin or cubin");
    if (*version > newest_ptx(driver_version)) {
        throw image_error(CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
                          "ptxas application ptx input, line 1; fatal: Unsupported .version " +
                              std::to_string(*version / 10) + "." + std::to_string(*version % 10) +
                              "; current version is '" + std::to_string(newest_ptx(driver_version) / 10) +
                              "." + std::to_string(newest_ptx(driver_version) % 10) + "'");
    }
    if (*target > compute_capability) {
        throw image_error(CUDA_ERROR_INVALID_PTX,
                          "ptxas application ptx input; fatal: .target sm_" + std::to_string(*target) +
                              " is newer than the device, sm_" + std::to_string(compute_capability));
    }
}

} // namespace

std::shared_ptr<code const> load_image(void const* image, int compute_capability, int driver_version)
{
    auto const* bytes = static_cast<std::byte const*>(image);
    if (std::memcmp(bytes, elf_magic, sizeof elf_magic) == 0)
        throw image_error(CUDA_ERROR_NO_BINARY_FOR_GPU,
                          "the image is a cubin, and the simulator runs only PTX");
    auto const magic = read<std::uint32_t>(bytes);
    if (magic == wrapper_magic) bytes = static_cast<std::byte const*>(read<fatbin_wrapper>(bytes).data);
    std::string_view text;
    if (read<std::uint32_t>(bytes) == container_magic) {
        text = ptx_of_fatbin(bytes, compute_capability);
    } else {
        text = std::string_view(reinterpret_cast<char const*>(bytes));
    }
    if (text == OMP_CO_SIM_REGISTERED_IMAGE) return registered_code();
    must_suit(text, compute_capability, driver_version);
    return code_from_ptx(text);
}

} // namespace omp_co_sim
