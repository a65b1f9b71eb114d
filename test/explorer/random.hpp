// SPDX-License-Identifier: BSL-1.0
// Random numbers that are the same on every machine and library (splitmix64).
#pragma once

#include <cstdint>

namespace omp_co_test::explorer {

constexpr std::uint64_t mix(std::uint64_t a, std::uint64_t b) noexcept
{
    std::uint64_t z = a * 0x9e3779b97f4a7c15ULL + b + 0x7f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

class random_source {
public:
    explicit random_source(std::uint64_t seed) noexcept : state_(mix(seed, 0)) {}

    std::uint64_t next() noexcept { return mix(state_ += 0x9e3779b97f4a7c15ULL, 1); }
    unsigned below(unsigned n) noexcept { return static_cast<unsigned>(next() % n); }
    unsigned between(unsigned low, unsigned high) noexcept { return low + below(high - low + 1); }
    bool percent(unsigned p) noexcept { return below(100) < p; }

private:
    std::uint64_t state_;
};

} // namespace omp_co_test::explorer
