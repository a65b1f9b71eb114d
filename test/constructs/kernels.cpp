// SPDX-License-Identifier: BSL-1.0
// What a kernel gets: indices, values, scratch memory and device pointers.
#include "support/kernels.hpp"
#include "support/devices.hpp"
#include "support/gate.hpp"
#include "support/settle.hpp"

#include <array>
#include <boost/asio/use_future.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

namespace kernels_test {

namespace asio = boost::asio;
namespace data = boost::unit_test::data;
using namespace omp_co_test;

BOOST_AUTO_TEST_SUITE(kernels)

BOOST_DATA_TEST_CASE(each_index_of_one_dimension_is_visited_once, data::make(device_kinds), kind)
{
    test_device const dev = kind.make();
    for (std::size_t n : {0U, 1U, 2U, 3U, 7U, 64U, 1001U, 70001U}) {
        std::vector<std::uint32_t> v(n, 1);
        auto const add = [](std::size_t i, std::uint32_t* p) { p[i] += static_cast<std::uint32_t>(i); };
        omp_co::sync_wait(omp_co::target(dev, add, omp_co::range(n), omp_co::tofrom(v)));
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < n; ++i) wrong += v[i] != i + 1;
        BOOST_TEST(wrong == 0U);
    }
}

BOOST_DATA_TEST_CASE(each_index_of_two_dimensions_is_visited_once_x_fastest, data::make(device_kinds), kind)
{
    test_device const dev = kind.make();
    std::array<std::array<int, 2>, 6> const shapes{{{1, 1}, {7, 3}, {3, 7}, {131, 17}, {1, 1013}, {1013, 1}}};
    for (auto const [nx, ny] : shapes) {
        std::vector<int> v(static_cast<std::size_t>(nx * ny), 0);
        auto const mark = [w = nx](int x, int y, int* p) { p[y * w + x] += x + 1000 * y + 1; };
        omp_co::sync_wait(omp_co::target(dev, mark, omp_co::range(nx, ny), omp_co::tofrom(v)));
        int wrong = 0;
        for (int y = 0; y < ny; ++y)
            for (int x = 0; x < nx; ++x) wrong += v[static_cast<std::size_t>(y * nx + x)] != x + 1000 * y + 1;
        BOOST_TEST(wrong == 0);
    }
}

BOOST_DATA_TEST_CASE(each_index_of_three_dimensions_is_visited_once, data::make(device_kinds), kind)
{
    test_device const dev = kind.make();
    std::array<std::array<int, 3>, 5> const shapes{
        {{1, 1, 1}, {3, 5, 7}, {31, 1, 9}, {1, 13, 11}, {17, 19, 1}}};
    for (auto const [nx, ny, nz] : shapes) {
        std::vector<int> v(static_cast<std::size_t>(nx * ny * nz), 0);
        auto const mark = [w = nx, h = ny](std::int64_t x, unsigned y, short z, int* p) {
            p[(z * h + static_cast<int>(y)) * w + static_cast<int>(x)] +=
                static_cast<int>(x) + 100 * static_cast<int>(y) + 10000 * z;
        };
        omp_co::sync_wait(omp_co::target(dev, mark, omp_co::range(nx, ny, nz), omp_co::tofrom(v)));
        int wrong = 0;
        for (int z = 0; z < nz; ++z)
            for (int y = 0; y < ny; ++y)
                for (int x = 0; x < nx; ++x)
                    wrong += v[static_cast<std::size_t>((z * ny + y) * nx + x)] != x + 100 * y + 10000 * z;
        BOOST_TEST(wrong == 0);
    }
}

// On an inline device the indices come in order: x fastest, then y, then z.
BOOST_AUTO_TEST_CASE(indices_come_with_x_fastest)
{
    test_device const dev(workers(0));
    std::vector<int> seen;
    auto const note = [s = &seen](int x, int y, int z) { s->push_back(x + 10 * y + 100 * z); };
    omp_co::sync_wait(omp_co::target(dev, note, omp_co::range(3, 2, 2)));
    BOOST_TEST((seen == std::vector<int>{0, 1, 2, 10, 11, 12, 100, 101, 102, 110, 111, 112}));
}

BOOST_DATA_TEST_CASE(a_zero_extent_runs_nothing_and_data_still_moves, data::make(copying_kinds), kind)
{
    test_device const dev = kind.make();
    std::vector<int> v(8, 1);
    static std::atomic<int> ran;
    ran = 0;
    auto const one = [](int, int*) { ++ran; };
    auto const two = [](int, int, int*) { ++ran; };
    auto const three = [](int, int, int, int*) { ++ran; };
    omp_co::sync_wait(omp_co::target(dev, one, omp_co::range(0), omp_co::tofrom(v)));
    omp_co::sync_wait(omp_co::target(dev, two, omp_co::range(0, 5), omp_co::tofrom(v)));
    omp_co::sync_wait(omp_co::target(dev, two, omp_co::range(5, 0), omp_co::tofrom(v)));
    omp_co::sync_wait(omp_co::target(dev, three, omp_co::range(5, 0, 5), omp_co::tofrom(v)));
    BOOST_TEST(ran == 0);
    BOOST_TEST(dev.get().statistics().copies_in == 4U);
    BOOST_TEST(dev.get().statistics().copies_out == 4U);
    BOOST_TEST(v[0] == 1);
    // Without a range the kernel runs once.
    omp_co::sync_wait(omp_co::target(
        dev, [](int*) { ++ran; }, omp_co::tofrom(v)));
    omp_co::sync_wait(omp_co::target(dev, [] { ++ran; }));
    BOOST_TEST(ran == 2);
}

BOOST_DATA_TEST_CASE(a_firstprivate_value_is_taken_when_the_operation_is_made, data::make(device_kinds), kind)
{
    test_device const dev = kind.make();
    struct pair {
        double a;
        char b;
    };
    pair value{1.5, 'x'};
    double a = 0;
    auto const read = [](pair p, int k, double* out) { *out = p.a + p.b + k; };
    int k = 100;
    auto const op =
        omp_co::target(dev, read, omp_co::firstprivate(value), omp_co::firstprivate(k), omp_co::from(a));
    value.a = 99;
    k = 0;
    omp_co::sync_wait(op);
    BOOST_TEST(a == 1.5 + 'x' + 100);
    auto const change = [](int i, int* out) { *out = ++i; }; // its own copy
    int out = 0;
    auto const again = omp_co::target(dev, change, omp_co::firstprivate(5), omp_co::from(out));
    omp_co::sync_wait(again);
    omp_co::sync_wait(again);
    BOOST_TEST(out == 6);
}

BOOST_DATA_TEST_CASE(private_memory_belongs_to_one_worker, data::make(device_kinds), kind)
{
    test_device const dev = kind.make();
    constexpr int n = 4000;
    std::vector<int> v(n, 0);
    // Fills its scratch memory, then reads it: somebody else's value shows.
    auto const sum = [](int i, int* mine, int* out, char* byte, double* wide) {
        for (int k = 0; k < 100; ++k) mine[k] = i;
        *byte = static_cast<char>(i);
        wide[6] = i;
        int total = 0;
        for (int k = 0; k < 100; ++k) total += mine[k] == i;
        out[i] = total + (*byte == static_cast<char>(i)) + (wide[6] == i);
    };
    omp_co::sync_wait(omp_co::target(dev, sum, omp_co::range(n), omp_co::private_<int>(100), omp_co::from(v),
                                     omp_co::private_<char>(), omp_co::private_<double>(7)));
    int wrong = 0;
    for (int each : v) wrong += each != 102;
    BOOST_TEST(wrong == 0);
    std::uintptr_t at = 1;
    auto const aligned = [](double* scratch, std::uintptr_t* out) {
        *out = reinterpret_cast<std::uintptr_t>(scratch);
    };
    omp_co::sync_wait(omp_co::target(dev, aligned, omp_co::private_<double>(3), omp_co::from(at)));
    BOOST_TEST(at % alignof(double) == 0U);
}

BOOST_DATA_TEST_CASE(a_mapped_pointer_can_be_handed_to_a_kernel, data::make(device_kinds), kind)
{
    test_device const dev = kind.make();
    std::vector<int> v(10, 1);
    omp_co::sync_wait(omp_co::target_enter_data(dev, omp_co::to(v)));
    int* const on_device = dev.get().mapped_ptr(v.data() + 2);
    BOOST_TEST(on_device != nullptr);
    BOOST_TEST((on_device != v.data() + 2) == kind.copies);
    BOOST_TEST((on_device == dev.get().mapped_ptr(v.data()) + 2));
    auto const add = [](int i, int* p, int by) { p[i] += by; };
    omp_co::sync_wait(omp_co::target(dev, add, omp_co::range(3), omp_co::is_device_ptr(on_device),
                                     omp_co::firstprivate(5)));
    omp_co::sync_wait(omp_co::target_update(dev, omp_co::from(v)));
    BOOST_TEST(v[1] == 1);
    BOOST_TEST(v[2] == 6);
    BOOST_TEST(v[4] == 6);
    BOOST_TEST(v[5] == 1);
    omp_co::sync_wait(omp_co::target_exit_data(dev, omp_co::delete_(v)));
    if (kind.copies) BOOST_TEST(dev.get().mapped_ptr(v.data()) == nullptr);
}

// A device pointer takes part in order as what it points to: a copy in that is under way is waited for, and the block
// outlives the kernel.
BOOST_AUTO_TEST_CASE(a_device_pointer_is_ordered_like_the_data_that_it_points_to)
{
    test_device const dev(workers(2));
    gate g;
    std::vector<int> v(10, 1);
    int seen = 0;
    omp_co::sync_wait(omp_co::target_enter_data(dev, omp_co::to(v)));
    int* const on_device = dev.get().mapped_ptr(v.data());
    v[0] = 42;
    auto held = omp_co::target(dev, g.kernel(), omp_co::alloc(v))(asio::use_future);
    BOOST_TEST(g.wait_entered(1));
    auto brought = omp_co::target_update(dev, omp_co::to(v))(asio::use_future); // waits for the kernel
    auto const look = [](int const* p, int* out) { *out = p[0]; };
    auto looked = omp_co::target(dev, look, omp_co::is_device_ptr(static_cast<int const*>(on_device)),
                                 omp_co::from(seen))(asio::use_future);
    auto ended = omp_co::target_exit_data(dev, omp_co::delete_(v))(asio::use_future);
    std::this_thread::sleep_for(std::chrono::milliseconds(20)); // time to do it wrong
    g.open();
    held.get();
    brought.get();
    looked.get();
    ended.get();
    BOOST_TEST(seen == 42);
    BOOST_TEST(settle(dev));
    BOOST_TEST(dev.get().statistics().device_bytes == 0U);
}

BOOST_DATA_TEST_CASE(data_may_be_an_array_a_scalar_or_a_struct, data::make(device_kinds), kind)
{
    test_device const dev = kind.make();
    int plain[4] = {1, 2, 3, 4};
    std::array<float, 3> fixed{1, 2, 3};
    struct point {
        double x, y;
    } p{1, 2};
    std::uint8_t small = 7;
    auto const k = [](int* a, float* f, point* q, std::uint8_t const* s) {
        a[3] += 1;
        f[2] += 1;
        q->y += *s;
    };
    omp_co::sync_wait(omp_co::target(dev, k, omp_co::tofrom(plain), omp_co::tofrom(fixed), omp_co::tofrom(p),
                                     omp_co::to(small)));
    BOOST_TEST(plain[3] == 5);
    BOOST_TEST(fixed[2] == 4);
    BOOST_TEST(p.y == 9);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace kernels_test
