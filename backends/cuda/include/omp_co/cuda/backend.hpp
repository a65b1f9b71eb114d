// SPDX-License-Identifier: BSL-1.0
// A CUDA device. Its context, its first stream and its threads come to be when it is first used.
#pragma once

#include <omp_co/cuda/stream.hpp>

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
        : parts_(d, number, std::move(l), choice)
    {
        traits_.device_waits = true;
        traits_.box_stride_limit = parts_.facts.max_pitch;
        traits_.stages_copies = true;
        traits_.refuses_at_signal = true;
        traits_.concurrency = 8;
        traits_.max_streams = 32;
        traits_.command_limit = 256; // the driver blocks its caller at about 1,000
        traits_.memory_limit = parts_.facts.memory;
    }

    ~cuda_device() override
    {
        stop();
        if (parts_.device.handle() == nullptr || parts_.device.was_reset()) return;
        current in(parts_.device);
        if (parts_.device.gone()) return;
        parts_.kernels.release();
        (void)parts_.supply.give_back();
        parts_.memory.release();
        parts_.events.release();
        parts_.timed_events.release();
        parts_.buffers.release();
        parts_.words.release(parts_.device);
    }

    backend_kind kind() const noexcept override { return backend_kind::cuda; }
    std::string name() const override { return parts_.facts.name; }
    backend::properties const& traits() const noexcept override { return traits_; }

    void* allocate(std::size_t bytes) noexcept override
    {
        if (parts_.device.lost() != result::success || parts_.open() != result::success) return nullptr;
        current in(parts_.device);
        return in ? parts_.supply.allocate_now(bytes) : nullptr;
    }

    /// What is for the program is allocated by the helper, who can wait until it is there.
    backend::supply allocate_quickly(std::size_t bytes, backend::memory_user u) noexcept override
    {
        if (result const lost = parts_.device.lost(); lost != result::success) return {nullptr, false, lost};
        if (u == backend::memory_user::program || !parts_.memory.holds(bytes))
            return parts_.supply.take(bytes);
        current in(parts_.device);
        return {in ? parts_.memory.allocate(bytes) : nullptr, false};
    }

    bool settled() noexcept override
    {
        if (parts_.memory.is_settled()) return true;
        if (parts_.device.was_reset() || parts_.device.lost() != result::success)
            return false; // as whoever asks will find
        current in(parts_.device);
        return (in && parts_.memory.look_whether_settled()) || !parts_.supply.settle_soon();
    }

    void settle() noexcept override
    {
        current in(parts_.device);
        if (in) (void)parts_.memory.settle();
    }

    void deallocate(void* block, std::size_t bytes) noexcept override
    {
        if (parts_.device.gone()) return;
        current in(parts_.device);
        if (in) parts_.memory.deallocate(block, bytes);
        parts_.supply.freed();
    }

    /// The driver knows all memory of devices, and says of managed memory that it is such.
    bool host_reaches(void const* p) noexcept override
    {
        driver::api const& d = parts_.device.driver();
        auto const address = reinterpret_cast<driver::device_address>(p);
        driver::memory_type type{};
        unsigned managed = 0;
        return d.pointer_get_attribute(&type, driver::pointer_attribute::memory_type, address) !=
                   result::success ||
               type != driver::memory_type::device ||
               d.pointer_get_attribute(&managed, driver::pointer_attribute::is_managed, address) !=
                   result::success ||
               managed != 0;
    }

    /// The driver is asked for the stream by the helper, with the first command.
    std::unique_ptr<backend::stream> create_stream(error_code& error) override
    {
        return make_stream(nullptr, error);
    }

    /// A CUstream of the device's primary context. Refused: the default streams, which are not one stream for all threads or hold up
    /// others; one of another context, invalid_argument; one that is being captured, not_supported. Makes sure that the device is in
    /// use, which may take a while.
    std::unique_ptr<backend::stream> adopt_stream(void* native, error_code& error) override
    {
        error = why_not(static_cast<driver::stream_handle>(native));
        return error ? nullptr : make_stream(static_cast<driver::stream_handle>(native), error);
    }

    error_code lost() const noexcept override
    {
        result const why = parts_.device.lost();
        return why == result::success ? error_code() : error_code(why);
    }

    bool reads(backend::device& other) const noexcept override
    {
        auto* const source = dynamic_cast<cuda_device*>(&other);
        return source != nullptr && source->context_handle() != nullptr;
    }

    driver::device_number number() const noexcept { return parts_.device.number(); }

    /// Null before the device is first used.
    driver::context_handle context_handle() const noexcept { return parts_.device.handle(); }

    void set_wakeup(backend::wakeup target) noexcept override { parts_.device.set_wakeup(target); }

    void stop() noexcept override
    {
        (void)parts_.device.was_reset();
        parts_.kernels.stop();
        parts_.worker.stop();
    }

private:
    error_code why_not(driver::stream_handle theirs) noexcept
    {
        if (is_default(theirs)) return omp_co::make_error_code(errc::invalid_argument);
        result r = parts_.device.open();
        if (!parts_.device.check(r)) return r;
        current in(parts_.device);
        if (!in) return in.state();
        driver::api const& d = parts_.device.driver();
        driver::context_handle owner = nullptr;
        r = d.stream_get_ctx(theirs, &owner);
        if (!parts_.device.check(r)) return r;
        if (owner != parts_.device.handle()) return omp_co::make_error_code(errc::invalid_argument);
        auto capturing = driver::capture_status::none;
        r = d.stream_is_capturing(theirs, &capturing);
        if (!parts_.device.check(r)) return r;
        return capturing == driver::capture_status::none ? error_code()
                                                         : error_code(result::stream_capture_unsupported);
    }

    // Null and CU_STREAM_LEGACY, and CU_STREAM_PER_THREAD.
    static bool is_default(driver::stream_handle h) noexcept
    {
        return reinterpret_cast<std::uintptr_t>(h) <= 2;
    }

    std::unique_ptr<backend::stream> make_stream(driver::stream_handle theirs, error_code& error)
    {
        if (result const why = parts_.device.lost(); why != result::success) {
            error = why;
            return nullptr;
        }
        try {
            auto made = std::make_unique<stream>(parts_, theirs);
            parts_.streams.reserve(parts_.streams.size() + 1);
            parts_.worker.attach(*made);
            parts_.streams.push_back(made.get());
            return made;
        } catch (std::system_error const&) {
            error = omp_co::make_error_code(errc::not_supported); // no thread
        } catch (std::bad_alloc const&) {
            error = omp_co::make_error_code(errc::out_of_memory);
        }
        return nullptr;
    }

    parts parts_;
    backend::properties traits_;
};

inline error_code stream::copy_from(void* to, backend::device& other, void const* from, std::size_t bytes)
{
    auto* const source = dynamic_cast<cuda_device*>(&other);
    if (source == nullptr) return make_error_code(errc::not_supported);
    command* const c = add(command::kind::copy_peer);
    if (c == nullptr) return make_error_code(errc::out_of_memory);
    c->device = static_cast<char*>(to);
    c->from = static_cast<char const*>(from);
    c->peer = source->context_handle();
    c->bytes = bytes;
    return {};
}

} // namespace omp_co::cuda::engine
