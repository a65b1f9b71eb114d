// SPDX-License-Identifier: BSL-1.0
// Copies between addresses that are given, and allocations, as Asio operations.
#pragma once

#include <omp_co/detail/device_bridge.hpp>
#include <omp_co/detail/operation_state.hpp>
#include <omp_co/device.hpp>
#include <omp_co/section.hpp>

#include <cstddef>
#include <memory>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

namespace omp_co {

template <class T>
class device_section;

} // namespace omp_co

namespace omp_co::detail {

/// One side of a copy.
struct memory_side {
    device where;
    void* data = nullptr;
    std::size_t bytes = 0;
    bool on_device = false;
    bool valid = true;
    box_dimensions dimensions{}; ///< of a box
};

/// The region of a copy on one device: what is written, and for copies within the device what is read.
class memory_payload {
public:
    memory_payload(map_item const& motion, backend::box const& shape) noexcept : shape_(shape)
    {
        items_[0] = motion;
        if (!motion.has(map_within)) return;
        items_[1].flags = map_raw | map_used;
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

template <class Handler>
void initiate_motion(Handler&& h, device where, map_item const& motion, backend::box const& shape,
                     error_code refused, std::string_view why)
{
    initiate<memory_payload>(
        std::forward<Handler>(h),
        [&](auto& state, loop& l) {
            error_code ec = refused;
            if (!ec && where.slot() == nullptr)
                ec = make_error_code(registry::instance().forked() ? errc::forked : errc::device_lost);
            if (ec) return l.refuse(state, ec, why);
            state.payload().connect(state, where);
            l.start(state);
        },
        motion, shape);
}

struct initiate_memory {
    template <class Handler, class Operation>
    void operator()(Handler&& h, Operation const& op) const
    {
        op.start(std::forward<Handler>(h));
    }
};

/// target_memcpy, target_memcpy_rect and target_memset, not yet started: a reusable value.
class [[nodiscard]] memory_operation {
public:
    /// Everything of `from`.
    memory_operation(memory_side const& to, memory_side const& from) noexcept : to_(to), from_(from)
    {
        set_motion();
        motion_.bytes = bytes_ = from.bytes;
        if (to.bytes < from.bytes) fault_ = "the destination is smaller than the source";
    }

    /// Boxes of elements of `element` bytes.
    memory_operation(memory_side const& to, memory_side const& from, std::size_t element) noexcept
        : to_(to), from_(from)
    {
        set_motion();
        if (!to.dimensions.same_counts(from.dimensions)) fault_ = "boxes of different sizes";
        if (!fault_.empty() || from.bytes == 0) return;
        shape_ = to.on_device ? make_box(from.dimensions, to.dimensions, element)
                              : make_box(to.dimensions, from.dimensions, element);
        motion_.bytes = shape_.reach(shape_.device);
        bytes_ = shape_.bytes();
    }

    memory_operation(memory_side const& to, unsigned char value) noexcept : to_(to)
    {
        motion_.bytes = bytes_ = to.bytes;
        motion_.device = to.data;
        motion_.leader = value;
        motion_.flags = map_raw | map_written | map_fill;
        if (!to.valid) fault_ = no_section;
    }

    /// Completion signature: void(error_code).
    template <asio::completion_token_for<void(error_code)> Token>
    auto operator()(Token&& token) const
        -> decltype(asio::async_initiate<Token, void(error_code)>(initiate_memory(), token,
                                                                  std::declval<memory_operation const&>()))
    {
        return asio::async_initiate<Token, void(error_code)>(initiate_memory(), token, *this);
    }

    template <class Handler>
    void start(Handler&& h) const
    {
        error_code const ec = fault_.empty() ? error_code() : make_error_code(errc::invalid_argument);
        bool const two_devices = to_.on_device && from_.on_device && to_.where != from_.where;
        if (!two_devices || ec || bytes_ == 0)
            return initiate_motion(std::forward<Handler>(h), to_.on_device ? to_.where : from_.where, motion_,
                                   shape_, ec, fault_);
        initiate_between(std::forward<Handler>(h));
    }

private:
    static constexpr std::string_view no_section = "a section that is none";

    template <class Handler>
    void initiate_between(Handler&& h) const
    {
        // The buffer between has no gaps.
        backend::box::strides const packed{shape_.row, shape_.row * shape_.rows};
        raw_motion in{to_.where, motion_, shape_};
        in.shape.host = packed;
        raw_motion out{from_.where, motion_, shape_};
        out.item.device = from_.data;
        out.item.bytes = shape_.row == 0 ? motion_.bytes : shape_.reach(shape_.host);
        out.shape.device = shape_.host;
        out.shape.host = packed;
        initiate<no_payload>(std::forward<Handler>(h), [&](region& state, loop& l) {
            if (to_.where.slot() == nullptr || from_.where.slot() == nullptr)
                return l.refuse(
                    state, make_error_code(registry::instance().forked() ? errc::forked : errc::device_lost),
                    {});
            l.start(state, [&](region& r) { device_bridge::start(r, out, in, bytes_); });
        });
    }

    void set_motion() noexcept
    {
        motion_.device = to_.on_device ? to_.data : from_.data;
        motion_.host = to_.on_device ? from_.data : to_.data;
        motion_.flags = map_raw | (!to_.on_device    ? map_copy_out
                                   : from_.on_device ? map_written | map_within
                                                     : map_written | map_copy_in);
        if (!to_.valid || !from_.valid) fault_ = no_section;
    }

    memory_side to_;
    memory_side from_;
    map_item motion_;
    backend::box shape_;
    std::size_t bytes_ = 0;
    std::string_view fault_;
};

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

/// A handler that is called with what was allocated. A buffer that is never handed over gives its memory back.
template <class Handler, class Buffer>
struct with_buffer {
    Handler handler;
    Buffer buffer;

    void operator()(error_code ec) { std::move(handler)(ec, hand_over(buffer)); }
};

/// allocate<T>, not yet started: a reusable value.
template <class Buffer>
class [[nodiscard]] allocate_operation {
    using section = device_section<typename Buffer::element_type>;

public:
    using value_type = Buffer;

    allocate_operation(device where, bool named, std::size_t count, bool valid) noexcept
        : where_(where), count_(count), named_(named), valid_(valid)
    {
    }

    void use_default_device() noexcept { named_ = false; }

    /// Completion signature: void(error_code, device_buffer<T>).
    template <asio::completion_token_for<void(error_code, Buffer)> Token>
    auto operator()(Token&& token) const -> decltype(asio::async_initiate<Token, void(error_code, Buffer)>(
        initiate_memory(), token, std::declval<allocate_operation const&>()))
    {
        return asio::async_initiate<Token, void(error_code, Buffer)>(initiate_memory(), token, *this);
    }

    template <class Handler>
    void start(Handler&& h) const
    {
        Buffer made;
        error_code ec = valid_ ? error_code() : make_error_code(errc::invalid_argument);
        try {
            device const where = named_ ? where_ : find_default_device();
            std::size_t const bytes = count_ * sizeof(typename Buffer::element_type);
            if (!ec && bytes == 0 && where.backend() == backend_kind::other)
                ec = make_error_code(errc::device_lost);
            if (!ec && bytes == 0) made = Buffer(section(where, nullptr, 0));
            if (!ec && bytes != 0) {
                void* const block = where.allocate(bytes);
                if (block == nullptr)
                    ec = make_error_code(where.backend() == backend_kind::other ? errc::device_lost
                                                                                : errc::out_of_memory);
                else
                    made = Buffer(section(where, static_cast<typename Buffer::element_type*>(block), count_));
            }
        } catch (std::bad_alloc const&) {
            ec = make_error_code(errc::out_of_memory);
        }
        complete_later(with_buffer<std::decay_t<Handler>, Buffer>{std::forward<Handler>(h), std::move(made)},
                       ec);
    }

private:
    device where_;
    std::size_t count_;
    bool named_;
    bool valid_;
};

} // namespace omp_co::detail

/// What the handler says of itself holds for the one around it.
template <template <class, class> class Associator, class Handler, class Buffer, class Default>
struct boost::asio::associator<Associator, omp_co::detail::with_buffer<Handler, Buffer>, Default>
    : Associator<Handler, Default> {
    static typename Associator<Handler, Default>::type
    get(omp_co::detail::with_buffer<Handler, Buffer> const& h) noexcept
    {
        return Associator<Handler, Default>::get(h.handler);
    }
    static auto get(omp_co::detail::with_buffer<Handler, Buffer> const& h, Default const& d) noexcept
        -> decltype(Associator<Handler, Default>::get(h.handler, d))
    {
        return Associator<Handler, Default>::get(h.handler, d);
    }
};
