// SPDX-License-Identifier: BSL-1.0
// A first-in, first-out queue that keeps its memory: steady state allocates nothing.
#pragma once

#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

namespace omp_co::cuda::engine {

template <class T>
class ring {
public:
    bool empty() const noexcept { return first_ == last_; }
    std::size_t size() const noexcept { return last_ - first_; }

    T& front() noexcept { return places_[first_ & (places_.size() - 1)]; }

    /// Makes sure that `more` calls of push succeed. Throws std::bad_alloc.
    void reserve(std::size_t more)
    {
        if (size() + more <= places_.size()) return;
        std::vector<T> larger(std::bit_ceil(size() + more));
        std::size_t n = 0;
        for (; !empty(); pop()) larger[n++] = std::move(front());
        places_ = std::move(larger);
        first_ = 0;
        last_ = n;
    }

    /// Throws std::bad_alloc.
    void push(T value)
    {
        if (size() == places_.size()) reserve(size() + 8);
        places_[last_++ & (places_.size() - 1)] = std::move(value);
    }

    void pop() noexcept { ++first_; }
    template <class F>
    void for_each(F f)
    {
        for (std::size_t i = first_; i != last_; ++i) f(places_[i & (places_.size() - 1)]);
    }

    void clear() noexcept { first_ = last_; }

private:
    std::vector<T> places_; // a power of two, or none
    std::size_t first_ = 0;
    std::size_t last_ = 0;
};

} // namespace omp_co::cuda::engine
