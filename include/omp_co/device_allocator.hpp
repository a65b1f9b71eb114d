// SPDX-License-Identifier: BSL-1.0
// A device's memory for the standard containers, where the host can reach it.
#pragma once

#include <omp_co/device.hpp>

#include <boost/system/system_error.hpp>
#include <cstddef>
#include <limits>
#include <new>
#include <type_traits>

namespace omp_co {

/// An allocator of memory on a device: `std::vector<float, device_allocator<float>> v(n, device_allocator<float>(dev))` needs no
/// map, kernels take `is_device_ptr(v.data())` (OpenMP 5.2, 18.8.1 omp_target_alloc).
///
/// Containers read and write their elements on the host. So this is for devices whose memory the host can reach
/// (`device::host_accessible()`): host devices, and the initial device. Elsewhere allocate() throws; what is meant there is
/// device_buffer, whose elements only regions touch, or pinned memory on the host (cuda::pinned_allocator).
///
/// Thread safety: as of a device. Lifetimes: the device must outlive the container; regions in flight that name the memory keep it
/// until they have ended, also when the container goes or grows.
/// Errors: allocate() throws boost::system::system_error with errc::not_supported for a device whose memory the host cannot
/// reach, with errc::device_lost for a device that is gone, and std::bad_alloc if there is no memory.
template <class T>
class device_allocator {
    static_assert(alignof(T) <= backend::largest_alignment,
                  "omp_co: devices align memory to 256 bytes; an element may not ask for more");

public:
    using value_type = T;
    using propagate_on_container_copy_assignment = std::true_type;
    using propagate_on_container_move_assignment = std::true_type;
    using propagate_on_container_swap = std::true_type;
    using is_always_equal = std::false_type;

    explicit device_allocator(device where) noexcept : where_(where) {}
    template <class U>
    device_allocator(device_allocator<U> const& other) noexcept : where_(other.where())
    {
    }

    device where() const noexcept { return where_; }

    T* allocate(std::size_t n)
    {
        if (n > std::numeric_limits<std::size_t>::max() / 2 / sizeof(T)) throw std::bad_array_new_length();
        if (!where_.host_accessible()) refuse();
        // Containers may ask for none and give that back.
        void* const p = where_.allocate(n == 0 ? 1 : n * sizeof(T));
        if (p == nullptr) throw std::bad_alloc();
        return static_cast<T*>(p);
    }

    void deallocate(T* p, std::size_t) noexcept { (void)where_.deallocate(p); }

    template <class U>
    friend bool operator==(device_allocator const& a, device_allocator<U> const& b) noexcept
    {
        return a.where() == b.where();
    }

private:
    [[noreturn]] void refuse() const
    {
        if (where_.backend() == backend_kind::other)
            throw boost::system::system_error(make_error_code(errc::device_lost), "device_allocator");
        throw boost::system::system_error(make_error_code(errc::not_supported),
                                          "device_allocator: the host cannot reach the memory of " +
                                              where_.name() +
                                              "; use device_buffer, or pinned memory on the host");
    }

    device where_;
};

} // namespace omp_co
