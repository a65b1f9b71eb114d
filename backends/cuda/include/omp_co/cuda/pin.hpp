// SPDX-License-Identifier: BSL-1.0
// Page-locked host memory: the device copies from and to it directly, without the detour over omp_co's buffers.
#pragma once

#include <omp_co/cuda/context.hpp>
#include <omp_co/cuda/pinned_ranges.hpp>

#include <boost/system/system_error.hpp>
#include <cstddef>
#include <iterator>
#include <limits>
#include <new>
#include <sys/mman.h>
#include <type_traits>
#include <utility>

namespace omp_co::cuda {

namespace engine {

/// Pins for all devices, in the first one's context, which each pinned range retains. False: not pinned, and `why` is
/// success where that is because there is no device.
inline bool lock_pages(char* begin, std::size_t bytes, result& why) noexcept
{
    why = result::success;
    driver::api const& d = driver::table();
    if (!d.available() || bytes == 0) return false;
    context first(d, 0);
    why = first.open();
    if (why != result::success) return false;
    current in(first);
    why = in.state();
    if (!in) return false;
    why =
        d.mem_host_register(begin, bytes, driver::host_register_portable | driver::host_register_device_map);
    if (why != result::success) return false;
    driver::context_handle same = nullptr;
    why = d.primary_ctx_retain(&same, first.number());
    try {
        if (why == result::success) pinned_ranges::all().add(begin, bytes);
    } catch (...) {
        (void)d.primary_ctx_release(first.number());
        why = result::out_of_memory;
    }
    if (why != result::success) (void)d.mem_host_unregister(begin);
    return why == result::success;
}

inline void unlock_pages(char* begin) noexcept
{
    pinned_ranges::all().remove(begin);
    driver::api const& d = driver::table();
    context first(d, 0);
    if (first.open() != result::success) return;
    {
        current in(first);
        if (in) (void)d.mem_host_unregister(begin);
    }
    (void)d.primary_ctx_release(first.number());
}

} // namespace engine

/// Keeps a range of host memory page-locked as long as it lives. Does nothing where there is no CUDA device.
///
/// Takes time (about a millisecond for each 4 MiB): on an event loop, use async_pin(). Lifetimes: the memory outlives this
/// object, and no region that copies from or to it is in flight when it ends. Thread safety: any.
class [[nodiscard]] pinned {
public:
    pinned() = default;

    /// Throws boost::system::system_error: invalid_argument if some of it is pinned already, out_of_memory, ….
    pinned(void const* data, std::size_t bytes)
    {
        if (error_code const ec = try_pin(data, bytes, *this)) throw boost::system::system_error(ec, "pin");
    }
    pinned(pinned&& other) noexcept : begin_(std::exchange(other.begin_, nullptr)) {}
    pinned& operator=(pinned&& other) noexcept
    {
        std::swap(begin_, other.begin_);
        return *this;
    }
    ~pinned()
    {
        if (begin_ != nullptr) engine::unlock_pages(begin_);
    }

    /// The same without an exception; `to` is an empty one.
    static error_code try_pin(void const* data, std::size_t bytes, pinned& to) noexcept
    {
        driver::result why{};
        auto* const begin = static_cast<char*>(const_cast<void*>(data));
        if (engine::lock_pages(begin, bytes, why)) to.begin_ = begin;
        return why == driver::result::success ? error_code() : error_code(why);
    }

    /// Whether there is a device for which it is pinned.
    explicit operator bool() const noexcept { return begin_ != nullptr; }

private:
    char* begin_ = nullptr;
};

namespace engine {

/// Calls `f(data, bytes)` for what is to be pinned of `x`.
template <class T, class F>
auto with_memory_of(T& x, F f)
{
    if constexpr (requires { std::data(x), std::size(x); })
        return f(std::data(x), std::size(x) * sizeof(*std::data(x)));
    else
        return f(&x, sizeof x);
}

} // namespace engine

/// Pins the elements of a contiguous range (a vector, an array, a span), or a single object.
template <class T>
pinned pin(T& x)
{
    return engine::with_memory_of(x, [](void const* data, std::size_t bytes) { return pinned(data, bytes); });
}

/// An allocator of page-locked memory, whole pages for each allocation: for large containers. Where there is no CUDA
/// device, or it cannot lock so much, the memory is ordinary.
template <class T>
class pinned_allocator {
    static_assert(alignof(T) <= 4096, "omp_co: pinned memory is aligned to pages");

public:
    using value_type = T;

    pinned_allocator() = default;
    template <class U>
    pinned_allocator(pinned_allocator<U> const&) noexcept
    {
    }

    /// Throws std::bad_alloc.
    T* allocate(std::size_t n)
    {
        if (n > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_array_new_length();
        std::size_t const bytes = n * sizeof(T);
        void* const pages = ::mmap(nullptr, bytes == 0 ? 1 : bytes, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (pages == MAP_FAILED) throw std::bad_alloc();
        driver::result why{};
        (void)engine::lock_pages(static_cast<char*>(pages), bytes, why);
        return static_cast<T*>(pages);
    }

    void deallocate(T* p, std::size_t n) noexcept
    {
        std::size_t const bytes = n * sizeof(T);
        auto* const begin = static_cast<char*>(static_cast<void*>(p));
        if (bytes != 0 && engine::pinned_ranges::all().hold(begin, bytes)) engine::unlock_pages(begin);
        (void)::munmap(begin, bytes == 0 ? 1 : bytes);
    }

    friend bool operator==(pinned_allocator const&, pinned_allocator const&) noexcept { return true; }
};

} // namespace omp_co::cuda
