// SPDX-License-Identifier: BSL-1.0
// The threads of one block and the order in which they run.
#pragma once

#include "thread.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace omp_co_sim::ptx {

/// Holds registers, local and shared memory for one block; runs one block after another in them.
class block {
public:
    block(execution& in, launch const& l, std::uint64_t const* first_row);

    /// False when a thread has faulted: `execution` says how.
    bool run(std::array<unsigned, 3> index);

private:
    void start(std::array<unsigned, 3> index);
    bool visit(std::size_t first, std::size_t count);
    bool run_slice(thread& t);
    bool resolve_warp(std::size_t first, std::size_t count);
    bool resolve_barriers();
    bool all_exited() const;
    void report_deadlock();

    execution& in_;
    launch const& launch_;
    std::size_t size_;
    std::size_t local_stride_;
    std::vector<std::uint64_t> rows_;
    std::vector<std::byte> local_;
    std::vector<std::byte> shared_;
    std::vector<thread> threads_;
};

} // namespace omp_co_sim::ptx
