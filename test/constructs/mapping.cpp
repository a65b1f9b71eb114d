// SPDX-License-Identifier: BSL-1.0
// What the data clauses do, seen from outside on real host devices.
#include "support/devices.hpp"
#include "support/gate.hpp"
#include "support/kernels.hpp"
#include "support/outcome.hpp"
#include "support/settle.hpp"

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace mapping_test {

namespace asio = boost::asio;
namespace data = boost::unit_test::data;
using namespace omp_co_test;
using omp_co::error_code;

struct fixture {
    explicit fixture(device_kind const& kind) : dev(kind.make()) {}
    ~fixture()
    {
        BOOST_TEST(now().mapped_ranges == 0U);
        BOOST_TEST(now().device_bytes == 0U);
        BOOST_TEST(now().in_flight == 0U);
    }
    fixture(fixture const&) = delete;
    fixture& operator=(fixture const&) = delete;

    omp_co::device_statistics now() const { return dev.get().statistics(); }

    template <class... Clauses>
    error_code enter(Clauses... c) const
    {
        return outcome(omp_co::target_enter_data(dev, c...));
    }
    template <class... Clauses>
    error_code exit(Clauses... c) const
    {
        return outcome(omp_co::target_exit_data(dev, c...));
    }
    template <class... Clauses>
    error_code update(Clauses... c) const
    {
        return outcome(omp_co::target_update(dev, c...));
    }
    template <class Kernel, class... Clauses>
    error_code run(Kernel k, Clauses... c) const
    {
        return outcome(omp_co::target(dev, k, c...));
    }

    test_device dev;
};

struct add_one_kernel {
    void operator()(int* p) const noexcept { p[0] += 1; }
};
inline constexpr add_one_kernel add_one{};

inline std::string address(void const* p)
{
    char text[32];
    std::snprintf(text, sizeof text, "%p", p);
    return text;
}

BOOST_AUTO_TEST_SUITE(mapping)

BOOST_DATA_TEST_CASE(a_count_above_zero_keeps_data_on_the_device, data::make(copying_kinds), kind)
{
    fixture const f(kind);
    std::vector<int> v(100, 1);
    BOOST_TEST(!f.enter(omp_co::to(v)));
    BOOST_TEST(!f.enter(omp_co::to(v)));
    BOOST_TEST(f.now().copies_in == 1U);
    BOOST_TEST(!f.run(add_one, omp_co::tofrom(v)));
    BOOST_TEST(v[0] == 1);
    BOOST_TEST(!f.exit(omp_co::from(v)));
    BOOST_TEST(v[0] == 1);
    BOOST_TEST(f.dev.get().is_present(v.data()));
    BOOST_TEST(!f.exit(omp_co::from(v)));
    BOOST_TEST(v[0] == 2);
    BOOST_TEST(!f.dev.get().is_present(v.data()));
    BOOST_TEST(f.now().copies_out == 1U);
    BOOST_TEST(f.now().bytes_in == 400U);
    BOOST_TEST(f.now().bytes_out == 400U);
    BOOST_TEST(f.now().regions == 5U);
}

// Pitfall 25.
BOOST_DATA_TEST_CASE(absent_data_is_ignored_and_with_present_an_error, data::make(copying_kinds), kind)
{
    fixture const f(kind);
    std::vector<int> v(10, 1);
    BOOST_TEST(!f.exit(omp_co::from(v)));
    BOOST_TEST(!f.exit(omp_co::release(v)));
    BOOST_TEST(!f.exit(omp_co::delete_(v)));
    BOOST_TEST(!f.update(omp_co::to(v)));
    BOOST_TEST(!f.update(omp_co::from(v)));
    BOOST_TEST(v[0] == 1);
    BOOST_TEST(f.now().copies_in + f.now().copies_out == 0U);
    BOOST_TEST((f.exit(omp_co::from(v, omp_co::present)) == omp_co::errc::not_present));
    BOOST_TEST((f.exit(omp_co::release(v, omp_co::present)) == omp_co::errc::not_present));
    BOOST_TEST((f.exit(omp_co::delete_(v, omp_co::present)) == omp_co::errc::not_present));
    BOOST_TEST((f.update(omp_co::to(v, omp_co::present)) == omp_co::errc::not_present));
    BOOST_TEST((f.update(omp_co::from(v, omp_co::present)) == omp_co::errc::not_present));
    BOOST_TEST((f.enter(omp_co::to(v, omp_co::present)) == omp_co::errc::not_present));
    BOOST_TEST((f.run(add_one, omp_co::tofrom(v, omp_co::present)) == omp_co::errc::not_present));
    BOOST_TEST(!f.enter(omp_co::to(v)));
    BOOST_TEST(!f.run(add_one, omp_co::tofrom(v, omp_co::present)));
    BOOST_TEST(!f.update(omp_co::from(v, omp_co::present)));
    BOOST_TEST(v[0] == 2);
    BOOST_TEST(!f.exit(omp_co::delete_(v, omp_co::present)));
}

BOOST_DATA_TEST_CASE(sections_of_no_length_only_look_up, data::make(copying_kinds), kind)
{
    fixture const f(kind);
    std::vector<int> v(10, 1);
    int* const nowhere = nullptr;
    BOOST_TEST(!f.enter(omp_co::to(omp_co::section(v, 3, 0)), omp_co::to(omp_co::section(nowhere, 0, 0))));
    BOOST_TEST(f.now().mapped_ranges == 0U);
    BOOST_TEST(!f.exit(omp_co::release(omp_co::section(v, 3, 0))));
    BOOST_TEST(!f.enter(omp_co::to(v)));
    int* seen = nullptr;
    auto const look = [s = &seen](int* p) { *s = p; };
    BOOST_TEST(!f.run(look, omp_co::tofrom(omp_co::section(v, 3, 0))));
    BOOST_TEST((seen == f.dev.get().mapped_ptr(&v[3])));
    BOOST_TEST(!f.run(look, omp_co::tofrom(omp_co::section(v.data(), 9, 0))));
    BOOST_TEST((seen == f.dev.get().mapped_ptr(&v[9])));
    BOOST_TEST(f.now().mapped_ranges == 1U);
    BOOST_TEST(!f.exit(omp_co::delete_(omp_co::section(v, 3, 0)))); // looks up, ends nothing
    BOOST_TEST(f.now().mapped_ranges == 1U);
    BOOST_TEST(!f.exit(omp_co::delete_(v)));
}

// Pitfall 26.
BOOST_DATA_TEST_CASE(release_below_zero_is_harmless, data::make(copying_kinds), kind)
{
    fixture const f(kind);
    std::vector<int> v(10, 1);
    BOOST_TEST(!f.enter(omp_co::to(v)));
    BOOST_TEST(!f.exit(omp_co::release(v), omp_co::release(v), omp_co::release(v)));
    BOOST_TEST(!f.exit(omp_co::release(v)));
    BOOST_TEST(!f.enter(omp_co::to(v)));
    BOOST_TEST(f.now().mapped_ranges == 1U);
    BOOST_TEST(!f.exit(omp_co::release(v)));
    BOOST_TEST(f.now().mapped_ranges == 0U);
}

// Pitfall 27.
BOOST_DATA_TEST_CASE(an_extending_map_is_an_error_that_names_both_ranges, data::make(copying_kinds), kind)
{
    fixture const f(kind);
    std::vector<int> v(100, 1);
    std::vector<int> other(10, 1);
    BOOST_TEST(!f.enter(omp_co::to(omp_co::section(v, 0, 50))));
    BOOST_TEST(!f.enter(omp_co::to(omp_co::section(v, 10, 5)))); // a part of what is there
    BOOST_TEST(!f.exit(omp_co::release(omp_co::section(v, 20, 5))));
    BOOST_TEST(f.now().mapped_ranges == 1U);
    auto const bytes = f.now().device_bytes;
    for (int first : {0, 25, 49}) {
        omp_co::diagnostics why;
        auto const ec = f.enter(omp_co::alloc(other), omp_co::to(omp_co::section(v, first, 100 - first)),
                                omp_co::name("too long"), omp_co::explain(why));
        BOOST_TEST((ec == omp_co::errc::partially_present));
        BOOST_TEST(why.message().find("too long") != std::string::npos, why.message());
        BOOST_TEST(why.message().find(address(v.data())) != std::string::npos, why.message());
        BOOST_TEST(why.message().find(address(v.data() + 50)) != std::string::npos, why.message());
        BOOST_TEST(why.message().find(address(v.data() + first)) != std::string::npos, why.message());
        BOOST_TEST(why.message().find(address(v.data() + 100)) != std::string::npos, why.message());
        BOOST_TEST(!f.dev.get().is_present(other.data())); // as if it had not been asked for
        BOOST_TEST(f.now().device_bytes == bytes);
    }
    BOOST_TEST(!f.enter(omp_co::to(omp_co::section(v, 50, 50)))); // adjacent is not overlapping
    BOOST_TEST(f.now().mapped_ranges == 2U);

    // Pitfall 30: two pieces are two blocks, and the whole is neither.
    BOOST_TEST((f.enter(omp_co::to(v)) == omp_co::errc::partially_present));
    BOOST_TEST((f.run(add_one, omp_co::tofrom(v)) == omp_co::errc::partially_present));
    BOOST_TEST((f.update(omp_co::to(v)) == omp_co::errc::partially_present));
    BOOST_TEST((f.update(omp_co::to(omp_co::section(v, 49, 2))) == omp_co::errc::partially_present));
    BOOST_TEST(
        !f.exit(omp_co::delete_(omp_co::section(v, 0, 50)), omp_co::delete_(omp_co::section(v, 50, 50))));
    BOOST_TEST(!f.enter(omp_co::to(v)));
    BOOST_TEST(!f.exit(omp_co::delete_(v)));
}

// Pitfall 28.
BOOST_DATA_TEST_CASE(the_order_of_clauses_does_not_matter, data::make(copying_kinds), kind)
{
    fixture const f(kind);
    std::vector<int> v(10, 1);
    auto const both = [](int* p, int* q) { p[0] += p == q ? 1 : 100; };
    BOOST_TEST(!f.run(both, omp_co::alloc(v), omp_co::tofrom(v)));
    BOOST_TEST(v[0] == 2);
    BOOST_TEST(!f.run(both, omp_co::tofrom(v), omp_co::alloc(v)));
    BOOST_TEST(v[0] == 3);
    auto const read = [](int* p, int const* q) { p[0] = q[0] + 1; };
    BOOST_TEST(!f.run(read, omp_co::from(v), omp_co::to(v)));
    BOOST_TEST(v[0] == 4);

    // A part listed before the whole.
    auto const parts = [](int* p, int* q) { q[0] += static_cast<int>(p - q); };
    BOOST_TEST(!f.run(parts, omp_co::alloc(omp_co::section(v, 5, 2)), omp_co::tofrom(v)));
    BOOST_TEST(v[0] == 9);

    BOOST_TEST(!f.enter(omp_co::to(v)));
    BOOST_TEST(!f.run(add_one, omp_co::alloc(v)));
    BOOST_TEST(!f.exit(omp_co::delete_(v), omp_co::from(v)));
    BOOST_TEST(v[0] == 10);
    BOOST_TEST(f.now().mapped_ranges == 0U);

    BOOST_TEST(!f.enter(omp_co::to(v), omp_co::to(v)));
    auto const before = f.now().copies_out;
    BOOST_TEST(!f.exit(omp_co::from(v, omp_co::always), omp_co::from(v, omp_co::always)));
    BOOST_TEST(f.now().copies_out == before + 1);
    BOOST_TEST(f.now().mapped_ranges == 0U);
}

// Pitfall 31.
BOOST_DATA_TEST_CASE(always_copies_at_any_count, data::make(copying_kinds), kind)
{
    fixture const f(kind);
    std::vector<int> v(10, 1);
    BOOST_TEST(!f.enter(omp_co::to(v)));
    v[0] = 5;
    BOOST_TEST(!f.run(add_one, omp_co::tofrom(v)));
    BOOST_TEST(v[0] == 5);
    v[0] = 10;
    BOOST_TEST(!f.run(add_one, omp_co::tofrom(v, omp_co::always)));
    BOOST_TEST(v[0] == 11);
    v[0] = 20;
    BOOST_TEST(!f.enter(omp_co::to(v, omp_co::always)));
    v[0] = 0;
    BOOST_TEST(!f.exit(omp_co::from(v, omp_co::always)));
    BOOST_TEST(v[0] == 20);
    BOOST_TEST(f.now().mapped_ranges == 1U);
    BOOST_TEST(!f.exit(omp_co::delete_(v)));
}

BOOST_DATA_TEST_CASE(reviving_what_is_on_its_way_out_gives_the_right_bytes, data::make(copying_kinds), kind)
{
    fixture const f(kind);
    gate g;
    std::vector<int> v(10, 1);
    std::vector<int> freed(10, 7);
    asio::io_context io;
    int good = 0;
    auto const start = [&](auto const& op) {
        op(asio::bind_executor(io, [&](error_code ec) { good += !ec; }));
    };
    if (!kind.asynchronous) g.open();
    start(omp_co::target(f.dev, g.kernel(), omp_co::tofrom(v))); // goes when it is done
    start(omp_co::target(f.dev, add_one, omp_co::tofrom(v)));    // revives it
    start(omp_co::target_enter_data(f.dev, omp_co::to(v)));      // and again
    start(omp_co::target(f.dev, add_one, omp_co::alloc(v)));
    start(omp_co::target_exit_data(f.dev, omp_co::delete_(v))); // this time without a copy
    start(omp_co::target(f.dev, add_one, omp_co::tofrom(v)));   // so this needs the host's bytes
    // A part of it, which the dying range covers, and one that it does not.
    start(omp_co::target(f.dev, add_one, omp_co::tofrom(omp_co::section(v, 1, 3))));
    start(omp_co::target(
        f.dev, [](int* p) { p[0] += 10; }, omp_co::tofrom(freed)));
    g.open();
    io.run();
    BOOST_TEST(good == 8);
    BOOST_TEST(v[0] == 4); // the kernel on alloc(v) was deleted with its block
    BOOST_TEST(v[1] == 2);
    BOOST_TEST(freed[0] == 17);
}

BOOST_DATA_TEST_CASE(a_from_map_is_not_copied_in, data::make(copying_kinds), kind)
{
    fixture const f(kind);
    std::vector<int> v(10, 1);
    auto const write = [](std::size_t i, int* p) { p[i] = static_cast<int>(i); };
    BOOST_TEST(!f.run(write, omp_co::range(10), omp_co::from(v)));
    BOOST_TEST(v[9] == 9);
    BOOST_TEST(f.now().copies_in == 0U);
    int const constant = 3;
    int result = 0;
    auto const twice = [](int const* in, int* out) { *out = 2 * *in; };
    BOOST_TEST(!f.run(twice, omp_co::to(constant), omp_co::from(result)));
    BOOST_TEST(result == 6);
    BOOST_TEST(f.now().copies_in == 1U);
    BOOST_TEST(f.now().copies_out == 2U);
}

// However often a region names it, also to write.
BOOST_DATA_TEST_CASE(what_two_clauses_bring_is_copied_once, data::make(copying_kinds), kind)
{
    fixture const f(kind);
    std::vector<int> v(64, 1);
    auto const add = [](int* a, int const* b) { a[0] += b[1]; };
    BOOST_TEST(!f.run(add, omp_co::tofrom(v), omp_co::tofrom(omp_co::section(v, 0, 32))));
    BOOST_TEST(v[0] == 2);
    BOOST_TEST(f.now().copies_in == 1U);
}

BOOST_DATA_TEST_CASE(unified_memory_counts_and_copies_nothing, data::make({0U, 1U}), n)
{
    test_device const dev(unified(n));
    std::vector<int> v(10, 1);
    omp_co::sync_wait(omp_co::target_enter_data(dev, omp_co::to(v)));
    BOOST_TEST(dev.get().is_present(v.data()));
    BOOST_TEST((dev.get().mapped_ptr(v.data()) == v.data()));
    v[0] = 5;
    omp_co::sync_wait(omp_co::target(dev, add_one, omp_co::alloc(v)));
    BOOST_TEST(v[0] == 6);
    BOOST_TEST(dev.get().statistics().mapped_ranges == 1U);
    BOOST_TEST(dev.get().statistics().device_bytes == 0U);
    omp_co::sync_wait(omp_co::target_exit_data(dev, omp_co::from(v)));
    BOOST_TEST(v[0] == 6);
    BOOST_TEST(dev.get().statistics().copies_in + dev.get().statistics().copies_out == 0U);
    BOOST_TEST(dev.get().statistics().mapped_ranges == 0U);
}

BOOST_AUTO_TEST_CASE(the_initial_device_maps_and_moves_nothing)
{
    omp_co::device const dev = omp_co::initial_device();
    std::vector<int> v(10, 1);
    BOOST_TEST(dev.is_present(v.data()));
    BOOST_TEST((dev.mapped_ptr(v.data()) == v.data()));
    BOOST_TEST(dev.number() == static_cast<int>(omp_co::devices().size()));
    auto const copies_before = dev.statistics().copies_in; // target_memcpy does copy there
    omp_co::sync_wait(omp_co::target(dev, add_one, omp_co::tofrom(v)));
    omp_co::sync_wait(omp_co::target_enter_data(dev, omp_co::to(v)));
    BOOST_TEST(v[0] == 2);
    BOOST_TEST(dev.statistics().mapped_ranges == 0U);
    BOOST_TEST(dev.statistics().copies_in == copies_before);
}

BOOST_DATA_TEST_CASE(if_false_runs_here_and_data_constructs_do_nothing, data::make(copying_kinds), kind)
{
    fixture const f(kind);
    std::vector<int> v(10, 1);
    BOOST_TEST(!f.enter(omp_co::to(v), omp_co::if_(false)));
    BOOST_TEST(!f.dev.get().is_present(v.data()));
    BOOST_TEST(!f.enter(omp_co::to(v)));
    std::thread::id ran;
    auto const here = [r = &ran](int* p, int scale, int* scratch) {
        *r = std::this_thread::get_id();
        scratch[1] = scale;
        p[0] += scratch[1];
    };
    BOOST_TEST(!f.run(here, omp_co::tofrom(v), omp_co::firstprivate(5), omp_co::private_<int>(2),
                      omp_co::if_(false)));
    BOOST_TEST(v[0] == 6); // on the host's own copy
    BOOST_TEST((ran == std::this_thread::get_id()));
    BOOST_TEST(!f.update(omp_co::from(v), omp_co::if_(false)));
    BOOST_TEST(v[0] == 6);
    BOOST_TEST(!f.exit(omp_co::delete_(v), omp_co::if_(false)));
    BOOST_TEST(f.dev.get().is_present(v.data()));
    auto const body = [&]() -> asio::awaitable<void> {
        v[1] = 9;
        co_return;
    };
    omp_co::sync_wait(omp_co::target_data(f.dev, omp_co::tofrom(v), omp_co::if_(false), body));
    BOOST_TEST(v[1] == 9);
    BOOST_TEST(!f.exit(omp_co::from(v), omp_co::if_(true)));
    BOOST_TEST(v[0] == 1);
}

BOOST_DATA_TEST_CASE(also_maps_without_an_argument, data::make(copying_kinds), kind)
{
    fixture const f(kind);
    std::vector<int> inner(4, 1);
    std::vector<int> direct(4, 1);
    BOOST_TEST(!f.run(add_one, omp_co::also(omp_co::tofrom(inner)), omp_co::tofrom(direct)));
    BOOST_TEST(direct[0] == 2);
    BOOST_TEST(inner[0] == 1);
    BOOST_TEST(f.now().copies_in == 2U);
    BOOST_TEST(f.now().copies_out == 2U);
    BOOST_TEST(!f.enter(omp_co::also(omp_co::to(inner))));
    BOOST_TEST(f.dev.get().is_present(inner.data()));
    BOOST_TEST(!f.exit(omp_co::also(omp_co::delete_(inner))));
}

// Pitfall 13.
BOOST_DATA_TEST_CASE(a_failure_half_way_leaves_everything_as_it_was, data::make({0U, 1U, 2U}), n)
{
    test_device const dev(limited(n, 8 << 10));
    std::vector<char> resident(1 << 10, 1);
    std::vector<char> a(1 << 10, 2);
    std::vector<char> b(1 << 10, 3);
    std::vector<char> large(64 << 10, 4);
    omp_co::sync_wait(omp_co::target_enter_data(dev, omp_co::to(resident)));
    auto const before = dev.get().statistics();
    auto const third = [](char*, char*, char*, char*) { throw std::logic_error("never runs"); };
    omp_co::diagnostics why;
    BOOST_TEST((outcome(omp_co::target(dev, third, omp_co::tofrom(resident), omp_co::tofrom(a),
                                       omp_co::tofrom(b), omp_co::tofrom(large), omp_co::name("large one"),
                                       omp_co::explain(why))) == omp_co::errc::out_of_memory));
    BOOST_TEST(why.message().find("large one") != std::string::npos, why.message());
    BOOST_TEST((outcome(omp_co::target_enter_data(dev, omp_co::to(a), omp_co::to(large))) ==
                omp_co::errc::out_of_memory));
    auto const after = dev.get().statistics();
    BOOST_TEST(after.mapped_ranges == before.mapped_ranges);
    BOOST_TEST(after.device_bytes == before.device_bytes);
    BOOST_TEST(after.copies_in == before.copies_in);
    BOOST_TEST(!dev.get().is_present(a.data()));
    // A later map of the same range, or of what lies at its address, succeeds.
    BOOST_TEST(!outcome(omp_co::target_enter_data(dev, omp_co::to(omp_co::section(a, 0, 512)))));
    BOOST_TEST(!outcome(omp_co::target_exit_data(dev, omp_co::delete_(omp_co::section(a, 0, 512)))));
    BOOST_TEST(!outcome(omp_co::target_enter_data(dev, omp_co::to(a), omp_co::to(b))));
    BOOST_TEST(!outcome(
        omp_co::target_exit_data(dev, omp_co::delete_(a), omp_co::delete_(b), omp_co::delete_(resident))));
    BOOST_TEST(dev.get().statistics().mapped_ranges == 0U);
    BOOST_TEST(dev.get().statistics().device_bytes == 0U);
}

// A kernel that fails: nothing is copied back, what it alone mapped is gone, what others mapped stays.
BOOST_DATA_TEST_CASE(a_failed_region_undoes_its_own_mapping, data::make(copying_kinds), kind)
{
    fixture const f(kind);
    std::vector<int> v(10, 1);
    std::vector<int> resident(10, 1);
    BOOST_TEST(!f.enter(omp_co::to(resident)));
    auto const throws = [](int* p, int* q) {
        p[0] = 99;
        q[0] = 98;
        throw std::runtime_error("on purpose");
    };
    BOOST_TEST((f.run(throws, omp_co::tofrom(v), omp_co::tofrom(resident)) == omp_co::errc::kernel_failed));
    BOOST_TEST(v[0] == 1);
    BOOST_TEST(!f.dev.get().is_present(v.data()));
    BOOST_TEST(f.now().mapped_ranges == 1U);
    BOOST_TEST(f.now().copies_out == 0U);
    BOOST_TEST(!f.run(add_one, omp_co::tofrom(v)));
    BOOST_TEST(v[0] == 2);
    BOOST_TEST(!f.exit(omp_co::delete_(resident)));
}

BOOST_DATA_TEST_CASE(target_data_nests_and_its_error_wins, data::make(copying_kinds), kind)
{
    fixture const f(kind);
    std::vector<int> v(10, 1);
    auto inner = [&]() -> asio::awaitable<int> {
        co_await omp_co::target(f.dev, add_one, omp_co::alloc(v));
        co_return 3;
    };
    auto outer = [&]() -> asio::awaitable<int> {
        int const value = co_await omp_co::target_data(f.dev, omp_co::tofrom(v), inner);
        if (v[0] != 1) co_return -1; // the outer region keeps it on the device
        co_return value;
    };
    BOOST_TEST(omp_co::sync_wait(omp_co::target_data(f.dev, omp_co::tofrom(v), outer)) == 3);
    BOOST_TEST(v[0] == 2);

    auto throws = [&]() -> asio::awaitable<void> {
        co_await omp_co::target(f.dev, add_one, omp_co::alloc(v));
        throw std::domain_error("the body's own");
    };
    BOOST_CHECK_THROW(omp_co::sync_wait(omp_co::target_data(f.dev, omp_co::tofrom(v), throws)),
                      std::domain_error);
    BOOST_TEST(v[0] == 3); // the exit has run

    auto kept = [&]() -> asio::awaitable<std::unique_ptr<int>> { co_return std::make_unique<int>(8); };
    BOOST_TEST(*omp_co::sync_wait(omp_co::target_data(f.dev, omp_co::to(v), std::ref(kept))) == 8);
    auto none = [&]() -> asio::awaitable<void> { co_return; };
    BOOST_CHECK_EXCEPTION(omp_co::sync_wait(omp_co::target_data(f.dev, omp_co::to(v, omp_co::present), none)),
                          boost::system::system_error,
                          [](auto const& e) { return e.code() == omp_co::errc::not_present; });
    omp_co::sync_wait(omp_co::target_data(f.dev, none));
}

template <std::size_t Alignment>
struct alignas(Alignment) over_aligned {
    int value;
};

template <std::size_t Alignment>
void map_over_aligned(omp_co::device dev)
{
    using element = over_aligned<Alignment>;
    static element data[3];
    static element one;
    data[0].value = data[1].value = one.value = 0;
    auto const k = [](element* p, element* q, element* own, char* first) {
        bool const aligned = reinterpret_cast<std::uintptr_t>(p) % Alignment == 0 &&
                             reinterpret_cast<std::uintptr_t>(q) % Alignment == 0 &&
                             reinterpret_cast<std::uintptr_t>(own) % Alignment == 0;
        *first = 1;
        p->value = q->value = aligned ? 1 : -1;
    };
    omp_co::sync_wait(omp_co::target(dev, k, omp_co::tofrom(omp_co::section(data, 1, 2)), omp_co::tofrom(one),
                                     omp_co::private_<element>(2), omp_co::private_<char>(3)));
    BOOST_TEST(data[1].value == 1);
    BOOST_TEST(one.value == 1);
}

BOOST_DATA_TEST_CASE(elements_are_aligned_on_the_device_as_they_ask, data::make(device_kinds), kind)
{
    test_device const dev = kind.make();
    map_over_aligned<8>(dev);
    map_over_aligned<128>(dev);
    map_over_aligned<256>(dev);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace mapping_test
