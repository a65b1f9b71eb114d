// SPDX-License-Identifier: BSL-1.0
// A stream as the regions see it: those accepted and not yet enqueued, those enqueued and not yet retired.
#pragma once

#include <omp_co/detail/present_table.hpp>
#include <omp_co/detail/region.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace omp_co::detail {

/// Guarded by its device's lock, except that the one thread that set `enqueuing` uses `commands` without it.
struct stream_queue : stream_clock {
    explicit stream_queue(std::unique_ptr<backend::stream> s) noexcept : commands(std::move(s)) {}

    std::unique_ptr<backend::stream>
        commands; ///< null: for regions that are held, one at a time, or given back
    region_list parked;
    region_list flying;
    stream_wait* waiters = nullptr; ///< of regions that are parked for this stream's
    std::size_t commands_flying = 0;
    bool enqueuing = false;
    bool adopted = false;            ///< a stream of the program's
    std::uint64_t closed = 0;        ///< its queue is gone: regions from this serial on cannot name it
    region const* current = nullptr; ///< what that thread is at

    std::uint64_t load() const noexcept { return accepted - retired; }

    void park(region& r, stream_wait& w, bool until_retired) noexcept
    {
        w.parked = &r;
        w.until_retired = until_retired;
        w.next_parked = std::exchange(waiters, &w);
        r.unmet.fetch_add(1, std::memory_order_relaxed);
    }

    /// Takes those waits off the list for which `over(wait)` says so.
    template <class F>
    void unpark_if(F over)
    {
        for (stream_wait** at = &waiters; *at != nullptr;) {
            stream_wait* const w = *at;
            stream_wait* const next = w->next_parked;
            if (over(*w))
                *at = next;
            else
                at = &w->next_parked;
        }
    }
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

    bool has(std::size_t n) const noexcept { return count_ >= n; }

    /// Makes sure that the next `n` calls of take succeed. Throws std::bad_alloc.
    void reserve(std::size_t n)
    {
        for (; count_ < n; ++count_) spare_ = new stream_wait{spare_};
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
