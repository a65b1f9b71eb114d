// SPDX-License-Identifier: BSL-1.0
// An array for structures that travel to devices.
#pragma once

#include <omp_co/mapper.hpp>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace omp_co {

/// Owns `size()` elements of host memory, and knows how to be mapped: as a member of a structure with a mapper
/// (`nested(s.values)`), or on its own. In a kernel it is used as on the host, through the device's copy of its pointer. Its
/// size is fixed.
template <class T>
class mapped_array {
    static_assert(std::is_trivially_copyable_v<T> || detail::has_mapper<T>,
                  "omp_co: only trivially copyable elements can be copied to a device and back");

public:
    using value_type = T;

    mapped_array() noexcept = default;
    /// Throws std::bad_alloc.
    explicit mapped_array(std::size_t n, T const& value = T()) : data_(new T[n]), size_(n)
    {
        std::fill_n(data_, n, value);
    }
    mapped_array(std::initializer_list<T> values) : data_(new T[values.size()]), size_(values.size())
    {
        std::copy(values.begin(), values.end(), data_);
    }
    mapped_array(mapped_array const& other) : data_(new T[other.size_]), size_(other.size_)
    {
        std::copy_n(other.data_, size_, data_);
    }
    mapped_array(mapped_array&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0))
    {
    }
    mapped_array& operator=(mapped_array other) noexcept
    {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~mapped_array() { delete[] data_; }

    T* data() noexcept { return data_; }
    T const* data() const noexcept { return data_; }
    std::size_t size() const noexcept { return size_; }
    bool empty() const noexcept { return size_ == 0; }
    T& operator[](std::size_t i) noexcept { return data_[i]; }
    T const& operator[](std::size_t i) const noexcept { return data_[i]; }
    T* begin() noexcept { return data_; }
    T* end() noexcept { return data_ + size_; }
    T const* begin() const noexcept { return data_; }
    T const* end() const noexcept { return data_ + size_; }

private:
    friend mapper<mapped_array>;

    T* data_ = nullptr;
    std::size_t size_ = 0;
};

template <class T>
struct mapper<mapped_array<T>> {
    static auto members(mapped_array<T>& a) noexcept { return std::tuple(pointee(a.data_, a.size_)); }
};

namespace detail {

/// It is one object to a clause, and not the elements that it has: those follow by its mapper.
template <class T>
inline constexpr bool is_one_object<mapped_array<T>> = true;

} // namespace detail

} // namespace omp_co
