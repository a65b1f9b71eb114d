// SPDX-License-Identifier: BSL-1.0
// A device's primary context: retained once, current only while omp_co calls the driver, and lost for good after a fault.
#pragma once

#include <omp_co/backend.hpp>
#include <omp_co/cuda/driver.hpp>

#include <atomic>
#include <mutex>

namespace omp_co::cuda::engine {

using driver::result;

/// After these the context is of no use any more: faults, and a reset by somebody else (cudaDeviceReset).
constexpr bool destroys_context(result r) noexcept
{
    return r == result::context_is_destroyed || r == result::invalid_context || r == result::deinitialized;
}
constexpr bool ends_context(result r) noexcept { return driver::is_sticky(r) || destroys_context(r); }

class context {
public:
    context(driver::api const& d, driver::device_number number) noexcept : driver_(d), number_(number) {}
    context(context const&) = delete;
    context& operator=(context const&) = delete;
    ~context()
    {
        if (handle_ != nullptr && !gone()) (void)driver_.primary_ctx_release(number_);
    }

    driver::api const& driver() const noexcept { return driver_; }
    driver::device_number number() const noexcept { return number_; }
    /// Null before open().
    driver::context_handle handle() const noexcept { return handle_.load(std::memory_order_acquire); }

    /// Retains the primary context, which may take a while.
    result open() noexcept
    {
        std::lock_guard guard(opening_);
        if (handle_ != nullptr) return result::success;
        driver::context_handle made = nullptr;
        result const r = driver_.primary_ctx_retain(&made, number_);
        if (r != result::success) return r;
        (void)driver_.ctx_get_id(made, &id_);
        handle_ = made;
        return r;
    }

    void set_wakeup(backend::wakeup target) noexcept { wakeup_ = target; }
    void wake() const noexcept
    {
        if (wakeup_.call != nullptr) wakeup_.call(wakeup_.context);
    }

    /// Success as long as the device works.
    result lost() const noexcept { return lost_.load(std::memory_order_seq_cst); }

    /// Whether somebody else has destroyed the context, and every handle in it: nothing may be given back.
    bool gone() const noexcept { return destroys_context(lost()); }

    /// The first reason stays. True: this call was the first.
    bool lose(result why) noexcept
    {
        result none = result::success;
        return lost_.compare_exchange_strong(none, why, std::memory_order_seq_cst);
    }

    /// Takes in what a query of the device's work has answered. True: the device works. An error that is not known to end it, and
    /// comes again and again, ends it too, for nothing more would be heard of it.
    bool answers(result r) noexcept
    {
        if (r == result::success || r == result::not_ready || is_about_captures(r)) {
            doubts_.store(0, std::memory_order_relaxed);
        } else if (!check(r) && lost() == result::success) {
            if (doubts_.fetch_add(1, std::memory_order_relaxed) + 1 >= most_doubts) lose(r);
            return false;
        }
        return lost() == result::success;
    }

    /// Asks whether somebody has reset the primary context (cudaDeviceReset), without touching anything in it. If so it is lost. Who has
    /// used the device again since has another context, with the same handle; only drivers of CUDA 12 and later tell.
    bool was_reset() noexcept
    {
        driver::context_handle const ours = handle();
        if (ours == nullptr || gone()) return gone();
        unsigned flags = 0;
        int active = 1;
        unsigned long long now = id_;
        if (driver_.primary_ctx_get_state(number_, &flags, &active) == result::success && active != 0)
            (void)driver_.ctx_get_id(ours, &now);
        if (active == 0 || now != id_) lose(result::context_is_destroyed);
        return gone();
    }

    /// Takes in a driver call's answer. True: it succeeded.
    bool check(result r) noexcept
    {
        if (r == result::success) return true;
        if (ends_context(r)) lose(r);
        return false;
    }

private:
    static constexpr bool is_about_captures(result r) noexcept
    {
        return r >= result::stream_capture_unsupported && r <= result::stream_capture_wrong_thread;
    }

    static constexpr unsigned most_doubts = 3;

    driver::api const& driver_;
    driver::device_number number_;
    std::atomic<unsigned> doubts_{0}; ///< in a row
    std::mutex opening_;
    std::atomic<driver::context_handle> handle_{nullptr};
    unsigned long long id_ = 0; ///< of what has the handle; set before that
    backend::wakeup wakeup_;
    std::atomic<result> lost_{result::success};
};

/// What a group of driver calls may disturb: a capture that another library has under way forbids some of them, such as
/// queries and allocations, unless the calling thread says that they are no part of it.
enum class calls : unsigned char { safe_in_capture, any };

/// The context is the calling thread's current one as long as this lives, and what was current comes back.
class current {
public:
    [[gnu::hot]] explicit current(context& c, calls which = calls::any) noexcept
        : context_(c), relaxed_(which == calls::any)
    {
        driver::context_handle const handle = c.handle();
        if (handle == nullptr) { // it was never opened, which is no fault of the device's
            state_ = result::invalid_context;
            return;
        }
        state_ = c.driver().ctx_push_current(handle);
        if (state_ != result::success && !push_again()) return;
        if (relaxed_) relaxed_ = c.driver().thread_exchange_stream_capture_mode(&mode_) == result::success;
    }
    current(current const&) = delete;
    current& operator=(current const&) = delete;
    [[gnu::hot]] ~current()
    {
        if (state_ != result::success) return;
        if (relaxed_) be_strict();
        driver::api const& d = context_.driver();
        driver::context_handle ours = nullptr;
        if (d.ctx_pop_current(&ours) != result::success) (void)d.ctx_pop_current(&ours);
    }

    /// Whether driver calls may be made.
    explicit operator bool() const noexcept { return state_ == result::success; }
    result state() const noexcept { return state_; }

private:
    bool push_again() noexcept
    {
        if (!ends_context(state_)) state_ = context_.driver().ctx_push_current(context_.handle());
        return context_.check(state_);
    }

    void be_strict() noexcept
    {
        driver::api const& d = context_.driver();
        if (d.thread_exchange_stream_capture_mode(&mode_) != result::success)
            (void)d.thread_exchange_stream_capture_mode(&mode_);
    }

    context& context_;
    result state_;
    bool relaxed_;
    driver::capture_mode mode_ = driver::capture_mode::relaxed;
};

} // namespace omp_co::cuda::engine
