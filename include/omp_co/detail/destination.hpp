// SPDX-License-Identifier: BSL-1.0
// Where a construct goes: what its first argument says.
#pragma once

#include <omp_co/detail/queue_state.hpp>
#include <omp_co/device.hpp>

#include <concepts>
#include <type_traits>

namespace omp_co::detail {

class destination {
public:
    /// The queue that is bound to the handler's executor, else the default device when the construct starts.
    constexpr destination() noexcept = default;

    template <class Device>
    requires std::convertible_to<Device const&, device>
    constexpr destination(Device const& d) noexcept : device_(d), named_(true) {}

    /// The queue must live when the construct starts.
    explicit destination(queue_state& q) noexcept : device_(q.where()), queue_(&q), named_(true) {}

    /// The bound queue, else that device.
    static constexpr destination bound_or(device d) noexcept
    {
        destination made(d);
        made.may_be_bound_ = true;
        return made;
    }

    constexpr device where() const noexcept { return device_; }
    constexpr bool named() const noexcept { return named_; }
    constexpr queue_state* queue() const noexcept { return queue_; }

    /// The queue of a construct whose handler has this executor; null if it has none.
    template <class Executor>
    queue_state* queue_under(Executor const& ex) const noexcept
    {
        if (queue_ != nullptr || (named_ && !may_be_bound_)) return queue_;
        return static_cast<queue_state*>(queue_of(ex));
    }

    /// Where it leads then; null: the default device of that time.
    template <class Executor>
    device device_under(Executor const& ex) const noexcept
    {
        queue_state const* const q = queue_under(ex);
        return q == nullptr ? device_ : q->where();
    }

private:
    device device_;
    queue_state* queue_ = nullptr;
    bool named_ = false;
    bool may_be_bound_ = false;
};

} // namespace omp_co::detail
