// SPDX-License-Identifier: BSL-1.0
// How an operation starts that has a place in an order: behind its dependences, or on a queue.
#pragma once

#include <omp_co/detail/common_clauses.hpp>
#include <omp_co/detail/dependences.hpp>
#include <omp_co/detail/loop.hpp>
#include <omp_co/detail/queue_detour.hpp>
#include <omp_co/detail/queue_state.hpp>

#include <new>
#include <tuple>
#include <utility>

namespace omp_co::detail {

/// Behind what its clauses name. The region is wired to its payload, and `order` lives as long as it.
template <class... Clauses>
void start_in_order(region& r, region_order& order, loop& l, std::tuple<Clauses...> const& clauses) noexcept
{
    try {
        r.order = &order;
        dependences const wishes = gather_dependences(clauses, order);
        l.start(r, [&](region& ready) { registry::instance().submit(ready, wishes.all()); });
    } catch (std::bad_alloc const&) {
        l.refuse(r, make_error_code(errc::out_of_memory), {});
    }
}

/// `user` is what the handler belongs to; it may end long before the region does, which is made here with a Payload of `args`.
/// `prepare(region, payload)` wires it, false if it has failed or has nothing to do; `gather(order)` says what it depends on, and
/// may throw std::bad_alloc. A region that is not for the queue's device makes a detour.
template <class Payload, class Prepare, class Gather, class... Args>
void start_on_queue(queue_state& q, region& user, cancel_token* token, loop& l, Prepare prepare,
                    Gather gather, Args const&... args) noexcept
{
    if (q.fault()) return l.refuse(user, q.fault(), {});
    queue_region<Payload>* made = nullptr;
    error_code ec = make_error_code(errc::out_of_memory);
    try {
        made = &queue_region<Payload>::create(q, user, args...);
        region_order& order = *made->order;
        order.token = token;
        order.awaited_in = &l;
        if (prepare(*made, made->payload())) {
            dependences const wishes = gather(order);
            if (device(made->slot, made->generation) != q.where() || order.begin != nullptr) {
                queue_detour& detour = queue_detour::create(q, *made, user);
                return l.start(user, [&](region&) { detour.start(wishes.all(), order); });
            }
            return l.start(user, [&](region&) {
                bool const in_order = !wishes.all().empty() || order.everything ||
                                      order.ticket->lane->deferred.load(std::memory_order_acquire) != 0;
                if (in_order)
                    registry::instance().submit(*made, wishes.all());
                else
                    registry::instance().submit(*made);
            });
        }
        ec = made->error;
    } catch (std::bad_alloc const&) {
    }
    if (made != nullptr) made->end(*made, ending::destroy);
    l.refuse(user, ec, {});
}

} // namespace omp_co::detail
