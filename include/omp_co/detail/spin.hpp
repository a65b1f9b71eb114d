// SPDX-License-Identifier: BSL-1.0
// How a thread waits for a few microseconds.
#pragma once

#include <chrono>
#include <thread>

namespace omp_co::detail {

/// One step of a spin: the first ones keep the core, the later ones offer it to whoever else wants it, who may be the
/// thread that is waited for.
class spin {
public:
    void step() noexcept
    {
        if (++steps_ < steps_alone) {
#if defined(__x86_64__) || defined(__i386__)
            __builtin_ia32_pause();
#elif defined(__aarch64__)
            asm volatile("yield");
#endif
            return;
        }
        std::this_thread::yield();
    }

    void reset() noexcept { steps_ = 0; }

private:
    static constexpr unsigned steps_alone = 64;

    unsigned steps_ = 0;
};

/// Spins until `over()`, for about `limit`. False: it is not over.
template <class Predicate>
bool spin_for(std::chrono::nanoseconds limit, Predicate over)
{
    constexpr int steps_a_look_at_the_clock = 32;
    auto const until = std::chrono::steady_clock::now() + limit;
    spin s;
    do {
        for (int i = 0; i < steps_a_look_at_the_clock; ++i) {
            if (over()) return true;
            s.step();
        }
    } while (std::chrono::steady_clock::now() < until);
    return false;
}

} // namespace omp_co::detail
