// SPDX-License-Identifier: BSL-1.0
// The logs that a caller of cuModuleLoadDataEx asks for.
#pragma once

#include "cuda_api.hpp"

#include <cstddef>
#include <string_view>

namespace omp_co_sim {

class jit_log {
public:
    /// Reads the options; what does not matter to an interpreter is taken and has no effect there either way.
    jit_log(unsigned count, CUjit_option const* options, void* const* values);

    void error(std::string_view text) { write(error_, error_size_, error_slot_, text); }
    void information(std::string_view text)
    {
        write(information_, information_size_, information_slot_, text);
    }

private:
    // The size option is answered with the bytes that were written.
    static void write(char* buffer, std::size_t size, void** slot, std::string_view text);

    char* error_ = nullptr;
    char* information_ = nullptr;
    std::size_t error_size_ = 0;
    std::size_t information_size_ = 0;
    void** error_slot_ = nullptr;
    void** information_slot_ = nullptr;
};

} // namespace omp_co_sim
