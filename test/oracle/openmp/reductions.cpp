// SPDX-License-Identifier: BSL-1.0
// Reductions. Of integers, or of doubles whose sums are exact: OpenMP leaves the order open in which partial results meet.
#include "bed.hpp"

using namespace oracle;

constexpr int n = 1'000;

struct numbers {
    numbers()
    {
        for (int i = 0; i < n; ++i) at[i] = (i * 7919) % 1'009 - 500;
    }
    int at[n];
};

ORACLE_CASE(reduction_sum)
{
    numbers const x;
    int s = 5;
#pragma omp target teams distribute parallel for reduction(+ : s) map(to : x)
    for (int i = 0; i < n; ++i) s += x.at[i];
    show("s", s);
}

ORACLE_CASE(reduction_difference)
{
    numbers const x;
    int s = 5;
#pragma omp target teams distribute parallel for reduction(- : s) map(to : x)
    for (int i = 0; i < n; ++i) s -= x.at[i];
    show("s", s);
}

ORACLE_CASE(reduction_product)
{
    unsigned s = 3;
#pragma omp target teams distribute parallel for reduction(* : s)
    for (int i = 0; i < n; ++i) s *= 2U * static_cast<unsigned>(i) + 1U;
    show("s", s);
}

ORACLE_CASE(reduction_minimum_and_maximum)
{
    numbers const x;
    int low = 10'000;
    int high = -10'000;
#pragma omp target teams distribute parallel for reduction(min : low) reduction(max : high) map(to : x)
    for (int i = 0; i < n; ++i) {
        low = x.at[i] < low ? x.at[i] : low;
        high = x.at[i] > high ? x.at[i] : high;
    }
    show("s", low, high);
}

ORACLE_CASE(reduction_minimum_that_is_there_before)
{
    numbers const x;
    int low = -10'000;
    double high = 1e6;
#pragma omp target teams distribute parallel for reduction(min : low) reduction(max : high) map(to : x)
    for (int i = 0; i < n; ++i) {
        low = x.at[i] < low ? x.at[i] : low;
        high = x.at[i] > high ? x.at[i] : high;
    }
    show("s", low, high);
}

ORACLE_CASE(reduction_of_bits)
{
    numbers const x;
    int both = 0xFFFFFF;
    int any = 0x100000;
    int odd = 0x55;
#pragma omp target teams distribute parallel for reduction(& : both) reduction(| : any) reduction(^ : odd) map(to : x)
    for (int i = 0; i < n; ++i) {
        both &= x.at[i] | 0xF0F0;
        any |= x.at[i] & 0xFF;
        odd ^= x.at[i];
    }
    show("s", both, any, odd);
}

ORACLE_CASE(reduction_of_truth)
{
    numbers const x;
    bool all = true;
    bool all_positive = true;
    bool some = false;
    bool some_large = false;
#pragma omp target teams distribute parallel for reduction(&& : all, all_positive) reduction(|| : some, some_large) map(to : x)
    for (int i = 0; i < n; ++i) {
        all = all && x.at[i] < 1'000;
        all_positive = all_positive && x.at[i] > 0;
        some = some || x.at[i] == 0;
        some_large = some_large || x.at[i] > 1'000;
    }
    show("s", all, all_positive, some, some_large);
}

ORACLE_CASE(reduction_of_doubles)
{
    double s = 0.5;
#pragma omp target teams distribute parallel for reduction(+ : s)
    for (int i = 0; i < n; ++i) s += 0.25 * i;
    show("s", s);
}

ORACLE_CASE(reduction_of_an_array)
{
    int bins[7] = {100, 0, 0, 0, 0, 0, 1};
#pragma omp target teams distribute parallel for reduction(+ : bins) map(tofrom : bins)
    for (int i = 0; i < n; ++i) ++bins[i % 7];
    show_array("bins", bins);
}

ORACLE_CASE(reduction_of_a_section)
{
    int bins[6] = {1, 2, 3, 4, 5, 6};
#pragma omp target teams distribute parallel for reduction(+ : bins [2:3]) map(tofrom : bins)
    for (int i = 0; i < n; ++i) ++bins[2 + i % 3];
    show_array("bins", bins);
}

ORACLE_CASE(reduction_over_two_dimensions)
{
    long s = 1;
#pragma omp target teams distribute parallel for collapse(2) reduction(+ : s) map(tofrom : s)
    for (int y = 0; y < 30; ++y)
        for (int x = 0; x < 20; ++x) s += 100 * y + x;
    show("s", s);
}

ORACLE_CASE(reduction_over_nothing)
{
    int none = 0;
    int s = 7;
    int low = 3;
#pragma omp target teams distribute parallel for reduction(+ : s) reduction(min : low) map(tofrom : s, low)
    for (int i = 0; i < none; ++i) {
        s += 1;
        low = 0;
    }
    show("s", s, low);
}

ORACLE_CASE(reduction_of_mapped_data)
{
    int s = 10;
#pragma omp target enter data map(to : s)
    s = 0;
    for (int round = 0; round < 3; ++round) {
#pragma omp target teams distribute parallel for reduction(+ : s) map(tofrom : s)
        for (int i = 0; i < n; ++i) ++s;
    }
    show("host", s);
#pragma omp target update from(s)
    show("device", s);
    show("count", drain(&s, 1));
}

ORACLE_CASE(reduction_on_the_host)
{
    numbers const x;
    int s = 5;
#pragma omp target teams distribute parallel for reduction(+ : s) map(to : x) if (0)
    for (int i = 0; i < n; ++i) s += x.at[i];
    show("s", s);
}

struct sums {
    int a, b;
};
#pragma omp declare reduction(join:sums                                                                      \
                              : omp_out = sums{omp_out.a + omp_in.a, omp_out.b + omp_in.b})                  \
    initializer(omp_priv = sums{0, 0})

ORACLE_CASE(reduction_of_one_s_own)
{
    sums s{1, 2};
#pragma omp target teams distribute parallel for reduction(join : s) map(tofrom : s)
    for (int i = 0; i < n; ++i) {
        s.a += i;
        s.b += 1;
    }
    show("s", s.a, s.b);
}
