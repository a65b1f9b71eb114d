// SPDX-License-Identifier: BSL-1.0
// Counts the frames and handlers that hold one.
#pragma once

#include <atomic>

namespace omp_co_test {

class sentinel {
public:
    explicit sentinel(std::atomic<int>& alive) noexcept : alive_(&alive) { ++*alive_; }
    sentinel(sentinel const& other) noexcept : alive_(other.alive_) { ++*alive_; }
    sentinel& operator=(sentinel const&) = delete;
    ~sentinel() { --*alive_; }

private:
    std::atomic<int>* alive_;
};

} // namespace omp_co_test
