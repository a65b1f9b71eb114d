// SPDX-License-Identifier: BSL-1.0
// The shortest honest program: y += a * x on the default device, awaited by a coroutine of an io_context.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <omp_co/omp_co.hpp>
#include <vector>

namespace asio = boost::asio;

asio::awaitable<void> saxpy(float a, std::vector<float> const& x, std::vector<float>& y)
{
    auto kernel = [](std::size_t i, float factor, float const* in, float* out) { out[i] += factor * in[i]; };
    co_await omp_co::target(kernel, omp_co::range(y.size()), omp_co::firstprivate(a), omp_co::to(x),
                            omp_co::tofrom(y));
}

int main()
{
    std::vector<float> x(1 << 20, 2.f);
    std::vector<float> y(1 << 20, 1.f);

    asio::io_context io;
    asio::co_spawn(io, saxpy(3.f, x, y), [](std::exception_ptr error) {
        if (error) std::rethrow_exception(error);
    });
    io.run();

    for (float value : y)
        if (value != 7.f) return std::fprintf(stderr, "expected 7, got %g\n", static_cast<double>(value)), 1;
    std::puts("ok");
}
