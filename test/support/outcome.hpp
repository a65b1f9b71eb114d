// SPDX-License-Identifier: BSL-1.0
// How an operation ends. Like sync_wait(), without its exception, and with little to compile for each operation.
#pragma once

#include <omp_co/omp_co.hpp>

#include <optional>

namespace omp_co_test {

class outcome_loop {
public:
    struct handler {
        using executor_type = boost::asio::io_context::executor_type;
        executor_type get_executor() const noexcept { return self->context_.get_executor(); }
        void operator()(boost::system::error_code ec) const { self->result_ = ec; }
        outcome_loop* self;
    };

    handler get_handler() noexcept { return {this}; }

    /// errc::not_supported, which nothing here ends with, if the handler was not called.
    boost::system::error_code run()
    {
        context_.run();
        return result_.value_or(make_error_code(omp_co::errc::not_supported));
    }

private:
    omp_co::offload_context context_;
    std::optional<boost::system::error_code> result_;
};

template <class Operation>
boost::system::error_code outcome(Operation const& op)
{
    outcome_loop loop;
    op(loop.get_handler());
    return loop.run();
}

} // namespace omp_co_test
