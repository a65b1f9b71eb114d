// SPDX-License-Identifier: BSL-1.0
// A queue as its device sees it: which of its constructs may be reported early, and which error is to be told to whom.
#pragma once

#include <omp_co/detail/map_item.hpp>
#include <omp_co/detail/region.hpp>
#include <omp_co/detail/stream_queue.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <utility>

namespace omp_co::detail {

struct dependent;
struct queue_lane;

/// Of a data region on a queue, which is told early that its mapping is there: what became of that. Whoever is first, its beginning that
/// fails or its coroutine that goes, takes the counts back.
struct data_scope_fate : std::enable_shared_from_this<data_scope_fate> {
    /// Region `n` was to begin it, and failed. With the device's lock held. False: the counts were taken back.
    bool undo(backend::sequence n) noexcept
    {
        number = n;
        return decide(undone);
    }
    /// Its coroutine goes before the end. False: there is no mapping.
    bool abandon() noexcept { return decide(abandoned); }
    bool is_undone() const noexcept { return what_.load(std::memory_order_acquire) == undone; }

    backend::sequence number = 0; ///< of the region that failed to begin it; guarded by the device's lock

private:
    enum end : unsigned char { open, undone, abandoned };

    bool decide(end now) noexcept
    {
        end before = open;
        return what_.compare_exchange_strong(before, now, std::memory_order_acq_rel);
    }

    std::atomic<end> what_{open};
};

/// What a region of a queue has beside. The operation that started it is another region, its user, which may be told long
/// before this one retires.
struct queue_ticket {
    /// A construct of the queue is being started.
    inline explicit queue_ticket(queue_lane& l) noexcept;

    queue_lane* lane;
    std::uint64_t told_before;      ///< lane->told at that time
    bool belated = false;           ///< ends a data region, but a failure was told since it was started: it is skipped
    region* user = nullptr;         ///< null once it is told
    bool waits = false;             ///< something comes back: its user is told at the end
    bool late = false;              ///< the program's stream does not have it yet
    backend::sequence renews = 0;   ///< a signal before all else: earlier failures end there
    backend::sequence consumed = 0; ///< a signal behind its copies in, if they read the program's memory late
    std::unique_ptr<char[]> staging; ///< or else copies of what they read
    error_code report;               ///< for its user
    region* next_withheld = nullptr;
    std::shared_ptr<data_scope_fate> scope; ///< of the data region that this begins or ends
    bool ends_scope = false;
};

/// Guarded by the device's lock, but for what says otherwise.
struct queue_lane {
    stream_queue* stream = nullptr;
    std::size_t limit = 256;                ///< regions in flight from which on users wait for room
    std::atomic<std::uint32_t> deferred{0}; ///< regions that wait for a predecessor; any thread
    dependent* tail = nullptr;              ///< the last of those, guarded by the dependence_graph
    std::uint64_t tail_id = 0;
    std::atomic<std::uint64_t> told{0}; ///< how many failures somebody was told of; any thread reads it
    bool renew = false; ///< the next one started does: an error was told, or the stream is a used one
    backend::sequence renewed = 0; ///< by the last one that does
    unsigned renewing = 0;         ///< enqueued and not retired
    bool skipping = false;         ///< what is enqueued from now on, up to one that renews
    bool failing = false;          ///< what retires from now on, up to the same
    error_code pending;            ///< the first error that nobody has been told
    region* withheld = nullptr;    ///< whose users wait for room, in their order
    region* last_withheld = nullptr;
};

inline queue_ticket::queue_ticket(queue_lane& l) noexcept
    : lane(&l), told_before(l.told.load(std::memory_order_acquire))
{
}

/// The constructs of a queue come behind each other without being waited for: those that were started after a failed one, and before
/// that was told, are skipped.
inline constexpr std::string_view failed_in_queue = "an earlier construct of its queue failed";

} // namespace omp_co::detail
