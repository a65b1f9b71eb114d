// SPDX-License-Identifier: BSL-1.0
// Waiting for work that another library has put on the device: its events and streams.
#pragma once

#include <omp_co/cuda/driver.hpp>
#include <omp_co/detail/asio.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

namespace omp_co::cuda {

namespace engine {

/// An event of somebody else, or one of ours behind what is on a stream of theirs.
class awaited_event {
public:
    explicit awaited_event(driver::event_handle e) noexcept : event_(e) {}

    explicit awaited_event(driver::stream_handle where) noexcept
    {
        driver::api const& d = driver::table();
        auto capturing = driver::capture_status::none;
        state_ = d.stream_is_capturing(where, &capturing);
        if (capturing != driver::capture_status::none) state_ = driver::result::stream_capture_unsupported;
        if (state_ == driver::result::success) state_ = d.stream_get_ctx(where, &context_);
        if (state_ == driver::result::success) state_ = d.ctx_push_current(context_);
        if (state_ != driver::result::success) return;
        state_ = d.event_create(&event_, driver::event_disable_timing);
        ours_ = state_ == driver::result::success;
        if (ours_) state_ = d.event_record(event_, where);
        driver::context_handle same = nullptr;
        (void)d.ctx_pop_current(&same);
    }
    awaited_event(awaited_event const&) = delete;
    awaited_event& operator=(awaited_event const&) = delete;
    ~awaited_event()
    {
        driver::api const& d = driver::table();
        if (!ours_ || d.ctx_push_current(context_) != driver::result::success) return;
        (void)d.event_destroy(event_);
        driver::context_handle same = nullptr;
        (void)d.ctx_pop_current(&same);
    }

    /// success, not_ready, or an error.
    driver::result query() const noexcept
    {
        driver::api const& d = driver::table();
        if (state_ != driver::result::success) return state_;
        auto mode = driver::capture_mode::relaxed;
        if (context_ != nullptr) {
            driver::result const r = d.ctx_push_current(context_);
            if (r != driver::result::success) return r;
        }
        bool const relaxed = d.thread_exchange_stream_capture_mode(&mode) == driver::result::success;
        driver::result const r = d.event_query(event_);
        if (relaxed) (void)d.thread_exchange_stream_capture_mode(&mode);
        driver::context_handle same = nullptr;
        if (context_ != nullptr) (void)d.ctx_pop_current(&same);
        return r;
    }

private:
    driver::event_handle event_ = nullptr;
    driver::context_handle context_ = nullptr; // null: the caller's
    driver::result state_ = driver::result::success;
    bool ours_ = false;
};

/// Asks at intervals of 50 µs to 1 ms, an eighth of what the wait has lasted.
class await_step {
    using clock = std::chrono::steady_clock;

public:
    explicit await_step(std::shared_ptr<awaited_event const> e) noexcept : event_(std::move(e)) {}

    template <class Self>
    void operator()(Self& self, error_code ec = {})
    {
        if (timer_ == nullptr) {
            self.reset_cancellation_state(asio::enable_total_cancellation());
            timer_ = std::make_unique<asio::steady_timer>(self.get_executor());
            since_ = clock::now();
            asio::post(timer_->get_executor(), std::move(self)); // nothing completes inside its initiation
            return;
        }
        // The timer may have expired before it could be cancelled.
        if (!ec && self.get_cancellation_state().cancelled() != asio::cancellation_type::none)
            ec = asio::error::operation_aborted;
        driver::result const r = ec ? driver::result::success : event_->query();
        if (ec || r != driver::result::not_ready) {
            timer_.reset();
            event_.reset();
            return self.complete(ec ? ec : r == driver::result::success ? error_code() : error_code(r));
        }
        asio::steady_timer& timer = *timer_;
        timer.expires_after(std::clamp<clock::duration>(
            (clock::now() - since_) / 8, std::chrono::microseconds(50), std::chrono::milliseconds(1)));
        timer.async_wait(std::move(self));
    }

private:
    std::shared_ptr<awaited_event const> event_;
    std::unique_ptr<asio::steady_timer> timer_;
    clock::time_point since_{};
};

template <class Handle>
class await_operation {
public:
    explicit await_operation(Handle h) noexcept : handle_(h) {}

    template <asio::completion_token_for<void(error_code)> Token>
    auto operator()(Token&& token) const
    {
        return asio::async_compose<Token, void(error_code)>(
            await_step(std::make_shared<awaited_event const>(handle_)), token);
    }

private:
    Handle handle_;
};

} // namespace engine

/// Waits until what was on a stream when the event was last recorded is done; at once if it never was. Regions started
/// after that come after it. Completion signature: `void(error_code)`. Cancellation: terminal, partial or total; the event is
/// left alone. Lifetimes: the event outlives the operation, and is of the context that is current on the loop's thread,
/// or of any if the driver does not mind. Errors: the driver's.
inline auto await_event(CUevent_st* event) noexcept { return engine::await_operation(event); }

/// Waits for all that is on the stream when the operation is started; null is the legacy default stream of the current
/// context. Otherwise like await_event(). Errors: not_supported for a stream that is being captured; the driver's.
inline auto await_stream(CUstream_st* stream) noexcept { return engine::await_operation(stream); }

} // namespace omp_co::cuda
