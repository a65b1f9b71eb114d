// SPDX-License-Identifier: BSL-1.0
// The simulator's whole state, and what every exported function does first: count, inject, lock, look up.
#pragma once

#include "engine.hpp"
#include "memory.hpp"
#include "objects.hpp"
#include "registry.hpp"
#include "report.hpp"
#include "settings.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <vector>

namespace omp_co_sim {

enum class function_id : std::uint16_t {
#define OMP_CO_SIM_FUNCTION(base, symbol, since) id_##symbol,
#include "functions.inc"
#undef OMP_CO_SIM_FUNCTION
    count
};

using enum function_id;

struct function_entry {
    char const* base;
    char const* symbol;
    int since;
};

/// In the order of function_id.
std::array<function_entry, std::size_t(function_id::count)> const& functions();

/// Thrown inside the simulator; the exported function answers the code.
struct failure {
    CUresult code;
};

inline void require(bool condition, CUresult otherwise = CUDA_ERROR_INVALID_VALUE)
{
    if (!condition) throw failure{otherwise};
}

class driver {
public:
    static driver& get()
    {
        static driver* const instance = new driver; // never destroyed: threads may outlive static objects
        return *instance;
    }

    std::mutex mutex;
    settings config;
    std::string config_problem;
    report log;
    engine schedule{mutex};
    address_space memory;
    std::vector<std::unique_ptr<device>> devices;

    table<CUcontext, context> contexts{1};
    table<CUstream, stream> streams{2};
    table<CUevent, event> events{3};
    table<CUmodule, module> modules{4};
    table<CUfunction, function> functions_of_modules{5};
    table<CUlibrary, library> libraries{6};
    table<CUkernel, kernel> kernels{7};
    table<CUmemoryPool, memory_pool> pools{8};
    table<CUgraph, graph> graphs{9};
    std::vector<std::shared_ptr<capture>> captures;

    bool initialised = false;
    bool ended = false;
    std::uint64_t next_number = 1; ///< of streams, captures and contexts
    std::atomic<std::uint64_t> generation = 1;
    std::array<std::atomic<unsigned long>, std::size_t(function_id::count)> calls{};

    // With the lock held.

    void initialise();
    void reset(lock_type& lock);
    void destroy(lock_type& lock, std::shared_ptr<context> const& c);
    void release(allocation const& a);
    std::vector<std::string> leaks() const;
    std::vector<std::string> lines() const;

private:
    driver();
};

/// What belongs to one thread of the program.
struct thread_state {
    std::uint64_t generation = 0;
    std::vector<std::shared_ptr<context>> stack;
    CUstreamCaptureMode capture_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

    static thread_state& get()
    {
        thread_state* const known = of_thread;
        return known != nullptr &&
                       known->generation == driver::get().generation.load(std::memory_order_relaxed)
                   ? *known
                   : renew();
    }

private:
    static thread_state& renew();
    static constinit thread_local thread_state* of_thread OMP_CO_SIM_OF_THREAD;
    friend struct at_thread_end;
};

/// One call of an exported function; holds the lock.
class session {
public:
    [[gnu::hot]] explicit session(function_id function);

    driver& sim;
    lock_type lock;

    /// Throws when the call must not go on: inside a host function, before cuInit, by an injected fault.
    [[gnu::hot]] void begin(bool anywhere);

    /// The thread's context, alive and without fault.
    [[gnu::hot]] context& current();
    [[gnu::hot]] std::shared_ptr<context> const& current_pointer();

    device& device_at(CUdevice ordinal);
    // What they answer lives as long as the lock is held, unless it is copied.
    [[gnu::hot]] std::shared_ptr<context> const& find(CUcontext handle);
    [[gnu::hot]] std::shared_ptr<stream> const& find(CUstream handle);
    std::shared_ptr<event> const& find(CUevent handle);
    std::shared_ptr<module> find(CUmodule handle);
    std::shared_ptr<memory_pool> find(CUmemoryPool handle);

    void healthy(device const& d) const;
    void misuse(std::string const& text);

    /// Of the thread's current context, else the wrong context is reported.
    [[gnu::hot]] void must_be_current(stream const& s);

    /// False: the stream captures, and the command was only noted.
    [[gnu::hot]] bool enqueue(stream& s, std::shared_ptr<command> const& c);

    void synchronise(stream& s);
    void synchronise(context& c);
    void wait(std::shared_ptr<command> const& c, device const& where);

    /// A question about a stream that captures ends the capture.
    void not_capturing(stream const& s);

    /// A call that a capture in progress forbids.
    void unsafe_while_capturing();

    std::string_view name() const;

private:
    template <class Table, class Handle>
    auto const& look_up(Table const& table, Handle handle, char const* kind);
    bool enqueue_late(std::shared_ptr<stream> const& s, std::shared_ptr<command> const& c);
    [[gnu::hot]] void put(stream& s, std::shared_ptr<command> const& c);
    void inject();
    void take_time();

    function_id function_;
};

/// The body of an exported function: `body(session&)` answers the result.
template <class Body>
CUresult call(function_id function, Body&& body, bool anywhere = false) noexcept
{
    try {
        session s(function);
        s.begin(anywhere);
        return body(s);
    } catch (failure const& f) {
        return f.code;
    } catch (std::bad_alloc const&) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
}

template <class Body>
CUresult call_anywhere(function_id function, Body&& body) noexcept
{
    return call(function, body, true);
}

/// "stream 0x510200000000".
std::string describe(char const* kind, void const* handle);

} // namespace omp_co_sim
