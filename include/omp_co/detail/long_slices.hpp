// SPDX-License-Identifier: BSL-1.0
// Threads of ours that compute or copy for long beside event loops.
#pragma once

#include <cstdint>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace omp_co::detail {

/// Asks for long time slices for the calling thread. Its share of the CPU stays the same, but Linux lets a thread that wakes up
/// with a shorter slice, as loops have, run at once in its stead; otherwise that one waits until our slice of 3 ms or so is
/// over. Before Linux 6.12, and for a thread with a realtime policy, nothing changes.
inline void take_long_slices() noexcept
{
    struct { // what sched_setattr(2) calls sched_attr, its first version
        std::uint32_t size = 48;
        std::uint32_t policy = 0;
        std::uint64_t flags = 0;
        std::int32_t nice = 0;
        std::uint32_t priority = 0;
        std::uint64_t runtime = 0; // of a thread without deadlines: its slice
        std::uint64_t deadline = 0;
        std::uint64_t period = 0;
    } now;
    static_assert(sizeof now == 48);
    constexpr std::uint64_t longest = 100'000'000; // ns
    if (::syscall(SYS_sched_getattr, 0, &now, sizeof now, 0U) != 0 || now.policy != SCHED_OTHER) return;
    now.runtime = longest;
    (void)::syscall(SYS_sched_setattr, 0, &now, 0U);
}

} // namespace omp_co::detail
