// SPDX-License-Identifier: BSL-1.0
// How long the device was at a region, by its own clock: diagnostics::device_time().
#include "cuda_backend/bed.hpp"
#include "support/outcome.hpp"
#include "support/started.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <chrono>
#include <cstddef>
#include <vector>

namespace device_time_test {

namespace data = boost::unit_test::data;
using namespace cuda_test;
using namespace std::chrono_literals;
using omp_co::errc;
using omp_co_test::outcome;
using omp_co_test::starter;

using int_kernel = omp_co::kernel<void(int*)>;
int_kernel const increment("increment", image);
omp_co::kernel<void(int const*, int*)> const add_from("add_from", image);

BOOST_AUTO_TEST_SUITE(device_time, *boost::unit_test::precondition(simulated))

BOOST_DATA_TEST_CASE(it_is_that_of_the_kernel, data::make(cuda_varieties), v)
{
    bed const dev(v, {{"KERNEL_US", "3000"}});
    int x = 1;
    omp_co::diagnostics d;
    for (int again = 0; again < 3; ++again) {
        BOOST_TEST(!outcome(omp_co::target(dev.get(), increment, omp_co::tofrom(x), omp_co::explain(d))));
        BOOST_TEST((d.device_time() >= 2990us));
        BOOST_TEST((d.device_time() < 500ms));
    }
    BOOST_TEST(x == 4);
    BOOST_TEST(d.empty());
}

// Both are in the same stream, since they write the same.
BOOST_DATA_TEST_CASE(what_it_waits_for_is_no_part_of_it, data::make(cuda_varieties), v)
{
    bed const dev(v, {{"KERNEL_US", "add_from:400000,increment:3000"}});
    int x = 1;
    int y = 1;
    BOOST_TEST(!outcome(omp_co::target(dev.get(), increment, omp_co::tofrom(x))));
    BOOST_TEST(!outcome(increment.prepare(dev.get())));
    BOOST_TEST(!outcome(add_from.prepare(dev.get())));
    omp_co::diagnostics d;
    starter s;
    s.start(omp_co::target(dev.get(), add_from, omp_co::to(y), omp_co::tofrom(x), omp_co::depend_out(x)));
    s.start(
        omp_co::target(dev.get(), increment, omp_co::tofrom(x), omp_co::explain(d), omp_co::depend_inout(x)));
    BOOST_TEST(s.run());
    BOOST_TEST(x == 4);
    BOOST_TEST((d.device_time() >= 2990us));
    BOOST_TEST((d.device_time() < 300ms));
}

BOOST_DATA_TEST_CASE(large_copies_by_the_helper_are_part_of_it, data::make(cuda_varieties), v)
{
    bed const dev(v, {{"KERNEL_US", "1000"}, {"BANDWIDTH", "1"}});
    std::vector<int> x(std::size_t{1} << 20, 1); // 4 MiB: 4.2 ms in and 4.2 ms out
    omp_co::diagnostics d;
    BOOST_TEST(!outcome(omp_co::target(dev.get(), increment, omp_co::tofrom(x), omp_co::explain(d))));
    BOOST_TEST(x[0] == 2);
    BOOST_TEST((d.device_time() >= 9300us));
}

BOOST_DATA_TEST_CASE(loading_the_kernel_is_no_part_of_it, data::make(cuda_varieties), v)
{
    bed const dev(v, {{"KERNEL_US", "1000"}});
    int x = 1;
    BOOST_TEST(!outcome(omp_co::target_enter_data(dev.get(), omp_co::to(x))));
    simulator::set("CALL_US", "cuModuleLoadDataEx:400000");
    omp_co::diagnostics d;
    BOOST_TEST(!outcome(omp_co::target(dev.get(), increment, omp_co::tofrom(x), omp_co::explain(d))));
    BOOST_TEST((d.device_time() >= 990us));
    BOOST_TEST((d.device_time() < 300ms));
    BOOST_TEST(!outcome(omp_co::target_exit_data(dev.get(), omp_co::from(x))));
    BOOST_TEST(x == 2);
}

BOOST_DATA_TEST_CASE(many_in_flight_have_a_time_each, data::make(cuda_varieties), v)
{
    bed const dev(v, {{"KERNEL_US", "200"}});
    std::vector<int> x(300, 1);
    std::vector<omp_co::diagnostics> d(x.size());
    starter s;
    for (std::size_t i = 0; i < x.size(); ++i)
        s.start(omp_co::target(dev.get(), increment, omp_co::tofrom(x[i]), omp_co::explain(d[i])));
    BOOST_TEST(s.run());
    for (std::size_t i = 0; i < x.size(); ++i) {
        BOOST_TEST(x[i] == 2);
        BOOST_TEST((d[i].device_time() >= 199us));
    }
}

// The first event is there, the second one is not: it must not be lost, and the next region has its own.
BOOST_DATA_TEST_CASE(a_region_that_is_refused_has_none, data::make(cuda_varieties), v)
{
    bed const dev(v, {{"KERNEL_US", "1000"}});
    int x = 1;
    omp_co::diagnostics d;
    BOOST_TEST(!outcome(omp_co::target(dev.get(), increment, omp_co::tofrom(x), omp_co::explain(d))));
    for (int again = 0; again < 5; ++again) {
        BOOST_TEST((outcome(omp_co::target(dev.get(), increment, omp_co::teams(1, 100000), omp_co::tofrom(x),
                                           omp_co::explain(d))) == errc::invalid_argument));
        BOOST_TEST((d.device_time() == 0ns));
        BOOST_TEST(!d.empty());
    }
    BOOST_TEST(!outcome(omp_co::target(dev.get(), increment, omp_co::tofrom(x), omp_co::explain(d))));
    BOOST_TEST((d.device_time() >= 990us));
    BOOST_TEST(x == 3);
    BOOST_TEST(simulator::count("cuEventElapsedTime") == 2U);
}

// Whatever of it the driver refuses: the region is well, without a time.
BOOST_DATA_TEST_CASE(an_event_that_is_refused_costs_the_time_only,
                     data::make({"cuEventElapsedTime:1", "cuEventRecord:1", "cuEventRecord:2",
                                 "cuEventCreate:1", "cuEventCreate:2"}),
                     fault)
{
    bed const dev(varieties[0]);
    int x = 1;
    omp_co::diagnostics d;
    BOOST_TEST(!outcome(omp_co::target(dev.get(), increment, omp_co::tofrom(x))));
    simulator::set("FAULT", (std::string(fault) + ":CUDA_ERROR_OUT_OF_MEMORY").c_str());
    BOOST_TEST(!outcome(omp_co::target(dev.get(), increment, omp_co::tofrom(x), omp_co::explain(d))));
    BOOST_TEST((d.device_time() == 0ns));
    BOOST_TEST(!outcome(omp_co::target(dev.get(), increment, omp_co::tofrom(x), omp_co::explain(d))));
    BOOST_TEST((d.device_time() > 0ns));
    BOOST_TEST(x == 4);
}

// A construct of a queue may be over long before its time is known.
BOOST_DATA_TEST_CASE(that_of_a_construct_of_a_queue_is_there_after_the_next_that_waits,
                     data::make(cuda_varieties), v)
{
    bed const dev(v, {{"KERNEL_US", "3000"}});
    std::vector<int> x(std::size_t{1} << 18, 1); // its copy in has a signal of its own
    int y = 1;
    omp_co::diagnostics d;
    {
        omp_co::queue const q(dev);
        BOOST_TEST(!outcome(omp_co::target_enter_data(q, omp_co::to(y))));
        BOOST_TEST(
            !outcome(omp_co::target(q, add_from, omp_co::to(x), omp_co::tofrom(y), omp_co::explain(d))));
        BOOST_TEST(!outcome(omp_co::target_exit_data(q, omp_co::from(y))));
    }
    BOOST_TEST(y == 2);
    BOOST_TEST((d.device_time() >= 2990us));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace device_time_test
