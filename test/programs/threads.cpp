// SPDX-License-Identifier: BSL-1.0
// The library starts no thread before its first use, only the threads that the use needs, and leaves none when the
// program's exit handlers have run.
#include "child_process.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/use_future.hpp>
#include <chrono>
#include <omp_co/omp_co.hpp>
#include <thread>

namespace {

namespace asio = boost::asio;
using child_process::check;
using child_process::threads;

// Constructed before main, destroyed after everything that omp_co registered later.
struct last_look {
    last_look() { (void)at_start(); }
    ~last_look()
    {
        if (threads() == at_start()) return;
        std::fprintf(stderr, "failed: %zu threads are left\n", threads());
        std::_Exit(EXIT_FAILURE);
    }

    /// A sanitizer has one of its own from the program's first thread on.
    static std::size_t at_start()
    {
        static std::size_t const n = [] {
            std::thread([] {}).join();
            std::this_thread::sleep_for(std::chrono::milliseconds(20)); // until the system has forgotten it
            return threads();
        }();
        return n;
    }
};

last_look const look;

void first_use()
{
    std::size_t const before = last_look::at_start();
    check(threads() == before, "a thread before the first use");
    asio::io_context context;
    [[maybe_unused]] auto const not_started = omp_co::target([] {});
    check(threads() == before, "an operation that is not started starts a thread");
    omp_co::host::virtual_device inline_device({.workers = 0});
    omp_co::target(inline_device, [] {})(asio::bind_executor(context.get_executor(), asio::detached));
    context.run();
    check(threads() == before, "an inline device starts a thread");
    {
        omp_co::host::virtual_device device({.workers = 2});
        check(threads() == before + 2, "a device starts its workers and no other thread");
        omp_co::sync_wait(omp_co::target(device, [] {}));
        check(threads() == before + 2, "sync_wait starts a thread");
    }
    check(threads() == before, "a device ends its workers");
    omp_co::target(inline_device, [] {})(asio::use_future).get();
    check(threads() == before + 1, "a handler without a context is served by one thread");
    omp_co::target(inline_device, [] {})(asio::use_future).get();
    check(threads() == before + 1, "and that one serves all");
    omp_co::sync_wait(omp_co::target([] {}));
    check(threads() > before + 1, "the default device has workers");
    for (int i = 0; i < 10; ++i) omp_co::target([] {})(asio::detached);
}

} // namespace

int main()
{
    first_use();
    return child_process::result();
}
