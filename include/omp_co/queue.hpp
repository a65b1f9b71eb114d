// SPDX-License-Identifier: BSL-1.0
// Automatic asynchronous execution: constructs that run in order, and are waited for only where data comes back.
#pragma once

#include <omp_co/detail/construct.hpp>
#include <omp_co/detail/queue_state.hpp>
#include <omp_co/device.hpp>

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <functional>
#include <utility>

namespace omp_co {

/// An in-order queue of constructs on one device. Every construct takes it as its first argument, in place of a device.
///
/// A construct on a queue runs behind those that were started on it before, and completes as soon as it is accepted and its
/// `to` data has been read, so that the program may change or free that. Where something comes back it completes when the data
/// is there: `from` and `tofrom` whose mapping ends, `from` and `tofrom` with `always`, target_update from, reductions, regions that run on
/// the host, and whatever works in memory that the host reaches: devices with unified memory, and is_device_ptr() of memory that is the
/// host's too (device_allocator, pinned and managed memory). Memory that a kernel reaches otherwise, by an address in its closure, is not
/// known: synchronize(). Data that queues and other regions use is ordered between them, in both directions.
///
/// Errors: a construct that is refused says so at once. One that fails later is reported by the next construct that waits for
/// something, or by synchronize(), and not again; what was started in between is skipped (docs/design/order.md), and if that is not
/// known before the error is told, the next one that waits says predecessor_failed. An error that nobody has waited for when the
/// queue has ended goes to its error handler, which is called on any thread and must not throw; without one it is a line of
/// OMP_CO_INFO. No thread watches a device for that: it is noticed when the program next looks at the device, by a
/// construct or a wait of any kind.
/// With more than 256 constructs in flight, those whose data is read late counted twice, the next one completes when there is room.
/// OMP_CO_ASYNC=0 makes every construct complete at its end, to compare.
///
/// Thread safety: constructs may be started on it from any threads. Movable; the destructor does not wait: what is in flight
/// goes on.
class queue {
public:
    using error_handler = std::function<void(error_code)>;

    /// On a device that is gone, or cannot have another stream, every construct fails with that reason. Throws std::bad_alloc.
    explicit queue(device where, error_handler on_error = {})
        : state_(new detail::queue_state(where, std::move(on_error)))
    {
    }
    // What backends make, on a stream of the program's.
    explicit queue(boost::intrusive_ptr<detail::queue_state> made) noexcept : state_(std::move(made)) {}
    queue(queue&&) noexcept = default;
    queue& operator=(queue&&) noexcept = default;

    /// The device that it is on.
    device where() const noexcept { return state().where(); }

    /// Waits for everything that was started on it (OpenMP 5.2, 15.5 taskwait). Completion signature: `void(error_code)`, with the first
    /// error that has not been reported. Cancellation as for target().
    auto synchronize() const noexcept
    {
        return detail::operation<detail::construct::synchronize, detail::no_kernel>(*this,
                                                                                    detail::no_kernel());
    }

    /// An executor under which plain constructs, those that name no device, use this queue: a program becomes asynchronous
    /// without an edit. Constructs are target() and those of data.hpp; allocate() takes the queue's device; copies, which name memory, and
    /// host tasks do not use it. Handlers run as on `ex`. It keeps the queue.
    template <class Executor>
    auto bind(Executor const& ex) const
    {
        return detail::queue_executor(asio::any_io_executor(ex), detail::queue_mark(state_.get()));
    }

    // What constructs make of it.
    operator detail::destination() const noexcept { return detail::destination(state()); }
    detail::queue_state& state() const noexcept { return state_ == nullptr ? none() : *state_; }

private:
    // Of one that was moved from: it refuses everything. Never destroyed: operations may name it at exit.
    static detail::queue_state& none()
    {
        static detail::queue_state& the = *new detail::queue_state(device(), {});
        return the;
    }

    boost::intrusive_ptr<detail::queue_state> state_;
};

} // namespace omp_co
