// SPDX-License-Identifier: BSL-1.0
// Options of the just-in-time compiler.
#include "jit_options.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace omp_co_sim {

jit_log::jit_log(unsigned count, CUjit_option const* options, void* const* values)
{
    for (unsigned i = 0; i < count; ++i) {
        auto const number =
            static_cast<std::size_t>(static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(values[i])));
        auto** const slot = const_cast<void**>(&values[i]);
        switch (options[i]) {
        case CU_JIT_ERROR_LOG_BUFFER:
            error_ = static_cast<char*>(values[i]);
            break;
        case CU_JIT_INFO_LOG_BUFFER:
            information_ = static_cast<char*>(values[i]);
            break;
        case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            error_size_ = number;
            error_slot_ = slot;
            break;
        case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
            information_size_ = number;
            information_slot_ = slot;
            break;
        case CU_JIT_WALL_TIME:
            std::memset(static_cast<void*>(slot), 0, sizeof(float));
            break;
        default:
            break;
        }
    }
}

void jit_log::write(char* buffer, std::size_t size, void** slot, std::string_view text)
{
    if (!buffer || size == 0) return;
    auto const length = std::min(size - 1, text.size());
    std::memcpy(buffer, text.data(), length);
    buffer[length] = '\0';
    if (slot) *slot = reinterpret_cast<void*>(length == 0 ? 0 : length + 1);
}

} // namespace omp_co_sim
