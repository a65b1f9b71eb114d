// SPDX-License-Identifier: BSL-1.0
// Several operations as one.
#pragma once

#include <omp_co/detail/when_all_state.hpp>

#include <concepts>
#include <iterator>
#include <ranges>
#include <tuple>
#include <utility>
#include <vector>

namespace omp_co {

/// Operations that were put together by when_all(): a reusable value, like they are.
template <class Operations>
class when_all_operation {
public:
    explicit when_all_operation(Operations ops) : operations_(std::move(ops)) {}

    /// Starts all of them. Completion signature: void(error_code).
    template <asio::completion_token_for<void(error_code)> Token>
    auto operator()(Token&& token) const
        -> decltype(asio::async_initiate<Token, void(error_code)>(detail::initiate_when_all(), token,
                                                                  std::declval<Operations const&>()))
    {
        return asio::async_initiate<Token, void(error_code)>(detail::initiate_when_all(), token, operations_);
    }

private:
    Operations operations_;
};

/// Starts all operations and waits for all of them (OpenMP 5.2, 15.4 taskgroup). They complete with `void(error_code)`;
/// the result is the error of the first that failed, in the order of completion.
///
/// Cancellation: forwarded to every operation. It completes when all of them have.
/// Thread safety and lifetimes: those of the operations; they are copied.
template <class... Operations>
requires(detail::completes_with_error_code<Operations>&&...) auto when_all(Operations... operations)
{
    return when_all_operation<std::tuple<Operations...>>(std::tuple<Operations...>(std::move(operations)...));
}

/// The same for a range of operations of one type; an empty one completes at once.
template <std::ranges::input_range R>
requires detail::completes_with_error_code<std::ranges::range_value_t<R>>
auto when_all(R&& operations)
{
    std::vector<std::ranges::range_value_t<R>> all;
    for (auto&& op : operations) all.push_back(op);
    return when_all_operation<decltype(all)>(std::move(all));
}

// Says what to write instead.
template <class First, class... Others>
requires(
    !(detail::completes_with_error_code<First> && ... &&
      detail::completes_with_error_code<Others>)&&!std::ranges::input_range<First>) auto when_all(First&&,
                                                                                                  Others&&...)
{
    static_assert(
        (detail::completes_with_error_code<First> && ... && detail::completes_with_error_code<Others>),
        "omp_co: when_all takes operations without a value; a coroutine is a task_group's to spawn");
    return when_all_operation<std::tuple<>>({});
}

} // namespace omp_co
