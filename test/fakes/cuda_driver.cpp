// SPDX-License-Identifier: BSL-1.0
// Something like a CUDA driver library, of which the environment says what it answers. Compiled in variants:
// FAKE_PROC_ADDRESS 2 or 1: exports that version of cuGetProcAddress; 0: none, so that the loader must go by symbols,
// those that are not defined here being the stub library's; FAKE_NO_INIT: exports nothing of a driver.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#ifdef FAKE_NO_INIT

extern "C" int fake_nothing() { return 0; }

#else

namespace {

int number(char const* variable, int otherwise)
{
    char const* const text = std::getenv(variable);
    return text != nullptr ? std::atoi(text) : otherwise;
}

} // namespace

extern "C" {

int cuInit(unsigned) { return number("FAKE_CUDA_INIT", 0); }

int cuDriverGetVersion(int* version)
{
    *version = number("FAKE_CUDA_VERSION", 13000);
    return number("FAKE_CUDA_VERSION_RESULT", 0);
}

int cuDeviceGetCount(int* count)
{
    *count = number("FAKE_CUDA_DEVICES", 1);
    return 0;
}

int cuGetErrorName(int value, char const** name)
{
    *name = value == 4711 ? "CUDA_ERROR_OF_THE_FUTURE" : nullptr;
    return value == 4711 ? 0 : 1;
}

int cuGetErrorString(int value, char const** text)
{
    if (value == 3) return 1;
    *text = "the fake's words";
    return 0;
}

#if FAKE_PROC_ADDRESS != 0

struct fake_request {
    char name[64];
    int version;
    unsigned long long flags;
};

fake_request fake_requests[256];
int fake_request_count = 0;

static int any_function() { return 0; }

// FAKE_CUDA_MISSING: names, with a blank after each.
static bool is_missing(char const* name)
{
    char const* at = std::getenv("FAKE_CUDA_MISSING");
    std::size_t const length = std::strlen(name);
    while (at != nullptr) {
        if (std::strncmp(at, name, length) == 0 && at[length] == ' ') return true;
        at = std::strchr(at, ' ');
        if (at != nullptr) ++at;
    }
    return false;
}

static int look_up(char const* name, void** address, int version, std::uint64_t flags)
{
    *address = nullptr;
    if (fake_request_count < 256) {
        fake_request& r = fake_requests[fake_request_count++];
        std::snprintf(r.name, sizeof r.name, "%s", name);
        r.version = version;
        r.flags = flags;
    }
    if (version > number("FAKE_CUDA_VERSION", 13000)) return 1;
    if (is_missing(name)) return 0;
    void (*found)() = reinterpret_cast<void (*)()>(&any_function);
    if (std::strcmp(name, "cuDeviceGetCount") == 0) found = reinterpret_cast<void (*)()>(&cuDeviceGetCount);
    if (std::strcmp(name, "cuGetErrorName") == 0) found = reinterpret_cast<void (*)()>(&cuGetErrorName);
    if (std::strcmp(name, "cuGetErrorString") == 0) found = reinterpret_cast<void (*)()>(&cuGetErrorString);
    *address = reinterpret_cast<void*>(found);
    return 0;
}

#if FAKE_PROC_ADDRESS == 2
int cuGetProcAddress_v2(char const* name, void** address, int version, std::uint64_t flags, int* status)
{
    int const answer = look_up(name, address, version, flags);
    if (answer == 0 && status != nullptr) *status = *address != nullptr ? 0 : 1;
    return answer;
}
#else
int cuGetProcAddress(char const* name, void** address, int version, std::uint64_t flags)
{
    return look_up(name, address, version, flags);
}
#endif

#else

// Symbols at address 0: found before the stub library's, they count as absent.
asm(".globl cuGetProcAddress\n.set cuGetProcAddress, 0\n"
    ".globl cuGetProcAddress_v2\n.set cuGetProcAddress_v2, 0\n");

#endif

} // extern "C"

#endif
