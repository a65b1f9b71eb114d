// SPDX-License-Identifier: BSL-1.0
// Types and counts at the edge: over-aligned ones, empty ones, and none at all.
#include "support/devices.hpp"
#include "support/outcome.hpp"

#include <omp_co/omp_co.hpp>

#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace odd_test {

namespace asio = boost::asio;
namespace data = boost::unit_test::data;
using namespace omp_co_test;
using omp_co::errc;
using omp_co::section;

template <std::size_t Alignment>
struct alignas(Alignment) wide {
    long value;
    friend wide operator+(wide a, wide b) { return wide{a.value + b.value}; }
};

template <class T>
bool aligned(T const* p)
{
    return reinterpret_cast<std::uintptr_t>(p) % alignof(T) == 0;
}

struct nothing {
    friend nothing operator+(nothing, nothing) { return {}; }
};
static_assert(std::is_empty_v<nothing>);

// A value may be in any clause, and the kernel has some too.
template <std::size_t Alignment>
void use_over_aligned(omp_co::device dev)
{
    using element = wide<Alignment>;
    element const five{5};
    element sum{1};
    std::vector<element> x(3, element{2});
    std::vector<element> sums(2, element{0});
    std::vector<int> bad(1, 0);
    auto const k = [five](std::size_t i, element* p, element own, element* scratch, element& s, element* all,
                          int* wrong) {
        bool const good =
            aligned(&five) && aligned(p) && aligned(&own) && aligned(scratch) && aligned(&s) && aligned(all);
        if (!good) wrong[0] = 1;
        scratch[1].value = own.value;
        p[i].value += scratch[1].value + five.value;
        s.value += 10;
        all[1].value += 100;
    };
    auto const op = omp_co::target(
        dev, k, omp_co::range(3), omp_co::tofrom(x), omp_co::firstprivate(element{7}),
        omp_co::private_<element>(2), omp_co::reduction(std::plus<>(), sum, element{0}),
        omp_co::reduction(std::plus<>(), sums, element{0}), omp_co::reduction(std::plus<>(), bad));
    BOOST_TEST(!outcome(op));
    BOOST_TEST(bad[0] == 0);
    BOOST_TEST(x[2].value == 14);
    BOOST_TEST(sum.value == 31);
    BOOST_TEST(sums[1].value == 300);
}

BOOST_AUTO_TEST_SUITE(odd)

BOOST_DATA_TEST_CASE(over_aligned_types_in_every_clause, data::make(device_kinds), kind)
{
    test_device const dev = kind.make();
    use_over_aligned<16>(dev);
    use_over_aligned<64>(dev);
    use_over_aligned<128>(dev);
    use_over_aligned<256>(dev);
}

// A coroutine's frame is aligned as operator new says, and no more.
BOOST_DATA_TEST_CASE(over_aligned_values_in_a_coroutine, data::make(device_kinds), kind)
{
    test_device const dev = kind.make();
    static wide<128> const value{3};
    long out = 0;
    auto const k = [](wide<128> v, long* p) { *p += aligned(&v) ? v.value : -100; };
    auto const task = [&]() -> asio::awaitable<void> {
        co_await omp_co::target(dev, k, omp_co::firstprivate(value), omp_co::tofrom(out));
        auto op = omp_co::target(dev, k, omp_co::firstprivate(value), omp_co::tofrom(out));
        co_await std::move(op);
    };
    omp_co::sync_wait(task());
    BOOST_TEST(out == 6);
}

BOOST_DATA_TEST_CASE(over_aligned_memory_of_the_device, data::make(device_kinds), kind)
{
    test_device const dev = kind.make();
    for (int n : {1, 2, 3, 5}) {
        auto one = omp_co::sync_wait(omp_co::allocate<wide<128>>(dev, n));
        auto two = omp_co::sync_wait(omp_co::allocate<wide<256>>(dev, n));
        BOOST_TEST(aligned(one.get()));
        BOOST_TEST(aligned(two.get()));
    }
}

BOOST_DATA_TEST_CASE(empty_types, data::make(device_kinds), kind)
{
    test_device const dev = kind.make();
    nothing one;
    nothing sum;
    std::vector<nothing> many(5);
    int seen = 0;
    auto const k = [](nothing v, nothing* p, nothing const* q, nothing* own, nothing& s, int* out) {
        own[2] = v;
        *p = own[2];
        s = s + q[4];
        ++*out;
    };
    BOOST_TEST(!outcome(omp_co::target_enter_data(dev, omp_co::to(many))));
    BOOST_TEST(
        !outcome(omp_co::target(dev, k, omp_co::firstprivate(nothing()), omp_co::tofrom(one),
                                omp_co::to(many), omp_co::private_<nothing>(3),
                                omp_co::reduction(std::plus<>(), sum, nothing()), omp_co::tofrom(seen))));
    BOOST_TEST(seen == 1);
    BOOST_TEST(!outcome(omp_co::target_update(dev, omp_co::from(section(many, 1, 3)))));
    BOOST_TEST(dev.get().is_present(&many[4]) == dev.get().is_present(&many[0]));
    if (kind.copies) {
        BOOST_TEST(dev.get().is_present(&many[4]));
        BOOST_TEST(!dev.get().is_present(&many[4] + 1)); // each has a byte
        BOOST_TEST(!dev.get().is_present(&one));
    }
    BOOST_TEST(!outcome(omp_co::target_exit_data(dev, omp_co::from(many))));
    bool const on_host = dev.get() == omp_co::initial_device(); // where all is present
    BOOST_TEST(dev.get().is_present(&many[0]) == on_host);
}

BOOST_DATA_TEST_CASE(no_iterations, data::make(device_kinds), kind)
{
    test_device const dev = kind.make();
    int x = 1;
    int sum = 4;
    std::vector<int> none;
    bool ran = false;
    auto const one = [r = &ran](int, int*, int&, int*) { *r = true; };
    auto const three = [r = &ran](int, int, int, int*, int&, int*) { *r = true; };
    auto const with = [&](auto const& k, auto range) {
        return outcome(omp_co::target(dev, k, range, omp_co::tofrom(x), omp_co::reduction(std::plus<>(), sum),
                                      omp_co::private_<int>(0)));
    };
    BOOST_TEST(!with(one, omp_co::range(0)));
    BOOST_TEST(!with(three, omp_co::range(5, 0, 3)));
    BOOST_TEST(!with(three, omp_co::range(0, 0, 0)));
    BOOST_TEST(!ran);
    BOOST_TEST(x == 1);
    BOOST_TEST(sum == 4);
    // None of what is reduced, while the kernel runs.
    std::atomic<int> runs{0};
    auto const count = [r = &runs](int, int*, int* own) { *r += own != nullptr || own == nullptr; };
    BOOST_TEST(!outcome(omp_co::target(dev, count, omp_co::range(10), omp_co::reduction(std::plus<>(), none),
                                       omp_co::private_<int>(0))));
    BOOST_TEST(runs == 10);
}

BOOST_DATA_TEST_CASE(no_elements, data::make(device_kinds), kind)
{
    test_device const dev = kind.make();
    std::vector<int> v(4, 1);
    std::vector<int> none;
    int* const null = nullptr;
    bool ran = false;
    auto const k = [r = &ran](int*, int const*, int*) { *r = true; };
    BOOST_TEST(!outcome(omp_co::target(dev, k, omp_co::tofrom(section(v, 4, 0)), omp_co::to(none),
                                       omp_co::from(section(null, 0, 0)))));
    BOOST_TEST(ran);
    BOOST_TEST(!outcome(omp_co::target_enter_data(dev, omp_co::to(none), omp_co::alloc(section(v, 0, 0)))));
    BOOST_TEST(!outcome(
        omp_co::target_update(dev, omp_co::to(section(v, 1, 0)), omp_co::from(section(null, 0, 0, 5)),
                              omp_co::from(omp_co::section2d(v.data(), {2, 2}, {1, 1}, {0, 1})))));
    BOOST_TEST(!outcome(omp_co::target_exit_data(dev, omp_co::delete_(section(v, 0, 0)))));
    auto a = omp_co::sync_wait(omp_co::allocate<int>(dev, 0));
    auto b = omp_co::sync_wait(omp_co::allocate<int>(dev, 2));
    BOOST_TEST(a.size() == 0U);
    BOOST_TEST(!outcome(omp_co::target_memset(a, 7)));
    BOOST_TEST(!outcome(omp_co::target_memset(b, 0)));
    BOOST_TEST(!outcome(omp_co::target_memcpy(b, a)));
    BOOST_TEST(!outcome(omp_co::target_memcpy(a, none)));
    BOOST_TEST(!outcome(omp_co::target_memcpy(v, b.section(2, 0))));
    BOOST_TEST(v[0] == 1);
    BOOST_TEST(dev.get().statistics().mapped_ranges == 0U);
}

BOOST_DATA_TEST_CASE(teams_of_none_are_refused, data::make(device_kinds), kind)
{
    test_device const dev = kind.make();
    bool ran = false;
    auto const k = [r = &ran] { *r = true; };
    auto const refused = [&](auto teams) {
        return outcome(omp_co::target(dev, k, teams)) == errc::invalid_argument;
    };
    BOOST_TEST(refused(omp_co::teams(0, 32)));
    BOOST_TEST(refused(omp_co::teams(4, 0)));
    BOOST_TEST(refused(omp_co::teams(-1, 32)));
    BOOST_TEST(refused(omp_co::teams(4, 32, -1)));
    BOOST_TEST(refused(omp_co::teams(omp_co::range(2, 0), omp_co::range(32))));
    BOOST_TEST(refused(omp_co::teams(omp_co::range(2), omp_co::range(4, 4, 0))));
    BOOST_TEST(!ran);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace odd_test
