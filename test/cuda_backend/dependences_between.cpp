// SPDX-License-Identifier: BSL-1.0
// Dependences between a CUDA device, where copies are staged, and a host device: a successor on the other one, or on the host, never
// reads memory that the last copy out has not reached.
#include "cuda_backend/bed.hpp"
#include "support/started.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <cstddef>
#include <vector>

namespace dependences_between_test {

namespace data = boost::unit_test::data;
using namespace cuda_test;
using omp_co::depend_in;
using omp_co::depend_inout;
using omp_co::depend_out;
using omp_co_test::starter;

omp_co::kernel<void(int*)> const increment("increment", omp_co::host::variant([](int* p) { ++*p; }), image);
omp_co::kernel<void(int const*, int*)> const
    add_from("add_from", omp_co::host::variant([](int const* a, int* b) { *b += *a; }), image);

// Staged when they are submitted, and by the helper.
constexpr std::size_t sizes[]{64, std::size_t{1} << 18};

struct two_devices {
    explicit two_devices(variety const& v) : d0(v, {{"KERNEL_US", "2000"}}), d1({.workers = 1}) {}
    bed d0;
    omp_co::host::virtual_device d1;
};

BOOST_AUTO_TEST_SUITE(dependences_between_cuda_and_host)

BOOST_DATA_TEST_CASE(a_chain_goes_to_and_fro, data::make(varieties) * data::make(sizes), v, n)
{
    two_devices on(v);
    std::vector<int> a(n, 0);
    std::vector<int> seen(8, -1);
    starter s;
    for (std::size_t k = 0; k < seen.size(); ++k) {
        s.start(omp_co::target(on.d0.get(), increment, omp_co::tofrom(a), depend_inout(a)));
        s.start(omp_co::target(
            on.d1, [](std::size_t i, int* p) { p[i] *= 2; }, omp_co::range(n), omp_co::tofrom(a),
            depend_inout(a)));
        s.start(omp_co::host_task([&a, &seen, k] { seen[k] = a[0]; }, depend_in(a)));
    }
    BOOST_TEST(s.run());
    int x = 0;
    for (int each : seen) {
        x = (x + 1) * 2;
        BOOST_TEST(each == x);
    }
    BOOST_TEST(a[0] == x);
    BOOST_TEST(a[n - 1] == 0);
    BOOST_TEST(on.d0.now().mapped_ranges == 0U);
}

// The pattern of a diamond over two devices: both read what a chain on the first one leaves, and both results are read by the
// second one, which writes what the chain used.
BOOST_DATA_TEST_CASE(a_diamond_over_both, data::make(varieties) * data::make(sizes), v, n)
{
    two_devices on(v);
    std::vector<int> a(n, 1);
    std::vector<int> b(n, 0);
    std::vector<int> c(n, 0);
    int seen = 0;
    starter s;
    for (int k = 0; k < 10; ++k) {
        s.start(omp_co::target(on.d0.get(), increment, omp_co::tofrom(a), depend_inout(a)));
        s.start(omp_co::target(on.d0.get(), add_from, omp_co::to(a), omp_co::tofrom(a), depend_inout(a)));
    }
    s.start(
        omp_co::target(on.d0.get(), add_from, omp_co::to(a), omp_co::tofrom(b), depend_in(a), depend_out(b)));
    s.start(omp_co::target(
        on.d1, [](std::size_t i, int const* in, int* out) { out[i] = in[i] + 1; }, omp_co::range(n),
        omp_co::to(a), omp_co::from(c), depend_in(a), depend_out(c)));
    s.start(omp_co::target(
        on.d1, [](std::size_t i, int const* l, int const* r, int* out) { out[i] = l[i] + r[i]; },
        omp_co::range(n), omp_co::to(b), omp_co::to(c), omp_co::from(a), depend_in(b, c), depend_out(a)));
    s.start(omp_co::target(on.d0.get(), increment, omp_co::tofrom(a), depend_inout(a)));
    s.start(omp_co::host_task([&] { seen = a[0]; }, depend_in(a)));
    BOOST_TEST(s.run());
    int x = 1;
    for (int k = 0; k < 10; ++k) x = (x + 1) * 2;
    BOOST_TEST(a[0] == x + x + 1 + 1);
    BOOST_TEST(seen == a[0]);
    BOOST_TEST(a[n - 1] == 2);
    BOOST_TEST(c[0] == x + 1);
}

// Without depend clauses: the second device copies in what the first one is about to copy out.
BOOST_DATA_TEST_CASE(resident_data_is_copied_out_for_the_other_device,
                     data::make(varieties) * data::make(sizes), v, n)
{
    two_devices on(v);
    std::vector<int> a(n, 0);
    starter s;
    s.start(omp_co::target_enter_data(on.d0.get(), omp_co::to(a), depend_out(a)));
    for (int k = 0; k < 4; ++k) {
        s.start(omp_co::target(on.d0.get(), increment, omp_co::tofrom(a), depend_inout(a)));
        s.start(omp_co::target_update(on.d0.get(), omp_co::from(a), depend_inout(a)));
        s.start(omp_co::target(
            on.d1, [](std::size_t i, int* p) { p[i] += 10; }, omp_co::range(n), omp_co::tofrom(a),
            depend_inout(a)));
        s.start(omp_co::target_update(on.d0.get(), omp_co::to(a), depend_inout(a)));
    }
    s.start(omp_co::target_exit_data(on.d0.get(), omp_co::from(a), depend_inout(a)));
    BOOST_TEST(s.run());
    BOOST_TEST(a[0] == 44);
    BOOST_TEST(a[n - 1] == 40);
}

// The queue's construct is told early; what depends on it, on the other device, is not started early.
BOOST_DATA_TEST_CASE(a_queue_of_one_and_a_region_of_the_other, data::make(varieties) * data::make(sizes), v,
                     n)
{
    two_devices on(v);
    std::vector<int> a(n, 0);
    {
        omp_co::queue const q(on.d0);
        starter s;
        s.start(omp_co::target_enter_data(q, omp_co::to(a), depend_out(a)));
        for (int k = 0; k < 4; ++k) {
            s.start(omp_co::target(q, increment, omp_co::tofrom(a), depend_inout(a)));
            s.start(omp_co::target_update(q, omp_co::from(a), depend_inout(a)));
            s.start(omp_co::target(
                on.d1, [](std::size_t i, int* p) { p[i] += 10; }, omp_co::range(n), omp_co::tofrom(a),
                depend_inout(a)));
            s.start(omp_co::target_update(q, omp_co::to(a), depend_inout(a)));
        }
        s.start(omp_co::target_exit_data(q, omp_co::from(a), depend_inout(a)));
        BOOST_TEST(s.run());
    }
    BOOST_TEST(a[0] == 44);
    BOOST_TEST(a[n - 1] == 40);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace dependences_between_test
