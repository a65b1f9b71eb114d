// SPDX-License-Identifier: BSL-1.0
// The state of an operation in flight: a region, the handler to call, and what both need. One allocation.
#pragma once

#include <omp_co/detail/cancel_token.hpp>
#include <omp_co/detail/loop.hpp>
#include <omp_co/detail/offload_thread.hpp>
#include <omp_co/detail/wrapped_handler.hpp>

#include <concepts>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace omp_co::detail {

/// The handler in the slot. A deferred region ends at once, whatever is asked for, an accepted one runs to its end.
class cancel_handler {
public:
    explicit cancel_handler(cancel_token* t) noexcept : token_(t) {}
    cancel_handler(cancel_handler const&) = delete;
    cancel_handler& operator=(cancel_handler const&) = delete;
    ~cancel_handler() { token_->release(); }

    void operator()(asio::cancellation_type type) const noexcept
    {
        if (asks_for_abort(type)) token_->requested.store(true, std::memory_order_relaxed);
        if (type == asio::cancellation_type::none) return;
        if (dependent* const node = token_->deferred.load(std::memory_order_acquire))
            registry::instance().cancel_deferred(*node, token_->id.load(std::memory_order_relaxed));
    }

private:
    cancel_token* token_;
};

/// use_future's executor wraps Asio's global thread pool; its type does not tell.
template <class>
inline constexpr bool is_promise_executor = false;
template <class T, class Blocking>
inline constexpr bool is_promise_executor<asio::detail::promise_executor<T, Blocking>> = true;

/// Whether handlers of this executor run in Asio's global thread pool or wherever they are called: nobody's loop. Asked
/// of the executor, for asking its context would start that pool.
template <class Executor>
bool has_no_loop(Executor const& ex) noexcept
{
    if constexpr (is_promise_executor<Executor>) {
        return true;
    } else if constexpr (std::is_same_v<Executor, asio::any_io_executor>) {
        return ex.template target<asio::system_executor>() != nullptr;
    } else if constexpr (asio::can_query<Executor, asio::execution::context_t>::value) {
        using context = std::remove_cvref_t<decltype(asio::query(ex, asio::execution::context))>;
        return std::is_same_v<context, asio::system_context> ||
               !std::is_base_of_v<asio::execution_context, context>;
    } else {
        return true;
    }
}

/// The loop that serves handlers with this executor: its context's, or the library's own where it has none.
template <class Executor>
loop& loop_for(Executor const& ex)
{
    if constexpr (std::is_same_v<Executor, asio::any_io_executor>) { // the usual case, without a virtual call
        if (auto const* io = ex.template target<asio::io_context::executor_type>()) {
            loop& l = loop::of(io->context());
            if (l.adopt(ex)) return l;
        }
    }
    if constexpr (asio::can_query<Executor, asio::execution::context_t>::value) {
        if (has_no_loop(ex)) return offload_thread_loop();
        if constexpr (std::is_convertible_v<decltype(asio::query(ex, asio::execution::context)),
                                            asio::execution_context&>) {
            loop& l = loop::of(asio::query(ex, asio::execution::context));
            if (l.adopt(ex)) return l;
        }
    }
    return offload_thread_loop();
}

/// Work held on a handler's executor while its operation is outstanding, and the way back onto it.
template <class Executor>
class held_work {
public:
    explicit held_work(Executor const& ex)
        : tracked_(asio::prefer(ex, asio::execution::outstanding_work.tracked))
    {
    }

    /// Whether the handler may be called right from its loop's turn.
    bool in_loop() const noexcept { return false; }

    template <class F>
    void dispatch(F&& f)
    {
        asio::dispatch(tracked_, std::forward<F>(f));
    }

private:
    std::decay_t<decltype(asio::prefer(std::declval<Executor const&>(),
                                       asio::execution::outstanding_work.tracked))>
        tracked_;
};

/// A context's own executor: its loop holds the work.
template <class Executor>
requires std::same_as<Executor, asio::io_context::executor_type> ||
    std::same_as<Executor, asio::thread_pool::executor_type>
class held_work<Executor> {
public:
    explicit held_work(Executor const&) noexcept {}
    bool in_loop() const noexcept { return true; }
    template <class F>
    void dispatch(F&&) noexcept
    {
    }
};

/// May be either; empty if it is a context's own.
template <>
class held_work<asio::any_io_executor> {
public:
    explicit held_work(asio::any_io_executor const& ex)
    {
        if (ex.target<asio::io_context::executor_type>() == nullptr &&
            ex.target<asio::thread_pool::executor_type>() == nullptr)
            tracked_ = asio::prefer(ex, asio::execution::outstanding_work.tracked);
    }
    bool in_loop() const noexcept { return !tracked_; }
    template <class F>
    void dispatch(F&& f)
    {
        asio::dispatch(tracked_, std::forward<F>(f));
    }

private:
    asio::any_io_executor tracked_;
};

/// What an operation says that has one region: that region's token is all that its cancellation needs, and nothing of it is left in
/// its context when its handler is called.
template <class Operation>
concept is_one_region = requires
{
    typename Operation::one_region;
};

/// The handler of a task_group, in `h` or within: it cancels its region by a token. Null if there is none.
template <class Handler>
constexpr auto const* group_handler(Handler const& h) noexcept
{
    if constexpr (requires { typename Handler::omp_co_region_member; })
        return &h;
    else if constexpr (wraps_handler<Handler>)
        return group_handler(h.handler);
    else
        return static_cast<void const*>(nullptr);
}
template <class Handler>
inline constexpr bool is_region_member =
    !std::is_same_v<decltype(group_handler(std::declval<Handler const&>())), void const*>;

template <class Handler, class Payload>
class operation_state final : public region {
public:
    using executor_type = asio::associated_executor_t<Handler>;
    using base_allocator = asio::associated_allocator_t<Handler, recycling<void>>;
    using allocator_type =
        typename std::allocator_traits<base_allocator>::template rebind_alloc<operation_state>;
    using allocator_traits = std::allocator_traits<allocator_type>;

    /// Takes the handler from `h` only when everything that can throw is done.
    template <class... Args>
    static operation_state& create(Handler& h, executor_type const& ex, Args const&... args)
    {
        allocator_type allocator(asio::get_associated_allocator(h, recycling<void>()));
        operation_state* const place = allocator_traits::allocate(allocator, 1);
        struct guard {
            ~guard()
            {
                if (place != nullptr) allocator_traits::deallocate(allocator, place, 1);
            }
            allocator_type& allocator;
            operation_state* place;
        } undo{allocator, place};
        operation_state* const made = ::new (static_cast<void*>(place)) operation_state(h, ex, args...);
        undo.place = nullptr;
        return *made;
    }

    Payload& payload() noexcept { return payload_; }

private:
    template <class... Args>
    operation_state(Handler& h, executor_type const& ex, Args const&... args)
        : region(&end_region, nullptr),
          payload_(args...),
          work_(ex),
          token_(listen(h)),
          handler_(std::move(h))
    {
        if constexpr (is_region_member<Handler>)
            group = group_handler(handler_)->group();
        else if (!work_.in_loop())
            group = group_of(ex);
        if constexpr (requires { payload_.order(); }) payload_.order().token = token_;
    }

    // Some payloads know better what a cancellation is to do.
    cancel_token* listen(Handler& h)
    {
        if constexpr (is_region_member<Handler>) return &group_handler(h)->token().share();
        auto cancellation = asio::get_associated_cancellation_slot(h);
        if (!cancellation.is_connected()) return nullptr;
        if constexpr (requires { payload_.listen(cancellation); }) {
            payload_.listen(cancellation);
            return nullptr;
        }
        cancel_token* const token = cancel_token::create(2); // the slot's handler and this
        cancellation.template emplace<cancel_handler>(token);
        return token;
    }

    // The memory of the operation is free before the handler runs: it may start the next one.
    [[gnu::hot]] static void end_region(region& r, ending how)
    {
        auto& self = static_cast<operation_state&>(r);
        if constexpr (requires { self.payload_.ended(self.error); }) self.payload_.ended(self.error);
        if (self.token_ != nullptr) {
            if (self.token_->requested.load(std::memory_order_relaxed) && !self.error)
                self.error = asio::error::operation_aborted;
            self.token_->release();
        }
        error_code const ec = self.error;
        Handler handler(std::move(self.handler_));
        auto work = std::move(self.work_);
        allocator_type allocator(asio::get_associated_allocator(handler, recycling<void>()));
        self.~operation_state();
        allocator_traits::deallocate(allocator, &self, 1);
        if (how == ending::destroy) return;
        if (work.in_loop())
            std::move(handler)(ec);
        else
            work.dispatch(completion(std::move(handler), ec));
    }

    struct completion {
        using allocator_type = base_allocator;

        completion(Handler&& h, error_code e) noexcept : handler(std::move(h)), ec(e) {}
        allocator_type get_allocator() const noexcept
        {
            return asio::get_associated_allocator(handler, recycling<void>());
        }
        void operator()()
        {
            try {
                std::move(handler)(ec);
            } catch (...) {
                loop::handler_threw();
                throw;
            }
        }

        Handler handler;
        error_code ec;
    };

    [[no_unique_address]] Payload payload_;
    [[no_unique_address]] held_work<executor_type> work_;
    cancel_token* token_;
    Handler handler_;
};

/// Makes sure that the loop of this handler is there, for who is about to put another handler around it: what can throw does so
/// before the handler is taken.
template <class Handler>
void find_loop(Handler const& h)
{
    (void)loop_for(asio::get_associated_executor(h));
}

/// The initiation of operations that start by themselves.
struct initiate_start {
    template <class Handler, class Operation>
    void operator()(Handler&& h, Operation const& op) const
    {
        op.start(std::forward<Handler>(h));
    }
};

struct no_payload {};

/// Calls a handler later, on its executor, as every operation does that has nothing to wait for.
template <class Handler>
void complete_later(Handler&& h, error_code ec) noexcept
{
    std::decay_t<Handler> handler(std::forward<Handler>(h));
    auto const ex = asio::get_associated_executor(handler);
    try {
        loop& l = loop_for(ex);
        if (l.closed()) return; // a context that is going away destroys what comes
        l.refuse(operation_state<std::decay_t<Handler>, no_payload>::create(handler, ex), ec, {});
    } catch (...) { // no memory for the smallest operation: the handler is destroyed
    }
}

/// Makes the state of an operation and calls `start(state, loop)`, which takes it over. Never throws once it has the
/// handler, and never calls it.
template <class Payload, class Handler, class Start, class... Args>
void initiate(Handler&& h, Start start, Args const&... args)
{
    using state = operation_state<std::decay_t<Handler>, Payload>;
    auto const ex = asio::get_associated_executor(h);
    loop& l = loop_for(ex);
    std::decay_t<Handler> handler(std::forward<Handler>(h));
    if (l.closed()) return; // a context that is going away destroys what comes
    state* made = nullptr;
    try {
        made = &state::create(handler, ex, args...);
    } catch (std::bad_alloc const&) {
        return complete_later(std::move(handler), make_error_code(errc::out_of_memory));
    }
    start(*made, l);
}

} // namespace omp_co::detail
