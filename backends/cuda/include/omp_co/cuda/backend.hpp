// SPDX-License-Identifier: BSL-1.0
// A CUDA device. Its context, its first stream and its threads come to be when it is first used.
#pragma once

#include <omp_co/cuda/stream.hpp>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace omp_co::cuda::engine {

/// How completions are found; `automatic`: as the device allows.
enum class completion_choice : unsigned char { automatic, write_value, events };

/// OMP_CO_CUDA_COMPLETION. Empty: it has another value.
inline std::optional<completion_choice> completion_from_environment() noexcept
{
    char const* const text = std::getenv("OMP_CO_CUDA_COMPLETION");
    std::string_view const value = text != nullptr ? text : "";
    if (value.empty() || value == "auto") return completion_choice::automatic;
    if (value == "write_value") return completion_choice::write_value;
    if (value == "event") return completion_choice::events;
    return {};
}

class cuda_device final : public backend::device {
public:
    cuda_device(driver::api const& d, driver::device_number number, limits l, completion_choice choice)
        : parts_(d, number, std::move(l)), choice_(choice)
    {
        traits_.device_waits = true;
        traits_.box_copies = true;
        traits_.concurrency = 8;
        traits_.max_streams = 32;
        traits_.command_limit = 256; // the driver blocks its caller at about 1,000
        traits_.memory_limit = parts_.facts.memory;
    }

    ~cuda_device() override
    {
        stop();
        if (parts_.device.handle() == nullptr || parts_.device.gone()) return;
        current in(parts_.device);
        parts_.kernels.release();
        parts_.memory.release();
        parts_.events.release();
        parts_.buffers.release();
        parts_.words.release(parts_.device);
    }

    backend_kind kind() const noexcept override { return backend_kind::cuda; }
    std::string name() const override { return parts_.facts.name; }
    backend::properties const& traits() const noexcept override { return traits_; }

    void* allocate(std::size_t bytes) noexcept override
    {
        if (parts_.device.lost() != result::success || open() != result::success) return nullptr;
        current in(parts_.device);
        return in ? parts_.memory.allocate(bytes) : nullptr;
    }

    void deallocate(void* block, std::size_t) noexcept override
    {
        current in(parts_.device);
        if (in) parts_.memory.deallocate(block);
    }

    std::unique_ptr<backend::stream> create_stream(error_code& error) override
    {
        result const lost = parts_.device.lost();
        result r = lost != result::success ? lost : open();
        driver::stream_handle handle = nullptr;
        if (r == result::success) {
            current in(parts_.device);
            r = in ? parts_.device.driver().stream_create(&handle, driver::stream_non_blocking) : in.state();
            (void)parts_.device.check(r);
        }
        if (r != result::success) {
            error = r;
            return nullptr;
        }
        try {
            auto made = std::make_unique<stream>(parts_, handle);
            handle = nullptr;
            parts_.worker.attach(*made);
            return made;
        } catch (std::system_error const&) {
            error = omp_co::make_error_code(errc::not_supported); // no thread
        } catch (std::bad_alloc const&) {
            error = omp_co::make_error_code(errc::out_of_memory);
        }
        if (handle != nullptr) {
            current in(parts_.device);
            (void)parts_.device.driver().stream_destroy(handle);
        }
        return nullptr;
    }

    void set_wakeup(backend::wakeup target) noexcept override { parts_.device.set_wakeup(target); }

    void stop() noexcept override
    {
        parts_.kernels.stop();
        parts_.worker.stop();
    }

private:
    // A step that failed is tried again with the next region.
    result open() noexcept
    {
        if (open_) return result::success;
        result r = parts_.device.open();
        if (!parts_.device.check(r)) return r;
        current in(parts_.device);
        if (!in) return in.state();
        r = parts_.memory.open(parts_.facts.pools);
        if (r == result::success && choice_ != completion_choice::events) r = choose_completion();
        open_ = r == result::success;
        return r;
    }

    // What the device says it can do is tried out once: where stream memory operations are switched off, events serve.
    result choose_completion() noexcept
    {
        result r = parts_.words.open(parts_.device);
        if (r != result::success) return r;
        driver::api const& d = parts_.device.driver();
        signal_words::word const word = parts_.words.take();
        std::uint64_t const trial = 1;
        if (parts_.facts.write_value_64) {
            r = d.stream_write_value_64(parts_.memory.own_stream(), word.address, trial,
                                        driver::write_value_default);
            parts_.how = completion_kind::write_64;
        } else {
            r = d.stream_write_value_32(parts_.memory.own_stream(), word.address, trial,
                                        driver::write_value_default);
            parts_.how = completion_kind::write_32;
        }
        if (r == result::success) r = d.stream_synchronize(parts_.memory.own_stream());
        if (parts_.device.check(r)) {
            auto* const at = reinterpret_cast<std::uint64_t*>(word.host);
            if (std::atomic_ref<std::uint64_t>(*at).load(std::memory_order_acquire) == trial) return r;
            r = result::not_supported;
        }
        parts_.how = completion_kind::events;
        if (choice_ == completion_choice::write_value || parts_.device.lost() != result::success) return r;
        return result::success;
    }

    parts parts_;
    completion_choice choice_;
    backend::properties traits_;
    bool open_ = false;
};

} // namespace omp_co::cuda::engine
