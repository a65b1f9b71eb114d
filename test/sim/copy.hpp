// SPDX-License-Identifier: BSL-1.0
// One copy of up to three dimensions, whatever function asked for it.
#pragma once

#include "driver.hpp"

namespace omp_co_sim {

/// One side of a copy: address of the first byte, and the distances between rows and between planes.
struct copy_side {
    std::uint64_t address = 0;
    std::size_t row = 0;
    std::size_t plane = 0;
    bool must_be_known =
        false; ///< memory that the driver allocated or registered, not just any of the host's
};

struct copy_box {
    copy_side source;
    copy_side destination;
    std::size_t width = 0; ///< bytes
    std::size_t height = 1;
    std::size_t depth = 1;

    std::size_t bytes() const { return width * height * depth; }
};

enum class copy_call { synchronous, asynchronous };

/// Checks the box and puts it into the stream, then waits as the driver does: pageable memory blocks its caller.
CUresult copy(session& s, stream& st, copy_box const& box, copy_call how);

/// A box of one row.
copy_box row(CUdeviceptr destination, bool destination_known, CUdeviceptr source, bool source_known,
             std::size_t bytes);

} // namespace omp_co_sim
