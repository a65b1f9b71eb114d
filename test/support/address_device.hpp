// SPDX-License-Identifier: BSL-1.0
// A device that hands out addresses without memory behind them, and does nothing with what it is told but write it down: for
// sizes that no test machine has.
#pragma once

#include <omp_co/backend.hpp>
#include <omp_co/detail/registry.hpp>
#include <omp_co/device.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace omp_co_test {

namespace backend = omp_co::backend;

/// As a number: what lies there is not to be read, not by a test's messages either.
inline std::uintptr_t address(void const* p) noexcept { return reinterpret_cast<std::uintptr_t>(p); }

class address_device final : public backend::device {
public:
    struct command {
        enum class kind { copy_in, copy_out, box_in, box_out, within, fill, launch };

        kind what;
        std::uintptr_t device = 0;
        std::uintptr_t host = 0; ///< of a copy within the device: what is copied from
        std::size_t bytes = 0;
        backend::box shape{};
        std::vector<std::uintptr_t> arguments{}; ///< of a kernel whose arguments are all addresses
        backend::extents range{};
    };

    address_device(std::vector<command>& log, std::size_t box_stride_limit) : log_(log)
    {
        traits_.inline_execution = true;
        traits_.device_waits = false;
        traits_.box_stride_limit = box_stride_limit;
    }

    omp_co::backend_kind kind() const noexcept override { return omp_co::backend_kind::host; }
    std::string name() const override { return "addresses"; }
    backend::properties const& traits() const noexcept override { return traits_; }

    void* allocate(std::size_t bytes) noexcept override
    {
        char* const block = reinterpret_cast<char*>(next_);
        next_ += (bytes + 4095) / 4096 * 4096;
        return block;
    }
    void deallocate(void*, std::size_t) noexcept override {}

    std::unique_ptr<backend::stream> create_stream(omp_co::error_code&) override
    {
        return std::make_unique<stream>(log_);
    }
    void set_wakeup(backend::wakeup) noexcept override {}
    void stop() noexcept override {}

private:
    class stream final : public backend::stream {
    public:
        explicit stream(std::vector<command>& log) : log_(log) {}

        omp_co::error_code copy_in(void* device, void const* host, std::size_t bytes) override
        {
            return note(command::kind::copy_in, device, host, bytes);
        }
        omp_co::error_code copy_out(void* host, void const* device, std::size_t bytes) override
        {
            return note(command::kind::copy_out, device, host, bytes);
        }
        omp_co::error_code copy_box_in(void* device, void const* host, backend::box const& shape) override
        {
            return note(command::kind::box_in, device, host, shape.bytes(), shape);
        }
        omp_co::error_code copy_box_out(void* host, void const* device, backend::box const& shape) override
        {
            return note(command::kind::box_out, device, host, shape.bytes(), shape);
        }
        omp_co::error_code copy_within(void* to, void const* from, std::size_t bytes) override
        {
            return note(command::kind::within, to, from, bytes);
        }
        omp_co::error_code fill(void* device, unsigned char, std::size_t bytes) override
        {
            return note(command::kind::fill, device, nullptr, bytes);
        }
        omp_co::error_code launch(backend::invocation const& call) override
        {
            command c{command::kind::launch};
            for (unsigned i = 0; i < call.argument_count; ++i)
                c.arguments.push_back(address(*static_cast<void**>(call.arguments[i])));
            c.range = call.range;
            log_.push_back(std::move(c));
            return {};
        }
        omp_co::error_code wait(backend::stream&, backend::sequence) override
        {
            return make_error_code(omp_co::errc::not_supported);
        }
        omp_co::error_code signal(backend::sequence number) override
        {
            completed_ = number;
            return {};
        }
        backend::progress completed() noexcept override { return {completed_, false, {}}; }
        backend::failure take_failure(backend::sequence) override { return {}; }
        bool arm() noexcept override { return true; }

    private:
        omp_co::error_code note(command::kind what, void const* device, void const* host, std::size_t bytes,
                                backend::box const& shape = {})
        {
            log_.push_back({what, address(device), address(host), bytes, shape});
            return {};
        }

        std::vector<command>& log_;
        backend::sequence completed_ = 0;
    };

    std::vector<command>& log_;
    backend::properties traits_;
    std::uintptr_t next_ = std::uintptr_t{1} << 46;
};

/// One of them among the process's devices, and what it was told.
class device_of_addresses {
public:
    static constexpr std::size_t any_stride = std::numeric_limits<std::size_t>::max();

    explicit device_of_addresses(std::size_t box_stride_limit = any_stride)
    {
        auto& slot = omp_co::detail::registry::instance().add(
            std::make_unique<address_device>(log, box_stride_limit), false);
        device_ = omp_co::device(&slot, slot.generation);
    }
    device_of_addresses(device_of_addresses const&) = delete;
    device_of_addresses& operator=(device_of_addresses const&) = delete;
    ~device_of_addresses()
    {
        omp_co::detail::registry::instance().remove(*device_.slot(), device_.generation());
    }

    operator omp_co::device() const noexcept { return device_; }
    omp_co::device get() const noexcept { return device_; }

    std::vector<address_device::command> log;

private:
    omp_co::device device_;
};

} // namespace omp_co_test
