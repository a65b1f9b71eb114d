// SPDX-License-Identifier: BSL-1.0
// A program on the devices that OMP_CO_HOST_DEVICES=4 gives: copies from device to device, dependences, groups and queues across
// them, a failure on one of them, all of it watched by the race checker.
#include "child_process.hpp"

#include <omp_co/omp_co.hpp>

#include <algorithm>
#include <array>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>
#include <exception>
#include <string>
#include <vector>

namespace {

namespace asio = boost::asio;
using child_process::check;

constexpr int elements = 1000;
auto const add_one = [](int i, long* p) { p[i] += 1; };

omp_co::device dev(int i) { return omp_co::devices()[static_cast<std::size_t>(i % 4)]; }

// Nothing but the copies' places in the order of both devices, and dependences on the buffers' names.
asio::awaitable<void> round_the_ring(std::vector<long>& x)
{
    std::array<omp_co::device_buffer<long>, 4> at;
    for (int i = 0; i < 4; ++i)
        at[static_cast<std::size_t>(i)] = co_await omp_co::allocate<long>(dev(i), elements);
    omp_co::task_group g(co_await asio::this_coro::executor);
    g.spawn(omp_co::target_memcpy(at[0], x, omp_co::depend_out(at[0])));
    for (int i = 0; i < 21; ++i) {
        omp_co::device_buffer<long>& here = at[static_cast<std::size_t>(i % 4)];
        omp_co::device_buffer<long>& there = at[static_cast<std::size_t>((i + 1) % 4)];
        g.spawn(omp_co::target(dev(i), add_one, omp_co::range(elements), omp_co::is_device_ptr(here.get()),
                               omp_co::depend_inout(here)));
        g.spawn(omp_co::target_memcpy(there, here, omp_co::depend_in(here), omp_co::depend_out(there)));
    }
    g.spawn(omp_co::target_memcpy(x, at[1], omp_co::depend_in(at[1])));
    co_await g.wait();
    check(std::all_of(x.begin(), x.end(), [](long v) { return v == 21; }), "the ring");
}

asio::awaitable<void> one_after_the_other(std::vector<long>& x)
{
    omp_co::task_group g(co_await asio::this_coro::executor);
    for (int i = 0; i < 100; ++i)
        g.spawn(omp_co::target(dev(i), add_one, omp_co::range(elements), omp_co::tofrom(x),
                               omp_co::depend_inout(x)));
    long seen = 0;
    g.spawn(omp_co::host_task([&] { seen = x[elements - 1]; }, omp_co::depend_in(x)));
    co_await g.wait();
    check(seen == 121 && x[0] == 121, "a chain over all devices");
}

asio::awaitable<void> fan_out_and_in(std::vector<long>& x)
{
    std::array<std::vector<long>, 4> parts;
    omp_co::task_group g(co_await asio::this_coro::executor);
    for (int i = 0; i < 4; ++i) {
        std::vector<long>& part = parts[static_cast<std::size_t>(i)];
        part.resize(elements);
        g.spawn(omp_co::target(
            dev(i), [i](int k, long const* in, long* out) { out[k] = in[k] + i; }, omp_co::range(elements),
            omp_co::to(x), omp_co::from(part), omp_co::depend_in(x), omp_co::depend_out(part)));
    }
    g.spawn(omp_co::target(
        dev(2),
        [](int k, long const* a, long const* b, long const* c, long const* d, long* out) {
            out[k] = a[k] + b[k] + c[k] + d[k];
        },
        omp_co::range(elements), omp_co::to(parts[0]), omp_co::to(parts[1]), omp_co::to(parts[2]),
        omp_co::to(parts[3]), omp_co::from(x), omp_co::depend_in(parts[0], parts[1], parts[2], parts[3]),
        omp_co::depend_out(x)));
    co_await g.wait();
    check(x[0] == 4 * 121 + 6, "four devices read, one gathers");
}

asio::awaitable<void> queues_of_all(std::vector<long>& x)
{
    std::vector<omp_co::queue> queues;
    for (int i = 0; i < 4; ++i) queues.emplace_back(dev(i));
    omp_co::task_group g(co_await asio::this_coro::executor);
    long const before = x[0];
    for (int i = 0; i < 40; ++i)
        g.spawn(omp_co::target(queues[static_cast<std::size_t>(i % 4)], add_one, omp_co::range(elements),
                               omp_co::tofrom(x), omp_co::depend_inout(x)));
    co_await g.wait();
    for (omp_co::queue& q : queues) co_await q.synchronize();
    check(x[0] == before + 40, "a chain over the queues of all devices");
}

asio::awaitable<void> one_fails(std::vector<long>& x)
{
    long const before = x[0];
    std::array<omp_co::error_code, 3> ended;
    asio::any_io_executor const here = co_await asio::this_coro::executor;
    auto const start = [&](int i, auto const& clause, auto const& order) {
        auto const op = omp_co::target(dev(i), add_one, omp_co::range(elements), clause, order);
        omp_co::error_code& ec = ended[static_cast<std::size_t>(i)];
        op(asio::bind_executor(here, [&ec](omp_co::error_code e) { ec = e; }));
    };
    omp_co::external_event all_are_started;
    omp_co::taskwait(omp_co::depend_out(x),
                     omp_co::detach(all_are_started))(asio::bind_executor(here, [](omp_co::error_code) {}));
    start(0, omp_co::tofrom(x, omp_co::present), omp_co::depend_inout(x));
    start(1, omp_co::tofrom(x), omp_co::depend_inout(x));
    all_are_started.fulfill();
    co_await omp_co::host_task([] {}, omp_co::depend_in(x, omp_co::even_if_failed));
    start(2, omp_co::tofrom(x), omp_co::depend_inout(x));
    co_await omp_co::host_task([] {}, omp_co::depend_in(x));
    check(ended[0] == omp_co::errc::not_present, "what fails says why");
    check(ended[1] == omp_co::errc::predecessor_failed, "the next one, on another device, says that");
    check(!ended[2] && x[0] == before + 1, "those that come later do not care");
}

asio::awaitable<void> everything()
{
    check(omp_co::devices().size() == 4, "there are four devices");
    std::vector<long> x(elements, 0);
    co_await round_the_ring(x);
    co_await one_after_the_other(x);
    co_await fan_out_and_in(x);
    co_await queues_of_all(x);
    co_await one_fails(x);
    for (omp_co::device d : omp_co::devices()) {
        check(d.statistics().regions > 20, "every device took part");
        check(d.statistics().mapped_ranges == 0 && d.statistics().device_bytes == 0, "nothing is left");
    }
}

int run()
{
    asio::io_context io;
    asio::co_spawn(io, everything(), [](std::exception_ptr e) {
        if (e) std::rethrow_exception(e);
    });
    io.run();
    return child_process::result();
}

} // namespace

int main(int argc, char**)
{
    if (argc == 2) return run();
    child_process::outcome const o =
        child_process::rerun_and_listen({"run"}, {"OMP_CO_HOST_DEVICES=4", "OMP_CO_CHECK=races"});
    check(o.ending.empty(), "four devices: " + o.ending + o.said);
    check(o.said.empty(), "something is said: " + o.said);
    return child_process::result();
}
