// SPDX-License-Identifier: BSL-1.0
// Kernels in C++ that a test registered.
#include "code.hpp"
#include "control.h"

#include <algorithm>
#include <mutex>

namespace omp_co_sim {
namespace {

struct registered_kernel {
    kernel_facts facts;
    omp_co_sim_kernel function = nullptr;
    void* user = nullptr;
};

std::mutex registry_mutex;

std::vector<registered_kernel>& registry()
{
    static auto* const list = new std::vector<registered_kernel>;
    return *list;
}

struct machine {
    memory_view* memory;
    bool illegal = false;
    std::uint64_t address = 0;
};

void* bytes_at(omp_co_sim_launch const* launch, unsigned long long address, std::size_t bytes)
{
    auto& m = *static_cast<machine*>(launch->machine);
    auto* const found = m.memory->at(address, bytes);
    if (!found) {
        m.illegal = true;
        m.address = address;
    }
    return found;
}

class registered final : public code {
public:
    explicit registered(std::vector<registered_kernel> kernels) : kernels_(std::move(kernels))
    {
        for (auto const& k : kernels_) facts_.push_back(k.facts);
    }
    std::vector<kernel_facts> const& kernels() const override { return facts_; }
    std::vector<global_facts> const& globals() const override { return no_globals_; }
    std::vector<std::byte> initial_bytes(std::size_t, std::span<std::uint64_t const>) const override
    {
        return {};
    }

    outcome run(std::size_t kernel, launch_shape const& shape, memory_view& memory,
                std::span<std::uint64_t const>) const override
    {
        auto const& k = kernels_[kernel];
        machine m{&memory};
        std::vector<void const*> parameters;
        for (auto const& p : k.facts.parameters) parameters.push_back(shape.parameters.data() + p.offset);
        omp_co_sim_launch launch{};
        std::copy_n(shape.grid, 3, launch.grid);
        std::copy_n(shape.block, 3, launch.block);
        launch.shared_bytes = shape.dynamic_shared;
        launch.parameters = parameters.data();
        launch.user = k.user;
        launch.at = bytes_at;
        launch.machine = &m;
        auto const status = static_cast<CUresult>(k.function(&launch));
        if (m.illegal) {
            return {CUDA_ERROR_ILLEGAL_ADDRESS,
                    k.facts.name + ": illegal address " + std::to_string(m.address)};
        }
        return {status, status == CUDA_SUCCESS ? std::string() : k.facts.name + " failed"};
    }

private:
    std::vector<registered_kernel> kernels_;
    std::vector<kernel_facts> facts_;
    std::vector<global_facts> no_globals_;
};

} // namespace

std::shared_ptr<code const> registered_code()
{
    std::lock_guard const lock(registry_mutex);
    return std::make_shared<registered>(registry());
}

} // namespace omp_co_sim

extern "C" void omp_co_sim_register_kernel(char const* name, size_t const* parameter_sizes, size_t parameters,
                                           omp_co_sim_kernel function, void* user)
{
    using namespace omp_co_sim;
    registered_kernel k;
    k.facts.name = name;
    k.function = function;
    k.user = user;
    std::size_t offset = 0;
    for (std::size_t i = 0; i < parameters; ++i) {
        auto const size = parameter_sizes[i];
        // As C would: scalars up to 16 bytes at a multiple of their size, the rest at 8.
        std::size_t const alignment =
            size == 1 || size == 2 || size == 4 || size == 8 || size == 16 ? size : 8;
        offset = (offset + alignment - 1) / alignment * alignment;
        k.facts.parameters.push_back({offset, size});
        offset += size;
    }
    k.facts.parameter_bytes = offset;
    std::lock_guard const lock(registry_mutex);
    std::erase_if(registry(), [&](auto const& old) { return old.facts.name == k.facts.name; });
    registry().push_back(std::move(k));
}
