// SPDX-License-Identifier: BSL-1.0
// What programs that watch processes share: running a mode of oneself in a new process, and saying what went wrong.
#pragma once

#include "support/sanitizers.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

#if defined(__SANITIZE_THREAD__)
#define OMP_CO_TEST_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define OMP_CO_TEST_THREAD_SANITIZER 1
#endif
#endif
#ifndef OMP_CO_TEST_THREAD_SANITIZER
#define OMP_CO_TEST_THREAD_SANITIZER 0
#endif

namespace child_process {

inline constexpr bool sanitized = OMP_CO_TEST_SANITIZED != 0;
inline constexpr int skipped = 77;

/// A process that takes longer hangs.
inline constexpr unsigned patience_seconds = 30;

inline int failures = 0;

inline void check(bool good, std::string const& what)
{
    if (good) return;
    ++failures;
    std::fprintf(stderr, "failed: %s\n", what.c_str());
}

inline int result() { return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE; }

/// How a process ended, in words; empty if it exited with 0.
inline std::string ending_of(pid_t child)
{
    int status = 0;
    if (waitpid(child, &status, 0) != child) return "cannot be waited for";
    if (WIFEXITED(status))
        return WEXITSTATUS(status) == 0 ? "" : "exit code " + std::to_string(WEXITSTATUS(status));
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) return "hangs";
    return "signal " + std::to_string(WTERMSIG(status));
}

/// This program in a new process, with `arguments` and `environment` (NAME=value) added; negative if it cannot be started.
inline pid_t start(std::vector<std::string> arguments, std::vector<std::string> const& environment)
{
    std::fflush(nullptr);
    pid_t const child = fork();
    if (child != 0) return child;
    (void)alarm(patience_seconds); // survives exec
    for (std::string const& e : environment) (void)putenv(const_cast<char*>(e.c_str()));
    std::vector<char*> argv{const_cast<char*>("/proc/self/exe")};
    for (std::string& a : arguments) argv.push_back(a.data());
    argv.push_back(nullptr);
    (void)execv(argv[0], argv.data());
    _exit(127);
}

/// Runs it to its end.
inline std::string rerun(std::vector<std::string> arguments, std::vector<std::string> const& environment = {})
{
    pid_t const child = start(std::move(arguments), environment);
    return child < 0 ? "cannot be started" : ending_of(child);
}

struct outcome {
    std::string ending; ///< as ending_of() says it
    std::string said;   ///< on stderr
};

/// The same, and listens to what it says.
inline outcome rerun_and_listen(std::vector<std::string> arguments,
                                std::vector<std::string> const& environment = {})
{
    std::fflush(nullptr);
    int ends[2];
    if (pipe(ends) != 0) return {"cannot be listened to", ""};
    int const kept = dup(STDERR_FILENO);
    (void)dup2(ends[1], STDERR_FILENO);
    (void)close(ends[1]);
    pid_t const child = start(std::move(arguments), environment);
    (void)dup2(kept, STDERR_FILENO);
    (void)close(kept);
    outcome o;
    char part[4096];
    for (ssize_t n = 0; (n = read(ends[0], part, sizeof part)) > 0;)
        o.said.append(part, static_cast<std::size_t>(n));
    (void)close(ends[0]);
    o.ending = child < 0 ? "cannot be started" : ending_of(child);
    return o;
}

inline std::size_t threads()
{
    std::filesystem::directory_iterator const tasks("/proc/self/task");
    return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

} // namespace child_process
