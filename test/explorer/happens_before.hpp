// SPDX-License-Identifier: BSL-1.0
// Who is ordered before whom, by vector clocks: a command follows the earlier ones of its stream, those that a wait
// names, and those that the host knew to be done when it enqueued it. Every access to device or host memory is held
// against all others of the same bytes.
#pragma once

#include "job.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace omp_co_test::explorer {

/// By stream: all groups up to this number are before.
struct vector_clock {
    static constexpr unsigned streams = 16;
    std::array<backend::sequence, streams> at{};

    void join(vector_clock const& other) noexcept
    {
        for (unsigned i = 0; i < streams; ++i) at[i] = std::max(at[i], other.at[i]);
    }
};

class happens_before {
public:
    using complain = void (*)(void* context, std::string const&);

    happens_before(complain f, void* context) : complain_(f), context_(context) {}

    /// `stream` counts over all devices. `earlier` finds the job of a group.
    template <class Find>
    void add(unsigned stream, bool inline_execution, job& j, std::uint64_t const* host, Find earlier)
    {
        state& s = streams_[stream];
        jobs_.push_back(&j);
        vector_clock clock = s.tail;
        clock.join(host_);
        judge_waits(stream, clock, j, earlier);
        command::kind latest = command::kind::wait;
        for (command const& c : j.group->commands) {
            if (c.what < latest)
                fail(j, "its commands are not in the order waits, copies in, kernel, copies out");
            latest = c.what;
            point const where{&j, stream, j.group->number, clock};
            switch (c.what) {
            case command::kind::wait:
                clock.join(after_wait(stream, c));
                break;
            case command::kind::copy_in:
            case command::kind::copy_out:
                add_copy(where, c, host);
                break;
            case command::kind::launch:
                add_launch(where, c);
                break;
            case command::kind::signal:
                break;
            }
        }
        clock.at[stream] = j.group->number;
        s.tail = clock;
        s.signals.resize(j.group->number + 1);
        s.signals.back() = clock;
        if (inline_execution) host_.join(clock);
    }

    /// The host knows that everything up to `number` is done.
    void reported(unsigned stream, backend::sequence number)
    {
        if (number < streams_[stream].signals.size()) host_.join(streams_[stream].signals[number]);
    }

    /// A block is given back to its device.
    void freed(unsigned device, void* block, std::size_t bytes)
    {
        char* const begin = static_cast<char*>(block);
        std::erase_if(device_[device], [&](access const& a) {
            if (a.end <= begin || begin + bytes <= a.begin) return false;
            if (host_.at[a.where.stream] < a.where.number)
                fail(a.who(), "its block was freed before the host knew that it was done");
            return true;
        });
    }

    /// What the device has not done by now, it will never do.
    void lost(unsigned device) noexcept { lost_[device] = true; }

private:
    struct state {
        vector_clock tail;
        std::vector<vector_clock> signals;
    };

    struct point {
        job* who;
        unsigned stream;
        backend::sequence number;
        vector_clock clock;
    };

    struct access {
        point where;
        command::kind what;
        bool writes;
        char* begin;
        char* end;
        std::size_t clause;

        job const& who() const noexcept { return *where.who; }
        incarnation const* entry() const noexcept { return who().uses[clause].entry; }
    };

    static bool ordered(point const& a, point const& b) noexcept
    {
        if (a.stream == b.stream) return a.number <= b.number;
        return b.clock.at[a.stream] >= a.number;
    }

    void add_copy(point const& where, command const& c, std::uint64_t const* host)
    {
        bool const in = c.what == command::kind::copy_in;
        char* const device = static_cast<char*>(c.device);
        char* const memory = static_cast<char*>(c.host);
        std::size_t const index = where.who->clause_of(c);
        if (index == where.who->uses.size()) return fail(*where.who, "a copy of what no clause asks for");
        add_device({where, c.what, in, device, device + c.bytes, index});
        add_host({where, c.what, !in, memory, memory + c.bytes, index}, host);
    }

    void add_launch(point const& where, command const& c)
    {
        for (std::size_t i = 0; i < where.who->uses.size(); ++i) {
            clause const& mine = where.who->what.clauses[i];
            if (mine.count == 0) continue;
            char* const begin = *static_cast<char**>(c.call->arguments[i]);
            add_device({where, c.what, mine.type != map_type::to, begin,
                        begin + mine.count * sizeof(std::uint64_t), i});
        }
    }

    void add_device(access const& a)
    {
        std::vector<access>& all = device_[a.who().what.device];
        for (access const& b : all) {
            if (&b.who() == &a.who() || b.end <= a.begin || a.end <= b.begin || !(a.writes || b.writes))
                continue;
            bool const first = b.who().id < a.who().id;
            access const& x = first ? b : a;
            access const& y = first ? a : b;
            if (ordered(x.where, y.where)) continue;
            bool const kernels = a.what == command::kind::launch && b.what == command::kind::launch;
            if (kernels && x.entry() == y.entry())
                taint(x, y);
            else if ((x.entry()->cells() & y.entry()->cells()) == 0 && ordered(y.where, x.where))
                continue; // a used block
            else
                fail(y.who(), std::string(name(y.what)) + " is not ordered after the " + name(x.what) +
                                  " of region " + std::to_string(x.who().id) + " on the same block");
        }
        all.push_back(a);
    }

    void add_host(access const& a, std::uint64_t const* host)
    {
        for (access const& b : on_host_) {
            if (&b.who() == &a.who() || b.end <= a.begin || a.end <= b.begin || !(a.writes || b.writes))
                continue;
            bool const first = b.who().id < a.who().id;
            access const& x = first ? b : a;
            access const& y = first ? a : b;
            if (ordered(x.where, y.where)) continue;
            bool const same_device = a.who().what.device == b.who().what.device;
            if (same_device || !y.writes) {
                if (!lost_[x.who().what.device])
                    fail(y.who(), std::string(name(y.what)) + " is not ordered after the " + name(x.what) +
                                      " of region " + std::to_string(x.who().id) +
                                      " at the same host memory");
                continue;
            }
            // Two devices write what the other one reads or writes: the program's affair.
            cell_mask const cells = overlap(a, b, host);
            if (x.writes)
                y.where.who->racy_copies_out |= cells;
            else
                x.where.who->racy_copies_in |= cells;
        }
        on_host_.push_back(a);
    }

    static cell_mask overlap(access const& a, access const& b, std::uint64_t const* host)
    {
        char const* const base = reinterpret_cast<char const*>(host);
        auto const first = static_cast<unsigned>((std::max(a.begin, b.begin) - base) / 8);
        auto const last = static_cast<unsigned>((std::min(a.end, b.end) - base) / 8);
        return cells_of(first, last - first);
    }

    // Two kernels on the same resident data, side by side: what one reads while the other writes is anybody's guess.
    static void taint(access const& x, access const& y)
    {
        clause const& a = x.who().what.clauses[x.clause];
        clause const& b = y.who().what.clauses[y.clause];
        cell_mask const both = a.cells() & b.cells();
        if (reads(a.kernel) && writes(b.kernel)) x.where.who->racy_reads |= both;
        if (reads(b.kernel) && writes(a.kernel)) y.where.who->racy_reads |= both;
        if (writes(a.kernel) && writes(b.kernel) && (a.kernel != touch::add || b.kernel != touch::add))
            y.where.who->racy_writes |= both;
    }

    vector_clock after_wait(unsigned stream, command const& c) const
    {
        std::vector<vector_clock> const& signals = streams_[other_stream(stream, c)].signals;
        return c.number < signals.size() ? signals[c.number] : vector_clock();
    }

    static unsigned other_stream(unsigned stream, command const& c)
    {
        return stream - stream % 4 + c.other->index();
    }

    // Waits cost concurrency: each one has a reason in the data, or changes nothing beside one that has.
    template <class Find>
    void judge_waits(unsigned stream, vector_clock clock, job const& j, Find earlier)
    {
        std::vector<std::pair<unsigned, backend::sequence>> idle;
        for (command const& c : j.group->commands) {
            if (c.what != command::kind::wait) continue;
            unsigned const other = other_stream(stream, c);
            job const* const before = earlier(other, c.number);
            if (before == nullptr) return fail(j, "it waits for a signal of nobody's");
            if (before->id >= j.id) return fail(j, "it waits for a region that was accepted later");
            bool reason = false;
            for (backend::sequence n = c.number; n > host_.at[other] && !reason; --n)
                if (job const* const each = earlier(other, n)) reason = conflict(j, *each);
            if (reason)
                clock.join(after_wait(stream, c));
            else
                idle.emplace_back(other, c.number);
        }
        for (auto const& [other, number] : idle)
            if (clock.at[other] < number && !inherited(j, *earlier(other, number)))
                fail(j, "it waits for region " + std::to_string(earlier(other, number)->id) +
                            ", with which it has nothing to do");
    }

    // By way of a region that failed before it could wait itself.
    bool inherited(job const& j, job const& before) const
    {
        return std::any_of(jobs_.begin(), jobs_.end(), [&](job const* between) {
            bool const failed = between->error || (between->region != nullptr && between->region->error);
            return failed && between->id < j.id && before.id < between->id && conflict(j, *between);
        });
    }

    static bool conflict(job const& j, job const& before)
    {
        for (use const& a : j.uses)
            for (use const& b : before.uses) {
                if (a.entry == nullptr || b.entry == nullptr || (a.entry->cells() & b.entry->cells()) == 0)
                    continue;
                if (a.entry != b.entry || a.wants_in || a.wants_out || a.created || b.wants_in ||
                    b.wants_out || b.created)
                    return true;
            }
        return false;
    }

    static char const* name(command::kind k)
    {
        return k == command::kind::copy_in ? "copy in" : k == command::kind::copy_out ? "copy out" : "kernel";
    }

    void fail(job const& j, std::string const& what)
    {
        complain_(context_, "region " + std::to_string(j.id) + " (" + to_text(j.what) + "): " + what);
    }

    complain complain_;
    void* context_;
    vector_clock host_;
    std::array<state, vector_clock::streams> streams_;
    std::array<std::vector<access>, 4> device_;
    std::vector<access> on_host_;
    std::array<bool, 4> lost_{};
    std::vector<job const*> jobs_;
};

} // namespace omp_co_test::explorer
