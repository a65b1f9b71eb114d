// SPDX-License-Identifier: BSL-1.0
// What exported functions share: checks at the start, look-up of handles, order between streams.
#include "driver.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <unistd.h>
#include <utility>

namespace omp_co_sim {

constinit thread_local thread_state* thread_state::of_thread = nullptr;

// Exit handlers and static objects of the program call the driver after the main thread's thread_local objects are
// gone, so the main thread's state stays.
struct at_thread_end {
    ~at_thread_end()
    {
        if (::gettid() != ::getpid()) delete std::exchange(thread_state::of_thread, nullptr);
    }
};

thread_state& thread_state::renew()
{
    if (of_thread == nullptr) {
        static thread_local at_thread_end const end;
        static_cast<void>(end);
        of_thread = new thread_state;
    }
    auto& state = *of_thread;
    state.stack.clear();
    state.capture_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    state.generation = driver::get().generation.load();
    return state;
}

session::session(function_id function) : sim(driver::get()), lock(sim.mutex), function_(function)
{
    auto& calls = sim.calls[std::size_t(function)]; // read without the lock
    calls.store(calls.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

std::string_view session::name() const { return functions()[std::size_t(function_)].symbol; }

void session::misuse(std::string const& text) { sim.log.misuse(name(), text); }

void session::begin(bool anywhere)
{
    if (!anywhere) {
        if (in_host_function()) {
            misuse("called inside a host function");
            throw failure{CUDA_ERROR_NOT_PERMITTED};
        }
        require(!sim.ended, CUDA_ERROR_DEINITIALIZED);
        require(sim.initialised, CUDA_ERROR_NOT_INITIALIZED);
        if (functions()[std::size_t(function_)].since > sim.config.driver_version) {
            misuse("newer than the driver");
            throw failure{CUDA_ERROR_NOT_SUPPORTED};
        }
    }
    if (!sim.config.faults.empty()) inject();
    if (!sim.config.call_us.none()) take_time();
}

void session::inject()
{
    auto const& entry = functions()[std::size_t(function_)];
    CUresult error = CUDA_SUCCESS;
    for (auto& rule : sim.config.faults) {
        if (rule.function != "*" && rule.function != entry.symbol && rule.function != entry.base) continue;
        if (++rule.seen == rule.nth) error = rule.error;
    }
    if (error == CUDA_SUCCESS) return;
    if (is_sticky(error) && !sim.devices.empty()) {
        auto const& stack = thread_state::get().stack;
        auto& d = stack.empty() || !stack.back() ? *sim.devices.front() : *stack.back()->where;
        sim.schedule.abort(*d.domain, error, "injected");
    }
    throw failure{error};
}

void session::take_time()
{
    auto const& entry = functions()[std::size_t(function_)];
    double const us = std::max(sim.config.call_us.of(entry.symbol), sim.config.call_us.of(entry.base));
    if (us == 0) return;
    lock.unlock();
    std::this_thread::sleep_for(std::chrono::duration<double, std::micro>(us));
    lock.lock();
}

void session::healthy(device const& d) const { require(d.domain->fault == CUDA_SUCCESS, d.domain->fault); }

std::shared_ptr<context> const& session::current_pointer()
{
    static std::shared_ptr<context> const none;
    auto const& stack = thread_state::get().stack;
    return stack.empty() ? none : stack.back();
}

context& session::current()
{
    auto const& c = current_pointer();
    if (!c) {
        misuse("wrong context: no context is current");
        throw failure{CUDA_ERROR_INVALID_CONTEXT};
    }
    if (!c->active) {
        misuse("wrong context: the current context was destroyed");
        throw failure{CUDA_ERROR_CONTEXT_IS_DESTROYED};
    }
    healthy(*c->where);
    return *c;
}

device& session::device_at(CUdevice ordinal)
{
    require(ordinal >= 0 && static_cast<std::size_t>(ordinal) < sim.devices.size(),
            CUDA_ERROR_INVALID_DEVICE);
    return *sim.devices[static_cast<std::size_t>(ordinal)];
}

template <class Table, class Handle>
auto const& session::look_up(Table const& table, Handle handle, char const* kind)
{
    auto const& object = table.find(handle);
    if (!object) {
        misuse(describe(kind, handle) +
               (table.was(handle) ? " used after it was destroyed" : " is no such handle"));
        throw failure{CUDA_ERROR_INVALID_HANDLE};
    }
    return object;
}

std::shared_ptr<context> const& session::find(CUcontext handle)
{
    auto const& c = sim.contexts.find(handle);
    if (!c && sim.contexts.was(handle)) {
        misuse(describe("context", handle) + " used after it was destroyed");
        throw failure{CUDA_ERROR_CONTEXT_IS_DESTROYED};
    }
    require(c != nullptr, CUDA_ERROR_INVALID_CONTEXT);
    return c;
}

std::shared_ptr<stream> const& session::find(CUstream handle)
{
    auto& c = current();
    if (handle == nullptr || handle == CU_STREAM_LEGACY) return c.legacy;
    if (handle == CU_STREAM_PER_THREAD) {
        auto& s = c.per_thread[std::this_thread::get_id()];
        if (!s) {
            s = std::make_shared<stream>();
            s->owner = current_pointer();
            s->where = c.where;
            s->number = sim.next_number++;
            s->queue->domain = c.where->domain;
            c.where->domain->queues.push_back(s->queue);
            c.streams.push_back(s);
        }
        return s;
    }
    auto const& s = look_up(sim.streams, handle, "stream");
    healthy(*s->where);
    return s;
}

std::shared_ptr<event> const& session::find(CUevent handle)
{
    current();
    auto const& e = look_up(sim.events, handle, "event");
    healthy(*e->where);
    return e;
}

std::shared_ptr<module> session::find(CUmodule handle) { return look_up(sim.modules, handle, "module"); }

std::shared_ptr<memory_pool> session::find(CUmemoryPool handle) { return look_up(sim.pools, handle, "pool"); }

void session::must_be_current(stream const& s)
{
    auto const& c = current_pointer();
    if (!s.owner.owner_before(c) && !c.owner_before(s.owner)) return;
    misuse("wrong context: the stream belongs to another context than the current one");
    throw failure{CUDA_ERROR_INVALID_HANDLE};
}

bool session::enqueue(stream& s, std::shared_ptr<command> const& c)
{
    healthy(*s.where);
    if (s.capturing) {
        require(!s.capturing->invalid, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        ++s.capturing->recorded->nodes;
        return false;
    }
    if (s.legacy) {
        for (auto const& other : s.owner.lock()->streams) {
            if (!other->capturing || !other->blocking()) continue;
            other->capturing->invalid = true;
            throw failure{CUDA_ERROR_STREAM_CAPTURE_IMPLICIT};
        }
    }
    if (s.queue->commands.size() >= engine::room) return enqueue_late(s.shared_from_this(), c);
    put(s, c);
    return true;
}

// The stream may be destroyed meanwhile.
bool session::enqueue_late(std::shared_ptr<stream> const& s, std::shared_ptr<command> const& c)
{
    sim.schedule.wait_for_room(lock, *s->queue);
    healthy(*s->where);
    put(*s, c);
    return true;
}

void session::put(stream& s, std::shared_ptr<command> const& c)
{
    auto const after = [&](stream const& other) {
        if (!other.queue->commands.empty()) sim.schedule.depend(*c, *other.queue->commands.back());
    };
    if (s.legacy) {
        for (auto const& other : s.owner.lock()->streams)
            if (other->blocking()) after(*other);
    }
    if (s.blocking()) after(*s.owner.lock()->legacy);
    sim.schedule.submit(c, s.queue, static_cast<nanoseconds>(sim.config.latency_us * 1000));
}

void session::wait(std::shared_ptr<command> const& c, device const& where)
{
    sim.schedule.wait(lock, c);
    healthy(where);
}

void session::synchronise(stream& s)
{
    auto const queue = s.queue;
    auto& where = *s.where;
    if (!queue->commands.empty()) sim.schedule.wait(lock, std::shared_ptr(queue->commands.back()));
    healthy(where);
}

void session::synchronise(context& c)
{
    std::vector<std::shared_ptr<command>> tails;
    auto const note = [&](stream const& s) {
        if (!s.queue->commands.empty()) tails.push_back(s.queue->commands.back());
    };
    auto& where = *c.where;
    note(*c.legacy);
    for (auto const& s : c.streams) note(*s);
    for (auto const& tail : tails) sim.schedule.wait(lock, tail);
    healthy(where);
}

void session::not_capturing(stream const& s)
{
    if (!s.capturing) return;
    s.capturing->invalid = true;
    misuse("not allowed on a stream that captures; the capture is invalid now");
    throw failure{CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED};
}

void session::unsafe_while_capturing()
{
    auto const mode = thread_state::get().capture_mode;
    if (mode == CU_STREAM_CAPTURE_MODE_RELAXED || sim.captures.empty()) return;
    auto const here = std::this_thread::get_id();
    bool forbidden = false;
    for (auto const& c : sim.captures) {
        bool const mine = c->thread == here && c->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
        bool const global = mode == CU_STREAM_CAPTURE_MODE_GLOBAL && c->mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
        if (!mine && !global) continue;
        c->invalid = true;
        forbidden = true;
    }
    if (!forbidden) return;
    misuse("not allowed while a stream captures; the capture is invalid now");
    throw failure{CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED};
}

} // namespace omp_co_sim
