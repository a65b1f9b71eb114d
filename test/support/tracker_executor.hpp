// SPDX-License-Identifier: BSL-1.0
// An executor that watches how Asio's rules for handlers are kept.
#pragma once

#include <omp_co/detail/asio.hpp>

#include <atomic>
#include <type_traits>
#include <utility>

namespace omp_co_test {

namespace asio = boost::asio;

/// What the executors of one tracker saw. Must outlive the context.
struct tracker {
    std::atomic<int> posted{0};     ///< functions handed over with blocking.never
    std::atomic<int> dispatched{0}; ///< functions handed over with blocking.possibly
    std::atomic<int> work{0};       ///< executors that hold outstanding work

    /// The tracker whose function the calling thread is running.
    static tracker*& running() noexcept
    {
        static thread_local tracker* current = nullptr;
        return current;
    }
};

/// Forwards to `Inner` and counts. `Tracked`: holds outstanding work. `Never`: never runs a function in execute().
template <class Inner, bool Tracked = false, bool Never = false>
class tracker_executor {
public:
    tracker_executor(tracker& t, Inner inner) noexcept : tracker_(&t), inner_(std::move(inner)) { hold(); }
    tracker_executor(tracker_executor const& other) noexcept : tracker_(other.tracker_), inner_(other.inner_)
    {
        hold();
    }
    tracker_executor& operator=(tracker_executor const& other) noexcept
    {
        drop();
        tracker_ = other.tracker_;
        inner_ = other.inner_;
        hold();
        return *this;
    }
    ~tracker_executor() { drop(); }

    tracker& get_tracker() const noexcept { return *tracker_; }

    friend bool operator==(tracker_executor const& a, tracker_executor const& b) noexcept
    {
        return a.tracker_ == b.tracker_ && a.inner_ == b.inner_;
    }

    auto query(asio::execution::context_t) const noexcept -> asio::execution_context&
    {
        return asio::query(inner_, asio::execution::context);
    }
    static constexpr asio::execution::blocking_t query(asio::execution::blocking_t) noexcept
    {
        if (Never) return asio::execution::blocking.never;
        return asio::execution::blocking.possibly;
    }
    static constexpr asio::execution::outstanding_work_t query(asio::execution::outstanding_work_t) noexcept
    {
        if (Tracked) return asio::execution::outstanding_work.tracked;
        return asio::execution::outstanding_work.untracked;
    }

    auto require(asio::execution::blocking_t::never_t) const
    {
        return with<Tracked, true>(asio::execution::blocking.never);
    }
    auto require(asio::execution::blocking_t::possibly_t) const
    {
        return with<Tracked, false>(asio::execution::blocking.possibly);
    }
    auto require(asio::execution::outstanding_work_t::tracked_t) const
    {
        return with<true, Never>(asio::execution::outstanding_work.tracked);
    }
    auto require(asio::execution::outstanding_work_t::untracked_t) const
    {
        return with<false, Never>(asio::execution::outstanding_work.untracked);
    }

    template <class F>
    void execute(F&& f) const
    {
        ++(Never ? tracker_->posted : tracker_->dispatched);
        inner_.execute([t = tracker_, g = std::decay_t<F>(std::forward<F>(f))]() mutable {
            struct scope {
                ~scope() { tracker::running() = outer; }
                tracker* outer;
            } const leave{std::exchange(tracker::running(), t)};
            std::move(g)();
        });
    }

private:
    template <bool T, bool N, class Property>
    auto with(Property p) const
    {
        auto inner = asio::prefer(inner_, p);
        return tracker_executor<decltype(inner), T, N>(*tracker_, std::move(inner));
    }

    void hold() const noexcept
    {
        if (Tracked) ++tracker_->work;
    }
    void drop() const noexcept
    {
        if (Tracked) --tracker_->work;
    }

    tracker* tracker_;
    Inner inner_;
};

} // namespace omp_co_test
