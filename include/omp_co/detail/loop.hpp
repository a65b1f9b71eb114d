// SPDX-License-Identifier: BSL-1.0
// Progress in an Asio execution context: one service a context, which takes turns in its loop to ask the devices,
// hands completions to their handlers, and lets the loop sleep when there is nothing to expect soon.
#pragma once

#include <omp_co/detail/asio.hpp>
#include <omp_co/detail/backoff.hpp>
#include <omp_co/detail/executors.hpp>
#include <omp_co/detail/operation_counts.hpp>
#include <omp_co/detail/recycler.hpp>
#include <omp_co/detail/registry.hpp>
#include <omp_co/detail/spin.hpp>
#include <omp_co/detail/turn_memory.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace omp_co::detail {

class loop;

/// The way to a loop for somebody else's thread, which may come after the loop has gone.
class loop_door {
public:
    explicit loop_door(loop& l) noexcept : loop_(&l) {}

    /// Hands an operation back that the loop holds; nothing happens if the loop has destroyed it.
    void end_held(region& r, error_code ec) noexcept;
    void close() noexcept
    {
        auto const guard = lock_unless_orphaned(mutex_);
        loop_ = nullptr;
    }

private:
    std::mutex mutex_;
    loop* loop_;
};

/// While operations are outstanding, a turn is posted, a timer is pending or work is held, so the context does not run
/// out.
class loop final : public asio::execution_context::service, public region_owner, public sleeper {
public:
    using key_type = loop;
    static inline asio::execution_context::id id;

    explicit loop(asio::execution_context& context) : service(context) {}

    /// A service that came to be while its context was shutting down has not been told.
    ~loop() override
    {
        shutdown();
        gone().fetch_add(
            1, std::memory_order_release); // handlers that went with it may have looked for it again
    }

    /// The loop of this context.
    [[gnu::hot]] static loop& of(asio::execution_context& context)
    {
        if (loop* const l = current(); l != nullptr && &l->context() == &context) return *l;
        // use_service takes a lock and searches. What this thread found last still stands unless a loop has gone since.
        static thread_local constinit known last{};
        std::uint64_t const now = gone().load(std::memory_order_acquire);
        if (last.context != &context || last.gone != now)
            last = {&context, now, &asio::use_service<loop>(context)};
        return *last.found;
    }

    /// Turns run on the context's own executor where a waiter's leads to one, on a waiter's otherwise. False: this
    /// executor cannot serve.
    template <class Executor>
    bool adopt(Executor const& ex)
    {
        if (has_executor_.load(std::memory_order_acquire)) return true;
        asio::any_io_executor const base = base_executor(ex);
        if (!base) return false;
        std::lock_guard adopting(adoption_); // not mutex_: a timer's first use takes a lock of the context
        if (has_executor_.load(std::memory_order_relaxed)) return true;
        timer_.emplace(base);
        if (auto const* io = base.template target<asio::io_context::executor_type>()) {
            io_ = &io->context();
            polling_only_ = is_unlocked(*io_);
        }
        executor_ = base;
        registry::instance().who_sleeps().add(*this);
        has_executor_.store(true, std::memory_order_release);
        return true;
    }

    /// A loop that one thread runs keeps its turn while completions come fast.
    void set_eager(asio::io_context::executor_type const& ex)
    {
        eager_ = true;
        (void)adopt(ex);
    }

    /// Somebody is about to run the context, maybe inside a handler of this very turn: let him find one of his own.
    void join() noexcept
    {
        if (current() != this) return;
        std::lock_guard guard(mutex_);
        schedule();
    }

    /// An offload_context tells of its stop and restart, for its turn asks after every handler.
    void set_stopped(bool value) noexcept { stopped_.store(value, std::memory_order_relaxed); }

    /// A handler that was dispatched to its executor threw: Asio keeps the exception until the turn ends.
    static void handler_threw() noexcept { threw() = true; }

    /// Destroys them, and all that come later, as when the context goes. It stays, for any thread may be about to use it.
    void abandon_handlers() noexcept { shutdown(); }

    bool closed() const noexcept { return closed_.load(std::memory_order_acquire); }

    /// Dispatches a region whose handler belongs to this context.
    [[gnu::hot]] void start(region& r) noexcept
    {
        start(r, [](region& accepted) { registry::instance().submit(accepted); });
    }

    /// The same for an operation that `begin(r)` has somebody else's regions do.
    template <class Begin>
    [[gnu::hot]] void start(region& r, Begin begin) noexcept
    {
        r.owner = this;
        auto const who = has_turn();
        counts_.dispatched(who);
        begin(r);
        if (who == operation_counts::by::turn || turn_will_see()) return;
        std::lock_guard guard(mutex_);
        schedule();
    }

    /// Ends an operation without a device: refused, or with nothing to do.
    void refuse(region& r, error_code ec, std::string_view why) noexcept
    {
        if (ec) r.fail(ec, why);
        r.owner = this;
        counts_.dispatched(has_turn());
        region_list done;
        done.push(r);
        completed(std::move(done));
        if (!polling_only_) return;
        std::lock_guard guard(mutex_);
        schedule();
    }

    /// Keeps an operation that waits for something else than a device, until `end_held` through the loop's door or until
    /// the context goes. Throws std::bad_alloc, and then has not taken it.
    std::shared_ptr<loop_door> hold(region& r)
    {
        std::lock_guard guard(mutex_);
        if (door_ == nullptr) door_ = std::make_shared<loop_door>(*this);
        held_.push_back(&r);
        counts_.held();
        schedule();
        return door_;
    }

    void end_held(region& r, error_code ec) noexcept
    {
        std::lock_guard guard(mutex_);
        if (std::erase(held_, &r) == 0) return;
        r.error = ec;
        ready_.push(r);
        some_ready_.store(true, std::memory_order_release);
        if (!polling_only_) schedule();
    }

    void completed(region_list&& done) noexcept override
    {
        std::uint64_t n = 0;
        for (region* r = done.front(); r != nullptr; r = r->next) ++n;
        auto const who = has_turn();
        if (who == operation_counts::by::turn) {
            mine_.append(std::move(done));
            counts_.delivered(who, n);
            return;
        }
        std::unique_lock lock(mutex_);
        if (abandoned_) {
            counts_.delivered(who, n);
            lock.unlock();
            return destroy(done);
        }
        ready_.append(std::move(done));
        some_ready_.store(true, std::memory_order_release);
        if (!polling_only_) schedule();
        counts_.delivered(who, n);
    }

    void wake() noexcept override
    {
        std::lock_guard guard(mutex_);
        schedule();
    }

    void before_fork() noexcept override { mutex_.lock(); }
    void after_fork() noexcept override { mutex_.unlock(); }

private:
    struct known {
        asio::execution_context const* context;
        std::uint64_t gone;
        loop* found;
    };

    // How many loops were shut down.
    static std::atomic<std::uint64_t>& gone() noexcept
    {
        static constinit std::atomic<std::uint64_t> count{0};
        return count;
    }

    static loop*& current() noexcept
    {
        static thread_local constinit loop* the = nullptr;
        return the;
    }

    // Whether this thread has an eager turn, which only one at a time has.
    operation_counts::by has_turn() const noexcept
    {
        return current() == this && eager_ ? operation_counts::by::turn : operation_counts::by::anybody;
    }

    static bool& threw() noexcept
    {
        static thread_local constinit bool value = false;
        return value;
    }

    struct turn_handler {
        using allocator_type = turn_allocator<void>;
        allocator_type get_allocator() const noexcept { return allocator_type(self->turn_memory_); }

        void operator()() const { self->turn(); }
        loop* self;
    };

    struct timer_handler {
        using allocator_type = recycling<void>;
        allocator_type get_allocator() const noexcept { return {}; }

        void operator()(error_code ec) const
        {
            if (!self->timer_fired(epoch) || ec) return;
            self->turn();
        }
        loop* self;
        std::uint64_t epoch;
    };

    // Whether a turn is posted that will see what this thread has done. Written as a change, for that is ordered with the
    // turn's own.
    bool turn_will_see() noexcept
    {
        bool posted = true;
        return posted_.compare_exchange_strong(posted, true, std::memory_order_acq_rel);
    }

    // One posted turn at a time. Under mutex_.
    void schedule() noexcept
    {
        if (posted_ || closed() || !executor_) return;
        try {
            if (io_ != nullptr)
                asio::post(io_->get_executor(),
                           turn_handler{this}); // a type-erased executor allocates by itself
            else
                asio::post(executor_, turn_handler{this});
            posted_ = true; // before the turn, which waits for mutex_
        } catch (...) {
            // No memory: the pending timer, or the next region, tries again.
        }
    }

    // Marks the thread that has the turn. An exception of a handler leaves through it: the rest is kept for the
    // next turn.
    struct turn_scope {
        turn_scope(loop& l, bool n) noexcept : self(l), outer(std::exchange(current(), &l)), nested(n) {}
        turn_scope(turn_scope const&) = delete;
        turn_scope& operator=(turn_scope const&) = delete;
        ~turn_scope()
        {
            current() = outer;
            std::lock_guard guard(self.mutex_);
            self.ready_.append(std::move(self.mine_));
            if (!nested) self.turn_taken_.store(false, std::memory_order_release);
            if (!self.ready_.empty())
                self.some_ready_.store(true, std::memory_order_relaxed);
            else if (decided)
                return;
            if (self.counts_.outstanding() != 0) self.schedule();
        }
        loop& self;
        loop* outer;
        bool nested;
        bool decided = false; ///< what comes next was arranged: a turn, a timer, or nothing
    };

    void turn()
    {
        {
            std::lock_guard guard(mutex_);
            posted_.exchange(false);
            armed = false;
            work_ = {};
            if (backoff_.waiting()) backoff_.woken(backoff::clock::now());
        }
        if (closed()) return;
        bool const nested = current() == this;
        if (eager_ && !nested && turn_taken_.exchange(true, std::memory_order_acquire))
            return; // it looks for us too
        turn_scope scope(*this, nested);
        if (eager_)
            eager_turn();
        else
            shared_turn();
        scope.decided = true;
    }

    // Any thread of the context may have the next turn: it is posted before a handler, which may block, runs.
    void shared_turn()
    {
        auto const began = backoff::clock::now();
        for (auto now = began; now - began < longest_shared_turn; now = backoff::clock::now()) {
            registry::instance().poll();
            if (run_shared_batch()) break;
            if (counts_.outstanding() == 0) return idle();
            if (!spin_on(now)) return;
        }
        std::lock_guard guard(mutex_);
        if (counts_.outstanding() != 0)
            schedule();
        else
            cancel_timer();
    }

    bool run_shared_batch()
    {
        if (!some_ready_.load(std::memory_order_acquire)) return false;
        std::size_t left = 0;
        {
            std::lock_guard guard(mutex_);
            moved();
            if (counts_.outstanding() > 1) schedule();
            for (region* r = ready_.front(); r != nullptr; r = r->next) ++left;
        }
        for (; left != 0; --left) {
            region* r = nullptr;
            {
                std::lock_guard guard(mutex_);
                if (ready_.empty()) break;
                r = ready_.pop();
                if (ready_.empty()) some_ready_.store(false, std::memory_order_relaxed);
            }
            if (!finish(*r)) break;
        }
        return true;
    }

    // The thread keeps the turn: completions go from hand to hand without a lock or a post.
    [[gnu::hot]] void eager_turn()
    {
        std::size_t handled = 0;
        auto began = backoff::clock::time_point{};
        for (;;) {
            if (mine_.empty()) {
                registry::instance().poll();
                take_ready();
            }
            if (!mine_.empty()) {
                moved();
                began = {};
                while (!mine_.empty() && handled < longest_eager_batch) {
                    ++handled;
                    if (!finish(*mine_.pop())) handled = longest_eager_batch;
                }
                if (handled < longest_eager_batch) continue;
                break; // the context's other handlers want their turn
            }
            if (counts_.outstanding() == 0) return idle();
            auto const now = backoff::clock::now();
            if (began == backoff::clock::time_point{}) began = now;
            if (now - began > longest_eager_spin) break;
            if (!spin_on(now)) return;
        }
        std::lock_guard guard(mutex_);
        schedule();
    }

    void take_ready()
    {
        if (!some_ready_.load(std::memory_order_acquire)) return;
        std::lock_guard guard(mutex_);
        mine_.append(std::move(ready_));
        some_ready_.store(false, std::memory_order_relaxed);
    }

    // False: the turn ends here. An exception is on its way out, or the context was stopped and the rest stays for a restart.
    bool finish(region& r)
    {
        counts_.ended(has_turn());
        r.end(r, ending::invoke);
        if (threw()) {
            threw() = false;
            return false;
        }
        return !stopped();
    }

    // To ask the context takes a lock. An eager turn knows of a stop through offload_context at once, and of one through
    // the base class soon.
    bool stopped() noexcept
    {
        if (!stopped_.load(std::memory_order_relaxed) && eager_ && ++handlers_ % 16 != 0) return false;
        return io_ != nullptr && io_->stopped();
    }

    void idle() noexcept
    {
        std::lock_guard guard(mutex_);
        if (counts_.outstanding() == 0)
            cancel_timer();
        else
            schedule();
    }

    void moved() noexcept
    {
        backoff_.moved();
        spin_.reset();
    }

    // Nothing was ready. True: look again at once. False: the loop may sleep, a timer or a wake-up is set.
    bool spin_on(backoff::clock::time_point now)
    {
        std::unique_lock guard(mutex_);
        if (!counts_.any_in_devices() && !polling_only_) {
            if (posted_) return false;
            if (some_ready_.load(std::memory_order_acquire) || held_.empty()) return true;
            cancel_timer(); // whoever ends what is held posts a turn
            work_ = asio::prefer(executor_, asio::execution::outstanding_work.tracked);
            return false;
        }
        backoff::advice advice = backoff_.idle(now);
        if (advice.what == backoff::action::spin) {
            spin_.step();
            return true;
        }
        if (posted_) return false;
        if (counts_.outstanding() == 0) return true;
        if (advice.what == backoff::action::sleep || polling_only_) {
            start_timer(polling_only_ ? std::max(advice.delay, polling_period) : advice.delay);
            return false;
        }
        armed = true;
        if (!timer_pending_) start_timer(slow_check);
        guard.unlock();
        bool const can_wake = registry::instance().arm();
        bool const looked =
            registry::instance().poll(); // what completed between the last look and the arming
        guard.lock();
        if (!looked || some_ready_.load(std::memory_order_acquire) || !mine_.empty()) {
            armed = false;
            return true;
        }
        if (!can_wake && !posted_) start_timer(polling_period);
        return false;
    }

    void start_timer(backoff::duration delay)
    {
        timer_->expires_after(delay);
        timer_pending_ = true;
        timer_->async_wait(timer_handler{this, ++epoch_});
    }

    void cancel_timer() noexcept
    {
        armed = false;
        if (!std::exchange(timer_pending_, false)) return;
        ++epoch_;
        try {
            timer_->cancel();
        } catch (...) { // then it fires once for nothing
        }
    }

    bool timer_fired(std::uint64_t epoch) noexcept
    {
        std::lock_guard guard(mutex_);
        if (epoch != epoch_ || closed()) return false;
        timer_pending_ = false;
        return true;
    }

    // The context goes away: its regions end on their devices, their handlers are destroyed and not invoked.
    void shutdown() noexcept override
    {
        {
            std::lock_guard guard(mutex_);
            if (closed_.exchange(true)) return;
        }
        gone().fetch_add(1, std::memory_order_release);
        registry& devices = registry::instance();
        if (!devices.forked())
            devices.wait_until([&] {
                devices.cancel_deferred_if( // some may come late
                    [this](region const& r) { return r.owner == this || r.order->awaited_in == this; });
                return !counts_.any_in_devices();
            });
        if (has_executor_.load(std::memory_order_acquire)) devices.who_sleeps().remove(*this);
        if (auto const door = the_door()) door->close();
        timer_.reset();
        region_list left;
        {
            std::lock_guard guard(mutex_);
            abandoned_ = true;
            work_ = {};
            left.append(std::move(ready_));
            left.append(std::move(mine_));
            for (region* const r : held_) left.push(*r);
            held_.clear();
        }
        destroy(left);
    }

    std::shared_ptr<loop_door> the_door() noexcept
    {
        std::lock_guard guard(mutex_);
        return door_;
    }

    void destroy(region_list& handlers) noexcept
    {
        while (!handlers.empty()) {
            region& r = *handlers.pop();
            counts_.ended(operation_counts::by::anybody);
            r.end(r, ending::destroy);
        }
    }

    static constexpr auto longest_shared_turn = std::chrono::microseconds(5);
    static constexpr auto longest_eager_spin = std::chrono::microseconds(20);
    static constexpr std::size_t longest_eager_batch = 256;
    static constexpr backoff::duration slow_check = std::chrono::milliseconds(100);
    static constexpr backoff::duration polling_period = std::chrono::microseconds(200);

    operation_counts counts_;
    std::atomic<bool> closed_{false};
    std::atomic<bool> some_ready_{false};
    std::atomic<bool> has_executor_{false};
    bool eager_ = false;
    bool polling_only_ = false;
    asio::io_context* io_ = nullptr;      // set once, before the first turn
    std::atomic<bool> turn_taken_{false}; // an eager turn is one thread's
    region_list mine_;                    // touched only by that thread, as is handlers_
    unsigned handlers_ = 0;
    std::atomic<bool> stopped_{false};

    std::mutex adoption_;
    asio::any_io_executor executor_; // set once, as io_
    std::mutex mutex_;
    region_list ready_;               // the rest is guarded by mutex_
    std::vector<region*> held_;       // wait for no device
    asio::any_io_executor work_;      // tracked while nothing but those is left
    std::shared_ptr<loop_door> door_; // made by the first of them
    bool abandoned_ = false;          // whoever comes now is destroyed
    turn_memory turn_memory_;
    backoff backoff_;
    spin spin_;
    std::optional<asio::steady_timer> timer_;
    std::uint64_t epoch_ = 0;
    std::atomic<bool> posted_{false}; // changed under mutex_
    bool timer_pending_ = false;
};

inline void loop_door::end_held(region& r, error_code ec) noexcept
{
    auto const guard = lock_unless_orphaned(mutex_);
    if (loop_ != nullptr) loop_->end_held(r, ec);
}

} // namespace omp_co::detail
