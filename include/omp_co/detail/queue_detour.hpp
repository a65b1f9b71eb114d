// SPDX-License-Identifier: BSL-1.0
// A construct of a queue that does not run on the queue's device: on the host, for if_() or the environment says so, or between
// devices.
#pragma once

#include <omp_co/detail/dependent.hpp>
#include <omp_co/detail/queue_lane.hpp>
#include <omp_co/detail/queue_state.hpp>
#include <omp_co/detail/recycler.hpp>
#include <omp_co/detail/registry.hpp>

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <memory>
#include <new>
#include <span>
#include <utility>

namespace omp_co::detail {

/// Its place among the queue's constructs is kept by the dependence graph, where all later ones wait for it. Once its turn has come
/// it waits for what the queue has in flight, and then runs.
class queue_detour final : public region_owner {
public:
    /// Throws std::bad_alloc. `work` is ready to be dispatched; its user is told at its end.
    static queue_detour& create(queue_state& q, region& work, region& user)
    {
        return *::new (static_cast<void*>(recycling<queue_detour>().allocate(1))) queue_detour(q, work, user);
    }

    /// To be called by the user's loop.
    void start(std::span<dependence const> wishes, region_order const& said) noexcept
    {
        turn_order_.token = said.token;
        turn_order_.awaited_in = said.awaited_in;
        turn_order_.goes_on = said.goes_on;
        turn_order_.everything = said.everything;
        registry::instance().submit(turn_, wishes);
    }

private:
    queue_detour(queue_state& q, region& work, region& user) noexcept
        : turn_(&never, nullptr),
          drained_(&never, q.where().slot()),
          work_(work),
          user_(user),
          begin_(work.order->begin),
          turn_ticket_(q.lane()),
          drained_ticket_(q.lane()),
          queue_(&q)
    {
        drained_ticket_.waits = true;
        turn_order_.ticket = &turn_ticket_;
        turn_order_.on_host = true;
        drained_order_.ticket = &drained_ticket_;
        turn_.order = &turn_order_;
        drained_.order = &drained_order_;
        drained_.way = region::queued;
        drained_.generation = q.where().generation();
        work.way = region::ordinary;
        work.order = nullptr;
        for (region* const r : {&turn_, &drained_, &work}) {
            r->owner = this;
            r->group = user.group;
        }
        turn_.why = drained_.why = work.why;
    }

    static void never(region&, ending) noexcept {} // they go to their owner

    // Any thread; no lock of omp_co is held. One at a time.
    void completed(region_list&& done) noexcept override
    {
        region& r = *done.pop();
        if (&r == &turn_ && !turn_.error) return go_on(drained_);
        if (&r == &drained_ && !drained_.error && !drained_ticket_.report)
            return begin_ != nullptr ? begin_(work_) : go_on(work_);
        error_code ec = drained_ticket_.report;
        for (region const* const each : {&turn_, &drained_, &work_})
            if (!ec) ec = each->error;
        end(ec);
    }

    // The user's loop may be asleep, and this a thread that asks no device.
    static void go_on(region& next) noexcept
    {
        registry& devices = registry::instance();
        devices.submit(next);
        devices.wake_all();
    }

    void end(error_code ec) noexcept
    {
        registry::instance().end_dependent(turn_order_, ec);
        region& user = user_;
        boost::intrusive_ptr<queue_state> const kept(std::move(queue_));
        work_.end(work_, ending::destroy);
        std::destroy_at(this);
        recycling<queue_detour>().deallocate(this, 1);
        if (ec) user.fail(ec, {});
        registry::hand_over(user);
    }

    region turn_;
    region drained_;
    region& work_;
    region& user_;
    void (*begin_)(region&); ///< how the work is dispatched; null: as a region
    region_order turn_order_;
    region_order drained_order_;
    queue_ticket turn_ticket_;
    queue_ticket drained_ticket_;
    boost::intrusive_ptr<queue_state> queue_;
};

} // namespace omp_co::detail
