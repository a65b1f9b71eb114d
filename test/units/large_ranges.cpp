// SPDX-License-Identifier: BSL-1.0
// Host kernels that run a part of a range beyond 2^32: which indices they are given.
#include <omp_co/detail/host_kernel.hpp>
#include <omp_co/host/team.hpp>

#include <array>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

namespace large_ranges_test {

namespace backend = omp_co::backend;
using index = std::array<std::uint64_t, 3>;

constexpr std::size_t two32 = std::size_t{1} << 32;
constexpr std::size_t most = std::numeric_limits<std::size_t>::max() / 2; // iterations

// What the indices [first, first + n) of a range are, as the kernel sees them.
template <unsigned Dimensions>
std::vector<index> run(backend::extents const& range, std::size_t first, std::size_t n)
{
    std::vector<index> seen;
    auto const note = [s = &seen](auto... at) {
        index here{};
        std::size_t d = 0;
        ((here[d++] = at), ...);
        s->push_back(here);
    };
    constexpr omp_co::detail::host_kernel const& k =
        omp_co::detail::host_kernel_for<Dimensions, std::remove_const_t<decltype(note)>>;
    backend::invocation call;
    call.what = &k;
    call.closure = &note;
    call.range = range;
    backend::failure f;
    omp_co::host::run_part(call, first, first + n, f);
    BOOST_TEST(!f.error);
    return seen;
}

backend::extents extents(unsigned dimensions, std::size_t x, std::size_t y = 1, std::size_t z = 1)
{
    return {dimensions, {x, y, z}};
}

BOOST_AUTO_TEST_SUITE(large_ranges)

BOOST_AUTO_TEST_CASE(one_dimension)
{
    std::vector<index> const seen = run<1>(extents(1, most), two32 - 2, 4);
    BOOST_TEST((seen == std::vector<index>{{two32 - 2}, {two32 - 1}, {two32}, {two32 + 1}}));
    BOOST_TEST((run<1>(extents(1, most), most - 1, 1) == std::vector<index>{{most - 1}}));
}

BOOST_AUTO_TEST_CASE(two_dimensions)
{
    std::size_t const nx = two32 + 3;
    std::vector<index> seen = run<2>(extents(2, nx, 1000), 700 * nx - 2, 4);
    BOOST_TEST((seen == std::vector<index>{{nx - 2, 699}, {nx - 1, 699}, {0, 700}, {1, 700}}));
    seen = run<2>(extents(2, 2, most / 2), 2 * two32 + 3, 4); // many short rows
    BOOST_TEST((seen == std::vector<index>{{1, two32 + 1}, {0, two32 + 2}, {1, two32 + 2}, {0, two32 + 3}}));
}

BOOST_AUTO_TEST_CASE(three_dimensions)
{
    std::size_t const nx = std::size_t{1} << 20;
    std::size_t const ny = (std::size_t{1} << 20) - 1;
    std::size_t const slice = nx * ny;
    std::vector<index> seen = run<3>(extents(3, nx, ny, 1 << 20), 5 * slice - 2, 4);
    BOOST_TEST((seen == std::vector<index>{{nx - 2, ny - 1, 4}, {nx - 1, ny - 1, 4}, {0, 0, 5}, {1, 0, 5}}));
    seen = run<3>(extents(3, 1, 1, most), two32 + 7, 2);
    BOOST_TEST((seen == std::vector<index>{{0, 0, two32 + 7}, {0, 0, two32 + 8}}));
    seen = run<3>(extents(3, 1, two32 + 5, 3), two32 + 4, 2);
    BOOST_TEST((seen == std::vector<index>{{0, two32 + 4, 0}, {0, 0, 1}}));
}

// Without gaps and overlaps, and none is larger by more than one.
BOOST_AUTO_TEST_CASE(shares_of_large_ranges)
{
    for (std::size_t const total : {two32 + 1, 3 * two32 - 5, most})
        for (std::size_t const pieces : {std::size_t{1}, std::size_t{7}, std::size_t{1000}, two32 - 1}) {
            using omp_co::host::share;
            std::size_t const usual = total / pieces;
            BOOST_TEST(share(total, 0, pieces) == 0U);
            BOOST_TEST(share(total, pieces, pieces) == total);
            for (std::size_t const at : {std::size_t{0}, pieces / 2, pieces - 1}) {
                std::size_t const size = share(total, at + 1, pieces) - share(total, at, pieces);
                BOOST_TEST((size == usual || size == usual + 1));
            }
        }
}

BOOST_AUTO_TEST_CASE(a_team_shares_a_range_that_begins_beyond)
{
    constexpr std::size_t n = 1000;
    std::size_t const first = 5 * two32 - n / 2;
    std::vector<std::atomic<int>> seen(n);
    auto const count = [s = seen.data(), from = first](std::size_t i) { ++s[i - from]; };
    backend::invocation call;
    call.what = &omp_co::detail::host_kernel_for<1, std::remove_const_t<decltype(count)>>;
    call.closure = &count;
    call.range = extents(1, most);
    std::atomic<unsigned> open{0};
    omp_co::host::team t;
    t.start(call, first, first + n, 7, open);
    backend::failure f;
    t.finish(f, std::chrono::microseconds(20));
    BOOST_TEST(!f.error);
    for (auto const& each : seen) BOOST_TEST_REQUIRE(each == 1);
}

BOOST_AUTO_TEST_CASE(what_can_be_counted)
{
    BOOST_TEST(extents(1, most).countable());
    BOOST_TEST(!extents(1, most + 1).countable());
    BOOST_TEST(extents(2, two32, two32 / 2 - 1).countable());
    BOOST_TEST(!extents(2, two32, two32 / 2).countable());
    BOOST_TEST(!extents(2, two32, two32).countable()); // 0, modulo 2^64
    BOOST_TEST(extents(3, two32, two32, 0).countable());
    BOOST_TEST(extents(3, 0, two32, two32).countable());
    BOOST_TEST(extents(3, two32, two32, 0).total() == 0U);
    BOOST_TEST(!extents(3, 1 << 22, 1 << 21, 1 << 21).countable());
    BOOST_TEST(extents(3, 1 << 21, 1 << 21, (1 << 21) - 1).countable());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace large_ranges_test
