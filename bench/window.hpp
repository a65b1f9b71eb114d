// Hands out operation numbers to the coroutines of one loop and measures the span after the warm-up.
// SPDX-License-Identifier: BSL-1.0
#pragma once
#include "sample.hpp"

namespace bench {

/// One thread only. Measuring starts when the last warm-up number has been handed out and ends when the last
/// operation is done, both inside the coroutines: starting them is not in the figures, and what the first ones to end
/// allocate while others still wait is not in the heap calls.
class window {
public:
    window(long warm_up, long measured) : warm_up_(warm_up), measured_(measured) {}

    /// The next number into `i`, or false when all have been handed out.
    bool take(long& i)
    {
        if (next_ == total()) {
            if (heap_calls_at_end_ < 0) heap_calls_at_end_ = double(heap_calls());
            return false;
        }
        if (next_ == warm_up_) from_ = sample::now();
        i = next_++;
        return true;
    }

    void done()
    {
        if (++done_ != total()) return;
        to_ = sample::now();
        if (heap_calls_at_end_ >= 0) to_.heap_calls = heap_calls_at_end_;
    }

    long total() const { return warm_up_ + measured_; }
    bool complete() const { return done_ == total(); }
    void print(std::string const& name) const { print_span(name, from_, to_, measured_); }

private:
    long warm_up_, measured_, next_ = 0, done_ = 0;
    double heap_calls_at_end_ = -1; // when the first coroutine had no more to do
    sample from_, to_;
};

} // namespace bench
