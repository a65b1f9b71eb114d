// Replaces malloc and its kin in this program, counts, and forwards to glibc.
// SPDX-License-Identifier: BSL-1.0
#include "count_allocations.hpp"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <malloc.h>

// glibc's own names for its allocator. dlsym(RTLD_NEXT, "malloc") would allocate before it can answer.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
}

namespace {

std::atomic<std::uint64_t> calls{0};
std::atomic<std::int64_t> bytes{0};

std::int64_t usable(void* p) noexcept { return static_cast<std::int64_t>(malloc_usable_size(p)); }

void* counted(void* p) noexcept
{
    if (!p) return p;
    calls.fetch_add(1, std::memory_order_relaxed);
    bytes.fetch_add(usable(p), std::memory_order_relaxed);
    return p;
}

} // namespace

namespace bench {

std::uint64_t heap_calls() noexcept { return calls.load(std::memory_order_relaxed); }

std::int64_t heap_bytes() noexcept { return bytes.load(std::memory_order_relaxed); }

} // namespace bench

extern "C" {

void* malloc(std::size_t size) noexcept { return counted(__libc_malloc(size)); }

void* calloc(std::size_t count, std::size_t size) noexcept { return counted(__libc_calloc(count, size)); }

void* realloc(void* old, std::size_t size) noexcept
{
    std::int64_t before = old ? usable(old) : 0;
    void* p = __libc_realloc(old, size);
    // A failed call leaves the old block alone; size zero frees it.
    if (p || size == 0) bytes.fetch_sub(before, std::memory_order_relaxed);
    return counted(p);
}

void* memalign(std::size_t alignment, std::size_t size) noexcept
{
    return counted(__libc_memalign(alignment, size));
}

void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept
{
    return counted(__libc_memalign(alignment, size));
}

int posix_memalign(void** out, std::size_t alignment, std::size_t size) noexcept
{
    bool power_of_two = alignment != 0 && (alignment & (alignment - 1)) == 0;
    if (!power_of_two || alignment % sizeof(void*) != 0) return EINVAL;
    void* p = counted(__libc_memalign(alignment, size));
    if (!p) return ENOMEM;
    *out = p;
    return 0;
}

void free(void* p) noexcept
{
    if (!p) return;
    bytes.fetch_sub(usable(p), std::memory_order_relaxed);
    __libc_free(p);
}

} // extern "C"
