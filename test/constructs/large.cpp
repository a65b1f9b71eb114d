// SPDX-License-Identifier: BSL-1.0
// Sizes beyond 4 GiB and indices beyond 2^32, in arithmetic: on a device without memory, with host memory that is only
// reserved.
#include "support/address_device.hpp"
#include "support/devices.hpp"
#include "support/outcome.hpp"
#include "support/sanitizers.hpp"

#include <omp_co/omp_co.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <sys/mman.h>
#include <vector>

namespace large_test {

namespace data = boost::unit_test::data;
using namespace omp_co_test;
using omp_co::errc;
using omp_co::section;
using kind = address_device::command::kind;

constexpr std::size_t gib = std::size_t{1} << 30;
constexpr std::size_t most = std::numeric_limits<std::size_t>::max();

/// Addresses that are this program's, and no memory.
template <class T>
class reserved {
public:
    explicit reserved(std::size_t count)
        : bytes_(count * sizeof(T)),
          at_(::mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))
    {
        BOOST_REQUIRE(at_ != MAP_FAILED);
    }
    reserved(reserved const&) = delete;
    reserved& operator=(reserved const&) = delete;
    ~reserved() { (void)::munmap(at_, bytes_); }

    T* get() const noexcept { return static_cast<T*>(at_); }

private:
    std::size_t bytes_;
    void* at_;
};

bool says(omp_co::diagnostics const& why, std::size_t number)
{
    return why.message().find(std::to_string(number)) != std::string::npos;
}

BOOST_AUTO_TEST_SUITE(large)

BOOST_AUTO_TEST_CASE(a_mapping_beyond_four_gib)
{
    device_of_addresses dev;
    reserved<char> const r(6 * gib);
    char* const x = r.get();
    BOOST_TEST(!outcome(omp_co::target_enter_data(dev, omp_co::to(section(x, 0, 6 * gib)))));
    BOOST_TEST(dev.get().is_present(x + 6 * gib - 1));
    BOOST_TEST(!dev.get().is_present(x + 6 * gib));
    std::uintptr_t const there = address(dev.get().mapped_ptr(x));
    BOOST_TEST(address(dev.get().mapped_ptr(x + 5 * gib + 1)) == there + 5 * gib + 1);
    BOOST_TEST(!outcome(omp_co::target(
        dev, [](std::size_t, char*) {}, omp_co::range(8 * gib),
        omp_co::tofrom(section(x, 5 * gib, std::size_t{16})))));
    BOOST_TEST(!outcome(omp_co::target_update(dev, omp_co::from(section(x, std::size_t{1}, 5 * gib)))));
    BOOST_TEST(!outcome(omp_co::target_exit_data(dev, omp_co::from(section(x, 0, 6 * gib)))));
    BOOST_TEST(!dev.get().is_present(x));
    BOOST_REQUIRE(dev.log.size() == 4U);
    BOOST_TEST((dev.log[0].what == kind::copy_in));
    BOOST_TEST(dev.log[0].bytes == 6 * gib);
    BOOST_TEST((dev.log[1].what == kind::launch));
    BOOST_TEST(dev.log[1].range.count[0] == 8 * gib);
    BOOST_TEST(dev.log[1].arguments[0] == there + 5 * gib);
    BOOST_TEST((dev.log[2].what == kind::copy_out));
    BOOST_TEST(dev.log[2].device == there + 1);
    BOOST_TEST(dev.log[2].bytes == 5 * gib);
    BOOST_TEST(dev.log[3].bytes == 6 * gib);
    BOOST_TEST(dev.get().statistics().bytes_in == 6 * gib);
    BOOST_TEST(dev.get().statistics().bytes_out == 11 * gib);
    BOOST_TEST(dev.get().statistics().device_bytes == 0U);
}

// The lower halves of these sizes would fit.
BOOST_AUTO_TEST_CASE(a_partial_overlap_beyond_four_gib_names_both_sizes)
{
    device_of_addresses dev;
    reserved<char> const r(10 * gib);
    char* const x = r.get();
    BOOST_TEST(!outcome(omp_co::target_enter_data(dev, omp_co::alloc(section(x, gib, 5 * gib)))));
    omp_co::diagnostics why;
    BOOST_TEST((outcome(omp_co::target_enter_data(dev, omp_co::to(section(x, 2 * gib, 4 * gib + 64)),
                                                  omp_co::explain(why))) == errc::partially_present));
    BOOST_TEST(says(why, 4 * gib + 64), why.message());
    BOOST_TEST(says(why, 5 * gib), why.message());
    BOOST_TEST(
        (outcome(omp_co::target_update(dev, omp_co::to(section(x, 0, 7 * gib)))) == errc::partially_present));
    BOOST_TEST(!outcome(omp_co::target_enter_data(dev, omp_co::to(section(x, 6 * gib, 4 * gib)))));
    BOOST_TEST(dev.get().statistics().mapped_ranges == 2U);
    BOOST_TEST(!outcome(omp_co::target_exit_data(dev, omp_co::release(section(x, gib, 5 * gib)),
                                                 omp_co::release(section(x, 6 * gib, 4 * gib)))));
    BOOST_TEST(dev.get().statistics().mapped_ranges == 0U);
}

// A device without boxes, one that has them for shorter strides, and one for any.
BOOST_DATA_TEST_CASE(strides_beyond_four_gib,
                     data::make({std::size_t{0}, 4 * gib - 1, device_of_addresses::any_stride}), limit)
{
    device_of_addresses dev(limit);
    bool const box_copies = limit == device_of_addresses::any_stride;
    reserved<double> const r(3 * gib);
    double* const x = r.get();
    BOOST_TEST(!outcome(omp_co::target_enter_data(dev, omp_co::alloc(section(x, 0, 3 * gib)))));
    std::uintptr_t const there = address(dev.get().mapped_ptr(x));
    BOOST_TEST(!outcome(omp_co::target_update(dev, omp_co::to(section(x, 5, 3, gib - 2)))));
    BOOST_TEST(dev.get().statistics().bytes_in == 3 * sizeof(double));
    if (box_copies) {
        BOOST_REQUIRE(dev.log.size() == 1U);
        BOOST_TEST(dev.log[0].device == there + 5 * sizeof(double));
        BOOST_TEST(dev.log[0].shape.rows == 3U);
        BOOST_TEST(dev.log[0].shape.host.row == 8 * (gib - 2));
        BOOST_TEST(dev.log[0].shape.reach(dev.log[0].shape.device) == 16 * (gib - 2) + 8);
    } else {
        BOOST_REQUIRE(dev.log.size() == 3U);
        for (std::size_t i = 0; i < 3; ++i) {
            BOOST_TEST(dev.log[i].bytes == sizeof(double));
            BOOST_TEST(dev.log[i].device == there + (5 + i * (gib - 2)) * sizeof(double));
            BOOST_TEST(dev.log[i].host == address(x) + (5 + i * (gib - 2)) * sizeof(double));
        }
    }
    dev.log.clear();
    // Two slices of three rows, and each row has half of its elements.
    std::size_t const half = gib / 4;
    BOOST_TEST(!outcome(omp_co::target_update(
        dev, omp_co::from(omp_co::section3d(x, {std::size_t{2}, std::size_t{3}, 2 * half}, {0, 0, 1},
                                            {std::size_t{2}, std::size_t{3}, half})))));
    BOOST_TEST(dev.get().statistics().bytes_out == 6 * half * sizeof(double));
    if (!box_copies) {
        BOOST_REQUIRE(dev.log.size() == 6U);
        BOOST_TEST(dev.log[5].device == there + (5 * 2 * half + 1) * sizeof(double));
        BOOST_TEST(dev.log[5].host - address(x) == dev.log[5].device - there);
    }
    BOOST_TEST(!outcome(omp_co::target_exit_data(dev, omp_co::delete_(section(x, 0, 3 * gib)))));
}

BOOST_AUTO_TEST_CASE(memory_of_the_device_beyond_four_gib)
{
    device_of_addresses dev;
    auto a = omp_co::sync_wait(omp_co::allocate<std::uint64_t>(dev, gib)); // 8 GiB
    auto b = omp_co::sync_wait(omp_co::allocate<std::uint64_t>(dev, 2 * gib));
    BOOST_TEST(!outcome(omp_co::target_memset(a, 0)));
    BOOST_TEST(!outcome(omp_co::target_memcpy(b.section(gib - 1, gib), a)));
    BOOST_TEST((outcome(omp_co::target_memcpy(a, b)) == errc::invalid_argument));
    auto const column = [](omp_co::device_buffer<std::uint64_t> const& m, std::size_t width) {
        return omp_co::device_box(m.where(), omp_co::section2d(m.get(), {std::size_t{4}, width},
                                                               {std::size_t{0}, width - 1},
                                                               {std::size_t{2}, std::size_t{1}}));
    };
    BOOST_TEST(!outcome(omp_co::target_memcpy_rect(column(b, gib / 2), column(a, gib / 4))));
    BOOST_REQUIRE(dev.log.size() == 4U);
    BOOST_TEST(dev.log[0].bytes == 8 * gib);
    BOOST_TEST(dev.log[1].bytes == 8 * gib);
    BOOST_TEST(dev.log[1].device == address(b.get() + gib - 1));
    BOOST_TEST(dev.log[3].device == address(b.get() + gib - 1));
    BOOST_TEST(dev.log[3].host == address(a.get() + gib / 2 - 1));
    // A box that is larger than what it lies in, by more than 32 bits can say.
    BOOST_TEST(
        (outcome(omp_co::target_memcpy_rect(column(a, gib), column(b, gib / 2))) == errc::invalid_argument));
}

// Bytes that a size_t cannot count must not become few.
BOOST_AUTO_TEST_CASE(sizes_that_overflow_are_refused)
{
    device_of_addresses dev;
    std::uint64_t x = 0;
    auto one = omp_co::sync_wait(omp_co::allocate<std::uint64_t>(dev, 1));
    auto const refused = [](auto const& op) { return outcome(op) == errc::invalid_argument; };
    for (std::size_t const n : {most / 8 + 1, most / 8 + 2, most / 2, most}) { // 0, 8, … bytes, modulo 2^64
        omp_co::device_section<std::uint64_t> const s(dev, one.get(), n);
        BOOST_TEST(refused(omp_co::target_memset(s, 0)));
        BOOST_TEST(refused(omp_co::target_memcpy(s, one)));
        BOOST_TEST(refused(omp_co::target_memcpy(one, s)));
        BOOST_TEST(refused(omp_co::target_enter_data(dev, omp_co::to(section(&x, 0, n)))));
        BOOST_TEST(refused(omp_co::target_update(dev, omp_co::to(section(&x, 0, n, 1)))));
        BOOST_TEST(refused(omp_co::target_update(dev, omp_co::to(section(&x, n, 1)))));
        BOOST_TEST(refused(omp_co::target(
            dev, [](std::uint64_t*) {}, omp_co::private_<std::uint64_t>(n))));
        BOOST_TEST((omp_co::device(dev).associate(&x, one.get(), most - 4) == errc::invalid_argument));
    }
    // From here to beyond the last address.
    auto* const c = reinterpret_cast<char*>(&x);
    BOOST_TEST(refused(omp_co::target_enter_data(dev, omp_co::to(section(c, most / 2, most / 2)))));
    BOOST_TEST(dev.get().statistics().mapped_ranges == 0U);
    BOOST_TEST(dev.log.empty());
}

// Nothing else is in the way of a reduction into host memory that the device uses as it is.
BOOST_DATA_TEST_CASE(private_memory_that_no_host_has_is_an_error, data::make({0U, 1U, 2U, 3U}), n)
{
    test_device const dev(unified(n));
    char x[8] = {1};
    char* const p = x;
    auto const reduce = [&](std::size_t count) {
        return outcome(omp_co::target(
            dev, [](std::size_t, char*, char*) {}, omp_co::range(100),
            omp_co::reduction(std::plus<>(), section(p, 0, count)), omp_co::private_<char>(8)));
    };
    std::size_t const all = std::size_t{1} << 48;
    for (std::size_t const count : {most / 2, std::size_t{1} << 62, std::size_t{1} << 60, all + 1})
        BOOST_TEST((reduce(count) == errc::invalid_argument));
    if (!OMP_CO_TEST_SANITIZED) { // a sanitizer's allocator ends the program
        BOOST_TEST((reduce(all) == errc::out_of_memory));
        omp_co::diagnostics why;
        BOOST_TEST((outcome(omp_co::target(
                        dev, [](std::size_t, char*) {}, omp_co::range(100), omp_co::private_<char>(all),
                        omp_co::explain(why))) == errc::out_of_memory));
        BOOST_TEST(why.message().find("private") != std::string::npos, why.message());
    }
    BOOST_TEST(!outcome(omp_co::target(
        dev, [](std::size_t, char* own, char*) { own[7] = 1; }, omp_co::range(100), omp_co::private_<char>(8),
        omp_co::tofrom(x))));
    BOOST_TEST(x[0] == 1);
}

BOOST_DATA_TEST_CASE(more_iterations_than_can_be_counted_are_refused, data::make(device_kinds), which)
{
    test_device const dev = which.make();
    bool ran = false;
    auto const two = [r = &ran](std::size_t, std::size_t) { *r = true; };
    auto const three = [r = &ran](std::size_t, std::size_t, std::size_t) { *r = true; };
    auto const refused = [](auto const& op) { return outcome(op) == errc::invalid_argument; };
    std::size_t const large = std::size_t{1} << 40;
    std::size_t const third = std::size_t{1} << 21;
    BOOST_TEST(refused(omp_co::target(dev, two, omp_co::range(large, large))));
    BOOST_TEST(refused(omp_co::target(dev, two, omp_co::range(std::size_t{1} << 32, std::size_t{1} << 32))));
    BOOST_TEST(refused(omp_co::target(dev, three, omp_co::range(third, third, third + 1))));
    BOOST_TEST(refused(omp_co::target(dev, three, omp_co::range(large, large, large))));
    // With nothing in one dimension there is nothing to do, whatever the others say.
    BOOST_TEST(!outcome(omp_co::target(dev, three, omp_co::range(0, large, large))));
    BOOST_TEST(!outcome(omp_co::target(dev, three, omp_co::range(large, 0, large))));
    BOOST_TEST(!outcome(omp_co::target(dev, three, omp_co::range(large, large, 0))));
    BOOST_TEST(refused(omp_co::target(dev, three, omp_co::range(large, large, -1))));
    BOOST_TEST(refused(omp_co::target(dev, three, omp_co::range(0, 5, -1))));
    BOOST_TEST(!ran);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace large_test
