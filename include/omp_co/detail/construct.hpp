// SPDX-License-Identifier: BSL-1.0
// What the constructs share: sorting their clauses, turning them into the items of a region, and the operation
// object that starts one.
#pragma once

#include <omp_co/clauses.hpp>
#include <omp_co/data_clauses.hpp>
#include <omp_co/detail/asio.hpp>
#include <omp_co/detail/host_kernel.hpp>
#include <omp_co/detail/kernel_check.hpp>
#include <omp_co/detail/operation_state.hpp>
#include <omp_co/device.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace omp_co::detail {

/// The constructs, by what their data clauses do.
enum class construct : unsigned char { target, enter_data, exit_data, update, begin_data, end_data };

/// How a clause takes part: it maps, it is an argument of the kernel, or neither.
template <class Clause>
struct clause_traits {
    static constexpr bool known = false, maps = false, argument = false;
};
struct plain_clause {
    static constexpr bool known = true, maps = false, argument = false;
};
struct argument_clause {
    static constexpr bool known = true, maps = false, argument = true;
};
template <map_type Type, class T>
struct clause_traits<map_clause<Type, T>> {
    static constexpr bool known = true, maps = true, argument = true;
};
template <class Clause>
struct clause_traits<also_clause<Clause>> {
    static constexpr bool known = true, maps = true, argument = false;
};
template <class T>
struct clause_traits<firstprivate_clause<T>> : argument_clause {};
template <class T>
struct clause_traits<private_clause<T>> : argument_clause {};
template <class T>
struct clause_traits<device_pointer_clause<T>> : argument_clause {};
template <unsigned D>
struct clause_traits<range_clause<D>> : plain_clause {};
template <>
struct clause_traits<if_clause> : plain_clause {};
template <>
struct clause_traits<name_clause> : plain_clause {};
template <>
struct clause_traits<explain_clause> : plain_clause {};

template <class T>
concept clause = clause_traits<T>::known;

template <class>
inline constexpr unsigned dimensions_of = 0;
template <unsigned D>
inline constexpr unsigned dimensions_of<range_clause<D>> = D;

/// The flags of a map clause in a construct (OpenMP 5.2, 5.8.3, 13.6, 13.7, 13.9).
template <construct Construct, map_type Type>
consteval std::uint32_t construct_flags()
{
    using enum map_type;
    constexpr std::uint32_t into = Type == to || Type == tofrom ? map_to : 0U;
    constexpr std::uint32_t back = Type == from || Type == tofrom ? map_from : 0U;
    constexpr bool ends = Type == release || Type == delete_;
    switch (Construct) {
    case construct::target:
        static_assert(Construct != construct::target || !ends,
                      "omp_co: release and delete_ belong on target_exit_data; target takes to, from, tofrom, alloc");
        return into | back | map_enter | map_exit | map_used | (Type == to ? 0U : map_written);
    case construct::enter_data:
        static_assert(Construct != construct::enter_data || Type == to || Type == alloc,
                      "omp_co: target_enter_data takes to and alloc");
        return into | map_enter;
    case construct::exit_data:
        static_assert(Construct != construct::exit_data || Type == from || ends,
                      "omp_co: target_exit_data takes from, release and delete_");
        return back | map_exit | (Type == delete_ ? map_remove : 0U);
    case construct::update:
        static_assert(Construct != construct::update || Type == to || Type == from,
                      "omp_co: target_update takes to and from");
        return into | back | map_update;
    case construct::begin_data:
        static_assert(Construct != construct::begin_data || !ends,
                      "omp_co: release and delete_ belong on target_exit_data; target_data takes to, from, tofrom, alloc");
        return into | map_enter;
    case construct::end_data: return back | map_exit;
    }
}

/// What a construct says beside its data and its kernel.
struct settings {
    bool condition = true;
    bool valid = true;
    backend::extents range;
    std::string_view name;
    diagnostics* why = nullptr;

    template <class Clause>
    constexpr void take(Clause const& c) noexcept
    {
        if constexpr (std::same_as<Clause, if_clause>) condition = c.value();
        else if constexpr (std::same_as<Clause, name_clause>) name = c.text();
        else if constexpr (std::same_as<Clause, explain_clause>) why = c.target();
        else if constexpr (dimensions_of<Clause> != 0) {
            range = c.extents();
            valid = valid && c.valid();
        } else if constexpr (is_map_clause<Clause>) valid = valid && c.memory().valid();
        else if constexpr (requires { c.valid(); }) valid = valid && c.valid();
        else if constexpr (requires { c.clause(); }) take(c.clause());
    }
};

template <construct Construct, map_type Type, class T>
constexpr map_item make_item(map_clause<Type, T> const& c) noexcept
{
    map_item item;
    item.host = const_cast<std::remove_const_t<T>*>(c.memory().data());
    item.bytes = c.memory().bytes();
    item.flags = construct_flags<Construct, Type>();
    // `present` is a question of the entry; at the end of a region its data is there.
    item.flags |= Construct == construct::end_data ? c.modifiers() & ~std::uint32_t{map_present} : c.modifiers();
    return item;
}
template <construct Construct, class Clause>
constexpr map_item make_item(also_clause<Clause> const& c) noexcept
{
    return make_item<Construct>(c.clause());
}

/// The value of an argument that no map item holds.
template <class Clause>
struct argument_value {
    constexpr explicit argument_value(Clause const&) noexcept {}
    void* address() noexcept { return nullptr; }
};
template <class T>
struct argument_value<firstprivate_clause<T>> {
    constexpr explicit argument_value(firstprivate_clause<T> const& c) noexcept : value(c.value()) {}
    void* address() noexcept { return const_cast<std::remove_const_t<T>*>(&value); }
    T value;
};
template <class T>
struct argument_value<device_pointer_clause<T>> {
    constexpr explicit argument_value(device_pointer_clause<T> const& c) noexcept : value(c.pointer()) {}
    void* address() noexcept { return &value; }
    T* value;
};
template <class T>
struct argument_value<private_clause<T>> {
    constexpr explicit argument_value(private_clause<T> const& c) noexcept : bytes(c.size() * sizeof(T)) {}
    void* address() noexcept { return &offset; }
    std::size_t bytes;
    std::size_t offset = 0;
};

struct no_kernel {};

/// The arguments of a kernel, where the device reads them.
template <class Kernel, class... Clauses>
class kernel_payload {
public:
    static constexpr std::size_t argument_count = (std::size_t{0} + ... + std::size_t{clause_traits<Clauses>::argument});

    kernel_payload(Kernel const& k, Clauses const&... c) noexcept : kernel_(k), values_(argument_value<Clauses>(c)...) {}

    void connect(region& r, map_item* items, backend::extents const& range) noexcept
    {
        std::size_t item = 0;
        std::size_t argument = 0;
        connect_all(items, item, argument, std::index_sequence_for<Clauses...>());
        call_.closure = &kernel_;
        call_.arguments = arguments_.data();
        call_.argument_sizes = sizes.data();
        call_.argument_count = static_cast<unsigned>(argument_count);
        call_.range = range;
        call_.what = variant();
        r.call = &call_;
    }

private:
    static constexpr unsigned dimensions = (0U + ... + dimensions_of<Clauses>);

    template <std::size_t... I>
    void connect_all(map_item* items, std::size_t& item, std::size_t& argument, std::index_sequence<I...>) noexcept
    {
        (connect_one<Clauses>(std::get<I>(values_), items, item, argument), ...);
    }

    template <class Clause>
    void connect_one(argument_value<Clause>& value, map_item* items, std::size_t& item, std::size_t& argument) noexcept
    {
        if constexpr (clause_traits<Clause>::maps) {
            map_item& mine = items[item++];
            if constexpr (clause_traits<Clause>::argument) arguments_[argument++] = &mine.device;
        } else if constexpr (clause_traits<Clause>::argument) {
            if constexpr (requires { value.offset; }) {
                constexpr std::size_t line = 64;
                value.offset = call_.scratch_bytes;
                call_.scratch_bytes += (value.bytes + line - 1) / line * line;
            }
            arguments_[argument++] = value.address();
        }
    }

    // The kernel's variant sees the argument clauses only.
    template <class... Kept>
    struct kept {
        static constexpr backend::kernel const* variant = &host_kernel_for<dimensions, Kernel, Kept...>;
        static constexpr std::array<std::size_t, sizeof...(Kept)> sizes{argument_of<Kept>::size...};
        static constexpr bool checked = check_kernel<Kernel, dimensions, typename Kept::argument_type...>();
    };
    template <class List, class... Rest>
    struct keep;
    template <class... Kept>
    struct keep<kept<Kept...>> {
        using type = kept<Kept...>;
    };
    template <class... Kept, class First, class... Rest>
    struct keep<kept<Kept...>, First, Rest...>
        : keep<std::conditional_t<clause_traits<First>::argument, kept<Kept..., First>, kept<Kept...>>, Rest...> {};

    using arguments = typename keep<kept<>, Clauses...>::type;

    static constexpr backend::kernel const* variant() noexcept
    {
        if constexpr (arguments::checked) return arguments::variant;
        else return nullptr; // a static_assert has said why
    }

    static constexpr auto sizes = arguments::sizes;

    Kernel kernel_;
    [[no_unique_address]] std::tuple<argument_value<Clauses>...> values_;
    std::array<void*, argument_count> arguments_{};
    backend::invocation call_;
};

template <class... Clauses>
class kernel_payload<no_kernel, Clauses...> {
public:
    kernel_payload(no_kernel, Clauses const&...) noexcept {}
    void connect(region&, map_item*, backend::extents const&) noexcept {}
};

/// What a region of this construct needs beside its handler.
template <construct Construct, class Kernel, class... Clauses>
class construct_payload {
public:
    static constexpr std::size_t item_count = (std::size_t{0} + ... + std::size_t{clause_traits<Clauses>::maps});

    construct_payload(Kernel const& k, std::tuple<Clauses...> const& c) noexcept
        : kernel_(std::apply([&](Clauses const&... each) { return kernel_payload<Kernel, Clauses...>(k, each...); }, c))
    {
        std::size_t at = 0;
        std::apply([&](Clauses const&... each) { (add(each, at), ...); }, c);
    }

    /// Wires the region to this payload. `moves` false: on the initial device nothing is mapped.
    void connect(region& r, settings const& s, bool moves) noexcept
    {
        for (map_item& item : items_) item.device = item.host;
        r.items = items_.data();
        r.item_count = moves ? static_cast<std::uint32_t>(item_count) : 0;
        kernel_.connect(r, items_.data(), s.range);
    }

private:
    template <class Clause>
    void add(Clause const& c, std::size_t& at) noexcept
    {
        if constexpr (clause_traits<Clause>::maps) items_[at++] = make_item<Construct>(c);
    }

    std::array<map_item, item_count> items_;
    kernel_payload<Kernel, Clauses...> kernel_;
};

/// A region that nobody waits for: it drops the counts of a data region whose coroutine was destroyed. It copies
/// nothing, for the host memory may be gone.
template <class Payload>
class ownerless_region final : public region {
public:
    template <class Clauses>
    explicit ownerless_region(Clauses const& clauses) noexcept : region(&end_region, nullptr), payload_(no_kernel(), clauses)
    {
    }

    void start(device where, settings const& s) noexcept
    {
        slot = where.slot();
        generation = where.generation();
        payload_.connect(*this, s, !slot->initial);
        for (map_item& item : maps()) item.flags &= ~std::uint32_t{map_from | map_always};
        registry::instance().submit(*this);
    }

private:
    static void end_region(region& r, ending) { delete static_cast<ownerless_region*>(&r); }

    Payload payload_;
};

/// Starts a construct's region for a handler. Never throws once it has the handler, and never calls it.
struct initiate_construct {
    template <class Handler, class Operation>
    void operator()(Handler&& h, Operation const& op) const
    {
        std::decay_t<Handler> handler(std::forward<Handler>(h));
        auto const ex = asio::get_associated_executor(handler);
        loop& l = loop_for(ex);
        if (l.closed()) return; // a context that is going away destroys what comes
        using state = operation_state<std::decay_t<Handler>, typename Operation::payload_type>;
        try {
            state& s = state::create(handler, ex, op.kernel(), op.clauses());
            op.dispatch(s, s.payload(), l);
        } catch (std::bad_alloc const&) {
            complete_later(std::move(handler), make_error_code(errc::out_of_memory));
        }
    }
};

/// A construct, not yet started: a reusable value.
template <construct Construct, class Kernel, class... Clauses>
class operation {
public:
    using payload_type = construct_payload<Construct, Kernel, Clauses...>;

    operation(device where, bool named, Kernel const& k, Clauses const&... c) noexcept
        : where_(where), kernel_(k), clauses_(c...), named_(named)
    {
    }

    /// Starts the region. Completion signature: void(error_code).
    template <asio::completion_token_for<void(error_code)> Token>
    auto operator()(Token&& token) const
    {
        return asio::async_initiate<Token, void(error_code)>(initiate_construct(), token, *this);
    }

    Kernel const& kernel() const noexcept { return kernel_; }
    std::tuple<Clauses...> const& clauses() const noexcept { return clauses_; }

    void dispatch(region& r, payload_type& payload, loop& l) const noexcept
    {
        settings const s = all_settings();
        r.name = s.name;
        r.why = s.why;
        if (s.why != nullptr) s.why->clear();
        if (!s.valid) return l.refuse(r, make_error_code(errc::invalid_argument), "a negative or overflowing extent");
        if (!s.condition && std::is_same_v<Kernel, no_kernel>) return l.refuse(r, {}, {});
        device where = where_;
        try {
            if (!s.condition) where = initial_device();
            else if (!named_) where = default_or_fault(r);
        } catch (...) {
            return l.refuse(r, make_error_code(errc::out_of_memory), {});
        }
        if (r.error) return l.refuse(r, r.error, {});
        if (where.slot() == nullptr) return l.refuse(r, absent(), {});
        r.slot = where.slot();
        r.generation = where.generation();
        payload.connect(r, s, !r.slot->initial);
        l.start(r);
    }

    /// Undoes a construct that only maps, without copying and without telling anybody.
    void drop() const noexcept
    {
        settings const s = all_settings();
        if (!s.condition || !s.valid || where_.slot() == nullptr) return;
        auto* const end = new (std::nothrow) ownerless_region<payload_type>(clauses_);
        if (end != nullptr) end->start(where_, s); // without memory the entries stay until the device goes
    }

private:
    settings all_settings() const noexcept
    {
        settings s;
        std::apply([&](Clauses const&... each) { (s.take(each), ...); }, clauses_);
        return s;
    }

    static error_code absent() noexcept
    {
        return make_error_code(registry::instance().forked() ? errc::forked : errc::device_lost);
    }

    static device default_or_fault(region& r)
    {
        device const d = find_default_device();
        registry& all = registry::instance();
        if (!all.forked() && all.environment_is_bad.load(std::memory_order_relaxed))
            r.fail(make_error_code(errc::invalid_argument), environment_fault(all));
        return d;
    }

    device where_;
    Kernel kernel_;
    std::tuple<Clauses...> clauses_;
    bool named_;
};

template <construct Construct, class Kernel, class... Clauses>
auto make_operation(device where, bool named, Kernel const& kernel, Clauses const&... clauses) noexcept
{
    static_assert((clause<Clauses> && ...), "omp_co: an argument is no clause; data is named by to(x), from(x), tofrom(x), "
                                            "alloc(x), firstprivate(v), private_<T>(n) or is_device_ptr(p)");
    static_assert((0U + ... + unsigned{dimensions_of<Clauses> != 0}) <= 1, "omp_co: one range() a construct");
    constexpr bool has_kernel = !std::is_same_v<Kernel, no_kernel>;
    static_assert(has_kernel || ((clause_traits<Clauses>::maps || !clause_traits<Clauses>::argument) && ...),
                  "omp_co: firstprivate, private_ and is_device_ptr belong on target");
    static_assert(has_kernel || ((dimensions_of<Clauses> == 0) && ...), "omp_co: range() belongs on target");
    return operation<Construct, Kernel, Clauses...>(where, named, kernel, clauses...);
}

} // namespace omp_co::detail
