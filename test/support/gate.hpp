// SPDX-License-Identifier: BSL-1.0
// Kernels that a test holds and lets go.
#pragma once

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

namespace omp_co_test {

/// Waits for a condition that another thread brings about. False: it did not within a time that only a defect needs.
template <class Condition>
bool eventually(Condition condition)
{
    auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    return true;
}

/// Kernels enter and wait in it until it is opened. Opened by its destructor, so that a failed test ends.
class gate {
public:
    gate() = default;
    gate(gate const&) = delete;
    gate& operator=(gate const&) = delete;
    ~gate() { open(); }

    void open() noexcept
    {
        open_ = true;
        open_.notify_all();
    }
    int entered() const noexcept { return entered_; }
    int left() const noexcept { return left_; }

    /// Blocks a test's thread until `n` kernels are inside.
    bool wait_entered(int n) const
    {
        return eventually([&] { return entered_.load() >= n; });
    }

    /// For kernels.
    void pass() noexcept
    {
        ++entered_;
        open_.wait(false);
        ++left_;
    }

    /// A kernel that passes and then adds one to the first element.
    auto kernel()
    {
        return [g = this](auto* p) {
            g->pass();
            p[0] += 1;
        };
    }

    /// A kernel that passes and then fails.
    auto failing()
    {
        return [g = this](auto*...) {
            g->pass();
            throw std::runtime_error("behind a gate");
        };
    }

private:
    std::atomic<bool> open_{false};
    std::atomic<int> entered_{0};
    std::atomic<int> left_{0};
};

} // namespace omp_co_test
