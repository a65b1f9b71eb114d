// SPDX-License-Identifier: BSL-1.0
// Makes the simulator the driver of this program before anything looks for one. OMP_CO_TEST_SIMULATOR names it; without
// it, there is nothing to test. With OMP_CO_TEST_DRIVER=device the driver stays the machine's, or OMP_CO_CUDA_LIBRARY's.
#include "cuda_backend/simulator.hpp"

#include <omp_co/cuda/driver.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <sstream>
#include <stdexcept>

namespace cuda_test::simulator {

namespace {

namespace driver = omp_co::cuda::driver;

[[noreturn]] void skip(char const* what, char const* why)
{
    std::fprintf(stderr, "skipped: %s (%s)\n", what, why);
    std::_Exit(77);
}

void* open_simulator()
{
    char const* path = std::getenv("OMP_CO_TEST_SIMULATOR");
#ifdef OMP_CO_TEST_SIMULATOR
    if (path == nullptr) path = OMP_CO_TEST_SIMULATOR;
#endif
    if (path == nullptr) skip("no driver simulator", "OMP_CO_TEST_SIMULATOR is not set");
    void* const opened = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (opened == nullptr) skip("no driver simulator", ::dlerror());
    (void)::setenv("OMP_CO_CUDA_LIBRARY", path, 1);
    return opened;
}

// Holds the context of device 0, for each test would else create and destroy it, which takes a device a good part of a
// second.
void* open_driver()
{
    driver::api const& d = driver::table();
    if (!d.available()) skip("no CUDA driver", d.reason().c_str());
    int devices = 0;
    if (d.init(0) != driver::result::success || d.device_get_count(&devices) != driver::result::success ||
        devices == 0)
        skip("no CUDA device", "cuInit or cuDeviceGetCount");
    driver::context_handle context = nullptr;
    if (d.primary_ctx_retain(&context, 0) != driver::result::success)
        skip("no CUDA device", "its context cannot be retained");
    char const* const given = std::getenv("OMP_CO_CUDA_LIBRARY");
    return ::dlopen(given != nullptr && *given != '\0' ? given : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
}

void* library()
{
    static void* const handle = present() ? open_simulator() : open_driver();
    return handle;
}

template <class F>
F* find(char const* name)
{
    void* const found = ::dlsym(library(), name);
    if (found == nullptr) throw std::runtime_error(std::string("the driver lacks ") + name);
    return reinterpret_cast<F*>(found);
}

[[maybe_unused]] void* const loaded_first = library();

} // namespace

bool present()
{
    static bool const simulated = [] {
        char const* const whose = std::getenv("OMP_CO_TEST_DRIVER");
        return whose == nullptr || std::strcmp(whose, "device") != 0;
    }();
    return simulated;
}

boost::test_tools::assertion_result called(char const* function, unsigned long times)
{
    unsigned long const calls = present() ? count(function) : times;
    boost::test_tools::assertion_result same(calls == times);
    same.message() << calls << " calls of " << function << ", not " << times;
    return same;
}

void reset() { find<void()>("omp_co_sim_reset")(); }

void set(char const* name, char const* value)
{
    if (find<int(char const*, char const*)>("omp_co_sim_set")(name, value) != 0)
        throw std::runtime_error(std::string("the simulator refuses ") + name + "=" + value);
}

unsigned long count(char const* function)
{
    return find<unsigned long(char const*)>("omp_co_sim_count")(function);
}

void reset_device(int number) { (void)find<int(int)>("cuDevicePrimaryCtxReset_v2")(number); }

void retain_device(int number)
{
    void* context = nullptr;
    if (find<int(void**, int)>("cuDevicePrimaryCtxRetain")(&context, number) != 0)
        throw std::runtime_error("the device is not retained");
}

void release_device(int number) { (void)find<int(int)>("cuDevicePrimaryCtxRelease_v2")(number); }

void begin_capture(CUstream_st* stream)
{
    if (find<int(CUstream_st*, int)>("cuStreamBeginCapture_v2")(stream, 0) != 0)
        throw std::runtime_error("the capture does not begin");
}

void end_capture(CUstream_st* stream)
{
    void* graph = nullptr;
    if (find<int(CUstream_st*, void**)>("cuStreamEndCapture")(stream, &graph) != 0)
        throw std::runtime_error("the capture was disturbed");
    (void)find<int(void*)>("cuGraphDestroy")(graph);
}

std::vector<std::string> report()
{
    if (!present()) return {};
    auto* const write = find<std::size_t(char*, std::size_t)>("omp_co_sim_report");
    std::string text(write(nullptr, 0) + 1, '\0');
    text.resize(write(text.data(), text.size()));
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

} // namespace cuda_test::simulator
