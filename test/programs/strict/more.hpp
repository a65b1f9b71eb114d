// SPDX-License-Identifier: BSL-1.0
// Right programs on a strict host device: structures, memory of the device, several devices and threads, ends that come early.
#pragma once

#include "common.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/system/system_error.hpp>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#if OMP_CO_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

namespace strict_test {

struct vector_like {
    int used;
    double* data;
    std::size_t n;
};

inline void a_structure_with_a_joined_pointer()
{
    virtual_device const d({.strict = true});
    std::vector<double> values(100, 1);
    vector_like v{0, values.data(), 100};
    auto const kernel = [](vector_like* p) {
        for (std::size_t i = 0; i < p->n; ++i) p->data[i] += 1;
        ++p->used;
    };
    sync_wait(omp_co::target_enter_data(d, omp_co::to(v), omp_co::to(values), omp_co::attach(v.data, 100)));
    sync_wait(omp_co::target(d, kernel, omp_co::tofrom(v)));
    check(v.data == values.data(), "the host's pointer may be read");
    sync_wait(omp_co::target_update(d, omp_co::from(omp_co::section(v.data, 0, 100))));
    sync_wait(omp_co::target_exit_data(d, omp_co::from(v), omp_co::release(values)));
    check(v.used == 1 && values[99] == 2, "values behind a joined pointer");
}

struct list_node {
    int value;
    list_node* next;
};
struct named_array {
    omp_co::mapped_array<int> keys;
    int used;
};

} // namespace strict_test

template <>
struct omp_co::mapper<strict_test::list_node> {
    static auto members(strict_test::list_node& n) { return std::tuple(omp_co::pointee(n.next, 1)); }
};
template <>
struct omp_co::mapper<strict_test::named_array> {
    static auto members(strict_test::named_array& t) { return std::tuple(omp_co::nested(t.keys)); }
};

namespace strict_test {

inline void structures_with_mappers()
{
    virtual_device const d({.strict = true});
    list_node last{3, nullptr}, middle{2, &last}, first{1, &middle};
    auto const kernel = [](list_node* n) {
        for (; n != nullptr; n = n->next) n->value *= 10;
    };
    sync_wait(omp_co::target_enter_data(d, omp_co::to(first)));
    sync_wait(omp_co::target(d, kernel, omp_co::tofrom(first)));
    sync_wait(omp_co::target_exit_data(d, omp_co::from(first))); // follows the pointers on the host
    check(first.value == 10 && middle.value == 20 && last.value == 30, "a list");

    named_array t{omp_co::mapped_array<int>(10), 0};
    auto const fill = [](named_array* p) {
        for (std::size_t i = 0; i < p->keys.size(); ++i) p->keys[i] = static_cast<int>(i);
        p->used = 10;
    };
    sync_wait(omp_co::target_enter_data(d, omp_co::to(t)));
    sync_wait(omp_co::target(d, fill, omp_co::tofrom(t)));
    sync_wait(omp_co::target_update(d, omp_co::from(t)));
    check(t.used == 10 && t.keys[9] == 9, "a mapped array");
    sync_wait(omp_co::target_exit_data(d, omp_co::release(t)));
}

inline void private_memory_and_reductions()
{
    virtual_device const d({.strict = true});
    std::vector<int> x(1'000, 1);
    long sum = 5;
    std::vector<int> counts(3);
    auto const kernel = [](std::size_t i, int const* p, long& s, int* c, int* scratch) {
        scratch[i % 10] = p[i];
        s += scratch[i % 10];
        ++c[i % 3];
    };
    sync_wait(omp_co::target(d, kernel, omp_co::range(1'000), omp_co::to(x),
                             omp_co::reduction(std::plus(), sum), omp_co::reduction(std::plus(), counts),
                             omp_co::private_<int>(10)));
    check(sum == 1'005 && counts[0] == 334 && counts[2] == 333, "reductions");
    sync_wait(omp_co::target_enter_data(d, omp_co::to(sum)));
    auto const again = [](std::size_t, long& s) { s += 1; };
    sync_wait(omp_co::target(d, again, omp_co::range(10), omp_co::reduction(std::plus(), sum)));
    sync_wait(omp_co::target_exit_data(d, omp_co::from(sum)));
    check(sum == 1'015, "a reduction into resident data");
}

inline void memory_of_the_device()
{
    virtual_device const d({.strict = true});
    std::vector<int> x(100, 1), y(100, 0), z(100, 1);
    auto a = sync_wait(omp_co::allocate<int>(d, 100));
    auto const b = sync_wait(omp_co::allocate<int>(d, 100));
    sync_wait(omp_co::target_memcpy(a, x));
    sync_wait(omp_co::target(d, add_one(), omp_co::range(100), omp_co::is_device_ptr(a.get())));
    int* const p = a.get(); // the device's own pointer is nobody's mistake
    sync_wait(omp_co::target(
        d, [p](std::size_t i) { ++p[i]; }, omp_co::range(100)));
    sync_wait(omp_co::target_memcpy(b, a));
    sync_wait(omp_co::target_memset(b.section(0, 3), 0));
    sync_wait(omp_co::target_memcpy(y, b));
    check(x[0] == 1 && y[2] == 0 && y[3] == 3 && y[99] == 3, "copies on the device");
    check(!d.get().associate(z.data(), a.get(), 100 * sizeof(int)), "associated");
    sync_wait(increment(d, z));
    sync_wait(omp_co::target_update(d, omp_co::from(z)));
    check(all(z, 4), "associated memory");
    sync_wait(increment(d, z));
    check(!d.get().disassociate(z.data()) && all(z, 4), "memory that was associated");
    a.reset();
}

// Device memory may be anything that the program says is on the device.
inline void memory_that_the_program_has_found_itself()
{
    virtual_device const d({.strict = true});
    std::vector<int> x(100, 1), copy(100, 7);
    check(!d.get().associate(x.data(), copy.data(), 100 * sizeof(int)), "associated");
    sync_wait(increment(d, x));
    check(all(copy, 8), "a copy in memory of the program's own");
    check(!d.get().disassociate(x.data()) && all(x, 1), "the host's side");
}

inline void regions_of_the_initial_device_between()
{
    virtual_device const d({.strict = true});
    std::vector<int> x(100, 1);
    int count = 0;
    sync_wait(omp_co::target_enter_data(d, omp_co::to(x)));
    sync_wait(omp_co::target(omp_co::initial_device(), [&] { ++count; }));
    sync_wait(omp_co::target(omp_co::initial_device(), add_one(), omp_co::range(100), omp_co::tofrom(x)));
    sync_wait(omp_co::target_exit_data(d, omp_co::release(x)));
    check(count == 1 && all(x, 2), "on the initial device");
}

inline void two_strict_devices_pass_data_on()
{
    virtual_device const a({.strict = true}), b({.strict = true});
    std::vector<int> x(100, 1);
    for (int i = 0; i < 3; ++i) {
        sync_wait(omp_co::target_enter_data(a, omp_co::to(x)));
        sync_wait(increment(a, x));
        sync_wait(omp_co::target_exit_data(a, omp_co::from(x)));
        sync_wait(increment(b, x));
    }
    auto const there = sync_wait(omp_co::allocate<int>(b, 100));
    auto const here = sync_wait(omp_co::allocate<int>(a, 100));
    sync_wait(omp_co::target_memcpy(there, x));
    sync_wait(omp_co::target_memcpy(here, there));
    std::vector<int> y(100);
    sync_wait(omp_co::target_memcpy(y, here));
    check(all(x, 7) && all(y, 7), "from device to device");
}

// Kernels of two threads take turns; what one hides is no concern of the other's copies.
inline void two_threads()
{
    virtual_device const d({.strict = true});
    auto const work = [&] {
        std::vector<int> x(1'000, 0);
        for (int i = 0; i < 50; ++i) sync_wait(increment(d, x));
        check(all(x, 50), "a thread's results");
    };
    std::thread other(work);
    work();
    other.join();
}

inline void the_device_goes_while_data_is_mapped()
{
    std::vector<int> x(100, 1);
    {
        virtual_device const d({.strict = true});
        sync_wait(omp_co::target_enter_data(d, omp_co::to(x)));
        sync_wait(increment(d, x));
    }
    check(all(x, 1), "the host's copy is all there is");
}

inline void memory_is_freed_while_it_is_stale()
{
    virtual_device const d({.strict = true});
    for (int i = 0; i < 3; ++i) {
        auto x = std::make_unique<std::vector<int>>(100, 1);
        sync_wait(omp_co::target_enter_data(d, omp_co::to(*x)));
        sync_wait(increment(d, *x));
        omp_co::array_section<int> const gone = omp_co::section(x->data(), 0, 100);
        x.reset();
        sync_wait(omp_co::target_exit_data(d, omp_co::release(gone)));
    }
    std::vector<int> y(100, 1);
    sync_wait(increment(d, y));
    check(all(y, 2), "behind memory that was freed");
}

// What a failed region has brought dies although others still hold it; then the memory is the program's own again.
inline void memory_is_freed_behind_an_orphaning()
{
    virtual_device const d({.strict = true});
    auto x = std::make_unique<std::vector<int>>(100, 1);
    auto body = [&]() -> boost::asio::awaitable<void> {
        co_await increment(d, *x);
        auto const kernel = [](int*, int*) { throw 1; };
        std::vector<int> y(10);
        bool failed = false;
        try {
            co_await omp_co::target(d.get(), kernel, omp_co::tofrom(*x, omp_co::always), omp_co::tofrom(y));
        } catch (boost::system::system_error const&) {
            failed = true;
        }
        check(failed && all(y, 0), "the kernel has thrown");
    };
    try {
        sync_wait(omp_co::target_data(d.get(), omp_co::to(*x), body));
    } catch (boost::system::system_error const&) {
    }
    check(!d.get().is_present(x->data()) && all(*x, 1), "nothing is mapped");
    x.reset();
    x = std::make_unique<std::vector<int>>(100, 1);
    sync_wait(increment(d, *x));
    check(all(*x, 2), "behind an orphaning");
}

inline void what_is_used_as_it_was_before_a_kernel()
{
#if OMP_CO_ADDRESS_SANITIZER
    virtual_device const d({.strict = true});
    std::vector<char> x(29, 1);
    ASAN_POISON_MEMORY_REGION(x.data() + 8, 8); // by somebody else
    char* const p = x.data();
    sync_wait(omp_co::target(d, [p] { return p == nullptr; }));
    for (std::size_t i = 0; i < 29; ++i)
        check((__asan_address_is_poisoned(p + i) != 0) == (i >= 8 && i < 16), "byte " + std::to_string(i));
    check(__asan_address_is_poisoned(p + 29) != 0, "the end of the block");
    ASAN_UNPOISON_MEMORY_REGION(x.data() + 8, 8);

    auto const gone = std::make_unique<std::vector<int>>(100, 1);
    int* const dangling = gone->data();
    *gone = {};
    gone->shrink_to_fit();
    sync_wait(omp_co::target(d, [dangling] { return dangling == nullptr; }));
    check(__asan_address_is_poisoned(dangling) != 0, "freed memory stays forbidden");
#endif
}

inline void odd_arguments()
{
    virtual_device const d({.strict = true});
    std::vector<int> x(10, 1);
    bool given = false;
    sync_wait(omp_co::target(
        d, [](int const* p, bool* g) { *g = p != nullptr; }, omp_co::to(omp_co::section(x, 0, 0)),
        omp_co::from(given)));
    check(given && all(x, 1), "a section of no length of what is not mapped");
    sync_wait(increment(d, x));
    struct numbers {
        std::size_t a, b;
        double c;
    } const n{1, ~std::size_t{0}, 1e300};
    double sum = 0;
    sync_wait(omp_co::target(
        d, [](numbers v, double* s) { *s = v.c; }, omp_co::firstprivate(n), omp_co::from(sum)));
    check(sum == 1e300 && all(x, 2), "values that are no addresses");
}

inline void little_memory()
{
    virtual_device const d({.memory = 4096, .strict = true});
    std::vector<char> x(3'000, 1), y(3'000, 1);
    auto const kernel = [](std::size_t i, char* p) { ++p[i]; };
    bool refused = false;
    sync_wait(omp_co::target_enter_data(d, omp_co::to(x)));
    sync_wait(omp_co::target(d, kernel, omp_co::range(3'000), omp_co::tofrom(x)));
    try {
        sync_wait(omp_co::target(d, kernel, omp_co::range(3'000), omp_co::tofrom(y)));
    } catch (boost::system::system_error const& e) {
        refused = e.code() == omp_co::errc::out_of_memory;
    }
    sync_wait(omp_co::target_exit_data(d, omp_co::from(x)));
    sync_wait(omp_co::target(d, kernel, omp_co::range(3'000), omp_co::tofrom(y)));
    check(refused && x[2'999] == 2 && y[2'999] == 2, "short of memory");
}

inline constexpr program right_programs[] = {
    OMP_CO_TEST_PROGRAM(a_structure_with_a_joined_pointer),
    OMP_CO_TEST_PROGRAM(structures_with_mappers),
    OMP_CO_TEST_PROGRAM(private_memory_and_reductions),
    OMP_CO_TEST_PROGRAM(memory_of_the_device),
    OMP_CO_TEST_PROGRAM(memory_that_the_program_has_found_itself),
    OMP_CO_TEST_PROGRAM(regions_of_the_initial_device_between),
    OMP_CO_TEST_PROGRAM(two_strict_devices_pass_data_on),
    OMP_CO_TEST_PROGRAM(two_threads),
    OMP_CO_TEST_PROGRAM(the_device_goes_while_data_is_mapped),
    OMP_CO_TEST_PROGRAM(memory_is_freed_while_it_is_stale),
    OMP_CO_TEST_PROGRAM(memory_is_freed_behind_an_orphaning),
    OMP_CO_TEST_PROGRAM(what_is_used_as_it_was_before_a_kernel),
    OMP_CO_TEST_PROGRAM(odd_arguments),
    OMP_CO_TEST_PROGRAM(little_memory),
};

} // namespace strict_test
