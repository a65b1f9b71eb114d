// SPDX-License-Identifier: BSL-1.0
// Devices, host memory and regions of one case, the model beside them, and the rules that must hold at every step.
// What the library has done is read off its regions, streams and table after each call into it.
#pragma once

#include "device_state.hpp"
#include "happens_before.hpp"
#include "job.hpp"
#include "judge.hpp"
#include "kernel.hpp"
#include "present_model.hpp"
#include "replay.hpp"
#include "schedule.hpp"

#include <omp_co/detail/registry.hpp>

#include <algorithm>
#include <array>
#include <boost/asio/error.hpp>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace omp_co_test::explorer {

/// The codes of injected failures: each one is told apart.
class injected_category final : public boost::system::error_category {
public:
    char const* name() const noexcept override { return "injected"; }
    std::string message(int value) const override { return "injected failure " + std::to_string(value); }
    static injected_category const& instance()
    {
        static injected_category const the;
        return the;
    }
};

class world final : public device_observer {
public:
    explicit world(schedule const& s)
        : order_([](void* w, std::string const& what) { static_cast<world*>(w)->broken(what); }, this)
    {
        for (unsigned i = 0; i < cell_count; ++i) host_[i] = mix(i, 99);
        initial_ = host_;
        devices_.resize(s.devices.size());
        for (std::size_t i = 0; i < s.devices.size(); ++i) {
            auto made = std::make_unique<stepped_device>(s.devices[i], *this);
            devices_[i].device = made.get();
            devices_[i].slot = &registry().add(std::move(made), false);
            devices_[i].generation = devices_[i].slot->generation;
        }
    }
    world(world const&) = delete;
    world& operator=(world const&) = delete;
    ~world() = default;

    static omp_co::detail::registry& registry() { return omp_co::detail::registry::instance(); }

    std::string const& verdict() const noexcept { return verdict_; }
    std::vector<device_state>& devices() noexcept { return devices_; }
    std::vector<job*> const& active() const noexcept { return active_; }
    void set_step(std::string const& text) { step_ = text; }

    // A region on its way into the library: prepare, submit, submitted.

    job& prepare(request const& what, omp_co::detail::region& r, payload& p, unsigned context)
    {
        look();
        jobs_.push_back(std::make_unique<job>(static_cast<unsigned>(jobs_.size()), what, host_.data()));
        job& j = *jobs_.back();
        device_state& d = devices_[what.device];
        j.context = context;
        j.region = &r;
        r.slot = d.slot;
        r.generation = d.generation;
        p.connect(r, j, host_.data());
        plan_ = d.model.decide(what);
        j.uses = plan_.uses;
        was_idle_ = std::none_of(active_.begin(), active_.end(),
                                 [&](job* a) { return a->what.device == what.device && a->in_flight(); });
        active_.push_back(&j);
        return j;
    }

    void submitted(job& j)
    {
        omp_co::detail::region const& r = *j.region;
        device_state& d = devices_[j.what.device];
        if (r.stream == nullptr) {
            judge_refusal(j, r.error);
        } else {
            j.accepted = true;
            ++d.accepted;
            j.queue = r.stream;
            j.number = r.number;
            j.stream = stream_id(static_cast<stepped_stream&>(*r.stream->commands));
            if (!plan_.refusals.empty()) broken(j, "it was accepted and should have been refused");
            if (d.faulty || d.device == nullptr) broken(j, "a lost device accepted it");
            d.model.apply(j.what, j.uses, j.id);
            blame(j, judge_motions(j, r, d.model));
            history_.push_back({history_event::kind::accepted, &j, 0, {}});
        }
        look();
    }

    /// The region is about to be freed; its handler comes next, or is destroyed.
    job* leaving(omp_co::detail::region& r)
    {
        look();
        job* const j = job_of(r);
        if (j == nullptr) return broken("a region ended that nobody submitted, or twice"), nullptr;
        if (j->accepted && !j->retired) broken(*j, "its handler's turn came before it had retired");
        j->error = r.error;
        j->region = nullptr;
        return j;
    }

    /// The await of `j` is over.
    void finish(job& j, error_code ec)
    {
        if (j.ended) return broken(j, "it completed twice");
        if (j.may_vanish) broken(j, "a handler was invoked by the destruction of its context");
        end(j);
        error_code const wanted =
            j.cancelled && !j.error ? error_code(boost::asio::error::operation_aborted) : j.error;
        bool const aborted = j.perhaps_cancelled && !j.error && ec == boost::asio::error::operation_aborted;
        if (ec != wanted && !aborted)
            broken(j,
                   "its handler was told \"" + ec.message() + "\" instead of \"" + wanted.message() + "\"");
        if (j.accepted) judge_order(j);
        if (j.accepted) blame(j, judge_result(j, devices_[j.what.device].lost));
    }

    /// The handler of `j` was destroyed.
    void abandon(job& j)
    {
        if (j.ended) return;
        if (!j.may_vanish) broken(j, "its handler was destroyed without having been invoked");
        end(j);
        if (j.accepted) blame(j, judge_result(j, devices_[j.what.device].lost));
    }

    /// Notes what has happened in the library since the last look.
    void look()
    {
        for (device_state& d : devices_) look_at(d);
        std::vector<job*> retired;
        for (job* j : active_) {
            if (j->region == nullptr || !j->accepted || j->retired) continue;
            j->retired = devices_[j->what.device].device == nullptr || j->queue->retired >= j->number;
            if (j->retired) retired.push_back(j);
        }
        for (job* j : active_)
            if (j->region != nullptr && j->accepted && j->region->error) failed(*j, j->region->error);
        for (job* j : retired)
            if (j->error) forgotten(*j);
        for (job* j : active_) {
            j->short_of_memory = j->region != nullptr && j->region->needs_memory;
            j->enqueued = j->group != nullptr;
        }
        std::erase_if(active_, [](job* j) { return j->ended && (j->retired || !j->accepted); });
    }

    void compare_tables()
    {
        for (std::size_t i = 0; i < devices_.size(); ++i)
            if (std::string const what = devices_[i].compare_table(host_.data()); !what.empty())
                broken("the table of device " + std::to_string(i) + " " + what);
    }

    bool may_write(cell_mask cells) const
    {
        for (job const* j : active_) {
            if (j->ended || !j->accepted) continue;
            for (std::size_t i = 0; i < j->uses.size(); ++i)
                if ((j->uses[i].wants_in || j->uses[i].wants_out) &&
                    (j->what.clauses[i].cells() & cells) != 0)
                    return false;
        }
        return true;
    }

    void write_host(unsigned first, unsigned count)
    {
        history_event e{history_event::kind::written, nullptr, first, {}};
        for (unsigned i = first; i < first + count; ++i) e.values.push_back(host_[i] = mix(++writes_, i));
        history_.push_back(e);
    }

    void inject(unsigned device, fault f, unsigned countdown)
    {
        if (devices_[device].device == nullptr) return;
        injected_.push_back(f);
        devices_[device].device->inject(f, countdown, next_code());
    }

    void lose(unsigned device)
    {
        if (devices_[device].device == nullptr) return;
        injected_.push_back(fault::refuse_signal);
        devices_[device].device->lose(next_code());
    }

    void remove(unsigned device)
    {
        device_state& d = devices_[device];
        if (d.device == nullptr) return;
        run_by_themselves(true);
        registry().remove(*d.slot, d.generation);
        run_by_themselves(false);
        look();
    }

    void run_by_themselves(bool on)
    {
        for (device_state& d : devices_)
            if (d.device != nullptr) d.device->run_by_itself(on);
    }

    void forget_faults()
    {
        for (device_state& d : devices_)
            if (d.device != nullptr) d.device->forget_faults();
    }

    /// Everything has run to its end.
    void check_settled()
    {
        for (job const* j : active_) {
            if (j->in_flight())
                broken(*j, "stuck: nothing moves any more, and it has not retired");
            else if (!j->ended)
                broken(*j, "it has retired, and its await does not end");
        }
    }

    /// Nothing is mapped any more.
    void check_empty()
    {
        for (unsigned i = 0; i < devices_.size(); ++i) {
            std::string const what = devices_[i].leftovers();
            if (!what.empty()) broken(what + " at the end on device " + std::to_string(i));
            if (devices_[i].device != nullptr && !devices_[i].faulty)
                check_statistics(i, devices_[i].slot->core->statistics());
        }
    }

    void compare_with_sequential_run()
    {
        replay again(initial_);
        again.run(history_);
        again.compare_host(host_);
        if (!again.verdict().empty()) broken(again.verdict());
    }

    // What the devices see.

    void enqueued(stepped_stream& s, std::shared_ptr<command_group> const& g) override
    {
        unsigned const stream = stream_id(s);
        job* const j = find_job(stream, g->number);
        if (j == nullptr) return broken("a stream got commands that belong to no region");
        j->group = g;
        j->stream = stream;
        by_signal_[{stream, g->number}] = j;
        if (!g->signalled) return;
        for (device_state const& d : devices_)
            if (d.device != nullptr && d.device->lost()) order_.lost(index_of(*d.device));
        judge_addresses(*j, s.device());
        order_.add(stream, s.device().traits().inline_execution, *j, host_.data(),
                   [this](unsigned other, backend::sequence number) -> job const* {
                       return find_job(other, number);
                   });
    }

    bool may_run(stepped_stream& s, command const& c) override
    {
        job* const j = find_job(stream_id(s), s.executed() + 1);
        if (j == nullptr) return broken("a command runs that belongs to no region"), false;
        if (j->ended) return broken(*j, "the device works on it after its await has ended"), false;
        if (c.what == command::kind::launch && j->ran) return broken(*j, "its kernel runs twice"), false;
        return addresses_are_good(*j, c, s.device(), "runs");
    }

    void reported(stepped_stream& s, backend::sequence completed) override
    {
        order_.reported(stream_id(s), completed);
    }

    void freeing(stepped_device& d, void* block, std::size_t bytes) override
    {
        order_.freed(index_of(d), block, bytes);
    }

    void destroyed(stepped_device& d) override
    {
        device_state& mine = devices_[index_of(d)];
        mine.lost = d.lost();
        mine.faulty = static_cast<bool>(mine.lost);
        if (mine.faulty) order_.lost(index_of(d));
        mine.device = nullptr;
    }

    void broken(std::string const& rule) override
    {
        if (verdict_.empty()) verdict_ = rule + "\n  at " + step_;
    }

private:
    void blame(job const& j, std::string const& what)
    {
        if (!what.empty()) broken(j, what);
    }

    void broken(job const& j, std::string const& what)
    {
        broken("region " + std::to_string(j.id) + " (" + to_text(j.what) + "): " + what);
    }

    error_code next_code() const
    {
        return {static_cast<int>(injected_.size()), injected_category::instance()};
    }

    unsigned index_of(stepped_device const& d) const
    {
        for (unsigned i = 0; i < devices_.size(); ++i)
            if (devices_[i].device == &d) return i;
        return 0;
    }
    unsigned stream_id(stepped_stream& s) const { return index_of(s.device()) * 4 + s.index(); }

    job* job_of(omp_co::detail::region const& r) const
    {
        for (job* j : active_)
            if (j->region == &r) return j;
        return nullptr;
    }

    // Also while it is being submitted: then only its region knows where it goes.
    job* find_job(unsigned stream, backend::sequence number) const
    {
        if (auto const it = by_signal_.find({stream, number}); it != by_signal_.end()) return it->second;
        for (job* j : active_) {
            if (j->region == nullptr || j->region->stream == nullptr || j->region->number != number) continue;
            if (devices_[j->what.device].device == nullptr) continue;
            if (stream_id(static_cast<stepped_stream&>(*j->region->stream->commands)) == stream) return j;
        }
        return nullptr;
    }

    void look_at(device_state& d)
    {
        if (d.device == nullptr || d.faulty) return;
        d.lost = d.slot->core->lost();
        d.faulty = static_cast<bool>(d.lost);
    }

    void end(job& j)
    {
        j.ended = true;
        // Whoever reads this has its data back, and may free it.
        if (j.accepted && !j.executed() && !devices_[j.what.device].faulty)
            broken(j, "its await ended while the device was still at it");
    }

    // What a region brought is in nobody's sight once its failure is in the stream.
    void failed(job& j, error_code ec)
    {
        device_state& d = devices_[j.what.device];
        if (!j.error && ec == omp_co::errc::out_of_memory) blame(j, judge_out_of_memory(j, active_));
        j.error = ec;
        // A launch that is refused fails the region at once; that its copies in fail as well shows later.
        bool const arrived = j.region->arrived;
        bool const again = j.failure_seen && j.arrived && !arrived;
        if ((j.failure_seen && !again) || (!j.retired && j.queue->enqueued < j.number)) return;
        j.failure_seen = true;
        j.arrived = arrived;
        for (std::size_t i = 0; i < j.uses.size(); ++i) {
            // What has arrived, and no kernel may write, is as it should be.
            bool const written = j.what.what == construct::target && j.what.clauses[i].type != map_type::to;
            if (written ? again : arrived) continue;
            if (j.uses[i].entry != nullptr && (j.uses[i].entry->creator == j.id || j.copies_in[i]))
                d.model.fail(*j.uses[i].entry, j.id, d.misses(*j.uses[i].entry, host_.data()));
        }
    }

    // It has retired with an error. Who is accepted from now on does not count on it.
    void forgotten(job& j)
    {
        device_state& d = devices_[j.what.device];
        d.model.close_failures(j.id, static_cast<unsigned>(jobs_.size()) - 1);
        if (j.what.what == construct::enter_data) d.model.take_back(j.uses);
        history_.push_back({history_event::kind::noticed, &j, 0, {}});
    }

    void judge_refusal(job& j, error_code ec)
    {
        j.error = ec;
        device_state const& d = devices_[j.what.device];
        if (d.device == nullptr || d.faulty) {
            if (ec != omp_co::errc::device_lost)
                broken(j, "a device that is gone refused it with " + ec.message());
            return;
        }
        if (!plan_.refusals.empty()) {
            for (omp_co::errc const each : plan_.refusals)
                if (ec == each) return;
            return broken(j, "it was refused with the wrong error, " + ec.message());
        }
        if (ec == omp_co::errc::out_of_memory && was_idle_) return;
        if (ec == omp_co::errc::out_of_memory) return broken(j, "out_of_memory while regions are in flight");
        if (was_injected(ec, fault::create_stream)) return;
        // Its memory was asked for in vain, and nobody is in flight who would notice why.
        if (was_idle_ && d.device->lost() && ec == d.device->lost()) return;
        broken(j, "it was refused for no reason: " + ec.message());
    }

    bool was_injected(error_code ec, fault f) const
    {
        if (ec.category() != injected_category::instance()) return false;
        return injected_[static_cast<std::size_t>(ec.value()) - 1] == f;
    }

    void judge_order(job& j)
    {
        backend::sequence& latest = latest_finished_[{j.stream, j.context}];
        if (j.number <= latest) broken(j, "it completed before an earlier region of its stream");
        latest = std::max(latest, j.number);
    }

    void judge_addresses(job& j, stepped_device& d)
    {
        for (command const& c : j.group->commands)
            if (c.what != command::kind::wait && c.what != command::kind::signal)
                (void)addresses_are_good(j, c, d, "is given");
    }

    bool addresses_are_good(job& j, command const& c, stepped_device& d, char const* when)
    {
        if (c.what != command::kind::launch) {
            if (d.holds(c.device, c.bytes)) return true;
            return broken(j, std::string("the device ") + when + " a copy at an address outside its blocks"),
                   false;
        }
        for (std::size_t i = 0; i < j.uses.size(); ++i) {
            unsigned const count = j.what.clauses[i].count;
            if (count == 0 ||
                d.holds(*static_cast<void**>(c.call->arguments[i]), count * sizeof(std::uint64_t)))
                continue;
            return broken(j,
                          std::string("the device ") + when + " a kernel with an address outside its blocks"),
                   false;
        }
        return true;
    }

    void check_statistics(unsigned device, omp_co::device_statistics const& s)
    {
        std::uint64_t in = 0;
        std::uint64_t out = 0;
        for (auto const& j : jobs_) {
            if (j->what.device != device || !j->accepted || j->error || j->group == nullptr) continue;
            for (command const& c : j->group->commands) {
                in += c.what == command::kind::copy_in;
                out += c.what == command::kind::copy_out;
            }
        }
        if (in != s.copies_in || out != s.copies_out)
            broken("the statistics count other motions than the device saw");
    }

    std::array<std::uint64_t, cell_count> host_{};
    std::array<std::uint64_t, cell_count> initial_{};
    std::vector<device_state> devices_;
    std::vector<std::unique_ptr<job>> jobs_;
    std::vector<job*> active_; ///< not retired, or not ended
    std::vector<history_event> history_;
    std::vector<fault> injected_; ///< by code, from 1
    std::map<std::pair<unsigned, backend::sequence>, job*> by_signal_;
    std::map<std::pair<unsigned, unsigned>, backend::sequence> latest_finished_;
    present_model::plan plan_;
    happens_before order_;
    std::string step_;
    std::string verdict_;
    std::uint64_t writes_ = 0;
    bool was_idle_ = false;
};

} // namespace omp_co_test::explorer
