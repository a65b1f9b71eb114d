// SPDX-License-Identifier: BSL-1.0
// What the service puts up with from its clients.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>

struct limits {
    std::uint64_t body_bytes = 32u << 20;
    std::uint64_t pixels = 16u << 20; // of one picture; a pixel costs about 40 bytes while it is at work
    std::uint64_t pixels_at_work = 48u << 20; // of all pictures together
    unsigned radius = 64;
    std::size_t connections = 256;
    std::chrono::milliseconds idle{30'000};   // for the next request's header on an open connection
    std::chrono::milliseconds upload{30'000}; // for a whole body
    std::chrono::milliseconds reply{30'000};  // for the client to take a whole answer
    std::chrono::milliseconds stop{5'000};    // for requests in flight to end when the service stops
};
