// SPDX-License-Identifier: BSL-1.0
// Reductions: operations, scalars and arrays, one part or many, and what a failure leaves.
#include "support/devices.hpp"
#include "support/outcome.hpp"

#include <omp_co/omp_co.hpp>

#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace reductions_test {

namespace data = boost::unit_test::data;
using namespace omp_co_test;
using omp_co::range;
using omp_co::reduction;

struct complex_sum {
    double re, im;
    friend complex_sum operator+(complex_sum a, complex_sum b) { return {a.re + b.re, a.im + b.im}; }
};

BOOST_AUTO_TEST_SUITE(reductions_of_regions)

BOOST_DATA_TEST_CASE(a_sum_begins_with_the_value_that_is_there, data::make({0, 1, 2, 5}), workers)
{
    omp_co::host::virtual_device dev({.workers = static_cast<unsigned>(workers)});
    for (std::size_t n : {0U, 1U, 2U, 7U, 64U, 10'000U, 300'000U}) {
        std::vector<std::int64_t> x(n);
        std::iota(x.begin(), x.end(), 1);
        std::int64_t sum = 5;
        BOOST_TEST(!outcome(omp_co::target(
            dev, [](std::size_t i, std::int64_t const* p, std::int64_t& s) { s += p[i]; }, range(n),
            omp_co::to(x), reduction(std::plus<>(), sum))));
        BOOST_TEST(sum == 5 + static_cast<std::int64_t>(n) * (static_cast<std::int64_t>(n) + 1) / 2);
    }
}

BOOST_DATA_TEST_CASE(each_operation_has_its_identity, data::make({0, 3}), workers)
{
    omp_co::host::virtual_device dev({.workers = static_cast<unsigned>(workers)});
    std::vector<int> x(20'000);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int>((i * 7919) % 10'007) - 5'000;
    int sum = 1, difference = 1, lowest = 10'000, highest = -10'000, common = -1, any = 0, odd = 0;
    bool all_small = true, some_zero = false;
    unsigned product = 3;
    BOOST_TEST(!outcome(omp_co::target(
        dev,
        [](std::size_t i, int const* p, int& s, int& d, int& l, int& h, int& c, int& a, int& o, bool& all,
           bool& some, unsigned& prod) {
            s += p[i];
            d -= p[i];
            l = std::min(l, p[i]);
            h = std::max(h, p[i]);
            c &= p[i] | 0xFF0000;
            a |= p[i] & 0xFF;
            o ^= p[i];
            all = all && p[i] < 5'100;
            some = some || p[i] == 0;
            prod *= 2 * static_cast<unsigned>(i) + 1;
        },
        range(x.size()), omp_co::to(x), reduction(std::plus<>(), sum),
        reduction(std::minus<int>(), difference), reduction(std::ranges::min, lowest),
        reduction(std::ranges::max, highest), reduction(std::bit_and<>(), common),
        reduction(std::bit_or<>(), any), reduction(std::bit_xor<>(), odd),
        reduction(std::logical_and<>(), all_small), reduction(std::logical_or<>(), some_zero),
        reduction(std::multiplies<>(), product))));
    int sum_ = 1, difference_ = 1, common_ = -1, any_ = 0, odd_ = 0;
    unsigned product_ = 3;
    for (std::size_t i = 0; i < x.size(); ++i) {
        sum_ += x[i];
        difference_ -= x[i];
        common_ &= x[i] | 0xFF0000;
        any_ |= x[i] & 0xFF;
        odd_ ^= x[i];
        product_ *= 2 * static_cast<unsigned>(i) + 1;
    }
    BOOST_TEST(sum == sum_);
    BOOST_TEST(difference == difference_);
    BOOST_TEST(lowest == *std::min_element(x.begin(), x.end()));
    BOOST_TEST(highest == *std::max_element(x.begin(), x.end()));
    BOOST_TEST(common == common_);
    BOOST_TEST(any == any_);
    BOOST_TEST(odd == odd_);
    BOOST_TEST(all_small);
    BOOST_TEST(some_zero);
    BOOST_TEST(product == product_);
}

BOOST_AUTO_TEST_CASE(identities_of_limits)
{
    using omp_co::detail::identity_of;
    using min_op = std::remove_cv_t<decltype(std::ranges::min)>;
    using max_op = std::remove_cv_t<decltype(std::ranges::max)>;
    BOOST_TEST((identity_of<min_op, double>::value() == std::numeric_limits<double>::infinity()));
    BOOST_TEST((identity_of<max_op, float>::value() == -std::numeric_limits<float>::infinity()));
    BOOST_TEST((identity_of<min_op, unsigned char>::value() == 255));
    BOOST_TEST((identity_of<max_op, long>::value() == std::numeric_limits<long>::min()));
    BOOST_TEST((identity_of<std::bit_and<>, std::uint16_t>::value() == 0xFFFF));
}

BOOST_DATA_TEST_CASE(arrays_and_operations_of_ones_own, data::make({0, 1, 4}), workers)
{
    omp_co::host::virtual_device dev({.workers = static_cast<unsigned>(workers)});
    std::size_t const n = 50'000;
    std::vector<int> bins(17, 100);
    complex_sum total{1, 2};
    BOOST_TEST(!outcome(omp_co::target(
        dev,
        [](std::size_t i, int* b, complex_sum& t) {
            ++b[i % 17];
            t.re += 1;
            t.im += 0.5;
        },
        range(n), reduction(std::plus<>(), bins),
        reduction([](complex_sum a, complex_sum b) { return a + b; }, total, complex_sum{0, 0}))));
    for (std::size_t b = 0; b < 17; ++b) BOOST_TEST(bins[b] == 100 + static_cast<int>((n - b + 16) / 17));
    BOOST_TEST(total.re == 1 + static_cast<double>(n));
    BOOST_TEST(total.im == 2 + static_cast<double>(n) / 2);

    int part[6]{};
    int* const p = part;
    BOOST_TEST(!outcome(omp_co::target(
        dev, [](int i, int j, int* s) { s[1] += i + j; }, range(30, 20),
        reduction(std::plus<>(), omp_co::section(p, 2, 2)))));
    BOOST_TEST(part[3] == 20 * 435 + 30 * 190);
    BOOST_TEST(part[0] + part[1] + part[2] + part[4] + part[5] == 0);
}

// Sums of doubles depend on how they are grouped, and that on the number of workers alone.
BOOST_DATA_TEST_CASE(the_same_number_of_workers_gives_the_same_sum, data::make({1, 2, 3}), workers)
{
    omp_co::host::virtual_device dev({.workers = static_cast<unsigned>(workers)});
    std::vector<double> x(100'000);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1.0 / static_cast<double>(i * i + 3);
    auto const sum_of = [&] {
        double sum = 0;
        BOOST_TEST(!outcome(omp_co::target(
            dev, [](std::size_t i, double const* p, double& s) { s += p[i]; }, range(x.size()), omp_co::to(x),
            reduction(std::plus<>(), sum))));
        return sum;
    };
    double const first = sum_of();
    for (int i = 0; i < 50; ++i) BOOST_TEST(sum_of() == first);
}

BOOST_DATA_TEST_CASE(mapped_results_come_back_with_their_mapping, data::make({0, 2}), workers)
{
    omp_co::host::virtual_device dev({.workers = static_cast<unsigned>(workers)});
    int sum = 10;
    BOOST_TEST(!outcome(omp_co::target_enter_data(dev, omp_co::to(sum))));
    for (int i = 0; i < 3; ++i)
        BOOST_TEST(!outcome(omp_co::target(
            dev, [](int, int& s) { ++s; }, range(1'000), reduction(std::plus<>(), sum))));
    BOOST_TEST(sum == 10);
    BOOST_TEST(!outcome(omp_co::target_exit_data(dev, omp_co::from(sum))));
    BOOST_TEST(sum == 3'010);
}

BOOST_DATA_TEST_CASE(a_kernel_that_throws_leaves_the_result_alone, data::make({0, 1, 3}), workers)
{
    omp_co::host::virtual_device dev({.workers = static_cast<unsigned>(workers)});
    long sum = 4;
    omp_co::diagnostics why;
    auto const ec = outcome(omp_co::target(
        dev,
        [](long i, long& s) {
            s += i;
            if (i == 77'777) throw std::runtime_error("enough");
        },
        range(100'000), reduction(std::plus<>(), sum), omp_co::explain(why)));
    BOOST_TEST((ec == omp_co::errc::kernel_failed));
    BOOST_TEST(sum == 4);
    BOOST_TEST(why.message().find("enough") != std::string::npos);
    BOOST_TEST(omp_co::device(dev).statistics().mapped_ranges == 0U);
}

BOOST_AUTO_TEST_CASE(kernel_objects_and_the_initial_device_reduce_too)
{
    omp_co::host::virtual_device dev({.workers = 2});
    omp_co::kernel<void(double const*, double&)> const sum_up(
        "sum_up", omp_co::host::variant([](std::size_t i, double const* x, double& s) { s += x[i]; }));
    std::vector<double> x(1'000, 0.5);
    for (omp_co::device where : {omp_co::device(dev), omp_co::initial_device()}) {
        double sum = 1;
        BOOST_TEST(!outcome(
            omp_co::target(where, sum_up, range(x.size()), omp_co::to(x), reduction(std::plus<>(), sum))));
        BOOST_TEST(sum == 501.0);
    }
}

struct alignas(256) wide {
    long value;
    friend wide operator+(wide a, wide b) { return {a.value + b.value}; }
};

// Each part's memory begins where the strictest of its objects may lie.
BOOST_DATA_TEST_CASE(partial_results_are_aligned, data::make({0, 1, 3}), workers)
{
    omp_co::host::virtual_device dev({.workers = static_cast<unsigned>(workers)});
    std::vector<wide> sums(1, wide{0});
    std::vector<long> misplaced(1, 0);
    BOOST_TEST(!outcome(omp_co::target(
        dev,
        [](long i, wide* w, long* bad) {
            w->value += i;
            bad[0] += reinterpret_cast<std::uintptr_t>(w) % alignof(wide) != 0;
        },
        range(100'000), reduction(std::plus<>(), sums, wide{0}), reduction(std::plus<>(), misplaced))));
    BOOST_TEST(misplaced[0] == 0);
    BOOST_TEST(sums[0].value == 99'999L * 50'000L);
}

BOOST_AUTO_TEST_CASE(private_memory_stands_beside_it)
{
    omp_co::host::virtual_device dev({.workers = 3});
    long sum = 0;
    BOOST_TEST(!outcome(omp_co::target(
        dev,
        [](long i, int* scratch, long& s) {
            for (int k = 0; k < 10; ++k) scratch[k] = static_cast<int>(i);
            s += scratch[9];
        },
        range(10'000), omp_co::private_<int>(10), reduction(std::plus<>(), sum))));
    BOOST_TEST(sum == 9'999L * 5'000L);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace reductions_test
