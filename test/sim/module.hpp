// SPDX-License-Identifier: BSL-1.0
// Modules and functions: what loading and launching share.
#pragma once

#include "driver.hpp"

namespace omp_co_sim {

/// Loads code into the current context: its variables get memory and their first values.
std::shared_ptr<module> instantiate(session& s, std::shared_ptr<code const> image, bool of_library);

/// The function of a kernel of a module; made at the first question. What these answer lives as long as the lock is held.
std::shared_ptr<function> const& function_at(session& s, std::shared_ptr<module> const& m, std::size_t index);

/// What a CUfunction, or a CUkernel given as one, is in the current context.
[[gnu::hot]] std::shared_ptr<function> const& find_function(session& s, CUfunction handle);

kernel_facts const& facts_of(function const& f);

} // namespace omp_co_sim
