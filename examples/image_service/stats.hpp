// SPDX-License-Identifier: BSL-1.0
// The service's figures: the last pictures one by one, everything in totals. Used on the loop's thread only.
#pragma once
#include "histogram.hpp"
#include <cstddef>
#include <cstdint>
#include <deque>
#include <omp_co/omp_co.hpp>
#include <string>

struct picture_record {
    std::size_t width = 0;
    std::size_t height = 0;
    unsigned radius = 0;
    double total_ms = 0;  // from the uploaded body to the finished PNG
    double device_ms = 0; // of these, inside the device region
    std::uint64_t bytes_moved = 0;
};

class service_stats {
public:
    service_stats(omp_co::device device, histogram const& lateness_us);

    void count_request() { ++requests_; }
    void count_refusal() { ++refused_; }
    void begin_picture() { ++in_flight_; }
    void end_picture() { --in_flight_; }
    void add(picture_record const& record);

    std::string json() const;
    std::string summary() const;

private:
    std::uint64_t regions() const;
    std::uint64_t bytes_moved() const;

    omp_co::device device_;
    omp_co::device_statistics before_; // the device may have worked before the service began
    histogram const& lateness_us_;
    std::uint64_t requests_ = 0;
    std::uint64_t refused_ = 0;
    std::uint64_t pictures_ = 0;
    std::size_t in_flight_ = 0;
    std::deque<picture_record> recent_; // newest first
};
