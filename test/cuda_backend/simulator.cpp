// SPDX-License-Identifier: BSL-1.0
// Makes the simulator the driver of this program before anything looks for one. OMP_CO_TEST_SIMULATOR names it; without
// it, there is nothing to test.
#include "cuda_backend/simulator.hpp"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <sstream>
#include <stdexcept>

namespace cuda_test::simulator {

namespace {

void* library()
{
    static void* const handle = [] {
        char const* path = std::getenv("OMP_CO_TEST_SIMULATOR");
#ifdef OMP_CO_TEST_SIMULATOR
        if (path == nullptr) path = OMP_CO_TEST_SIMULATOR;
#endif
        void* const opened = path != nullptr ? ::dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
        if (opened == nullptr) {
            std::fprintf(stderr, "skipped: no driver simulator (%s)\n",
                         path != nullptr ? ::dlerror() : "OMP_CO_TEST_SIMULATOR is not set");
            std::_Exit(77);
        }
        (void)::setenv("OMP_CO_CUDA_LIBRARY", path, 1);
        return opened;
    }();
    return handle;
}

template <class F>
F* find(char const* name)
{
    void* const found = ::dlsym(library(), name);
    if (found == nullptr) throw std::runtime_error(std::string("the simulator lacks ") + name);
    return reinterpret_cast<F*>(found);
}

[[maybe_unused]] void* const loaded_first = library();

} // namespace

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
    auto* const write = find<std::size_t(char*, std::size_t)>("omp_co_sim_report");
    std::string text(write(nullptr, 0) + 1, '\0');
    text.resize(write(text.data(), text.size()));
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

} // namespace cuda_test::simulator
