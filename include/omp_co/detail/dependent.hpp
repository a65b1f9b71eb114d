// SPDX-License-Identifier: BSL-1.0
// A region, or a piece of host code, in the order that depend clauses and queues make.
#pragma once

#include <omp_co/detail/cancel_token.hpp>
#include <omp_co/detail/device_slot.hpp>
#include <omp_co/detail/present_table.hpp>
#include <omp_co/detail/region.hpp>

#include <atomic>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace omp_co::detail {

/// Those of `in`, and those of `inoutset`, run together; each of `out` runs alone.
enum class dependence_type : unsigned char { in, out, inoutset };

/// What a depend clause says of one address.
struct dependence {
    void const* address = nullptr;
    dependence_type type = dependence_type::in;
};

/// A region's place in a stream.
struct stream_place {
    stream_clock* stream = nullptr;
    backend::sequence number = 0;
    bool alone = false; ///< of one that writes what the other one is to write
};

struct dependence_group;

/// Belongs to the dependence_graph and is guarded by its mutex. It outlives the region whose place it is: one that never ran
/// keeps its place, skipped, until those before it have ended.
struct dependent {
    /// `awaited` is `starting` with a successor that waits for it to be accepted.
    enum class state : unsigned char { deferred, starting, awaited, accepted, skipped, ended };

    /// One address that it names: a member of a group there.
    struct item {
        dependent* owner = nullptr;
        dependence_group* in = nullptr;
        item* previous = nullptr;
        item* next = nullptr;
    };

    /// What a successor waits for: that this one is accepted, that it has ended, or nothing, because their device keeps the
    /// order. Of a failure it is told in any case.
    enum class until : unsigned char { accepted, ended, nothing };
    struct edge {
        dependent* successor;
        until what;
        bool tells; ///< of a failure
    };

    region* waiting = nullptr;                ///< null: nobody waits for it
    device_slot* slot = nullptr;              ///< null: no device keeps its order
    std::uint32_t generation = 0;             ///< of that device
    stream_place place;                       ///< once it is accepted; written without the mutex
    std::uint64_t id = 0;                     ///< of this use of the memory, 0: none
    std::uint64_t seen = 0;                   ///< id of the last one whose predecessors it was counted among
    std::atomic<state> now = state::starting; ///< from `starting` to `accepted` without the mutex
    bool predecessor_failed = false;          ///< its device reads it too, and changes it then
    bool goes_on = false;                     ///< runs also after that
    bool everything = false;    ///< comes behind all that name something, and all such come behind it
    bool names = false;         ///< has a depend clause
    std::uint32_t unmet = 0;    ///< edges to it that it waits for
    std::uint32_t incoming = 0; ///< all edges to it
    error_code error;           ///< with which it ends although it never ran
    boost::container::small_vector<item, 4> items;
    boost::container::small_vector<edge, 4> successors;
    boost::container::small_vector<stream_place, 4> behind; ///< what its stream waits for
    dependent* previous = nullptr;                          ///< among all that have not ended
    dependent* next = nullptr;
    struct queue_lane* lane = nullptr; ///< of the queue in which it is deferred
    dependent* ahead = nullptr;        ///< the one before it there, if its id is still `ahead_id`
    std::uint64_t ahead_id = 0;
    dependent* behind_it = nullptr; ///< among those that were skipped, or have just ended
};

struct queue_ticket;

/// What a region says of its order, and its place in it.
struct region_order {
    dependent* node = nullptr;                ///< null: none, or it has ended
    cancel_token* token = nullptr;            ///< by which it is cancelled while it is deferred
    queue_ticket* ticket = nullptr;           ///< of a region of a queue
    region_owner const* awaited_in = nullptr; ///< the loop of a queue's user, which cancels it at its end
    bool goes_on = false;                     ///< runs also when a predecessor has failed
    bool everything = false;                  ///< depend_all()
    bool on_host = false;             ///< nothing for a device: its owner gets it when its time has come
    void (*begin)(region&) = nullptr; ///< how it is dispatched; null: as a region of a device
};

/// Whose regions have ended well, in their order.
class ended_dependents {
public:
    bool empty() const noexcept { return first_ == nullptr; }

    /// It has a place, and from now on none.
    void push(region_order& order) noexcept
    {
        dependent* const node = std::exchange(order.node, nullptr);
        node->behind_it = nullptr;
        (first_ == nullptr ? first_ : last_->behind_it) = node;
        last_ = node;
    }

    /// There is one.
    dependent& pop() noexcept { return *std::exchange(first_, first_->behind_it); }

private:
    dependent* first_ = nullptr;
    dependent* last_ = nullptr; // if there is a first one
};

/// Its place, null if it has none.
inline dependent* node_of(region const& r) noexcept { return r.order == nullptr ? nullptr : r.order->node; }

/// Objects that are used again; they are freed with it.
template <class T>
class spare_objects {
public:
    /// Throws std::bad_alloc.
    T& take()
    {
        if (spare_.empty()) {
            if (spare_.capacity() <= all_.size()) spare_.reserve(2 * all_.size() + 16);
            all_.push_back(std::make_unique<T>());
            return *all_.back();
        }
        T& t = *spare_.back();
        spare_.pop_back();
        return t;
    }

    void give(T& t) noexcept { spare_.push_back(&t); } // capacity was reserved

private:
    std::vector<std::unique_ptr<T>> all_;
    std::vector<T*> spare_;
};

} // namespace omp_co::detail
