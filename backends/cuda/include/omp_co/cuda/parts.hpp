// SPDX-License-Identifier: BSL-1.0
// What the streams of one device share, and how it comes to be: its context, its memory and its signals.
#pragma once

#include <omp_co/cuda/completion.hpp>
#include <omp_co/cuda/context.hpp>
#include <omp_co/cuda/device_memory.hpp>
#include <omp_co/cuda/event_pool.hpp>
#include <omp_co/cuda/helper.hpp>
#include <omp_co/cuda/kernel_cache.hpp>
#include <omp_co/cuda/limits.hpp>
#include <omp_co/cuda/memory_supply.hpp>
#include <omp_co/cuda/staging.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

namespace omp_co::cuda::engine {

/// How completions are found; `automatic`: as the device allows.
enum class completion_choice : unsigned char { automatic, write_value, events };

class stream;

struct parts {
    parts(driver::api const& d, driver::device_number number, limits l, completion_choice c)
        : facts(std::move(l)),
          choice(c),
          device(d, number),
          events(device, driver::event_disable_timing),
          timed_events(device, driver::event_default),
          buffers(device),
          memory(device),
          worker(device),
          supply(
              memory, device, worker, [](void* p) noexcept { return static_cast<parts*>(p)->open(); }, this),
          kernels(
              device, facts, [](void* w) noexcept { static_cast<helper*>(w)->notice(); }, &worker)
    {
    }

    bool is_open() const noexcept { return open_.load(std::memory_order_acquire); }

    /// Makes the device usable, which takes a while. A step that failed is tried again the next time.
    result open() noexcept
    {
        if (is_open()) return result::success;
        std::lock_guard guard(opening_);
        if (is_open()) return result::success;
        if (device.lost() != result::success) return device.lost();
        result r = device.open();
        if (!device.check(r)) return r;
        current in(device);
        if (!in) return in.state();
        r = memory.open(facts.pools);
        if (r == result::success && choice != completion_choice::events) r = choose_completion();
        if (r == result::success) open_.store(true, std::memory_order_release);
        return r;
    }

    limits const facts;
    completion_choice const choice;
    context device;
    event_pool events;
    event_pool timed_events;
    staging buffers;
    device_memory memory;
    signal_words words;
    helper worker;
    memory_supply supply;
    kernel_cache kernels;
    completion_kind how = completion_kind::events; // set by open()
    std::vector<stream*> streams;                  // for whoever asks for completions

private:
    // What the device says it can do is tried out once: where stream memory operations are switched off, events serve.
    result choose_completion() noexcept
    {
        result r{};
        signal_words::word const word = words.take(device, r);
        if (r != result::success) return r;
        driver::api const& d = device.driver();
        std::uint64_t const trial = 1;
        driver::stream_handle const where = memory.own_stream();
        completion_kind found = completion_kind::write_32;
        if (facts.write_value_64) {
            r = d.stream_write_value_64(where, word.address, trial, driver::write_value_default);
            found = completion_kind::write_64;
        } else {
            r = d.stream_write_value_32(where, word.address, trial, driver::write_value_default);
        }
        if (r == result::success) r = d.stream_synchronize(where);
        if (device.check(r)) {
            auto* const at = reinterpret_cast<std::uint64_t*>(word.host);
            if (std::atomic_ref<std::uint64_t>(*at).load(std::memory_order_acquire) == trial) {
                how = found;
                words.give(word);
                return r;
            }
            r = result::not_supported;
        }
        // Not given back: it may still be written.
        if (choice == completion_choice::write_value || device.lost() != result::success) return r;
        return result::success;
    }

    std::mutex opening_;
    std::atomic<bool> open_{false};
};

} // namespace omp_co::cuda::engine
