// SPDX-License-Identifier: BSL-1.0
// The body of a function: statements, scopes, labels.
#pragma once

#include "cursor.hpp"
#include "syntax.hpp"

namespace omp_co_sim::ptx {

/// From the opening brace to the closing one, into `f`.
void parse_body(cursor& in, unit& u, function& f);

} // namespace omp_co_sim::ptx
