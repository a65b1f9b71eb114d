// SPDX-License-Identifier: BSL-1.0
// What the streams of one device share.
#pragma once

#include <omp_co/cuda/completion.hpp>
#include <omp_co/cuda/context.hpp>
#include <omp_co/cuda/device_memory.hpp>
#include <omp_co/cuda/event_pool.hpp>
#include <omp_co/cuda/helper.hpp>
#include <omp_co/cuda/kernel_cache.hpp>
#include <omp_co/cuda/limits.hpp>
#include <omp_co/cuda/staging.hpp>

#include <utility>

namespace omp_co::cuda::engine {

struct parts {
    parts(driver::api const& d, driver::device_number number, limits l)
        : facts(std::move(l)),
          device(d, number),
          events(device),
          buffers(device),
          memory(device),
          worker(device),
          kernels(
              device, facts, [](void* w) noexcept { static_cast<helper*>(w)->notice(); }, &worker)
    {
    }

    limits facts;
    context device;
    event_pool events;
    staging buffers;
    device_memory memory;
    signal_words words;
    helper worker;
    kernel_cache kernels;
    completion_kind how = completion_kind::events;
};

} // namespace omp_co::cuda::engine
