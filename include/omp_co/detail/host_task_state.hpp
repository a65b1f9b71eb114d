// SPDX-License-Identifier: BSL-1.0
// Host code that has a place among the regions.
#pragma once

#include <omp_co/clauses.hpp>
#include <omp_co/detail/asio.hpp>
#include <omp_co/detail/code_of.hpp>
#include <omp_co/detail/common_clauses.hpp>
#include <omp_co/detail/operation_state.hpp>
#include <omp_co/detail/wrapped_handler.hpp>

#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace omp_co::detail {

/// Whom an external event ends.
class event_state {
public:
    /// Takes an operation of `l`, which ends with the event.
    void wait(region& r, loop& l) noexcept
    {
        std::unique_lock lock = lock_unless_orphaned(mutex_);
        if (!lock) return l.refuse(r, make_error_code(errc::forked), {});
        if (fulfilled_) {
            lock.unlock();
            return l.refuse(r, error_, {});
        }
        try {
            waiters_.reserve(waiters_.size() + 1);
            waiters_.push_back({l.hold(r), &r});
        } catch (std::bad_alloc const&) {
            lock.unlock();
            l.refuse(r, make_error_code(errc::out_of_memory), {});
        }
    }

    void fulfill(error_code ec) noexcept
    {
        std::vector<waiter> waiters;
        {
            auto const lock = lock_unless_orphaned(mutex_);
            if (!lock || std::exchange(fulfilled_, true)) return;
            error_ = ec;
            waiters.swap(waiters_);
        }
        for (waiter const& w : waiters) w.door->end_held(*w.operation, ec);
    }

    bool fulfilled() noexcept
    {
        auto const lock = lock_unless_orphaned(mutex_);
        return fulfilled_;
    }
    error_code error() noexcept
    {
        auto const lock = lock_unless_orphaned(mutex_);
        return error_;
    }

private:
    struct waiter {
        std::shared_ptr<loop_door> door;
        region* operation; ///< gone if the door is closed
    };

    std::mutex mutex_;
    std::vector<waiter> waiters_; // the rest is guarded by mutex_
    error_code error_;
    bool fulfilled_ = false;
};

/// The place of one host task. Ends with an error if the handler that holds it is destroyed unused: its successors must not
/// wait for ever.
class host_place {
public:
    /// Throws std::bad_alloc.
    host_place() : order_(::new (static_cast<void*>(recycling<region_order>().allocate(1))) region_order)
    {
        order_->on_host = true;
    }
    host_place(host_place&& other) noexcept : order_(std::exchange(other.order_, nullptr)) {}
    host_place& operator=(host_place&&) = delete;
    ~host_place() { end(asio::error::operation_aborted); }

    region_order& order() const noexcept { return *order_; }

    /// Lets the successors go.
    void end(error_code ec) noexcept
    {
        if (order_ == nullptr) return;
        registry::instance().end_dependent(*order_, ec);
        recycling<region_order>().deallocate(std::exchange(order_, nullptr), 1);
    }

private:
    region_order* order_;
};

class host_payload {
public:
    explicit host_payload(region_order* o) noexcept : order_(o) {}
    region_order& order() const noexcept { return *order_; }

private:
    region_order* order_;
};

/// Calls the handler once the event has come.
template <class Handler>
struct detached_handler {
    using omp_co_wrapped = Handler;

    Handler handler;
    host_place place;
    std::shared_ptr<event_state> event;

    void operator()(error_code ec)
    {
        // A cancellation does not undo what the function has done.
        place.end(event->fulfilled() ? event->error() : ec);
        std::move(handler)(ec);
    }
};

/// Runs the function, and then the handler.
template <class Handler, class F>
struct host_task_handler {
    using omp_co_wrapped = Handler;

    Handler handler;
    F function;
    host_place place;
    std::shared_ptr<event_state> event;
    diagnostics* why;

    void operator()(error_code ec)
    {
        if (!ec) ec = run();
        if (!ec && event != nullptr) return wait();
        place.end(ec);
        std::move(handler)(ec);
    }

private:
    error_code run() noexcept
    {
        try {
            function();
            return {};
        } catch (...) {
            return code_of(std::current_exception(), why);
        }
    }

    void wait()
    {
        event_state& awaited = *event;
        auto const kept = event;
        initiate<no_payload>(
            detached_handler<Handler>{std::move(handler), std::move(place), std::move(event)},
            [&](region& r, loop& l) { awaited.wait(r, l); });
    }
};

struct no_function {
    void operator()() const noexcept {}
};

/// host_task, not yet started: a reusable value.
template <class F, class... Clauses>
class [[nodiscard]] host_task_operation {
public:
    using one_region = void; // one at a time: waiting for an event is a second one
    host_task_operation(F const& f, Clauses const&... c) noexcept : function_(f), clauses_(c...) {}

    /// Completion signature: void(error_code).
    template <asio::completion_token_for<void(error_code)> Token>
    auto operator()(Token&& token) const
        -> decltype(asio::async_initiate<Token, void(error_code)>(initiate_start(), token,
                                                                  std::declval<host_task_operation const&>()))
    {
        return asio::async_initiate<Token, void(error_code)>(initiate_start(), token, *this);
    }

    template <class Handler>
    void start(Handler&& h) const
    {
        std::shared_ptr<event_state> event;
        diagnostics* why = nullptr;
        std::apply([&](Clauses const&... each) { (take(each, event, why), ...); }, clauses_);
        if (why != nullptr) why->clear(); // also if there is no memory for a place
        find_loop(h);
        try {
            host_place place;
            region_order& order = place.order();
            dependences const wishes = gather_dependences(clauses_, order);
            initiate<host_payload>(
                host_task_handler<std::decay_t<Handler>, F>{std::forward<Handler>(h), function_,
                                                            std::move(place), std::move(event), why},
                [&](region& r, loop& l) {
                    r.order = &order;
                    describe(clauses_, r);
                    l.start(r, [&](region& ready) { registry::instance().submit(ready, wishes.all()); });
                },
                &order);
        } catch (std::bad_alloc const&) {
            complete_later(std::forward<Handler>(h), make_error_code(errc::out_of_memory));
        }
    }

private:
    template <class Clause>
    static void take(Clause const& c, std::shared_ptr<event_state>& event, diagnostics*& why) noexcept
    {
        if constexpr (requires { c.event(); }) event = c.event();
        if constexpr (std::is_same_v<Clause, explain_clause>) why = c.target();
    }

    F function_;
    std::tuple<Clauses...> clauses_;
};

} // namespace omp_co::detail
