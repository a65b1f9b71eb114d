// SPDX-License-Identifier: BSL-1.0
// An operation in flight whose loop the test runs by hand: it can see what an await would wait for.
#pragma once

#include "support/gate.hpp"

#include <omp_co/omp_co.hpp>

#include <boost/asio/bind_executor.hpp>
#include <chrono>
#include <optional>
#include <thread>

namespace omp_co_test {

class pending {
public:
    pending() = default;
    template <class Operation>
    explicit pending(Operation const& op)
    {
        start(op);
    }
    pending(pending const&) = delete;
    pending& operator=(pending const&) = delete;

    template <class Operation>
    void start(Operation const& op)
    {
        op(boost::asio::bind_executor(io_, [this](boost::system::error_code ec) { code_ = ec; }));
    }

    /// Lets the loop run for as long as it has something to do at once. True: the handler has been called.
    bool poll()
    {
        io_.restart();
        io_.poll();
        return code_.has_value();
    }

    /// Runs the loop until the handler is called. False: it was not within a time that only a defect needs.
    bool ends()
    {
        return eventually([this] { return poll(); });
    }
    bool ends_well() { return ends() && !*code_; }

    /// Whether it goes on waiting: for as long as what need not wait is not taken for it.
    bool stays()
    {
        for (int i = 0; i < 20; ++i) {
            if (poll()) return false;
            std::this_thread::sleep_for(std::chrono::microseconds(100));
        }
        return true;
    }

    /// What it ended with; errc::not_supported, which nothing here ends with, if it has not.
    boost::system::error_code code() const
    {
        return code_.value_or(make_error_code(omp_co::errc::not_supported));
    }

private:
    boost::asio::io_context io_;
    std::optional<boost::system::error_code> code_;
};

/// Whether an await of it is over soon, and well.
template <class Operation>
bool early(Operation const& op)
{
    return pending(op).ends_well();
}

} // namespace omp_co_test
