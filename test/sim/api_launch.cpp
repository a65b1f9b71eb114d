// SPDX-License-Identifier: BSL-1.0
// Launches.
#include "command_memory.hpp"
#include "limits.hpp"
#include "module.hpp"

#include <cstring>

using namespace omp_co_sim;

namespace {

class kernel_command final : public command {
public:
    kernel_command(std::shared_ptr<module> m, std::size_t index, launch_shape const& shape,
                   address_space const& memory, context const& c, nanoseconds duration, bool traps)
        : module_(std::move(m)),
          index_(index),
          shape_(shape),
          view_(memory, c.where->ordinal, c.peers),
          lane_(c.where->multiprocessors),
          duration_(duration),
          traps_(traps)
    {
    }
    nanoseconds duration() const override { return duration_; }
    lane* resource() const override { return &lane_; }
    outcome run() override
    {
        auto result = module_->image->run(index_, shape_, view_, module_->addresses);
        if (traps_) return {CUDA_ERROR_LAUNCH_FAILED, "trap, as OMP_CO_SIM_TRAP asks"};
        return result;
    }
    void over(CUresult) override { view_.forget(); }

private:
    std::shared_ptr<module> module_;
    std::size_t index_;
    launch_shape shape_;
    memory_view view_;
    lane& lane_;
    nanoseconds duration_;
    bool traps_;
};

bool traps(settings& config, std::string_view kernel)
{
    bool yes = false;
    for (auto& rule : config.traps) {
        if (rule.kernel != "*" && rule.kernel != kernel) continue;
        if (++rule.seen == rule.nth) yes = true;
    }
    return yes;
}

// The sizes that a launch may have.
void must_fit(launch_shape const& shape, kernel_facts const& facts, function const& f)
{
    auto const [gx, gy, gz] = shape.grid;
    auto const [bx, by, bz] = shape.block;
    require(gx > 0 && gy > 0 && gz > 0 && bx > 0 && by > 0 && bz > 0);
    auto const most = [](unsigned value, int limit) { require(value <= static_cast<unsigned>(limit)); };
    most(gx, limits::grid_x);
    most(gy, limits::grid_yz);
    most(gz, limits::grid_yz);
    most(bx, limits::threads_of_block);
    most(by, limits::threads_of_block);
    most(bz, limits::block_z);
    auto const threads = bx * by * bz;
    most(threads, limits::threads_of_block);
    require(threads <= facts.max_threads, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    require(shape.dynamic_shared <= static_cast<std::size_t>(f.dynamic_shared));
}

// Parameters one by one, or all in one buffer.
void pack(session& s, kernel_facts const& facts, void** parameters, void** extra, parameter_block& packed)
{
    packed.resize(facts.parameter_bytes);
    if (extra) {
        require(parameters == nullptr);
        void const* buffer = nullptr;
        std::size_t size = 0;
        for (auto** at = extra; *at != CU_LAUNCH_PARAM_END; at += 2) {
            if (*at == CU_LAUNCH_PARAM_BUFFER_POINTER)
                buffer = at[1];
            else if (*at == CU_LAUNCH_PARAM_BUFFER_SIZE)
                size = *static_cast<std::size_t const*>(at[1]);
            else
                throw failure{CUDA_ERROR_INVALID_VALUE};
        }
        if (size < facts.parameter_bytes || (size > 0 && !buffer)) {
            s.misuse("the buffer of parameters has " + std::to_string(size) + " bytes, " + facts.name +
                     " takes " + std::to_string(facts.parameter_bytes));
            throw failure{CUDA_ERROR_INVALID_VALUE};
        }
        if (packed.size() != 0) std::memcpy(packed.data(), buffer, packed.size());
        return;
    }
    require(facts.parameters.empty() || parameters);
    for (std::size_t i = 0; i < facts.parameters.size(); ++i) {
        require(parameters[i] != nullptr);
        std::memcpy(packed.data() + facts.parameters[i].offset, parameters[i], facts.parameters[i].size);
    }
}

[[gnu::hot]] CUresult launch(session& s, CUfunction handle, CUstream where, launch_shape& shape,
                             void** parameters, void** extra)
{
    auto& c = s.current();
    auto const& f = find_function(s, handle);
    auto m = f->owner.lock();
    require(m != nullptr, CUDA_ERROR_INVALID_HANDLE);
    auto const& st = s.find(where);
    s.must_be_current(*st);
    if (m->owner.get() != &c) {
        s.misuse("wrong context: the function belongs to another context than the current one");
        return CUDA_ERROR_INVALID_HANDLE;
    }
    auto const& facts = m->image->kernels()[f->index];
    must_fit(shape, facts, *f);
    pack(s, facts, parameters, extra, shape.parameters);
    auto& config = s.sim.config;
    auto const duration = config.kernel_time(facts.name);
    bool const trapping = !config.traps.empty() && !st->capturing && traps(config, facts.name);
    s.enqueue(*st, make_command<kernel_command>(std::move(m), f->index, shape, s.sim.memory, c, duration,
                                                trapping));
    return CUDA_SUCCESS;
}

// What changes nothing in what a kernel computes here.
void must_be_ignorable(session& s, CUlaunchAttribute const& a)
{
    switch (a.id) {
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        return;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION: {
        auto const& d = a.value.clusterDim;
        if (d.x == 1 && d.y == 1 && d.z == 1) return;
        break;
    }
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
        if (a.value.cooperative == 0) return;
        break;
    default:
        break;
    }
    s.sim.log.note("launch attribute " + std::to_string(a.id) + " is not simulated");
    throw failure{CUDA_ERROR_NOT_SUPPORTED};
}

} // namespace

extern "C" {

[[gnu::hot]] CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                                     unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                     unsigned int block_z, unsigned int shared, CUstream stream,
                                     void** parameters, void** extra)
{
    return call(id_cuLaunchKernel, [&](session& s) {
        launch_shape shape{{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared, {}};
        return launch(s, function, stream, shape, parameters, extra);
    });
}

CUresult cuLaunchKernelEx(CUlaunchConfig const* config, CUfunction function, void** parameters, void** extra)
{
    return call(id_cuLaunchKernelEx, [&](session& s) {
        require(config && (config->numAttrs == 0 || config->attrs));
        for (unsigned i = 0; i < config->numAttrs; ++i) must_be_ignorable(s, config->attrs[i]);
        launch_shape shape{{config->gridDimX, config->gridDimY, config->gridDimZ},
                           {config->blockDimX, config->blockDimY, config->blockDimZ},
                           config->sharedMemBytes,
                           {}};
        return launch(s, function, config->hStream, shape, parameters, extra);
    });
}

} // extern "C"
