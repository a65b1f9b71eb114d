// SPDX-License-Identifier: BSL-1.0
// Who sleeps until something completes, on whichever device.
#pragma once

#include <atomic>
#include <boost/intrusive/list.hpp>
#include <chrono>
#include <condition_variable>
#include <mutex>

namespace omp_co::detail {

/// Something that waits for completions without polling.
class sleeper : public boost::intrusive::list_base_hook<> {
public:
    /// Called once for each time that `armed` was set, from any thread.
    virtual void wake() noexcept = 0;

    /// A child process must not find a lock taken by a thread that it does not have.
    virtual void before_fork() noexcept {}
    virtual void after_fork() noexcept {}

    std::atomic<bool> armed{false};

protected:
    ~sleeper() = default;
};

/// A thread that does nothing else.
class blocked_thread final : public sleeper {
public:
    void block(std::chrono::milliseconds at_most)
    {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, at_most, [this] { return woken_; });
    }

    void wake() noexcept override
    {
        std::lock_guard guard(mutex_);
        woken_ = true;
        changed_.notify_one();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool woken_ = false;
};

class sleepers {
public:
    void add(sleeper& s)
    {
        std::lock_guard guard(mutex_);
        all_.push_back(s);
    }

    void remove(sleeper& s) noexcept
    {
        std::lock_guard guard(mutex_);
        all_.erase(all_.iterator_to(s));
    }

    /// Wakes all that are armed: a completion of one loop's region may be what another's is parked for.
    void wake_all() noexcept
    {
        std::lock_guard guard(mutex_);
        for (sleeper& s : all_)
            if (s.armed.exchange(false)) s.wake();
    }

    void before_fork() noexcept
    {
        mutex_.lock();
        for (sleeper& s : all_) s.before_fork();
    }

    void after_fork() noexcept
    {
        for (sleeper& s : all_) s.after_fork();
        mutex_.unlock();
    }

private:
    std::mutex mutex_;
    boost::intrusive::list<sleeper> all_; // guarded by mutex_
};

} // namespace omp_co::detail
