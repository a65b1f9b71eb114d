// SPDX-License-Identifier: BSL-1.0
// Operations that a test starts without waiting, and the order in which their code ran.
#pragma once

#include <omp_co/omp_co.hpp>

#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace omp_co_test {

/// What became of one operation, and the signal that cancels it.
struct started {
    boost::asio::cancellation_signal signal;
    std::optional<boost::system::error_code> end;

    bool over() const noexcept { return end.has_value(); }
    bool well() const noexcept { return end.has_value() && !*end; }
    /// Whether it has ended with this code or condition.
    template <class Code>
    bool failed_with(Code code) const noexcept
    {
        return end.has_value() && *end && *end == code;
    }
    void cancel() { signal.emit(boost::asio::cancellation_type::terminal); }
};

/// A loop whose handlers note how their operations end.
class starter {
public:
    struct handler {
        using executor_type = boost::asio::io_context::executor_type;
        using cancellation_slot_type = boost::asio::cancellation_slot;

        executor_type get_executor() const noexcept { return context->get_executor(); }
        cancellation_slot_type get_cancellation_slot() const noexcept { return what->signal.slot(); }
        void operator()(boost::system::error_code ec) const { what->end = ec; }

        boost::asio::io_context* context;
        started* what;
    };

    template <class Operation>
    started& start(Operation const& op)
    {
        started& made = all_.emplace_back();
        op(handler{&io, &made});
        return made;
    }

    /// Runs until everything has ended. True: well.
    bool run()
    {
        io.restart();
        io.run();
        for (started const& each : all_)
            if (!each.well()) return false;
        return true;
    }

private:
    std::deque<started> all_;

public:
    boost::asio::io_context io; // goes first: its end destroys handlers
};

/// Numbers in the order in which kernels and host tasks say them.
class journal {
public:
    void add(int n)
    {
        std::lock_guard guard(mutex_);
        lines_.push_back(n);
    }
    std::vector<int> lines() const
    {
        std::lock_guard guard(mutex_);
        return lines_;
    }
    bool says(int n) const { return at(n) != lines().size(); }
    std::size_t at(int n) const
    {
        std::vector<int> const all = lines();
        std::size_t i = 0;
        while (i != all.size() && all[i] != n) ++i;
        return i;
    }

    /// For kernels of host devices and for host tasks.
    auto note(int n)
    {
        return [self = this, n] { self->add(n); };
    }
    template <class Gate>
    auto note_behind(Gate& g, int n)
    {
        return [self = this, &g, n] {
            g.pass();
            self->add(n);
        };
    }

private:
    mutable std::mutex mutex_;
    std::vector<int> lines_;
};

/// What must not happen has the time to.
inline void leave_time_to_do_it_wrong() { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }

} // namespace omp_co_test
