// SPDX-License-Identifier: BSL-1.0
// How a loop waits while regions are in flight and none has completed: by spinning, by timers, or asleep until a
// device wakes it. A plain state machine, fed with events and times.
#pragma once

#include <algorithm>
#include <chrono>

namespace omp_co::detail {

class backoff {
public:
    using clock = std::chrono::steady_clock;
    using duration = std::chrono::nanoseconds;

    enum class action { spin, sleep, arm };

    struct advice {
        action what;
        duration delay{}; ///< of a sleep
    };

    /// Completions came. Learns how long the wait for them was.
    void moved() noexcept
    {
        if (waiting_) {
            duration const waited = last_ - since_;
            usual_ += (sample_of(waited) - usual_) / 4;
            waiting_ = slept_ = false;
        }
        naps_ = 0;
    }

    /// Nothing has completed, and it is `now`. What to do next.
    advice idle(clock::time_point now) noexcept
    {
        if (!waiting_) {
            waiting_ = true;
            since_ = now;
        }
        last_ = now;
        // A spin as long as the usual wait costs less than a sleep and a wake-up; a longer one is a waste.
        duration const budget =
            usual_ > longest_spin ? duration{} : std::min(2 * usual_ + shortest_spin, longest_spin);
        if (now - since_ < budget) return {action::spin};
        slept_ = true;
        if (usual_ > shortest_armed || naps_ == most_naps) return {action::arm};
        duration const nap = first_nap * (1 << naps_++);
        return {action::sleep, nap};
    }

    bool waiting() const noexcept { return waiting_; }

    /// The loop was asleep until `now`.
    void woken(clock::time_point now) noexcept { last_ = now; }

private:
    // What a short sleep lasted says how long sleeping takes, and little about the wait. Taken at its word, a loop that
    // slept once would find sleeps usual, and sleep for ever.
    duration sample_of(duration waited) const noexcept
    {
        return slept_ && waited < shortest_armed ? waited / 4 : waited;
    }

    static constexpr duration shortest_spin = std::chrono::microseconds(5);
    static constexpr duration longest_spin = std::chrono::microseconds(50);
    static constexpr duration shortest_armed = std::chrono::microseconds(200);
    static constexpr duration first_nap = std::chrono::microseconds(50);
    static constexpr int most_naps = 2;

    clock::time_point since_{};
    clock::time_point last_{};
    duration usual_{};
    bool waiting_ = false;
    bool slept_ = false; ///< in this wait
    int naps_ = 0;
};

} // namespace omp_co::detail
