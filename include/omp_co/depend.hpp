// SPDX-License-Identifier: BSL-1.0
// Clauses that order constructs by the data that they name (OpenMP 5.2, 15.9.5 depend).
#pragma once

#include <omp_co/detail/dependent.hpp>
#include <omp_co/section.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace omp_co {

/// The argument `even_if_failed` of a depend clause: the construct runs also when one that it depends on has failed or was
/// cancelled.
struct even_if_failed_t {
    explicit even_if_failed_t() = default;
};
inline constexpr even_if_failed_t even_if_failed{};

/// Addresses whose number is known only at run time; made by `addresses()`.
class address_list {
public:
    constexpr address_list(void const* const* first, std::size_t count) noexcept
        : first_(first), count_(count)
    {
    }
    constexpr void const* const* begin() const noexcept { return first_; }
    constexpr void const* const* end() const noexcept { return first_ + count_; }
    constexpr std::size_t size() const noexcept { return count_; }

private:
    void const* const* first_;
    std::size_t count_;
};

/// `count` addresses from `first` on, for a depend clause. They are read when the construct starts.
template <std::integral I>
constexpr address_list addresses(void const* const* first, I count) noexcept
{
    return {first, detail::fits_size(count) ? static_cast<std::size_t>(count) : 0};
}

/// A dependence on `N` addresses; made by `depend_in()` and its kin.
template <std::size_t N>
class depend_clause {
public:
    constexpr depend_clause(detail::dependence_type type, bool goes_on,
                            std::array<void const*, N> const& at) noexcept
        : addresses_(at), type_(type), goes_on_(goes_on)
    {
    }

    constexpr std::array<void const*, N> const& addresses() const noexcept { return addresses_; }
    constexpr detail::dependence_type type() const noexcept { return type_; }
    constexpr bool goes_on() const noexcept { return goes_on_; }

private:
    std::array<void const*, N> addresses_;
    detail::dependence_type type_;
    bool goes_on_;
};

/// The same for a list of addresses.
class depend_list_clause {
public:
    constexpr depend_list_clause(detail::dependence_type type, bool goes_on, address_list at) noexcept
        : addresses_(at), type_(type), goes_on_(goes_on)
    {
    }

    constexpr address_list addresses() const noexcept { return addresses_; }
    constexpr detail::dependence_type type() const noexcept { return type_; }
    constexpr bool goes_on() const noexcept { return goes_on_; }

private:
    address_list addresses_;
    detail::dependence_type type_;
    bool goes_on_;
};

/// A dependence on everything; made by `depend_all()`.
class depend_all_clause {
public:
    constexpr explicit depend_all_clause(bool goes_on) noexcept : goes_on_(goes_on) {}
    constexpr bool goes_on() const noexcept { return goes_on_; }

private:
    bool goes_on_;
};

namespace detail {

template <class X>
inline constexpr bool is_flag = std::is_same_v<std::remove_cvref_t<X>, even_if_failed_t>;

/// The address by which memory is known.
template <class X>
constexpr void const* address_of(X&& x) noexcept
{
    if constexpr (requires { x.get(), x.where(); })
        return x.get(); // a device_buffer or a device_section
    else if constexpr (is_box<std::remove_cvref_t<X>>)
        return x.data();
    else
        return const_cast<void const*>(
            static_cast<void const volatile*>(named_memory(std::forward<X>(x)).data()));
}

template <class... X>
constexpr auto make_depend(dependence_type type, X&&... x) noexcept
{
    constexpr std::size_t flags = (std::size_t{0} + ... + std::size_t{is_flag<X>});
    std::array<void const*, sizeof...(X) - flags> at{};
    [[maybe_unused]] std::size_t n = 0;
    [[maybe_unused]] auto const add = [&](auto&& each) {
        if constexpr (!is_flag<decltype(each)>) at[n++] = address_of(std::forward<decltype(each)>(each));
    };
    (add(std::forward<X>(x)), ...);
    return depend_clause<sizeof...(X) - flags>(type, flags != 0, at);
}

template <class Clause>
inline constexpr bool is_depend = false;
template <std::size_t N>
inline constexpr bool is_depend<depend_clause<N>> = true;
template <>
inline constexpr bool is_depend<depend_list_clause> = true;
template <>
inline constexpr bool is_depend<depend_all_clause> = true;

/// How many addresses a clause names, where it is known when it is compiled.
template <class Clause>
inline constexpr std::size_t addresses_of = 0;
template <std::size_t N>
inline constexpr std::size_t addresses_of<depend_clause<N>> = N;

} // namespace detail

/// The construct comes behind all that started earlier and write what `x...` names: depend_out, depend_inout and
/// depend_inoutset. Each of `x...` is known by its first address: a contiguous range, an object, a section, or a
/// device_buffer; as in OpenMP two of them are the same or they do not overlap. Anything else may use the data without
/// being ordered; what runs on one device is ordered there, and the host is not asked.
///
/// Works on target, target_enter_data, target_exit_data, target_update, target_memcpy and its kin, and host_task, in any mixture
/// and on any devices of the process. What a predecessor copies back is on the host before a successor that
/// copies it to another device, or runs on the host, starts.
/// A predecessor that failed, or was cancelled before it was dispatched, fails this construct with predecessor_failed, unless
/// `even_if_failed` is among the arguments of one of its depend clauses. One that had ended before this construct started does not
/// count. On the device of both it may have been at work by the time of the failure, and then what it copies back is not to be relied
/// on.
/// Cancellation: while the construct waits for another device or the host it has no effect yet, and ends at once.
template <class... X>
constexpr auto depend_in(X&&... x) noexcept
{
    return detail::make_depend(detail::dependence_type::in, std::forward<X>(x)...);
}

/// The construct comes behind all that started earlier and name `x...`, and those that start later come behind it.
template <class... X>
constexpr auto depend_inout(X&&... x) noexcept
{
    return detail::make_depend(detail::dependence_type::out, std::forward<X>(x)...);
}

/// The same; it says that the old value is not used.
template <class... X>
constexpr auto depend_out(X&&... x) noexcept
{
    return detail::make_depend(detail::dependence_type::out, std::forward<X>(x)...);
}

/// As depend_inout, but constructs that follow each other with depend_inoutset run side by side.
template <class... X>
constexpr auto depend_inoutset(X&&... x) noexcept
{
    return detail::make_depend(detail::dependence_type::inoutset, std::forward<X>(x)...);
}

// The same for addresses whose number is known only at run time.
template <class... Flags>
requires(detail::is_flag<Flags>&&...) constexpr depend_list_clause
    depend_in(address_list at, Flags...) noexcept
{
    return {detail::dependence_type::in, sizeof...(Flags) != 0, at};
}
template <class... Flags>
requires(detail::is_flag<Flags>&&...) constexpr depend_list_clause
    depend_inout(address_list at, Flags...) noexcept
{
    return {detail::dependence_type::out, sizeof...(Flags) != 0, at};
}
template <class... Flags>
requires(detail::is_flag<Flags>&&...) constexpr depend_list_clause
    depend_out(address_list at, Flags...) noexcept
{
    return {detail::dependence_type::out, sizeof...(Flags) != 0, at};
}
template <class... Flags>
requires(detail::is_flag<Flags>&&...) constexpr depend_list_clause
    depend_inoutset(address_list at, Flags...) noexcept
{
    return {detail::dependence_type::inoutset, sizeof...(Flags) != 0, at};
}

/// The construct comes behind everything with a depend clause that started earlier, and everything with one that starts later
/// comes behind it (OpenMP's omp_all_memory).
template <class... Flags>
requires(detail::is_flag<Flags>&&...) constexpr depend_all_clause depend_all(Flags...) noexcept
{
    return depend_all_clause(sizeof...(Flags) != 0);
}

} // namespace omp_co
