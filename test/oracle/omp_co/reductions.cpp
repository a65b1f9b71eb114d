// SPDX-License-Identifier: BSL-1.0
// Reductions. Of integers, or of doubles whose sums are exact: OpenMP leaves the order open in which partial results meet.
#include "bed.hpp"

#include <algorithm>
#include <functional>

using namespace oracle;
using omp_co::range;
using omp_co::reduction;

namespace {

constexpr int n = 1'000;

struct numbers {
    numbers()
    {
        for (int i = 0; i < n; ++i) at[i] = (i * 7919) % 1'009 - 500;
    }
    int at[n];
};

} // namespace

static constexpr auto add = [](int i, int const* x, int& s) { s += x[i]; };

ORACLE_CASE(reduction_sum)
{
    numbers const x;
    int s = 5;
    run(add, range(n), omp_co::to(x.at), reduction(std::plus<>(), s));
    show("s", s);
}

ORACLE_CASE(reduction_difference)
{
    numbers const x;
    int s = 5;
    auto const subtract = [](int i, int const* p, int& r) { r -= p[i]; };
    run(subtract, range(n), omp_co::to(x.at), reduction(std::minus<>(), s));
    show("s", s);
}

ORACLE_CASE(reduction_product)
{
    unsigned s = 3;
    auto const multiply = [](int i, unsigned& r) { r *= 2U * static_cast<unsigned>(i) + 1U; };
    run(multiply, range(n), reduction(std::multiplies<>(), s));
    show("s", s);
}

ORACLE_CASE(reduction_minimum_and_maximum)
{
    numbers const x;
    int low = 10'000;
    int high = -10'000;
    auto const work = [](int i, int const* p, int& l, int& h) {
        l = std::min(l, p[i]);
        h = std::max(h, p[i]);
    };
    run(work, range(n), omp_co::to(x.at), reduction(std::ranges::min, low),
        reduction(std::ranges::max, high));
    show("s", low, high);
}

ORACLE_CASE(reduction_minimum_that_is_there_before)
{
    numbers const x;
    int low = -10'000;
    double high = 1e6;
    auto const work = [](int i, int const* p, int& l, double& h) {
        l = std::min(l, p[i]);
        h = std::max(h, static_cast<double>(p[i]));
    };
    run(work, range(n), omp_co::to(x.at), reduction(std::ranges::min, low),
        reduction(std::ranges::max, high));
    show("s", low, high);
}

ORACLE_CASE(reduction_of_bits)
{
    numbers const x;
    int both = 0xFFFFFF;
    int any = 0x100000;
    int odd = 0x55;
    auto const work = [](int i, int const* p, int& b, int& a, int& o) {
        b &= p[i] | 0xF0F0;
        a |= p[i] & 0xFF;
        o ^= p[i];
    };
    run(work, range(n), omp_co::to(x.at), reduction(std::bit_and<>(), both), reduction(std::bit_or<>(), any),
        reduction(std::bit_xor<>(), odd));
    show("s", both, any, odd);
}

ORACLE_CASE(reduction_of_truth)
{
    numbers const x;
    bool all = true;
    bool all_positive = true;
    bool some = false;
    bool some_large = false;
    auto const work = [](int i, int const* p, bool& a, bool& b, bool& c, bool& d) {
        a = a && p[i] < 1'000;
        b = b && p[i] > 0;
        c = c || p[i] == 0;
        d = d || p[i] > 1'000;
    };
    run(work, range(n), omp_co::to(x.at), reduction(std::logical_and<>(), all),
        reduction(std::logical_and<>(), all_positive), reduction(std::logical_or<>(), some),
        reduction(std::logical_or<>(), some_large));
    show("s", all, all_positive, some, some_large);
}

ORACLE_CASE(reduction_of_doubles)
{
    double s = 0.5;
    auto const work = [](int i, double& r) { r += 0.25 * i; };
    run(work, range(n), reduction(std::plus<>(), s));
    show("s", s);
}

ORACLE_CASE(reduction_of_an_array)
{
    int bins[7] = {100, 0, 0, 0, 0, 0, 1};
    auto const work = [](int i, int* b) { ++b[i % 7]; };
    run(work, range(n), reduction(std::plus<>(), bins));
    show_array("bins", bins);
}

ORACLE_CASE(reduction_of_a_section)
{
    int bins[6] = {1, 2, 3, 4, 5, 6};
    auto const work = [](int i, int* b) { ++b[i % 3]; };
    run(work, range(n), reduction(std::plus<>(), omp_co::section(bins, 2, 3)));
    show_array("bins", bins);
}

ORACLE_CASE(reduction_over_two_dimensions)
{
    long s = 1;
    auto const work = [](int x, int y, long& r) { r += 100 * y + x; };
    run(work, range(20, 30), reduction(std::plus<>(), s));
    show("s", s);
}

ORACLE_CASE(reduction_over_nothing)
{
    int none = 0;
    int s = 7;
    int low = 3;
    auto const work = [](int, int& r, int& l) {
        r += 1;
        l = 0;
    };
    run(work, range(none), reduction(std::plus<>(), s), reduction(std::ranges::min, low));
    show("s", s, low);
}

ORACLE_CASE(reduction_of_mapped_data)
{
    int s = 10;
    enter_data(omp_co::to(s));
    s = 0;
    auto const work = [](int, int& r) { ++r; };
    for (int round = 0; round < 3; ++round) run(work, range(n), reduction(std::plus<>(), s));
    show("host", s);
    update(omp_co::from(s));
    show("device", s);
    show("count", drain(&s, 1));
}

ORACLE_CASE(reduction_on_the_host)
{
    numbers const x;
    int s = 5;
    run(add, range(n), omp_co::to(x.at), reduction(std::plus<>(), s), omp_co::if_(false));
    show("s", s);
}

namespace {

struct sums {
    int a, b;
};

} // namespace

ORACLE_CASE(reduction_of_one_s_own)
{
    sums s{1, 2};
    auto const work = [](int i, sums& r) {
        r.a += i;
        r.b += 1;
    };
    auto const join = [](sums x, sums y) { return sums{x.a + y.a, x.b + y.b}; };
    run(work, range(n), reduction(join, s, sums{0, 0}));
    show("s", s.a, s.b);
}
