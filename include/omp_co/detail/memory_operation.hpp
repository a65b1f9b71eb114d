// SPDX-License-Identifier: BSL-1.0
// Copies between addresses that are given, and allocations, as Asio operations.
#pragma once

#include <omp_co/clauses.hpp>
#include <omp_co/detail/construct.hpp>
#include <omp_co/detail/device_bridge.hpp>
#include <omp_co/detail/memory_motion.hpp>
#include <omp_co/detail/operation_state.hpp>
#include <omp_co/detail/wrapped_handler.hpp>
#include <omp_co/device.hpp>
#include <omp_co/name.hpp>

#include <cstddef>
#include <memory>
#include <new>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace omp_co {

template <class T>
class device_section;

} // namespace omp_co

namespace omp_co::detail {

/// The region of a copy on one device: what is written, and for copies within the device what is read.
template <bool Ordered>
class memory_payload : public order_keeper<Ordered> {
public:
    memory_payload(map_item const& motion, backend::box const& shape) noexcept : shape_(shape)
    {
        items_[0] = motion;
        if (!motion.has(map_within)) return;
        items_[1].flags = map_raw | map_used | map_outside; // a motion, whose other end is the first item
        items_[1].device = motion.host;
        items_[1].bytes = shape.row == 0 ? motion.bytes : shape.reach(shape.host);
        count_ = 2;
    }

    void connect(region& r, device where) noexcept
    {
        if (shape_.row != 0) items_[0].shape = &shape_;
        r.items = items_;
        r.item_count = items_[0].bytes == 0 ? 0 : count_;
        r.slot = where.slot();
        r.generation = where.generation();
    }

private:
    map_item items_[2];
    backend::box shape_; // of no rows: all of the range
    std::uint32_t count_ = 1;
};

/// A copy between two devices. One with depend clauses may have to wait before its bridge is built.
template <bool Ordered>
struct bridge_payload {
    explicit bridge_payload(memory_motion const&) noexcept {}
};
template <>
class bridge_payload<true> : public order_keeper<true> {
public:
    explicit bridge_payload(memory_motion const& m) noexcept : motion_(m) {}
    memory_motion const& motion() const noexcept { return motion_; }

private:
    memory_motion motion_;
};

template <class Clause>
inline constexpr bool is_memory_clause =
    is_depend<Clause> || std::is_base_of_v<name_clause, Clause> || std::is_same_v<Clause, explain_clause>;

/// target_memcpy, target_memcpy_rect and target_memset, not yet started: a reusable value.
template <class... Clauses>
class [[nodiscard]] memory_operation {
public:
    using one_region = void;
    memory_operation(queue_state* q, memory_motion const& m, Clauses const&... c) noexcept
        : queue_(q), motion_(m), clauses_(c...)
    {
    }

    /// Completion signature: void(error_code).
    template <asio::completion_token_for<void(error_code)> Token>
    auto operator()(Token&& token) const
        -> decltype(asio::async_initiate<Token, void(error_code)>(initiate_start(), token,
                                                                  std::declval<memory_operation const&>()))
    {
        return asio::async_initiate<Token, void(error_code)>(initiate_start(), token, *this);
    }

    template <class Handler>
    void start(Handler&& h) const
    {
        if (queue_ != nullptr)
            initiate<order_keeper<true>>(std::forward<Handler>(h), [&](auto& user, loop& l) {
                if (motion_.between_devices())
                    start_queued<bridge_payload<true>>(user, l, motion_);
                else
                    start_queued<memory_payload<false>>(user, l, motion_.item(), motion_.shape());
            });
        else if (motion_.between_devices())
            initiate<bridge_payload<is_ordered>>(
                std::forward<Handler>(h), [&](auto& state, loop& l) { start_between(state, l); }, motion_);
        else
            initiate<memory_payload<is_ordered>>(
                std::forward<Handler>(h), [&](auto& state, loop& l) { start_on_one(state, l); },
                motion_.item(), motion_.shape());
    }

private:
    static constexpr bool is_ordered = (is_depend<Clauses> || ...);

    template <class Payload, class User, class... Args>
    void start_queued(User& user, loop& l, Args const&... args) const noexcept
    {
        if (queue_->fault()) describe(clauses_, user);
        start_on_queue<Payload>(
            *queue_, user, user.payload().order().token, l,
            [&](queue_region<Payload>& r, Payload& payload) {
                if constexpr (std::is_same_v<Payload, bridge_payload<true>>)
                    return prepare_bridge(r);
                else
                    return prepare(r, payload);
            },
            [&](region_order& order) { return gather_dependences(clauses_, order); }, args...);
    }

    // False: it cannot be.
    template <class Payload>
    bool prepare(region& r, Payload& payload) const noexcept
    {
        describe(clauses_, r);
        if (!motion_.fault().empty()) r.fail(make_error_code(errc::invalid_argument), motion_.fault());
        if (motion_.where().slot() == nullptr) r.fail(make_error_code(absent()), {});
        if (!r.error) payload.connect(r, motion_.where());
        return !r.error;
    }

    template <class Region>
    bool prepare_bridge(Region& r) const noexcept
    {
        describe(clauses_, r);
        if (motion_.to().slot() == nullptr || motion_.from().slot() == nullptr)
            r.fail(make_error_code(absent()), {});
        if constexpr (requires { r.payload().motion(); })
            r.order->begin = [](region& ready) {
                memory_motion const& m = static_cast<Region&>(ready).payload().motion();
                device_bridge::start(ready, m.out(), m.in(), m.bytes());
            };
        return !r.error;
    }

    template <class State>
    void start_on_one(State& state, loop& l) const noexcept
    {
        if (!prepare(state, state.payload())) return l.refuse(state, state.error, {});
        if constexpr (is_ordered)
            start_in_order(state, state.payload().order(), l, clauses_);
        else
            l.start(state);
    }

    template <class State>
    void start_between(State& state, loop& l) const noexcept
    {
        if constexpr (is_ordered) state.order = &state.payload().order();
        if (!prepare_bridge(state)) return l.refuse(state, state.error, {});
        if constexpr (is_ordered) {
            start_in_order(state, state.payload().order(), l, clauses_);
        } else {
            l.start(state, [&](region& r) {
                device_bridge::start(r, motion_.out(), motion_.in(), motion_.bytes());
            });
        }
    }

    queue_state* queue_;
    memory_motion motion_;
    std::tuple<Clauses...> clauses_;
};

template <class... Clauses>
auto make_memory_operation(queue_state* q, memory_motion const& m, Clauses const&... clauses) noexcept
{
    static_assert(
        (is_memory_clause<Clauses> && ...),
        "omp_co: the clauses of target_memcpy, target_memcpy_rect and target_memset are depend_in() "
        "and its kin, name() and explain()");
    return memory_operation<Clauses...>(q, m, clauses...);
}

/// What a handler gets of what was kept for it.
template <class T>
T&& hand_over(T& kept) noexcept
{
    return std::move(kept);
}
template <class T>
T&& hand_over(std::shared_ptr<T>& kept) noexcept
{
    return std::move(*kept);
}

template <class T>
void drop(T& kept) noexcept
{
    kept = T();
}
template <class T>
void drop(std::shared_ptr<T>& kept) noexcept
{
    *kept = T();
}

/// A handler that is called with what was allocated. A buffer that is never handed over gives its memory back.
template <class Handler, class Buffer>
struct with_buffer {
    using omp_co_wrapped = Handler;

    Handler handler;
    Buffer buffer;

    void operator()(error_code ec)
    {
        if (ec) drop(buffer);
        std::move(handler)(ec, hand_over(buffer));
    }
};

/// What a region needs that asks for device memory. `made` is what its handler is called with.
template <class Buffer>
class allocation_payload {
public:
    allocation_payload(device where, std::size_t count, std::shared_ptr<Buffer> const& made) noexcept
        : where_(where), count_(count), made_(made)
    {
    }

    void connect(region& r) noexcept
    {
        item_.bytes = count_ * sizeof(element);
        item_.flags = map_allocation;
        r.items = &item_;
        r.item_count = 1;
        r.slot = where_.slot();
        r.generation = where_.generation();
    }

    void ended(error_code) noexcept
    {
        if (item_.device == nullptr) return;
        *made_ = Buffer(device_section<element>(where_, static_cast<element*>(item_.device), count_));
    }

private:
    using element = typename Buffer::element_type;

    device where_;
    std::size_t count_;
    std::shared_ptr<Buffer> made_;
    map_item item_;
};

/// allocate<T>, not yet started: a reusable value.
template <class Buffer>
class [[nodiscard]] allocate_operation {
public:
    using one_region = void;
    using value_type = Buffer;

    allocate_operation(device where, bool named, std::size_t count, bool valid) noexcept
        : where_(where), count_(count), named_(named), valid_(valid)
    {
    }

    void use_default_device() noexcept { named_ = false; }

    /// Completion signature: void(error_code, device_buffer<T>).
    template <asio::completion_token_for<void(error_code, Buffer)> Token>
    auto operator()(Token&& token) const -> decltype(asio::async_initiate<Token, void(error_code, Buffer)>(
        initiate_start(), token, std::declval<allocate_operation const&>()))
    {
        return asio::async_initiate<Token, void(error_code, Buffer)>(initiate_start(), token, *this);
    }

    template <class Handler>
    void start(Handler&& h) const
    {
        find_loop(h);
        if (!valid_) return end(std::forward<Handler>(h), make_error_code(errc::invalid_argument));
        device where = where_;
        std::shared_ptr<Buffer> made;
        try {
            if (!named_) where = destination().device_under(asio::get_associated_executor(h));
            if (!named_ && where.slot() == nullptr) where = find_default_device();
            made = std::allocate_shared<Buffer>(recycling<Buffer>());
        } catch (std::bad_alloc const&) {
            return end(std::forward<Handler>(h), make_error_code(errc::out_of_memory));
        }
        if (where.backend() == backend_kind::other)
            return end(std::forward<Handler>(h), make_error_code(absent()));
        if (count_ == 0)
            return end(std::forward<Handler>(h), {},
                       Buffer(device_section<typename Buffer::element_type>(where, nullptr, 0)));
        initiate<allocation_payload<Buffer>>(
            with_buffer<std::decay_t<Handler>, std::shared_ptr<Buffer>>{std::forward<Handler>(h), made},
            [](auto& state, loop& l) {
                state.payload().connect(state);
                l.start(state, [](region& r) { registry::instance().allocate(r); });
            },
            where, count_, made);
    }

private:
    template <class Handler>
    static void end(Handler&& h, error_code ec, Buffer&& made = Buffer())
    {
        complete_later(with_buffer<std::decay_t<Handler>, Buffer>{std::forward<Handler>(h), std::move(made)},
                       ec);
    }

    device where_;
    std::size_t count_;
    bool named_;
    bool valid_;
};

} // namespace omp_co::detail
