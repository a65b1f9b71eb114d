// SPDX-License-Identifier: BSL-1.0
// Memory that nobody may touch for a while, by AddressSanitizer's means. In a program without it these do nothing.
//
// AddressSanitizer keeps a byte for every eight of memory, which says how many of them, from the first, may be touched. So the
// last bytes of a range stay open where the bytes behind them in the same eight are somebody else's.
#pragma once

#include <omp_co/detail/address_sanitizer.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#if OMP_CO_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

namespace omp_co::host {

/// A half-open range of memory.
struct memory_range {
    char* begin = nullptr;
    char* end = nullptr;

    bool empty() const noexcept { return begin == end; }
    std::size_t size() const noexcept { return static_cast<std::size_t>(end - begin); }
    bool holds(void const* p) const noexcept { return begin <= p && p < end; }
    bool overlaps(memory_range r) const noexcept { return begin < r.end && r.begin < end; }
};

namespace poison {

inline constexpr bool available = OMP_CO_ADDRESS_SANITIZER != 0;
inline constexpr std::size_t granule = 8;

inline char* next_granule(char* p) noexcept
{
    return p + (granule - reinterpret_cast<std::uintptr_t>(p) % granule);
}

#if OMP_CO_ADDRESS_SANITIZER

namespace detail {

enum class look_for { hidden, not_hidden, open };

// The first byte from `p` on, before `end`, of that kind; `hidden` are those that hide() has hidden: the first granule of a range
// may have its first bytes open. Not instrumented, because it reads AddressSanitizer's own memory.
__attribute__((no_sanitize("address"), noinline)) inline char* find(char* p, char* end,
                                                                    look_for what) noexcept
{
    constexpr int poisoned_by_user = -9; // 0xf7
    std::size_t scale = 0, offset = 0;
    __asan_get_shadow_mapping(&scale, &offset);
    for (; p < end; p = next_granule(p)) {
        auto const at = reinterpret_cast<std::uintptr_t>(p);
        int const state = *reinterpret_cast<signed char const volatile*>((at >> scale) + offset);
        int const within = static_cast<int>(at % granule);
        bool const hidden = state == poisoned_by_user || (within != 0 && state == within);
        if (what == look_for::open ? state == 0 || within < state : hidden == (what == look_for::hidden))
            return p;
    }
    return end;
}

} // namespace detail

inline void hide(memory_range r) noexcept { __asan_poison_memory_region(r.begin, r.size()); }

/// Opens what hide() has hidden of it. Memory that was freed meanwhile stays as it is.
inline void show(memory_range r) noexcept
{
    for (char* p = r.begin; p < r.end;) {
        char* const first = detail::find(p, r.end, detail::look_for::hidden);
        p = detail::find(first, r.end, detail::look_for::not_hidden);
        if (first != p) __asan_unpoison_memory_region(first, static_cast<std::size_t>(p - first));
    }
}

/// Calls `f(part)` for each part of it that may be touched.
template <class F>
void for_each_open(memory_range r, F f)
{
    for (char* p = r.begin; (p = detail::find(p, r.end, detail::look_for::open)) != r.end;) {
        void* const stop = __asan_region_is_poisoned(p, static_cast<std::size_t>(r.end - p));
        char* const end = stop == nullptr ? r.end : static_cast<char*>(stop);
        f(memory_range{p, end});
        p = end;
    }
}

/// The block of the heap, the global or the variable on a stack that `p` points into; empty if there is none.
inline memory_range object_at(void* p) noexcept
{
    char name[2];
    void* begin = nullptr;
    std::size_t bytes = 0;
    std::string_view const kind = __asan_locate_address(p, name, sizeof name, &begin, &bytes);
    if (kind != "heap" && kind != "global" && kind != "stack") return {};
    memory_range const object{static_cast<char*>(begin), static_cast<char*>(begin) + bytes};
    return object.begin <= p && p <= object.end ? object : memory_range();
}

#else

inline void hide(memory_range) noexcept {}
inline void show(memory_range) noexcept {}
template <class F>
void for_each_open(memory_range, F)
{
}
inline memory_range object_at(void*) noexcept { return {}; }

#endif

} // namespace poison
} // namespace omp_co::host
