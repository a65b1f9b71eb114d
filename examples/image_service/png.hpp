// SPDX-License-Identifier: BSL-1.0
// PNG files to pictures and back. Both ways take many milliseconds: not for an event loop's thread.
#pragma once
#include "picture.hpp"
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

struct not_a_png : std::runtime_error {
    not_a_png() : std::runtime_error("this is not a PNG") {}
};

struct broken_png : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct png_size {
    std::uint32_t width;
    std::uint32_t height;
};

/// What the header says, in constant time and without a look at the rest, so that a caller can refuse a small
/// file that would unpack to gigabytes. Throws not_a_png or broken_png.
png_size measure_png(std::string_view file);

/// Any PNG (grey, palette, 16 bits, interlaced) as 8-bit RGBA in sRGB. Throws not_a_png or broken_png.
picture decode_png(std::string_view file);

std::string encode_png(picture const& image);
