// SPDX-License-Identifier: BSL-1.0
// Runs the tests: all, or those whose names are given behind the library's path. Those whose names begin with child_
// are run by other tests in processes of their own.
#include "harness.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <thread>

api cu;
void* library = nullptr;
std::string library_name;

namespace {

std::atomic<int> checks{0};
std::atomic<int> failures{0};
char const* running = "";
std::atomic<bool> released{false};

struct entry {
    char const* name;
    void (*body)();
};

std::vector<entry>& entries()
{
    static std::vector<entry> all;
    return all;
}

template <class F>
void resolve(F& function, char const* name)
{
    function = reinterpret_cast<F>(::dlsym(library, name));
    if (function) return;
    std::fprintf(stderr, "%s is not exported\n", name);
    std::exit(2);
}

int do_nothing(omp_co_sim_launch const*) { return 0; }

int do_add(omp_co_sim_launch const* l)
{
    auto const x = *static_cast<CUdeviceptr const*>(l->parameters[0]);
    auto const a = *static_cast<float const*>(l->parameters[1]);
    auto const n = *static_cast<int const*>(l->parameters[2]);
    auto* const values = static_cast<float*>(l->at(l, x, static_cast<std::size_t>(n) * sizeof(float)));
    if (!values) return 0;
    for (int i = 0; i < n; ++i) values[i] += a;
    return 0;
}

int do_wild(omp_co_sim_launch const* l)
{
    l->at(l, *static_cast<CUdeviceptr const*>(l->parameters[0]), 4);
    return 0;
}

int do_hold(omp_co_sim_launch const*)
{
    while (!released) std::this_thread::sleep_for(std::chrono::microseconds(200));
    return 0;
}

void register_kernels()
{
    std::size_t const add[] = {8, 4, 4};
    std::size_t const wild[] = {8};
    cu.register_kernel("nothing", nullptr, 0, do_nothing, nullptr);
    cu.register_kernel("add", add, 3, do_add, nullptr);
    cu.register_kernel("wild", wild, 1, do_wild, nullptr);
    cu.register_kernel("hold", nullptr, 0, do_hold, nullptr);
}

bool selected(char const* name, int argc, char** argv)
{
    for (int i = 2; i < argc; ++i)
        if (std::strcmp(argv[i], name) == 0) return true;
    return argc < 3 && std::strncmp(name, "child_", 6) != 0;
}

} // namespace

void check(bool condition, std::string_view text, std::source_location where)
{
    ++checks;
    if (condition) return;
    ++failures;
    std::fprintf(stderr, "%s:%u: %s: %.*s\n", where.file_name(), where.line(), running,
                 static_cast<int>(text.size()), text.data());
}

void expect(CUresult got, CUresult wanted, std::source_location where)
{
    check(got == wanted, "result " + std::to_string(got) + ", wanted " + std::to_string(wanted), where);
}

std::string report()
{
    std::string text(cu.report(nullptr, 0) + 1, '\0');
    cu.report(text.data(), text.size());
    text.resize(std::strlen(text.c_str()));
    return text;
}

bool reported(std::string_view part) { return report().find(part) != std::string::npos; }

double milliseconds(std::function<void()> const& f)
{
    auto const start = std::chrono::steady_clock::now();
    f();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

double cpu_seconds()
{
    timespec t{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

session::session(std::initializer_list<setting> settings)
{
    cu.reset();
    hold_kernels();
    for (auto const& [name, value] : settings) check(cu.set(name, value) == 0, name);
    expect(cu.cuInit(0));
    CUcontext c = nullptr;
    expect(cu.cuDevicePrimaryCtxRetain(&c, 0));
    expect(cu.cuCtxSetCurrent(c));
}

session::~session()
{
    release_kernels();
    cu.reset();
}

CUcontext session::context(int device)
{
    CUcontext c = nullptr;
    expect(cu.cuDevicePrimaryCtxRetain(&c, device));
    return c;
}

CUstream session::stream(unsigned flags)
{
    CUstream s = nullptr;
    expect(cu.cuStreamCreate(&s, flags));
    return s;
}

CUevent session::event(unsigned flags)
{
    CUevent e = nullptr;
    expect(cu.cuEventCreate(&e, flags));
    return e;
}

CUdeviceptr session::memory(std::size_t bytes)
{
    CUdeviceptr p = 0;
    expect(cu.cuMemAlloc_v2(&p, bytes));
    return p;
}

void* session::pinned(std::size_t bytes)
{
    void* p = nullptr;
    expect(cu.cuMemHostAlloc(&p, bytes, 0));
    return p;
}

CUfunction session::kernel(char const* name)
{
    if (!module_) expect(cu.cuModuleLoadData(&module_, OMP_CO_SIM_REGISTERED_IMAGE));
    CUfunction f = nullptr;
    expect(cu.cuModuleGetFunction(&f, module_, name));
    return f;
}

void release_kernels() { released = true; }
void hold_kernels() { released = false; }

void launch(CUfunction f, CUstream s, std::vector<void*> parameters)
{
    expect(cu.cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, s, parameters.data(), nullptr));
}

test_case::test_case(char const* name, void (*body)()) { entries().push_back({name, body}); }

int main(int argc, char** argv)
{
    if (argc < 2) return 2;
    library_name = argv[1];
    library = ::dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        std::fprintf(stderr, "%s\n", ::dlerror());
        return 2;
    }
#define OMP_CO_SIM_FUNCTION(base, symbol, since) resolve(cu.symbol, #symbol);
#include "../functions.inc"
#undef OMP_CO_SIM_FUNCTION
    resolve(cu.set, "omp_co_sim_set");
    resolve(cu.count, "omp_co_sim_count");
    resolve(cu.report, "omp_co_sim_report");
    resolve(cu.reset, "omp_co_sim_reset");
    resolve(cu.register_kernel, "omp_co_sim_register_kernel");
    register_kernels();
    int tests = 0;
    for (auto const& e : entries()) {
        if (!selected(e.name, argc, argv)) continue;
        running = e.name;
        ++tests;
        e.body();
    }
    std::printf("%d tests, %d checks, %d failures\n", tests, checks.load(), failures.load());
    return failures == 0 && tests > 0 ? 0 : 1;
}
