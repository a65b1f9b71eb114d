// SPDX-License-Identifier: BSL-1.0
// What an error code cannot say, and what a clock of the host cannot tell.
#pragma once

#include <omp_co/detail/timing.hpp>

#include <chrono>
#include <string>
#include <utility>

namespace omp_co {

/// Receives the words that belong to an error: the name of the region, the range and clause concerned, the text
/// of a kernel's exception, a compiler's log. Named by the clause `explain(d)`.
///
/// Lifetime: must outlive the operation that names it; where that is a construct of a queue, until one that waits has ended.
/// Thread safety: written before the operation's handler is called and read after that, of a construct of a queue after
/// one that waits for it; use one object for one operation at a time. Without words after a success.
class diagnostics {
public:
    std::string const& message() const noexcept { return message_; }
    bool empty() const noexcept { return message_.empty(); }
    /// How long the device was at it: from the region's first command, once all that it waited for was done, to its last one.
    /// Zero if it was not measured: it was refused, or the device cannot.
    std::chrono::nanoseconds device_time() const noexcept { return timing_.elapsed; }

    void clear() noexcept
    {
        message_.clear();
        timing_ = {};
    }
    void assign(std::string text) { message_ = std::move(text); }

    // Where the device notes it.
    backend::timing& timing() noexcept { return timing_; }

private:
    std::string message_;
    backend::timing timing_;
};

} // namespace omp_co
