// SPDX-License-Identifier: BSL-1.0
// How ranges and teams become grids, beyond 2^32 too, on a device with the usual limits.
#include <omp_co/cuda/launch.hpp>

#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>

namespace {

namespace backend = omp_co::backend;
using namespace omp_co::cuda::engine;

constexpr std::size_t two31 = std::size_t{1} << 31;
constexpr std::size_t two32 = std::size_t{1} << 32;
constexpr std::size_t most = std::numeric_limits<std::size_t>::max();

limits usual_limits()
{
    limits l;
    l.name = "a device";
    l.max_threads = 1024;
    l.max_block[0] = l.max_block[1] = 1024;
    l.max_block[2] = 64;
    l.max_grid[0] = two31 - 1;
    l.max_grid[1] = l.max_grid[2] = 65535;
    l.shared_bytes = 48 << 10;
    l.shared_bytes_optin = 227 << 10;
    return l;
}

struct fixture {
    // Empty if it is refused; then `why` says so.
    std::optional<launch_shape> shape(backend::extents const& range)
    {
        backend::invocation call;
        call.range = range;
        return shape(call);
    }
    std::optional<launch_shape> shape(backend::team_shape const& team)
    {
        backend::invocation call;
        call.teams = &team;
        return shape(call);
    }
    std::optional<launch_shape> shape(backend::invocation const& call)
    {
        launch_shape s;
        why = {};
        if (shape_of(call, kernel, device, s, why)) {
            BOOST_TEST(!why.error);
            return s;
        }
        BOOST_TEST((why.error == omp_co::errc::invalid_argument));
        return {};
    }
    bool refused(backend::extents const& range, char const* words)
    {
        return !shape(range) && why.what.find(words) != std::string::npos;
    }
    bool refused(backend::team_shape const& team, char const* words)
    {
        return !shape(team) && why.what.find(words) != std::string::npos;
    }
    // How many threads the grid has in each dimension.
    bool covers(launch_shape const& s, backend::extents const& range) const
    {
        for (int d = 0; d < 3; ++d) {
            std::size_t const all = std::size_t{s.grid[d]} * s.block[d];
            if (all < range.count[d] || all - range.count[d] >= s.block[d]) return false;
        }
        return true;
    }

    limits device = usual_limits();
    kernel_facts kernel = [] {
        kernel_facts k;
        k.name = "k";
        k.max_threads = 1024;
        return k;
    }();
    backend::failure why;
};

BOOST_FIXTURE_TEST_SUITE(shapes_of_launches, fixture)

BOOST_AUTO_TEST_CASE(ranges_beyond_two_to_the_32)
{
    for (backend::extents const& range :
         {backend::extents{1, {two32 - 1, 1, 1}}, backend::extents{1, {two32 + 1, 1, 1}},
          backend::extents{1, {(two31 - 1) * 256, 1, 1}}, backend::extents{2, {two32 + 1, 65535 * 8, 1}},
          backend::extents{2, {(two31 - 1) * 32, 3, 1}},
          backend::extents{3, {two32 + 33, 65535 * 4, 65535 * 2}}, backend::extents{3, {1, 1, 1}}}) {
        auto const s = shape(range);
        BOOST_TEST_REQUIRE(s.has_value());
        BOOST_TEST(covers(*s, range));
    }
}

// The lower 32 bits of these counts would do.
BOOST_AUTO_TEST_CASE(ranges_that_no_grid_covers_are_refused)
{
    BOOST_TEST(refused(backend::extents{1, {(two31 - 1) * 256 + 1, 1, 1}}, "max_grid_dim_x = 2147483647"));
    BOOST_TEST(refused(backend::extents{1, {two32 * 256 + 256, 1, 1}}, "4294967297"));
    BOOST_TEST(refused(backend::extents{1, {most / 2, 1, 1}}, "max_grid_dim_x"));
    BOOST_TEST(refused(backend::extents{2, {1, 65535 * 8 + 1, 1}}, "max_grid_dim_y = 65535"));
    BOOST_TEST(refused(backend::extents{2, {1, two32 * 8 + 8, 1}}, "max_grid_dim_y"));
    BOOST_TEST(refused(backend::extents{3, {1, 1, two32 * 2 + 2}}, "max_grid_dim_z"));
    kernel.max_threads = 1; // a grid has as many blocks as the range has indices
    BOOST_TEST(refused(backend::extents{1, {two32 + 1, 1, 1}}, "4294967297"));
    BOOST_TEST(shape(backend::extents{1, {two31 - 1, 1, 1}})->grid[0] == two31 - 1);
}

BOOST_AUTO_TEST_CASE(teams_beyond_two_to_the_32_are_refused)
{
    BOOST_TEST(shape(backend::team_shape{{two31 - 1, 65535, 65535}, {1024, 1, 1}})->grid[2] == 65535U);
    BOOST_TEST(refused(backend::team_shape{{two32 + 1, 1, 1}, {32, 1, 1}}, "4294967297"));
    BOOST_TEST(refused(backend::team_shape{{1, two32 + 1, 1}, {32, 1, 1}}, "max_grid_dim_y"));
    BOOST_TEST(refused(backend::team_shape{{1, 1, 1}, {two32 + 32, 1, 1}}, "max_block_dim_x"));
    BOOST_TEST(refused(backend::team_shape{{1, 1, 1}, {1, 1, two32 + 1}}, "max_block_dim_z"));
    backend::team_shape shared;
    for (std::size_t const bytes : {two32, two32 + 16, most, most - (48 << 10) + 1}) {
        shared.shared_bytes = bytes;
        kernel.static_shared = 48 << 10; // their sum overflows
        BOOST_TEST(refused(shared, "max_shared_memory_per_block_optin"));
    }
}

BOOST_AUTO_TEST_CASE(teams_of_none_are_refused)
{
    BOOST_TEST(refused(backend::team_shape{{0, 1, 1}, {32, 1, 1}}, "zero"));
    BOOST_TEST(refused(backend::team_shape{{1, 1, 0}, {32, 1, 1}}, "zero"));
    BOOST_TEST(refused(backend::team_shape{{1, 1, 1}, {32, 0, 1}}, "zero"));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
