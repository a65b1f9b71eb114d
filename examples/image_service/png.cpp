// SPDX-License-Identifier: BSL-1.0
// PNG through libpng's simplified interface, and the checks that it leaves out.
#include "png.hpp"
#include <algorithm>
#include <cstring>
#include <png.h>

namespace {

constexpr std::string_view signature("\x89PNG\r\n\x1a\n", 8);
constexpr std::size_t chunk_frame = 12; // length, type and checksum

std::uint32_t big_endian(std::string_view file, std::size_t at)
{
    std::uint32_t value = 0;
    for (std::size_t k = 0; k < 4; ++k) value = value << 8 | static_cast<unsigned char>(file[at + k]);
    return value;
}

// libpng stops reading after the last row, so a file that was cut off behind it would pass.
void require_all_chunks(std::string_view file)
{
    for (std::size_t at = signature.size(); file.size() - at >= chunk_frame;) {
        std::uint32_t const length = big_endian(file, at);
        if (length > file.size() - at - chunk_frame) break;
        if (file.substr(at + 4, 4) == "IEND") return;
        at += chunk_frame + length;
    }
    throw broken_png("the PNG is cut off");
}

// libpng's own state; freeing twice or after a failure is harmless.
struct reader {
    png_image image{};
    reader() { image.version = PNG_IMAGE_VERSION; }
    reader(reader const&) = delete;
    reader& operator=(reader const&) = delete;
    ~reader() { png_image_free(&image); }

    [[noreturn]] void fail() const { throw broken_png(std::string("broken PNG: ") + image.message); }
};

} // namespace

png_size measure_png(std::string_view file)
{
    if (file.substr(0, signature.size()) != signature) throw not_a_png();
    if (file.size() < signature.size() + chunk_frame + 13) throw broken_png("the PNG is cut off");
    if (big_endian(file, 8) != 13 || file.substr(12, 4) != "IHDR")
        throw broken_png("broken PNG: no header at its beginning");
    png_size const size{big_endian(file, 16), big_endian(file, 20)};
    if (size.width == 0 || size.height == 0) throw broken_png("broken PNG: a side of no pixels");
    return size;
}

picture decode_png(std::string_view file)
{
    measure_png(file);
    require_all_chunks(file);

    reader r;
    if (!png_image_begin_read_from_memory(&r.image, file.data(), file.size())) r.fail();

    picture result;
    result.width = r.image.width;
    result.height = r.image.height;
    result.has_alpha = (r.image.format & PNG_FORMAT_FLAG_ALPHA) != 0;
    result.pixels.resize(result.width * result.height);
    r.image.format = PNG_FORMAT_RGBA;
    if (!png_image_finish_read(&r.image, nullptr, result.pixels.data(), 0, nullptr)) r.fail();
    return result;
}

std::string encode_png(picture const& image)
{
    png_image out{};
    out.version = PNG_IMAGE_VERSION;
    out.width = static_cast<png_uint_32>(image.width);
    out.height = static_cast<png_uint_32>(image.height);
    out.format = image.has_alpha ? PNG_FORMAT_RGBA : PNG_FORMAT_RGB;

    std::vector<std::uint8_t> packed;
    void const* samples = image.pixels.data();
    if (!image.has_alpha) {
        packed.reserve(image.pixels.size() * 3);
        for (pixel const& p : image.pixels) packed.insert(packed.end(), {p.red, p.green, p.blue});
        samples = packed.data();
    }

    // Room for the worst case: asking libpng for the exact size would compress everything twice.
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(out);
    std::string file(size, '\0');
    if (!png_image_write_to_memory(&out, file.data(), &size, 0, samples, 0, nullptr))
        throw std::runtime_error(std::string("cannot write a PNG: ") + out.message);
    file.resize(size);
    file.shrink_to_fit();
    return file;
}
