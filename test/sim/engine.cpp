// SPDX-License-Identifier: BSL-1.0
// The schedule of all streams and the threads that keep it.
#include "engine.hpp"

#include <algorithm>
#include <chrono>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace omp_co_sim {

constinit thread_local bool inside_host_function = false;

namespace {

constexpr nanoseconds first_poll = 20'000;
constexpr nanoseconds longest_poll = 1'000'000;

// The kernel may otherwise add 50 microseconds to every sleep.
void sleep_precisely() { ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL); }

// The threads stand for engines that a device has besides the CPU: nobody who wakes up waits until a slice of theirs is
// over. Linux 6.12 lets a thread choose how long that is, and prefers those with shorter ones.
void give_way()
{
    struct {
        std::uint32_t size = 48;
        std::uint32_t policy = 0;
        std::uint64_t flags = 0;
        std::int32_t nice = 0;
        std::uint32_t priority = 0;
        std::uint64_t slice = 0;
        std::uint64_t deadline = 0;
        std::uint64_t period = 0;
    } attributes; // what sched_setattr(2) describes
    if (::syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0U) != 0) return;
    if (attributes.policy != SCHED_OTHER) return;
    attributes.slice = 100'000'000;
    static_cast<void>(::syscall(SYS_sched_setattr, 0, &attributes, 0U));
}

std::chrono::steady_clock::time_point as_time_point(nanoseconds time)
{
    return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(time));
}

} // namespace

nanoseconds now()
{
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

nanoseconds lane::book(nanoseconds earliest, nanoseconds duration)
{
    auto const way = std::min_element(free_at_.begin(), free_at_.end());
    auto const start = std::max(earliest, *way);
    *way = start + duration;
    return start;
}

void engine::depend(command& waiting, command& on)
{
    if (on.done()) {
        waiting.earliest_ = std::max(waiting.earliest_, on.end_);
        return;
    }
    ++waiting.blockers_;
    on.dependents_.push_back(waiting.shared_from_this());
}

void engine::submit(std::shared_ptr<command> const& c, std::shared_ptr<stream_queue> const& queue,
                    nanoseconds latency)
{
    c->earliest_ = std::max({c->earliest_, now() + latency, queue->last_end});
    c->queue_ = queue;
    queue->commands.push_back(c);
    consider(*c);
}

void engine::wait_for_room(lock_type& lock, stream_queue& queue)
{
    if (queue.commands.size() < room) return;
    ++queue.waiting_for_room;
    changed_.wait(lock, [&] { return queue.commands.size() < room; });
    --queue.waiting_for_room;
}

void engine::wait(lock_type& lock, std::shared_ptr<command> const& c)
{
    if (c->done()) return;
    c->watched_ = true;
    changed_.wait(lock, [&] { return c->done(); });
}

void engine::abort(fault_domain& domain, CUresult fault, std::string text)
{
    if (domain.fault != CUDA_SUCCESS) return;
    domain.fault = fault;
    domain.text = std::move(text);
    if (on_fault_) on_fault_(domain);
    for (auto const& weak : domain.queues)
        if (auto const queue = weak.lock()) flush(*queue, fault);
    changed_.notify_all();
}

void engine::drain(lock_type& lock)
{
    ++drain_waiters_;
    changed_.wait(lock, [&] { return running_ == 0 && waiting_.empty() && host_jobs_.empty(); });
    --drain_waiters_;
}

void engine::post_host(std::function<void()> job) { start_host({nullptr, std::move(job)}); }

// The front of a queue with nothing left to wait for gets its place on the schedule.
void engine::consider(command& c)
{
    if (c.phase_ != command::phase::queued || c.blockers_ > 0) return;
    if (c.queue_->commands.front().get() != &c) return;
    c.phase_ = command::phase::scheduled;
    c.modelled_ = c.duration();
    c.start_ = c.earliest_;
    auto* const resource = c.modelled_ > 0 ? c.resource() : nullptr;
    if (resource) c.start_ = resource->book(c.earliest_, c.modelled_);
    push(c.start_, c.shared_from_this(), command::phase::scheduled);
}

void engine::push(nanoseconds time, std::shared_ptr<command> c, command::phase expected)
{
    bool const first = heap_.empty() || time < heap_.top().time;
    heap_.push({time, ++order_, std::move(c), expected});
    if (!has_leader_) {
        call_help();
        return;
    }
    if (first && leader_sleeps_) {
        leader_sleeps_ = false;
        leader_.notify_one();
    }
}

void engine::call_help()
{
    if (idle_ > 0) {
        followers_.notify_one();
        return;
    }
    if (threads_ >= most_threads_) return;
    ++threads_;
    std::thread([this] { work(); }).detach();
}

void engine::work()
{
    sleep_precisely();
    give_way();
    lock_type lock(mutex_);
    for (;;) {
        while (has_leader_) {
            if (!waiting_.empty()) {
                auto const c = std::move(waiting_.front());
                waiting_.pop_front();
                after(c, run_unlocked(*c, lock));
                continue;
            }
            ++idle_;
            followers_.wait(lock);
            --idle_;
        }
        has_leader_ = true;
        lead(lock);
    }
}

// Returns when this thread is no longer the leader.
void engine::lead(lock_type& lock)
{
    for (;;) {
        if (heap_.empty()) {
            leader_sleeps_ = true;
            leader_.wait(lock);
            leader_sleeps_ = false;
            continue;
        }
        auto const due = heap_.top().time;
        if (due > now()) {
            leader_sleeps_ = true;
            leader_.wait_until(lock, as_time_point(due));
            leader_sleeps_ = false;
            continue;
        }
        auto e = heap_.top();
        heap_.pop();
        if (!process(std::move(e), lock)) return;
    }
}

// False: leadership went to another thread meanwhile.
bool engine::process(entry e, lock_type& lock)
{
    auto const c = std::move(e.what);
    if (c->phase_ != e.expected) return true;
    if (e.expected == command::phase::ending) {
        complete(*c, c->end_, CUDA_SUCCESS);
        return true;
    }
    auto const queue = c->queue_;
    if (auto const fault = queue->domain->fault; fault != CUDA_SUCCESS) {
        flush(*queue, fault);
        return true;
    }
    if (!c->ready()) {
        c->poll_ = c->poll_ == 0 ? first_poll : std::min(longest_poll, c->poll_ + c->poll_ / 2);
        push(now() + c->poll_, c, command::phase::scheduled);
        return true;
    }
    if (c->poll_ > 0) c->start_ = now();
    return start(c, lock);
}

bool engine::start(std::shared_ptr<command> const& c, lock_type& lock)
{
    c->phase_ = command::phase::running;
    auto const how = c->how();
    if (how == command::weight::light) {
        after(c, c->run());
        return true;
    }
    if (how == command::weight::host) {
        start_host({c, {}});
        return true;
    }
    if (how == command::weight::heavy) {
        if (idle_ == 0 && threads_ >= most_threads_) {
            waiting_.push_back(c);
            return true;
        }
        has_leader_ = false;
        if (!heap_.empty()) call_help();
    }
    auto const result = run_unlocked(*c, lock);
    bool const leads = how == command::weight::brief || !has_leader_;
    if (leads) has_leader_ = true;
    after(c, result);
    return leads;
}

outcome engine::run_unlocked(command& c, lock_type& lock)
{
    if (c.queue_->domain->fault != CUDA_SUCCESS) return {};
    ++running_;
    lock.unlock();
    auto result = c.run();
    lock.lock();
    --running_;
    if (drain_waiters_ > 0) changed_.notify_all();
    return result;
}

void engine::after(std::shared_ptr<command> const& c, outcome const& result)
{
    auto const queue = c->queue_;
    auto& domain = *queue->domain;
    auto const time = now();
    if (result.status != CUDA_SUCCESS && domain.fault == CUDA_SUCCESS)
        abort(domain, result.status, result.text);
    if (domain.fault != CUDA_SUCCESS) {
        complete(*c, time, domain.fault);
        flush(*queue, domain.fault);
        return;
    }
    if (c->modelled_ == 0) {
        complete(*c, c->how() == command::weight::light ? c->start_ : time, CUDA_SUCCESS);
        return;
    }
    c->end_ = c->start_ + c->modelled_;
    if (c->end_ <= time) {
        complete(*c, c->end_, CUDA_SUCCESS);
        return;
    }
    c->phase_ = command::phase::ending;
    push(c->end_, c, command::phase::ending);
}

void engine::complete(command& c, nanoseconds end, CUresult status)
{
    auto const queue = std::move(c.queue_);
    auto const self = std::move(queue->commands.front());
    auto const dependents = std::move(c.dependents_);
    c.phase_ = command::phase::done;
    c.end_ = end;
    c.queue_.reset();
    c.dependents_.clear();
    queue->commands.pop_front();
    queue->last_end = std::max(queue->last_end, end);
    c.over(status);
    for (auto const& d : dependents) {
        d->earliest_ = std::max(d->earliest_, end);
        --d->blockers_;
        if (d->queue_) consider(*d);
    }
    if (!queue->commands.empty()) {
        auto& next = *queue->commands.front();
        next.earliest_ = std::max(next.earliest_, end);
        consider(next);
    }
    if (c.watched_ || queue->waiting_for_room > 0) changed_.notify_all();
}

// An effect that runs is left to end; `after` comes back here then.
void engine::flush(stream_queue& queue, CUresult fault)
{
    while (!queue.commands.empty()) {
        auto const front = queue.commands.front();
        if (front->phase_ == command::phase::running) return;
        complete(*front, now(), fault);
    }
}

void engine::start_host(host_job job)
{
    host_jobs_.push_back(std::move(job));
    if (!host_thread_) {
        host_thread_ = true;
        std::thread([this] { host_work(); }).detach();
        return;
    }
    host_.notify_one();
}

void engine::host_work()
{
    sleep_precisely();
    inside_host_function = true;
    lock_type lock(mutex_);
    for (;;) {
        host_.wait(lock, [&] { return !host_jobs_.empty(); });
        auto const job = host_jobs_.front();
        ++running_;
        lock.unlock();
        if (job.plain) job.plain();
        auto const result = job.what ? job.what->run() : outcome{};
        lock.lock();
        --running_;
        host_jobs_.pop_front();
        if (job.what) after(job.what, result);
        if (drain_waiters_ > 0) changed_.notify_all();
    }
}

} // namespace omp_co_sim
