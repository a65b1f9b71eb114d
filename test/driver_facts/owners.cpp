// SPDX-License-Identifier: BSL-1.0
// Owners of the driver's objects.
#include "facts.hpp"

#include <chrono>
#include <thread>

namespace facts {

stream::stream(unsigned flags) { ok(cu.cuStreamCreate(&handle_, flags)); }
stream::~stream() { cu.cuStreamDestroy_v2(handle_); }

event::event(unsigned flags) { ok(cu.cuEventCreate(&handle_, flags)); }
event::~event() { cu.cuEventDestroy_v2(handle_); }

device_memory::device_memory(std::size_t bytes) { ok(cu.cuMemAlloc_v2(&address_, bytes)); }
device_memory::~device_memory() { cu.cuMemFree_v2(address_); }

int device_memory::first() const
{
    int value = 0;
    ok(cu.cuMemcpyDtoH_v2(&value, address_, sizeof value));
    return value;
}

gate::gate(CUstream s)
{
    using latch_pointer = std::shared_ptr<latch>;
    auto shared = std::make_unique<latch_pointer>(latch_);
    auto const wait = [](void* argument) {
        std::unique_ptr<latch_pointer> const owned(static_cast<latch_pointer*>(argument));
        auto& l = **owned;
        std::unique_lock lock(l.mutex);
        // By the system's clock: ThreadSanitizer does not know waits by the steady one.
        l.changed.wait_until(lock, std::chrono::system_clock::now() + std::chrono::seconds(3),
                             [&l] { return l.opened; });
    };
    ok(cu.cuLaunchHostFunc(s, wait, shared.get()));
    static_cast<void>(shared.release());
}

void gate::open()
{
    std::lock_guard const lock(latch_->mutex);
    latch_->opened = true;
    latch_->changed.notify_all();
}

kernels::kernels() { ok(cu.cuModuleLoadData(&handle_, kernels_ptx)); }
kernels::~kernels() { cu.cuModuleUnload(handle_); }

CUfunction kernels::operator[](char const* name) const
{
    CUfunction f = nullptr;
    ok(cu.cuModuleGetFunction(&f, handle_, name));
    return f;
}

CUresult launch(CUfunction f, unsigned threads, CUstream s, std::vector<void*> parameters,
                unsigned shared_bytes)
{
    return cu.cuLaunchKernel(f, 1, 1, 1, threads, 1, 1, shared_bytes, s, parameters.data(), nullptr);
}

void sleep_a_little() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

} // namespace facts
