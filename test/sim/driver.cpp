// SPDX-License-Identifier: BSL-1.0
// Start, end and reset of the simulated driver; what is left over at the end.
#include "driver.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>

namespace omp_co_sim {
namespace {

char const* describe_kind(memory_kind kind)
{
    switch (kind) {
    case memory_kind::device:
        return "device memory";
    case memory_kind::pool:
        return "stream-ordered memory";
    case memory_kind::module_global:
        return "global variable";
    case memory_kind::managed:
        return "managed memory";
    case memory_kind::pinned:
        return "pinned memory";
    case memory_kind::registered:
        return "registered memory";
    }
    return "memory";
}

std::string on_device(int ordinal) { return " of device " + std::to_string(ordinal); }

// After all handlers of exit, which may still call the driver.
__attribute__((destructor)) void at_unload()
{
    auto& sim = driver::get();
    lock_type const lock(sim.mutex);
    sim.ended = true;
    if (sim.config.report.empty()) return;
    std::ofstream file(sim.config.report, std::ios::app);
    for (auto const& line : sim.lines()) file << line << '\n';
    if (!file) std::fprintf(stderr, "omp_co_sim: cannot write %s\n", sim.config.report.c_str());
}

} // namespace

std::array<function_entry, std::size_t(function_id::count)> const& functions()
{
    static constexpr std::array<function_entry, std::size_t(function_id::count)> entries{{
#define OMP_CO_SIM_FUNCTION(base, symbol, since) {#base, #symbol, since},
#include "functions.inc"
#undef OMP_CO_SIM_FUNCTION
    }};
    return entries;
}

std::string describe(char const* kind, void const* handle)
{
    char text[64];
    std::snprintf(text, sizeof text, "%s %p", kind, handle);
    return text;
}

device::device(int number, settings const& s)
    : ordinal(number),
      memory(s.memory),
      addresses(std::max<std::size_t>(4 * s.memory, std::size_t{1} << 30)),
      multiprocessors(static_cast<std::size_t>(s.concurrent_kernels))
{
    domain->number = number;
    primary = std::make_shared<context>();
    primary->where = this;
    primary->primary = true;
    default_pool = std::make_shared<memory_pool>();
    default_pool->device = number;
    default_pool->is_default = true;
    current_pool = default_pool;
}

driver::driver()
{
    schedule.on_fault([this](fault_domain const& d) {
        if (d.fault == CUDA_ERROR_DEINITIALIZED) return;
        log.note("device " + std::to_string(d.number) + " is lost: " + error_name(d.fault) + ": " + d.text);
    });
    config = settings::from_environment(config_problem);
    if (!config_problem.empty()) std::fprintf(stderr, "omp_co_sim: %s", config_problem.c_str());
}

void driver::initialise()
{
    if (initialised) return;
    require(config_problem.empty(), CUDA_ERROR_INVALID_VALUE);
    require(config.devices > 0, CUDA_ERROR_NO_DEVICE);
    schedule.threads(config.threads);
    for (int i = 0; i < config.devices; ++i) {
        devices.push_back(std::make_unique<device>(i, config));
        auto& d = *devices.back();
        contexts.add(d.primary, "cuDevicePrimaryCtxRetain");
        pools.add(d.default_pool, "the driver");
    }
    initialised = true;
}

void driver::reset(lock_type& lock)
{
    for (auto const& d : devices) schedule.abort(*d->domain, CUDA_ERROR_DEINITIALIZED, "reset");
    schedule.drain(lock);
    contexts.each([](auto const& c, auto const&) {
        c->active = false;
        c->streams.clear();
        c->per_thread.clear();
        c->legacy.reset();
    });
    contexts.clear();
    streams.clear();
    events.clear();
    functions_of_modules.clear();
    modules.clear();
    kernels.clear();
    libraries.clear();
    pools.clear();
    graphs.clear();
    captures.clear();
    memory.clear();
    devices.clear();
    initialised = false;
    ++generation;
    for (auto& c : calls) c = 0;
    log.clear();
    config_problem.clear();
    config = settings::from_environment(config_problem);
}

void driver::release(allocation const& a)
{
    auto& d = *devices[static_cast<std::size_t>(a.device)];
    bool const in_device =
        a.kind == memory_kind::device || a.kind == memory_kind::pool || a.kind == memory_kind::module_global;
    memory.remove(a.base);
    if (!in_device) return;
    d.addresses.give(a.base, a.size);
    d.used -= rounded(a.size);
    if (a.pool) a.pool->used -= rounded(a.size);
}

// What belongs to a context goes with it.
void driver::destroy(lock_type& lock, std::shared_ptr<context> const& c)
{
    auto& d = *c->where;
    std::vector<std::shared_ptr<command>> tails;
    auto const note = [&](stream const& s) {
        if (!s.queue->commands.empty()) tails.push_back(s.queue->commands.back());
    };
    if (c->legacy) note(*c->legacy);
    for (auto const& s : c->streams) note(*s);
    for (auto const& tail : tails) schedule.wait(lock, tail);
    auto const mine = [&](auto const& object) { return object.owner.lock() == c; };
    for (auto const& s : c->streams) s->capturing.reset();
    streams.remove_if(mine);
    events.remove_if(mine);
    functions_of_modules.remove_if([&](function const& f) {
        auto const m = f.owner.lock();
        return !m || m->owner == c;
    });
    modules.remove_if([&](module const& m) { return m.owner == c; });
    libraries.each([&](auto const& l, auto const&) { l->modules.erase(c->handle); });
    for (auto const& a : memory.all())
        if (a->owner == c) release(*a);
    c->streams.clear();
    c->per_thread.clear();
    c->legacy.reset();
    c->peers.clear();
    c->active = false;
    std::erase_if(d.domain->queues, [](auto const& q) { return q.expired(); });
}

// A lost device cannot give anything back, so nothing of it is a leak.
std::vector<std::string> driver::leaks() const
{
    std::vector<std::string> found;
    auto const lost = [](device const* d) { return !d || d->domain->fault != CUDA_SUCCESS; };
    auto const note = [&](char const* kind, void const* handle, device const* d, std::string const& creator) {
        if (lost(d)) return;
        found.push_back("leak: " + describe(kind, handle) + on_device(d->ordinal) + ", from " + creator);
    };
    contexts.each([&](auto const& c, auto const& creator) {
        if (c->active && (!c->primary || c->where->primary_count > 0))
            note("context", c->handle, c->where, creator);
    });
    streams.each([&](auto const& s, auto const& creator) { note("stream", s->handle, s->where, creator); });
    events.each([&](auto const& e, auto const& creator) { note("event", e->handle, e->where, creator); });
    modules.each([&](auto const& m, auto const& creator) {
        if (!m->of_library) note("module", m->handle, m->owner->where, creator);
    });
    if (!devices.empty()) {
        libraries.each([&](auto const& l, auto const& creator) {
            note("library", l->handle, devices.front().get(), creator);
        });
        graphs.each([&](auto const& g, auto const& creator) {
            note("graph", g->handle, devices.front().get(), creator);
        });
    }
    pools.each([&](auto const& p, auto const& creator) {
        if (!p->is_default)
            note("pool", p->handle, devices[static_cast<std::size_t>(p->device)].get(), creator);
    });
    for (auto const& a : memory.all()) {
        if (a->kind == memory_kind::module_global || a->dying) continue;
        auto const* const d = devices[static_cast<std::size_t>(a->device)].get();
        if (lost(d)) continue;
        found.push_back("leak: " + describe(describe_kind(a->kind), reinterpret_cast<void*>(a->base)) +
                        on_device(d->ordinal) + ", " + std::to_string(a->size) + " bytes");
    }
    std::sort(found.begin(), found.end());
    return found;
}

std::vector<std::string> driver::lines() const
{
    auto all = log.lines();
    auto const left = leaks();
    all.insert(all.end(), left.begin(), left.end());
    return all;
}

} // namespace omp_co_sim
