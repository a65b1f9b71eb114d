// SPDX-License-Identifier: BSL-1.0
// The CUDA backend: NVIDIA GPUs as devices. Needs the driver at run time and nothing to build; where there is no driver,
// there are no such devices.
#pragma once

#include <omp_co/cuda/async_pin.hpp>
#include <omp_co/cuda/await.hpp>
#include <omp_co/cuda/backend.hpp>
#include <omp_co/cuda/image.hpp>
#include <omp_co/cuda/pin.hpp>
#include <omp_co/cuda/queue.hpp>
#include <omp_co/cuda/source.hpp>
#include <omp_co/cuda/where_is.hpp>
#include <omp_co/device.hpp>
#include <omp_co/kernel.hpp>

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace omp_co::cuda {

/// The CUDA devices among devices(). Throws like devices().
inline std::vector<device> devices()
{
    std::vector<device> list;
    for (device const d : omp_co::devices())
        if (d.backend() == backend_kind::cuda) list.push_back(d);
    return list;
}

/// Why there is no CUDA device, for a message: no driver, one that is too old, a stub, …. Empty if there is a driver
/// with devices.
inline std::string why_none() { return driver::table().reason(); }

namespace engine {

inline void discover(omp_co::detail::registry& all)
{
    std::optional<completion_choice> const choice = completion_from_environment();
    if (!choice) {
        std::string& bad = all.bad_environment;
        bad += bad.empty() ? "" : "; ";
        bad += std::string("OMP_CO_CUDA_COMPLETION=") + std::getenv("OMP_CO_CUDA_COMPLETION") +
               ": write_value, event or auto is expected";
        return;
    }
    driver::api const& d = driver::table();
    if (!d.available()) return;
    omp_co::detail::registry::close_first();
    for (int i = 0; i < d.device_count(); ++i) {
        driver::device_number number = 0;
        if (d.device_get(&number, i) != result::success) continue;
        limits l = read_limits(d, number);
        if (!l.usable) continue;
        all.add(std::make_unique<cuda_device>(d, number, std::move(l), *choice), true);
    }
}

inline omp_co::detail::backend_source const discovery(backend_kind::cuda, &discover);

} // namespace engine
} // namespace omp_co::cuda
