// SPDX-License-Identifier: BSL-1.0
// The event loops that a test runs in, behind one interface.
#pragma once

#include <omp_co/omp_co.hpp>

#include <array>
#include <memory>
#include <ostream>
#include <thread>
#include <vector>

namespace omp_co_test {

namespace asio = boost::asio;

/// A loop that can be run once, to its end.
class test_loop {
public:
    test_loop() = default;
    test_loop(test_loop const&) = delete;
    test_loop& operator=(test_loop const&) = delete;
    virtual ~test_loop() = default;
    virtual asio::any_io_executor executor() = 0;
    virtual void run() = 0;
};

/// An io_context, or a kind of it, that `threads` threads run; handlers maybe on a strand.
template <class Context>
class context_loop final : public test_loop {
public:
    enum class strand { none, plain, erased };

    context_loop(unsigned threads, strand s) : threads_(threads), strand_(s) {}
    context_loop(unsigned threads, strand s, int hint) : context_(hint), threads_(threads), strand_(s) {}

    asio::any_io_executor executor() override
    {
        if (strand_ == strand::plain) return asio::make_strand(context_);
        if (strand_ == strand::erased)
            return asio::make_strand(asio::any_io_executor(context_.get_executor()));
        return context_.get_executor();
    }

    void run() override
    {
        std::vector<std::thread> others;
        for (unsigned i = 1; i < threads_; ++i) others.emplace_back([this] { context_.run(); });
        context_.run();
        for (std::thread& t : others) t.join();
    }

private:
    Context context_;
    unsigned threads_;
    strand strand_;
};

class pool_loop final : public test_loop {
public:
    explicit pool_loop(bool strand) : strand_(strand) {}

    asio::any_io_executor executor() override
    {
        if (strand_) return asio::make_strand(pool_);
        return pool_.get_executor();
    }
    void run() override { pool_.join(); }

private:
    asio::thread_pool pool_{4};
    bool strand_;
};

struct loop_kind {
    char const* name;
    std::unique_ptr<test_loop> (*make)();
    bool sequential; ///< no two handlers at once

    friend std::ostream& operator<<(std::ostream& out, loop_kind const& k) { return out << k.name; }
};

using io_loop = context_loop<asio::io_context>;
using offload_loop = context_loop<omp_co::offload_context>;

inline std::array<loop_kind, 9> const loop_kinds{{
    {"io_context",
     []() -> std::unique_ptr<test_loop> { return std::make_unique<io_loop>(1U, io_loop::strand::none); },
     true},
    {"io_context, four threads",
     []() -> std::unique_ptr<test_loop> { return std::make_unique<io_loop>(4U, io_loop::strand::none); },
     false},
    {"io_context, unsafe",
     []() -> std::unique_ptr<test_loop> {
         return std::make_unique<io_loop>(1U, io_loop::strand::none, BOOST_ASIO_CONCURRENCY_HINT_UNSAFE);
     },
     true},
    {"strand of an io_context, four threads",
     []() -> std::unique_ptr<test_loop> { return std::make_unique<io_loop>(4U, io_loop::strand::plain); },
     true},
    {"strand of an any_io_executor, four threads",
     []() -> std::unique_ptr<test_loop> { return std::make_unique<io_loop>(4U, io_loop::strand::erased); },
     true},
    {"thread_pool", []() -> std::unique_ptr<test_loop> { return std::make_unique<pool_loop>(false); }, false},
    {"strand of a thread_pool",
     []() -> std::unique_ptr<test_loop> { return std::make_unique<pool_loop>(true); }, true},
    {"offload_context",
     []() -> std::unique_ptr<test_loop> {
         return std::make_unique<offload_loop>(1U, offload_loop::strand::none);
     },
     true},
    {"strand of an offload_context",
     []() -> std::unique_ptr<test_loop> {
         return std::make_unique<offload_loop>(1U, offload_loop::strand::plain);
     },
     true},
}};

} // namespace omp_co_test
