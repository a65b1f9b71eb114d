// SPDX-License-Identifier: BSL-1.0
// A child that was forked after omp_co's first use gets errc::forked from every construct; it neither hangs nor
// crashes, also when it destroys what it inherited. The parent goes on.
#include "child_process.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <omp_co/omp_co.hpp>

#include <atomic>
#include <memory>
#include <optional>
#include <thread>

// What only the parent's other threads know is lost in a child and no leak.
static bool in_forked_child = false;
extern "C" int __lsan_is_turned_off();
extern "C" int __lsan_is_turned_off() { return in_forked_child ? 1 : 0; }

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using child_process::check;
using omp_co::errc;
using omp_co::error_code;

struct noop {
    void operator()() const {}
};

template <class F>
error_code code_of(F f)
{
    try {
        f();
        return {};
    } catch (boost::system::system_error const& e) {
        return e.code();
    }
}

/// What `op` ends with in a loop of the child's own.
template <class Context, class Operation>
error_code in_loop(Operation const& op)
{
    error_code result;
    Context context;
    op(asio::bind_executor(context.get_executor(), [&](error_code ec) { result = ec; }));
    context.run();
    return result;
}

template <class Operation>
void every_way(Operation const& op, std::string const& what)
{
    check(code_of([&] { omp_co::sync_wait(op); }) == errc::forked, what + " by sync_wait");
    check(in_loop<asio::io_context>(op) == errc::forked, what + " in an io_context");
    check(in_loop<omp_co::offload_context>(op) == errc::forked, what + " in an offload_context");
    check(code_of([&] { op(asio::use_future).get(); }) == errc::forked, what + " by use_future");
}

asio::awaitable<int> in_data_region(omp_co::device d, std::vector<int>& x)
{
    auto body = []() -> asio::awaitable<int> { co_return 1; };
    int const value = co_await omp_co::target_data(d, omp_co::to(x), body);
    co_return value;
}

asio::awaitable<void> wait_for(omp_co::task_group& g) { co_await g.wait(); }

void every_construct(omp_co::device d)
{
    std::vector<int> x(10);
    every_way(omp_co::target(d, noop{}), "target");
    every_way(omp_co::target(noop{}), "target on the default device");
    every_way(omp_co::target(d, [](int*) {}, omp_co::tofrom(x)), "target with data");
    every_way(omp_co::target(d, noop{}, omp_co::if_(false)), "target on the initial device");
    every_way(omp_co::target_enter_data(d, omp_co::to(x)), "target_enter_data");
    every_way(omp_co::target_exit_data(d, omp_co::from(x)), "target_exit_data");
    every_way(omp_co::target_update(d, omp_co::to(x)), "target_update");
    every_way(omp_co::when_all(omp_co::target(d, noop{}), omp_co::target(d, noop{})), "when_all");
    check(code_of([&] { (void)omp_co::sync_wait(in_data_region(d, x)); }) == errc::forked, "target_data");

    omp_co::offload_context context;
    omp_co::task_group group(context.get_executor());
    group.spawn(omp_co::target(d, noop{}));
    error_code of_group;
    asio::co_spawn(context, wait_for(group), [&](std::exception_ptr e) {
        of_group = code_of([&] {
            if (e) std::rethrow_exception(e);
        });
    });
    context.run();
    check(of_group == errc::forked, "task_group");

    omp_co::host::virtual_device fresh({.workers = 1});
    check(code_of([&] { omp_co::sync_wait(omp_co::target(fresh.get(), noop{})); }) == errc::forked,
          "target on a device of the child's own");
    omp_co::diagnostics why;
    check(code_of([&] { omp_co::sync_wait(omp_co::target(d, noop{}, omp_co::explain(why))); }) == errc::forked &&
              why.message().find("fork") != std::string::npos,
          "diagnostics say what happened: " + why.message());
}

void ask_handles(omp_co::device d)
{
    int x = 0;
    (void)d.is_present(&x);
    (void)d.mapped_ptr(&x);
    (void)d.statistics();
    (void)d.name();
    (void)d.number();
    (void)omp_co::devices();
    (void)omp_co::default_device();
    (void)omp_co::initial_device();
}

/// Runs `f` in a forked child that exits as programs do.
template <class F>
void in_child(std::string const& what, F f)
{
    std::fflush(nullptr);
    pid_t const child = fork();
    if (child == 0) {
        in_forked_child = true;
        (void)alarm(child_process::patience_seconds);
        child_process::failures = 0;
        f();
        std::exit(child_process::result());
    }
    std::string const ending = child_process::ending_of(child);
    check(ending.empty(), what + ": " + ending);
}

void constructs_in_a_child()
{
    omp_co::host::virtual_device device({.workers = 2});
    omp_co::host::virtual_device inline_device({.workers = 0});
    omp_co::sync_wait(omp_co::target(device, noop{}));
    omp_co::sync_wait(omp_co::target(noop{}));
    omp_co::sync_wait(omp_co::target(inline_device, noop{}));
    in_child("on a device with workers", [&] { every_construct(device); });
    in_child("on an inline device", [&] { every_construct(inline_device); });
    in_child("on the default device", [] { every_construct(omp_co::default_device()); });
    in_child("on the initial device", [] { every_construct(omp_co::initial_device()); });
    in_child("questions to handles", [&] { ask_handles(device); });
    in_child("a child of the child", [&] { in_child("on a device", [&] { every_construct(device); }); });
    omp_co::sync_wait(omp_co::target(device, noop{})); // the parent is none the worse
}

// The library's thread exists in the parent only.
void handlers_without_a_context()
{
    omp_co::host::virtual_device device({.workers = 1});
    omp_co::target(device, noop{})(asio::use_future).get();
    in_child("a callback without a context", [&] {
        std::atomic<int> called{0};
        omp_co::target(device, noop{})([&](error_code ec) {
            check(ec == errc::forked, "the callback's code");
            called = 1;
            called.notify_one();
        });
        called.wait(0);
    });
}

// Everything is destroyed in the child while the parent has regions in flight on it.
void inherited_objects_are_destroyed()
{
    auto device = std::make_unique<omp_co::host::virtual_device>(omp_co::host::options{.workers = 1});
    auto io = std::make_unique<asio::io_context>();
    auto own = std::make_unique<omp_co::offload_context>();
    auto group = std::make_unique<omp_co::task_group>(own->get_executor());
    std::vector<int> data(1'000);
    omp_co::sync_wait(omp_co::target_enter_data(*device, omp_co::to(data)));
    std::atomic<bool> hold{true};
    int done = 0;
    auto const count = [&](error_code ec) { done += ec ? 0 : 1; };
    omp_co::target(*device, [&hold] { hold.wait(true); })(asio::bind_executor(io->get_executor(), count));
    auto const region = omp_co::target(*device, [](int* p) { ++*p; }, omp_co::tofrom(data));
    for (int i = 0; i < 10; ++i) region(asio::bind_executor(i % 2 == 0 ? io->get_executor() : own->get_executor(), count));
    group->spawn(region);
    in_child("objects with regions in flight", [&] {
        group.reset();
        own.reset();
        io.reset();
        device.reset();
    });
    in_child("the other way round", [&] {
        device.reset();
        io.reset();
        own.reset();
        group.reset();
    });
    in_child("contexts are left alone and the child exits", [] {});
    in_child("inherited contexts are run", [&] {
        io->notify_fork(asio::execution_context::fork_child);
        own->notify_fork(asio::execution_context::fork_child);
        (void)io->poll();
        (void)own->poll();
    });
    hold = false;
    hold.notify_all();
    io->run();
    own->run();
    check(done == 11, "the parent's regions ended: " + std::to_string(done));
    omp_co::sync_wait(omp_co::target_exit_data(*device, omp_co::delete_(data)));
}

// Whatever lock another thread has at the moment of the fork, the child does not need it.
void forks_amid_traffic()
{
    omp_co::host::virtual_device device({.workers = 1});
    std::atomic<bool> over{false};
    std::vector<std::thread> threads;
    threads.emplace_back([&] {
        while (!over) omp_co::sync_wait(omp_co::target(device, noop{}));
    });
    threads.emplace_back([&] {
        while (!over) omp_co::target(device, noop{})(asio::use_future).get();
    });
    threads.emplace_back([&] {
        while (!over) {
            (void)omp_co::devices();
            (void)omp_co::default_device();
        }
    });
    int const forks = child_process::sanitized ? 20 : 200;
    for (int i = 0; i < forks && child_process::failures == 0; ++i)
        in_child("amid traffic, fork " + std::to_string(i + 1), [&] {
            (void)alarm(10);
            check(in_loop<asio::io_context>(omp_co::target(device, noop{})) == errc::forked, "target");
            ask_handles(device);
        });
    over = true;
    for (std::thread& t : threads) t.join();
}

// Another thread may be inside a group.
void forks_amid_groups()
{
    omp_co::host::virtual_device device({.workers = 1});
    int const forks = child_process::sanitized ? 20 : 200;
    for (int i = 0; i < forks && child_process::failures == 0; ++i) {
        auto io = std::make_unique<asio::io_context>();
        auto group = std::make_unique<omp_co::task_group>(io->get_executor());
        std::atomic<bool> over{false};
        auto const in_group = [&]() -> asio::awaitable<void> {
            while (!over) {
                for (int n = 0; n < 4; ++n) group->spawn(omp_co::target(device, noop{}));
                omp_co::task_group inner(co_await asio::this_coro::executor);
                inner.spawn(omp_co::target(device, noop{}));
                co_await inner.wait();
                co_await group->wait();
            }
        };
        asio::co_spawn(*io, in_group(), asio::detached);
        std::thread runs([&] { io->run(); });
        std::this_thread::sleep_for(std::chrono::microseconds(200 + 37 * i));
        in_child("amid groups, fork " + std::to_string(i + 1), [&] {
            (void)alarm(10);
            group->cancel();
            group.reset();
            (void)io.release(); // Asio's locks may be taken too
        });
        over = true;
        runs.join();
    }
}

// With Asio told of the fork, what a child inherited goes on where it can: here nothing but a timer.
void groups_in_a_child()
{
    asio::io_context io;
    omp_co::task_group group(io.get_executor());
    bool waited = false;
    auto const timer = []() -> asio::awaitable<void> {
        asio::steady_timer t(co_await asio::this_coro::executor, 20ms);
        co_await t.async_wait(asio::use_awaitable);
    };
    auto const waits = [&](omp_co::task_group& g) -> asio::awaitable<void> {
        co_await g.wait();
        waited = true;
    };
    group.spawn(timer());
    asio::co_spawn(io, waits(group), asio::detached);
    io.poll();
    in_child("an inherited group", [&] {
        io.notify_fork(asio::execution_context::fork_child);
        io.run();
        check(waited, "it was waited for");
    });
    io.run();
    in_child("a group of its own", [&] {
        asio::io_context own;
        omp_co::task_group mine(own.get_executor());
        waited = false;
        mine.spawn(timer());
        asio::co_spawn(own, waits(mine), asio::detached);
        own.poll();
        check(!waited, "it waits");
        own.run();
        check(waited, "it was waited for");
    });
}

// The library's thread is being started when another thread forks.
int forks_at_the_first_use()
{
    std::atomic<bool> begun{false};
    std::thread first([&] {
        begun = true;
        omp_co::target(noop{})(asio::use_future).get();
    });
    while (!begun) {
    }
    for (int i = 0; i < 20; ++i) in_child("a child of the first use", [] {});
    first.join();
    return child_process::result();
}

// Before anything of omp_co is used a fork is none of its business.
int fork_before_use()
{
    in_child("a child that is the first to use omp_co", [] {
        int x = 1;
        omp_co::sync_wait(omp_co::target([](int* p) { ++*p; }, omp_co::tofrom(x)));
        check(x == 2, "its region ran");
    });
    int x = 1;
    omp_co::sync_wait(omp_co::target([](int* p) { ++*p; }, omp_co::tofrom(x)));
    check(x == 2, "the parent's region ran");
    return child_process::result();
}

} // namespace

int main(int argc, char** argv)
{
#if OMP_CO_TEST_THREAD_SANITIZER
    std::puts("skipped: ThreadSanitizer does not support threads in a forked child");
    return child_process::skipped;
#endif
    if (argc == 2) return std::string(argv[1]) == "before" ? fork_before_use() : forks_at_the_first_use();
    check(child_process::rerun({"before"}).empty(), "fork before the first use");
    for (int i = 0; i < 20 && child_process::failures == 0; ++i)
        check(child_process::rerun({"at"}).empty(), "forks at the first use");
    constructs_in_a_child();
    handlers_without_a_context();
    inherited_objects_are_destroyed();
    forks_amid_traffic();
    forks_amid_groups();
    groups_in_a_child();
    return child_process::result();
}
