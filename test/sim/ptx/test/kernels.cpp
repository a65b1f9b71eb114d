// SPDX-License-Identifier: BSL-1.0
// Whole kernels, compiled for three architectures, against the same computation on the host.
#include "support.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <numeric>

namespace {

using namespace omp_co_sim::ptx;
using namespace omp_co_sim::ptx::test;
auto const architectures = boost::unit_test::data::make({75, 80, 90});

#define RUNS(call)                                                                                           \
    do {                                                                                                     \
        fault const f_ = (call);                                                                             \
        BOOST_REQUIRE_MESSAGE(!f_, f_.text);                                                                 \
    } while (false)

std::vector<float> ramp(std::size_t n, float step)
{
    std::vector<float> out(n);
    for (std::size_t i = 0; i < n; ++i) out[i] = step * static_cast<float>(i % 97) - 7;
    return out;
}

BOOST_AUTO_TEST_SUITE(kernels)

BOOST_DATA_TEST_CASE(saxpy_of_an_odd_length, architectures)
{
    device_memory m;
    loaded code{m, compiled("basic", sample)};
    auto const x = ramp(1000, 0.5f);
    auto const y = ramp(1000, 0.25f);
    array<float> dx{m, x};
    array<float> dy{m, y};
    RUNS(code.run("saxpy", {{4, 1, 1}, {256, 1, 1}}, 1000, 3.0f, dx, dy));
    auto const out = dy.host();
    for (std::size_t i = 0; i < x.size(); ++i) BOOST_REQUIRE_EQUAL(out[i], std::fma(3.0f, x[i], y[i]));
}

BOOST_DATA_TEST_CASE(memory_that_is_asked_for_each_access, architectures)
{
    device_memory m;
    m.cached = false;
    loaded code{m, compiled("basic", sample)};
    array<float> dx{m, ramp(64, 1)};
    array<float> dy{m, ramp(64, 1)};
    RUNS(code.run("saxpy", {{1, 1, 1}, {64, 1, 1}}, 64, 1.0f, dx, dy));
    BOOST_TEST(dy.host()[10] == 6.0f);
}

BOOST_DATA_TEST_CASE(tiled_matrix_product, architectures)
{
    device_memory m;
    loaded code{m, compiled("basic", sample)};
    int const n = 48;
    auto const a = ramp(48 * 48, 0.125f);
    auto const b = ramp(48 * 48, 0.5f);
    array<float> da{m, a};
    array<float> db{m, b};
    array<float> dc{m, std::vector<float>(48 * 48)};
    RUNS(code.run("matmul", {{3, 3, 1}, {16, 16, 1}}, da, db, dc, n));
    auto const out = dc.host();
    for (int r = 0; r < n; ++r)
        for (int c = 0; c < n; ++c) {
            float sum = 0;
            for (int k = 0; k < n; ++k)
                sum = std::fma(a[static_cast<std::size_t>(r * n + k)], b[static_cast<std::size_t>(k * n + c)],
                               sum);
            BOOST_REQUIRE_EQUAL(out[static_cast<std::size_t>(r * n + c)], sum);
        }
}

BOOST_DATA_TEST_CASE(reduction_by_shuffles, architectures)
{
    device_memory m;
    loaded code{m, compiled("basic", sample)};
    std::vector<float> x(5000, 1.0f);
    x[17] = 4;
    array<float> dx{m, x};
    array<float> result{m, std::vector<float>{0}};
    RUNS(code.run("reduce", {{3, 1, 1}, {128, 1, 1}}, dx, 5000, result));
    BOOST_TEST(result.host()[0] == 5003.0f);
}

BOOST_DATA_TEST_CASE(histogram_by_atomics, architectures)
{
    device_memory m;
    loaded code{m, compiled("basic", sample)};
    std::vector<unsigned char> x(3001);
    std::vector<unsigned> expected(256);
    for (std::size_t i = 0; i < x.size(); ++i) ++expected[x[i] = static_cast<unsigned char>(i * i / 3)];
    array<unsigned char> dx{m, x};
    array<unsigned> bins{m, std::vector<unsigned>(256)};
    RUNS(code.run("histogram", {{4, 1, 1}, {96, 1, 1}}, dx, 3001, bins));
    auto const out = bins.host();
    BOOST_TEST(out == expected, boost::test_tools::per_element());
}

struct small {
    char tag;
    short half;
    double value;
};
struct large {
    small items[3];
    float matrix[4][4];
    unsigned char tail[5];
};

BOOST_DATA_TEST_CASE(parameters_of_every_size, architectures)
{
    device_memory m;
    loaded code{m, compiled("basic", sample)};
    array<double> out{m, std::vector<double>(4)};
    large l{{{1, 2, 3.5}, {4, 5, 6.5}, {7, 8, 9.5}}, {}, {1, 2, 3, 4, 5}};
    for (int r = 0; r < 4; ++r)
        for (int c = 0; c < 4; ++c) l.matrix[r][c] = static_cast<float>(10 * r + c);
    for (int pick = 0; pick < 3; ++pick) {
        RUNS(code.run("structs", {{1, 1, 1}, {4, 1, 1}}, char{-5}, small{-6, -700, 0.25}, short{-1000}, l,
                      out, pick));
        auto const p = static_cast<std::size_t>(pick);
        double const sum = -5 - 6 - 700 + 0.25 - 1000 + l.items[p].value + l.items[p].half +
                           static_cast<double>(l.matrix[p][3 - p]) + l.tail[p + 2];
        for (std::size_t i = 0; i < 4; ++i) BOOST_TEST(out.host()[i] == sum + static_cast<double>(i));
    }
    auto const k = code.code().find_kernel("structs");
    BOOST_REQUIRE(k);
    BOOST_REQUIRE_EQUAL(k->parameters.size(), 6u);
    BOOST_TEST(k->parameters[1].offset == 8u);
    BOOST_TEST(k->parameters[1].size == 16u);
    BOOST_TEST(k->parameters[2].offset == 24u);
    BOOST_TEST(k->parameters[3].offset == 32u);
    BOOST_TEST(k->parameters[3].size == sizeof(large));
}

BOOST_DATA_TEST_CASE(indices_in_three_dimensions, architectures)
{
    device_memory m;
    loaded code{m, compiled("basic", sample)};
    array<int> out{m, std::vector<int>(7 * 5 * 6)};
    RUNS(code.run("index3", {{2, 3, 2}, {4, 2, 3}}, out, 7, 5, 6));
    auto const host = out.host();
    for (int z = 0; z < 6; ++z)
        for (int y = 0; y < 5; ++y)
            for (int x = 0; x < 7; ++x)
                BOOST_REQUIRE_EQUAL(host[static_cast<std::size_t>((z * 5 + y) * 7 + x)],
                                    x + 100 * y + 10000 * z);
}

BOOST_DATA_TEST_CASE(tables_in_constant_and_global_memory, architectures)
{
    device_memory m;
    loaded code{m, compiled("basic", sample)};
    array<int> out{m, std::vector<int>(16)};
    RUNS(code.run("tables", {{1, 1, 1}, {1, 1, 1}}, out));
    BOOST_TEST(out.host()[0] == 3 + 5 + 3 + 'e');
    BOOST_TEST(code.global<int>("counter") == 42);
    BOOST_TEST((code.global<std::array<int, 4>>("cells")[2] == 7));
    RUNS(code.run("tables", {{1, 1, 1}, {16, 1, 1}}, out));
    int const table[] = {3, 1, 4, 1, 5, 9, 2, 6};
    int const weights[2][3] = {{5, 15, 25}, {-10, -20, -30}};
    char const letters[] = {'e', 'n', 'w'};
    for (int i = 0; i < 16; ++i)
        BOOST_TEST(out.host()[static_cast<std::size_t>(i)] ==
                   table[i % 8] + weights[i % 2][i % 3] + 7 + letters[i % 3]);
    BOOST_REQUIRE(code.code().find_global("table"));
    BOOST_TEST(code.code().find_global("table")->constant);
    BOOST_TEST(code.code().find_global("table")->size == 32u);
    BOOST_TEST(!code.code().find_global("nothing"));
}

BOOST_DATA_TEST_CASE(dynamic_shared_memory, architectures)
{
    device_memory m;
    loaded code{m, compiled("basic", sample)};
    std::vector<int> in(100);
    std::iota(in.begin(), in.end(), 5);
    array<int> din{m, in};
    array<int> out{m, std::vector<int>(100)};
    RUNS(code.run("dynamic_shared", {{1, 1, 1}, {100, 1, 1}, 400}, din, out));
    std::reverse(in.begin(), in.end());
    BOOST_TEST(out.host() == in, boost::test_tools::per_element());
    BOOST_TEST(code.run("dynamic_shared", {{1, 1, 1}, {100, 1, 1}, 396}, din, out).kind ==
               fault_kind::illegal_address);
}

BOOST_DATA_TEST_CASE(functions_that_are_called, architectures)
{
    device_memory m;
    loaded code{m, compiled("basic", sample)};
    std::vector<double> const x{1.5, -0.5, 2, 3, 0.25};
    array<double> dx{m, x};
    array<double> out{m, std::vector<double>(20)};
    RUNS(code.run("calls", {{1, 1, 1}, {20, 1, 1}}, dx, 5, out));
    for (int t = 0; t < 20; ++t) {
        double r = (t + 1) * 0.5;
        for (double const v : x) r = std::fma(r, v, (t + 1) * 2.0);
        BOOST_TEST(out.host()[static_cast<std::size_t>(t)] == r + (t + 1) + (t % 8) * (t % 8));
    }
}

BOOST_DATA_TEST_CASE(switch_statements, architectures)
{
    device_memory m;
    loaded code{m, compiled("basic", sample)};
    std::vector<int> const in{0, 1, 2, 3, 4, 5, 6, 7, 8, -1, 3, 2};
    array<int> din{m, in};
    array<int> out{m, std::vector<int>(12, 50)};
    RUNS(code.run("switches", {{1, 1, 1}, {32, 1, 1}}, din, out, 12));
    auto const n = static_cast<int>(in.size());
    for (int i = 0; i < n; ++i) {
        int r = in[static_cast<std::size_t>(i)];
        switch (r) {
        case 0:
            r = i * 3;
            break;
        case 1:
            r = in[static_cast<std::size_t>((i + 1) % n)] - 7;
            break;
        case 2:
            r = r << (i & 7);
            break;
        case 3:
            r = i / 3;
            break;
        case 4:
            r = i % 5;
            break;
        case 5:
            r = in[0] ^ i;
            break;
        case 6:
            r = -i;
            break;
        case 7:
            r = 51;
            break;
        default:
            r = 1000 + r;
        }
        BOOST_TEST(out.host()[static_cast<std::size_t>(i)] == r);
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
