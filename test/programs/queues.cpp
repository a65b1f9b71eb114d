// SPDX-License-Identifier: BSL-1.0
// Queues in a process of their own: OMP_CO_ASYNC=0, what is said of errors that nobody was told, and programs that end with
// work in flight.
#include "child_process.hpp"

#include <omp_co/omp_co.hpp>

#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_future.hpp>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using child_process::check;
using omp_co::error_code;

std::vector<int> global_data(1'000, 1); // destroyed after what is below it
std::optional<omp_co::host::virtual_device> global_device;
std::optional<asio::io_context> global_io;
std::optional<omp_co::queue> global_queue;

auto const slow = [](int* p) {
    for (auto const end = std::chrono::steady_clock::now() + 100us; std::chrono::steady_clock::now() < end;) {
    }
    ++p[0];
    ++p[999];
};

// As long as nothing is copied back, a queue that does not wait has none of this done when it is asked.
int every_construct_is_waited_for()
{
    omp_co::host::virtual_device device({.workers = 1});
    omp_co::device const dev = device;
    omp_co::queue q(dev);
    static std::atomic<int> ran{0};
    auto const late = [](int* p) {
        std::this_thread::sleep_for(5ms);
        ++*p;
        ++ran;
    };
    int x = 1;
    omp_co::sync_wait(omp_co::target_enter_data(q, omp_co::to(x)));
    for (int k = 1; k <= 5; ++k) {
        omp_co::sync_wait(omp_co::target(q, late, omp_co::tofrom(x)));
        check(ran == k, "a construct is over before its kernel");
        check(dev.statistics().in_flight == 0, "something is in flight after an await");
    }
    omp_co::diagnostics why;
    try {
        omp_co::sync_wait(omp_co::target(
            q, [] { throw std::runtime_error("these words"); }, omp_co::explain(why)));
        check(false, "a failure is not told by its own construct");
    } catch (boost::system::system_error const& e) {
        check(e.code() == omp_co::errc::kernel_failed, e.what());
        check(why.message().find("these words") != std::string::npos, why.message());
    }
    omp_co::sync_wait(omp_co::target(q, late, omp_co::tofrom(x))); // and stops nothing
    check(ran == 6, "what comes after a failure that was told does not run");
    omp_co::sync_wait(omp_co::target_exit_data(q, omp_co::from(x)));
    check(x == 7, "x is " + std::to_string(x));
    return child_process::result();
}

// And with it nobody waits: the kernel ends only after its await.
int constructs_are_not_waited_for()
{
    static std::atomic<bool> open{false};
    static std::atomic<int> ran{0};
    omp_co::host::virtual_device device({.workers = 1});
    omp_co::queue q(device);
    omp_co::sync_wait(omp_co::target(q, [] {
        open.wait(false);
        ++ran;
    }));
    check(ran == 0, "a construct that brings nothing back was waited for");
    open = true;
    open.notify_all();
    omp_co::sync_wait(q.synchronize());
    check(ran == 1, "synchronize does not wait");
    return child_process::result();
}

// Everything runs on the host, and in the queue's order all the same.
int disabled_queues_keep_their_order()
{
    omp_co::queue q(omp_co::default_device());
    int tag = 0;
    int x = 1;
    auto const twice = [](int* p) { *p *= 2; };
    omp_co::external_event event;
    auto task = omp_co::host_task([] {}, omp_co::depend_out(tag), omp_co::detach(event))(asio::use_future);
    auto late = omp_co::target(q, twice, omp_co::tofrom(x), omp_co::depend_in(tag))(asio::use_future);
    std::thread other([&] {
        std::this_thread::sleep_for(20ms);
        event.fulfill();
    });
    omp_co::sync_wait(omp_co::target_update(q, omp_co::from(x)));
    check(x == 2, "an update does not wait for what the queue has before it");
    omp_co::sync_wait(q.synchronize());
    other.join();
    late.get();
    task.get();
    return child_process::result();
}

void nobody_is_told()
{
    omp_co::set_info(0x04);
    omp_co::host::virtual_device device({.workers = 1});
    omp_co::queue q(device);
    omp_co::sync_wait(omp_co::target(q, [] { throw std::runtime_error("boo"); }));
}

void a_handler_is_told()
{
    omp_co::set_info(0x04);
    omp_co::host::virtual_device device({.workers = 1});
    omp_co::queue q(device, [](error_code) {});
    omp_co::sync_wait(omp_co::target(q, [] { throw std::runtime_error("boo"); }));
}

template <class Token>
void start_work(omp_co::queue const& q, Token token)
{
    omp_co::target_enter_data(q, omp_co::to(global_data))(token);
    for (int i = 0; i < 20; ++i) omp_co::target(q, slow, omp_co::tofrom(global_data))(token);
    omp_co::target_exit_data(q, omp_co::from(global_data))(token);
}

void main_returns_with_a_local_queue()
{
    omp_co::queue q(omp_co::default_device());
    start_work(q, asio::detached);
}

void main_returns_with_a_global_queue()
{
    global_queue.emplace(omp_co::default_device());
    start_work(*global_queue, asio::detached);
}

void main_returns_with_a_global_queue_and_device()
{
    global_device.emplace(omp_co::host::options{.workers = 2});
    global_queue.emplace(*global_device);
    start_work(*global_queue, asio::detached);
}

void main_returns_with_a_static_queue_that_outlives_its_device()
{
    static std::optional<omp_co::queue> queue;
    static omp_co::host::virtual_device device({.workers = 1});
    queue.emplace(device);
    start_work(*queue, asio::detached);
}

void main_returns_with_a_queue_that_failed()
{
    global_queue.emplace(omp_co::default_device(), [](error_code) {});
    omp_co::target(*global_queue, [] { throw 1; })(asio::detached);
    start_work(*global_queue, asio::detached);
}

void main_returns_with_awaits_in_a_global_context()
{
    global_io.emplace();
    global_device.emplace(omp_co::host::options{.workers = 1});
    asio::co_spawn(
        *global_io,
        []() -> asio::awaitable<void> {
            omp_co::queue q(*global_device);
            co_await omp_co::target_enter_data(q, omp_co::to(global_data));
            for (;;) co_await omp_co::target(q, slow, omp_co::tofrom(global_data));
        },
        asio::detached);
    global_io->run_for(3ms);
}

void exit_in_a_handler()
{
    global_queue.emplace(omp_co::default_device());
    asio::io_context io;
    start_work(*global_queue, asio::bind_executor(io, [](error_code) {
        static int told = 0;
        if (++told == 10) std::exit(0);
    }));
    io.run();
    std::_Exit(3);
}

void exit_behind_the_host()
{
    static int flag = 0;
    static omp_co::external_event never;
    global_queue.emplace(omp_co::default_device());
    omp_co::host_task([] {}, omp_co::detach(never), omp_co::depend_out(flag))(asio::detached);
    omp_co::target(*global_queue, slow, omp_co::tofrom(global_data), omp_co::depend_in(flag))(asio::detached);
    start_work(*global_queue, asio::detached);
    std::exit(0);
}

struct mode {
    char const* name;
    void (*run)();
};

constexpr mode endings[] = {
    {"main_returns_with_a_local_queue", main_returns_with_a_local_queue},
    {"main_returns_with_a_global_queue", main_returns_with_a_global_queue},
    {"main_returns_with_a_global_queue_and_device", main_returns_with_a_global_queue_and_device},
    {"main_returns_with_a_static_queue_that_outlives_its_device",
     main_returns_with_a_static_queue_that_outlives_its_device},
    {"main_returns_with_a_queue_that_failed", main_returns_with_a_queue_that_failed},
    {"main_returns_with_awaits_in_a_global_context", main_returns_with_awaits_in_a_global_context},
    {"exit_in_a_handler", exit_in_a_handler},
    {"exit_behind_the_host", exit_behind_the_host},
};

} // namespace

int main(int argc, char** argv)
{
    if (argc == 1) (void)unsetenv("OMP_CO_ASYNC");
    if (argc == 2) {
        std::string const asked = argv[1];
        if (asked == "waits") return every_construct_is_waited_for();
        if (asked == "does_not_wait") return constructs_are_not_waited_for();
        if (asked == "disabled") return disabled_queues_keep_their_order();
        if (asked == "nobody_is_told") nobody_is_told();
        if (asked == "a_handler_is_told") a_handler_is_told();
        for (mode const& m : endings)
            if (asked == m.name) m.run();
        return 0;
    }
    std::string ending = child_process::rerun({"waits"}, {"OMP_CO_ASYNC=0"});
    check(ending.empty(), "OMP_CO_ASYNC=0: " + ending);
    ending = child_process::rerun({"does_not_wait"}, {"OMP_CO_ASYNC=1"});
    check(ending.empty(), "OMP_CO_ASYNC=1: " + ending);

    ending = child_process::rerun({"disabled"}, {"OMP_TARGET_OFFLOAD=DISABLED"});
    check(ending.empty(), "OMP_TARGET_OFFLOAD=DISABLED: " + ending);

    std::string const words = "a queue ended with an error that nobody was told";
    child_process::outcome o = child_process::rerun_and_listen({"nobody_is_told"});
    check(o.ending.empty(), "nobody_is_told: " + o.ending);
    check(o.said.find(words) != std::string::npos, "an error is lost: " + o.said);
    o = child_process::rerun_and_listen({"a_handler_is_told"});
    check(o.ending.empty(), "a_handler_is_told: " + o.ending);
    check(o.said.find(words) == std::string::npos, "it is said twice: " + o.said);

    int const runs = child_process::sanitized ? 2 : 8;
    for (mode const& m : endings) {
        for (int i = 0; i < runs; ++i) {
            std::string const how = child_process::rerun({m.name});
            check(how.empty(), std::string(m.name) + ", run " + std::to_string(i + 1) + ": " + how);
            if (!how.empty()) break; // a mode that hangs would hang again
        }
    }
    return child_process::result();
}
