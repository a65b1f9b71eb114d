// SPDX-License-Identifier: BSL-1.0
// The streams of a host device: one that a crew of workers runs, and one that runs in the enqueueing call.
#pragma once

#include <omp_co/detail/failed_regions.hpp>
#include <omp_co/detail/spin.hpp>
#include <omp_co/host/command.hpp>
#include <omp_co/host/crew.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <utility>

namespace omp_co::host {

/// What both kinds share: how far they are, and which regions failed.
class stream_base : public backend::stream {
public:
    backend::progress completed() noexcept override
    {
        backend::sequence const at = completed_.load(std::memory_order_acquire);
        return {at, failed_.any(), {}};
    }

    backend::failure take_failure(backend::sequence number) override { return failed_.take(number); }

    void measure(backend::timing& t) noexcept override { t.measured = false; }

protected:
    static void begin(backend::timing& t) noexcept { t.begin = now(); }
    static void end(backend::timing& t) noexcept { t.elapsed = std::chrono::nanoseconds(now() - t.begin); }

    void note_failure(backend::sequence number, backend::failure&& f) noexcept
    {
        failed_.note(number, std::move(f));
    }

    static error_code check(backend::invocation const& call) noexcept
    {
        if (call.what == nullptr || call.what->kind != backend_kind::host)
            return make_error_code(errc::kernel_unavailable);
        return {};
    }

    alignas(64) std::atomic<backend::sequence> completed_{0}; // apart from what enqueueing reads

private:
    static std::int64_t now() noexcept
    {
        return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
    }

    omp_co::detail::failed_regions failed_;
};

/// Runs each command in the call that enqueues it.
class inline_stream : public stream_base {
public:
    error_code copy_in(void* device, void const* host, std::size_t bytes) override
    {
        return copy(device, host, bytes);
    }
    error_code copy_out(void* host, void const* device, std::size_t bytes) override
    {
        return copy(host, device, bytes);
    }
    error_code copy_within(void* to, void const* from, std::size_t bytes) override
    {
        return copy(to, from, bytes);
    }

    error_code fill(void* device, unsigned char value, std::size_t bytes) override
    {
        if (!skips()) std::memset(device, value, bytes);
        return {};
    }
    error_code copy_box_in(void* device, void const* host, backend::box const& shape) override
    {
        if (!skips()) omp_co::host::copy_box_in(device, host, shape);
        return {};
    }
    error_code copy_box_out(void* host, void const* device, backend::box const& shape) override
    {
        if (!skips()) omp_co::host::copy_box_out(host, device, shape);
        return {};
    }

    error_code launch(backend::invocation const& call) override
    {
        if (error_code const ec = check(call)) return ec;
        if (skips()) return {};
        std::size_t const total = call.range.dimensions == 0 ? 1 : call.range.total();
        if (total != 0) run_part(call, 0, total, failure_);
        return {};
    }

    error_code begin_timing(backend::timing& t, backend::invocation const*) override
    {
        begin(t);
        return {};
    }
    error_code end_timing(backend::timing& t) override
    {
        end(t);
        return {};
    }

    error_code wait(backend::stream&, backend::sequence) override
    {
        return make_error_code(errc::not_supported);
    }

    error_code signal(backend::sequence number) override { return finish_region(number, false); }
    error_code mark(backend::sequence number) override { return finish_region(number, true); }

    bool arm() noexcept override { return true; } // whoever enqueues also retires

protected:
    /// Whether a command of the region has failed, so that the rest of them is not run.
    bool skips() const noexcept { return skipping_ || failure_.error; }

private:
    error_code finish_region(backend::sequence number, bool goes_on) noexcept
    {
        skipping_ = goes_on && skips();
        if (failure_.error) note_failure(number, std::exchange(failure_, {}));
        completed_.store(number, std::memory_order_release);
        return {};
    }

    error_code copy(void* to, void const* from, std::size_t bytes) noexcept
    {
        if (!skips()) std::memcpy(to, from, bytes);
        return {};
    }

    backend::failure failure_;
    bool skipping_ = false; // since a region before this one failed
};

/// Commands wait in a queue until a worker runs them, in order.
class stream final : public stream_base, public runnable {
public:
    stream(crew& workers, backend::wakeup const& target) : crew_(workers), wakeup_(target) {}

    error_code copy_in(void* device, void const* host, std::size_t bytes) override
    {
        return copy(device, host, bytes);
    }
    error_code copy_out(void* host, void const* device, std::size_t bytes) override
    {
        return copy(host, device, bytes);
    }
    error_code copy_within(void* to, void const* from, std::size_t bytes) override
    {
        return copy(to, from, bytes);
    }

    error_code fill(void* device, unsigned char value, std::size_t bytes) override
    {
        command* const c = push(command_kind::fill);
        if (c == nullptr) return make_error_code(errc::out_of_memory);
        c->fill = {device, bytes, value};
        return {};
    }
    error_code copy_box_in(void* device, void const* host, backend::box const& shape) override
    {
        return copy_box(command_kind::box_in, device, host, shape);
    }
    error_code copy_box_out(void* host, void const* device, backend::box const& shape) override
    {
        return copy_box(command_kind::box_out, host, device, shape);
    }

    error_code copy_box_within(void* to, void const* from, backend::box const& shape) override
    {
        return copy_box(command_kind::box_in, to, from, shape);
    }

    error_code launch(backend::invocation const& call) override
    {
        if (error_code const ec = check(call)) return ec;
        command* const c = push(command_kind::launch);
        if (c == nullptr) return make_error_code(errc::out_of_memory);
        c->call = &call;
        return {};
    }

    error_code wait(backend::stream& other, backend::sequence number) override
    {
        auto& awaited = static_cast<stream&>(other);
        if (awaited.completed_.load(std::memory_order_acquire) >= number) return {};
        command* const c = push(command_kind::wait);
        if (c == nullptr) return make_error_code(errc::out_of_memory);
        c->wait = {&awaited, number};
        return {};
    }

    error_code begin_timing(backend::timing& t, backend::invocation const*) override
    {
        return stamp(command_kind::begin_timing, t);
    }
    error_code end_timing(backend::timing& t) override { return stamp(command_kind::end_timing, t); }

    error_code signal(backend::sequence number) override { return finish_region(number, false); }
    error_code mark(backend::sequence number) override { return finish_region(number, true); }

    bool arm() noexcept override
    {
        attention_.fetch_or(attention_armed, std::memory_order_seq_cst);
        return true;
    }

    void run(crew& workers, team& own) noexcept override
    {
        for (;;) {
            while (!commands_.empty())
                if (!run_one(workers, own)) return; // the awaited stream queues this one again
            if (linger(workers)) continue;
            std::uint64_t const taken = commands_.taken(); // from here on another worker may be the consumer
            busy_.store(false, std::memory_order_seq_cst);
            if (!commands_.published_beyond(taken) || busy_.exchange(true, std::memory_order_seq_cst)) return;
        }
    }

private:
    enum : unsigned { attention_armed = 1, attention_waiters = 2 };

    error_code finish_region(backend::sequence number, bool goes_on) noexcept
    {
        command* c = commands_.last();
        if (c == nullptr) c = push(command_kind::nothing);
        if (c == nullptr) return make_error_code(errc::out_of_memory);
        c->signal = number;
        c->goes_on = goes_on;
        commands_.publish();
        if (!busy_.load(std::memory_order_seq_cst) && !busy_.exchange(true, std::memory_order_seq_cst))
            crew_.post(*this);
        return {};
    }

    command* push(command_kind kind) noexcept
    {
        command* const c = commands_.push();
        if (c == nullptr) return nullptr;
        c->kind = kind;
        c->signal = 0;
        return c;
    }

    error_code stamp(command_kind kind, backend::timing& t) noexcept
    {
        command* const c = push(kind);
        if (c == nullptr) return make_error_code(errc::out_of_memory);
        c->timing = &t;
        return {};
    }

    error_code copy(void* to, void const* from, std::size_t bytes) noexcept
    {
        command* const c = push(command_kind::copy);
        if (c == nullptr) return make_error_code(errc::out_of_memory);
        c->copy = {to, from, bytes};
        return {};
    }

    error_code copy_box(command_kind way, void* to, void const* from, backend::box const& shape) noexcept
    {
        command* const c = push(way);
        if (c == nullptr) return make_error_code(errc::out_of_memory);
        c->box = {to, from, &shape};
        return {};
    }

    // More may come at once; going to sleep and being woken would cost twenty times a small region.
    bool linger(crew& workers) noexcept
    {
        omp_co::detail::spin_for(workers.spin(), [&] { return !commands_.empty() || workers.wanted(); });
        return !commands_.empty();
    }

    // False: the command waits for another stream, and this worker is free for others.
    bool run_one(crew& workers, team& own) noexcept
    {
        command const& c = commands_.front();
        if (c.kind == command_kind::wait && !c.wait.other->passed(c.wait.number, *this)) return false;
        if (!failure_.error && !skipping_) {
            if (c.kind == command_kind::copy) std::memcpy(c.copy.to, c.copy.from, c.copy.bytes);
            if (c.kind == command_kind::box_in) omp_co::host::copy_box_in(c.box.to, c.box.from, *c.box.shape);
            if (c.kind == command_kind::box_out)
                omp_co::host::copy_box_out(c.box.to, c.box.from, *c.box.shape);
            if (c.kind == command_kind::fill) std::memset(c.fill.to, c.fill.value, c.fill.bytes);
            if (c.kind == command_kind::launch) workers.run_call(*c.call, own, failure_);
        }
        if (c.kind == command_kind::begin_timing) begin(*c.timing);
        if (c.kind == command_kind::end_timing) end(*c.timing);
        backend::sequence const number = c.signal;
        bool const goes_on = c.goes_on;
        commands_.pop();
        if (number != 0) finish(number, goes_on);
        return true;
    }

    void finish(backend::sequence number, bool goes_on) noexcept
    {
        skipping_ = goes_on && (skipping_ || failure_.error);
        if (failure_.error) note_failure(number, std::exchange(failure_, {}));
        completed_.store(number, std::memory_order_seq_cst);
        if (unsigned const who = attention_.load(std::memory_order_seq_cst); who != 0) attend(who);
    }

    void attend(unsigned who) noexcept
    {
        if ((who & attention_waiters) != 0) release_waiters();
        if ((who & attention_armed) == 0) return;
        attention_.fetch_and(~unsigned{attention_armed}, std::memory_order_seq_cst);
        wakeup_.call(wakeup_.context);
    }

    // Whether `number` is done; if not, `who` is queued again once it is.
    bool passed(backend::sequence number, stream& who) noexcept
    {
        if (completed_.load(std::memory_order_acquire) >= number) return true;
        std::lock_guard guard(waiters_mutex_);
        attention_.fetch_or(attention_waiters, std::memory_order_seq_cst);
        if (completed_.load(std::memory_order_seq_cst) >= number) return true;
        who.awaited_ = number;
        who.next_waiter_ = std::exchange(waiters_, &who);
        return false;
    }

    void release_waiters() noexcept
    {
        std::lock_guard guard(waiters_mutex_);
        backend::sequence const at = completed_.load(std::memory_order_relaxed);
        for (stream** next = &waiters_; *next != nullptr;) {
            stream& who = **next;
            if (who.awaited_ > at) {
                next = &who.next_waiter_;
                continue;
            }
            *next = who.next_waiter_;
            crew_.post(who);
        }
        if (waiters_ == nullptr)
            attention_.fetch_and(~unsigned{attention_waiters}, std::memory_order_seq_cst);
    }

    crew& crew_;
    backend::wakeup const& wakeup_;
    command_queue commands_;
    backend::failure failure_; // of the region that is being run
    bool skipping_ = false;    // since a region before it failed
    alignas(64) std::atomic<bool> busy_{false};
    alignas(64) std::atomic<unsigned> attention_{0};
    std::mutex waiters_mutex_;
    stream* waiters_ = nullptr; // guarded by waiters_mutex_
    // While it waits, which is for one stream at a time; guarded by that one's waiters_mutex_.
    stream* next_waiter_ = nullptr;
    backend::sequence awaited_ = 0;
};

} // namespace omp_co::host
