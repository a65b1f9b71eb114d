// SPDX-License-Identifier: BSL-1.0
// Launches on one stream: finds the kernel on this device, checks the call, and hands it to the driver.
#pragma once

#include <omp_co/cuda/command.hpp>
#include <omp_co/cuda/launch.hpp>
#include <omp_co/cuda/parts.hpp>

#include <array>
#include <cstdint>

namespace omp_co::cuda::engine {

/// For whoever submits the stream's commands at the time.
class launcher {
public:
    explicit launcher(parts& p) noexcept : parts_(p) {}

    /// Launches, or answers that the kernel is still being loaded. `failed` is set if it cannot be launched. The context is
    /// current.
    [[gnu::hot]] help launch(command& c, driver::stream_handle where, backend::failure& failed) noexcept
    {
        try {
            look_up(c);
            device_kernel::state now = c.kernel->now();
            while (now == device_kernel::state::failed) {
                failed = parts_.kernels.failure_of(*c.kernel);
                if (failed.error) return help::finished;
                now = c.kernel->now(); // somebody has had it loaded meanwhile
            }
            if (now == device_kernel::state::loading) return help::waits_for_notice;
            if (c.call->range.total() != 0) launch_now(*c.call, c.kernel->facts(), where, failed);
        } catch (...) {
            failed = {make_error_code(errc::out_of_memory), {}};
        }
        return help::finished;
    }

    /// Whether its kernel is still being loaded. One that cannot be is not asked for again: the launch says why.
    bool waits_for(command& c) noexcept
    {
        try {
            look_up(c);
            return c.kernel->now() == device_kernel::state::loading;
        } catch (...) {
            return false; // the launch will say so
        }
    }

private:
    struct known {
        std::uint64_t identity = 0;
        device_kernel* kernel = nullptr;
    };

    void look_up(command& c)
    {
        if (c.kernel == nullptr) c.kernel = &find(static_cast<cuda_kernel const&>(*c.call->what));
    }

    device_kernel& find(cuda_kernel const& k)
    {
        known& place = known_[k.identity() % known_.size()];
        if (place.identity == k.identity() && place.kernel->now() == device_kernel::state::ready)
            return *place.kernel;
        place = {k.identity(), &parts_.kernels.find(k)};
        return *place.kernel;
    }

    [[gnu::hot]] void launch_now(backend::invocation const& call, kernel_facts const& kernel,
                                 driver::stream_handle where, backend::failure& failed)
    {
        if (!arguments_fit(call, kernel)) {
            failed = misfit(call, kernel);
            return;
        }
        launch_shape shape;
        bool const one_thread = call.teams == nullptr && call.range.dimensions == 0; // which any kernel can have
        if (!one_thread && !shape_of(call, kernel, parts_.facts, shape, failed)) return;
        driver::api const& d = parts_.device.driver();
        result r = result::success;
        if (shape.shared_bytes + kernel.static_shared > parts_.facts.shared_bytes) {
            // All that there is, and the same from every thread: it is the function's, not the launch's.
            std::size_t const most = parts_.facts.shared_bytes_optin - kernel.static_shared;
            r = d.func_set_attribute(kernel.function,
                                     driver::function_attribute::max_dynamic_shared_size_bytes,
                                     static_cast<int>(most));
        }
        if (!parts_.device.check(r)) {
            fail(failed, r, "cuFuncSetAttribute");
            return;
        }
        r = d.launch_kernel(kernel.function, shape.grid[0], shape.grid[1], shape.grid[2], shape.block[0],
                            shape.block[1], shape.block[2], shape.shared_bytes, where,
                            const_cast<void**>(call.arguments), nullptr);
        if (!parts_.device.check(r)) fail(failed, r, "cuLaunchKernel");
    }

    [[gnu::cold, gnu::noinline]] static void fail(backend::failure& failed, result r, char const* what)
    {
        failed = {r, what};
    }

    parts& parts_;
    std::array<known, 16> known_{};
};

} // namespace omp_co::cuda::engine
