// SPDX-License-Identifier: BSL-1.0
// Keeps the lines of the report.
#include "report.hpp"

#include <algorithm>

namespace omp_co_sim {

void report::misuse(std::string_view function, std::string const& text)
{
    add("misuse: " + std::string(function) + ": " + text);
}

void report::note(std::string const& text) { add("note: " + text); }

void report::clear()
{
    std::lock_guard const lock(mutex_);
    lines_.clear();
}

std::vector<std::string> report::lines() const
{
    std::lock_guard const lock(mutex_);
    return lines_;
}

void report::add(std::string line)
{
    std::lock_guard const lock(mutex_);
    if (std::find(lines_.begin(), lines_.end(), line) == lines_.end()) lines_.push_back(std::move(line));
}

} // namespace omp_co_sim
