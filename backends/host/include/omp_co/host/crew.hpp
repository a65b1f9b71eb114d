// SPDX-License-Identifier: BSL-1.0
// The worker threads of a host device: they run streams that have commands, and help with open loops.
#pragma once

#include <omp_co/detail/spin.hpp>
#include <omp_co/host/options.hpp>
#include <omp_co/host/team.hpp>

#include <algorithm>
#include <atomic>
#include <boost/intrusive/slist.hpp>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace omp_co::host {

class crew;

/// A stream as the workers see it. At any time one worker runs it, or it is queued, or it is idle or waiting.
class runnable : public boost::intrusive::slist_base_hook<> {
public:
    /// Runs commands until there are none or one must wait.
    virtual void run(crew& workers, team& own) noexcept = 0;

protected:
    ~runnable() = default;
};

class crew {
public:
    explicit crew(options const& o) : spin_(o.spin), teams_(o.workers)
    {
        try {
            for (unsigned i = 0; i < o.workers; ++i) threads_.emplace_back([this, i] { work(teams_[i]); });
        } catch (...) {
            stop();
            throw;
        }
    }
    crew(crew const&) = delete;
    crew& operator=(crew const&) = delete;
    ~crew() { stop(); }

    /// Ends the workers. No stream has commands any more.
    void stop() noexcept
    {
        {
            std::lock_guard guard(mutex_);
            stopping_ = true;
            changed_.notify_all();
        }
        for (std::thread& t : threads_) t.join();
        threads_.clear();
    }

    /// Queues a stream. Any thread.
    void post(runnable& r) noexcept
    {
        {
            std::lock_guard guard(mutex_);
            queue_.push_back(r);
            queued_.store(queued_.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);
        }
        wake(1);
    }

    /// Whether a worker that spins on its own stream should look elsewhere.
    bool wanted(std::memory_order order = std::memory_order_relaxed) const noexcept
    {
        return queued_.load(order) != 0 || open_teams_.load(order) != 0 ||
               stopping_.load(std::memory_order_relaxed);
    }

    std::size_t size() const noexcept { return threads_.size(); }
    std::chrono::nanoseconds spin() const noexcept { return spin_; }

    /// Runs a call, with the help of the other workers if it lasts. The owner's thread.
    void run_call(backend::invocation const& call, team& own, backend::failure& failure) noexcept
    {
        std::size_t const total = call.range.dimensions == 0 ? 1 : call.range.total();
        if (total == 0) return;
        if (threads_.size() == 1 || total == 1) return run_part(call, 0, total, failure);
        if (call.reduce != nullptr) return reduce(call, total, own, failure);
        // Alone for as long as a call to the others would take; it may be all there is to do.
        auto const began = std::chrono::steady_clock::now();
        std::size_t done = 0;
        for (std::size_t step = 1; done < total; step *= 2) {
            std::size_t const last = step < total - done ? done + step : total;
            run_part(call, done, last, failure);
            if (failure.error) return;
            done = last;
            if (std::chrono::steady_clock::now() - began > worth_sharing) break;
        }
        if (done == total) return;
        std::size_t const pieces = std::min(total - done, threads_.size() * pieces_a_worker);
        own.start(call, done, total, pieces, open_teams_);
        wake(threads_.size() - 1);
        own.finish(failure, spin_);
    }

private:
    void reduce(backend::invocation const& call, std::size_t total, team& own,
                backend::failure& failure) noexcept
    {
        std::size_t const pieces = std::min(total, threads_.size() * pieces_a_worker);
        try {
            partial_results const partial(call, pieces);
            auto const began = std::chrono::steady_clock::now();
            std::size_t done = 0;
            while (done < pieces && !failure.error &&
                   std::chrono::steady_clock::now() - began <= worth_sharing) {
                run_part_in(call, share(total, done, pieces), share(total, done + 1, pieces),
                            partial.of(done), failure);
                ++done;
            }
            if (done < pieces && !failure.error) {
                own.start(call, 0, total, pieces, open_teams_, done, &partial);
                wake(threads_.size() - 1);
                own.finish(failure, spin_);
            }
            if (!failure.error) partial.combine();
        } catch (...) {
            failure = failure_of(std::current_exception());
        }
    }

    static constexpr auto worth_sharing = std::chrono::microseconds(2);
    static constexpr std::size_t pieces_a_worker = 4;

    void work(team& own) noexcept
    {
        for (;;) {
            if (runnable* const r = next()) {
                r->run(*this, own);
                continue;
            }
            if (open_teams_.load(std::memory_order_seq_cst) != 0) {
                help(own);
                continue;
            }
            if (stopping_.load(std::memory_order_relaxed)) return;
            rest();
        }
    }

    runnable* next() noexcept
    {
        if (queued_.load(std::memory_order_seq_cst) == 0) return nullptr;
        std::lock_guard guard(mutex_);
        if (queue_.empty()) return nullptr;
        runnable& r = queue_.front();
        queue_.pop_front();
        queued_.store(queued_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
        return &r;
    }

    void help(team const& own) noexcept
    {
        for (team& t : teams_)
            if (&t != &own && t.open()) t.help();
    }

    // Spins for a while, then sleeps.
    void rest() noexcept
    {
        if (omp_co::detail::spin_for(spin_, [this] { return wanted(); })) return;
        std::unique_lock lock(mutex_);
        sleepers_.fetch_add(1, std::memory_order_seq_cst);
        changed_.wait(lock, [&] { return wanted(std::memory_order_seq_cst); });
        sleepers_.fetch_sub(1, std::memory_order_relaxed);
    }

    void wake(std::size_t workers) noexcept
    {
        if (sleepers_.load(std::memory_order_seq_cst) == 0) return;
        std::lock_guard guard(mutex_);
        if (workers == 1)
            changed_.notify_one();
        else
            changed_.notify_all();
    }

    std::chrono::nanoseconds spin_;
    std::vector<team> teams_; // one a worker, never resized
    std::vector<std::thread> threads_;
    std::atomic<std::size_t> queued_{0};
    std::atomic<unsigned> open_teams_{0};
    std::atomic<unsigned> sleepers_{0};
    std::atomic<bool> stopping_{false};
    std::mutex mutex_;
    std::condition_variable changed_;
    boost::intrusive::slist<runnable, boost::intrusive::cache_last<true>> queue_; // guarded by mutex_
};

} // namespace omp_co::host
