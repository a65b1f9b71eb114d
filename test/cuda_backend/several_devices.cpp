// SPDX-License-Identifier: BSL-1.0
// Two CUDA devices in one process: copies between them, what depends on a region of the other one, groups over both, and a fault of
// one that the other survives.
#include "cuda_backend/bed.hpp"
#include "support/outcome.hpp"
#include "support/started.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace several_devices_test {

namespace asio = boost::asio;
using namespace cuda_test;
using omp_co::depend_in;
using omp_co::depend_inout;
using omp_co::depend_out;
using omp_co::errc;
using omp_co_test::outcome;
using omp_co_test::starter;

using int_kernel = omp_co::kernel<void(int*)>;
int_kernel const increment("increment", image);
omp_co::kernel<void(int const*, int*)> const add_from("add_from", image);

class pair_of_devices {
public:
    pair_of_devices()
    {
        simulator::reset();
        simulator::set("DEVICES", "2");
        auto const& d = omp_co::cuda::driver::table();
        BOOST_REQUIRE(d.init(0) == omp_co::cuda::driver::result::success);
        for (int i = 0; i < 2; ++i) {
            auto made = std::make_unique<omp_co::cuda::engine::cuda_device>(
                d, i, omp_co::cuda::engine::read_limits(d, i), completion_choice::automatic);
            auto& slot = omp_co::detail::registry::instance().add(std::move(made), false);
            devices_[i] = {&slot, slot.generation};
        }
    }
    pair_of_devices(pair_of_devices const&) = delete;
    pair_of_devices& operator=(pair_of_devices const&) = delete;
    ~pair_of_devices()
    {
        for (omp_co::device const& d : devices_)
            omp_co::detail::registry::instance().remove(*d.slot(), d.generation());
        if (fault_expected) return;
        for (std::string const& line : simulator::report())
            BOOST_TEST(line.starts_with("note:"), "the simulator reports " << line);
    }

    omp_co::device operator[](int i) const noexcept { return devices_[i]; }

    bool fault_expected = false;

private:
    omp_co::device devices_[2];
};

BOOST_AUTO_TEST_SUITE(several_devices, *boost::unit_test::precondition(simulated))

BOOST_AUTO_TEST_CASE(memory_goes_from_one_to_the_other_directly)
{
    pair_of_devices const two;
    std::vector<int> x(100'000, 4);
    std::vector<int> y(100'000, 0);
    {
        auto a = omp_co::sync_wait(omp_co::allocate<int>(two[0], x.size()));
        auto b = omp_co::sync_wait(omp_co::allocate<int>(two[1], x.size()));
        BOOST_TEST(!outcome(omp_co::target_memcpy(a, x)));
        asio::io_context io;
        std::size_t failed = 0;
        auto handler = asio::bind_executor(io, [&](omp_co::error_code ec) { failed += ec ? 1 : 0; });
        // The kernels on either side keep their order with the copy, though nothing is awaited.
        omp_co::target(two[0], increment, omp_co::is_device_ptr(a.get()))(handler);
        omp_co::target_memcpy(b, a)(handler);
        omp_co::target(two[0], increment, omp_co::is_device_ptr(a.get()))(handler);
        omp_co::target(two[1], increment, omp_co::is_device_ptr(b.get()))(handler);
        omp_co::target_memcpy(y, b)(handler);
        io.run();
        BOOST_TEST(failed == 0U);
        BOOST_TEST(y[0] == 6);
        BOOST_TEST(y[99'999] == 4);
        BOOST_TEST(simulator::count("cuMemcpyPeerAsync") == 1U);
        // Blocks, a row at a time.
        std::vector<int> z(12, 0);
        BOOST_TEST(!outcome(omp_co::target_memcpy_rect(
            omp_co::device_box(two[0], omp_co::section2d(a.get(), {100, 100}, {50, 50}, {3, 4})),
            omp_co::device_box(two[1], omp_co::section2d(b.get(), {10, 100}, {0, 0}, {3, 4})))));
        BOOST_TEST(!outcome(omp_co::target_memcpy_rect(
            omp_co::section2d(z.data(), {3, 4}, {0, 0}, {3, 4}),
            omp_co::device_box(two[0], omp_co::section2d(a.get(), {100, 100}, {50, 50}, {3, 4})))));
        BOOST_TEST(z[0] == 6);
        BOOST_TEST(z[11] == 4);
        BOOST_TEST(simulator::count("cuMemcpyPeerAsync") == 4U);
    }
    BOOST_TEST(two[0].statistics().device_bytes == 0U);
    BOOST_TEST(two[1].statistics().device_bytes == 0U);
}

BOOST_AUTO_TEST_CASE(a_copy_that_fails_tells_who_comes_behind)
{
    pair_of_devices const two;
    auto a = omp_co::sync_wait(omp_co::allocate<int>(two[0], 10));
    auto b = omp_co::sync_wait(omp_co::allocate<int>(two[1], 10));
    BOOST_TEST(!outcome(omp_co::target_memset(a, 1)));
    BOOST_TEST(!outcome(omp_co::target_memset(b, 1)));
    simulator::set("FAULT", "cuMemcpyPeerAsync:1:CUDA_ERROR_OUT_OF_MEMORY");
    std::vector<int> y(10, 7);
    asio::io_context io;
    omp_co::error_code first;
    omp_co::error_code second;
    omp_co::target_memcpy(b, a)(asio::bind_executor(io, [&](omp_co::error_code ec) { first = ec; }));
    omp_co::target_memcpy(y, b)(asio::bind_executor(io, [&](omp_co::error_code ec) { second = ec; }));
    io.run();
    BOOST_TEST((first == errc::out_of_memory), first.message());
    BOOST_TEST((second == errc::predecessor_failed), second.message());
    BOOST_TEST(y[0] == 7);
    BOOST_TEST(!outcome(omp_co::target_memcpy(b, a)));
}

// Through memory of the program's, which each device copies with staging: small, and by the helper.
constexpr std::size_t sizes[]{64, std::size_t{1} << 18};

BOOST_DATA_TEST_CASE(a_chain_of_dependences_goes_to_and_fro, boost::unit_test::data::make(sizes), n)
{
    pair_of_devices const two;
    simulator::set("KERNEL_US", "300");
    std::vector<int> a(n, 0);
    std::vector<int> b(n, 0);
    std::vector<int> c(n, 0);
    std::vector<int> seen(8, -1);
    starter s;
    for (std::size_t k = 0; k < seen.size(); ++k) {
        s.start(omp_co::target(two[k % 2], increment, omp_co::tofrom(a), depend_inout(a)));
        s.start(omp_co::host_task([&a, &seen, k] { seen[k] = a[0]; }, depend_in(a)));
    }
    for (auto [d, to] : {std::pair{0, &b}, {1, &c}})
        s.start(omp_co::target(two[d], add_from, omp_co::to(a), omp_co::tofrom(*to), depend_in(a),
                               depend_out(*to)));
    s.start(
        omp_co::target(two[0], add_from, omp_co::to(c), omp_co::tofrom(b), depend_in(c), depend_inout(b)));
    s.start(
        omp_co::target(two[1], add_from, omp_co::to(b), omp_co::tofrom(a), depend_in(b), depend_inout(a)));
    BOOST_TEST(s.run());
    for (std::size_t k = 0; k < seen.size(); ++k) BOOST_TEST(seen[k] == static_cast<int>(k) + 1);
    BOOST_TEST(c[0] == 8);
    BOOST_TEST(b[0] == 16);
    BOOST_TEST(a[0] == 24);
    BOOST_TEST(a[n - 1] == 0);
    for (int d : {0, 1}) BOOST_TEST(two[d].statistics().mapped_ranges == 0U);
}

BOOST_AUTO_TEST_CASE(queues_of_both_keep_the_order_of_depend_clauses)
{
    pair_of_devices const two;
    simulator::set("KERNEL_US", "300");
    std::vector<int> a(1000, 0);
    {
        omp_co::queue const q0(two[0]);
        omp_co::queue const q1(two[1]);
        starter s;
        for (int k = 0; k < 8; ++k) {
            s.start(omp_co::target(q0, increment, omp_co::tofrom(a), depend_inout(a)));
            s.start(omp_co::target(q1, add_from, omp_co::to(a), omp_co::tofrom(a), depend_inout(a)));
        }
        BOOST_TEST(s.run());
    }
    BOOST_TEST(a[0] == 510);
    BOOST_TEST(a[999] == 0);
}

BOOST_AUTO_TEST_CASE(the_successor_of_a_region_that_fails_on_the_other_device_fails)
{
    pair_of_devices const two;
    std::vector<int> a(1000, 5);
    std::vector<int> b(1000, 7);
    simulator::set("FAULT", "cuLaunchKernel:1:CUDA_ERROR_OUT_OF_MEMORY");
    starter s;
    auto& first = s.start(omp_co::target(two[0], increment, omp_co::tofrom(a), depend_out(a)));
    auto& second = s.start(
        omp_co::target(two[1], add_from, omp_co::to(a), omp_co::tofrom(b), depend_in(a), depend_out(b)));
    auto& third = s.start(omp_co::target(two[0], increment, omp_co::tofrom(b), depend_inout(b)));
    auto& beside = s.start(omp_co::host_task([] {}, depend_in(s)));
    BOOST_TEST(!s.run());
    BOOST_TEST(first.failed_with(errc::out_of_memory));
    BOOST_TEST(second.failed_with(errc::predecessor_failed));
    BOOST_TEST(third.failed_with(errc::predecessor_failed));
    BOOST_TEST(beside.well());
    BOOST_TEST(b[0] == 7);
    for (int d : {0, 1}) BOOST_TEST(two[d].statistics().mapped_ranges == 0U);
    BOOST_TEST(!outcome(omp_co::target(two[1], add_from, omp_co::to(a), omp_co::tofrom(b))));
    BOOST_TEST(b[0] == 12);
}

BOOST_AUTO_TEST_CASE(a_group_waits_for_both_and_tells_the_first_error)
{
    pair_of_devices const two;
    simulator::set("KERNEL_US", "300");
    std::vector<std::vector<int>> a(16, std::vector<int>(100, 0));
    asio::io_context io;
    auto work = [&](bool fails) -> asio::awaitable<void> {
        omp_co::task_group group(io.get_executor());
        if (fails) simulator::set("FAULT", "cuLaunchKernel:4:CUDA_ERROR_OUT_OF_MEMORY");
        for (std::size_t i = 0; i < a.size(); ++i)
            group.spawn(omp_co::target(two[i % 2], increment, omp_co::tofrom(a[i])));
        auto const [ec] = co_await group.wait()(asio::as_tuple(asio::use_awaitable));
        BOOST_TEST((fails ? ec == errc::out_of_memory : !ec), ec.message());
        BOOST_TEST(two[0].statistics().in_flight + two[1].statistics().in_flight == 0U);
    };
    for (bool fails : {false, true}) {
        asio::co_spawn(io, work(fails), asio::detached);
        io.run();
        io.restart();
    }
    int sum = 0;
    for (auto const& each : a) sum += each[0];
    BOOST_TEST(sum == 31); // all but one of the second time
    auto both = [&]() -> asio::awaitable<void> {
        co_await omp_co::when_all(omp_co::target(two[0], increment, omp_co::tofrom(a[0])),
                                  omp_co::target(two[1], increment, omp_co::tofrom(a[1])));
    };
    sum = a[0][0] + a[1][0];
    asio::co_spawn(io, both(), asio::detached);
    io.run();
    BOOST_TEST(a[0][0] + a[1][0] == sum + 2);
}

BOOST_AUTO_TEST_CASE(a_fault_loses_one_device_and_no_other)
{
    pair_of_devices two;
    two.fault_expected = true;
    int x = 1;
    BOOST_TEST(!outcome(omp_co::target(two[0], increment, omp_co::tofrom(x))));
    BOOST_TEST(!outcome(omp_co::target(two[1], increment, omp_co::tofrom(x))));
    auto a = omp_co::sync_wait(omp_co::allocate<int>(two[0], 10));
    auto b = omp_co::sync_wait(omp_co::allocate<int>(two[1], 10));
    int_kernel const trap("trap", image);
    BOOST_TEST((outcome(omp_co::target(two[0], trap, omp_co::tofrom(x))) == errc::device_lost));
    BOOST_TEST((outcome(omp_co::target_memcpy(b, a)) == errc::device_lost));
    BOOST_TEST(!outcome(omp_co::target_memset(b, 3)));
    BOOST_TEST(!outcome(omp_co::target(two[1], increment, omp_co::tofrom(x))));
    BOOST_TEST(x == 4);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace several_devices_test
