// SPDX-License-Identifier: BSL-1.0
// A group of operations and coroutines that are waited for together.
#pragma once

#include <omp_co/detail/task_group_state.hpp>

#include <memory>
#include <utility>

namespace omp_co {

/// Spawns operations and coroutines and waits for all of them (OpenMP 5.2, 15.4 taskgroup, 15.5 taskwait).
///
/// Thread safety: spawn, cancel and wait may be called from any thread. Lifetimes: declare the group after the data that
/// its members use. Its destructor asks for cancellation of all members and blocks until the devices have let go of
/// what the regions in flight use; a coroutine that is a member meets the cancellation when its loop next runs it.
class task_group {
public:
    /// Members complete on `ex`, and coroutines run on it, each on a strand of its own.
    template <class Executor>
    explicit task_group(Executor const& ex) : state_(std::make_shared<detail::task_group_state>(ex))
    {
    }
    task_group(task_group const&) = delete;
    task_group& operator=(task_group const&) = delete;
    ~task_group() { state_->close(); }

    /// Starts an operation that completes with `void(error_code)`.
    template <class Operation>
    requires detail::completes_with_error_code<Operation>
    void spawn(Operation const& op) { state_->spawn(op); }

    /// Starts a coroutine. An exception counts as an error: a system_error's code, kernel_failed for any other.
    template <class Executor>
    void spawn(asio::awaitable<void, Executor> task)
    {
        state_->spawn(std::move(task));
    }

    // Says what to write instead.
    template <class Other>
    requires(!detail::completes_with_error_code<Other>) void spawn(Other&&)
    {
        static_assert(detail::completes_with_error_code<Other>,
                      "omp_co: a task_group takes operations without a value and awaitable<void>");
    }

    /// Waits until no member is left. Completion signature: `void(error_code)`, with the error of the first member that
    /// failed since the last wait. Members may be spawned meanwhile, and the group be used again afterwards.
    /// Cancellation, terminal or partial: cancels the members and completes when all have, with operation_aborted if none
    /// failed otherwise. Total has no effect: members may have had some already.
    auto wait() const noexcept { return detail::task_group_wait(state_); }

    /// Asks all members to end: those not yet on a device without effect, others when they are done.
    void cancel() { state_->cancel(asio::cancellation_type::terminal); }

private:
    std::shared_ptr<detail::task_group_state> state_;
};

} // namespace omp_co
