// SPDX-License-Identifier: BSL-1.0
// What the program did wrong, one line each.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace omp_co_sim {

class report {
public:
    /// "misuse: function: text". A line is kept once, however often it happens.
    void misuse(std::string_view function, std::string const& text);

    /// "note: text": nothing wrong, but worth knowing (a host function lost on request, a fault).
    void note(std::string const& text);

    void clear();
    std::vector<std::string> lines() const;

private:
    void add(std::string line);

    mutable std::mutex mutex_;
    std::vector<std::string> lines_;
};

} // namespace omp_co_sim
