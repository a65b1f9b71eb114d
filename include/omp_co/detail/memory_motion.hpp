// SPDX-License-Identifier: BSL-1.0
// What a copy between given addresses moves from where to where.
#pragma once

#include <omp_co/detail/device_bridge.hpp>
#include <omp_co/detail/map_item.hpp>
#include <omp_co/device.hpp>
#include <omp_co/section.hpp>

#include <cstddef>
#include <string_view>

namespace omp_co::detail {

/// One side of a copy.
struct memory_side {
    device where;
    void* data = nullptr;
    std::size_t bytes = 0;
    bool on_device = false;
    bool valid = true;
    box_dimensions dimensions{}; ///< of a box
};

class memory_motion {
public:
    /// Everything of `from`.
    memory_motion(memory_side const& to, memory_side const& from) noexcept : to_(to), from_(from)
    {
        set_item();
        item_.bytes = bytes_ = from.bytes;
        if (to.bytes < from.bytes) fault_ = "the destination is smaller than the source";
    }

    /// Boxes of elements of `element` bytes.
    memory_motion(memory_side const& to, memory_side const& from, std::size_t element) noexcept
        : to_(to), from_(from)
    {
        set_item();
        if (!to.dimensions.same_counts(from.dimensions)) fault_ = "boxes of different sizes";
        if (!fault_.empty() || from.bytes == 0) return;
        shape_ = to.on_device ? make_box(from.dimensions, to.dimensions, element)
                              : make_box(to.dimensions, from.dimensions, element);
        item_.bytes = shape_.reach(shape_.device);
        bytes_ = shape_.bytes();
    }

    memory_motion(memory_side const& to, unsigned char value) noexcept : to_(to)
    {
        item_.bytes = bytes_ = to.bytes;
        item_.device = to.data;
        item_.leader = value;
        item_.flags = map_raw | map_written | map_fill;
        if (!to.valid) fault_ = no_section;
    }

    /// Why it cannot be; empty: it can.
    std::string_view fault() const noexcept { return fault_; }
    bool between_devices() const noexcept
    {
        return to_.on_device && from_.on_device && to_.where != from_.where && fault_.empty() && bytes_ != 0;
    }

    /// On one device.
    device where() const noexcept { return to_.on_device ? to_.where : from_.where; }
    map_item const& item() const noexcept { return item_; }
    backend::box const& shape() const noexcept { return shape_; }

    /// Between two devices. The buffer between has no gaps.
    device to() const noexcept { return to_.where; }
    device from() const noexcept { return from_.where; }
    std::size_t bytes() const noexcept { return bytes_; }
    raw_motion in() const noexcept
    {
        raw_motion m{to_.where, item_, shape_};
        m.shape.host = packed();
        return m;
    }
    raw_motion out() const noexcept
    {
        raw_motion m{from_.where, item_, shape_};
        m.item.device = from_.data;
        m.item.bytes = shape_.row == 0 ? item_.bytes : shape_.reach(shape_.host);
        m.shape.device = shape_.host;
        m.shape.host = packed();
        return m;
    }

private:
    static constexpr std::string_view no_section = "a section that is none";

    backend::box::strides packed() const noexcept { return {shape_.row, shape_.row * shape_.rows}; }

    void set_item() noexcept
    {
        item_.device = to_.on_device ? to_.data : from_.data;
        item_.host = to_.on_device ? from_.data : to_.data;
        item_.flags = map_raw | (!to_.on_device    ? map_copy_out
                                 : from_.on_device ? map_written | map_within
                                                   : map_written | map_copy_in);
        if (!to_.valid || !from_.valid) fault_ = no_section;
    }

    memory_side to_;
    memory_side from_;
    map_item item_;
    backend::box shape_;
    std::size_t bytes_ = 0;
    std::string_view fault_;
};

} // namespace omp_co::detail
