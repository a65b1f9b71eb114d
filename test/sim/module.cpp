// SPDX-License-Identifier: BSL-1.0
// Loading code into a context.
#include "module.hpp"

#include "allocate.hpp"

#include <algorithm>
#include <cstring>

namespace omp_co_sim {
namespace {

std::shared_ptr<allocation> memory_for(session& s, global_facts const& g)
{
    auto& d = *s.current().where;
    if (g.managed) {
        s.sim.log.note("managed variables are not simulated: " + g.name);
        throw failure{CUDA_ERROR_NOT_SUPPORTED};
    }
    auto a =
        allocate_on_device(s, d, std::max<std::size_t>(g.size, 1), memory_kind::module_global, available(d));
    a->owner = s.current_pointer();
    return a;
}

std::shared_ptr<function> const& function_of_kernel(session& s, kernel const& k)
{
    auto const l = k.owner.lock();
    require(l != nullptr, CUDA_ERROR_INVALID_HANDLE);
    auto& m = l->modules[s.current().handle];
    if (!m) m = instantiate(s, l->image, true);
    return function_at(s, m, k.index);
}

} // namespace

std::shared_ptr<module> instantiate(session& s, std::shared_ptr<code const> image, bool of_library)
{
    auto m = std::make_shared<module>();
    m->owner = s.current_pointer();
    m->image = std::move(image);
    m->of_library = of_library;
    try {
        for (auto const& g : m->image->globals()) {
            m->globals.push_back(memory_for(s, g));
            m->addresses.push_back(m->globals.back()->base);
        }
    } catch (failure const&) {
        for (auto const& a : m->globals) s.sim.release(*a);
        throw;
    }
    for (std::size_t i = 0; i < m->globals.size(); ++i) {
        auto const bytes = m->image->initial_bytes(i, m->addresses);
        if (!bytes.empty()) std::memcpy(m->globals[i]->bytes.get(), bytes.data(), bytes.size());
    }
    s.sim.modules.add(m, std::string(s.name()));
    return m;
}

std::shared_ptr<function> const& function_at(session& s, std::shared_ptr<module> const& m, std::size_t index)
{
    auto& f = m->functions[index];
    if (f) return f;
    f = std::make_shared<function>();
    f->owner = m;
    f->index = index;
    f->dynamic_shared -= static_cast<int>(m->image->kernels()[index].static_shared);
    s.sim.functions_of_modules.add(f, std::string(s.name()));
    return f;
}

std::shared_ptr<function> const& find_function(session& s, CUfunction handle)
{
    if (auto const& f = s.sim.functions_of_modules.find(handle)) return f;
    if (auto const k = s.sim.kernels.find(reinterpret_cast<CUkernel>(handle)))
        return function_of_kernel(s, *k);
    s.misuse(describe("function", handle) + (s.sim.functions_of_modules.was(handle)
                                                 ? " used after its module was unloaded"
                                                 : " is no such handle"));
    throw failure{CUDA_ERROR_INVALID_HANDLE};
}

kernel_facts const& facts_of(function const& f)
{
    auto const m = f.owner.lock();
    require(m != nullptr, CUDA_ERROR_INVALID_HANDLE);
    return m->image->kernels()[f.index];
}

} // namespace omp_co_sim
