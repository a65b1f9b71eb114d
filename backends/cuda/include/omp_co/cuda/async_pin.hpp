// SPDX-License-Identifier: BSL-1.0
// Pinning as an Asio operation: it takes about a millisecond for each 4 MiB, which an event loop does not have.
#pragma once

#include <omp_co/cuda/pin.hpp>
#include <omp_co/detail/asio.hpp>

#include <cstddef>
#include <iterator>
#include <utility>

namespace omp_co::cuda {

namespace engine {

/// To a thread of Asio's system context, and back.
class pin_step {
public:
    pin_step(void const* data, std::size_t bytes) noexcept : data_(data), bytes_(bytes) {}

    template <class Self>
    void operator()(Self& self)
    {
        switch (step_++) {
        case 0:
            return asio::post(asio::bind_executor(asio::system_executor(), std::move(self)));
        case 1:
            result_ = pinned::try_pin(data_, bytes_, pinned_);
            return asio::post(std::move(self));
        default:
            self.complete(result_, std::move(pinned_));
        }
    }

private:
    void const* data_;
    std::size_t bytes_;
    pinned pinned_;
    error_code result_;
    int step_ = 0;
};

class [[nodiscard]] pin_operation {
public:
    using value_type = pinned;

    pin_operation(void const* data, std::size_t bytes) noexcept : data_(data), bytes_(bytes) {}

    template <asio::completion_token_for<void(error_code, pinned)> Token>
    auto operator()(Token&& token) const
    {
        return asio::async_compose<Token, void(error_code, pinned)>(pin_step(data_, bytes_), token);
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
    if constexpr (requires { std::data(x), std::size(x); })
        return engine::pin_operation(std::data(x), std::size(x) * sizeof(*std::data(x)));
    else
        return engine::pin_operation(&x, sizeof x);
}

} // namespace omp_co::cuda
