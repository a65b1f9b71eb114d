// SPDX-License-Identifier: BSL-1.0
// Votes, shuffles, barriers, atomics, special registers, vectors and generic addresses.
#include "support.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <bit>
#include <thread>

namespace {

using namespace omp_co_sim::ptx;
using namespace omp_co_sim::ptx::test;
auto const architectures = boost::unit_test::data::make({75, 80, 90});

BOOST_AUTO_TEST_SUITE(threads)

BOOST_DATA_TEST_CASE(votes_of_warps_and_blocks, architectures)
{
    device_memory m;
    loaded code{m, compiled("threads", sample)};
    std::vector<int> in(64);
    for (int i = 0; i < 64; ++i) in[static_cast<std::size_t>(i)] = i * 7 % 11 - 5;
    array<int> din{m, in};
    array<unsigned> dout{m, std::vector<unsigned>(640)};
    auto const f = code.run("votes", {{1, 1, 1}, {64, 1, 1}}, din, dout);
    BOOST_REQUIRE_MESSAGE(!f, f.text);
    auto const out = dout.host();
    unsigned ballot[2] = {};
    bool five[2] = {};
    for (unsigned i = 0; i < 64; ++i) {
        ballot[i / 32] |= in[i] > 0 ? 1u << i % 32 : 0u;
        five[i / 32] |= in[i] == 5;
    }
    for (unsigned i = 0; i < 64; ++i) {
        unsigned const w = i / 32;
        BOOST_TEST(out[i * 10] == ballot[w]);
        BOOST_TEST(out[i * 10 + 1] == (five[w] ? 1u : 0u));
        BOOST_TEST(out[i * 10 + 2] == 1u);
        BOOST_TEST(out[i * 10 + 3] ==
                   static_cast<unsigned>(std::popcount(ballot[0]) + std::popcount(ballot[1])));
        BOOST_TEST(out[i * 10 + 4] == 0u);
        BOOST_TEST((out[i * 10 + 5] != 0));
        BOOST_TEST(out[i * 10 + 6] ==
                   (i % 2 ? ballot[w] & 0xaaaaaaaau : static_cast<unsigned>(in[w * 32 + 6])));
        BOOST_TEST(out[i * 10 + 7] == (i % 2 ? 0xaaaaaaaau : 0x55555555u));
        unsigned same = 0;
        for (unsigned k = 0; k < 32; ++k) same |= in[w * 32 + k] == in[i] ? 1u << k : 0u;
        BOOST_TEST(out[i * 10 + 8] == same);
        BOOST_TEST(out[i * 10 + 9] == 0u); // all lanes and 1: the sum wraps
    }
}

BOOST_DATA_TEST_CASE(shuffles_in_segments, architectures)
{
    device_memory m;
    loaded code{m, compiled("threads", sample)};
    std::vector<int> in(32);
    for (int i = 0; i < 32; ++i) in[static_cast<std::size_t>(i)] = i * i - 50;
    array<int> din{m, in};
    array<long long> dout{m, std::vector<long long>(32 * 6)};
    auto const f = code.run("shuffles", {{1, 1, 1}, {32, 1, 1}}, din, dout);
    BOOST_REQUIRE_MESSAGE(!f, f.text);
    auto const out = dout.host();
    for (std::size_t i = 0; i < 32; ++i) {
        BOOST_TEST(out[i * 6] == in[i < 3 ? i : i - 3]);
        BOOST_TEST(out[i * 6 + 1] == in[i % 16 + 5 < 16 ? i + 5 : i]);
        BOOST_TEST(out[i * 6 + 2] == in[i ^ 9]);
        BOOST_TEST(out[i * 6 + 3] == in[i / 8 * 8 + i * 7 % 8]);
        BOOST_TEST(out[i * 6 + 4] == static_cast<long long>(in[31 - i]) << 33);
        BOOST_TEST(out[i * 6 + 5] == in[i < 1 ? i : i - 1] * 2);
    }
}

BOOST_DATA_TEST_CASE(special_registers, architectures)
{
    device_memory m;
    loaded code{m, compiled("threads", sample)};
    array<unsigned> dout{m, std::vector<unsigned>(50 * 9)};
    auto const f = code.run("lanes", {{1, 1, 1}, {50, 1, 1}}, dout);
    BOOST_REQUIRE_MESSAGE(!f, f.text);
    auto const out = dout.host();
    for (unsigned i = 0; i < 50; ++i) {
        unsigned const bit = 1u << i % 32;
        BOOST_TEST(out[i * 9] == bit - 1);
        BOOST_TEST(out[i * 9 + 1] == (bit | (bit - 1)));
        BOOST_TEST(out[i * 9 + 2] == ~(bit | (bit - 1)));
        BOOST_TEST(out[i * 9 + 3] == ~(bit - 1));
        BOOST_TEST(out[i * 9 + 4] == bit);
        BOOST_TEST(out[i * 9 + 5] == i % 32);
        BOOST_TEST(out[i * 9 + 6] == i / 32);
        BOOST_TEST(out[i * 9 + 7] == 1u);
        BOOST_TEST(out[i * 9 + 8] == 1u);
    }
}

BOOST_DATA_TEST_CASE(atomics_of_every_kind, architectures)
{
    device_memory m;
    loaded code{m, compiled("threads", sample)};
    constexpr int n = 96;
    array<int> i{m, {5, 1000, -7, 3}};
    array<unsigned> u{m, std::vector<unsigned>(8 + n, 0xffffffff)};
    array<unsigned long long> l{m, {1, 2, 3, 1ull << 40, 5}};
    array<float> f{m, {1.0f}};
    array<double> d{m, {2.0}};
    array<int> s{m, {0, 0, 0, 0}};
    // Known starting values for inc and dec.
    auto const start = std::vector<unsigned>{0xffffffff, 0, 0, 0, 0, 4242, 0, 0};
    std::memcpy(m.bytes(u.address()), start.data(), 32);
    auto const e = code.run("atomics", {{3, 1, 1}, {32, 1, 1}}, i, u, l, f, d, s);
    BOOST_REQUIRE_MESSAGE(!e, e.text);
    auto const sum = n * (n - 1) / 2;
    BOOST_TEST(i.host()[0] == 5 + sum);
    BOOST_TEST(i.host()[1] == 500 - (n - 1));
    BOOST_TEST(i.host()[2] == n - 1);
    BOOST_TEST(i.host()[3] == 3 - 2 * n);
    BOOST_TEST(u.host()[0] == 0u);
    BOOST_TEST(u.host()[1] == 0xffffffffu);
    unsigned mixed = 0;
    for (unsigned t = 0; t < n; ++t) mixed ^= t;
    BOOST_TEST(u.host()[2] == mixed);
    BOOST_TEST(u.host()[3] == 96u % 10);
    BOOST_TEST(u.host()[4] == 4u); // 0, 9, 8, … : 96 steps
    unsigned long long chain = 1;
    for (int t = 0; t < n; ++t) chain = chain * 3 + 1;
    BOOST_TEST(l.host()[0] == chain);
    BOOST_TEST(l.host()[1] == 2 + (static_cast<unsigned long long>(n) << 33));
    BOOST_TEST(l.host()[2] == static_cast<unsigned long long>(n - 1) << 20);
    BOOST_TEST(l.host()[3] == 0u);
    BOOST_TEST(l.host()[4] == 77u);
    BOOST_TEST(f.host()[0] == 1 + n * 0.5f);
    BOOST_TEST(d.host()[0] == 2 + n * 0.25);
    for (int k = 0; k < 4; ++k) {
        int expected = 0;
        for (int t = k; t < n; t += 4) expected += t;
        BOOST_TEST(s.host()[static_cast<std::size_t>(k)] == expected);
    }
    // atomicExch gave each thread what the one before it had left.
    auto olds = u.host();
    olds.erase(olds.begin(), olds.begin() + 8);
    olds.push_back(u.host()[5]);
    std::sort(olds.begin(), olds.end());
    for (unsigned t = 0; t < n; ++t) BOOST_TEST(olds[t] == t);
    BOOST_TEST(olds[n] == 4242u);
}

BOOST_AUTO_TEST_CASE(atomics_of_two_streams_at_once)
{
    device_memory m;
    loaded code{m, compiled("basic", 80)};
    std::vector<unsigned char> x(20000, 3);
    array<unsigned char> dx{m, x};
    array<unsigned> bins{m, std::vector<unsigned>(256)};
    auto const once = [&] {
        auto const f = code.run("histogram", {{200, 1, 1}, {32, 1, 1}}, dx, 20000, bins);
        if (f) throw std::runtime_error{f.text};
    };
    std::thread other{once};
    once();
    other.join();
    BOOST_TEST(bins.host()[3] == 40000u);
}

BOOST_DATA_TEST_CASE(a_thread_that_waits_for_another_one_of_its_block, architectures)
{
    device_memory m;
    loaded code{m, compiled("threads", sample)};
    array<int> out{m, std::vector<int>{0}};
    auto const f = code.run("handshake", {{1, 1, 1}, {64, 1, 1}}, out);
    BOOST_REQUIRE_MESSAGE(!f, f.text);
    BOOST_TEST(out.host()[0] == 5);
}

BOOST_DATA_TEST_CASE(barriers_of_parts_of_a_block, architectures)
{
    device_memory m;
    loaded code{m, compiled("threads", sample)};
    array<int> out{m, std::vector<int>(128)};
    auto const f = code.run("named_barriers", {{1, 1, 1}, {128, 1, 1}}, out);
    BOOST_REQUIRE_MESSAGE(!f, f.text);
    for (std::size_t i = 0; i < 128; ++i) BOOST_TEST(out.host()[i] == (i < 64 ? 10 : 11));
}

struct alignas(16) float4 {
    float x, y, z, w;
};
struct alignas(8) int2 {
    int x, y;
};
struct alignas(16) longlong2 {
    long long x, y;
};

BOOST_DATA_TEST_CASE(vector_loads_and_stores, architectures)
{
    device_memory m;
    loaded code{m, compiled("threads", sample)};
    array<float4> in{m, {{1, 2, 3, 4}, {5, 6, 7, 8}}};
    array<float4> out{m, std::vector<float4>(2)};
    array<int2> two{m, {{1, 2}, {3, 4}}};
    array<longlong2> wide{m, {{10, 20}, {30, 40}}};
    auto const f = code.run("vectors", {{1, 1, 1}, {2, 1, 1}}, in, out, two, wide);
    BOOST_REQUIRE_MESSAGE(!f, f.text);
    BOOST_TEST(out.host()[1].x == 13.0f);
    BOOST_TEST(out.host()[1].y == 6.0f);
    BOOST_TEST(out.host()[1].z == 14.0f);
    BOOST_TEST(out.host()[1].w == 8.0f);
    BOOST_TEST(two.host()[0].x == 2);
    BOOST_TEST(two.host()[0].y == 1);
    BOOST_TEST(wide.host()[1].x == 40);
    BOOST_TEST(wide.host()[1].y == 31);
}

BOOST_DATA_TEST_CASE(generic_addresses, architectures)
{
    device_memory m;
    loaded code{m, compiled("threads", sample)};
    std::vector<int> in(64);
    for (int i = 0; i < 64; ++i) in[static_cast<std::size_t>(i)] = 3 * i + 1;
    array<int> din{m, in};
    for (int which = 0; which < 3; ++which) {
        array<int> out{m, std::vector<int>(64)};
        auto const f = code.run("generic", {{1, 1, 1}, {64, 1, 1}}, din, out, which);
        BOOST_REQUIRE_MESSAGE(!f, f.text);
        for (std::size_t i = 0; i < 64; ++i) {
            int const expected = which == 0   ? in[i] + 2000
                                 : which == 1 ? in[63 - i] * 2 + 1000
                                              : in[i % 4] + 4000;
            BOOST_TEST(out.host()[i] == expected);
        }
    }
}

BOOST_DATA_TEST_CASE(ordered_loads_and_stores, architectures)
{
    device_memory m;
    loaded code{m, compiled("threads", sample)};
    array<int> flag{m, std::vector<int>{0}};
    array<int> data{m, std::vector<int>(3)};
    auto const f = code.run("relaxed", {{1, 1, 1}, {1, 1, 1}}, flag, data);
    BOOST_REQUIRE_MESSAGE(!f, f.text);
    BOOST_TEST(data.host() == (std::vector<int>{5, 1, 5}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
