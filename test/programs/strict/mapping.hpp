// SPDX-License-Identifier: BSL-1.0
// Right programs on a strict host device: the life of mapped data. There is nothing to report, and the results are what they
// are elsewhere.
#pragma once

#include "common.hpp"

#include <array>
#include <boost/asio/awaitable.hpp>
#include <boost/system/system_error.hpp>
#include <numeric>
#include <stdexcept>
#if OMP_CO_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

namespace strict_test {

inline void every_map_type_on_a_kernel()
{
    virtual_device const d({.strict = true});
    std::vector<int> a(101, 1), b(101, 0), c(101, 3), scratch(101, 4);
    auto const kernel = [](std::size_t i, int const* in, int* out, int* both, int* s) {
        s[i] = in[i];
        out[i] = s[i] + 1;
        both[i] += in[i];
    };
    sync_wait(omp_co::target(d, kernel, omp_co::range(101), omp_co::to(a), omp_co::from(b), omp_co::tofrom(c),
                             omp_co::alloc(scratch)));
    check(all(a, 1) && all(b, 2) && all(c, 4) && all(scratch, 4), "values behind a kernel");
}

inline void update_from_and_read()
{
    virtual_device const d({.strict = true});
    std::vector<int> x(103, 1);
    sync_wait(omp_co::target_enter_data(d, omp_co::to(x)));
    for (int i = 2; i < 5; ++i) {
        sync_wait(increment(d, x));
        sync_wait(omp_co::target_update(d, omp_co::from(x)));
        check(all(x, i), "values behind an update");
    }
    sync_wait(increment(d, x));
    sync_wait(omp_co::target_exit_data(d, omp_co::from(x)));
    check(all(x, 5), "values behind the exit");
}

inline void always_from_brings_the_result_each_time()
{
    virtual_device const d({.strict = true});
    std::vector<int> x(10, 1);
    sync_wait(omp_co::target_enter_data(d, omp_co::to(x)));
    sync_wait(omp_co::target(d, add_one(), omp_co::range(10), omp_co::tofrom(x, omp_co::always)));
    check(all(x, 2), "values behind always");
    auto const kernel = [](int* p, int* q) { p[0] = q[0] + 1; };
    sync_wait(omp_co::target(d, kernel, omp_co::from(x, omp_co::always), omp_co::tofrom(x)));
    check(x[0] == 3, "the same data in two clauses");
}

inline void what_a_kernel_only_reads_stays_open()
{
    virtual_device const d({.strict = true});
    std::vector<int> x(10, 1);
    int sum = 0;
    auto const kernel = [](int const* p, int* s) { *s = std::accumulate(p, p + 10, 0); };
    sync_wait(omp_co::target_enter_data(d, omp_co::to(x)));
    sync_wait(omp_co::target(d, kernel, omp_co::to(x), omp_co::from(sum)));
    x[3] = 2; // and the device's copy is the older one
    check(sum == 10 && x[0] == 1, "a kernel that reads");
    sync_wait(omp_co::target_update(d, omp_co::to(x)));
    sync_wait(omp_co::target(d, kernel, omp_co::to(x), omp_co::from(sum)));
    check(sum == 11, "an update of what a kernel reads");
}

inline void release_and_delete_make_the_host_s_copy_count()
{
    virtual_device const d({.strict = true});
    std::vector<int> x(10, 1), y(10, 1);
    sync_wait(omp_co::target_enter_data(d, omp_co::to(x), omp_co::to(y)));
    sync_wait(omp_co::target_enter_data(d, omp_co::to(y)));
    sync_wait(increment(d, x));
    sync_wait(increment(d, y));
    sync_wait(omp_co::target_exit_data(d, omp_co::release(x), omp_co::delete_(y)));
    check(all(x, 1) && all(y, 1), "values behind release and delete_");
    x[0] = y[0] = 2;
}

inline void an_update_to_goes_back_to_what_the_host_has()
{
    virtual_device const d({.strict = true});
    std::vector<int> x(10, 1);
    sync_wait(omp_co::target_enter_data(d, omp_co::to(x)));
    sync_wait(increment(d, x));
    sync_wait(omp_co::target_update(d, omp_co::to(x)));
    check(all(x, 1), "both are equal");
    sync_wait(increment(d, x));
    omp_co::device_section<int> const copy(d.get(), d.get().mapped_ptr(x.data()), 10);
    sync_wait(omp_co::target_memcpy(copy, x)); // the same by hand
    check(all(x, 1), "both are equal");
    sync_wait(increment(d, x));
    sync_wait(omp_co::target_memcpy(x, copy));
    check(all(x, 2), "brought by hand");
}

inline void the_result_may_be_given_up_in_words()
{
#if OMP_CO_ADDRESS_SANITIZER
    virtual_device const d({.strict = true});
    std::vector<int> x(10, 1);
    sync_wait(omp_co::target_enter_data(d, omp_co::to(x)));
    sync_wait(increment(d, x));
    ASAN_UNPOISON_MEMORY_REGION(x.data(), 10 * sizeof(int));
    x.assign(10, 5);
    sync_wait(omp_co::target_update(d, omp_co::to(x)));
    sync_wait(increment(d, x));
    sync_wait(omp_co::target_exit_data(d, omp_co::from(x)));
    check(all(x, 6), "data that the host has replaced");
#endif
}

inline void nested_data_regions()
{
    virtual_device const d({.strict = true});
    std::vector<int> x(10, 1), y(10, 1);
    auto inner = [&]() -> boost::asio::awaitable<void> {
        co_await increment(d, x);
        co_await increment(d, y);
    };
    auto outer = [&]() -> boost::asio::awaitable<void> {
        co_await omp_co::target_data(d.get(), omp_co::tofrom(x), omp_co::tofrom(y), inner);
        check(all(y, 2), "values behind the inner region");
        co_await omp_co::target_update(d.get(), omp_co::from(x));
        check(all(x, 2), "values inside the outer region");
        co_await increment(d, x);
    };
    sync_wait(omp_co::target_data(d.get(), omp_co::tofrom(x), outer));
    check(all(x, 3), "values behind the outer region");
}

inline void a_coroutine_s_own_variables()
{
    virtual_device const d({.strict = true});
    sync_wait([](omp_co::device dev) -> boost::asio::awaitable<void> {
        std::array<int, 5> x{1, 2, 3, 4, 5};
        int sum = 0;
        char before = 1, value = 2, after = 3;
        auto const kernel = [](int* p, int* s, char* v) {
            for (int i = 0; i < 5; ++i) *s += p[i]++;
            ++*v;
        };
        co_await omp_co::target(dev, kernel, omp_co::tofrom(x), omp_co::tofrom(sum), omp_co::tofrom(value));
        check(sum == 15 && x[4] == 6 && before == 1 && value == 3 && after == 3, "variables of a coroutine");
    }(d));
}

inline void a_kernel_that_throws()
{
    virtual_device const d({.strict = true});
    std::vector<int> x(10, 1), y(10, 1);
    auto const kernel = [](int* p, int* q) {
        p[0] = q[0] = 7;
        throw std::runtime_error("on purpose");
    };
    sync_wait(omp_co::target_enter_data(d, omp_co::to(x)));
    auto const fails = [&] {
        try {
            sync_wait(omp_co::target(d, kernel, omp_co::tofrom(x), omp_co::tofrom(y)));
        } catch (boost::system::system_error const& e) {
            return e.code() == omp_co::errc::kernel_failed;
        }
        return false;
    };
    check(fails(), "the kernel has thrown");
    check(all(x, 1) && all(y, 1), "the host's copies are as they were");
    sync_wait(omp_co::target_update(d, omp_co::to(x)));
    sync_wait(increment(d, x));
    check(fails(), "the kernel has thrown again");
    sync_wait(omp_co::target_exit_data(d, omp_co::release(x)));
    check(all(x, 1), "behind the release");
}

inline void sections_and_odd_alignments()
{
    virtual_device const d({.strict = true});
    std::vector<char> x(64);
    auto const kernel = [](std::size_t i, char* p) { ++p[i]; };
    for (std::size_t first = 0; first < 20; ++first)
        for (std::size_t count = 1; count < 20; ++count) {
            auto const part = omp_co::section(x, first, count);
            sync_wait(omp_co::target_enter_data(d, omp_co::to(part)));
            sync_wait(omp_co::target(d, kernel, omp_co::range(count), omp_co::tofrom(part)));
            for (std::size_t i = 0; i < 64; ++i) // its neighbours are as open as ever
                if (i < first || i >= first + count) ++x[i];
            sync_wait(omp_co::target_exit_data(d, omp_co::from(part)));
            for (char& v : x) --v;
        }
    check(x == std::vector<char>(64), "values of sections");
}

inline void neighbours_that_are_mapped_apart()
{
    virtual_device const d({.strict = true});
    struct {
        char a[5];
        char b[6];
        char c[5];
    } s{};
    auto const kernel = [](char* p) { ++p[0]; };
    sync_wait(omp_co::target_enter_data(d, omp_co::to(s.a), omp_co::to(s.c)));
    sync_wait(omp_co::target(d, kernel, omp_co::tofrom(s.a)));
    sync_wait(omp_co::target(d, kernel, omp_co::tofrom(s.c)));
    for (char& v : s.b) v = 1;
    sync_wait(omp_co::target_exit_data(d, omp_co::from(s.c)));
    check(s.b[5] == 1 && s.c[0] == 1 && s.c[4] == 0, "one of three neighbours");
    sync_wait(omp_co::target_exit_data(d, omp_co::from(s.a)));
    check(s.a[0] == 1 && s.a[4] == 0, "another one of three neighbours");
}

inline void parts_of_an_array()
{
    virtual_device const d({.strict = true});
    std::vector<int> x(100, 1);
    sync_wait(omp_co::target_enter_data(d, omp_co::to(x)));
    sync_wait(omp_co::target(d, add_one(), omp_co::range(20), omp_co::tofrom(omp_co::section(x, 40, 20))));
    check(x[39] == 1 && x[60] == 1, "beside the part that a kernel had");
    sync_wait(omp_co::target_update(d, omp_co::from(omp_co::section(x, 45, 5))));
    check(x[45] == 2 && x[49] == 2, "a part of that part");
    sync_wait(omp_co::target_update(
        d, omp_co::from(omp_co::section(x.data(), 40, 4, 2)), // four elements, every second one
        omp_co::from(omp_co::section(x, 50, 10))));
    check(x[40] == 2 && x[42] == 2 && x[59] == 2, "a block of it");
    sync_wait(omp_co::target_exit_data(d, omp_co::from(x)));
    check(std::accumulate(x.begin(), x.end(), 0) == 120, "all of it");
}

inline constexpr program right_mappings[] = {
    OMP_CO_TEST_PROGRAM(every_map_type_on_a_kernel),
    OMP_CO_TEST_PROGRAM(update_from_and_read),
    OMP_CO_TEST_PROGRAM(always_from_brings_the_result_each_time),
    OMP_CO_TEST_PROGRAM(what_a_kernel_only_reads_stays_open),
    OMP_CO_TEST_PROGRAM(release_and_delete_make_the_host_s_copy_count),
    OMP_CO_TEST_PROGRAM(an_update_to_goes_back_to_what_the_host_has),
    OMP_CO_TEST_PROGRAM(the_result_may_be_given_up_in_words),
    OMP_CO_TEST_PROGRAM(nested_data_regions),
    OMP_CO_TEST_PROGRAM(a_coroutine_s_own_variables),
    OMP_CO_TEST_PROGRAM(a_kernel_that_throws),
    OMP_CO_TEST_PROGRAM(sections_and_odd_alignments),
    OMP_CO_TEST_PROGRAM(neighbours_that_are_mapped_apart),
    OMP_CO_TEST_PROGRAM(parts_of_an_array),
};

} // namespace strict_test
