// SPDX-License-Identifier: BSL-1.0
// The coroutine behind target_data.
#pragma once

#include <omp_co/detail/construct.hpp>
#include <omp_co/detail/kept_callable.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/system/system_error.hpp>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace omp_co::detail {

/// Ends the mapping, once it is there, if its coroutine goes before it could.
template <class End>
class data_scope {
public:
    /// Throws std::bad_alloc.
    template <class Executor>
    data_scope(End const& end, Executor const& ex) : end_(end), where_(end.where().device_under(ex))
    {
        if (end.where().queue_under(ex) != nullptr)
            fate_ = std::allocate_shared<data_scope_fate>(recycling<data_scope_fate>());
    }
    data_scope(data_scope const&) = delete;
    data_scope& operator=(data_scope const&) = delete;
    ~data_scope()
    {
        if (mapped && (fate_ == nullptr || fate_->abandon())) end_.drop(where_);
    }

    bool mapped = false;
    data_scope_fate* fate() const noexcept { return fate_.get(); }

private:
    End const& end_;
    device where_;
    std::shared_ptr<data_scope_fate> fate_;
};

template <class>
struct awaitable_traits {
    static constexpr bool is_awaitable = false;
    using value_type = void;
    using executor_type = asio::any_io_executor;
};
template <class T, class Executor>
struct awaitable_traits<asio::awaitable<T, Executor>> {
    static constexpr bool is_awaitable = true;
    using value_type = T;
    using executor_type = Executor;
};

template <class Body, class Executor, class Begin, class End>
asio::awaitable<typename awaitable_traits<std::invoke_result_t<Body&>>::value_type, Executor>
run_data_region(Begin begin, End end, Body body, boost::intrusive_ptr<queue_state> queue)
{
    (void)queue; // kept for the end, for its handle may go
    using value_type = typename awaitable_traits<std::invoke_result_t<Body&>>::value_type;
    Executor const ex = co_await asio::this_coro::executor;
    data_scope<End> scope(end, ex);
    // If it is cancelled, it throws with the mapping in place.
    co_await begin.noting({&scope.mapped, scope.fate()});
    std::exception_ptr failure;
    std::conditional_t<std::is_void_v<value_type>, bool, std::optional<value_type>> result{};
    try {
        if constexpr (std::is_void_v<value_type>)
            co_await std::invoke(body);
        else
            result.emplace(co_await std::invoke(body));
    } catch (...) {
        failure = std::current_exception();
    }
    // The end cannot be cancelled: the caller's cancellation state is kept aside meanwhile, and a request that arrives has no
    // say in the result, for the effects have happened. Here and not in a function: to await that would throw first.
    bool const throws = co_await asio::this_coro::throw_if_cancelled();
    co_await asio::this_coro::throw_if_cancelled(false);
    scope.mapped = false;
    auto [ec] =
        co_await end.noting({&scope.mapped, scope.fate()})(asio::as_tuple(asio::use_awaitable_t<Executor>()));
    co_await asio::this_coro::throw_if_cancelled(throws);
    if (ec == asio::error::operation_aborted && !scope.mapped) ec = {};
    if (failure) std::rethrow_exception(failure);
    if (ec) throw boost::system::system_error(ec, "target_data");
    if constexpr (!std::is_void_v<value_type>) co_return std::move(*result);
}

template <class Clauses, class Body, std::size_t... I>
auto make_data_region_of(destination where, Clauses const& c, Body&& body, std::index_sequence<I...>)
{
    static_assert(can_be_kept<Body>,
                  "omp_co: a temporary body must be trivially copyable (capture by reference); name it, or "
                  "pass std::ref");
    auto kept = keep_callable(body);
    using kept_type = decltype(kept);
    static_assert(std::is_invocable_v<kept_type&>,
                  "omp_co: the last argument of target_data is its body: a callable without parameters");
    using traits = awaitable_traits<std::invoke_result_t<kept_type&>>;
    static_assert(traits::is_awaitable, "omp_co: the body of target_data returns an asio::awaitable");
    // The end must meet the device of the begin.
    destination const fixed = where.named() ? where : destination::bound_or(default_device());
    auto const begin = make_operation<construct::begin_data>(fixed, no_kernel(), std::get<I>(c)...);
    auto const end = make_operation<construct::end_data>(fixed, no_kernel(), std::get<I>(c)...);
    return run_data_region<kept_type, typename traits::executor_type>(begin, end, kept, fixed.queue());
}

template <class... Arguments>
auto make_data_region(destination where, Arguments&&... arguments)
{
    static_assert(sizeof...(Arguments) > 0, "omp_co: target_data ends with its body");
    constexpr std::size_t clauses = sizeof...(Arguments) - 1;
    auto all = std::forward_as_tuple(std::forward<Arguments>(arguments)...);
    using body_type = std::tuple_element_t<clauses, std::tuple<Arguments&&...>>;
    return [&]<std::size_t... I>(std::index_sequence<I...> each)
    {
        auto const c = std::make_tuple(std::get<I>(all)...);
        return make_data_region_of(where, c, static_cast<body_type>(std::get<clauses>(all)), each);
    }
    (std::make_index_sequence<clauses>());
}

} // namespace omp_co::detail
