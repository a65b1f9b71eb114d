// SPDX-License-Identifier: BSL-1.0
// Durations in a fixed amount of memory: buckets of 1/16 of an octave, so a quantile is right to about 6 %.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

class histogram {
public:
    void add(std::uint64_t value)
    {
        ++buckets_[std::min(index(value), buckets_.size() - 1)];
        ++count_;
        max_ = std::max(max_, value);
    }

    std::uint64_t count() const { return count_; }
    std::uint64_t max() const { return max_; }

    /// The upper end of the bucket in which the quantile lies, at most the maximum; 0 when nothing was added.
    std::uint64_t quantile(double q) const
    {
        auto const rank = static_cast<std::uint64_t>(q * static_cast<double>(count_));
        std::uint64_t seen = 0;
        for (std::size_t k = 0; k < buckets_.size(); ++k) {
            seen += buckets_[k];
            if (seen > rank) return std::min(upper_end(k), max_);
        }
        return max_;
    }

private:
    static constexpr std::size_t octave = 16;

    // 0 to 15 have a bucket each; above, the leading one bit names the octave and the next four the bucket.
    static std::size_t index(std::uint64_t value)
    {
        if (value < octave) return static_cast<std::size_t>(value);
        auto const shift = static_cast<unsigned>(std::bit_width(value)) - 5;
        return octave * shift + static_cast<std::size_t>(value >> shift);
    }

    static std::uint64_t upper_end(std::size_t k)
    {
        if (k < 2 * octave) return k;
        auto const shift = static_cast<unsigned>(k / octave - 1);
        return ((std::uint64_t{k % octave + octave} + 1) << shift) - 1;
    }

    std::array<std::uint64_t, octave * 28> buckets_{};
    std::uint64_t count_ = 0;
    std::uint64_t max_ = 0;
};
