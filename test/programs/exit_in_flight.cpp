// SPDX-License-Identifier: BSL-1.0
// Programs that end while regions are in flight: in main, in handlers, with devices and contexts in globals. None
// crashes, none hangs, in a hundred runs.
#include "child_process.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/use_future.hpp>
#include <omp_co/omp_co.hpp>

#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <thread>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using omp_co::error_code;

// Destroyed after what is below it, which works on it.
std::vector<int> global_data(1'000, 1);
std::optional<omp_co::host::virtual_device> global_device;
std::optional<asio::io_context> global_io;
std::optional<omp_co::offload_context> global_offload;

void compute_for(std::chrono::nanoseconds time)
{
    for (auto const end = std::chrono::steady_clock::now() + time; std::chrono::steady_clock::now() < end;) {}
}

struct slow_kernel {
    void operator()(int* p) const
    {
        compute_for(100us);
        ++p[0];
        ++p[999];
    }
};

auto work_on_globals(omp_co::device d) { return omp_co::target(d, slow_kernel(), omp_co::tofrom(global_data)); }

/// Starts the next region when one has ended, for as long as that goes.
struct endless {
    omp_co::device device;
    asio::io_context::executor_type executor;

    void operator()(error_code ec) const
    {
        if (!ec) work_on_globals(device)(asio::bind_executor(executor, *this));
    }
};

// The handlers of a library thread that is busy when main returns.
void main_returns_with_detached_regions()
{
    for (int i = 0; i < 20; ++i) work_on_globals(omp_co::default_device())(asio::detached);
}

void main_returns_with_futures()
{
    std::vector<std::future<void>> futures;
    for (int i = 0; i < 20; ++i) futures.push_back(work_on_globals(omp_co::default_device())(asio::use_future));
    futures.front().wait();
}

void main_returns_with_a_local_context()
{
    asio::io_context context;
    for (int i = 0; i < 20; ++i)
        work_on_globals(omp_co::default_device())(asio::bind_executor(context.get_executor(), asio::detached));
    context.run_one();
}

void main_returns_with_a_global_device()
{
    global_device.emplace(omp_co::host::options{.workers = 2});
    for (int i = 0; i < 20; ++i) work_on_globals(*global_device)(asio::detached);
}

template <class Context>
void in_global_context(std::optional<Context>& context, omp_co::device d)
{
    context.emplace();
    auto const owned = std::make_shared<std::vector<int>>(100);
    for (int i = 0; i < 20; ++i)
        work_on_globals(d)(asio::bind_executor(context->get_executor(), [owned](error_code) { (*owned)[0] = 1; }));
    context->run_one();
}

void main_returns_with_a_global_io_context() { in_global_context(global_io, omp_co::default_device()); }
void main_returns_with_a_global_offload_context() { in_global_context(global_offload, omp_co::default_device()); }

void main_returns_with_a_global_context_and_a_global_device()
{
    global_device.emplace(omp_co::host::options{.workers = 1});
    in_global_context(global_offload, *global_device);
}

// Here the device goes before the library closes, and the context before the device.
void main_returns_with_a_static_device_and_context()
{
    static omp_co::host::virtual_device device({.workers = 1});
    static omp_co::offload_context context;
    for (int i = 0; i < 20; ++i)
        work_on_globals(device)(asio::bind_executor(context.get_executor(), asio::detached));
    work_on_globals(device)(asio::detached);
    context.run_one();
}

// And here the other way round.
void main_returns_with_a_static_context_and_device()
{
    static asio::io_context context;
    static omp_co::host::virtual_device device({.workers = 1});
    for (int i = 0; i < 20; ++i)
        work_on_globals(device)(asio::bind_executor(context.get_executor(), asio::detached));
    work_on_globals(device)(asio::detached);
    context.run_one();
}

void main_returns_with_coroutines_in_a_global_context()
{
    global_io.emplace();
    global_device.emplace(omp_co::host::options{.workers = 1});
    for (int i = 0; i < 4; ++i)
        asio::co_spawn(
            *global_io,
            []() -> asio::awaitable<void> {
                for (;;) co_await work_on_globals(*global_device);
            },
            asio::detached);
    global_io->run_for(3ms);
}

void main_returns_inside_target_data()
{
    global_offload.emplace();
    asio::co_spawn(
        *global_offload,
        []() -> asio::awaitable<void> {
            auto body = []() -> asio::awaitable<void> {
                for (;;) co_await work_on_globals(omp_co::default_device());
            };
            co_await omp_co::target_data(omp_co::default_device(), omp_co::tofrom(global_data), body);
        },
        asio::detached);
    global_offload->run_for(3ms);
}

void exit_in_a_handler_of_a_loop()
{
    asio::io_context context;
    for (int i = 0; i < 20; ++i)
        work_on_globals(omp_co::default_device())(asio::bind_executor(context.get_executor(), [i](error_code) {
            if (i == 5) std::exit(0);
        }));
    context.run();
}

void exit_in_a_handler_of_an_offload_context()
{
    global_offload.emplace();
    for (int i = 0; i < 20; ++i)
        work_on_globals(omp_co::default_device())(asio::bind_executor(global_offload->get_executor(), [i](error_code) {
            if (i == 5) std::exit(0);
        }));
    global_offload->run();
}

void exit_in_a_coroutine()
{
    global_offload.emplace();
    asio::co_spawn(
        *global_offload,
        []() -> asio::awaitable<void> {
            for (int i = 0; i < 5; ++i) co_await work_on_globals(omp_co::default_device());
            work_on_globals(omp_co::default_device())(asio::detached);
            std::exit(0);
        },
        asio::detached);
    global_offload->run();
}

// On the library's own thread, which the exit handlers would otherwise join.
void exit_in_a_handler_without_a_context()
{
    for (int i = 0; i < 20; ++i)
        work_on_globals(omp_co::default_device())([i](error_code) {
            if (i == 5) std::exit(0);
        });
    std::this_thread::sleep_for(std::chrono::hours(1));
}

void exit_while_another_thread_runs_a_loop()
{
    global_io.emplace();
    for (int i = 0; i < 4; ++i)
        endless{omp_co::default_device(), global_io->get_executor()}({});
    auto* const context = new asio::io_context; // outlives the thread that runs it
    for (int i = 0; i < 4; ++i) endless{omp_co::default_device(), context->get_executor()}({});
    std::thread([context] { context->run(); }).detach();
    std::this_thread::sleep_for(2ms);
}

void exit_while_another_thread_starts_regions()
{
    std::thread([] {
        for (;;) {
            try {
                omp_co::sync_wait(work_on_globals(omp_co::default_device()));
            } catch (boost::system::system_error const&) {
                return; // the program is on its way out
            }
        }
    }).detach();
    std::this_thread::sleep_for(2ms);
}

void main_returns_from_inside_a_group()
{
    static omp_co::offload_context context;
    static omp_co::task_group group(context.get_executor());
    for (int i = 0; i < 20; ++i) group.spawn(work_on_globals(omp_co::default_device()));
    context.run_one();
}

// A static object whose destructor still computes, before the library has closed.
struct computes_at_exit {
    ~computes_at_exit()
    {
        int sum = 0;
        auto const kernel = [](int* scratch, int* s) {
            for (int i = 0; i < 1'000; ++i) scratch[i] = i;
            for (int i = 0; i < 1'000; ++i) *s += scratch[i];
        };
        try {
            omp_co::sync_wait(omp_co::target(device, kernel, omp_co::private_<int>(1'000), omp_co::tofrom(sum)));
            if (sum != 499'500) std::_Exit(3);
        } catch (boost::system::system_error const& e) {
            if (e.code() != omp_co::errc::shutting_down) std::_Exit(4);
        }
    }
    omp_co::host::virtual_device device{{.workers = 0}};
};

void a_static_destructor_computes_with_private_memory()
{
    static computes_at_exit last;
    int dummy = 0;
    // Makes the thread's private memory, which goes before static objects do.
    omp_co::sync_wait(omp_co::target(
        last.device, [](int* scratch, int* d) { *d = scratch[0] = 1; }, omp_co::private_<int>(2'000), omp_co::tofrom(dummy)));
}

// New work in destructors that run after the library has closed is refused.
struct asks_too_late {
    ~asks_too_late()
    {
        try {
            omp_co::sync_wait(omp_co::target([] {}));
            std::_Exit(5);
        } catch (boost::system::system_error const& e) {
            if (e.code() != omp_co::errc::shutting_down && e.code() != omp_co::errc::device_lost) std::_Exit(6);
        }
        try {
            omp_co::host::virtual_device const device({.workers = 1});
            omp_co::sync_wait(omp_co::target(device.get(), [] {}));
            std::_Exit(7);
        } catch (boost::system::system_error const&) {
        }
    }
};

void work_after_the_end_is_refused()
{
    static asks_too_late constructed_before_the_first_use;
    omp_co::sync_wait(omp_co::target([] {}));
}

// Waits in a static destructor, after the library has closed, for operations that its own thread serves: each is over, and a new
// one is refused.
struct waits_too_late {
    ~waits_too_late()
    {
        for (std::future<void>& f : started) {
            try {
                f.get();
            } catch (std::future_error const&) { // the handler is gone
            } catch (boost::system::system_error const&) {
            }
        }
        try {
            omp_co::target([] {})(asio::use_future).get();
            std::_Exit(8);
        } catch (boost::system::system_error const& e) {
            if (e.code() != omp_co::errc::shutting_down && e.code() != omp_co::errc::device_lost)
                std::_Exit(9);
        }
        std::promise<error_code> told;
        omp_co::target([] {})([&](error_code ec) { told.set_value(ec); });
        if (!told.get_future().get()) std::_Exit(10);
    }
    std::vector<std::future<void>> started;
};

void start_what_nobody_serves(waits_too_late& late)
{
    for (int i = 0; i < 20; ++i)
        late.started.push_back(work_on_globals(omp_co::default_device())(asio::use_future));
    // Behind something that is never done.
    static omp_co::external_event never;
    int place = 0;
    late.started.push_back(
        omp_co::host_task([] {}, omp_co::detach(never), omp_co::depend_out(place))(asio::use_future));
    late.started.push_back(omp_co::target([] {}, omp_co::depend_in(place))(asio::use_future));
}

void a_static_destructor_waits_for_futures()
{
    static waits_too_late constructed_before_the_first_use;
    start_what_nobody_serves(constructed_before_the_first_use);
}

void a_static_destructor_waits_after_an_exit_in_a_handler()
{
    static waits_too_late constructed_before_the_first_use;
    start_what_nobody_serves(constructed_before_the_first_use);
    work_on_globals(omp_co::default_device())([](error_code) { std::exit(0); });
    std::this_thread::sleep_for(std::chrono::hours(1));
}

struct mode {
    char const* name;
    void (*run)();
};

constexpr mode modes[] = {
    {"main_returns_with_detached_regions", main_returns_with_detached_regions},
    {"main_returns_with_futures", main_returns_with_futures},
    {"main_returns_with_a_local_context", main_returns_with_a_local_context},
    {"main_returns_with_a_global_device", main_returns_with_a_global_device},
    {"main_returns_with_a_global_io_context", main_returns_with_a_global_io_context},
    {"main_returns_with_a_global_offload_context", main_returns_with_a_global_offload_context},
    {"main_returns_with_a_global_context_and_a_global_device",
     main_returns_with_a_global_context_and_a_global_device},
    {"main_returns_with_a_static_device_and_context", main_returns_with_a_static_device_and_context},
    {"main_returns_with_a_static_context_and_device", main_returns_with_a_static_context_and_device},
    {"main_returns_with_coroutines_in_a_global_context", main_returns_with_coroutines_in_a_global_context},
    {"main_returns_inside_target_data", main_returns_inside_target_data},
    {"main_returns_from_inside_a_group", main_returns_from_inside_a_group},
    {"exit_in_a_handler_of_a_loop", exit_in_a_handler_of_a_loop},
    {"exit_in_a_handler_of_an_offload_context", exit_in_a_handler_of_an_offload_context},
    {"exit_in_a_coroutine", exit_in_a_coroutine},
    {"exit_in_a_handler_without_a_context", exit_in_a_handler_without_a_context},
    {"exit_while_another_thread_runs_a_loop", exit_while_another_thread_runs_a_loop},
    {"exit_while_another_thread_starts_regions", exit_while_another_thread_starts_regions},
    {"a_static_destructor_computes_with_private_memory", a_static_destructor_computes_with_private_memory},
    {"work_after_the_end_is_refused", work_after_the_end_is_refused},
    {"a_static_destructor_waits_for_futures", a_static_destructor_waits_for_futures},
    {"a_static_destructor_waits_after_an_exit_in_a_handler",
     a_static_destructor_waits_after_an_exit_in_a_handler},
};

} // namespace

int main(int argc, char** argv)
{
    if (argc == 2) {
        for (mode const& m : modes)
            if (std::string(argv[1]) == m.name) m.run();
        return 0;
    }
    int const runs = child_process::sanitized ? 2 : 8; // a hundred and more together
    for (mode const& m : modes) {
        for (int i = 0; i < runs; ++i) {
            std::string const ending = child_process::rerun({m.name});
            child_process::check(ending.empty(), std::string(m.name) + ", run " + std::to_string(i + 1) + ": " + ending);
            if (!ending.empty()) break; // a mode that hangs would hang again
        }
    }
    return child_process::result();
}
