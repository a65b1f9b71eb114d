// What every bench program prints: one JSON object a line; and medians and percentiles of samples.
// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

namespace bench {

inline void print(std::string const& name, double value, char const* unit)
{
    std::printf("{\"name\":\"%s\",\"value\":%.6g,\"unit\":\"%s\"}\n", name.c_str(), value, unit);
    std::fflush(stdout);
}

/// The smallest sample that at least the fraction `p` of all samples do not exceed. There must be a sample.
inline double percentile(std::vector<double> samples, double p)
{
    std::sort(samples.begin(), samples.end());
    double rank = std::ceil(p * double(samples.size())) - 1.0;
    double last = double(samples.size() - 1);
    return samples[static_cast<std::size_t>(std::clamp(rank, 0.0, last))];
}

inline double median(std::vector<double> samples)
{
    std::sort(samples.begin(), samples.end());
    std::size_t n = samples.size();
    return (samples[(n - 1) / 2] + samples[n / 2]) / 2;
}

} // namespace bench
