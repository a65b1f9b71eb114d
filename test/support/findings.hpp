// SPDX-License-Identifier: BSL-1.0
// Checks on other threads and in coroutines, where Boost.Test's macros may not be used: what fails is kept and
// reported by the test's own thread.
#pragma once

#include <boost/test/unit_test.hpp>
#include <mutex>
#include <source_location>
#include <string>
#include <vector>

namespace omp_co_test {

class findings {
public:
    findings() = default;
    findings(findings const&) = delete;
    findings& operator=(findings const&) = delete;
    ~findings() { report(); }

    bool check(bool good, char const* what, std::source_location where = std::source_location::current())
    {
        std::lock_guard guard(mutex_);
        ++made_;
        if (!good)
            failed_.push_back(std::string(where.file_name()) + ":" + std::to_string(where.line()) + ": " +
                              what);
        return good;
    }

    /// How many checks were made.
    std::size_t made() const
    {
        std::lock_guard guard(mutex_);
        return made_;
    }

    void report()
    {
        std::lock_guard guard(mutex_);
        for (std::string const& text : failed_) BOOST_ERROR(text);
        failed_.clear();
    }

private:
    mutable std::mutex mutex_;
    std::size_t made_ = 0;
    std::vector<std::string> failed_;
};

} // namespace omp_co_test
