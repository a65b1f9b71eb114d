// SPDX-License-Identifier: BSL-1.0
// PTX images, run by the interpreter.
#include "code.hpp"

#include "ptx/interpreter.hpp"

#include <algorithm>

namespace omp_co_sim {
namespace {

class ptx_memory final : public ptx::memory {
public:
    explicit ptx_memory(memory_view& view) : view_(view) {}

    std::byte* at(std::uint64_t address, std::size_t bytes, ptx::access) override
    {
        return view_.at(address, bytes);
    }

    ptx::extent around(std::uint64_t address) override
    {
        auto const* const a = view_.around(address);
        if (!a) return {};
        return {a->base, a->size, a->bytes.get(), true};
    }

private:
    memory_view& view_;
};

CUresult status_of(ptx::fault_kind kind)
{
    switch (kind) {
    case ptx::fault_kind::none:
        return CUDA_SUCCESS;
    case ptx::fault_kind::illegal_address:
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    case ptx::fault_kind::misaligned_address:
        return CUDA_ERROR_MISALIGNED_ADDRESS;
    case ptx::fault_kind::invalid_address_space:
        return CUDA_ERROR_INVALID_ADDRESS_SPACE;
    case ptx::fault_kind::illegal_instruction:
        return CUDA_ERROR_ILLEGAL_INSTRUCTION;
    case ptx::fault_kind::assertion:
        return CUDA_ERROR_ASSERT;
    case ptx::fault_kind::deadlock:
    case ptx::fault_kind::instruction_limit:
        return CUDA_ERROR_LAUNCH_TIMEOUT;
    default:
        return CUDA_ERROR_LAUNCH_FAILED;
    }
}

kernel_facts facts_of(ptx::kernel const& k)
{
    kernel_facts facts;
    facts.name = k.name;
    for (auto const& p : k.parameters) facts.parameters.push_back({p.offset, p.size});
    facts.parameter_bytes = k.parameter_bytes;
    facts.static_shared = k.static_shared_bytes;
    facts.local_bytes = k.local_bytes;
    facts.registers = static_cast<unsigned>(std::clamp<std::size_t>(k.registers, 16, 255));
    auto const product = [](auto const& d) { return d[0] * d[1] * d[2]; };
    auto const most = std::max(product(k.max_threads), product(k.required_threads));
    if (most > 0) facts.max_threads = std::min(most, 1024U);
    return facts;
}

class ptx_code final : public code {
public:
    explicit ptx_code(ptx::module m) : module_(std::move(m))
    {
        for (auto const& k : module_.kernels()) kernels_.push_back(facts_of(k));
        for (auto const& v : module_.globals()) globals_.push_back({v.name, v.size, v.constant, v.managed});
    }
    std::vector<kernel_facts> const& kernels() const override { return kernels_; }
    std::vector<global_facts> const& globals() const override { return globals_; }

    std::vector<std::byte> initial_bytes(std::size_t global,
                                         std::span<std::uint64_t const> addresses) const override
    {
        return module_.initial_bytes(global, addresses);
    }

    outcome run(std::size_t kernel, launch_shape const& shape, memory_view& memory,
                std::span<std::uint64_t const> addresses) const override
    {
        ptx::launch launch;
        std::copy_n(shape.grid, 3, launch.grid.begin());
        std::copy_n(shape.block, 3, launch.block.begin());
        launch.dynamic_shared_bytes = shape.dynamic_shared;
        launch.parameters = {shape.parameters.data(), shape.parameters.size()};
        ptx_memory seen(memory);
        auto fault = ptx::run(module_.kernels()[kernel], launch, seen, addresses);
        return {status_of(fault.kind), std::move(fault.text)};
    }

private:
    ptx::module module_;
    std::vector<kernel_facts> kernels_;
    std::vector<global_facts> globals_;
};

} // namespace

std::shared_ptr<code const> code_from_ptx(std::string_view text)
{
    try {
        return std::make_shared<ptx_code>(ptx::parse(text));
    } catch (ptx::parse_error const& e) {
        throw image_error(CUDA_ERROR_INVALID_PTX, "ptxas application ptx input, line " +
                                                      std::to_string(e.line()) + "; error: " + e.what());
    }
}

} // namespace omp_co_sim
