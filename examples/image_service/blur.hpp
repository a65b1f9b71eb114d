// SPDX-License-Identifier: BSL-1.0
// A Gaussian blur on a device: the part of the service that uses omp_co.
#pragma once
#include "picture.hpp"
#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <memory>
#include <omp_co/omp_co.hpp>
#include <vector>

/// One picture's blur in host memory. Make it and destroy it off the loop: a large picture's pages take
/// milliseconds to come and to go.
class blur_job {
public:
    blur_job(picture image, unsigned radius);

    picture const& result() const { return after_; }
    double milliseconds() const { return milliseconds_; } // between the first copy in and the last copy out
    std::uint64_t bytes_moved() const;                    // in and out

    /// Blurs on the device; the job must outlive the await. The edge pixels go on beyond the edge, and
    /// colours count by their alpha. Throws boost::system::system_error with the device's error.
    boost::asio::awaitable<void> run(omp_co::device device);

private:
    // Between the passes: colours multiplied by their alpha, with eight more bits than a pixel, so that
    // nothing visible is rounded away twice.
    struct deep_pixel {
        std::uint16_t red, green, blue, alpha;
    };
    struct horizontal_pass;
    struct vertical_pass;

    picture before_;
    picture after_;
    std::vector<float> weights_;
    std::unique_ptr<deep_pixel[]> between_; // only its address matters: the host never touches it
    int radius_;
    double milliseconds_ = 0;
};

/// 2 * radius + 1 weights whose sum is one.
std::vector<float> gaussian_weights(unsigned radius);
