// SPDX-License-Identifier: BSL-1.0
// A completion handler that notes how it is treated: by which executor it is called, what memory is still out, and
// whether it is called at all.
#pragma once

#include "support/tracker_executor.hpp"
#include "support/tracking_allocator.hpp"

#include <atomic>
#include <utility>

namespace omp_co_test {

/// What became of one handler. Must outlive it.
struct handler_record {
    tracker where;
    allocation_count memory;
    asio::cancellation_slot slot;
    std::atomic<bool> initiating{false};

    std::atomic<int> calls{0};
    std::atomic<int> alive{0};
    bool called_in_initiation = false;
    bool called_on_executor = false;
    int memory_at_call = 0;
    int work_at_call = 0;
    boost::system::error_code result;

    /// Starts `op` with a handler that belongs to `inner`.
    template <class Operation, class Inner>
    void start(Operation const& op, Inner const& inner);
};

/// Move-only: whoever copies a handler does not compile.
template <class Inner>
class strict_handler {
public:
    using executor_type = tracker_executor<Inner>;
    using allocator_type = tracking_allocator<void>;
    using cancellation_slot_type = asio::cancellation_slot;

    strict_handler(handler_record& r, Inner inner) : record_(&r), executor_(r.where, std::move(inner))
    {
        ++r.alive;
    }
    strict_handler(strict_handler&& other) noexcept : record_(other.record_), executor_(other.executor_)
    {
        ++record_->alive;
    }
    strict_handler& operator=(strict_handler&&) = delete;
    ~strict_handler() { --record_->alive; }

    executor_type get_executor() const noexcept { return executor_; }
    allocator_type get_allocator() const noexcept { return tracking_allocator<void>(record_->memory); }
    cancellation_slot_type get_cancellation_slot() const noexcept { return record_->slot; }

    void operator()(boost::system::error_code ec)
    {
        handler_record& r = *record_;
        ++r.calls;
        r.called_in_initiation = r.initiating;
        r.called_on_executor = tracker::running() == &r.where;
        r.memory_at_call = r.memory.live;
        r.work_at_call = r.where.work;
        r.result = ec;
    }

private:
    handler_record* record_;
    executor_type executor_;
};

template <class Operation, class Inner>
void handler_record::start(Operation const& op, Inner const& inner)
{
    initiating = true;
    op(strict_handler<Inner>(*this, inner));
    initiating = false;
}

} // namespace omp_co_test
