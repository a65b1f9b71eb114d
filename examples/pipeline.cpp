// SPDX-License-Identifier: BSL-1.0
// Overlapped copies and kernels: the tiles of a large array, first one after another, then by four coroutines
// that share the same thread, so that the copies of one tile run beside the kernel of another.
#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <omp_co/omp_co.hpp>
#include <vector>

namespace asio = boost::asio;

namespace {

constexpr std::size_t tile = 1 << 17;
constexpr std::size_t tiles = 32;

// A few steps of x -> x * x + c: enough arithmetic for the copies to have something to hide behind.
constexpr float step(float x, float c)
{
    for (int k = 0; k < 24; ++k) x = x * x + c;
    return x;
}

class work {
public:
    explicit work(omp_co::device dev) : dev_(dev), in_(tile * tiles), out_(tile * tiles)
    {
        for (std::size_t i = 0; i < in_.size(); ++i) in_[i] = start(i);
    }

    // Takes tiles until none is left. The counter needs no lock: all coroutines run on the loop's thread.
    asio::awaitable<void> process_tiles()
    {
        while (next_ < tiles) {
            std::size_t const first = tile * next_++;
            auto source = omp_co::section(in_.data() + first, 0, tile);
            auto result = omp_co::section(out_.data() + first, 0, tile);
            co_await omp_co::target(
                dev_, [](std::size_t i, float c, float const* x, float* y) { y[i] = step(x[i], c); },
                omp_co::range(tile), omp_co::firstprivate(shift), omp_co::to(source), omp_co::from(result));
        }
    }

    // Runs the whole array with so many coroutines; the wall time in milliseconds.
    double run(int coroutines)
    {
        next_ = 0;
        std::fill(out_.begin(), out_.end(), 0.f);
        asio::io_context io;
        auto const begin = std::chrono::steady_clock::now();
        for (int k = 0; k < coroutines; ++k)
            asio::co_spawn(io, process_tiles(), [](std::exception_ptr error) {
                if (error) std::rethrow_exception(error);
            });
        io.run();
        return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    }

    // Every 61st element: enough to meet each tile two thousand times, and quicker than the device.
    bool right() const
    {
        for (std::size_t i = 0; i < out_.size(); i += 61)
            if (std::abs(out_[i] - step(start(i), shift)) > 1e-5f) return false;
        return true;
    }

private:
    static constexpr float shift = 0.1f;
    static constexpr float start(std::size_t i) { return static_cast<float>(i % 1000) * 0.0005f; }

    omp_co::device dev_;
    std::vector<float> in_, out_;
    std::size_t next_ = 0;
};

} // namespace

int main()
{
    work job(omp_co::default_device());
    job.run(1); // the first pass pays for the device's memory

    double const serial = job.run(1);
    bool const serial_right = job.right();
    double const overlapped = job.run(4);
    bool const overlapped_right = job.right();

    std::printf("%zu tiles of %zu KiB, serial: %.1f ms, four coroutines: %.1f ms (%.2f times as fast)\n",
                tiles, tile * sizeof(float) / 1024, serial, overlapped, serial / overlapped);
    if (!serial_right || !overlapped_right) return std::fputs("wrong result\n", stderr), 1;
    std::puts("ok");
}
