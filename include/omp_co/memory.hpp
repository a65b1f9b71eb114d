// SPDX-License-Identifier: BSL-1.0
// Memory of a device as a program's own: allocation, and copies that name both sides (OpenMP 5.2, 18.8).
#pragma once

#include <omp_co/detail/memory_operation.hpp>
#include <omp_co/device.hpp>
#include <omp_co/queue.hpp>

#include <concepts>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <utility>

namespace omp_co {

/// Elements in a device's memory, not owned.
template <class T>
class device_section {
public:
    using element_type = T;

    constexpr device_section() noexcept = default;
    constexpr device_section(device where, T* data, std::size_t count) noexcept
        : where_(where), data_(data), count_(count)
    {
    }

    constexpr device where() const noexcept { return where_; }
    constexpr T* get() const noexcept { return data_; }
    constexpr std::size_t size() const noexcept { return count_; }
    constexpr std::size_t bytes() const noexcept { return count_ * sizeof(T); }

    /// `count` elements from element `first` on; none if they do not lie inside.
    constexpr device_section section(std::size_t first, std::size_t count) const noexcept
    {
        if (first > count_ || count > count_ - first) return {where_, nullptr, count};
        return {where_, data_ + first, count};
    }

private:
    device where_;
    T* data_ = nullptr;
    std::size_t count_ = 0;
};

/// A block of an array in a device's memory, not owned: `device_box(d, section2d(p, {8, 10}, {2, 3}, {3, 5}))`.
template <class T>
class device_box {
public:
    using element_type = T;

    constexpr device_box(device where, box_section<T> const& box) noexcept : where_(where), box_(box) {}
    constexpr device where() const noexcept { return where_; }
    constexpr box_section<T> const& box() const noexcept { return box_; }

private:
    device where_;
    box_section<T> box_;
};

/// Owns elements in a device's memory, which are not initialised. Made by allocate().
///
/// Movable. Its end gives the memory back; regions in flight that use it keep it until they have ended. Thread safety: as
/// of a std::unique_ptr.
template <class T>
class [[nodiscard]] device_buffer {
public:
    using element_type = T;

    device_buffer() noexcept = default;
    /// Takes over what `s.where().allocate()` gave.
    explicit device_buffer(device_section<T> s) noexcept : owned_(s) {}
    device_buffer(device_buffer&& other) noexcept : owned_(std::exchange(other.owned_, {})) {}
    device_buffer& operator=(device_buffer&& other) noexcept
    {
        std::swap(owned_, other.owned_);
        return *this;
    }
    ~device_buffer() { reset(); }

    /// An address on the device: for is_device_ptr(), and for the device's own kernels.
    T* get() const noexcept { return owned_.get(); }
    std::size_t size() const noexcept { return owned_.size(); }
    device where() const noexcept { return owned_.where(); }
    explicit operator bool() const noexcept { return owned_.get() != nullptr; }

    operator device_section<T>() const noexcept { return owned_; }
    device_section<T> section(std::size_t first, std::size_t count) const noexcept
    {
        return owned_.section(first, count);
    }

    /// Gives the memory back now.
    void reset() noexcept
    {
        device_section<T> const gone = std::exchange(owned_, {});
        if (gone.get() != nullptr) (void)gone.where().deallocate(gone.get());
    }

private:
    device_section<T> owned_;
};

namespace detail {

template <class X>
inline constexpr bool is_on_device = false;
template <class T>
inline constexpr bool is_on_device<device_section<T>> = true;
template <class T>
inline constexpr bool is_on_device<device_buffer<T>> = true;

/// One side of a copy.
template <class X>
constexpr memory_side side_of(X&& x) noexcept
{
    using value = std::remove_cvref_t<X>;
    if constexpr (is_on_device<value>) {
        using element = typename value::element_type;
        device_section<element> const s = x;
        constexpr std::size_t most = std::numeric_limits<std::size_t>::max() / 2 / sizeof(element);
        return {s.where(), const_cast<void*>(static_cast<void const*>(s.get())), s.bytes(), true,
                s.size() <= most && (s.get() != nullptr || s.size() == 0)};
    } else {
        auto const s = named_memory(std::forward<X>(x));
        return {{}, const_cast<void*>(static_cast<void const*>(s.data())), s.bytes(), false, s.valid()};
    }
}

template <class X>
struct elements_of {
    using type = std::remove_pointer_t<decltype(named_memory(std::declval<X>()).data())>;
};
template <class X>
requires is_on_device<std::remove_cvref_t<X>>
struct elements_of<X> {
    using type = typename std::remove_cvref_t<X>::element_type;
};

} // namespace detail

namespace detail {

template <class To, class From>
memory_motion copy_of(To&& to, From&& from) noexcept
{
    using to_element = typename elements_of<To&&>::type;
    using from_element = typename elements_of<From&&>::type;
    static_assert(is_on_device<std::remove_cvref_t<To>> || is_on_device<std::remove_cvref_t<From>>,
                  "omp_co: target_memcpy needs a device_buffer or a device_section on one side at least");
    static_assert(!std::is_const_v<to_element>, "omp_co: target_memcpy would write to const data");
    static_assert(std::is_same_v<std::remove_cv_t<to_element>, std::remove_cv_t<from_element>>,
                  "omp_co: target_memcpy copies elements of one type");
    static_assert(std::is_trivially_copyable_v<from_element>,
                  "omp_co: only trivially copyable elements can be copied to a device and back");
    return memory_motion(side_of(std::forward<To>(to)), side_of(std::forward<From>(from)));
}

} // namespace detail

/// Copies all of `from` to the beginning of `to`. Each is a contiguous range, an object or a section on the host, or a
/// device_buffer or device_section; at least one is on a device. Between two devices the data goes
/// directly where they can do that, else through the host; the copy has its place in the order of both.
///
/// An address on the device that omp_co has not given is taken as it is.
/// Ordered like the copies of a mapping: behind the kernels and copies, accepted before, that use the device memory (those
/// that name it by is_device_ptr() or a clause).
/// The clauses are depend_in() and its kin, name() and explain().
/// Completion signature: `void(error_code)`. Cancellation, thread safety: as for target(). Lifetimes: both sides must outlive
/// the operation.
/// Errors: invalid_argument if `to` is the smaller one, or either is none or extends beyond its allocation; out_of_memory,
/// device_lost, predecessor_failed, forked, shutting_down; and the driver's own codes.
template <class To, class From, class... Clauses>
requires(!detail::names_device<std::remove_cvref_t<To>>) auto target_memcpy(To&& to, From&& from,
                                                                            Clauses... clauses) noexcept
{
    return detail::make_memory_operation(
        nullptr, detail::copy_of(std::forward<To>(to), std::forward<From>(from)), clauses...);
}

/// The same in the order of a queue.
template <class To, class From, class... Clauses>
auto target_memcpy(queue const& q, To&& to, From&& from, Clauses... clauses) noexcept
{
    return detail::make_memory_operation(
        &q.state(), detail::copy_of(std::forward<To>(to), std::forward<From>(from)), clauses...);
}

namespace detail {

template <class T>
constexpr memory_side side_of_box(device where, box_section<T> const& b, bool on_device) noexcept
{
    return {where,
            const_cast<void*>(static_cast<void const*>(b.data())),
            b.around().bytes(),
            on_device,
            b.valid(),
            b.dimensions()};
}
template <class T>
constexpr memory_side box_side(device_box<T> const& b) noexcept
{
    return side_of_box(b.where(), b.box(), true);
}
template <class T>
constexpr memory_side box_side(box_section<T> const& b) noexcept
{
    return side_of_box(device(), b, false);
}

template <class To, class From>
memory_motion box_copy_of(To const& to, From const& from) noexcept
{
    using to_element = typename To::element_type;
    using from_element = typename From::element_type;
    static_assert(!is_box<To> || !is_box<From>,
                  "omp_co: target_memcpy_rect needs a device_box on one side at least");
    static_assert(!std::is_const_v<to_element>, "omp_co: target_memcpy_rect would write to const data");
    static_assert(std::is_same_v<std::remove_cv_t<to_element>, std::remove_cv_t<from_element>>,
                  "omp_co: target_memcpy_rect copies elements of one type");
    static_assert(std::is_trivially_copyable_v<from_element>,
                  "omp_co: only trivially copyable elements can be copied to a device and back");
    return memory_motion(box_side(to), box_side(from), sizeof(from_element));
}

template <class To>
memory_motion fill_of(To&& to, int value) noexcept
{
    static_assert(is_on_device<std::remove_cvref_t<To>>,
                  "omp_co: target_memset takes a device_buffer or a device_section");
    return memory_motion(side_of(std::forward<To>(to)), static_cast<unsigned char>(value));
}

} // namespace detail

/// Copies a block of an array to a block of as many rows and columns (and slices) of another one (omp_target_memcpy_rect). Each is a
/// section2d(), a section3d() or a section() with a stride on the host, or a device_box; at least one is on a device. As
/// target_memcpy() otherwise.
template <class To, class From, class... Clauses>
requires(!detail::names_device<To>) auto target_memcpy_rect(To const& to, From const& from,
                                                            Clauses... clauses) noexcept
{
    return detail::make_memory_operation(nullptr, detail::box_copy_of(to, from), clauses...);
}

/// The same in the order of a queue.
template <class To, class From, class... Clauses>
auto target_memcpy_rect(queue const& q, To const& to, From const& from, Clauses... clauses) noexcept
{
    return detail::make_memory_operation(&q.state(), detail::box_copy_of(to, from), clauses...);
}

/// Sets every byte of memory on a device to `value` (omp_target_memset). As target_memcpy().
template <class To, class... Clauses>
auto target_memset(To&& to, int value, Clauses... clauses) noexcept
{
    return detail::make_memory_operation(nullptr, detail::fill_of(std::forward<To>(to), value), clauses...);
}

/// The same in the order of a queue.
template <class To, class... Clauses>
auto target_memset(queue const& q, To&& to, int value, Clauses... clauses) noexcept
{
    return detail::make_memory_operation(&q.state(), detail::fill_of(std::forward<To>(to), value),
                                         clauses...);
}

/// Memory for `count` elements on a device (omp_target_alloc), which any stream may use at once.
///
/// Completion signature: `void(error_code, device_buffer<T>)`. It is in no order with regions, and does not wait for memory that they
/// are going to give back; while a driver is asked for memory, which may take long, the loop goes on. Thread safety: as for
/// target(). Cancellation: it ends with operation_aborted and an empty buffer, once there is an answer.
/// Errors: out_of_memory, invalid_argument for a negative count, device_lost; with every error the buffer is empty.
template <class T, std::integral I>
auto allocate(device where, I count) noexcept
{
    static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>,
                  "omp_co: device memory holds trivially copyable elements");
    static_assert(alignof(T) <= backend::largest_alignment,
                  "omp_co: devices align memory to 256 bytes; an element may not ask for more");
    bool const valid =
        detail::fits_size(count) &&
        static_cast<std::size_t>(count) <= std::numeric_limits<std::size_t>::max() / 2 / sizeof(T);
    return detail::allocate_operation<device_buffer<T>>(where, true,
                                                        valid ? static_cast<std::size_t>(count) : 0, valid);
}
template <class T, std::integral I>
auto allocate(I count) noexcept
{
    auto op = omp_co::allocate<T>(device(), count);
    op.use_default_device();
    return op;
}

} // namespace omp_co
