// SPDX-License-Identifier: BSL-1.0
// The executor of a task_group's members, and the way from a handler's executor to its context's own.
#pragma once

#include <omp_co/detail/asio.hpp>

#include <type_traits>
#include <utility>

namespace omp_co::detail {

/// A strand that says whose member it belongs to, so that the group can tell its regions from others.
class group_executor {
public:
    using strand_type = asio::strand<asio::any_io_executor>;

    group_executor(strand_type s, void const* group) noexcept : strand_(std::move(s)), group_(group) {}

    strand_type const& strand() const noexcept { return strand_; }
    void const* group() const noexcept { return group_; }

    template <class Property>
    requires asio::can_query<strand_type const&, Property>::value decltype(auto)
    query(Property const& p) const
    {
        return asio::query(strand_, p);
    }

    template <class Property>
    requires asio::can_require<strand_type const&, Property>::value group_executor require(Property const& p)
    const { return {asio::require(strand_, p), group_}; }

    template <class Property>
    requires asio::can_prefer<strand_type const&, Property>::value group_executor prefer(Property const& p)
    const { return {asio::prefer(strand_, p), group_}; }

    template <class F>
    void execute(F&& f) const
    {
        strand_.execute(std::forward<F>(f));
    }

    friend bool operator==(group_executor const& a, group_executor const& b) noexcept
    {
        return a.group_ == b.group_ && a.strand_ == b.strand_;
    }

private:
    strand_type strand_;
    void const* group_;
};

/// The group whose member a handler with this executor belongs to, null if there is none.
template <class Executor>
void const* group_of(Executor const& ex) noexcept
{
    if constexpr (std::is_same_v<Executor, group_executor>) {
        return ex.group();
    } else if constexpr (std::is_same_v<Executor, asio::any_io_executor>) {
        auto const* const g = ex.template target<group_executor>();
        return g == nullptr ? nullptr : g->group();
    } else {
        return nullptr;
    }
}

asio::any_io_executor base_executor(asio::any_io_executor const& ex);

/// The executor below strands, type-erased: a context's own, where it leads there; empty if it cannot be erased.
template <class Executor>
asio::any_io_executor base_executor(Executor const& ex)
{
    if constexpr (std::is_convertible_v<Executor, asio::any_io_executor>)
        return ex;
    else
        return {};
}

template <class Inner>
asio::any_io_executor base_executor(asio::strand<Inner> const& ex)
{
    return base_executor(ex.get_inner_executor());
}

inline asio::any_io_executor base_executor(group_executor const& ex)
{
    return base_executor(ex.strand().get_inner_executor());
}

inline asio::any_io_executor base_executor(asio::any_io_executor const& ex)
{
    if (auto const* s = ex.target<asio::strand<asio::io_context::executor_type>>())
        return s->get_inner_executor();
    if (auto const* s = ex.target<asio::strand<asio::thread_pool::executor_type>>())
        return s->get_inner_executor();
    if (auto const* s = ex.target<asio::strand<asio::any_io_executor>>())
        return base_executor(s->get_inner_executor());
    if (auto const* g = ex.target<group_executor>()) return base_executor(*g);
    return ex;
}

} // namespace omp_co::detail
