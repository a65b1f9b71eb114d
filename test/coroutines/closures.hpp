// SPDX-License-Identifier: BSL-1.0
// The closures that a user writes inside a co_await: g++ 12 destroys temporaries of such an expression twice unless
// they are trivial or have a declared constructor. Included by closures_*.cpp, which differ in optimisation.
#include "support/devices.hpp"
#include "support/kernels.hpp"

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>
#include <vector>

namespace asio = boost::asio;
namespace data = boost::unit_test::data;
using namespace omp_co_test;

namespace closures_test {

struct three {
    double a, b, c;
};

inline asio::awaitable<int> in_full_expressions(omp_co::device dev)
{
    std::vector<int> v(32, 1);
    std::vector<int> w(32, 2);
    int scale = 3; // not constant: a closure would not need to capture it
    three const t{1, 2, 3};
    std::array<int, 8> const table{1, 2, 3, 4, 5, 6, 7, 8};
    int* const host = nullptr;

    co_await omp_co::target(
        dev, [](std::size_t i, int* p) { p[i] += 1; }, omp_co::range(32), omp_co::tofrom(v));
    co_await omp_co::target(
        dev,
        [scale, t, table, host](std::size_t i, int* p, int const* q) {
            p[i] += scale * q[i] + static_cast<int>(t.c) + table[i % 8] + (host == nullptr);
        },
        omp_co::range(32), omp_co::tofrom(v), omp_co::to(w), omp_co::name("an inline operation"));
    // By reference: the frame lives until the region has ended.
    int seen = 0;
    co_await omp_co::target(
        dev, [&seen, &scale](int* p) { seen = p[0] + scale; }, omp_co::tofrom(v));
    auto [ec] = co_await omp_co::target(
        dev, [scale](int* p) { p[1] = scale; }, omp_co::tofrom(v))(asio::as_tuple(asio::use_awaitable));
    if (ec) co_return -1;
    co_await omp_co::when_all(omp_co::target(
                                  dev, [scale](int* p) { p[2] = scale; }, omp_co::tofrom(v)),
                              omp_co::target(
                                  dev, [&seen](int* p) { p[2] = seen; }, omp_co::tofrom(w)));
    // 1 + 1 + 3*2 + 3 + 1 + 1 = 13; seen = 16.
    co_return v[0] == 13 && seen == 16 && v[1] == 3 && v[2] == 3 && w[2] == 16 ? 1 : -2;
}

inline asio::awaitable<int> in_bodies(omp_co::device dev)
{
    std::vector<int> v(32, 1);
    auto const counted =
        std::make_shared<std::string>("counts its owners, and is too long for any small buffer");
    int rounds = 0;
    // A temporary body captures by reference only.
    int const first = co_await omp_co::target_data(dev, omp_co::tofrom(v), [&]() -> asio::awaitable<int> {
        co_await omp_co::target(
            dev, [n = rounds](int* p) { p[0] += 1 + n; }, omp_co::alloc(v));
        ++rounds;
        co_return rounds;
    });
    // A named one may own what it likes.
    auto owner = [&v, dev, counted]() -> asio::awaitable<int> {
        co_await omp_co::target(
            dev, [length = counted->size()](int* p) { p[1] = static_cast<int>(length); }, omp_co::alloc(v));
        co_return static_cast<int>(counted.use_count());
    };
    int const owners = co_await omp_co::target_data(dev, omp_co::tofrom(v), owner);
    int const again = co_await omp_co::target_data(dev, omp_co::tofrom(v), std::ref(owner));
    bool thrown = false;
    try {
        co_await omp_co::target_data(dev, omp_co::tofrom(v), [&]() -> asio::awaitable<void> {
            co_await omp_co::target(
                dev, [](int*) { throw std::string("a long text that lives on the heap"); }, omp_co::alloc(v));
        });
    } catch (boost::system::system_error const& e) {
        thrown = e.code() == omp_co::errc::kernel_failed;
    }
    bool const good = first == 1 && owners == 2 && again == 2 && thrown && counted.use_count() == 2;
    co_return good&& v[0] == 2 && v[1] == static_cast<int>(counted->size()) ? 1 : -1;
}

} // namespace closures_test
