// SPDX-License-Identifier: BSL-1.0
// The members and waiters of a task_group. Outlives the group while handlers are on their way.
#pragma once

#include <omp_co/detail/asio.hpp>
#include <omp_co/detail/registry.hpp>
#include <omp_co/detail/when_all_state.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/system/system_error.hpp>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

namespace omp_co::detail {

class task_group_state : public std::enable_shared_from_this<task_group_state> {
public:
    explicit task_group_state(asio::any_io_executor ex) : executor_(std::move(ex)) {}

    template <class Operation>
    requires completes_with_error_code<Operation>
    void spawn(Operation const& op)
    {
        start([&](member& m, ticket t) {
            op(asio::bind_cancellation_slot(
                m.signal.slot(),
                asio::bind_executor(m.strand, [t = std::move(t)](error_code ec) mutable { t.finish(ec); })));
        });
    }

    template <class Executor>
    void spawn(asio::awaitable<void, Executor>&& task)
    {
        start([&](member& m, ticket t) {
            asio::co_spawn(m.strand, std::move(task),
                           asio::bind_cancellation_slot(
                               m.signal.slot(),
                               [t = std::move(t)](std::exception_ptr e) mutable { t.finish(code_of(e)); }));
        });
    }

    template <class Handler>
    void wait(Handler&& h)
    {
        auto slot = asio::get_associated_cancellation_slot(h);
        if (slot.is_connected())
            slot.assign([self = weak_from_this()](asio::cancellation_type type) {
                if (auto const state = self.lock()) state->cancel_wait(type);
            });
        auto const ex = asio::get_associated_executor(h);
        waiter<std::decay_t<Handler>, std::decay_t<decltype(ex)>> waiting(std::forward<Handler>(h), ex);
        std::unique_lock lock(mutex_);
        waiters_.emplace_back(std::move(waiting));
        if (members_.empty()) complete_waiters(lock);
    }

    void cancel(asio::cancellation_type type)
    {
        std::lock_guard guard(mutex_);
        ++cancellations_;
        for (auto const& m : members_)
            if (m->started) emit(m, type);
    }

    /// The group is gone: nobody waits any more, and the memory that its regions use may go next.
    void close() noexcept
    {
        bool busy = false;
        {
            std::lock_guard guard(mutex_);
            busy = !members_.empty();
        }
        if (!busy) return;
        try {
            cancel(asio::cancellation_type::terminal);
        } catch (...) { // no memory for the signals; what is in flight is waited for all the same
        }
        registry::instance().quiesce();
    }

private:
    /// A member's strand serialises its cancellation with its own completion.
    struct member {
        explicit member(asio::any_io_executor const& ex) : strand(asio::make_strand(ex)) {}
        asio::strand<asio::any_io_executor> strand;
        asio::cancellation_signal signal;
        bool started = false;
    };
    /// Holds work on its handler's executor, which has nothing to do until the last member ends.
    template <class Handler, class Executor>
    class waiter {
    public:
        template <class H>
        waiter(H&& h, Executor const& ex) : handler_(std::forward<H>(h)), work_(ex)
        {
        }

        void operator()(error_code ec)
        {
            auto const work = std::move(work_);
            complete_later(std::move(handler_), ec);
        }

    private:
        Handler handler_;
        asio::executor_work_guard<Executor> work_;
    };
    using member_list = std::list<std::shared_ptr<member>>;

    /// Ends its member exactly once, also when the handler that holds it is destroyed unused.
    class ticket {
    public:
        ticket(std::shared_ptr<task_group_state> s, member_list::iterator at) noexcept
            : state_(std::move(s)), at_(at)
        {
        }
        ticket(ticket&&) noexcept = default;
        ticket& operator=(ticket&&) = delete;
        ~ticket()
        {
            if (state_ != nullptr) finish(asio::error::operation_aborted);
        }

        void finish(error_code ec) { std::exchange(state_, nullptr)->finished(at_, ec); }

    private:
        std::shared_ptr<task_group_state> state_;
        member_list::iterator at_;
    };

    template <class Start>
    void start(Start begin)
    {
        std::shared_ptr<member> const m = std::make_shared<member>(executor_);
        std::uint64_t seen = 0;
        member_list::iterator at;
        {
            std::lock_guard guard(mutex_);
            at = members_.insert(members_.end(), m);
            seen = cancellations_;
        }
        begin(*m, ticket(shared_from_this(), at));
        std::lock_guard guard(mutex_);
        m->started = true;
        if (seen != cancellations_) emit(m, asio::cancellation_type::terminal);
    }

    static void emit(std::shared_ptr<member> const& m, asio::cancellation_type type)
    {
        asio::post(m->strand, [m, type] { m->signal.emit(type); });
    }

    static error_code code_of(std::exception_ptr const& e) noexcept
    {
        if (!e) return {};
        try {
            std::rethrow_exception(e);
        } catch (boost::system::system_error const& error) {
            return error.code();
        } catch (std::bad_alloc const&) {
            return make_error_code(errc::out_of_memory);
        } catch (...) {
            return make_error_code(errc::kernel_failed);
        }
    }

    void finished(member_list::iterator at, error_code ec)
    {
        std::unique_lock lock(mutex_);
        members_.erase(at);
        if (ec && !error_) error_ = ec;
        if (members_.empty() && !waiters_.empty()) complete_waiters(lock);
    }

    void cancel_wait(asio::cancellation_type type)
    {
        if ((type & (asio::cancellation_type::terminal | asio::cancellation_type::partial)) ==
            asio::cancellation_type::none)
            return;
        {
            std::lock_guard guard(mutex_);
            if (waiters_.empty()) return;
            wait_cancelled_ = true;
        }
        cancel(type);
    }

    void complete_waiters(std::unique_lock<std::mutex>& lock)
    {
        auto done = std::exchange(waiters_, {});
        error_code ec = std::exchange(error_, {});
        if (std::exchange(wait_cancelled_, false) && !ec) ec = asio::error::operation_aborted;
        lock.unlock();
        for (auto& h : done) std::move(h)(ec);
    }

    asio::any_io_executor executor_;
    std::mutex mutex_;
    member_list members_; // the rest is guarded by mutex_
    std::list<asio::any_completion_handler<void(error_code)>> waiters_;
    error_code error_;
    std::uint64_t cancellations_ = 0;
    bool wait_cancelled_ = false;
};

/// The operation that task_group::wait returns.
class task_group_wait {
public:
    explicit task_group_wait(std::shared_ptr<task_group_state> s) noexcept : state_(std::move(s)) {}

    template <asio::completion_token_for<void(error_code)> Token>
    auto operator()(Token&& token) const
    {
        return asio::async_initiate<Token, void(error_code)>(initiation(), token, state_);
    }

private:
    struct initiation {
        template <class Handler>
        void operator()(Handler&& h, std::shared_ptr<task_group_state> const& state) const
        {
            state->wait(std::forward<Handler>(h));
        }
    };

    std::shared_ptr<task_group_state> state_;
};

} // namespace omp_co::detail
