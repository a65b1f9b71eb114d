// SPDX-License-Identifier: BSL-1.0
// Shortens a schedule that fails for as long as it still fails (delta debugging, then clause by clause).
#pragma once

#include "schedule.hpp"

#include <cstddef>
#include <utility>

namespace omp_co_test::explorer {

template <class Fails>
class shrinker {
public:
    explicit shrinker(Fails fails) : fails_(fails) {}

    schedule shrink(schedule s)
    {
        for (bool smaller = true; smaller;) {
            smaller = drop_steps(s);
            smaller |= simplify_steps(s);
            smaller |= simplify_devices(s);
        }
        return s;
    }

private:
    bool drop_steps(schedule& s)
    {
        bool any = false;
        for (std::size_t chunk = s.steps.size(); chunk != 0; chunk /= 2)
            for (std::size_t at = 0; at < s.steps.size();) {
                schedule shorter = s;
                auto const begin = shorter.steps.begin() + static_cast<std::ptrdiff_t>(at);
                auto const end = begin + static_cast<std::ptrdiff_t>(std::min(chunk, s.steps.size() - at));
                shorter.steps.erase(begin, end);
                if (keep(s, std::move(shorter)))
                    any = true;
                else
                    at += chunk;
            }
        return any;
    }

    bool simplify_steps(schedule& s)
    {
        bool any = false;
        for (std::size_t i = 0; i < s.steps.size(); ++i) {
            for (std::size_t r = 0; r < s.steps[i].requests.size();) {
                any |= simplify_clauses(s, i, r);
                schedule shorter = s;
                auto& requests = shorter.steps[i].requests;
                requests.erase(requests.begin() + static_cast<std::ptrdiff_t>(r));
                if (!requests.empty() && keep(s, std::move(shorter)))
                    any = true;
                else
                    ++r;
            }
            while (s.steps[i].amount > 1 && s.steps[i].kind != step_kind::write_host) {
                schedule shorter = s;
                --shorter.steps[i].amount;
                if (!keep(s, std::move(shorter))) break;
                any = true;
            }
        }
        return any;
    }

    bool simplify_clauses(schedule& s, std::size_t i, std::size_t r)
    {
        bool any = false;
        for (std::size_t c = 0; c < s.steps[i].requests[r].clauses.size();) {
            schedule shorter = s;
            auto& clauses = shorter.steps[i].requests[r].clauses;
            clauses.erase(clauses.begin() + static_cast<std::ptrdiff_t>(c));
            if (keep(s, std::move(shorter)))
                any = true;
            else
                any |= simplify_clause(s, i, r, c++);
        }
        return any;
    }

    bool simplify_clause(schedule& s, std::size_t i, std::size_t r, std::size_t c)
    {
        bool any = false;
        auto const attempt = [&](auto change) {
            schedule simpler = s;
            clause& mine = simpler.steps[i].requests[r].clauses[c];
            if (change(mine) && keep(s, std::move(simpler))) any = true;
        };
        attempt([](clause& k) { return std::exchange(k.always, false); });
        attempt([](clause& k) { return std::exchange(k.present, false); });
        attempt([](clause& k) { return std::exchange(k.kernel, touch::leave) != touch::leave; });
        return any;
    }

    bool simplify_devices(schedule& s)
    {
        bool any = false;
        for (std::size_t i = 0; i < s.devices.size(); ++i) {
            auto const attempt = [&](auto change) {
                schedule simpler = s;
                if (change(simpler.devices[i]) && keep(s, std::move(simpler))) any = true;
            };
            attempt([](stepped_options& o) { return std::exchange(o.command_limit, 0U) != 0; });
            attempt([](stepped_options& o) { return std::exchange(o.memory, 0U) != 0; });
            attempt([](stepped_options& o) { return o.concurrency > 1 && --o.concurrency; });
            attempt([](stepped_options& o) { return o.streams > o.concurrency && --o.streams; });
        }
        while (s.devices.size() > 1) {
            schedule simpler = s;
            simpler.devices.pop_back();
            std::erase_if(simpler.steps,
                          [&](step const& each) { return uses(each, simpler.devices.size()); });
            if (!keep(s, std::move(simpler))) break;
            any = true;
        }
        return any;
    }

    static bool uses(step const& s, std::size_t device)
    {
        for (request const& r : s.requests)
            if (r.device == device) return true;
        return s.device == device;
    }

    bool keep(schedule& s, schedule&& candidate)
    {
        if (!fails_(candidate)) return false;
        s = std::move(candidate);
        return true;
    }

    Fails fails_;
};

} // namespace omp_co_test::explorer
