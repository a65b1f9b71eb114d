// SPDX-License-Identifier: BSL-1.0
// Carries a schedule out, brings everything to its end, and says which rule was broken first.
#pragma once

#include "fronts.hpp"
#include "schedule.hpp"
#include "world.hpp"

#include <cstdlib>
#include <memory>
#include <string>

namespace omp_co_test::explorer {

class explorer {
public:
    explicit explorer(schedule const& s)
        : schedule_(s), world_(std::make_unique<world>(s)), direct_(*world_), loops_(*world_, s.contexts)
    {
    }
    explorer(explorer const&) = delete;
    explorer& operator=(explorer const&) = delete;

    ~explorer()
    {
        if (!stuck_) return;
        loops_.leak();
        (void)world_.release();
    }

    /// Empty: all rules hold. `before_the_end` looks at what is in flight once all steps are done.
    std::string run()
    {
        return run([](world&) {});
    }

    template <class F>
    std::string run(F before_the_end)
    {
        unsigned number = 0;
        for (step const& s : schedule_.steps) {
            world_->set_step("step " + std::to_string(++number));
            carry_out(s);
            world_->compare_tables();
            if (!world_->verdict().empty()) return give_up();
        }
        before_the_end(*world_);
        world_->set_step("the end");
        world_->forget_faults();
        settle();
        world_->compare_tables();
        if (world_->verdict().empty()) unmap_everything();
        if (world_->verdict().empty()) world_->check_empty();
        if (!world_->verdict().empty()) return give_up();
        for (unsigned i = 0; i < schedule_.contexts; ++i) loops_.destroy(i);
        for (unsigned i = 0; i < schedule_.devices.size(); ++i) world_->remove(i);
        if (world_->verdict().empty()) world_->compare_with_sequential_run();
        return world_->verdict();
    }

private:
    void carry_out(step const& s)
    {
        switch (s.kind) {
        case step_kind::submit:
            submit(s.requests[0], s.index);
            break;
        case step_kind::script:
            if (schedule_.contexts != 0) loops_.spawn(s.requests, s.index);
            break;
        case step_kind::advance:
            advance(s);
            break;
        case step_kind::poll:
            poll();
            break;
        case step_kind::write_host:
            if (world_->may_write(cells_of(s.index, s.amount))) world_->write_host(s.index, s.amount);
            break;
        case step_kind::inject:
            world_->inject(s.device, s.where, s.amount);
            break;
        case step_kind::lose:
            world_->lose(s.device);
            break;
        case step_kind::cancel:
            if (schedule_.contexts != 0) loops_.cancel(s.index, s.amount);
            break;
        case step_kind::destroy_context:
            if (schedule_.contexts != 0) loops_.destroy(s.index);
            break;
        case step_kind::remove_device:
            world_->remove(s.device);
            direct_.take_up();
            break;
        case step_kind::settle:
            settle();
            break;
        }
    }

    void submit(request const& r, unsigned context)
    {
        if (schedule_.contexts == 0)
            direct_.submit(r);
        else
            loops_.submit(r, context);
    }

    void poll()
    {
        direct_.poll();
        if (schedule_.contexts != 0) loops_.poll();
    }

    void advance(step const& s)
    {
        stepped_device* const d = world_->devices()[s.device].device;
        if (d == nullptr || d->streams().empty()) return;
        stepped_stream* const stream = d->streams()[s.index % d->streams().size()];
        for (unsigned i = 0; i < s.amount; ++i)
            if (!stream->advance()) break;
    }

    void settle()
    {
        for (int quiet = 0; quiet < 2;) {
            bool moved = false;
            for (device_state const& d : world_->devices())
                if (d.device != nullptr) moved |= d.device->run_all();
            std::size_t const before = world_->active().size();
            poll();
            quiet = moved || world_->active().size() != before ? 0 : quiet + 1;
        }
        world_->check_settled();
    }

    void unmap_everything()
    {
        for (unsigned i = 0; i < schedule_.devices.size(); ++i) {
            device_state& d = world_->devices()[i];
            if (d.device == nullptr || d.faulty) continue;
            std::vector<clause> left;
            for (incarnation const* e : d.model.live())
                left.push_back({map_type::delete_, e->first, e->count});
            for (clause const& c : left) direct_.submit({i, construct::exit_data, {c}});
            settle();
        }
    }

    // What is left is brought to its end by a lost device; what even that does not move stays for ever.
    std::string give_up()
    {
        std::string const verdict = world_->verdict();
        world_->forget_faults();
        settle();
        if (!at_rest())
            for (unsigned i = 0; i < schedule_.devices.size(); ++i) world_->lose(i);
        settle();
        if (!at_rest()) {
            stuck_ = true;
            leave_without_ceremony();
            return verdict;
        }
        for (unsigned i = 0; i < schedule_.contexts; ++i) loops_.destroy(i);
        for (unsigned i = 0; i < schedule_.devices.size(); ++i) world_->remove(i);
        direct_.take_up();
        return verdict;
    }

    bool at_rest()
    {
        for (device_state const& d : world_->devices())
            if (d.device != nullptr && d.slot->in_flight.load() != 0) return false;
        return true;
    }

    // At exit the library would wait for the regions that are stuck.
    static void leave_without_ceremony()
    {
        static bool const once = [] { return std::atexit([] { std::_Exit(EXIT_FAILURE); }) == 0; }();
        (void)once;
    }

    schedule const& schedule_;
    std::unique_ptr<world> world_;
    direct_front direct_;
    loop_front loops_;
    bool stuck_ = false;
};

} // namespace omp_co_test::explorer
