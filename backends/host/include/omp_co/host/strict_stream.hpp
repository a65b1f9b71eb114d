// SPDX-License-Identifier: BSL-1.0
// The stream of a strict device: runs in the enqueueing call, with only that memory open which a command is about.
#pragma once

#include <omp_co/host/stream.hpp>
#include <omp_co/host/strict_memory.hpp>

#include <cstddef>
#include <mutex>
#include <new>

namespace omp_co::host {

class strict_stream final : public inline_stream {
public:
    explicit strict_stream(strict_memory& memory) noexcept : memory_(memory) {}

    error_code copy_in(void* device, void const* host, std::size_t bytes) override
    {
        if (skips()) return {};
        open_part const part(memory_, device, bytes);
        memory_.copying(host, device, bytes);
        return inline_stream::copy_in(device, host, bytes);
    }
    error_code copy_out(void* host, void const* device, std::size_t bytes) override
    {
        if (skips()) return {};
        open_part const part(memory_, device, bytes);
        memory_.copying(host, device, bytes);
        return inline_stream::copy_out(host, device, bytes);
    }
    error_code copy_within(void* to, void const* from, std::size_t bytes) override
    {
        open_part const target(memory_, to, bytes);
        open_part const source(memory_, from, bytes);
        return inline_stream::copy_within(to, from, bytes);
    }
    error_code fill(void* device, unsigned char value, std::size_t bytes) override
    {
        open_part const part(memory_, device, bytes);
        return inline_stream::fill(device, value, bytes);
    }
    error_code copy_box_in(void* device, void const* host, backend::box const& shape) override
    {
        if (skips()) return {};
        open_part const part(memory_, device, shape.reach(shape.device));
        copying(host, device, shape);
        return inline_stream::copy_box_in(device, host, shape);
    }
    error_code copy_box_out(void* host, void const* device, backend::box const& shape) override
    {
        if (skips()) return {};
        open_part const part(memory_, device, shape.reach(shape.device));
        copying(host, device, shape);
        return inline_stream::copy_box_out(host, device, shape);
    }

    error_code launch(backend::invocation const& call) override
    {
        if (error_code const ec = check(call)) return ec;
        if (skips() || call.range.total() == 0) return {};
        try {
            kernel_window const window(memory_, call);
            return inline_stream::launch(call);
        } catch (std::bad_alloc const&) {
            return make_error_code(errc::out_of_memory);
        }
    }

private:
    // A part of the device's memory that a copy may touch, meanwhile.
    class open_part {
    public:
        open_part(strict_memory& memory, void const* device, std::size_t bytes) noexcept
            : turn_(strict_memory::turn()), memory_(memory), device_(device), bytes_(bytes)
        {
            memory_.open(device_, bytes_);
        }
        open_part(open_part const&) = delete;
        open_part& operator=(open_part const&) = delete;
        ~open_part() { memory_.close(device_, bytes_); }

    private:
        std::lock_guard<std::recursive_mutex> turn_;
        strict_memory& memory_;
        void const* device_;
        std::size_t bytes_;
    };

    void copying(void const* host, void const* device, backend::box const& shape) noexcept
    {
        shape.for_each_row([&](std::size_t on_device, std::size_t on_host) {
            memory_.copying(static_cast<char const*>(host) + on_host,
                            static_cast<char const*>(device) + on_device, shape.row);
        });
    }

    strict_memory& memory_;
};

} // namespace omp_co::host
