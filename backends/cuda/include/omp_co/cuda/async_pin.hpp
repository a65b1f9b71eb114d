// SPDX-License-Identifier: BSL-1.0
// Pinning as an Asio operation: it takes about a millisecond for each 4 MiB, which an event loop does not have.
#pragma once

#include <omp_co/cuda/pin.hpp>
#include <omp_co/detail/memory_operation.hpp>

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace omp_co::cuda {

namespace engine {

/// A thread of Asio's system context waits for the driver; meanwhile the operation counts in its loop as one in a device.
struct initiate_pin {
    template <class Handler>
    void operator()(Handler&& h, void const* data, std::size_t bytes) const
    {
        using omp_co::detail::loop;
        using omp_co::detail::region;
        std::shared_ptr<pinned> result;
        omp_co::detail::find_loop(h);
        try {
            result = std::make_shared<pinned>();
        } catch (std::bad_alloc const&) {
            return omp_co::detail::complete_later(
                omp_co::detail::with_buffer<std::decay_t<Handler>, pinned>{std::forward<Handler>(h), {}},
                omp_co::make_error_code(errc::out_of_memory));
        }
        omp_co::detail::with_buffer<std::decay_t<Handler>, std::shared_ptr<pinned>> handler{
            std::forward<Handler>(h), result};
        omp_co::detail::initiate<omp_co::detail::no_payload>(std::move(handler), [&](region& state, loop& l) {
            l.start(state, [&](region& r) {
                pinning waits(l, r);
                try {
                    asio::post(asio::system_executor(),
                               [waits = std::move(waits), result, data, bytes]() mutable {
                                   waits.end(pinned::try_pin(data, bytes, *result));
                               });
                } catch (...) {
                    waits.end(omp_co::make_error_code(errc::out_of_memory));
                }
            });
        });
    }

private:
    /// What waits for the other thread. It ends as well when that never comes to it, since the program is on its way out.
    class pinning {
    public:
        pinning(omp_co::detail::loop& l, omp_co::detail::region& r) noexcept : loop_(&l), region_(&r) {}
        pinning(pinning&& other) noexcept : loop_(other.loop_), region_(std::exchange(other.region_, nullptr))
        {
        }
        pinning& operator=(pinning&&) = delete;
        ~pinning() { end(omp_co::make_error_code(errc::shutting_down)); }

        void end(error_code ec) noexcept
        {
            omp_co::detail::region* const r = std::exchange(region_, nullptr);
            if (r == nullptr) return;
            if (ec) r->fail(ec, "pin");
            omp_co::detail::region_list done;
            done.push(*r);
            loop_->completed(std::move(done));
        }

    private:
        omp_co::detail::loop* loop_;
        omp_co::detail::region* region_;
    };
};

class [[nodiscard]] pin_operation {
public:
    using value_type = pinned;

    pin_operation(void const* data, std::size_t bytes) noexcept : data_(data), bytes_(bytes) {}

    template <asio::completion_token_for<void(error_code, pinned)> Token>
    auto operator()(Token&& token) const
    {
        return asio::async_initiate<Token, void(error_code, pinned)>(initiate_pin(), token, data_, bytes_);
    }

private:
    void const* data_;
    std::size_t bytes_;
};

} // namespace engine

/// pin() for event loops: another thread waits for the driver. A reusable value; nothing happens before it is started.
///
/// Completion signature: `void(error_code, pinned)`. Cancellation: none. Thread safety: any. Lifetimes: the memory outlives the
/// operation and what it gives. Errors: as pin() throws them; none, and an empty result, where there is no CUDA device.
template <class T>
auto async_pin(T& x) noexcept
{
    return engine::with_memory_of(
        x, [](void const* data, std::size_t bytes) { return engine::pin_operation(data, bytes); });
}

} // namespace omp_co::cuda
