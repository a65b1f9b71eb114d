// SPDX-License-Identifier: BSL-1.0
// Heat spreads in a plate: a five-point stencil over tiles that stay on the devices. Each step of each tile is a region,
// ordered by depend clauses alone: it waits for the tiles that it reads and for nothing else, so that one part of the
// plate may be steps ahead of another, and the host starts steps long before the ones before them have run.
#include "command_line.hpp"
#include "png.hpp"
#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/this_coro.hpp>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <omp_co/omp_co.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace asio = boost::asio;

namespace {

constexpr char const* usage = "usage: heat [--size CELLS] [--tile CELLS] [--steps N] [--devices N] "
                              "[--output FILE.png] [--check]\n";
constexpr float cold = 20; // degrees; the walls stay so
constexpr float hot = 1000;

// One step of one cell. All factors are powers of two, and nothing is ever near zero, so that products are exact: a
// compiler may fuse them with the sums, in one place and not in another, and the bits are the same.
constexpr float relax(float here, float north, float south, float west, float east)
{
    return (4 * here + ((north + south) + (west + east))) * 0.125f;
}

// A cell of a tile, which is a square in memory of its own. What lies beyond its edges is in the tiles beside it.
constexpr auto advance_cell = [](std::size_t x, std::size_t y, std::size_t side, float const* here,
                                 float const* north, float const* south, float const* west, float const* east,
                                 float* next) {
    std::size_t const at = y * side + x;
    std::size_t const last = side - 1;
    next[at] = relax(here[at], y > 0 ? here[at - side] : north[at + side * last],
                     y < last ? here[at + side] : south[at - side * last],
                     x > 0 ? here[at - 1] : west[at + last], x < last ? here[at + 1] : east[at - last]);
};

using cells = omp_co::array_section<float>;

// The part of the plate that is on one device: some rows of tiles, with a rim of further tiles around them. The rim is
// wall, or holds the edge of the strip beside, on another device.
class strip {
public:
    strip(omp_co::device where, std::size_t rows, std::size_t columns, std::size_t side)
        : where_(where), rows_(rows), columns_(columns), side_(side)
    {
        for (auto& level : levels_) level.assign((rows + 2) * (columns + 2) * side * side, cold);
    }

    std::size_t rows() const { return rows_; }

    // Rows and columns count from one; before and behind them is the rim. Steps take turns in two arrays.
    cells tile(std::size_t step, std::size_t row, std::size_t column)
    {
        std::size_t const size = side_ * side_;
        return omp_co::section(levels_[step % 2], (row * (columns_ + 2) + column) * size, size);
    }

    auto enter() { return omp_co::target_enter_data(where_, omp_co::to(levels_[0]), omp_co::to(levels_[1])); }
    auto leave(std::size_t step)
    {
        return omp_co::target_exit_data(where_, omp_co::from(levels_[step % 2]),
                                        omp_co::release(levels_[(step + 1) % 2]));
    }

    // Reads five tiles of this step and writes one of the next: the map clauses say it to the device, the depend
    // clauses to the other regions.
    auto advance(std::size_t step, std::size_t row, std::size_t column)
    {
        cells const here = tile(step, row, column);
        cells const north = tile(step, row - 1, column), south = tile(step, row + 1, column);
        cells const west = tile(step, row, column - 1), east = tile(step, row, column + 1);
        cells const next = tile(step + 1, row, column);
        return omp_co::target(where_, advance_cell, omp_co::range(side_, side_), omp_co::firstprivate(side_),
                              omp_co::to(here), omp_co::to(north), omp_co::to(south), omp_co::to(west),
                              omp_co::to(east), omp_co::from(next),
                              omp_co::depend_in(here, north, south, west, east), omp_co::depend_out(next));
    }

    // Copies a row of cells, from device to device, into the rim of the strip `to`.
    auto send(cells tile, std::size_t y, strip const& to, cells rim) const
    {
        return omp_co::target_memcpy(to.row_on_device(rim, y), row_on_device(tile, y),
                                     omp_co::depend_in(tile), omp_co::depend_out(rim));
    }

private:
    omp_co::device_section<float> row_on_device(cells tile, std::size_t y) const
    {
        return {where_, where_.mapped_ptr(tile.data() + y * side_), side_};
    }

    omp_co::device where_;
    std::size_t rows_, columns_, side_;
    std::vector<float> levels_[2];
};

// The whole plate, a strip a device.
class plate {
public:
    plate(std::vector<omp_co::device> const& devices, std::size_t size, std::size_t side)
        : columns_(size / side), side_(side)
    {
        std::size_t const n = devices.size();
        for (std::size_t k = 0; k < n; ++k)
            strips_.emplace_back(devices[k], columns_ * (k + 1) / n - columns_ * k / n, columns_, side);
    }

    // Steps are started batch by batch. Two groups take turns, so that the devices have the one batch to do while the
    // other is being started; the host waits only for room.
    asio::awaitable<double> run(std::size_t steps)
    {
        constexpr std::size_t batch = 16;
        for (strip& s : strips_) co_await s.enter();

        auto const begin = std::chrono::steady_clock::now();
        omp_co::task_group even(co_await asio::this_coro::executor), odd(co_await asio::this_coro::executor);
        for (std::size_t step = 0; step < steps; ++step) {
            omp_co::task_group& group = step / batch % 2 == 0 ? even : odd;
            if (step % batch == 0) co_await group.wait();
            start(step, group);
        }
        co_await even.wait();
        co_await odd.wait();
        std::chrono::duration<double> const took = std::chrono::steady_clock::now() - begin;

        for (strip& s : strips_) co_await s.leave(steps);
        co_return took.count();
    }

    // Calls f(x, y, cell) for every cell.
    template <class F>
    void visit(std::size_t step, F f)
    {
        std::size_t top = 0;
        for (strip& s : strips_) {
            for (std::size_t row = 0; row < s.rows(); ++row)
                for (std::size_t column = 0; column < columns_; ++column)
                    for (std::size_t k = 0; k < side_ * side_; ++k)
                        f(column * side_ + k % side_, top + row * side_ + k / side_,
                          s.tile(step, row + 1, column + 1).data()[k]);
            top += s.rows() * side_;
        }
    }

private:
    void start(std::size_t step, omp_co::task_group& group)
    {
        for (std::size_t k = 1; k < strips_.size(); ++k) exchange(step, strips_[k - 1], strips_[k], group);
        for (strip& s : strips_)
            for (std::size_t row = 1; row <= s.rows(); ++row)
                for (std::size_t column = 1; column <= columns_; ++column)
                    group.spawn(s.advance(step, row, column));
    }

    void exchange(std::size_t step, strip& upper, strip& lower, omp_co::task_group& group)
    {
        std::size_t const bottom = upper.rows();
        for (std::size_t column = 1; column <= columns_; ++column) {
            group.spawn(
                upper.send(upper.tile(step, bottom, column), side_ - 1, lower, lower.tile(step, 0, column)));
            group.spawn(
                lower.send(lower.tile(step, 1, column), 0, upper, upper.tile(step, bottom + 1, column)));
        }
    }

    std::vector<strip> strips_;
    std::size_t columns_, side_;
};

// The plate at the beginning: cold, with a glowing stamp.
float initial(std::size_t x, std::size_t y, std::size_t size)
{
    static constexpr std::string_view stamp[] = {" ##  #   # ### ", "#  # ## ## #  #", "#  # # # # ### ",
                                                 "#  # #   # #   ", " ##  #   # #   ", "               ",
                                                 "      ####  ## ", "     #     #  #", "     #     #  #",
                                                 "     #     #  #", "####  ####  ## "};
    constexpr std::size_t across = 19, left = 2, above = 4;
    std::size_t const column = x * across / size - left, row = y * across / size - above;
    return row < std::size(stamp) && column < stamp[row].size() && stamp[row][column] == '#' ? hot : cold;
}

// The same on the host, row by row, with a rim of one cell.
std::vector<float> serial(std::size_t size, std::size_t steps)
{
    std::size_t const pitch = size + 2;
    std::vector<float> now(pitch * pitch, cold), next = now;
    for (std::size_t y = 0; y < size; ++y)
        for (std::size_t x = 0; x < size; ++x) now[(y + 1) * pitch + x + 1] = initial(x, y, size);
    for (; steps > 0; --steps, now.swap(next))
        for (std::size_t y = 1; y <= size; ++y)
            for (std::size_t at = y * pitch + 1; at <= y * pitch + size; ++at)
                next[at] = relax(now[at], now[at - pitch], now[at + pitch], now[at - 1], now[at + 1]);
    return now;
}

// From black over red to a pale yellow. The square root shows the little warmth far from the stamp.
pixel colour(float degrees)
{
    static constexpr float stops[][3] = {
        {0, 0, 4}, {87, 16, 110}, {188, 55, 84}, {249, 142, 9}, {252, 255, 164}};
    float const along = 4 * std::sqrt((degrees - cold) / (hot - cold));
    int const k = std::min(static_cast<int>(along), 3);
    auto const blend = [&](int channel) {
        float const low = stops[k][channel], high = stops[k + 1][channel];
        return static_cast<std::uint8_t>(std::lround(low + (high - low) * (along - static_cast<float>(k))));
    };
    return {blend(0), blend(1), blend(2), 255};
}

void write_png(plate& p, std::size_t step, std::size_t size, std::string const& path)
{
    picture image{size, size, false, std::vector<pixel>(size * size)};
    p.visit(step, [&](std::size_t x, std::size_t y, float t) { image.pixels[y * size + x] = colour(t); });
    std::ofstream file(path, std::ios::binary);
    file << encode_png(image) << std::flush;
    if (!file) throw std::runtime_error("cannot write " + path);
}

int run(command_line given)
{
    std::size_t const size = given.number("--size", 512, 1, 16'384);
    std::size_t const side = given.number("--tile", 64);
    std::size_t const steps = given.number("--steps", 500);
    std::vector<omp_co::device> const devices = given.devices();
    std::string const output = given.text("--output", "");
    bool const check = given.flag("--check");
    given.done();
    if (size % side != 0) throw usage_error("the tiles must fill the plate: --size is no multiple of --tile");
    if (size / side < devices.size()) throw usage_error("there are fewer rows of tiles than devices");

    plate p(devices, size, side);
    p.visit(0, [&](std::size_t x, std::size_t y, float& t) { t = initial(x, y, size); });
    double const seconds = omp_co::sync_wait(p.run(steps));
    std::printf("%zu x %zu cells in %zu tiles, %zu device%s: %zu steps, %.0f steps/s\n", size, size,
                size / side * (size / side), devices.size(), devices.size() == 1 ? "" : "s", steps,
                static_cast<double>(steps) / seconds);
    if (!output.empty()) write_png(p, steps, size, output);
    if (!check) return 0;

    std::size_t wrong = 0;
    std::vector<float> const expected = serial(size, steps);
    p.visit(steps, [&](std::size_t x, std::size_t y, float t) {
        if (t != expected[(y + 1) * (size + 2) + x + 1]) ++wrong;
    });
    if (wrong != 0) return std::fprintf(stderr, "%zu cells differ from the serial run\n", wrong), 1;
    std::puts("equal to the serial run, bit by bit");
    return 0;
}

} // namespace

int main(int argc, char** argv)
{
    try {
        return run(command_line(argc, argv));
    } catch (usage_error const& e) {
        std::fprintf(stderr, "heat: %s\n%s", e.what(), usage);
        return 2;
    } catch (std::exception const& e) {
        std::fprintf(stderr, "heat: %s\n", e.what());
        return 1;
    }
}
