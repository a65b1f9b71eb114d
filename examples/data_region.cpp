// SPDX-License-Identifier: BSL-1.0
// Data that stays on the device between kernels, and an error with its words.
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <omp_co/omp_co.hpp>
#include <vector>

namespace asio = boost::asio;

namespace {

// One copy in, ten kernels, one copy out: inside the region the data is mapped already.
asio::awaitable<void> relax(std::vector<double>& values)
{
    auto const halve = [](std::size_t i, double* v) { v[i] *= 0.5; };
    auto const shift = [](std::size_t i, double* v) { v[i] += 1; };
    std::size_t const n = values.size();
    auto body = [&]() -> asio::awaitable<void> {
        for (int k = 0; k < 5; ++k) {
            co_await omp_co::target(halve, omp_co::range(n), omp_co::tofrom(values));
            co_await omp_co::target(shift, omp_co::range(n), omp_co::tofrom(values));
        }
    };
    co_await omp_co::target_data(omp_co::tofrom(values), body);
}

// Outside of it, who insists on mapped data learns which range is not.
asio::awaitable<bool> insist(std::vector<double>& values)
{
    auto const look = [](double const*) {};
    omp_co::diagnostics why;
    auto [ec] = co_await omp_co::target(look, omp_co::to(values, omp_co::present), omp_co::name("look"),
                                        omp_co::explain(why))(asio::as_tuple(asio::use_awaitable));
    std::puts(why.message().c_str());
    co_return ec == omp_co::errc::not_present;
}

} // namespace

int main()
{
    std::vector<double> values(1 << 16, 34);
    bool refused = false;
    asio::io_context io;
    asio::co_spawn(
        io,
        [&]() -> asio::awaitable<void> {
            co_await relax(values);
            refused = co_await insist(values);
        },
        [](std::exception_ptr error) {
            if (error) std::rethrow_exception(error);
        });
    io.run();

    bool const right = std::fabs(values.front() - 3) < 1e-12 && std::fabs(values.back() - 3) < 1e-12;
    if (!right || !refused) return std::fputs("wrong\n", stderr), 1;
    std::puts("ok");
}
