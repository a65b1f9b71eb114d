// SPDX-License-Identifier: BSL-1.0
// Runs the commands of all streams, in order within a stream, on a schedule of modelled times.
//
// Every command has a modelled start and end. The start is the latest of: when it was submitted (plus the latency), the
// end of the command before it in its stream, the end of every command that it waits for, and when its lane (a copy
// engine, the multiprocessors) has room. A command with a modelled duration ends that long after its modelled start,
// however late the effect itself ran, so a chain of modelled commands does not drift with the machine's load; one
// without ends when its effect has. Effects run without the lock, never before the modelled start.
//
// Threads: one sleeps until the next start or end (the leader); to run a long effect it gives leadership away, and while
// there is nobody to give it to the effect waits. A host function runs on a thread of its own, one at a time. With
// nothing due, nothing runs.
#pragma once

#include "cuda_api.hpp"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <queue>
#include <string>
#include <vector>

namespace omp_co_sim {

using nanoseconds = std::int64_t;
using lock_type = std::unique_lock<std::mutex>;

nanoseconds now();

struct outcome {
    CUresult status = CUDA_SUCCESS;
    std::string text;
};

/// A resource that so many commands may use at a time.
class lane {
public:
    explicit lane(std::size_t ways) : free_at_(ways, 0) {}

    /// Takes the way that is free first; returns when it is.
    nanoseconds book(nanoseconds earliest, nanoseconds duration);

private:
    std::vector<nanoseconds> free_at_;
};

class command;

/// What a fault destroys: all streams of a device.
struct fault_domain;

/// The commands of one stream that are not over yet, first to run at the front.
struct stream_queue {
    std::deque<std::shared_ptr<command>> commands;
    std::shared_ptr<fault_domain> domain;
    nanoseconds last_end = 0;
    int waiting_for_room = 0;
};

struct fault_domain {
    int number = 0; ///< of the device
    CUresult fault = CUDA_SUCCESS;
    std::string text;
    std::vector<std::weak_ptr<stream_queue>> queues;
};

class command : public std::enable_shared_from_this<command> {
public:
    enum class weight {
        light, ///< runs under the lock: it changes one value at most
        brief, ///< microseconds
        heavy, ///< may take any time
        host   ///< runs on the thread of host functions
    };

    command() = default;
    command(command const&) = delete;
    command& operator=(command const&) = delete;
    virtual ~command() = default;

    virtual weight how() const { return weight::heavy; }

    /// False: asked again later (a wait for a value).
    virtual bool ready() { return true; }

    /// Modelled; 0: as long as it takes.
    virtual nanoseconds duration() const { return 0; }

    /// Null: none. Only asked when there is a modelled duration.
    virtual lane* resource() const { return nullptr; }

    /// The effect. A result other than success is a fault of the device.
    virtual outcome run() { return {}; }

    /// Under the lock, when it is over; not CUDA_SUCCESS: a fault came first and the effect may not have run.
    virtual void over(CUresult) {}

    bool done() const { return phase_ == phase::done; }

    /// Modelled end, once done.
    nanoseconds end() const { return end_; }

private:
    friend class engine;
    enum class phase : std::uint8_t { queued, scheduled, running, ending, done };

    std::shared_ptr<stream_queue> queue_;
    std::vector<std::shared_ptr<command>> dependents_;
    nanoseconds earliest_ = 0;
    nanoseconds start_ = 0;
    nanoseconds end_ = 0;
    nanoseconds modelled_ = 0;
    nanoseconds poll_ = 0;
    int blockers_ = 0;
    phase phase_ = phase::queued;
    bool watched_ = false;
};

class engine {
public:
    /// A stream takes this many commands before it blocks its caller.
    static constexpr std::size_t room = 1024;

    explicit engine(std::mutex& mutex) : mutex_(mutex) {}

    void threads(int most) { most_threads_ = most; }

    /// Called, with the lock held, when a command's fault loses a domain.
    void on_fault(std::function<void(fault_domain const&)> told) { on_fault_ = std::move(told); }

    // All below with the lock held.

    /// Lets `waiting`, not submitted yet, begin only when `on` is over.
    void depend(command& waiting, command& on);

    /// Puts it at the end of the queue; starts no earlier than `latency` from now.
    [[gnu::hot]] void submit(std::shared_ptr<command> const& c, std::shared_ptr<stream_queue> const& queue,
                             nanoseconds latency);

    /// Blocks until the queue takes one more.
    void wait_for_room(lock_type& lock, stream_queue& queue);

    /// Blocks until the command is over.
    void wait(lock_type& lock, std::shared_ptr<command> const& c);

    /// A fault: nothing that waits in the domain runs any more.
    void abort(fault_domain& domain, CUresult fault, std::string text);

    /// Blocks until no effect of any stream runs.
    void drain(lock_type& lock);

    /// Runs `job` on the thread of host functions, after those before it.
    void post_host(std::function<void()> job);

private:
    struct entry {
        nanoseconds time;
        std::uint64_t order;
        std::shared_ptr<command> what;
        command::phase expected;
        bool operator<(entry const& other) const
        {
            return time != other.time ? time > other.time : order > other.order;
        }
    };
    struct host_job {
        std::shared_ptr<command> what;
        std::function<void()> plain;
    };

    void work();
    void lead(lock_type& lock);
    bool process(entry e, lock_type& lock);
    bool start(std::shared_ptr<command> const& c, lock_type& lock);
    outcome run_unlocked(command& c, lock_type& lock);
    void after(std::shared_ptr<command> const& c, outcome const& result);
    [[gnu::hot]] void consider(command& c);
    [[gnu::hot]] void push(nanoseconds time, std::shared_ptr<command> c, command::phase expected);
    void complete(command& c, nanoseconds end, CUresult status);
    void flush(stream_queue& queue, CUresult fault);
    void call_help();
    void host_work();
    void start_host(host_job job);

    std::mutex& mutex_;
    std::function<void(fault_domain const&)> on_fault_;
    std::priority_queue<entry> heap_;
    std::deque<std::shared_ptr<command>> waiting_; ///< for a thread
    std::deque<host_job> host_jobs_;
    std::condition_variable leader_, followers_, changed_, host_;
    std::uint64_t order_ = 0;
    int most_threads_ = 4;
    int threads_ = 0;
    int idle_ = 0;
    int running_ = 0;
    int drain_waiters_ = 0;
    bool has_leader_ = false;
    bool leader_sleeps_ = false;
    bool host_thread_ = false;
};

// The library is loaded early or late, and asks for a few bytes only: no call to find them.
#define OMP_CO_SIM_OF_THREAD __attribute__((tls_model("initial-exec")))

extern constinit thread_local bool inside_host_function OMP_CO_SIM_OF_THREAD;

/// Whether this thread is inside a host function.
inline bool in_host_function() { return inside_host_function; }

} // namespace omp_co_sim
