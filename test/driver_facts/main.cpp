// SPDX-License-Identifier: BSL-1.0
// Loads the driver that OMP_CO_CUDA_LIBRARY names, or libcuda.so.1, and tries the facts: all, or those whose names are
// given; --list names them. 0: all hold, 1: one does not, 77: there is no driver or no device.
#include "facts.hpp"

#include <algorithm>
#include <cstdio>
#include <spawn.h>
#include <string_view>
#include <sys/wait.h>

extern char** environ;

namespace facts {

namespace {

struct entry {
    char const* name;
    char const* citation;
    void (*body)();
    process where;
};

enum class outcome { holds, fails, skips };

struct ended {};

bool failed = false;

std::vector<entry>& entries()
{
    static std::vector<entry> list;
    return list;
}

void say(place where, std::string const& text)
{
    failed = true;
    std::printf("%s:%u: %s\n", where.file_name(), static_cast<unsigned>(where.line()), text.c_str());
}

std::string name_of(CUresult code)
{
    char const* name = nullptr;
    if (cu.cuGetErrorName(code, &name) == CUDA_SUCCESS) return name;
    return std::to_string(static_cast<int>(code));
}

outcome run_here(entry const& e)
{
    failed = false;
    CUcontext context = nullptr;
    if (cu.cuDevicePrimaryCtxRetain(&context, 0) != CUDA_SUCCESS ||
        cu.cuCtxSetCurrent(context) != CUDA_SUCCESS) {
        std::puts("the primary context of device 0 cannot be retained");
        return outcome::fails;
    }
    auto result = outcome::holds;
    try {
        e.body();
    } catch (ended) {
    } catch (skipped const& s) {
        std::printf("%s: skipped: %s\n", e.name, s.what());
        result = outcome::skips;
    }
    return failed ? outcome::fails : result;
}

outcome run_alone(entry const& e)
{
    char here[] = "--here";
    std::string program = "/proc/self/exe";
    std::string name = e.name;
    char* arguments[] = {program.data(), here, name.data(), nullptr};
    std::fflush(nullptr);
    ::pid_t child = 0;
    int status = 0;
    if (::posix_spawn(&child, program.c_str(), nullptr, nullptr, arguments, environ) != 0 ||
        ::waitpid(child, &status, 0) != child || !WIFEXITED(status)) {
        std::puts("the process of its own did not end by itself");
        return outcome::fails;
    }
    if (WEXITSTATUS(status) == 77) return outcome::skips;
    return WEXITSTATUS(status) == 0 ? outcome::holds : outcome::fails;
}

int run_all(std::vector<std::string_view> const& names, bool here)
{
    int counts[3]{};
    for (auto const& e : entries()) {
        if (!names.empty() && std::find(names.begin(), names.end(), e.name) == names.end()) continue;
        auto const result = here || e.where == process::shared ? run_here(e) : run_alone(e);
        ++counts[static_cast<int>(result)];
        if (result == outcome::fails) std::printf("does not hold: %s\n    %s\n", e.name, e.citation);
    }
    auto const [hold, fail, skip] = counts;
    if (here) return fail > 0 ? 1 : skip > 0 ? 77 : 0;
    std::printf("%d facts hold, %d do not, %d could not be shown here\n", hold, fail, skip);
    return fail > 0 || hold + skip == 0 ? 1 : 0;
}

} // namespace

void check(bool condition, std::string const& text, place where)
{
    if (!condition) say(where, text);
}

void answers(CUresult got, CUresult wanted, place where)
{
    if (got != wanted) say(where, "answered " + name_of(got) + ", not " + name_of(wanted));
}

void ok(CUresult got, place where)
{
    if (got == CUDA_SUCCESS) return;
    say(where, "answered " + name_of(got));
    throw ended{};
}

void need_devices(int count)
{
    int devices = 0;
    ok(cu.cuDeviceGetCount(&devices));
    if (devices < count) throw skipped("needs " + std::to_string(count) + " devices");
}

fact::fact(char const* name, char const* citation, void (*body)(), process where)
{
    entries().push_back({name, citation, body, where});
}

} // namespace facts

int main(int argc, char** argv)
{
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    std::vector<std::string_view> names(argv + 1, argv + argc);
    if (!names.empty() && names.front() == "--list") {
        for (auto const& e : facts::entries()) std::printf("%s\n    %s\n", e.name, e.citation);
        return 0;
    }
    bool const here = !names.empty() && names.front() == "--here";
    if (here) names.erase(names.begin());
    facts::load_driver();
    return facts::run_all(names, here);
}
