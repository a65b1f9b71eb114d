// SPDX-License-Identifier: BSL-1.0
// The skeleton of all constructs: an operation object that turns its clauses into a region and starts it.
#pragma once

#include <omp_co/detail/asio.hpp>
#include <omp_co/detail/clause_items.hpp>
#include <omp_co/detail/common_clauses.hpp>
#include <omp_co/detail/destination.hpp>
#include <omp_co/detail/kernel_payload.hpp>
#include <omp_co/detail/operation_state.hpp>
#include <omp_co/detail/ordered_start.hpp>
#include <omp_co/device.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

namespace omp_co::detail {

/// Tells a data region whether its mapping is there: its coroutine may go without being told.
template <construct Construct>
struct mapping_note {
};
template <>
struct mapping_note<construct::begin_data> {
    bool* mapped = nullptr;
    data_scope_fate* fate = nullptr; ///< of a data region on a queue

    void ended(error_code ec) const noexcept
    {
        if (mapped != nullptr) *mapped = !ec;
    }
};

template <>
struct mapping_note<construct::end_data> {
    bool* mapped = nullptr; ///< again, if the end was given up before it began
    data_scope_fate* fate = nullptr;

    void ended(error_code ec) const noexcept
    {
        if (mapped != nullptr && ec == asio::error::operation_aborted) *mapped = true;
    }
};

/// The place for a region's order, if its construct has depend clauses.
template <bool Ordered>
struct order_keeper {
};
template <>
struct order_keeper<true> {
    region_order& order() noexcept { return order_; }

private:
    region_order order_;
};

/// What the user of a queue needs beside its handler: the region has the rest.
template <class Note>
class queue_user : public Note, public order_keeper<true> {
};

/// What a region of this construct needs beside its handler.
template <construct Construct, class Kernel, class... Clauses>
class construct_payload : public mapping_note<Construct>, public order_keeper<(is_depend<Clauses> || ...)> {
public:
    /// Throws std::bad_alloc where mappers decide how much is mapped.
    construct_payload(Kernel const& k,
                      std::tuple<Clauses...> const& c) noexcept(!(uses_mapper<Clauses> || ...))
        : items_(c),
          kernel_(std::apply(
              [&](Clauses const&... each) { return kernel_payload<Kernel, Clauses...>(k, each...); }, c))
    {
    }

    bool valid() const noexcept { return items_.valid(); }

    /// Wires the region to this payload. `moves` false: on the initial device nothing is mapped.
    /// False: the kernel has no variant for this kind of device.
    bool connect(region& r, backend_kind kind, bool moves) noexcept
    {
        std::span<map_item> const items = items_.connect();
        for (map_item& item : items) item.device = item.host;
        r.items = items.data();
        r.item_count = moves ? static_cast<std::uint32_t>(items.size()) : 0;
        return kernel_.connect(r, items.data(), kind);
    }

private:
    clause_items<Construct, Clauses...> items_;
    kernel_payload<Kernel, Clauses...> kernel_;
};

/// A region that nobody waits for: it drops the counts of a data region whose coroutine was destroyed. It copies
/// nothing, for the host memory may be gone.
template <class Payload>
class ownerless_region final : public region {
public:
    template <class Clauses>
    explicit ownerless_region(Clauses const& clauses)
        : region(&end_region, nullptr), payload_(no_kernel(), clauses)
    {
    }

    void start(device where) noexcept
    {
        slot = where.slot();
        generation = where.generation();
        (void)payload_.connect(*this, backend_kind::host, !slot->initial);
        for (map_item& item : maps()) item.flags &= ~std::uint32_t{map_from | map_always};
        registry::instance().submit(*this);
    }

private:
    static void end_region(region& r, ending) { delete static_cast<ownerless_region*>(&r); }

    Payload payload_;
};

struct initiate_construct {
    template <class Handler, class Operation>
    void operator()(Handler&& h, Operation const& op) const
    {
        if (queue_state* const q = op.where().queue_under(asio::get_associated_executor(h)))
            initiate<queue_user<typename Operation::note_type>>(
                std::forward<Handler>(h), [&](auto& user, loop& l) {
                    static_cast<typename Operation::note_type&>(user.payload()) = op.note();
                    op.dispatch(user, user.payload().order().token, l, *q);
                });
        else
            initiate<typename Operation::payload_type>(
                std::forward<Handler>(h),
                [&](auto& state, loop& l) {
                    static_cast<typename Operation::note_type&>(state.payload()) = op.note();
                    op.dispatch(state, state.payload(), l);
                },
                op.kernel(), op.clauses());
    }
};

/// A construct, not yet started: a reusable value.
template <construct Construct, class Kernel, class... Clauses>
class [[nodiscard]] operation {
public:
    using one_region = void;
    using payload_type = construct_payload<Construct, Kernel, Clauses...>;
    using note_type = mapping_note<Construct>;

    operation(destination where, Kernel const& k, Clauses const&... c) noexcept
        : where_(where), kernel_(k), clauses_(c...)
    {
    }

    /// Starts the region. Completion signature: void(error_code).
    template <asio::completion_token_for<void(error_code)> Token>
    auto operator()(Token&& token) const
        -> decltype(asio::async_initiate<Token, void(error_code)>(initiate_construct(), token,
                                                                  std::declval<operation const&>()))
    {
        return asio::async_initiate<Token, void(error_code)>(initiate_construct(), token, *this);
    }

    Kernel const& kernel() const noexcept { return kernel_; }
    std::tuple<Clauses...> const& clauses() const noexcept { return clauses_; }

    /// With a note: to set, before the handler is called or destroyed, whether the mapping took effect, or of which mapping this is
    /// the end.
    operation noting(note_type note) const noexcept
    {
        operation copy = *this;
        copy.note_ = note;
        return copy;
    }

    destination const& where() const noexcept { return where_; }
    mapping_note<Construct> const& note() const noexcept { return note_; }

    // Also without work it has its place among the dependences: the if clause of OpenMP changes a task's device.
    [[gnu::hot]] void dispatch(region& r, payload_type& payload, loop& l) const noexcept
    {
        bool const has_work = prepare(r, payload);
        if (r.error) return l.refuse(r, r.error, {});
        if constexpr (is_ordered) {
            if (!has_work) payload.order().begin = &registry::hand_over;
            start_in_order(r, payload.order(), l, clauses_);
        } else if (has_work)
            l.start(r);
        else
            l.refuse(r, {}, {});
    }

    /// The same on a queue: `user` is what the handler, which cancels by `token`, belongs to, and may end long before the region does.
    void dispatch(region& user, cancel_token* token, loop& l, queue_state& q) const noexcept
    {
        if (q.fault()) describe(clauses_, user);
        start_on_queue<payload_type>(
            q, user, Construct == construct::end_data ? nullptr : token, l, // an end cannot be cancelled
            [&](region& r, payload_type& payload) {
                bool const on_host = q.where().slot() != nullptr && q.where().slot()->initial;
                r.order->ticket->waits |= brings_back || on_host;
                if constexpr (requires { note_.fate; })
                    if (note_.fate != nullptr) r.order->ticket->scope = note_.fate->shared_from_this();
                r.order->ticket->ends_scope = Construct == construct::end_data;
                if (prepare(r, payload, q.where())) return true;
                r.order->begin = &registry::hand_over; // nothing to do, when its turn has come
                return !r.error;
            },
            [&](region_order& order) { return gather_dependences(clauses_, order); }, kernel_, clauses_);
    }

    /// Undoes a construct that only maps on `where`, without copying and without telling anybody.
    void drop(device where) const noexcept
    {
        conditions const c = all_conditions();
        if (!c.wanted || !c.valid || where.slot() == nullptr) return;
        try {
            (new ownerless_region<payload_type>(clauses_))->start(where);
        } catch (std::bad_alloc const&) { // the entries stay until the device goes
        }
    }

private:
    static constexpr bool is_ordered = (is_depend<Clauses> || ...);
    static constexpr bool brings_back = Construct == construct::synchronize || (is_reduction<Clauses> || ...);

    // Whether it stays on the host.
    static bool is_host_only(conditions const& c) noexcept
    {
        return !c.wanted || registry::instance().offload_disabled.load(std::memory_order_relaxed);
    }
    static bool has_no_work(conditions const& c) noexcept
    {
        return std::is_same_v<Kernel, no_kernel> && c.valid && is_host_only(c);
    }

    // What is decided before a region is dispatched. False: it has failed, with its error, or has nothing to do.
    bool prepare(region& r, payload_type& payload, device of_queue = {}) const noexcept
    {
        conditions const c = all_conditions();
        describe(clauses_, r);
        if (!c.valid || !payload.valid())
            return refused(r, errc::invalid_argument, "a negative or overflowing extent");
        if (has_no_work(c)) return false;
        bool const here = is_host_only(c);
        device where = where_.where();
        try {
            if (here)
                where = initial_device();
            else if (of_queue.slot() != nullptr)
                where = of_queue;
            else if (!where_.named())
                where = default_or_fault(r);
        } catch (...) {
            return refused(r, errc::out_of_memory, {});
        }
        if (r.error) return false;
        if (where.slot() == nullptr) return refused(r, absent(), {});
        r.slot = where.slot();
        r.generation = where.generation();
        backend_kind const kind = r.slot->kind.load(std::memory_order_relaxed);
        if (!payload.connect(r, kind, !r.slot->initial))
            return refused(r, errc::kernel_unavailable, to_string(kind));
        return true;
    }

    static bool refused(region& r, errc code, std::string_view why) noexcept
    {
        r.fail(make_error_code(code), why);
        return false;
    }

    conditions all_conditions() const noexcept
    {
        conditions all;
        std::apply([&](Clauses const&... each) { (all.take(each), ...); }, clauses_);
        return all;
    }

    static device default_or_fault(region& r)
    {
        device const d = find_default_device();
        registry& all = registry::instance();
        if (!all.forked() && all.environment_is_bad.load(std::memory_order_relaxed))
            r.fail(make_error_code(errc::invalid_argument), environment_fault(all));
        return d;
    }

    destination where_;
    Kernel kernel_;
    std::tuple<Clauses...> clauses_;
    [[no_unique_address]] mapping_note<Construct> note_;
};

/// Whether a construct's arguments begin with a device or a queue.
template <class... Arguments>
inline constexpr bool names_device = false;
template <class First, class... Rest>
inline constexpr bool names_device<First, Rest...> = std::is_convertible_v<First const&, destination>;

template <construct Construct, class Kernel, class... Clauses>
auto make_operation(destination where, Kernel const& kernel, Clauses const&... clauses) noexcept
{
    static_assert((clause<Clauses> && ...),
                  "omp_co: an argument is no clause; data is named by to(x), from(x), tofrom(x), "
                  "alloc(x), firstprivate(v), private_<T>(n) or is_device_ptr(p)");
    static_assert((0U + ... + unsigned{dimensions_of<Clauses> != 0}) <= 1, "omp_co: one range() a construct");
    static_assert((0U + ... + unsigned{std::is_same_v<Clauses, if_clause>}) <= 1,
                  "omp_co: one if_() a construct");
    static_assert((0U + ... + unsigned{std::is_base_of_v<name_clause, Clauses>}) <= 1,
                  "omp_co: one name() a construct");
    static_assert((0U + ... + unsigned{std::is_same_v<Clauses, explain_clause>}) <= 1,
                  "omp_co: one explain() a construct");
    constexpr bool has_kernel = !std::is_same_v<Kernel, no_kernel>;
    static_assert((Construct != construct::begin_data && Construct != construct::end_data) ||
                      (!is_depend<Clauses> && ...),
                  "omp_co: target_data has no depend clauses; they belong on the constructs inside");
    static_assert(has_kernel || (!clause_traits<Clauses>::of_kernel && ...),
                  "omp_co: range, firstprivate, private_, is_device_ptr and reduction belong on target");
    if constexpr ((clause<Clauses> && ...)) { // here, where a message names the caller's line
        (check_map_type<Construct, Clauses>(), ...);
        (void)kernel_payload<Kernel, Clauses...>::check();
    }
    return operation<Construct, Kernel, Clauses...>(where, kernel, clauses...);
}

} // namespace omp_co::detail
