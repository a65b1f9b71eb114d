// SPDX-License-Identifier: BSL-1.0
// One thread a device for what must not happen on an event loop: large copies, growing pools, commands that wait for
// something on the host, and watching streams for those who sleep. Without work it sleeps, at no cost.
#pragma once

#include <omp_co/cuda/context.hpp>
#include <omp_co/detail/long_slices.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

namespace omp_co::cuda::engine {

/// What a helper did for a stream: nothing left to do; something, and there is more; nothing, until the device gets
/// further; nothing, until somebody gives notice.
enum class help : unsigned char { finished, moved, waits_for_device, waits_for_notice };

/// A stream, as its helper sees it.
class helped {
public:
    virtual help go_on() noexcept = 0;

    /// The device is lost: gives up everything that refers to regions.
    virtual void drop() noexcept = 0;

    /// Whether there is news for whoever armed the stream.
    virtual bool has_moved() noexcept = 0;

protected:
    ~helped() = default;

private:
    friend class helper;
    bool wants_help_ = false; // these are guarded by the helper's mutex
    bool watched_ = false;
    std::chrono::steady_clock::time_point watched_since_;
};

class helper {
    using clock = std::chrono::steady_clock;

public:
    explicit helper(context& c) noexcept : context_(c) {}
    helper(helper const&) = delete;
    helper& operator=(helper const&) = delete;
    ~helper() { stop(); }

    /// Throws std::bad_alloc, or std::system_error if the thread cannot be started.
    void attach(helped& who)
    {
        std::lock_guard guard(mutex_);
        members_.reserve(members_.size() + 1);
        if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
        members_.push_back(&who);
    }

    /// Afterwards it is not touched any more.
    void detach(helped& who) noexcept
    {
        std::unique_lock lock(mutex_);
        left_.wait(lock, [&] { return served_ != &who; });
        std::erase(members_, &who);
        signal(); // another one may have been passed over
    }

    void call(helped& who) noexcept
    {
        std::lock_guard guard(mutex_);
        who.wants_help_ = true;
        signal();
    }

    void watch(helped& who) noexcept
    {
        std::lock_guard guard(mutex_);
        if (who.watched_) return;
        who.watched_ = true;
        who.watched_since_ = clock::now();
        signal();
    }

    /// Something that somebody may have waited for has happened.
    void notice() noexcept
    {
        std::lock_guard guard(mutex_);
        signal();
    }

    /// Whether it may be using memory of a region at this moment. False after the device was lost: never again.
    bool touches_regions() const noexcept { return touching_.load(std::memory_order_seq_cst); }

    /// Nothing is in flight any more; afterwards no member is touched.
    void stop() noexcept
    {
        {
            std::lock_guard guard(mutex_);
            stop_ = true;
            signal();
        }
        if (thread_.joinable()) thread_.join();
    }

private:
    static constexpr auto shortest = std::chrono::microseconds(50);
    static constexpr auto longest = std::chrono::milliseconds(1);

    void signal() noexcept
    {
        ++signals_;
        changed_.notify_one();
    }

    void run() noexcept
    {
        omp_co::detail::take_long_slices(); // it may copy for long
        std::unique_lock lock(mutex_);
        std::chrono::nanoseconds nap = shortest;
        while (!stop_) {
            std::size_t const seen = signals_;
            help const most = round(lock);
            if (most == help::moved) {
                nap = shortest;
                continue;
            }
            auto const news = [&] { return stop_ || signals_ != seen; };
            bool const watching = watches();
            if (most == help::waits_for_device || watching) {
                std::chrono::nanoseconds until = longest;
                if (most == help::waits_for_device) until = std::min(until, nap);
                if (watching) until = std::min(until, look_every_);
                (void)changed_.wait_for(lock, until, news);
                nap = std::min<std::chrono::nanoseconds>(nap + nap / 4, longest);
            } else {
                changed_.wait(lock, news);
                nap = shortest;
            }
        }
    }

    bool watches() const noexcept
    {
        return std::any_of(members_.begin(), members_.end(), [](helped const* h) { return h->watched_; });
    }

    // Serves each member once. What the most hopeful one answered.
    help round(std::unique_lock<std::mutex>& lock) noexcept
    {
        help most = help::finished;
        bool wake = false;
        for (std::size_t i = 0; i < members_.size(); ++i) {
            helped& h = *members_[i];
            if (h.wants_help_) {
                h.wants_help_ = false;
                help now{};
                at(h, lock, [&] { now = serve(h); });
                if (now != help::finished) h.wants_help_ = true;
                if (now == help::moved || (now == help::waits_for_device && most != help::moved)) most = now;
            }
            if (!h.watched_) continue;
            bool moved = false;
            at(h, lock, [&] { moved = h.has_moved(); });
            if (!moved || !h.watched_) continue;
            h.watched_ = false;
            learn(clock::now() - h.watched_since_);
            wake = true;
        }
        if (!wake) return most;
        lock.unlock();
        context_.wake();
        lock.lock();
        return most;
    }

    // Runs `f` without the lock, and keeps the member.
    template <class F>
    void at(helped& h, std::unique_lock<std::mutex>& lock, F f) noexcept
    {
        served_ = &h;
        lock.unlock();
        f();
        lock.lock();
        served_ = nullptr;
        left_.notify_all();
    }

    help serve(helped& h) noexcept
    {
        help now = help::finished;
        touching_.store(true, std::memory_order_seq_cst);
        bool const lost = context_.lost() != result::success;
        if (!lost) now = h.go_on();
        bool const drop = context_.lost() != result::success;
        if (drop) h.drop();
        touching_.store(false, std::memory_order_seq_cst);
        if (!drop) return now;
        context_.wake(); // somebody may wait for this thread to let go
        return help::finished;
    }

    // A sixteenth of what a watch usually lasts.
    void learn(std::chrono::nanoseconds lasted) noexcept
    {
        usual_ += (std::min<std::chrono::nanoseconds>(lasted, std::chrono::milliseconds(20)) - usual_) / 4;
        look_every_ = std::clamp<std::chrono::nanoseconds>(usual_ / 16, shortest, longest);
    }

    context& context_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::condition_variable left_;
    helped* served_ = nullptr;     // guarded by mutex_
    std::vector<helped*> members_; // guarded by mutex_
    std::size_t signals_ = 0;      // guarded by mutex_
    bool stop_ = false;            // guarded by mutex_
    std::chrono::nanoseconds usual_{std::chrono::milliseconds(1)};
    std::chrono::nanoseconds look_every_ = shortest;
    std::atomic<bool> touching_{false};
    std::thread thread_;
};

} // namespace omp_co::cuda::engine
