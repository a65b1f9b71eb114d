// SPDX-License-Identifier: BSL-1.0
// What a region asks of its stream is noted, command by command, until its signal says that this is all.
#pragma once

#include <omp_co/cuda/command.hpp>

#include <cstddef>
#include <vector>

namespace omp_co::cuda::engine {

class command_recorder : public backend::stream {
public:
    error_code copy_in(void* device, void const* host, std::size_t bytes) override
    {
        return add_copy(command::kind::copy_in, device, const_cast<void*>(host), bytes);
    }

    error_code copy_out(void* host, void const* device, std::size_t bytes) override
    {
        return add_copy(command::kind::copy_out, const_cast<void*>(device), host, bytes);
    }

    error_code copy_box_in(void* device, void const* host, backend::box const& shape) override
    {
        return add_copy(command::kind::copy_in, device, const_cast<void*>(host), shape.bytes(), &shape);
    }

    error_code copy_box_out(void* host, void const* device, backend::box const& shape) override
    {
        return add_copy(command::kind::copy_out, const_cast<void*>(device), host, shape.bytes(), &shape);
    }

    error_code copy_within(void* to, void const* from, std::size_t bytes) override
    {
        command* const c = add(command::kind::copy_within);
        if (c == nullptr) return make_error_code(errc::out_of_memory);
        c->device = static_cast<char*>(to);
        c->from = static_cast<char const*>(from);
        c->bytes = bytes;
        return {};
    }

    error_code copy_box_within(void* to, void const* from, backend::box const& shape) override
    {
        if (error_code const ec = copy_within(to, from, shape.bytes())) return ec;
        building_.back().shape = &shape;
        return {};
    }

    error_code fill(void* device, unsigned char value, std::size_t bytes) override
    {
        command* const c = add(command::kind::fill);
        if (c == nullptr) return make_error_code(errc::out_of_memory);
        c->device = static_cast<char*>(device);
        c->value = value;
        c->bytes = bytes;
        return {};
    }

    [[gnu::hot]] error_code launch(backend::invocation const& call) override
    {
        if (call.what == nullptr || call.what->kind != backend_kind::cuda)
            return make_error_code(errc::kernel_unavailable);
        command* const c = add(command::kind::launch);
        if (c == nullptr) return make_error_code(errc::out_of_memory);
        c->call = &call;
        return {};
    }

    /// Loading the kernel is no part of the time.
    error_code begin_timing(backend::timing& t, backend::invocation const* call) override
    {
        error_code const ec = add_timing(command::kind::begin_timing, t);
        if (!ec && call != nullptr && call->what != nullptr && call->what->kind == backend_kind::cuda)
            building_.back().call = call;
        return ec;
    }
    error_code end_timing(backend::timing& t) override { return add_timing(command::kind::end_timing, t); }

protected:
    error_code add_copy(command::kind what, void* device, void* host, std::size_t bytes,
                        backend::box const* shape = nullptr) noexcept
    {
        command* const c = add(what);
        if (c == nullptr) return make_error_code(errc::out_of_memory);
        c->shape = shape;
        c->device = static_cast<char*>(device);
        c->host = static_cast<char*>(host);
        c->bytes = bytes;
        return {};
    }

    error_code add_timing(command::kind what, backend::timing& t) noexcept
    {
        command* const c = add(what);
        if (c == nullptr) return make_error_code(errc::out_of_memory);
        c->timing = &t;
        return {};
    }

    /// Null when the host has no memory.
    command* add(command::kind what) noexcept
    {
        try {
            command& c = building_.emplace_back();
            c.what = what;
            return &c;
        } catch (...) {
            return nullptr;
        }
    }

    std::vector<command> building_; ///< of the region at hand; the enqueuing thread's alone
};

} // namespace omp_co::cuda::engine
