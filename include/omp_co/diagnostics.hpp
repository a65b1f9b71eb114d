// SPDX-License-Identifier: BSL-1.0
// What an error code cannot say.
#pragma once

#include <string>
#include <utility>

namespace omp_co {

/// Receives the words that belong to an error: the name of the region, the range and clause concerned, the text
/// of a kernel's exception, a compiler's log. Named by the clause `explain(d)`.
///
/// Lifetime: must outlive the operation that names it. Thread safety: written before the operation's handler is
/// called and read after that; use one object for one operation at a time. Left empty by a success.
class diagnostics {
public:
    std::string const& message() const noexcept { return message_; }
    bool empty() const noexcept { return message_.empty(); }
    void clear() noexcept { message_.clear(); }
    void assign(std::string text) { message_ = std::move(text); }

private:
    std::string message_;
};

} // namespace omp_co
