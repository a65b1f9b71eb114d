// SPDX-License-Identifier: BSL-1.0
// Writes a photograph-like PNG, the same on every run: a mountain lake at sunset. No camera needed.
// usage: make_picture FILE [WIDTH HEIGHT]
#include "png.hpp"
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>

namespace {

struct colour {
    double r, g, b;
    friend colour operator+(colour a, colour c) { return {a.r + c.r, a.g + c.g, a.b + c.b}; }
    friend colour operator*(colour a, double f) { return {a.r * f, a.g * f, a.b * f}; }
};

colour mix(colour a, colour b, double t) { return a * (1 - t) + b * t; }

double smooth_step(double low, double high, double v)
{
    double const t = std::clamp((v - low) / (high - low), 0.0, 1.0);
    return t * t * (3 - 2 * t);
}

// A number in [0, 1) that depends on the lattice point alone.
double lattice(int x, int y, std::uint32_t seed)
{
    std::uint32_t h =
        static_cast<std::uint32_t>(x) * 0x9e3779b1u ^ static_cast<std::uint32_t>(y) * 0x85ebca77u;
    h ^= seed * 0xc2b2ae3du;
    h ^= h >> 15;
    h *= 0x2c1b3c6du;
    h ^= h >> 12;
    h *= 0x297a2d39u;
    h ^= h >> 15;
    return h / 4294967296.0;
}

double value_noise(double x, double y, std::uint32_t seed)
{
    // Not std::floor and std::lerp: they are calls and branches here, and this runs fifty million times.
    int const ix = static_cast<int>(x) - (x < 0), iy = static_cast<int>(y) - (y < 0);
    double const u = smooth_step(0, 1, x - ix), v = smooth_step(0, 1, y - iy);
    double const a = lattice(ix, iy, seed), b = lattice(ix + 1, iy, seed);
    double const c = lattice(ix, iy + 1, seed), d = lattice(ix + 1, iy + 1, seed);
    double const top = a + (b - a) * u, bottom = c + (d - c) * u;
    return top + (bottom - top) * v;
}

// Several octaves, each of twice the frequency and half the weight; in [0, 1).
double fractal(double x, double y, int octaves, std::uint32_t seed)
{
    double sum = 0, weight = 0.5, total = 0;
    for (int k = 0; k < octaves; ++k, x *= 2.03, y *= 2.03, weight *= 0.5) {
        sum += weight * value_noise(x, y, seed + static_cast<std::uint32_t>(k));
        total += weight;
    }
    return sum / total;
}

// Positions: x from 0 to the width over the height, y from 0 at the top to 1 at the bottom.
constexpr double horizon = 0.6;
constexpr double sun_x = 0.98, sun_y = 0.335;

colour sky(double x, double y)
{
    constexpr colour zenith{0.07, 0.13, 0.32}, middle{0.42, 0.36, 0.55}, low{0.98, 0.62, 0.34};
    double const t = y / horizon;
    colour c = t < 0.55 ? mix(zenith, middle, t / 0.55) : mix(middle, low, smooth_step(0.55, 1, t));

    double const d = std::hypot(x - sun_x, y - sun_y);
    c = c + colour{1.0, 0.62, 0.25} * (0.55 * std::exp(-d * 7)) +
        colour{1.0, 0.9, 0.7} * (0.6 * std::exp(-d * 26));
    c = mix(c, {2.0, 1.7, 1.2}, 1 - smooth_step(0.028, 0.033, d));

    // Long thin clouds, lit from below near the sun.
    double const cover = fractal(x * 2.2 + 5, y * 11, 6, 11);
    double const cloud = smooth_step(0.50, 0.78, cover) * smooth_step(0.02, 0.2, y) * 0.8;
    colour const lit = mix(colour{0.55, 0.42, 0.52}, {1.0, 0.66, 0.42}, std::exp(-d * 2.2));
    return mix(c, lit, cloud);
}

struct ridge {
    double base, height, scale;
    std::uint32_t seed;
    double haze; // how much of the sky's colour lies before it
    double snow;
};

double ridge_top(ridge const& r, double x)
{
    double const peaks =
        1 - std::abs(2 * fractal(x * r.scale, 0.5, 3, r.seed) - 1); // sharp where noise turns
    return r.base - r.height * (0.72 * peaks + 0.28 * fractal(x * r.scale * 7, 3.5, 6, r.seed + 40));
}

// Rows of conifers: a tooth for each tree, of its own height.
double forest_top(double x)
{
    double const hill = 0.575 - 0.07 * smooth_step(0.9, 0.1, x) * fractal(x * 3, 9, 3, 71) -
                        0.06 * smooth_step(1.15, 1.5, x) * fractal(x * 4, 2, 3, 72);
    double top = hill;
    for (double spacing : {0.011, 0.017}) {
        double const cell = std::floor(x / spacing);
        double const tall = 0.018 + 0.022 * lattice(static_cast<int>(cell), 0, spacing < 0.015 ? 5u : 6u);
        double const off = std::abs(x / spacing - cell - 0.5) * 2;
        double const needles = 0.12 * (value_noise(x * 900, hill * 40, 8) - 0.5);
        top = std::min(top, hill - tall * std::max(0.0, 1 - off + needles));
    }
    return top;
}

// Rock lit from the sun's side, snow on top, and the air before it.
colour mountain(ridge const& r, double top, double x, double y)
{
    double const rock = fractal(x * 26 + y * 12, y * 34, 5, r.seed + 80);
    // The slope of the crest, read at a place that the rock moves about: gullies run down from each notch.
    double const gully =
        x + 0.05 * (rock - 0.5) + 0.35 * (y - top) * (fractal(x * 7, y * 4, 2, r.seed + 60) - 0.5);
    double const slope =
        (ridge_top(r, gully + 0.006) - ridge_top(r, gully)) / 0.006 * std::tanh((sun_x - x) * 6);
    double const light = std::clamp(0.42 - 0.30 * slope + 0.9 * (rock - 0.5), 0.0, 1.0);
    double const depth = (y - top) / r.height;

    colour body = mix(colour{0.07, 0.08, 0.13}, {0.52, 0.36, 0.31}, light);
    double const snow = smooth_step(0.42, 0.12, depth + 0.7 * (rock - 0.5)) * r.snow;
    body = mix(body, mix(colour{0.44, 0.44, 0.60}, {1.0, 0.86, 0.78}, light), snow);
    colour const air =
        mix(colour{0.55, 0.44, 0.54}, {0.99, 0.66, 0.42}, std::exp(-std::abs(x - sun_x) * 2.5));
    return mix(body, air, std::min(1.0, r.haze * (0.75 + 0.6 * std::max(0.0, depth))));
}

// Everything above the water line.
colour land(double x, double y)
{
    double const leaves = forest_top(x);
    double const trees = smooth_step(leaves - 0.001, leaves + 0.001, y);
    colour const tree =
        mix(colour{0.010, 0.022, 0.026}, {0.085, 0.095, 0.060}, fractal(x * 130, y * 130, 3, 90));
    if (trees >= 1) return tree;

    static constexpr ridge ridges[] = {{0.62, 0.31, 1.7, 21, 0.50, 0.85},
                                       {0.61, 0.19, 2.6, 31, 0.36, 0.25},
                                       {0.61, 0.12, 3.8, 47, 0.20, 0.0}};
    colour c = sky(x, y);
    for (ridge const& r : ridges) {
        if (y < r.base - r.height) continue;
        double const top = ridge_top(r, x);
        double const inside = smooth_step(top - 0.0012, top + 0.0012, y);
        if (inside > 0) c = mix(c, mountain(r, top, x, y), inside);
    }
    return mix(c, tree, trees);
}

colour scene(double x, double y)
{
    if (y < horizon) return land(x, y);

    // The land upside down, shaken by waves that grow towards the camera.
    double const near = (y - horizon) / (1 - horizon);
    double const scale = 1 / (0.06 + near);
    double const wave = fractal(x * 9 * (0.35 + 0.4 * scale / 4), scale * 14, 4, 101) - 0.5;
    double const ripple = value_noise(x * 45 * (0.4 + scale * 0.2), scale * 60, 120) - 0.5;
    double const mirrored = horizon - (y - horizon) * 0.92 + (wave * 0.10 + ripple * 0.02) * (0.08 + near);
    colour c = land(x + wave * 0.022 * (0.3 + near), std::clamp(mirrored, 0.0, horizon - 0.002));
    c = mix(c, {0.05, 0.09, 0.17}, 0.22 + 0.36 * near) * 0.94;

    // The sun's path on the water: glints, denser below the sun.
    double const path = std::exp(-std::pow((x - sun_x) / (0.025 + 0.10 * near), 2));
    double const glint = smooth_step(0.56, 0.76, 0.5 * wave + 0.5 + 0.5 * ripple) * path;
    c = mix(c, {1.0, 0.82, 0.55}, 0.85 * glint);

    double const shore = smooth_step(horizon + 0.006, horizon, y);
    return mix(c, {0.02, 0.03, 0.04}, 0.75 * shore);
}

picture photograph(int width, int height)
{
    picture result;
    result.width = static_cast<std::size_t>(width);
    result.height = static_cast<std::size_t>(height);
    result.pixels.reserve(result.width * result.height);
    double const aspect = static_cast<double>(width) / height;
    for (int row = 0; row < height; ++row)
        for (int column = 0; column < width; ++column) {
            double const x = (column + 0.5) / height, y = (row + 0.5) / height;
            // The scene is laid out for three to two; other shapes stretch it.
            colour c = scene(x * 1.5 / aspect, y);
            double const off = std::hypot(x / aspect - 0.5, y - 0.5);
            c = c * (1.12 - 0.45 * off * off); // lenses are darker in the corners
            double const noise =
                lattice(column, row, 200) + lattice(column, row, 201) + lattice(column, row, 202) - 1.5;
            double const grain = noise * 0.028;
            auto byte = [grain](double v) {
                return static_cast<std::uint8_t>(std::lround(255 * std::clamp(v + grain, 0.0, 1.0)));
            };
            result.pixels.push_back({byte(c.r), byte(c.g), byte(c.b), 255});
        }
    return result;
}

} // namespace

int main(int argc, char** argv)
{
    int const width = argc == 4 ? std::atoi(argv[2]) : 1280;
    int const height = argc == 4 ? std::atoi(argv[3]) : 853;
    if ((argc != 2 && argc != 4) || width < 1 || height < 1 || width > 20000 || height > 20000) {
        std::cerr << "usage: make_picture FILE [WIDTH HEIGHT]\n";
        return 2;
    }
    std::ofstream file(argv[1], std::ios::binary);
    file << encode_png(photograph(width, height)) << std::flush;
    if (!file) {
        std::cerr << "make_picture: cannot write " << argv[1] << '\n';
        return 1;
    }
}
