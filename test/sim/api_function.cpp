// SPDX-License-Identifier: BSL-1.0
// Functions: attributes, parameters, occupancy.
#include "limits.hpp"
#include "module.hpp"

#include <algorithm>

using namespace omp_co_sim;

namespace {

CUresult attribute(session& s, int* value, CUfunction_attribute which, CUfunction handle)
{
    require(value != nullptr);
    auto const f = find_function(s, handle);
    auto const& facts = facts_of(*f);
    switch (which) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = static_cast<int>(facts.max_threads);
        break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *value = static_cast<int>(facts.static_shared);
        break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
        *value = 0;
        break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *value = static_cast<int>(facts.local_bytes);
        break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
        *value = static_cast<int>(facts.registers);
        break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        *value = s.sim.config.compute_capability;
        break;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
        *value = 0;
        break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = f->dynamic_shared;
        break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        *value = f->carveout;
        break;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

int active_blocks(kernel_facts const& facts, int threads, std::size_t dynamic_shared)
{
    int const warps = (threads + limits::warp - 1) / limits::warp;
    auto const shared = facts.static_shared + dynamic_shared;
    int const by_threads = limits::threads_of_multiprocessor / (warps * limits::warp);
    int const by_shared =
        static_cast<int>(limits::shared_of_multiprocessor / (shared + limits::shared_reserved));
    return std::min({by_threads, by_shared, limits::blocks_of_multiprocessor});
}

CUresult parameter(kernel_facts const& facts, std::size_t index, std::size_t* offset, std::size_t* size)
{
    require(offset && index < facts.parameters.size());
    *offset = facts.parameters[index].offset;
    if (size) *size = facts.parameters[index].size;
    return CUDA_SUCCESS;
}

kernel_facts const& facts_of_kernel(session& s, CUkernel handle)
{
    auto const k = s.sim.kernels.find(handle);
    auto const l = k ? k->owner.lock() : nullptr;
    require(l != nullptr, CUDA_ERROR_INVALID_HANDLE);
    return l->image->kernels()[k->index];
}

} // namespace

extern "C" {

CUresult cuKernelGetFunction(CUfunction* handle, CUkernel kernel)
{
    return call(id_cuKernelGetFunction, [&](session& s) {
        require(handle != nullptr);
        require(s.sim.kernels.find(kernel) != nullptr, CUDA_ERROR_INVALID_HANDLE);
        *handle = find_function(s, reinterpret_cast<CUfunction>(kernel))->handle;
        return CUDA_SUCCESS;
    });
}

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute which, CUfunction handle)
{
    return call(id_cuFuncGetAttribute, [&](session& s) {
        s.current();
        return attribute(s, value, which, handle);
    });
}

CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute which, int value)
{
    return call(id_cuFuncSetAttribute, [&](session& s) {
        s.current();
        auto const f = find_function(s, handle);
        if (which == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) {
            require(value >= -1 && value <= 100);
            f->carveout = value;
            return CUDA_SUCCESS;
        }
        require(which == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
        require(value >= 0 &&
                value + static_cast<int>(facts_of(*f).static_shared) <= limits::shared_of_block_on_request);
        f->dynamic_shared = value;
        return CUDA_SUCCESS;
    });
}

CUresult cuFuncGetModule(CUmodule* handle, CUfunction function)
{
    return call(id_cuFuncGetModule, [&](session& s) {
        require(handle != nullptr);
        auto const m = find_function(s, function)->owner.lock();
        require(m != nullptr, CUDA_ERROR_INVALID_HANDLE);
        *handle = m->handle;
        return CUDA_SUCCESS;
    });
}

CUresult cuFuncGetName(char const** name, CUfunction function)
{
    return call(id_cuFuncGetName, [&](session& s) {
        require(name != nullptr);
        *name = facts_of(*find_function(s, function)).name.c_str();
        return CUDA_SUCCESS;
    });
}

CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t* offset, size_t* size)
{
    return call(id_cuFuncGetParamInfo, [&](session& s) {
        auto const f = find_function(s, function);
        return parameter(facts_of(*f), index, offset, size);
    });
}

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t* offset, size_t* size)
{
    return call(id_cuKernelGetParamInfo,
                [&](session& s) { return parameter(facts_of_kernel(s, kernel), index, offset, size); });
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int threads,
                                                     size_t dynamic_shared)
{
    return call(id_cuOccupancyMaxActiveBlocksPerMultiprocessor, [&](session& s) {
        require(blocks && threads > 0);
        s.current();
        auto const& facts = facts_of(*find_function(s, function));
        bool const fits = threads <= static_cast<int>(facts.max_threads);
        *blocks = fits ? active_blocks(facts, threads, dynamic_shared) : 0;
        return CUDA_SUCCESS;
    });
}

CUresult cuOccupancyMaxPotentialBlockSize(int* least_grid, int* block, CUfunction function,
                                          CUoccupancyB2DSize shared_of_block, size_t dynamic_shared,
                                          int limit)
{
    return call(id_cuOccupancyMaxPotentialBlockSize, [&](session& s) {
        require(least_grid && block);
        s.current();
        auto const facts = facts_of(*find_function(s, function));
        int most = static_cast<int>(facts.max_threads);
        if (limit > 0) most = std::min(most, limit);
        int best_threads = 0;
        int best_blocks = 0;
        for (int threads = std::max(most / limits::warp * limits::warp, 1); threads > 0;
             threads -= limits::warp) {
            auto const shared = shared_of_block ? shared_of_block(threads) : dynamic_shared;
            int const blocks = active_blocks(facts, threads, shared);
            if (blocks * threads <= best_blocks * best_threads) continue;
            best_threads = threads;
            best_blocks = blocks;
        }
        require(best_threads > 0, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
        *block = best_threads;
        *least_grid = best_blocks * limits::multiprocessors;
        return CUDA_SUCCESS;
    });
}

} // extern "C"
