// SPDX-License-Identifier: BSL-1.0
// The service without its HTTP: from a route and a body to a reply.
#pragma once
#include "limits.hpp"
#include "routes.hpp"
#include "stats.hpp"
#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstdint>
#include <omp_co/omp_co.hpp>
#include <string>

/// Lives on one loop's thread; PNGs are decoded and encoded on `codecs`. Loop, pool and `lateness_us` must
/// outlive it, and it must outlive the loop's run.
class image_service {
public:
    image_service(omp_co::device device, boost::asio::thread_pool& codecs, histogram const& lateness_us,
                  limits bounds);
    image_service(image_service const&) = delete;
    image_service& operator=(image_service const&) = delete;

    limits const& bounds() const { return bounds_; }
    service_stats& stats() { return stats_; }

    /// Completes in the executor it was awaited in. What a client did wrong is a reply, not an exception.
    boost::asio::awaitable<reply> answer(route where, std::string body);

private:
    boost::asio::awaitable<reply> blur_upload(std::string const& file, unsigned radius);

    omp_co::device device_;
    boost::asio::thread_pool& codecs_;
    limits bounds_;
    service_stats stats_;
    std::uint64_t pixels_at_work_ = 0;
};
