// SPDX-License-Identifier: BSL-1.0
// Variable declarations: types, extents, alignment, initialisers with addresses.
#pragma once

#include "cursor.hpp"
#include "syntax.hpp"

namespace omp_co_sim::ptx {

/// What stands before a declaration.
struct linkage {
    bool external = false;
    bool visible = false;
};

/// The declarations of one `.global`, `.const`, `.shared`, `.local` or `.param` line after that word, up to and with
/// the semicolon. Those of .global and .const are appended to `u.globals`.
std::vector<declared> parse_variables(cursor& in, unit& u, space where, linkage how);

/// One formal parameter after `.param`.
declared parse_parameter(cursor& in, space where);

} // namespace omp_co_sim::ptx
