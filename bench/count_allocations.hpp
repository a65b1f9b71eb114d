// Heap calls and heap bytes of this process, counted by interposing the C allocation functions.
// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstdint>

namespace bench {

/// Calls so far that gave out memory, from any thread: malloc, calloc, realloc, aligned_alloc, memalign and
/// posix_memalign.
std::uint64_t heap_calls() noexcept;

/// Usable bytes that are given out and not yet freed.
std::int64_t heap_bytes() noexcept;

} // namespace bench
