// SPDX-License-Identifier: BSL-1.0
// What the facts share: the driver's functions, checks, and owners of the driver's objects.
//
// A fact is a case that tries one sentence of the vendor's documentation on whatever library passes for the driver.
// "Driver API" in a citation is the CUDA Driver API reference manual, "Programming Guide" the CUDA C++ Programming Guide.
#pragma once

#include <cuda.h>

// The first version, which older drivers have too, takes the same arguments.
#undef cuEventElapsedTime
extern "C" CUresult CUDAAPI cuEventElapsedTime(float*, CUevent, CUevent);

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <source_location>
#include <stdexcept>
#include <string>
#include <vector>

namespace facts {

struct api {
#define OMP_CO_FACTS_FUNCTION(symbol) decltype(&::symbol) symbol = nullptr;
#include "functions.inc"
#undef OMP_CO_FACTS_FUNCTION
};

extern api cu;

/// Loads and starts the driver; without one, or without a device, the program ends with 77.
void load_driver();

/// Thrown when this machine cannot show the fact.
struct skipped : std::runtime_error {
    using std::runtime_error::runtime_error;
};

using place = std::source_location;

void check(bool condition, std::string const& text, place where = place::current());

/// Checks that a call answered `wanted`.
void answers(CUresult got, CUresult wanted, place where = place::current());

/// Checks that a call succeeded; when not, the fact ends.
void ok(CUresult got, place where = place::current());

/// An attribute of device 0.
int attribute(CUdevice_attribute which);

/// Skips the fact where the machine has fewer.
void need_devices(int count);

enum class process {
    shared, ///< with other facts
    own     ///< because it leaves the process without a driver
};

/// Each fact finds the primary context of device 0 current.
struct fact {
    fact(char const* name, char const* citation, void (*body)(), process where = process::shared);
};

class stream {
public:
    explicit stream(unsigned flags = CU_STREAM_NON_BLOCKING);
    stream(stream const&) = delete;
    stream& operator=(stream const&) = delete;
    ~stream();
    operator CUstream() const { return handle_; }

private:
    CUstream handle_ = nullptr;
};

class event {
public:
    explicit event(unsigned flags = CU_EVENT_DISABLE_TIMING);
    event(event const&) = delete;
    event& operator=(event const&) = delete;
    ~event();
    operator CUevent() const { return handle_; }

private:
    CUevent handle_ = nullptr;
};

class device_memory {
public:
    explicit device_memory(std::size_t bytes);
    device_memory(device_memory const&) = delete;
    device_memory& operator=(device_memory const&) = delete;
    ~device_memory();
    operator CUdeviceptr() const { return address_; }

    /// The first value, copied back.
    int first() const;

private:
    CUdeviceptr address_ = 0;
};

/// Page-locked memory of the host, zeroed; T is a number.
template <class T>
class pinned {
public:
    explicit pinned(std::size_t count)
    {
        void* memory = nullptr;
        ok(cu.cuMemHostAlloc(&memory, count * sizeof(T), 0));
        first_ = static_cast<T*>(memory);
        for (std::size_t i = 0; i < count; ++i) first_[i] = T{};
    }
    pinned(pinned const&) = delete;
    pinned& operator=(pinned const&) = delete;
    ~pinned() { cu.cuMemFreeHost(first_); }

    T* get() const { return first_; }
    CUdeviceptr address() const { return reinterpret_cast<CUdeviceptr>(first_); }
    T read(std::size_t i = 0) const { return std::atomic_ref<T>(first_[i]).load(std::memory_order_acquire); }
    void write(T value) const { std::atomic_ref<T>(*first_).store(value, std::memory_order_release); }

private:
    T* first_ = nullptr;
};

/// Holds a stream until it is opened: a host function that waits. After three seconds it opens itself, so that a driver
/// which waits where it should not makes a fact fail and not hang.
class gate {
public:
    explicit gate(CUstream s);
    gate(gate const&) = delete;
    gate& operator=(gate const&) = delete;
    ~gate() { open(); }
    void open();

private:
    struct latch {
        std::mutex mutex;
        std::condition_variable changed;
        bool opened = false;
    };
    std::shared_ptr<latch> latch_ = std::make_shared<latch>();
};

/// The kernels of kernels.cpp, loaded into the current context.
class kernels {
public:
    kernels();
    kernels(kernels const&) = delete;
    kernels& operator=(kernels const&) = delete;
    ~kernels();
    operator CUmodule() const { return handle_; }
    CUfunction operator[](char const* name) const;

private:
    CUmodule handle_ = nullptr;
};

extern char const* const kernels_ptx;

/// One block.
CUresult launch(CUfunction f, unsigned threads, CUstream s, std::vector<void*> parameters = {},
                unsigned shared_bytes = 0);

/// Waits for a condition, five seconds at most.
template <class Condition>
bool soon(Condition const& condition);

void sleep_a_little();

template <class Condition>
bool soon(Condition const& condition)
{
    for (int i = 0; i < 5000; ++i) {
        if (condition()) return true;
        sleep_a_little();
    }
    return false;
}

} // namespace facts
