// SPDX-License-Identifier: BSL-1.0
// The driver that OMP_CO_CUDA_LIBRARY names, or libcuda.so.1.
#include "facts.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

namespace facts {

api cu;

namespace {

[[noreturn]] void no_driver(std::string const& why)
{
    std::printf("skipped: %s\n", why.c_str());
    std::exit(77);
}

} // namespace

void load_driver()
{
    char const* given = std::getenv("OMP_CO_CUDA_LIBRARY");
    std::string const file = given && *given ? given : "libcuda.so.1";
    void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) no_driver(::dlerror());
#define OMP_CO_FACTS_FUNCTION(symbol)                                                                        \
    cu.symbol = reinterpret_cast<decltype(cu.symbol)>(::dlsym(library, #symbol));                            \
    if (!cu.symbol && std::strcmp(#symbol, "cuFuncGetParamInfo") != 0)                                       \
        no_driver(file + " does not export " #symbol);
#include "functions.inc"
#undef OMP_CO_FACTS_FUNCTION
    auto const started = cu.cuInit(0);
    int devices = 0;
    if (started == CUDA_SUCCESS) cu.cuDeviceGetCount(&devices);
    if (devices == 0)
        no_driver("cuInit of " + file + " answers " + std::to_string(static_cast<int>(started)));
}

int attribute(CUdevice_attribute which)
{
    int value = 0;
    ok(cu.cuDeviceGetAttribute(&value, which, 0));
    return value;
}

} // namespace facts
