// SPDX-License-Identifier: BSL-1.0
// Numbers that stand for sequences: what one plays, and the report of one that fails.
#pragma once

#include "player.hpp"
#include "shrink.hpp"

#include <cstdint>
#include <sstream>
#include <string>

namespace model {

inline settings settings_of(std::uint64_t seed)
{
    settings s;
    s.unified = seed % 16 == 15;
    s.device_waits = seed % 4 != 3;
    return s;
}

/// The report of a seed that fails, with the shortest part of its sequence that still does; or nothing.
inline std::string play_seed(std::uint64_t seed)
{
    settings const s = settings_of(seed);
    sequence const all = generator(seed).make();
    if (play(s, all).empty()) return {};
    sequence const shortest = shrink(all, [&](sequence const& part) { return !play(s, part).empty(); });
    std::ostringstream report;
    report << "seed " << seed << (s.unified ? ", unified memory" : "")
           << (s.device_waits ? "" : ", no waits on the device") << ": " << play(s, shortest)
           << "\n  the shortest part that fails:\n"
           << shortest;
    return report.str();
}

} // namespace model
