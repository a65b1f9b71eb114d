// SPDX-License-Identifier: BSL-1.0
// The order that depend clauses make (OpenMP 5.2, 15.9.5).
//
// Whoever starts later comes behind. Where a device can keep that order, a region is dispatched at once, and its stream waits for
// its predecessors' signals. Where it cannot, for a predecessor is on another device or on the host, the region is deferred
// until that has ended: it holds nothing, and can be cancelled without effect.
#pragma once

#include <omp_co/detail/address_groups.hpp>
#include <omp_co/detail/aftermath.hpp>
#include <omp_co/detail/dependent.hpp>
#include <omp_co/detail/queue_lane.hpp>
#include <omp_co/detail/race_checker.hpp>

#include <boost/system/errc.hpp>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace omp_co::detail {

class dependence_graph {
public:
    /// What successors of a failed region say.
    static constexpr std::string_view failed_before = "a region that it depends on failed";

    enum class verdict { go, deferred, out_of_memory };

    /// Gives a region its place behind those that came earlier. What is deferred comes back by an aftermath. Nothing has
    /// changed when there was no memory; else end() takes the place back.
    verdict enter(region& r, std::span<dependence const> wishes) noexcept
    {
        std::lock_guard guard(mutex_);
        dependent* const node = take(r);
        if (node == nullptr) return verdict::out_of_memory;
        predecessors_.clear();
        try {
            join(*node, wishes);
            for (predecessor const& p : predecessors_) make_room(p.node->successors);
            node->behind.reserve(predecessors_.size());
        } catch (std::bad_alloc const&) {
            groups_.leave(*node);
            give(*node);
            return verdict::out_of_memory;
        }
        if (races_.on())
            races_.ordered(r, predecessors_, [](predecessor const& p) { return p.node->waiting; });
        for (predecessor const& p : predecessors_) connect(p, *node);
        link(*node);
        r.order->node = node;
        if (node->lane != nullptr) enter_lane(*node);
        bool const free = node->unmet == 0;
        node->now = free ? state::starting : state::deferred;
        if (free && r.order->on_host && node->lane == nullptr) nobody_waits(*node);
        if (!free && r.order->token != nullptr) {
            r.order->token->id.store(node->id, std::memory_order_relaxed);
            r.order->token->deferred.store(node, std::memory_order_release);
        }
        return free ? verdict::go : verdict::deferred;
    }

    /// It has a place in a stream: others may be dispatched behind it.
    void accepted(dependent& node, stream_place where, aftermath& out) noexcept
    {
        node.place = where;
        state unawaited = state::starting;
        if (node.lane == nullptr && node.now.compare_exchange_strong(unawaited, state::accepted)) return;
        std::lock_guard guard(mutex_);
        node.now = state::accepted;
        leave_lane(node);
        for (dependent::edge& e : node.successors) {
            if (e.what != until::accepted) continue;
            e.what = until::nothing;
            e.successor->behind.push_back(where); // capacity was reserved
            met(*e.successor, out);
        }
        settle(out);
    }

    /// It has ended, or was refused.
    void end(region_order& order, error_code ec, aftermath& out) noexcept
    {
        std::lock_guard guard(mutex_);
        end(*std::exchange(order.node, nullptr), ec, out);
        settle(out);
    }

    /// The same for some that have ended well.
    void end(ended_dependents& all, aftermath& out) noexcept
    {
        std::lock_guard guard(mutex_);
        while (!all.empty()) end(all.pop(), {}, out);
        settle(out);
    }

    /// Ends the region without effect if it is still deferred.
    void cancel(dependent& node, std::uint64_t id, aftermath& out) noexcept
    {
        std::lock_guard guard(mutex_);
        if (node.id != id) return;
        abandon(node, out);
        if (node.now == state::skipped) pass_on(node, out);
    }

    /// The same for all regions of which `which(region)` is true.
    template <class Predicate>
    void cancel_if(Predicate which, aftermath& out) noexcept
    {
        std::lock_guard guard(mutex_);
        for (dependent* n = first_; n != nullptr; n = n->next)
            if (n->now == state::deferred && which(*n->waiting)) abandon(*n, out);
        for (dependent* n = first_; n != nullptr; n = n->next) // not before all of them are known
            if (n->now == state::skipped) pass_on(*n, out);
    }

    /// What knows of this order, when it is asked to check the program.
    race_checker& races() noexcept { return races_; }

    /// Whether there is a region, which has not ended, of which `which(region)` is true.
    template <class Predicate>
    bool any_of(Predicate which) noexcept
    {
        std::lock_guard guard(mutex_);
        for (dependent const* n = first_; n != nullptr; n = n->next)
            if (n->waiting != nullptr && which(*n->waiting)) return true;
        return false;
    }

private:
    using state = dependent::state;
    using until = dependent::until;

    struct predecessor {
        dependent* node;
        bool alone; ///< writes what its successor is to write
        bool tells; ///< of its failure
    };

    [[gnu::always_inline]] dependent* take(region& r) noexcept
    try {
        dependent& node = nodes_.take();
        node.waiting = &r;
        node.slot = r.order->on_host || r.order->begin != nullptr ? nullptr : r.slot;
        node.generation = r.generation;
        node.place = {};
        node.id = ++ids_;
        node.predecessor_failed = false;
        node.goes_on = r.order->goes_on;
        node.everything = r.order->everything;
        node.unmet = node.incoming = 0;
        node.lane = r.order->ticket == nullptr ? nullptr : r.order->ticket->lane;
        node.ahead = nullptr;
        return &node;
    } catch (std::bad_alloc const&) {
        return nullptr;
    }

    // For one more; reserve() alone would move all of them each time.
    template <class Vector>
    static void make_room(Vector& v)
    {
        if (v.size() == v.capacity()) v.reserve(2 * v.size() + 1);
    }

    void give(dependent& node) noexcept
    {
        node.id = 0;
        node.successors.clear();
        node.behind.clear();
        nodes_.give(node);
    }

    [[gnu::always_inline]] void join(dependent& node, std::span<dependence const> wishes)
    {
        auto const before = [&](dependent& p, bool alone = false) {
            if (std::exchange(p.seen, node.id) != node.id) predecessors_.push_back({&p, alone, true});
        };
        node.names = node.everything || !wishes.empty();
        if (node.everything) {
            for (dependent* p = first_; p != nullptr; p = p->next)
                if (p->names) before(*p);
        } else if (barrier_ != nullptr && node.names) {
            before(*barrier_);
        }
        node.items.reserve(wishes.size());
        for (dependence const& wish : wishes) groups_.join(node, wish, before);
        if (node.lane != nullptr) follow_tail(node);
    }

    // Regions of a queue that are deferred stay in its order.
    void follow_tail(dependent& node)
    {
        dependent* const tail = node.lane->tail;
        if (tail == nullptr || tail->id != node.lane->tail_id) return;
        follow(node, tail->now == state::skipped ? still_ahead_of(*tail) : tail);
        if (node.ahead == nullptr || !keeps_order(*node.ahead)) return;
        if (std::exchange(node.ahead->seen, node.id) != node.id)
            predecessors_.push_back({node.ahead, false, false});
    }

    static void follow(dependent& node, dependent* ahead) noexcept
    {
        node.ahead = ahead;
        node.ahead_id = ahead == nullptr ? 0 : ahead->id;
    }

    // What it follows in its queue, if that still keeps it.
    static dependent* still_ahead_of(dependent const& node) noexcept
    {
        dependent* const a = node.ahead;
        return a == nullptr || a->id != node.ahead_id || !keeps_order(*a) ? nullptr : a;
    }

    // Once it is accepted its device does.
    static bool keeps_order(dependent const& node) noexcept
    {
        return node.now == state::deferred || is_starting(node);
    }

    static bool is_starting(dependent const& node) noexcept
    {
        state const now = node.now;
        return now == state::starting || now == state::awaited;
    }

    // If it is not, it will tell.
    static bool is_accepted(dependent& node) noexcept
    {
        if (node.now == state::accepted) return true;
        state now = state::starting;
        return !node.now.compare_exchange_strong(now, state::awaited) && now == state::accepted;
    }

    static void connect(predecessor const& before, dependent& node) noexcept
    {
        dependent& p = *before.node;
        bool const by_device = node.slot != nullptr && p.slot == node.slot && p.generation == node.generation;
        until what = until::ended;
        if (by_device) what = is_accepted(p) ? until::nothing : until::accepted;
        if (what == until::nothing) node.behind.push_back({p.place.stream, p.place.number, before.alone});
        if (what != until::nothing) ++node.unmet;
        ++node.incoming;
        p.successors.push_back(
            {&node, what, before.tells && p.now != state::skipped}); // whose failure is past
    }

    // Until it is accepted, its queue's next regions look here.
    static void enter_lane(dependent& node) noexcept
    {
        node.lane->deferred.fetch_add(1, std::memory_order_relaxed);
        node.lane->tail = &node;
        node.lane->tail_id = node.id;
    }
    static void leave_lane(dependent& node) noexcept
    {
        if (node.lane != nullptr)
            std::exchange(node.lane, nullptr)->deferred.fetch_sub(1, std::memory_order_release);
    }

    void link(dependent& node) noexcept
    {
        node.previous = last_;
        node.next = nullptr;
        (last_ == nullptr ? first_ : last_->next) = &node;
        last_ = &node;
        if (node.everything) barrier_ = &node;
    }

    void unlink(dependent& node) noexcept
    {
        (node.previous == nullptr ? first_ : node.previous->next) = node.next;
        (node.next == nullptr ? last_ : node.next->previous) = node.previous;
        if (barrier_ == &node) barrier_ = nullptr; // and so have all before it
    }

    // One edge less to wait for.
    void met(dependent& node, aftermath& out) noexcept
    {
        if (--node.unmet != 0 || node.now == state::skipped) return;
        node.now = state::starting;
        region& r = *node.waiting;
        if (node.predecessor_failed && !node.goes_on) {
            r.fail(make_error_code(errc::predecessor_failed), failed_before);
            r.order->node = nullptr;
            skip(node, r.error);
            pass_on(node, out);
            return out.done.push(r);
        }
        if (!r.order->on_host) return out.released.push(r);
        if (node.lane == nullptr) nobody_waits(node); // else it goes on, with steps on a device
        out.done.push(r);
    }

    void nobody_waits(dependent& node) noexcept
    {
        if (node.waiting == nullptr) return;
        if (races_.on()) races_.ended(*node.waiting);
        node.waiting = nullptr;
    }

    void abandon(dependent& node, aftermath& out) noexcept
    {
        if (node.now != state::deferred) return;
        region& r = *node.waiting;
        r.order->node = nullptr;
        r.fail(aborted(), {});
        skip(node, r.error);
        out.done.push(r);
    }

    // Those behind it in its queue come behind what it was behind.
    void pass_on(dependent& node, aftermath& out) noexcept
    {
        dependent* const ahead = still_ahead_of(node);
        for (dependent::edge& e : node.successors) {
            dependent& s = *e.successor;
            if (s.ahead != &node || s.ahead_id != node.id) continue;
            if (!e.tells && e.what != until::nothing && !hand_over(e, ahead, out)) continue;
            follow(s, ahead);
        }
    }

    // False: there was no memory, and it waits for more than it need.
    bool hand_over(dependent::edge& e, dependent* ahead, aftermath& out) noexcept
    {
        if (ahead != nullptr) {
            try {
                ahead->successors.push_back({e.successor, e.what, false});
            } catch (std::bad_alloc const&) {
                return false;
            }
            ++e.successor->incoming;
        }
        e.what = until::nothing;
        if (ahead == nullptr) met(*e.successor, out);
        return true;
    }

    // What Asio calls operation_aborted.
    static error_code aborted() noexcept
    {
        return {boost::system::errc::operation_canceled, boost::system::system_category()};
    }

    // Its owner knows that it never runs. Those behind it wait for those before it all the same, so its place stays until
    // they have ended.
    void skip(dependent& node, error_code ec) noexcept
    {
        leave_lane(node);
        node.error = ec;
        nobody_waits(node);
        node.now = state::skipped;
    }

    // The end of one may be the end of others, that were skipped.
    void settle(aftermath& out) noexcept
    {
        while (over_ != nullptr) {
            dependent& node = *std::exchange(over_, over_->behind_it);
            end(node, node.error, out);
        }
    }

    void end(dependent& node, error_code ec, aftermath& out) noexcept
    {
        if (node.slot != nullptr && is_starting(node) && node.incoming != 0) { // a device has refused it
            skip(node, ec);
            return pass_on(node, out);
        }
        groups_.leave(node);
        unlink(node);
        leave_lane(node);
        nobody_waits(node);
        node.now = state::ended;
        for (dependent::edge const& e : node.successors) {
            dependent& s = *e.successor;
            if (ec && e.tells) s.predecessor_failed = true;
            if (e.what != until::nothing) met(s, out);
            if (--s.incoming != 0) continue;
            if (s.now == state::skipped) s.behind_it = std::exchange(over_, &s);
            if (s.now == state::ended) give(s); // on a lost device a successor may be the first to end
        }
        if (node.incoming == 0) give(node);
    }

    race_checker races_;
    std::mutex mutex_; // behind any device's
    spare_objects<dependent> nodes_;
    address_groups groups_;
    std::vector<predecessor> predecessors_; // of the one that enters
    dependent* first_ = nullptr;
    dependent* last_ = nullptr;
    dependent* barrier_ = nullptr; ///< the last one behind which all come
    dependent* over_ = nullptr;    ///< were skipped, and nothing is before them
    std::uint64_t ids_ = 0;
};

} // namespace omp_co::detail
