// SPDX-License-Identifier: BSL-1.0
// Delta debugging: the shortest part of a failing sequence that still fails.
#pragma once

#include "sequence.hpp"

#include <algorithm>
#include <cstddef>

namespace model {

/// Drops steps, then clauses and modifiers, as long as `fails(part)` holds.
template <class Fails>
sequence shrink(sequence all, Fails fails)
{
    auto const keep_if_fails = [&](sequence const& part) {
        if (!fails(part)) return false;
        all = part;
        return true;
    };
    for (bool smaller = true; smaller;) {
        smaller = false;
        for (std::size_t chunk = std::max<std::size_t>(all.size() / 2, 1); chunk != 0; chunk /= 2) {
            for (std::size_t at = 0; at < all.size();) {
                sequence part = all;
                auto const begin = part.begin() + static_cast<std::ptrdiff_t>(at);
                part.erase(begin, begin + static_cast<std::ptrdiff_t>(std::min(chunk, all.size() - at)));
                if (keep_if_fails(part))
                    smaller = true;
                else
                    at += chunk;
            }
        }
        for (std::size_t at = 0; at < all.size(); ++at) {
            for (std::size_t c = 0; c < all[at].clauses.size();) {
                sequence part = all;
                part[at].clauses.erase(part[at].clauses.begin() + static_cast<std::ptrdiff_t>(c));
                if (keep_if_fails(part))
                    smaller = true;
                else
                    ++c;
            }
            for (std::size_t c = 0; c < all[at].clauses.size(); ++c) {
                sequence part = all;
                part[at].clauses[c].always = part[at].clauses[c].present = false;
                if ((all[at].clauses[c].always || all[at].clauses[c].present) && keep_if_fails(part))
                    smaller = true;
            }
            sequence part = all;
            part[at].fail_at = -1;
            if (all[at].fail_at >= 0 && keep_if_fails(part)) smaller = true;
        }
    }
    return all;
}

} // namespace model
