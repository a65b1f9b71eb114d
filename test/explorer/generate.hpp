// SPDX-License-Identifier: BSL-1.0
// Schedules from seeds. A profile says what they are about.
#pragma once

#include "schedule.hpp"

#include <cstdint>
#include <string_view>

namespace omp_co_test::explorer {

struct profile {
    std::string_view name;
    unsigned devices = 1;
    unsigned contexts = 0;
    bool inline_device = false; ///< the last device
    bool short_of_memory = false;
    bool command_limits = true;
    unsigned faults = 0;       ///< in a thousand steps
    unsigned losses = 0;       ///< in a thousand steps, removals among them
    unsigned cancels = 0;      ///< in a thousand steps
    unsigned destructions = 0; ///< in a thousand steps
};

inline constexpr profile profiles[]{
    {.name = "order"},
    {.name = "two_devices", .devices = 2},
    {.name = "inline", .devices = 2, .inline_device = true, .faults = 20},
    {.name = "memory", .devices = 2, .short_of_memory = true, .faults = 20},
    {.name = "faults", .devices = 1, .faults = 80},
    {.name = "loss", .devices = 2, .faults = 20, .losses = 15},
    {.name = "loops", .devices = 2, .contexts = 2, .cancels = 60, .destructions = 10},
    {.name = "everything",
     .devices = 2,
     .contexts = 2,
     .short_of_memory = true,
     .faults = 40,
     .losses = 4,
     .cancels = 30,
     .destructions = 5},
};

class generator {
public:
    generator(profile const& p, std::uint64_t seed)
        : profile_(p), random_(mix(seed, p.name.size() * 256 + static_cast<unsigned char>(p.name[0])))
    {
    }

    schedule make()
    {
        schedule s;
        arrays_ = random_.between(1, cell_count / array_cells);
        resident_ = random_.between(0, 60);
        unsigned const devices = profile_.devices == 1 ? 1 : random_.percent(70) ? 2 : 1;
        for (unsigned i = 0; i < devices; ++i) s.devices.push_back(options(i + 1 == devices));
        s.contexts = profile_.contexts == 0 ? 0 : random_.between(1, profile_.contexts);
        unsigned const length = random_.between(8, 70);
        unsigned const pace = random_.between(20, 60); // of advances
        for (unsigned i = 0; i < length; ++i) s.steps.push_back(make_step(s, pace));
        return s;
    }

private:
    stepped_options options(bool last)
    {
        stepped_options o;
        o.streams = random_.between(1, 4);
        o.concurrency = random_.between(1, o.streams);
        o.device_waits = random_.percent(75);
        o.inline_execution = profile_.inline_device && last;
        if (profile_.short_of_memory) o.memory = 64 * random_.between(1, 4);
        if (profile_.command_limits && random_.percent(25)) o.command_limit = random_.between(4, 24);
        return o;
    }

    step make_step(schedule const& s, unsigned pace)
    {
        step made{step_kind::poll, {}};
        made.device = random_.below(static_cast<unsigned>(s.devices.size()));
        unsigned const rare = random_.below(1000);
        unsigned bound = profile_.faults;
        if (rare < bound) return inject(made);
        if (rare < (bound += profile_.losses)) return lose(made);
        if (rare < (bound += profile_.cancels)) {
            made.kind = step_kind::cancel;
            made.index = random_.below(8);
            made.amount = random_.below(3);
            return made;
        }
        if (rare < (bound += profile_.destructions) && s.contexts != 0) {
            made.kind = step_kind::destroy_context;
            made.index = random_.below(s.contexts);
            return made;
        }
        unsigned const usual = random_.below(100);
        if (usual < pace) {
            made.kind = step_kind::advance;
            made.index = random_.below(s.devices[made.device].streams);
            made.amount = random_.percent(60) ? random_.between(1, 3) : random_.between(4, 12);
            return made;
        }
        if (usual < pace + 12) return made;
        if (usual < pace + 17) {
            made.kind = step_kind::write_host;
            pick_cells(made.index, made.amount);
            return made;
        }
        if (usual == pace + 18) {
            made.kind = step_kind::settle;
            return made;
        }
        if (s.contexts != 0 && random_.percent(25)) {
            made.kind = step_kind::script;
            for (unsigned i = random_.between(1, 4); i != 0; --i)
                made.requests.push_back(make_request(made.device));
        } else {
            made.kind = step_kind::submit;
            made.requests.push_back(make_request(made.device));
        }
        made.index = s.contexts == 0 ? 0 : random_.below(s.contexts);
        return made;
    }

    step& inject(step& s)
    {
        s.kind = step_kind::inject;
        constexpr unsigned signal = static_cast<unsigned>(fault::refuse_signal);
        do s.where = static_cast<fault>(random_.below(fault_count));
        while (static_cast<unsigned>(s.where) == signal && profile_.losses == 0);
        s.amount = random_.between(1, 3);
        return s;
    }

    step& lose(step& s)
    {
        s.kind = random_.percent(75) ? step_kind::lose : step_kind::remove_device;
        return s;
    }

    request make_request(unsigned device)
    {
        request r{device, construct::target, {}};
        unsigned const what = random_.below(100);
        if (what < resident_ / 2)
            r.what = random_.percent(50) ? construct::enter_data : construct::exit_data;
        else if (what < 20 + resident_ / 2)
            r.what = construct::update;
        for (unsigned n = random_.percent(60) ? 1 : random_.between(2, 3); n != 0; --n)
            r.clauses.push_back(make_clause(r.what));
        // Beside another clause on the same data, `always` leaves open which of the two a failure concerns.
        for (clause& c : r.clauses)
            for (clause const& other : r.clauses)
                if (&c != &other && (c.cells() & other.cells()) != 0) c.always = false;
        return r;
    }

    clause make_clause(construct what)
    {
        clause c{};
        pick_cells(c.first, c.count);
        c.always = random_.percent(10);
        c.present = random_.percent(3);
        switch (what) {
        case construct::target:
            return for_target(c);
        case construct::enter_data:
            c.type = random_.percent(70) ? map_type::to : map_type::alloc;
            break;
        case construct::exit_data:
            c.type = random_.percent(50)   ? map_type::from
                     : random_.percent(70) ? map_type::release
                                           : map_type::delete_;
            break;
        default:
            c.type = random_.percent(50) ? map_type::to : map_type::from;
            break;
        }
        return c;
    }

    clause& for_target(clause& c)
    {
        unsigned const type = random_.below(100);
        unsigned const use = random_.below(100);
        if (type < 35) {
            c.type = map_type::to;
            c.kernel = touch::read;
        } else if (type < 75) {
            c.type = map_type::tofrom;
            c.kernel = use < 55   ? touch::hash
                       : use < 70 ? touch::add
                       : use < 85 ? touch::overwrite
                                  : touch::read;
        } else if (type < 88) {
            c.type = map_type::from;
            c.kernel = use < 80 ? touch::overwrite : use < 90 ? touch::add : touch::leave;
        } else {
            c.type = map_type::alloc;
            c.kernel = use < 35   ? touch::overwrite
                       : use < 60 ? touch::hash
                       : use < 80 ? touch::read
                                  : touch::leave;
        }
        return c;
    }

    void pick_cells(unsigned& first, unsigned& count)
    {
        first = array_cells * random_.below(arrays_);
        count = array_cells;
        unsigned const how = random_.below(100);
        if (how < 72) return;
        if (how < 86) { // a half
            first += array_cells / 2 * random_.below(2);
            count = array_cells / 2;
        } else if (how < 94 && first + 2 * array_cells <= cell_count) {
            count = 2 * array_cells;
        } else if (how < 98) {
            first += random_.below(array_cells);
            count = random_.between(1, std::min(array_cells, cell_count - first));
        } else {
            count = 0;
        }
    }

    profile const& profile_;
    random_source random_;
    unsigned arrays_ = 1;
    unsigned resident_ = 0;
};

} // namespace omp_co_test::explorer
