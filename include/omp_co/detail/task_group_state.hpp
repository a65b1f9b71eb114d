// SPDX-License-Identifier: BSL-1.0
// The members and waiters of a task_group. Outlives the group while handlers are on their way.
#pragma once

#include <omp_co/detail/asio.hpp>
#include <omp_co/detail/cancel_token.hpp>
#include <omp_co/detail/code_of.hpp>
#include <omp_co/detail/registry.hpp>
#include <omp_co/detail/when_all_state.hpp>

#include <algorithm>
#include <atomic>
#include <boost/intrusive/list.hpp>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace omp_co::detail {

class task_group_state : public std::enable_shared_from_this<task_group_state> {
    struct member;

public:
    /// Throws std::bad_alloc.
    explicit task_group_state(asio::any_io_executor ex) : executor_(std::move(ex))
    {
        if (void const* const outer = group_of(executor_)) registry::instance().groups().add(this, outer);
    }
    task_group_state(task_group_state const&) = delete;
    task_group_state& operator=(task_group_state const&) = delete;
    ~task_group_state()
    {
        if (group_of(executor_) != nullptr) registry::instance().groups().remove(this);
    }

    /// A region needs no strand: its token may be used from any thread.
    template <class Operation>
    requires is_one_region<Operation>
    void spawn(Operation const& op)
    {
        auto& m = *new member(*cancel_token::create(1));
        std::uint64_t const seen = add(m);
        op(region_member(ticket(shared_from_this(), m)));
        if (seen != cancellations_.load(std::memory_order_acquire)) cancel_deferred();
    }

    template <class Operation>
    requires(completes_with_error_code<Operation> &&
             !is_one_region<Operation>) void spawn(Operation const& op)
    {
        start([&](strand_member& m, ticket t) {
            op(asio::bind_cancellation_slot(
                m.signal.slot(),
                asio::bind_executor(m.strand, [t = std::move(t)](error_code ec) mutable { t.finish(ec); })));
        });
    }

    template <class Executor>
    void spawn(asio::awaitable<void, Executor>&& task)
    {
        start([&](strand_member& m, ticket t) {
            asio::co_spawn(m.strand, std::move(task),
                           asio::bind_cancellation_slot(
                               m.signal.slot(),
                               [t = std::move(t)](std::exception_ptr e) mutable { t.finish(code_of(e)); }));
        });
    }

    /// Names a wait for its cancellation.
    std::uint64_t next_wait() noexcept { return waits_.fetch_add(1, std::memory_order_relaxed); }

    /// Takes an operation of `l` that ends with the last member.
    void wait(region& r, loop& l, std::uint64_t id) noexcept
    {
        std::unique_lock lock = lock_unless_orphaned(mutex_);
        if (!lock || (is_inherited() && has_regions())) return l.refuse(r, make_error_code(errc::forked), {});
        try {
            waiters_.reserve(waiters_.size() + 1);
            waiters_.push_back({l.hold(r), &r, id});
        } catch (std::bad_alloc const&) {
            lock.unlock();
            return l.refuse(r, make_error_code(errc::out_of_memory), {});
        }
        if (members_.empty()) complete_waiters(lock);
    }

    /// Nothing happens if that wait is over.
    void cancel_wait(std::uint64_t id, asio::cancellation_type type)
    {
        if (!asks_for_abort(type) || is_inherited()) return;
        {
            auto const lock = lock_unless_orphaned(mutex_);
            if (!lock) return;
            auto const at =
                std::find_if(waiters_.begin(), waiters_.end(), [&](waiter const& w) { return w.id == id; });
            if (at == waiters_.end()) return;
            at->cancelled = true;
        }
        cancel(type);
    }

    void cancel(asio::cancellation_type type)
    {
        if (is_inherited()) return;
        {
            auto const lock = lock_unless_orphaned(mutex_);
            if (!lock) return;
            cancellations_.fetch_add(1, std::memory_order_release);
            for (member& m : members_)
                if (m.token != nullptr) m.token->requested.store(true, std::memory_order_relaxed);
        }
        cancel_deferred();
        auto const lock = lock_unless_orphaned(mutex_);
        if (!lock) return;
        for (member& m : members_) // the last step, for it may find no memory
            if (m.own != nullptr && m.own->started) emit(m.own, type);
    }

    /// The group is gone: nobody waits any more, and the memory that its regions use may go next.
    void close() noexcept
    {
        if (is_inherited()) return;
        {
            auto const lock = lock_unless_orphaned(mutex_);
            if (!lock || members_.empty()) return;
        }
        try {
            cancel(asio::cancellation_type::terminal);
        } catch (...) { // no memory for the signals; what is in flight is waited for all the same
        }
        group_tree const& groups = registry::instance().groups();
        registry::instance().cancel_deferred_if(
            [&](region const& r) { return groups.is_within(r.group, this); });
        registry::instance().wait_for_group(this);
    }

private:
    /// What is not one region, as a coroutine. Its strand serialises its cancellation with its own completion.
    struct strand_member {
        strand_member(asio::any_io_executor const& ex, void const* group)
            : strand(asio::make_strand(ex), group_mark{group})
        {
        }
        group_executor strand;
        asio::cancellation_signal signal;
        bool started = false; ///< guarded by the group's mutex
    };

    struct member : boost::intrusive::list_base_hook<> {
        explicit member(cancel_token& t) noexcept : token(&t) {}
        explicit member(std::shared_ptr<strand_member> o) noexcept : own(std::move(o)) {}
        member(member const&) = delete;
        member& operator=(member const&) = delete;
        ~member()
        {
            if (token != nullptr) token->release();
        }

        static void* operator new(std::size_t bytes) { return recycler::allocate(bytes); }
        static void operator delete(void* p, std::size_t bytes) noexcept { recycler::deallocate(p, bytes); }

        cancel_token* token = nullptr; ///< of a region
        std::shared_ptr<strand_member> own;
    };

    struct waiter {
        std::shared_ptr<loop_door> door;
        region* operation; ///< gone if the door is closed
        std::uint64_t id;
        bool cancelled = false;
    };

    /// Ends its member exactly once, also when the handler that holds it is destroyed unused.
    class ticket {
    public:
        ticket(std::shared_ptr<task_group_state> s, member& m) noexcept : state_(std::move(s)), member_(&m) {}
        ticket(ticket&&) noexcept = default;
        ticket& operator=(ticket&&) = delete;
        ~ticket()
        {
            if (state_ != nullptr) finish(asio::error::operation_aborted);
        }

        void finish(error_code ec) { std::exchange(state_, nullptr)->finished(*member_, ec); }
        task_group_state const& group() const noexcept { return *state_; }
        cancel_token& token() const noexcept { return *member_->token; }

    private:
        std::shared_ptr<task_group_state> state_;
        member* member_;
    };

    /// The handler of a region, which asks it for its group and its token.
    class region_member {
    public:
        using omp_co_region_member = void;
        using executor_type = asio::any_io_executor;

        explicit region_member(ticket&& t) noexcept : ticket_(std::move(t)) {}

        executor_type const& get_executor() const noexcept { return ticket_.group().executor_; }
        void const* group() const noexcept { return &ticket_.group(); }
        cancel_token& token() const noexcept { return ticket_.token(); }
        void operator()(error_code ec) { ticket_.finish(ec); }

    private:
        ticket ticket_;
    };

    // Whether it was made before a fork whose child this is. Its regions stayed with the parent, and so may have locks of Asio's.
    bool is_inherited() const noexcept { return registry::instance().forked() && !made_in_child_; }

    bool has_regions() const noexcept
    {
        return std::any_of(members_.begin(), members_.end(),
                           [](member const& m) { return m.token != nullptr; });
    }

    std::uint64_t add(member& m) noexcept
    {
        auto const lock = lock_unless_orphaned(mutex_);
        if (lock) members_.push_back(m);
        return cancellations_.load(std::memory_order_relaxed);
    }

    template <class Start>
    void start(Start begin)
    {
        auto const own = std::allocate_shared<strand_member>(recycling<void>(), executor_, this);
        auto& m = *new member(own);
        std::uint64_t const seen = add(m);
        begin(*own, ticket(shared_from_this(), m));
        auto const lock = lock_unless_orphaned(mutex_);
        if (!lock) return;
        own->started = true;
        if (seen != cancellations_.load(std::memory_order_relaxed))
            emit(own, asio::cancellation_type::terminal);
    }

    static void emit(std::shared_ptr<strand_member> const& m, asio::cancellation_type type)
    {
        asio::post(m->strand, [m, type] { m->signal.emit(type); });
    }

    // Of the regions that were asked to end, those that are not on a device yet.
    static void cancel_deferred() noexcept
    {
        registry::instance().cancel_deferred_if([](region const& r) {
            cancel_token const* const token = r.order->token;
            return token != nullptr && token->requested.load(std::memory_order_relaxed);
        });
    }

    void finished(member& m, error_code ec)
    {
        std::unique_lock lock = lock_unless_orphaned(mutex_);
        if (!lock) {
            if (!m.is_linked()) delete &m; // the others are the parent's
            return;
        }
        if (m.is_linked()) members_.erase(members_.iterator_to(m));
        if (ec && (!error_ || error_ == asio::error::operation_aborted)) error_ = ec;
        if (members_.empty() && !waiters_.empty())
            complete_waiters(lock);
        else
            lock.unlock();
        delete &m;
    }

    void complete_waiters(std::unique_lock<std::mutex>& lock)
    {
        auto done = std::exchange(waiters_, {});
        error_code const failed = std::exchange(error_, {});
        lock.unlock();
        for (waiter const& w : done) {
            bool const aborted = w.cancelled && !failed;
            w.door->end_held(*w.operation, aborted ? error_code(asio::error::operation_aborted) : failed);
        }
    }

    asio::any_io_executor executor_;
    bool const made_in_child_ = registry::instance().forked();
    std::mutex mutex_;
    boost::intrusive::list<member> members_; // the rest is guarded by mutex_
    std::vector<waiter> waiters_;
    error_code error_;
    std::atomic<std::uint64_t> cancellations_{0}; // changed under it
    std::atomic<std::uint64_t> waits_{0};
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
    /// Cancelling the wait cancels the members.
    class payload {
    public:
        explicit payload(std::shared_ptr<task_group_state> const& s) noexcept : group_(s), id_(s->next_wait())
        {
        }

        std::uint64_t id() const noexcept { return id_; }

        template <class Slot>
        void listen(Slot slot) const
        {
            slot.assign([group = group_, id = id_](asio::cancellation_type type) {
                if (auto const state = group.lock()) state->cancel_wait(id, type);
            });
        }

    private:
        std::weak_ptr<task_group_state> group_;
        std::uint64_t id_;
    };

    struct initiation {
        template <class Handler>
        void operator()(Handler&& h, std::shared_ptr<task_group_state> const& state) const
        {
            initiate<payload>(
                std::forward<Handler>(h),
                [&](auto& operation, loop& l) { state->wait(operation, l, operation.payload().id()); },
                state);
        }
    };

    std::shared_ptr<task_group_state> state_;
};

} // namespace omp_co::detail
