// SPDX-License-Identifier: BSL-1.0
// What the library says on stderr, line by line.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <functional>
#include <string>
#include <unistd.h>
#include <vector>

namespace omp_co_test {

/// What `f` makes this process write to stderr.
inline std::vector<std::string> said_by(std::function<void()> const& f)
{
    char name[] = "/tmp/omp_co_said_XXXXXX";
    int const file = ::mkstemp(name);
    int const kept = ::dup(STDERR_FILENO);
    (void)::dup2(file, STDERR_FILENO);
    f();
    (void)::dup2(kept, STDERR_FILENO);
    (void)::close(kept);
    std::string text;
    char part[4096];
    (void)::lseek(file, 0, SEEK_SET);
    for (ssize_t n = 0; (n = ::read(file, part, sizeof part)) > 0;)
        text.append(part, static_cast<std::size_t>(n));
    (void)::close(file);
    (void)::unlink(name);
    std::vector<std::string> lines;
    for (std::size_t at = 0, end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
        lines.push_back(text.substr(at, end - at));
    return lines;
}

} // namespace omp_co_test
