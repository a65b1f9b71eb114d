// SPDX-License-Identifier: BSL-1.0
// What the tests of progress measure with: clocks, CPU times, threads, gates for kernels, and runs with a limit.
#pragma once

#include "support/gate.hpp"
#include "support/sanitizers.hpp"

#include <omp_co/omp_co.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <sys/resource.h>
#include <vector>

namespace measure {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;
using omp_co::error_code;

inline constexpr bool sanitized = OMP_CO_TEST_SANITIZED != 0;

/// How often to do something: less where every step is checked.
constexpr int rounds(int plain, int checked) { return sanitized ? checked : plain; }

/// Far longer than anything here takes: only what is stuck meets it.
inline constexpr auto patience = 30s;

/// Runs a context to its end; false if that does not come.
template <class Context>
bool runs_out(Context& context, std::chrono::nanoseconds limit = patience)
{
    context.run_for(limit);
    return context.stopped();
}

template <class Predicate>
bool becomes_true(Predicate p, std::chrono::nanoseconds limit = patience)
{
    for (auto const end = clock::now() + limit; !p(); std::this_thread::sleep_for(200us))
        if (clock::now() > end) return false;
    return true;
}

inline std::chrono::duration<double> thread_cpu()
{
    rusage used{};
    (void)getrusage(RUSAGE_THREAD, &used);
    auto const seconds = [](timeval t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6; };
    return std::chrono::duration<double>(seconds(used.ru_utime) + seconds(used.ru_stime));
}

inline std::size_t threads_of_this_process()
{
    std::filesystem::directory_iterator const tasks("/proc/self/task");
    return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

/// The value below which `part` of the values lie.
template <class T>
T quantile(std::vector<T> values, double part)
{
    auto const at = static_cast<std::size_t>(part * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
    return values[at];
}

// Declared after the device, or the device waits for ever when a test fails.
using omp_co_test::gate;

/// Keeps a core busy, as a kernel does that computes.
inline void compute_for(std::chrono::nanoseconds time)
{
    for (auto const end = clock::now() + time; clock::now() < end;) {}
}

/// A clock in the loop: how often it fired, how late each time.
class metronome {
public:
    template <class Context>
    metronome(Context& context, clock::duration period) : timer_(context), period_(period)
    {
    }

    void start()
    {
        timer_.expires_after(period_);
        next();
    }

    void stop() { stopped_ = true; }
    std::vector<clock::duration> const& lateness() const { return late_; }

private:
    void next()
    {
        timer_.async_wait([this](error_code) {
            if (stopped_) return;
            auto const late = clock::now() - timer_.expiry();
            late_.push_back(late);
            // Beats that were missed are not made up for.
            timer_.expires_at(late > period_ ? clock::now() + period_ : timer_.expiry() + period_);
            next();
        });
    }

    asio::steady_timer timer_;
    clock::duration period_;
    std::vector<clock::duration> late_;
    bool stopped_ = false;
};

} // namespace measure
