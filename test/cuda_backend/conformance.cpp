// SPDX-License-Identifier: BSL-1.0
// What holds on every device, host and CUDA alike.
#include "cuda_backend/bed.hpp"
#include "support/gate.hpp"
#include "support/outcome.hpp"

#include <array>
#include <boost/asio.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <numeric>
#include <vector>

namespace conformance_test {

namespace asio = boost::asio;
namespace data = boost::unit_test::data;
using namespace cuda_test;
using omp_co_test::eventually;
using omp_co_test::outcome;

// Names, for the frames of coroutines that refer to them.

omp_co::kernel<void(unsigned*, std::size_t)> const
    add_index("add_index", omp_co::host::variant([](std::size_t i, unsigned* p, std::size_t) {
                  p[i] += static_cast<unsigned>(i);
              }),
              image);
omp_co::kernel<void(int*, int, int)> const
    mark_2d("mark_2d", omp_co::host::variant([](int x, int y, int* p, int nx, int) {
                p[y * nx + x] += x + 1000 * y + 1;
            }),
            image);
omp_co::kernel<void(int*, int, int, int)> const
    mark_3d("mark_3d", omp_co::host::variant([](int x, int y, int z, int* p, int nx, int ny, int) {
                p[(z * ny + y) * nx + x] += x + 100 * y + 10000 * z;
            }),
            image);
omp_co::kernel<void(int*)> const increment("increment", omp_co::host::variant([](int* p) { ++*p; }), image);
omp_co::kernel<void(int const*, int*)> const
    add_from("add_from", omp_co::host::variant([](int const* a, int* b) { *b += *a; }), image);

struct triple {
    double factor;
    short shift;
    char sign;
};
omp_co::kernel<void(triple, double*)> const with_struct("with_struct",
                                                        omp_co::host::variant([](triple t, double* p) {
                                                            *p = *p * t.factor +
                                                                 (t.sign < 0 ? -t.shift : t.shift);
                                                        }),
                                                        image);

void nothing_is_left(bed const& dev)
{
    BOOST_TEST(dev.now().mapped_ranges == 0U);
    BOOST_TEST(dev.now().device_bytes == 0U);
    BOOST_TEST(dev.now().in_flight == 0U);
}

// What a block means, written out.
struct block {
    std::size_t extents[3];
    std::size_t offsets[3];
    std::size_t counts[3];

    bool holds(std::size_t at) const
    {
        std::size_t const place[3]{at / (extents[1] * extents[2]), at / extents[2] % extents[1],
                                   at % extents[2]};
        for (int i = 0; i < 3; ++i)
            if (place[i] < offsets[i] || place[i] >= offsets[i] + counts[i]) return false;
        return true;
    }
};

BOOST_AUTO_TEST_SUITE(conformance_of_devices)

BOOST_DATA_TEST_CASE(each_index_is_visited_once, data::make(varieties), v)
{
    bed const dev(v);
    for (std::size_t n : {0U, 1U, 2U, 255U, 256U, 257U, 5000U}) {
        std::vector<unsigned> p(n, 1);
        omp_co::sync_wait(omp_co::target(dev.get(), add_index, omp_co::range(n), omp_co::tofrom(p),
                                         omp_co::firstprivate(n)));
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < n; ++i) wrong += p[i] != i + 1;
        BOOST_TEST(wrong == 0U);
    }
    nothing_is_left(dev);
}

BOOST_DATA_TEST_CASE(two_and_three_dimensions, data::make(varieties), v)
{
    bed const dev(v);
    for (auto const [nx, ny] : {std::array{1, 1}, std::array{33, 9}, std::array{7, 31}}) {
        std::vector<int> p(static_cast<std::size_t>(nx * ny));
        omp_co::sync_wait(omp_co::target(dev.get(), mark_2d, omp_co::range(nx, ny), omp_co::tofrom(p),
                                         omp_co::firstprivate(nx), omp_co::firstprivate(ny)));
        int wrong = 0;
        for (int y = 0; y < ny; ++y)
            for (int x = 0; x < nx; ++x) wrong += p[static_cast<std::size_t>(y * nx + x)] != x + 1000 * y + 1;
        BOOST_TEST(wrong == 0);
    }
    int const nx = 34;
    int const ny = 5;
    int const nz = 3;
    std::vector<int> p(static_cast<std::size_t>(nx * ny * nz));
    omp_co::sync_wait(omp_co::target(dev.get(), mark_3d, omp_co::range(nx, ny, nz), omp_co::tofrom(p),
                                     omp_co::firstprivate(nx), omp_co::firstprivate(ny),
                                     omp_co::firstprivate(nz)));
    int wrong = 0;
    for (int z = 0; z < nz; ++z)
        for (int y = 0; y < ny; ++y)
            for (int x = 0; x < nx; ++x)
                wrong += p[static_cast<std::size_t>((z * ny + y) * nx + x)] != x + 100 * y + 10000 * z;
    BOOST_TEST(wrong == 0);
}

BOOST_DATA_TEST_CASE(structures_travel_as_they_are, data::make(varieties), v)
{
    bed const dev(v);
    double x = 2;
    omp_co::sync_wait(
        omp_co::target(dev.get(), with_struct, omp_co::firstprivate(triple{1.5, 7, -1}), omp_co::tofrom(x)));
    BOOST_TEST(x == -4.0);
}

// Below, at and above what is staged at once, and more than all chunks hold.
BOOST_DATA_TEST_CASE(copies_of_every_size_arrive, data::make(varieties), v)
{
    bed const dev(v);
    std::size_t const kib = 1024;
    for (std::size_t bytes : {std::size_t{1}, 4 * kib, 4 * kib + 1, 64 * kib, 64 * kib + 1, 1024 * kib,
                              1024 * kib + 1, 12 * 1024 * kib + 3}) {
        std::vector<unsigned char> out(bytes);
        for (std::size_t i = 0; i < bytes; ++i) out[i] = static_cast<unsigned char>(i * 7 + i / 251);
        std::vector<unsigned char> const before = out;
        omp_co::sync_wait(omp_co::target_enter_data(dev.get(), omp_co::to(out)));
        std::fill(out.begin(), out.end(), static_cast<unsigned char>(0));
        omp_co::sync_wait(omp_co::target_exit_data(dev.get(), omp_co::from(out)));
        BOOST_TEST((out == before));
    }
    nothing_is_left(dev);
}

// A few rows, blocks that are staged at once, blocks in several chunks, rows longer than a chunk.
BOOST_DATA_TEST_CASE(blocks_of_arrays_are_updated, data::make(varieties), v)
{
    bed const dev(v);
    block const blocks[]{
        {{1, 8, 10}, {0, 2, 3}, {1, 3, 5}},          {{4, 5, 6}, {1, 1, 1}, {2, 3, 4}},
        {{4, 5, 6}, {1, 0, 0}, {2, 5, 6}},           {{4, 5, 6}, {1, 2, 0}, {3, 2, 6}},
        {{9, 40, 30}, {0, 0, 29}, {9, 40, 1}},       {{30, 40, 50}, {3, 4, 5}, {20, 30, 40}},
        {{2, 300, 1001}, {0, 10, 1}, {2, 280, 999}}, {{1, 2, 270000}, {0, 0, 3}, {1, 2, 269990}},
    };
    for (block const& b : blocks) {
        std::vector<unsigned> x(b.extents[0] * b.extents[1] * b.extents[2], 7);
        std::size_t const n = x.size();
        auto const part = omp_co::section3d(x.data(), b.extents, b.offsets, b.counts);
        BOOST_TEST(!outcome(omp_co::target_enter_data(dev.get(), omp_co::to(x))));
        BOOST_TEST(!outcome(omp_co::target(dev.get(), add_index, omp_co::range(n), omp_co::alloc(x),
                                           omp_co::firstprivate(n))));
        BOOST_TEST(!outcome(omp_co::target_update(dev.get(), omp_co::from(part))));
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < n; ++i) wrong += x[i] != 7 + (b.holds(i) ? static_cast<unsigned>(i) : 0);
        BOOST_TEST(wrong == 0U);
        for (unsigned& each : x) each = 1;
        BOOST_TEST(!outcome(omp_co::target_update(dev.get(), omp_co::to(part))));
        BOOST_TEST(!outcome(omp_co::target_exit_data(dev.get(), omp_co::from(x))));
        wrong = 0;
        for (std::size_t i = 0; i < n; ++i) wrong += x[i] != (b.holds(i) ? 1 : 7 + static_cast<unsigned>(i));
        BOOST_TEST(wrong == 0U);
        nothing_is_left(dev);
    }
}

BOOST_DATA_TEST_CASE(elements_with_a_stride_are_updated, data::make(varieties), v)
{
    bed const dev(v);
    std::vector<int> x(1000, 1);
    int* const p = x.data();
    BOOST_TEST(!outcome(omp_co::target_enter_data(dev.get(), omp_co::alloc(x))));
    BOOST_TEST(!outcome(omp_co::target_update(dev.get(), omp_co::to(x))));
    for (int& each : x) each = 2;
    BOOST_TEST(!outcome(omp_co::target_update(dev.get(), omp_co::to(omp_co::section(p, 3, 99, 10)))));
    auto const before = dev.now();
    BOOST_TEST(!outcome(omp_co::target_update(dev.get(), omp_co::from(omp_co::section(p, 0, 500, 2)),
                                              omp_co::from(omp_co::section(p, 1, 500, 2)))));
    BOOST_TEST(dev.now().bytes_out - before.bytes_out == 1000 * sizeof(int));
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < 1000; ++i) wrong += x[i] != (i >= 3 && i < 984 && i % 10 == 3 ? 2 : 1);
    BOOST_TEST(wrong == 0U);
    BOOST_TEST(!outcome(omp_co::target_exit_data(dev.get(), omp_co::delete_(x))));
    nothing_is_left(dev);
}

BOOST_DATA_TEST_CASE(a_block_of_pinned_memory_goes_straight, data::make(cuda_varieties), v)
{
    bed const dev(v);
    std::vector<int, omp_co::cuda::pinned_allocator<int>> x(300 * 500, 1);
    auto const part = omp_co::section2d(x.data(), {300, 500}, {10, 20}, {200, 400});
    BOOST_TEST(!outcome(omp_co::target_enter_data(dev.get(), omp_co::to(x))));
    for (int& each : x) each = 2;
    BOOST_TEST(!outcome(omp_co::target_update(dev.get(), omp_co::to(part))));
    BOOST_TEST(simulator::called("cuMemcpy3DAsync_v2", 1));
    BOOST_TEST(!outcome(omp_co::target_exit_data(dev.get(), omp_co::from(x))));
    std::size_t twos = 0;
    for (int each : x) twos += each == 2;
    BOOST_TEST(twos == 200U * 400U);
}

BOOST_DATA_TEST_CASE(a_region_follows_those_whose_data_it_uses, data::make(varieties), v)
{
    bed const dev(v);
    constexpr std::size_t readers = 16;
    int a = 1;
    std::array<int, readers> b{};
    asio::io_context io;
    auto const run = [&]() -> asio::awaitable<void> {
        omp_co::task_group group(co_await asio::this_coro::executor);
        for (int round = 0; round < 20; ++round) {
            group.spawn(omp_co::target(dev.get(), increment, omp_co::tofrom(a)));
            for (int& each : b)
                group.spawn(omp_co::target(dev.get(), add_from, omp_co::to(a), omp_co::tofrom(each)));
        }
        co_await group.wait();
    };
    asio::co_spawn(io, run(), [](std::exception_ptr e) { BOOST_TEST(!e); });
    io.run();
    BOOST_TEST(a == 21);
    for (int each : b) BOOST_TEST(each == 230); // 2 + 3 + … + 21
    nothing_is_left(dev);
}

BOOST_DATA_TEST_CASE(many_regions_are_in_flight, data::make(varieties), v)
{
    bed const dev(v);
    constexpr std::size_t regions = 3000;
    std::vector<int> x(regions);
    asio::io_context io;
    std::size_t ended = 0;
    auto const count = [&](omp_co::error_code ec) { ended += !ec; };
    for (int& each : x)
        omp_co::target(dev.get(), increment, omp_co::tofrom(each))(asio::bind_executor(io, count));
    io.run();
    BOOST_TEST(ended == regions);
    BOOST_TEST(std::accumulate(x.begin(), x.end(), std::size_t{0}) == regions);
    nothing_is_left(dev);
}

BOOST_DATA_TEST_CASE(resident_data_stays, data::make(varieties), v)
{
    bed const dev(v);
    std::vector<int> x(1000, 0);
    omp_co::sync_wait(omp_co::target_enter_data(dev.get(), omp_co::to(x)));
    for (int i = 0; i < 50; ++i) omp_co::sync_wait(omp_co::target(dev.get(), increment, omp_co::tofrom(x)));
    BOOST_TEST(x[0] == 0);
    omp_co::sync_wait(omp_co::target_update(dev.get(), omp_co::from(x)));
    BOOST_TEST(x[0] == 50);
    BOOST_TEST(dev.now().mapped_ranges == 1U);
    omp_co::sync_wait(omp_co::target_exit_data(dev.get(), omp_co::from(x)));
    nothing_is_left(dev);
}

// Through the driver as one copy, however many rows.
BOOST_DATA_TEST_CASE(blocks_within_a_device, data::make(varieties), v)
{
    bed dev(v);
    std::vector<int> x(6 * 70 * 8);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int>(i);
    std::vector<int> y(5 * 90 * 6, -1);
    unsigned long const before = simulator::count("cuMemcpy3DAsync_v2");
    {
        auto a = omp_co::sync_wait(omp_co::allocate<int>(dev, x.size()));
        auto b = omp_co::sync_wait(omp_co::allocate<int>(dev, y.size()));
        BOOST_TEST(!outcome(omp_co::target_memcpy(a, x)));
        BOOST_TEST(!outcome(omp_co::target_memcpy(b, y)));
        BOOST_TEST(!outcome(omp_co::target_memcpy_rect(
            omp_co::device_box(dev, omp_co::section3d(b.get(), {5, 90, 6}, {2, 1, 0}, {3, 60, 5})),
            omp_co::device_box(dev, omp_co::section3d(a.get(), {6, 70, 8}, {1, 2, 3}, {3, 60, 5})))));
        BOOST_TEST(!outcome(omp_co::target_memcpy(y, b)));
    }
    std::size_t wrong = 0;
    for (std::size_t z = 0; z < 5; ++z)
        for (std::size_t r = 0; r < 90; ++r)
            for (std::size_t c = 0; c < 6; ++c) {
                bool const inside = z >= 2 && r >= 1 && r < 61 && c < 5;
                int const expected = inside ? static_cast<int>(((z - 1) * 70 + r + 1) * 8 + c + 3) : -1;
                wrong += y[(z * 90 + r) * 6 + c] != expected;
            }
    BOOST_TEST(wrong == 0U);
    if (!v.host && simulator::present()) BOOST_TEST(simulator::count("cuMemcpy3DAsync_v2") == before + 1);
    BOOST_TEST(dev.now().device_bytes == 0U);
}

// The host's device has its memory where this one copies from and to: each way it is one motion, of this one.
BOOST_AUTO_TEST_CASE(copies_to_a_device_on_the_host_and_back)
{
    bed dev;
    omp_co::host::virtual_device host({.workers = 1});
    std::vector<int> x(6 * 70 * 8);
    std::iota(x.begin(), x.end(), 0);
    std::vector<int> y(x.size(), -1);
    auto const before = dev.now();
    {
        auto here = omp_co::sync_wait(omp_co::allocate<int>(dev, x.size()));
        auto there = omp_co::sync_wait(omp_co::allocate<int>(host, x.size()));
        auto back = omp_co::sync_wait(omp_co::allocate<int>(host, x.size()));
        BOOST_TEST(!outcome(omp_co::target_memcpy(there, x)));
        BOOST_TEST(!outcome(omp_co::target_memcpy(back, y)));
        BOOST_TEST(!outcome(omp_co::target_memcpy(here, there)));
        BOOST_TEST(!outcome(omp_co::target_memset(there, 0)));
        BOOST_TEST(!outcome(omp_co::target_memcpy_rect(
            omp_co::device_box(host, omp_co::section3d(back.get(), {6, 70, 8}, {2, 1, 0}, {3, 60, 5})),
            omp_co::device_box(dev, omp_co::section3d(here.get(), {6, 70, 8}, {1, 2, 3}, {3, 60, 5})))));
        BOOST_TEST(!outcome(omp_co::target_memcpy_rect(
            omp_co::device_box(dev, omp_co::section3d(here.get(), {6, 70, 8}, {0, 0, 0}, {6, 10, 8})),
            omp_co::device_box(host, omp_co::section3d(there.get(), {6, 70, 8}, {0, 0, 0}, {6, 10, 8})))));
        BOOST_TEST(!outcome(omp_co::target_memcpy(y, back)));
        BOOST_TEST(!outcome(omp_co::target_memcpy(there, here)));
        BOOST_TEST(!outcome(omp_co::target_memcpy(x, there)));
    }
    std::size_t wrong = 0;
    for (std::size_t z = 0; z < 6; ++z)
        for (std::size_t r = 0; r < 70; ++r)
            for (std::size_t c = 0; c < 8; ++c) {
                std::size_t const at = (z * 70 + r) * 8 + c;
                bool const inside = z >= 2 && z < 5 && r >= 1 && r < 61 && c < 5;
                wrong += y[at] != (inside ? static_cast<int>(((z - 1) * 70 + r + 1) * 8 + c + 3) : -1);
                wrong += x[at] != (r < 10 ? 0 : static_cast<int>(at));
            }
    BOOST_TEST(wrong == 0U);
    auto const after = dev.now();
    BOOST_TEST(after.copies_in == before.copies_in + 2);
    BOOST_TEST(after.copies_out == before.copies_out + 2);
    BOOST_TEST(host.get().statistics().copies_in == 2U); // of x and y
    BOOST_TEST(host.get().statistics().copies_out == 2U);
    BOOST_TEST(dev.now().device_bytes == 0U);
}

// Its places in the order are about the same bytes of the host, and so are copies out of other regions: it waits for neither.
BOOST_AUTO_TEST_CASE(copies_of_mapped_data_by_way_of_the_initial_device_do_not_wait_for_themselves)
{
    bed dev;
    std::vector<int> x(100'000, 1);
    std::vector<int> y(100'000, 2);
    BOOST_TEST(!outcome(omp_co::target_enter_data(dev, omp_co::to(x), omp_co::to(y))));
    BOOST_TEST(!outcome(omp_co::target(dev.get(), increment, omp_co::tofrom(x))));
    BOOST_TEST(!outcome(omp_co::target(dev.get(), increment, omp_co::tofrom(y))));
    asio::io_context io;
    std::size_t well = 0;
    auto handler = asio::bind_executor(io, [&](omp_co::error_code ec) { well += ec ? 0 : 1; });
    auto const here = [](std::vector<int>& v) {
        return omp_co::device_section(omp_co::initial_device(), v.data(), v.size());
    };
    auto const there = [&](std::vector<int>& v) {
        return omp_co::device_section(dev.get(), dev.get().mapped_ptr(v.data()), v.size());
    };
    for (std::vector<int>* v : {&x, &y}) omp_co::target_memcpy(here(*v), there(*v))(handler);
    BOOST_TEST(eventually([&] {
        io.restart();
        io.poll();
        return well == 2;
    }));
    BOOST_TEST(x[0] == 2);
    BOOST_TEST(y[0] == 3);
    for (std::vector<int>* v : {&x, &y}) {
        v->assign(v->size(), 7);
        omp_co::target_memcpy(there(*v), here(*v))(handler);
    }
    BOOST_TEST(eventually([&] {
        io.restart();
        io.poll();
        return well == 4;
    }));
    BOOST_TEST(!outcome(omp_co::target_exit_data(dev, omp_co::from(x), omp_co::from(y))));
    BOOST_TEST(x[99'999] == 7);
    BOOST_TEST(y[99'999] == 7);
    BOOST_TEST(dev.now().device_bytes == 0U);
}

// Further than the driver copies boxes (CU_DEVICE_ATTRIBUTE_MAX_PITCH).
BOOST_AUTO_TEST_CASE(rows_two_gib_apart)
{
    bed dev;
    std::size_t const apart = std::size_t{1} << 31;
    std::vector<int> x(3 * 4);
    std::iota(x.begin(), x.end(), 0);
    std::vector<int> back(2 * 4, -1);
    {
        auto far = omp_co::sync_wait(omp_co::allocate<int>(dev, (apart + 64) / sizeof(int)));
        auto near = omp_co::sync_wait(omp_co::allocate<int>(dev, x.size()));
        auto const rows = omp_co::device_box(
            dev, omp_co::section2d(far.get(), {std::size_t{2}, apart / sizeof(int)}, {0, 0}, {2, 4}));
        BOOST_TEST(
            !outcome(omp_co::target_memcpy_rect(rows, omp_co::section2d(x.data(), {3, 4}, {0, 0}, {2, 4}))));
        BOOST_TEST(!outcome(omp_co::target_memcpy_rect(
            omp_co::device_box(dev, omp_co::section2d(near.get(), {3, 4}, {1, 0}, {2, 4})), rows)));
        BOOST_TEST(!outcome(
            omp_co::target_memcpy_rect(omp_co::section2d(back.data(), {2, 4}, {0, 0}, {2, 4}), rows)));
        std::vector<int> const expected(x.begin(), x.begin() + 8);
        BOOST_TEST(back == expected, boost::test_tools::per_element());
        BOOST_TEST(!outcome(omp_co::target_memcpy(x, near)));
        BOOST_TEST(std::equal(expected.begin(), expected.end(), x.begin() + 4));
    }
    BOOST_TEST(dev.now().device_bytes == 0U);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace conformance_test
