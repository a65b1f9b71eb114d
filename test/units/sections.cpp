// SPDX-License-Identifier: BSL-1.0
// Blocks of arrays: which bytes they mean, and how many dimensions are left when gaps are not.
#include <omp_co/section.hpp>

#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace sections_test {

using omp_co::section;
using omp_co::section2d;
using omp_co::section3d;

BOOST_AUTO_TEST_SUITE(blocks)

BOOST_AUTO_TEST_CASE(rows_of_a_table)
{
    std::vector<int> g(80);
    auto const b = section2d(g.data(), {std::size_t{8}, std::size_t{10}}, {2, 3}, {3, 5});
    BOOST_TEST(b.valid());
    BOOST_TEST(b.data() == &g[23]);
    BOOST_TEST(b.around().size() == 25U); // from [2][3] to [4][7]
    BOOST_TEST(b.shape().row == 5 * sizeof(int));
    BOOST_TEST(b.shape().rows == 3U);
    BOOST_TEST(b.shape().slices == 1U);
    BOOST_TEST(b.shape().host.row == 10 * sizeof(int));
    BOOST_TEST(b.shape().bytes() == 60U);
    BOOST_TEST(b.shape().reach(b.shape().host) == b.around().bytes());
}

BOOST_AUTO_TEST_CASE(dimensions_without_gaps_become_one)
{
    std::vector<short> g(4 * 5 * 6);
    auto const rows_of = [&](auto const& o, auto const& n) {
        auto const b = section3d(g.data(), {4, 5, 6}, o, n).shape();
        return std::vector<std::size_t>{b.row / sizeof(short), b.rows, b.slices};
    };
    using sizes = std::vector<std::size_t>;
    int const zero[3]{0, 0, 0};
    int const all[3]{4, 5, 6};
    BOOST_TEST((rows_of(zero, all) == sizes{120, 1, 1}));
    int const full_rows[3]{2, 3, 6};
    BOOST_TEST((rows_of(zero, full_rows) == sizes{18, 2, 1}));
    int const full_slices[3]{2, 5, 6};
    BOOST_TEST((rows_of(zero, full_slices) == sizes{60, 1, 1}));
    int const columns[3]{4, 5, 2};
    BOOST_TEST((rows_of(zero, columns) == sizes{2, 20, 1})); // slices are a whole number of rows apart
    int const inner[3]{2, 3, 4};
    BOOST_TEST((rows_of(zero, inner) == sizes{4, 3, 2}));
    int const one_slice[3]{1, 3, 4};
    BOOST_TEST((rows_of(zero, one_slice) == sizes{4, 3, 1}));
    int const one_row_each[3]{3, 1, 4};
    BOOST_TEST((rows_of(zero, one_row_each) == sizes{4, 3, 1}));
    int const element[3]{1, 1, 1};
    BOOST_TEST((rows_of(zero, element) == sizes{1, 1, 1}));
}

BOOST_AUTO_TEST_CASE(strides)
{
    double x[20];
    double* const p = x;
    auto const b = section(p, 1, 5, 3);
    BOOST_TEST(b.valid());
    BOOST_TEST(b.data() == x + 1);
    BOOST_TEST(b.around().size() == 13U);
    BOOST_TEST(b.shape().row == sizeof(double));
    BOOST_TEST(b.shape().rows == 5U);
    BOOST_TEST(b.shape().host.row == 3 * sizeof(double));
    BOOST_TEST(section(p, 0, 20, 1).shape().row == sizeof x);
    BOOST_TEST(section(p, 0, 0, 7).around().size() == 0U);
    BOOST_TEST(section(p, 0, 1, 7).around().size() == 1U);
    BOOST_TEST(!section(p, 0, 2, 0).valid());
    BOOST_TEST(!section(p, 0, 2, -1).valid());
    BOOST_TEST(!section(p, 0, -2, 1).valid());
    BOOST_TEST(!section(p, 0, std::size_t{1} << 40, std::size_t{1} << 40).valid());
}

BOOST_AUTO_TEST_CASE(what_does_not_lie_in_the_array)
{
    int x[6]{};
    BOOST_TEST(section2d(x, {2, 3}, {0, 0}, {2, 3}).valid());
    BOOST_TEST(section2d(x, {2, 3}, {2, 3}, {0, 0}).valid());
    BOOST_TEST(!section2d(x, {2, 3}, {1, 0}, {2, 3}).valid());
    BOOST_TEST(!section2d(x, {2, 3}, {0, 1}, {2, 3}).valid());
    BOOST_TEST(!section2d(x, {2, 3}, {-1, 0}, {1, 1}).valid());
    BOOST_TEST(!section2d(x, {2, 3}, {0, 0}, {-1, 1}).valid());
    BOOST_TEST(!section2d(x, {-2, 3}, {0, 0}, {0, 0}).valid());
    BOOST_TEST(!section2d(x, {2, 3}, {0, 4}, {0, 0}).valid());
    int* const none = nullptr;
    BOOST_TEST(!section2d(none, {2, 3}, {0, 0}, {1, 1}).valid());
    BOOST_TEST(section2d(none, {2, 3}, {0, 0}, {0, 1}).valid());
    BOOST_TEST(section2d(none, {2, 3}, {0, 0}, {0, 1}).around().size() == 0U);
}

// Sizes beyond 4 GiB, in arithmetic.
BOOST_AUTO_TEST_CASE(large_arrays)
{
    std::uint64_t const n = std::uint64_t{1} << 20;
    auto* const p = reinterpret_cast<double*>(std::uintptr_t{1} << 45);
    auto const b = section2d(p, {n, n}, {n - 2, n - 3}, {std::uint64_t{2}, std::uint64_t{3}});
    BOOST_TEST(b.valid());
    BOOST_TEST(b.data() == p + (n - 2) * n + n - 3);
    BOOST_TEST(b.around().size() == n + 3);
    std::uint64_t const huge = std::uint64_t{1} << 40;
    BOOST_TEST(!section2d(p, {huge, huge}, {0, 0}, {1, 1}).valid());
    BOOST_TEST(!section3d(p, {n, n, huge}, {0, 0, 0}, {1, 1, 1}).valid());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace sections_test
