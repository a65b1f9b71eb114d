// SPDX-License-Identifier: BSL-1.0
// A stream as the regions see it: those accepted and not yet enqueued, those enqueued and not yet retired.
#pragma once

#include <omp_co/detail/present_table.hpp>
#include <omp_co/detail/region.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace omp_co::detail {

/// A parked region, and what it is parked for: that region `number` of a stream is enqueued, or is retired.
struct stream_waiter {
    region* parked;
    backend::sequence number;
    bool until_retired;
};

/// Guarded by its device's lock, except that the one thread that set `enqueuing` uses `commands` without it.
struct stream_queue : stream_clock {
    explicit stream_queue(std::unique_ptr<backend::stream> s) noexcept : commands(std::move(s)) {}

    std::unique_ptr<backend::stream> commands;
    region_list parked;
    region_list flying;
    std::vector<stream_waiter> waiters;
    std::size_t commands_flying = 0;
    bool enqueuing = false;
    region const* current = nullptr; ///< what that thread is at

    std::uint64_t load() const noexcept { return accepted - retired; }
};

/// Waits of regions, recycled.
class wait_pool {
public:
    wait_pool() = default;
    wait_pool(wait_pool const&) = delete;
    wait_pool& operator=(wait_pool const&) = delete;
    ~wait_pool()
    {
        while (spare_ != nullptr) delete std::exchange(spare_, spare_->next);
    }

    /// Makes sure that the next `n` calls of take succeed. Throws std::bad_alloc.
    void reserve(std::size_t n)
    {
        for (; count_ < n; ++count_) spare_ = new stream_wait{spare_, nullptr, 0};
    }

    stream_wait* take(stream_wait* next, stream_queue& stream, backend::sequence number) noexcept
    {
        stream_wait* const w = std::exchange(spare_, spare_->next);
        --count_;
        *w = {next, &stream, number};
        return w;
    }

    void give(stream_wait* w) noexcept
    {
        w->next = spare_;
        spare_ = w;
        ++count_;
    }

private:
    stream_wait* spare_ = nullptr;
    std::size_t count_ = 0;
};

} // namespace omp_co::detail
