// SPDX-License-Identifier: BSL-1.0
// Dependences where copies are staged: what comes back is on the host before a successor that copies it in again reads it.
#include "cuda_backend/bed.hpp"
#include "support/gate.hpp"
#include "support/started.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <cstddef>
#include <vector>

namespace dependences_test {

namespace data = boost::unit_test::data;
using namespace cuda_test;
using omp_co::depend_in;
using omp_co::depend_inout;
using omp_co::depend_out;
using omp_co_test::starter;

omp_co::kernel<void(int*)> const increment("increment", omp_co::host::variant([](int* p) { ++*p; }), image);

omp_co::kernel<void(int const*, int*)> const
    add_from("add_from", omp_co::host::variant([](int const* a, int* b) { *b += *a; }), image);

// Small ones are staged when they are submitted, large ones by the helper.
constexpr std::size_t sizes[]{4, 1 << 20};

BOOST_AUTO_TEST_SUITE(dependences_on_cuda)

BOOST_DATA_TEST_CASE(a_chain_needs_no_host, data::make(varieties), v)
{
    bed const dev(v, {{"KERNEL_US", "10000"}});
    std::vector<int> x(8, 0);
    starter s;
    s.start(omp_co::target_enter_data(dev.get(), omp_co::to(x)));
    s.start(omp_co::target(dev.get(), increment, omp_co::tofrom(x), depend_inout(x))); // loads the kernel
    BOOST_TEST(s.run());
    auto const launched = [] { return simulator::present() ? simulator::count("cuLaunchKernel") : 0; };
    unsigned long const before = launched();
    for (int k = 1; k < 50; ++k)
        s.start(omp_co::target(dev.get(), increment, omp_co::tofrom(x), depend_inout(x)));
    if (!v.host && simulator::present()) {
        BOOST_TEST(omp_co_test::eventually([&] { return launched() == before + 49; }));
        BOOST_TEST(dev.now().in_flight >
                   25U); // the last one was given to the device long before its predecessor had ended
    }
    BOOST_TEST(s.run());
    s.start(omp_co::target_exit_data(dev.get(), omp_co::from(x)));
    BOOST_TEST(s.run());
    BOOST_TEST(x[0] == 50);
    BOOST_TEST(dev.now().mapped_ranges == 0U);
}

// A wavefront: each cell behind its neighbours above and on the left, which run side by side.
BOOST_DATA_TEST_CASE(a_wavefront_needs_no_host, data::make(varieties), v)
{
    constexpr std::size_t n = 5;
    bed const dev(v, {{"KERNEL_US", "3000"}});
    std::vector<int> cells(n * n, 1);
    starter s;
    s.start(omp_co::target_enter_data(dev.get(), omp_co::to(cells)));
    BOOST_TEST(s.run());
    auto const cell = [&](std::size_t i, std::size_t j) {
        return omp_co::section(cells.data(), i * n + j, 1);
    };
    for (std::size_t i = 1; i < n; ++i)
        for (std::size_t j = 1; j < n; ++j) {
            s.start(omp_co::target(dev.get(), add_from, omp_co::to(cell(i - 1, j)),
                                   omp_co::tofrom(cell(i, j)), depend_in(cells[(i - 1) * n + j]),
                                   depend_inout(cells[i * n + j])));
            s.start(omp_co::target(dev.get(), add_from, omp_co::to(cell(i, j - 1)),
                                   omp_co::tofrom(cell(i, j)), depend_in(cells[i * n + j - 1]),
                                   depend_inout(cells[i * n + j])));
        }
    BOOST_TEST(s.run());
    s.start(omp_co::target_exit_data(dev.get(), omp_co::from(cells)));
    BOOST_TEST(s.run());
    std::vector<int> expected(n * n, 1);
    for (std::size_t i = 1; i < n; ++i)
        for (std::size_t j = 1; j < n; ++j)
            expected[i * n + j] += expected[(i - 1) * n + j] + expected[i * n + j - 1];
    BOOST_TEST(cells == expected, boost::test_tools::per_element());
}

BOOST_DATA_TEST_CASE(a_motion_that_is_asked_for_always, data::make(varieties) * data::make(sizes), v, n)
{
    bed const dev(v, {{"KERNEL_US", "2000"}});
    std::vector<int> x(n, 0);
    starter s;
    for (int k = 0; k < 4; ++k)
        s.start(omp_co::target(dev.get(), increment, omp_co::tofrom(x, omp_co::always), depend_inout(x)));
    BOOST_TEST(s.run());
    BOOST_TEST(x[0] == 4);
}

BOOST_DATA_TEST_CASE(ranges_that_overlap, data::make(varieties) * data::make(sizes), v, n)
{
    bed const dev(v, {{"KERNEL_US", "2000"}});
    std::vector<int> x(n, 0);
    starter s;
    for (int k = 0; k < 3; ++k) {
        s.start(omp_co::target(dev.get(), increment, omp_co::tofrom(omp_co::section(x, 0, n / 2)),
                               depend_inout(x)));
        s.start(omp_co::target(dev.get(), increment, omp_co::tofrom(x), depend_inout(x)));
    }
    BOOST_TEST(s.run());
    BOOST_TEST(x[0] == 6);
    BOOST_TEST(dev.now().mapped_ranges == 0U);
}

BOOST_DATA_TEST_CASE(updates_in_both_directions, data::make(varieties) * data::make(sizes), v, n)
{
    bed const dev(v, {{"KERNEL_US", "2000"}});
    std::vector<int> x(n, 0);
    starter s;
    s.start(omp_co::target_enter_data(dev.get(), omp_co::to(x), depend_out(x)));
    for (int k = 0; k < 3; ++k) {
        s.start(omp_co::target(dev.get(), increment, omp_co::tofrom(x), depend_inout(x)));
        s.start(omp_co::target_update(dev.get(), omp_co::from(x), depend_inout(x)));
        s.start(omp_co::target_update(dev.get(), omp_co::to(x), depend_inout(x)));
    }
    s.start(omp_co::target_exit_data(dev.get(), omp_co::from(x), depend_inout(x)));
    BOOST_TEST(s.run());
    BOOST_TEST(x[0] == 3);
}

BOOST_DATA_TEST_CASE(copies_between_given_addresses, data::make(varieties) * data::make(sizes), v, n)
{
    bed const dev(v, {{"KERNEL_US", "2000"}});
    std::vector<int> x(n, 0);
    {
        auto const buffer = omp_co::sync_wait(omp_co::allocate<int>(dev.get(), n));
        starter s;
        for (int k = 0; k < 3; ++k) {
            s.start(omp_co::target(dev.get(), increment, omp_co::tofrom(x), depend_inout(x)));
            s.start(omp_co::target_memcpy(buffer, x, depend_in(x), depend_out(buffer)));
            s.start(omp_co::target(dev.get(), increment, omp_co::is_device_ptr(buffer.get()),
                                   depend_inout(buffer)));
            s.start(omp_co::target_memcpy(x, buffer, depend_in(buffer), depend_out(x)));
        }
        BOOST_TEST(s.run());
    }
    BOOST_TEST(x[0] == 6);
    BOOST_TEST(dev.now().device_bytes == 0U);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace dependences_test
