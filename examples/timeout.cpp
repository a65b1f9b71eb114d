// SPDX-License-Identifier: BSL-1.0
// A deadline by cancellation. A region that runs cannot be recalled, so a deadline does two things: the await
// ends as soon as the device has let go of the memory, and nothing more is started.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <omp_co/omp_co.hpp>
#include <stdexcept>
#include <thread>
#include <vector>

namespace asio = boost::asio;
using namespace asio::experimental::awaitable_operators;
using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

namespace {

int milliseconds_since(clock_type::time_point start)
{
    return static_cast<int>((clock_type::now() - start) / 1ms);
}

void require(bool condition, char const* what)
{
    if (!condition) throw std::runtime_error(what);
}

// Stands for a long kernel: fills the array for `pause`, then leaves a mark in the last element.
struct slow_kernel {
    std::chrono::milliseconds pause;

    void operator()(int* data, std::size_t size) const
    {
        for (auto const end = clock_type::now() + pause; clock_type::now() < end;) {
            for (std::size_t i = 0; i < size; ++i) data[i] = static_cast<int>(i);
            std::this_thread::sleep_for(1ms);
        }
        data[size - 1] = -1;
    }
};

// One region against a deadline; tells whether the deadline came first.
asio::awaitable<bool> one_region(omp_co::device dev, slow_kernel kernel, std::chrono::milliseconds deadline)
{
    auto data = std::make_unique<std::vector<int>>(1 << 14);
    asio::steady_timer timer(co_await asio::this_coro::executor, deadline);
    auto const start = clock_type::now();

    auto region = omp_co::target(dev, kernel, omp_co::tofrom(*data), omp_co::firstprivate(data->size()));
    auto const winner = co_await (region(asio::use_awaitable) || timer.async_wait(asio::use_awaitable));
    int const took = milliseconds_since(start);
    bool const late = winner.index() == 1;

    // Either way nothing on the device touches the array any more: reading and freeing it are safe.
    require(data->back() == -1, "the await ended before the region did");
    data.reset();
    std::printf("%3d ms region, deadline %3d ms: %s; the await ended after %d ms, memory freed\n",
                static_cast<int>(kernel.pause / 1ms), static_cast<int>(deadline / 1ms),
                late ? "the deadline came first" : "done in time", took);
    co_return late;
}

asio::awaitable<void> chain(omp_co::device dev, slow_kernel kernel, int length, int& finished,
                            std::vector<int>& data)
{
    for (int k = 0; k < length; ++k) {
        co_await omp_co::target(dev, kernel, omp_co::tofrom(data), omp_co::firstprivate(data.size()));
        ++finished;
    }
}

// Many short regions against a deadline: the chain stops after the region that was running.
asio::awaitable<void> many_regions(omp_co::device dev)
{
    constexpr int length = 40;
    int finished = 0;
    std::vector<int> data(1 << 10);
    asio::steady_timer timer(co_await asio::this_coro::executor, 50ms);
    auto const start = clock_type::now();

    slow_kernel const kernel{10ms};
    auto const winner =
        co_await (chain(dev, kernel, length, finished, data) || timer.async_wait(asio::use_awaitable));

    std::printf("%d regions of 10 ms, deadline  50 ms: stopped after %d of them and %d ms\n", length,
                finished, milliseconds_since(start));
    require(winner.index() == 1 && finished < length, "the deadline did not stop the chain");
}

asio::awaitable<void> run(omp_co::device dev)
{
    slow_kernel const quick{5ms};
    slow_kernel const slow{120ms};
    bool const quick_was_late = co_await one_region(dev, quick, 2000ms);
    require(!quick_was_late, "a short region missed a long deadline");
    bool const slow_was_late = co_await one_region(dev, slow, 30ms);
    require(slow_was_late, "a long region met a short deadline");
    co_await many_regions(dev);
}

} // namespace

int main()
{
    asio::io_context io;
    int status = EXIT_SUCCESS;
    asio::co_spawn(io, run(omp_co::default_device()), [&status](std::exception_ptr error) {
        if (!error) return;
        status = EXIT_FAILURE;
        try {
            std::rethrow_exception(error);
        } catch (std::exception const& e) {
            std::fprintf(stderr, "%s\n", e.what());
        }
    });
    io.run();
    if (status == EXIT_SUCCESS) std::puts("ok");
    return status;
}
