// SPDX-License-Identifier: BSL-1.0
// A queue: its stream, and the regions on it. It outlives its handle while any of them is in flight.
#pragma once

#include <omp_co/detail/dependences.hpp>
#include <omp_co/detail/executors.hpp>
#include <omp_co/detail/loop.hpp>
#include <omp_co/detail/queue_lane.hpp>
#include <omp_co/detail/recycler.hpp>
#include <omp_co/device.hpp>

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>

namespace omp_co::detail {

/// OMP_CO_ASYNC=0: every construct of a queue is waited for.
inline bool queues_are_asynchronous() noexcept
{
    static bool const value = [] {
        char const* const text = std::getenv("OMP_CO_ASYNC");
        return text == nullptr || std::string_view(text) != "0";
    }();
    return value;
}

class queue_state final : public any_queue, public region_owner {
public:
    using error_handler = std::function<void(error_code)>;

    /// On `native`, a stream of the program's, if there is one. A queue that could not be made refuses its constructs with the
    /// reason. Throws std::bad_alloc.
    queue_state(device where, error_handler on_error, void* native = nullptr)
        : where_(where), on_error_(std::move(on_error))
    {
        if (where.slot() == nullptr) {
            fault_ = make_error_code(absent());
            return;
        }
        bool const there =
            registry::instance().with(*where.slot(), where.generation(), [&](device_core& core) {
                lane_.stream = native == nullptr ? core.open_queue(fault_) : core.adopt_queue(native, fault_);
            });
        lane_.renew = lane_.stream != nullptr && lane_.stream->accepted != 0;
        if (!there) fault_ = make_error_code(absent());
    }
    queue_state(queue_state const&) = delete;
    queue_state& operator=(queue_state const&) = delete;

    ~queue_state() override
    {
        if (lane_.pending) report_to_nobody(lane_.pending);
        if (lane_.stream == nullptr) return;
        (void)registry::instance().with(*where_.slot(), where_.generation(),
                                        [&](device_core& core) { core.close_queue(*lane_.stream); });
    }

    device where() const noexcept { return where_; }
    error_code fault() const noexcept { return fault_; }
    queue_lane& lane() noexcept { return lane_; }

private:
    // Any thread; no lock of omp_co is held.
    void completed(region_list&& done) noexcept override
    {
        while (!done.empty()) {
            region& r = *done.pop();
            queue_ticket& ticket = *r.order->ticket;
            region* const user = ticket.user;
            error_code const ec = r.stream == nullptr ? r.error : ticket.report;
            if (user != nullptr && r.error != ec) user->why = r.why; // who has said nothing yet, or not that
            r.end(r, ending::destroy);                               // and maybe this
            if (user == nullptr) continue;
            if (ec) user->fail(ec, failed_in_queue);
            registry::hand_over(*user);
        }
    }

    void report_to_nobody(error_code ec) noexcept
    {
        try {
            if (on_error_) return on_error_(ec);
            region const nameless(nullptr, nullptr);
            inform(where_.slot()->number, nameless, [&](info_writer const& w) { w.queue_failed(ec); });
        } catch (...) { // nobody is there to be told
        }
    }

    device where_;
    error_handler on_error_;
    error_code fault_;
    queue_lane lane_;
};

/// A construct's region on a queue.
template <class Payload>
class queue_region final : public region {
public:
    /// Throws std::bad_alloc.
    template <class... Args>
    static queue_region& create(queue_state& q, region& user, Args const&... args)
    {
        recycling<queue_region> memory;
        queue_region* const place = memory.allocate(1);
        try {
            return *::new (static_cast<void*>(place)) queue_region(q, user, args...);
        } catch (...) {
            memory.deallocate(place, 1);
            throw;
        }
    }

    Payload& payload() noexcept { return payload_; }

private:
    template <class... Args>
    queue_region(queue_state& q, region& user, Args const&... args)
        : region(&end_region, nullptr), payload_(args...), ticket_(q.lane()), queue_(&q)
    {
        owner = &q;
        group = user.group;
        way = region::queued;
        order = &order_;
        order_.ticket = &ticket_;
        ticket_.user = &user;
        ticket_.waits = !queues_are_asynchronous();
    }

    static void end_region(region& r, ending)
    {
        auto& self = static_cast<queue_region&>(r);
        boost::intrusive_ptr<queue_state> const kept(std::move(self.queue_));
        self.~queue_region();
        recycling<queue_region>().deallocate(&self, 1);
    }

    Payload payload_;
    region_order order_;
    queue_ticket ticket_;
    boost::intrusive_ptr<queue_state> queue_;
};

} // namespace omp_co::detail
