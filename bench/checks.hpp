// Results are verified: a figure for wrong work is worth nothing.
// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

inline void require(bool fact, std::string const& what)
{
    if (!fact) throw std::runtime_error(what);
}

/// After `ops` times `v[i & (v.size() - 1)] += 1` for i = 0, 1, ... (the size is a power of two).
inline void require_counted(std::vector<float> const& v, long ops)
{
    long size = long(v.size());
    for (long k = 0; k < size; ++k) {
        long times = ops / size + (k < ops % size ? 1 : 0);
        require(v[std::size_t(k)] == float(times), "element " + std::to_string(k) + " is " +
                                                       std::to_string(v[std::size_t(k)]) + ", not " +
                                                       std::to_string(times));
    }
}

inline std::vector<float> counting_up(std::size_t n)
{
    std::vector<float> v(n);
    for (std::size_t i = 0; i < n; ++i) v[i] = float(i);
    return v;
}

} // namespace bench
