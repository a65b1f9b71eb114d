// SPDX-License-Identifier: BSL-1.0
// The host backend driven by hand: kernels that are plain functions, and waiting for a signal.
#pragma once

#include "support/gate.hpp"

#include <omp_co/host/backend.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

namespace by_hand {

namespace backend = omp_co::backend;
using namespace std::chrono_literals;

inline constexpr auto patience = 20s;

/// A call whose kernel is any callable `f(first, last, scratch)`. Must outlive its signal.
template <class F>
class call {
public:
    explicit call(F f, std::size_t iterations = 0, std::size_t scratch = 0) : f_(f)
    {
        invocation_.what = &kernel;
        invocation_.closure = &f_;
        invocation_.scratch_bytes = scratch;
        if (iterations == 0) return;
        invocation_.range.dimensions = 1;
        invocation_.range.count[0] = iterations;
    }
    call(call const&) = delete;
    call& operator=(call const&) = delete;

    operator backend::invocation const&() const { return invocation_; }

private:
    static void run(backend::invocation const& c, std::size_t first, std::size_t last, void* scratch)
    {
        (*static_cast<F const*>(c.closure))(first, last, scratch);
    }

    static constexpr omp_co::detail::host_kernel kernel{&run};

    F f_;
    backend::invocation invocation_;
};

inline bool reaches(backend::stream& s, backend::sequence number)
{
    for (auto const end = std::chrono::steady_clock::now() + patience; s.completed().completed < number;) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::yield();
    }
    return true;
}

/// A host device with its streams. The workers are stopped before the streams go, as the interface wants it.
class machine {
public:
    explicit machine(omp_co::host::options const& o) : device_(o) {}
    explicit machine(unsigned workers) : machine(with_workers(workers)) {}
    machine(machine const&) = delete;
    machine& operator=(machine const&) = delete;
    ~machine() { device_.stop(); }

    backend::device& device() { return device_; }

    backend::stream* make_stream()
    {
        omp_co::error_code ec;
        streams_.push_back(device_.create_stream(ec));
        return streams_.back().get();
    }

    static omp_co::host::options with_workers(unsigned n)
    {
        omp_co::host::options o;
        o.workers = n;
        return o;
    }

private:
    omp_co::host::host_device device_;
    std::vector<std::unique_ptr<backend::stream>> streams_;
};

// Declared after the device, or the device waits for ever when a test fails.
using omp_co_test::gate;

} // namespace by_hand
