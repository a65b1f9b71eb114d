// SPDX-License-Identifier: BSL-1.0
// A handler with an executor and a cancellation slot. Not two of Asio's binders, one in the other: g++ 12 says at -O1
// that their empty initiation object may be uninitialised.
#pragma once

#include <omp_co/detail/asio.hpp>

#include <utility>

namespace omp_co_test {

template <class F>
class bound_handler {
public:
    using executor_type = boost::asio::io_context::executor_type;
    using cancellation_slot_type = boost::asio::cancellation_slot;

    bound_handler(cancellation_slot_type slot, executor_type ex, F f)
        : slot_(slot), executor_(ex), function_(std::move(f))
    {
    }

    executor_type get_executor() const noexcept { return executor_; }
    cancellation_slot_type get_cancellation_slot() const noexcept { return slot_; }
    void operator()(boost::system::error_code ec) { function_(ec); }

private:
    cancellation_slot_type slot_;
    executor_type executor_;
    F function_;
};

template <class F>
bound_handler<F> bound(boost::asio::cancellation_slot slot, boost::asio::io_context& io, F f)
{
    return {slot, io.get_executor(), std::move(f)};
}

} // namespace omp_co_test
