// SPDX-License-Identifier: BSL-1.0
// A part of a copy that goes to the driver as one call: bytes without a gap, or rows of a box.
#pragma once

#include <omp_co/cuda/command.hpp>
#include <omp_co/cuda/driver_api.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace omp_co::cuda::engine {

struct copy_piece {
    char* host = nullptr;
    char* device = nullptr;
    std::size_t row = 0; ///< bytes
    std::size_t rows = 1;
    std::size_t slices = 1;
    backend::box::strides host_strides;
    backend::box::strides device_strides;

    std::size_t bytes() const noexcept { return row * rows * slices; }

    /// The strides of a buffer that holds the piece without gaps.
    backend::box::strides packed() const noexcept { return {row, row * rows}; }

    void pack(char* buffer) const noexcept
    {
        each_row([&](char* mine, std::size_t at) { std::memcpy(buffer + at, mine, row); });
    }
    void unpack(char const* buffer) const noexcept
    {
        each_row([&](char* mine, std::size_t at) { std::memcpy(mine, buffer + at, row); });
    }

    /// Copies to the device, or from it, with `there` in place of the host's side.
    driver::result submit(driver::functions const& d, bool to_device, char* there,
                          backend::box::strides there_strides, driver::stream_handle where) const noexcept
    {
        auto const address = reinterpret_cast<driver::device_address>(device);
        if (rows == 1 && slices == 1)
            return to_device ? d.memcpy_htod_async(address, there, row, where)
                             : d.memcpy_dtoh_async(there, address, row, where);
        driver::copy_3d c{};
        c.from.type = to_device ? driver::memory_type::host : driver::memory_type::device;
        c.to.type = to_device ? driver::memory_type::device : driver::memory_type::host;
        if (to_device) {
            c.from.host = there;
            c.to.address = address;
        } else {
            c.from.address = address;
            c.to.host = there;
        }
        backend::box::strides const from = to_device ? there_strides : device_strides;
        backend::box::strides const to = to_device ? device_strides : there_strides;
        c.from.pitch = from.row;
        c.from.height = height(from);
        c.to.pitch = to.row;
        c.to.height = height(to);
        c.width_in_bytes = row;
        c.height = rows;
        c.depth = slices;
        return d.memcpy_3d_async(&c, where);
    }

private:
    // A slice of an array is a whole number of its rows.
    std::size_t height(backend::box::strides s) const noexcept
    {
        return slices == 1 ? rows : s.slice / s.row;
    }

    template <class F>
    void each_row(F f) const noexcept
    {
        for (std::size_t z = 0; z < slices; ++z)
            for (std::size_t y = 0; y < rows; ++y)
                f(host + z * host_strides.slice + y * host_strides.row, (z * rows + y) * row);
    }
};

/// Copies a box within the device.
inline driver::result copy_box_within(driver::functions const& d, char* to, char const* from,
                                      backend::box const& shape, driver::stream_handle where) noexcept
{
    auto const height = [&](backend::box::strides s) {
        return shape.slices == 1 ? shape.rows : s.slice / s.row;
    };
    driver::copy_3d c{};
    c.from.type = c.to.type = driver::memory_type::device;
    c.from.address = reinterpret_cast<driver::device_address>(from);
    c.from.pitch = shape.host.row;
    c.from.height = height(shape.host);
    c.to.address = reinterpret_cast<driver::device_address>(to);
    c.to.pitch = shape.device.row;
    c.to.height = height(shape.device);
    c.width_in_bytes = shape.row;
    c.height = shape.rows;
    c.depth = shape.slices;
    return d.memcpy_3d_async(&c, where);
}

/// The piece of a copy that begins behind its first `done` bytes and has at most `most`: whole rows if one fits.
inline copy_piece piece_of(command const& c, std::size_t done, std::size_t most) noexcept
{
    copy_piece p;
    if (c.shape == nullptr) {
        p.host = c.host + done;
        p.device = c.device + done;
        p.row = std::min(c.bytes - done, most);
        return p;
    }
    backend::box const& b = *c.shape;
    std::size_t const in_row = done % b.row;
    std::size_t const y = done / b.row % b.rows;
    std::size_t const z = done / b.row / b.rows;
    p.host = c.host + z * b.host.slice + y * b.host.row + in_row;
    p.device = c.device + z * b.device.slice + y * b.device.row + in_row;
    p.host_strides = b.host;
    p.device_strides = b.device;
    p.row = std::min(b.row - in_row, most);
    if (in_row != 0 || p.row < b.row) return p;
    p.rows = std::min(b.rows - y, most / b.row);
    if (y == 0 && p.rows == b.rows) p.slices = std::min(b.slices - z, most / (b.row * b.rows));
    return p;
}

} // namespace omp_co::cuda::engine
