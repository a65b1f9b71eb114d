// SPDX-License-Identifier: BSL-1.0
// The shared state of operations that complete together.
#pragma once

#include <omp_co/detail/asio.hpp>
#include <omp_co/detail/operation_state.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace omp_co::detail {

struct error_code_handler {
    void operator()(error_code) const noexcept;
};

template <class Op>
concept completes_with_error_code = std::copy_constructible<Op> &&
    requires(Op const& op, error_code_handler h)
{
    op(h);
};

/// Collects the completions of `count` operations for one handler. Operations complete on the handler's executor,
/// which may be one that many threads run.
template <class Handler>
class when_all_state {
public:
    using executor_type = asio::associated_executor_t<Handler>;

    when_all_state(Handler&& h, std::size_t count)
        : executor_(asio::get_associated_executor(h)), handler_(std::move(h)), signals_(count), left_(count)
    {
    }

    executor_type const& executor() const noexcept { return executor_; }
    Handler& handler() noexcept { return handler_; }
    asio::cancellation_slot slot(std::size_t i) noexcept { return signals_[i].slot(); }

    void cancel(asio::cancellation_type type)
    {
        for (asio::cancellation_signal& s : signals_) s.emit(type);
    }

    /// True: that was the last one, and the handler is to be called.
    bool finish(error_code ec) noexcept
    {
        if (ec && !failed_.exchange(true, std::memory_order_acq_rel)) first_error_ = ec;
        return left_.fetch_sub(1, std::memory_order_acq_rel) == 1;
    }

    error_code first_error() const noexcept { return first_error_; }

private:
    executor_type executor_;
    Handler handler_;
    std::vector<asio::cancellation_signal> signals_;
    std::atomic<std::size_t> left_;
    std::atomic<bool> failed_{false};
    error_code first_error_;
};

/// Completes one of the operations. Destroyed without a call, it lets the handler be destroyed with the last one.
template <class Handler>
class when_all_part {
public:
    using executor_type = asio::associated_executor_t<Handler>;
    using cancellation_slot_type = asio::cancellation_slot;
    using allocator_type = asio::associated_allocator_t<Handler, recycling<void>>;

    when_all_part(std::shared_ptr<when_all_state<Handler>> s, asio::cancellation_slot slot) noexcept
        : state_(std::move(s)),
          slot_(slot),
          allocator_(asio::get_associated_allocator(state_->handler(), recycling<void>()))
    {
    }

    executor_type get_executor() const noexcept { return state_->executor(); }
    cancellation_slot_type get_cancellation_slot() const noexcept { return slot_; }
    allocator_type get_allocator() const noexcept { return allocator_; }

    void operator()(error_code ec)
    {
        auto state = std::move(state_);
        if (!state->finish(ec)) return;
        Handler handler(std::move(state->handler()));
        error_code const result = state->first_error();
        state.reset(); // the handler may start the next one in this memory
        std::move(handler)(result);
    }

private:
    std::shared_ptr<when_all_state<Handler>> state_;
    asio::cancellation_slot slot_;
    allocator_type allocator_;
};

struct initiate_when_all {
    template <class Handler, class... Operations>
    void operator()(Handler&& h, std::tuple<Operations...> const& ops) const
    {
        std::apply(
            [&](auto const&... each) {
                start(std::forward<Handler>(h), sizeof...(each), [&]([[maybe_unused]] auto part) {
                    [[maybe_unused]] std::size_t i = 0;
                    (each(part(i++)), ...);
                });
            },
            ops);
    }

    template <class Handler, class Operation>
    void operator()(Handler&& h, std::vector<Operation> const& ops) const
    {
        start(std::forward<Handler>(h), ops.size(), [&](auto part) {
            for (std::size_t i = 0; i < ops.size(); ++i) ops[i](part(i));
        });
    }

private:
    template <class Handler, class StartAll>
    static void start(Handler&& h, std::size_t count, StartAll start_all)
    {
        using handler_type = std::decay_t<Handler>;
        handler_type handler(std::forward<Handler>(h));
        if (count == 0) return complete_later(std::move(handler), {});
        auto slot = asio::get_associated_cancellation_slot(handler);
        auto const allocator = asio::get_associated_allocator(handler, recycling<void>());
        using state_type = when_all_state<handler_type>;
        auto const state = std::allocate_shared<state_type>(allocator, std::move(handler), count);
        bool const cancellable = slot.is_connected();
        if (cancellable)
            slot.assign([weak = std::weak_ptr(state)](asio::cancellation_type type) {
                if (auto const held = weak.lock()) held->cancel(type);
            });
        start_all([&](std::size_t i) {
            return when_all_part<handler_type>(state,
                                               cancellable ? state->slot(i) : asio::cancellation_slot());
        });
    }
};

} // namespace omp_co::detail
