// SPDX-License-Identifier: BSL-1.0
// Host code in the order of regions.
#pragma once

#include <omp_co/clauses.hpp>
#include <omp_co/depend.hpp>
#include <omp_co/detail/host_task_state.hpp>
#include <omp_co/detail/kept_callable.hpp>
#include <omp_co/name.hpp>

#include <memory>
#include <type_traits>
#include <utility>

namespace omp_co {

/// Something that a program finishes by hand, and that a host_task with detach() waits for (OpenMP 5.2, 12.5.2 detach,
/// omp_fulfill_event). A handle: copies mean the same event. Thread safety: all functions from any thread.
class external_event {
public:
    external_event() : state_(std::make_shared<detail::event_state>()) {}

    /// Ends the tasks that are detached to it, those that come later too, with `ec`. Only the first call counts.
    void fulfill(error_code ec = {}) const noexcept { state_->fulfill(ec); }
    bool fulfilled() const noexcept { return state_->fulfilled(); }

    std::shared_ptr<detail::event_state> const& state() const noexcept { return state_; }

private:
    std::shared_ptr<detail::event_state> state_;
};

/// Made by `detach()`.
class detach_clause {
public:
    explicit detach_clause(external_event const& e) noexcept : event_(&e) {}
    std::shared_ptr<detail::event_state> const& event() const noexcept { return event_->state(); }

private:
    external_event const* event_;
};

/// The task ends once its function has run and the event is fulfilled. The handle must live until the operation has started.
inline detach_clause detach(external_event const& e) noexcept { return detach_clause(e); }
void detach(external_event const&&) = delete; // give it a name: somebody has to fulfil it

namespace detail {

template <class Clause>
inline constexpr bool is_host_task_clause =
    is_depend<Clause> || std::is_base_of_v<name_clause, Clause> || std::is_same_v<Clause, explain_clause> ||
    std::is_same_v<Clause, detach_clause>;

} // namespace detail

/// Runs `f()` on the host once everything that the depend clauses name has ended, its copies back included (OpenMP 5.2, 12.5
/// task with depend). What comes later, and depends on it, waits until `f` has returned, and with detach() until its event has
/// come. The clauses are depend_in() and its kin, name(), explain() and detach().
///
/// `f` runs on the handler's associated executor, without detach() right before the handler; in a task_group on that of the group.
/// It is copied if it is trivially copyable; any other callable is named by an lvalue or std::ref and must outlive the operation.
/// What it returns is dropped.
///
/// Completion signature: `void(error_code)`.
/// Errors: when `f` throws, the code of a system_error, else kernel_failed, and in a diagnostics object what it says;
/// predecessor_failed; out_of_memory, forked.
/// Cancellation: before `f` has begun it never runs, and what depends on it fails; total does so only while the task waits for what it
/// depends on. A task that waits for its event is not ended by a
/// cancellation, which changes its code alone: what was begun goes on, and its place is needed until it is over. Thread safety: as for target().
template <class F, class... Clauses>
requires(!detail::is_host_task_clause<std::remove_cvref_t<F>>) auto host_task(F&& f,
                                                                              Clauses... clauses) noexcept
{
    static_assert(
        (detail::is_host_task_clause<Clauses> && ...),
        "omp_co: host_task takes a function, and the clauses depend_in() and its kin, name(), explain() "
        "and detach()");
    static_assert(detail::can_be_kept<F>,
                  "omp_co: a temporary function must be trivially copyable (capture by "
                  "reference); name it, or pass std::ref");
    static_assert(std::is_invocable_v<std::remove_cvref_t<F>&>,
                  "omp_co: the function of a host_task takes no parameters");
    auto const kept = detail::keep_callable(f);
    return detail::host_task_operation<std::remove_const_t<decltype(kept)>, Clauses...>(kept, clauses...);
}

/// Waits for what the depend clauses name, and has a place among what depends on it (OpenMP 5.2, 15.5 taskwait with depend).
/// As host_task() without a function.
template <class... Clauses>
auto taskwait(Clauses... clauses) noexcept
{
    static_assert((detail::is_host_task_clause<Clauses> && ...),
                  "omp_co: taskwait takes depend_in() and its kin, name(), explain() and detach()");
    return detail::host_task_operation<detail::no_function, Clauses...>(detail::no_function(), clauses...);
}

} // namespace omp_co
