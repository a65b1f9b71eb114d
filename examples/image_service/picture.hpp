// SPDX-License-Identifier: BSL-1.0
// A picture in memory: rows from top to bottom, four bytes a pixel, alpha not premultiplied.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

struct pixel {
    std::uint8_t red, green, blue, alpha;
    friend bool operator==(pixel const&, pixel const&) = default;
};

struct picture {
    std::size_t width = 0;
    std::size_t height = 0;
    bool has_alpha = false; // false: every alpha is 255, and a PNG of it has three channels
    std::vector<pixel> pixels;
};
