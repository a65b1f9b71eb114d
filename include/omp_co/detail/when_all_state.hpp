// SPDX-License-Identifier: BSL-1.0
// The shared state of operations that complete together.
#pragma once

#include <omp_co/detail/asio.hpp>
#include <omp_co/detail/operation_state.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace omp_co::detail {

struct error_code_handler {
    void operator()(error_code) const noexcept {}
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

    when_all_state(executor_type const& ex, std::size_t count, bool cancellable)
        : executor_(ex), signals_(cancellable ? count : 0), left_(count)
    {
    }

    /// Takes the handler from `h` only when everything that can throw is done. The memory is not the handler's: a slot
    /// and a part on another thread may let go of it when the handler has run.
    static std::shared_ptr<when_all_state> create(Handler& h, std::size_t count)
    {
        auto slot = asio::get_associated_cancellation_slot(h);
        auto const made = std::allocate_shared<when_all_state>(
            recycling<void>(), asio::get_associated_executor(h), count, slot.is_connected());
        if (slot.is_connected())
            slot.assign([weak = std::weak_ptr(made)](asio::cancellation_type type) {
                if (auto const held = weak.lock()) held->cancel(type);
            });
        made->handler_.emplace(std::move(h));
        return made;
    }

    executor_type const& executor() const noexcept { return executor_; }
    Handler& handler() noexcept { return *handler_; }
    asio::cancellation_slot slot(std::size_t i) noexcept
    {
        return signals_.empty() ? asio::cancellation_slot() : signals_[i].slot();
    }

    /// True: that was the last one, and the handler is to be called.
    bool finish(error_code ec) noexcept
    {
        if (ec && !failed_.exchange(true, std::memory_order_acq_rel)) first_error_ = ec;
        return left_.fetch_sub(1, std::memory_order_acq_rel) == 1;
    }

    error_code first_error() const noexcept { return first_error_; }

private:
    void cancel(asio::cancellation_type type)
    {
        for (asio::cancellation_signal& s : signals_) s.emit(type);
    }

    executor_type executor_;
    std::optional<Handler> handler_;
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

    when_all_part(std::shared_ptr<when_all_state<Handler>> s, std::size_t i) noexcept
        : state_(std::move(s)),
          slot_(state_->slot(i)),
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
        state.reset(); // free before the handler runs: it may start the next one
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
            // The last one may be over at once, in another thread, and then `ops` is gone.
            for (std::size_t i = 0, n = ops.size(); i < n; ++i) ops[i](part(i));
        });
    }

private:
    template <class Handler, class StartAll>
    static void start(Handler&& h, std::size_t count, StartAll start_all)
    {
        using handler_type = std::decay_t<Handler>;
        handler_type handler(std::forward<Handler>(h));
        if (count == 0) return complete_later(std::move(handler), {});
        std::shared_ptr<when_all_state<handler_type>> state;
        try {
            state = when_all_state<handler_type>::create(handler, count);
        } catch (std::bad_alloc const&) {
            return complete_later(std::move(handler), make_error_code(errc::out_of_memory));
        }
        start_all([&](std::size_t i) { return when_all_part<handler_type>(state, i); });
    }
};

} // namespace omp_co::detail
