// SPDX-License-Identifier: BSL-1.0
// The two passes of a separable blur as two regions that share resident data.
#include "blur.hpp"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <utility>

namespace asio = boost::asio;

namespace {

struct shape {
    int width, height, radius;
};

struct sums {
    float red = 0, green = 0, blue = 0, alpha = 0;
};

} // namespace

struct blur_job::horizontal_pass {
    void operator()(int x, int y, shape s, float const* weights, pixel const* in, deep_pixel* out) const
    {
        pixel const* row = in + static_cast<std::ptrdiff_t>(y) * s.width;
        sums sum;
        for (int k = -s.radius; k <= s.radius; ++k) {
            pixel const p = row[std::clamp(x + k, 0, s.width - 1)];
            float const alpha = weights[k + s.radius] * static_cast<float>(p.alpha);
            sum.red += alpha * static_cast<float>(p.red);
            sum.green += alpha * static_cast<float>(p.green);
            sum.blue += alpha * static_cast<float>(p.blue);
            sum.alpha += alpha;
        }
        auto deep = [](float v) { return static_cast<std::uint16_t>(v + 0.5f); };
        out[static_cast<std::ptrdiff_t>(y) * s.width + x] = {
            deep(sum.red * (256.f / 255.f)), deep(sum.green * (256.f / 255.f)),
            deep(sum.blue * (256.f / 255.f)), deep(sum.alpha * 256.f)};
    }
};

struct blur_job::vertical_pass {
    void operator()(int x, int y, shape s, float const* weights, deep_pixel const* in, pixel* out) const
    {
        sums sum;
        for (int k = -s.radius; k <= s.radius; ++k) {
            deep_pixel const p =
                in[static_cast<std::ptrdiff_t>(std::clamp(y + k, 0, s.height - 1)) * s.width + x];
            float const weight = weights[k + s.radius];
            sum.red += weight * static_cast<float>(p.red);
            sum.green += weight * static_cast<float>(p.green);
            sum.blue += weight * static_cast<float>(p.blue);
            sum.alpha += weight * static_cast<float>(p.alpha);
        }
        auto byte = [](float v) { return static_cast<std::uint8_t>(std::min(v + 0.5f, 255.f)); };
        float const scale = sum.alpha > 0 ? 255.f / sum.alpha : 0.f;
        out[static_cast<std::ptrdiff_t>(y) * s.width + x] = {byte(sum.red * scale), byte(sum.green * scale),
                                                             byte(sum.blue * scale), byte(sum.alpha / 256.f)};
    }
};

std::vector<float> gaussian_weights(unsigned radius)
{
    int const r = static_cast<int>(radius);
    double const deviation = std::max(radius / 2.0, 0.5);
    std::vector<float> weights;
    double total = 0;
    auto bell = [deviation](int k) { return std::exp(-k * k / (2 * deviation * deviation)); };
    for (int k = -r; k <= r; ++k) total += bell(k);
    for (int k = -r; k <= r; ++k) weights.push_back(static_cast<float>(bell(k) / total));
    return weights;
}

blur_job::blur_job(picture image, unsigned radius)
    : before_(std::move(image)),
      weights_(gaussian_weights(radius)),
      between_(std::make_unique_for_overwrite<deep_pixel[]>(before_.pixels.size())),
      radius_(static_cast<int>(radius))
{
    after_.width = before_.width;
    after_.height = before_.height;
    after_.has_alpha = before_.has_alpha;
    after_.pixels.resize(before_.pixels.size());
}

std::uint64_t blur_job::bytes_moved() const
{
    return sizeof(float) * weights_.size() + sizeof(pixel) * (before_.pixels.size() + after_.pixels.size());
}

asio::awaitable<void> blur_job::run(omp_co::device device)
{
    auto const start = std::chrono::steady_clock::now();
    shape const size{static_cast<int>(before_.width), static_cast<int>(before_.height), radius_};
    auto const all_pixels = omp_co::range(size.width, size.height);
    auto const between = omp_co::section(between_.get(), 0, before_.pixels.size());
    std::vector<pixel> const& in = before_.pixels;
    std::vector<pixel>& out = after_.pixels;

    auto two_passes = [&]() -> asio::awaitable<void> {
        horizontal_pass const horizontal;
        vertical_pass const vertical;
        co_await omp_co::target(device, horizontal, all_pixels, omp_co::firstprivate(size),
                                omp_co::to(weights_), omp_co::to(in), omp_co::alloc(between));
        co_await omp_co::target(device, vertical, all_pixels, omp_co::firstprivate(size),
                                omp_co::to(weights_), omp_co::alloc(between), omp_co::from(out));
    };
    co_await omp_co::target_data(device, omp_co::to(weights_), omp_co::to(in), omp_co::from(out),
                                 omp_co::alloc(between), two_passes);

    milliseconds_ =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}
