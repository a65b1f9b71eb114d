// SPDX-License-Identifier: BSL-1.0
// Blocking, for main() and tests.
#pragma once

#include <omp_co/detail/when_all_state.hpp>
#include <omp_co/offload_context.hpp>

#include <boost/system/system_error.hpp>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace omp_co {

namespace detail {

/// A context for a blocking call, of which the calling thread keeps one for the next: to make one takes longer than many a region.
/// Only for operations of ours, after which nothing is left in it.
class borrowed_context {
public:
    borrowed_context()
    {
        if (!keeper_is_gone() && !registry::instance().forked()) context_ = std::move(keeper());
        if (context_ == nullptr) context_ = std::make_unique<offload_context>();
    }
    borrowed_context(borrowed_context const&) = delete;
    borrowed_context& operator=(borrowed_context const&) = delete;
    ~borrowed_context()
    {
        if (!ran_ || keeper_is_gone() || registry::instance().forked()) return;
        context_->restart();
        keeper() = std::move(context_);
    }

    asio::io_context::executor_type get_executor() const noexcept { return context_->get_executor(); }
    void run()
    {
        context_->run();
        ran_ = true;
    }

private:
    // Objects of the thread that go later may still make blocking calls.
    static bool& keeper_is_gone() noexcept
    {
        static thread_local constinit bool gone = false;
        return gone;
    }
    static std::unique_ptr<offload_context>& keeper()
    {
        struct kept {
            ~kept() { keeper_is_gone() = true; }
            std::unique_ptr<offload_context> context;
        };
        static thread_local kept mine;
        return mine.context;
    }

    std::unique_ptr<offload_context> context_;
    bool ran_ = false;
};

template <class Operation>
using blocking_context = std::conditional_t<is_one_region<Operation>, borrowed_context, offload_context>;

} // namespace detail

/// Runs an operation to its end on the calling thread, which drives progress meanwhile. Not for use inside an event
/// loop: the loop would stand still. Throws boost::system::system_error if the operation fails.
template <class Operation>
requires detail::completes_with_error_code<Operation>
void sync_wait(Operation const& op)
{
    error_code result;
    {
        detail::blocking_context<Operation> context;
        op(asio::bind_executor(context.get_executor(), [&](error_code ec) { result = ec; }));
        context.run();
    }
    if (result) throw boost::system::system_error(result);
}

/// The same for an operation that gives a value, such as allocate(), which it returns.
template <class Operation>
requires requires { typename Operation::value_type; }
typename Operation::value_type sync_wait(Operation const& op)
{
    error_code result;
    typename Operation::value_type value;
    {
        detail::blocking_context<Operation> context;
        op(asio::bind_executor(context.get_executor(), [&](error_code ec, typename Operation::value_type v) {
            result = ec;
            value = std::move(v);
        }));
        context.run();
    }
    if (result) throw boost::system::system_error(result);
    return value;
}

/// The same for an awaitable; returns its value and throws its exception.
template <class T, class Executor>
T sync_wait(asio::awaitable<T, Executor> task)
{
    offload_context context;
    std::exception_ptr failure;
    if constexpr (std::is_void_v<T>) {
        asio::co_spawn(context.get_executor(), std::move(task), [&](std::exception_ptr e) { failure = e; });
        context.run();
        if (failure) std::rethrow_exception(failure);
    } else {
        std::optional<T> result;
        asio::co_spawn(context.get_executor(), std::move(task), [&](std::exception_ptr e, T value) {
            failure = e;
            if (!e) result.emplace(std::move(value));
        });
        context.run();
        if (failure) std::rethrow_exception(failure);
        return std::move(*result);
    }
}

} // namespace omp_co
