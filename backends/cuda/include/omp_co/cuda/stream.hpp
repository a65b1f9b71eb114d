// SPDX-License-Identifier: BSL-1.0
// A stream of a CUDA device. Commands go to the driver when their region's signal arrives. Once one must wait for something
// on the host, it and all that follow stay in a queue, and the device's helper goes on with them. The first one waits for
// the stream itself.
#pragma once

#include <omp_co/cuda/command_recorder.hpp>
#include <omp_co/cuda/launcher.hpp>
#include <omp_co/cuda/region_clock.hpp>
#include <omp_co/cuda/stream_tail.hpp>
#include <omp_co/cuda/transfers.hpp>
#include <omp_co/detail/failed_regions.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <mutex>
#include <utility>

namespace omp_co::cuda::engine {

class stream final : public command_recorder, public helped {
public:
    /// On `theirs`, a stream of the program's, if there is one.
    explicit stream(parts& p, driver::stream_handle theirs = nullptr) noexcept
        : parts_(p),
          handle_(theirs),
          theirs_(theirs != nullptr),
          completion_(p.device, p.events),
          transfers_(p),
          clock_(p.device, p.timed_events),
          launcher_(p),
          tail_(p.device, p.events)
    {
    }

    /// Nothing of it is in flight.
    ~stream() override
    {
        parts_.worker.detach(*this);
        std::erase(parts_.streams, this);
        if (!is_open() || parts_.device.was_reset()) return;
        current in(parts_.device);
        if (parts_.device.gone()) return;
        driver::api const& d = parts_.device.driver();
        bool const works = parts_.device.lost() == result::success;
        // A host function that woke somebody may not have run yet.
        if (works && !theirs_) (void)d.stream_synchronize(handle_);
        completion_.release();
        clock_.release();
        transfers_.release();
        if (works) parts_.words.give(completion_.word());
        tail_.release();
        if (!theirs_) (void)d.stream_destroy(handle_); // theirs may be gone
    }

    /// Between two CUDA devices the driver finds the way.
    error_code copy_from(void* to, backend::device& other, void const* from, std::size_t bytes) override;

    void measure(backend::timing& t) noexcept override
    {
        t.measured = false;
        if (t.events[1] == nullptr) return;
        current in(parts_.device);
        if (in) clock_.measure(t);
    }

    error_code wait(backend::stream& other, backend::sequence number) override
    {
        command* const c = add(command::kind::wait);
        if (c == nullptr) return make_error_code(errc::out_of_memory);
        c->other = &static_cast<stream&>(other);
        c->number = number;
        return {};
    }

    [[gnu::hot]] error_code signal(backend::sequence number) override { return end_region(number, false); }
    error_code mark(backend::sequence number) override { return end_region(number, true); }

    bool handed_over(backend::sequence number) const noexcept override
    {
        return submitted_.load(std::memory_order_acquire) >= number ||
               parts_.device.lost() != result::success;
    }

    [[gnu::hot]] backend::progress completed() noexcept override
    {
        if (theirs_) seen_.store(submitted_.load(std::memory_order_acquire), std::memory_order_release);
        backend::sequence const before = confirmed_.load(std::memory_order_relaxed);
        backend::sequence const now = parts_.device.lost() == result::success ? reached() : before;
        if (now != before) {
            if (now <= vouched_ || parts_.how == completion_kind::events || vouch_for_all()) {
                transfers_.settle(now);
                confirmed_.store(now, std::memory_order_release);
            }
            last_news_ = now_coarsely();
        } else if (now_coarsely() - last_news_ > quiet) {
            if (!parts_.device.was_reset()) (void)healthy();
            last_news_ = now_coarsely();
        }
        backend::progress p{confirmed_.load(std::memory_order_relaxed), failed_.any(), {}};
        result const lost = parts_.device.lost();
        // What is lost is given up at once by whoever is told: not while the helper may be copying.
        if (lost != result::success && !parts_.worker.touches_regions()) p.error = lost;
        return p;
    }

    backend::failure take_failure(backend::sequence number) override { return failed_.take(number); }

    backend::failure refused(backend::sequence number) override { return failed_.take(number); }
    bool refuses() const noexcept override { return failed_.any(); }

    bool arm() noexcept override
    {
        if (parts_.device.lost() != result::success) {
            parts_.worker.watch(*this);
            return true;
        }
        if (!theirs_ && alone_in_flight()) {
            backend::sequence const number = submitted_.load(std::memory_order_acquire);
            if (armed_for_ == number) return true;
            if (wake_at_tail()) {
                armed_for_ = number;
                if (alone_in_flight()) return true; // else it may come late
            }
        }
        parts_.worker.watch(*this);
        return true;
    }

    // As the helper sees it.

    help go_on() noexcept override
    {
        if (!is_open() && !queued_.load(std::memory_order_acquire)) return help::finished;
        result const opened = open();
        if (opened != result::success) return give_up_queue(opened);
        current in(parts_.device);
        if (!usable(in)) return help::finished;
        bool moved = transfers_.go_on() == help::moved;
        help stuck = help::finished;
        // Otherwise commands go straight to the driver, and the rest is another thread's.
        if (queued_.load(std::memory_order_acquire)) {
            if (is_captured()) stuck = help::waits_for_device;
            for (unsigned n = 0; n < at_once && stuck == help::finished && next(); ++n) {
                meet_allocations();
                stuck = run(head_, true);
                if (stuck == help::finished) has_head_ = false;
                moved = moved || stuck == help::finished;
            }
        }
        if (moved) return help::moved; // another stream may have waited for that
        return stuck != help::moved && transfers_.chunks_in_flight() ? help::waits_for_device : stuck;
    }

    void drop() noexcept override
    {
        std::lock_guard guard(mutex_);
        queue_.clear();
        has_head_ = false;
        queued_.store(false, std::memory_order_release);
        transfers_.drop();
    }

    bool has_moved() noexcept override
    {
        if (theirs_ && submitted_.load(std::memory_order_acquire) != seen_.load(std::memory_order_acquire))
            return true;
        return parts_.device.lost() != result::success ||
               reached() != confirmed_.load(std::memory_order_acquire);
    }

private:
    /// A pause after which the device is asked whether it is still alive.
    static constexpr auto quiet = std::chrono::milliseconds(50);
    static constexpr unsigned at_once = 64;

    // Cheap, since it is asked at every look that finds nothing.
    static std::chrono::milliseconds now_coarsely() noexcept
    {
        timespec t{};
        (void)::clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
        return std::chrono::milliseconds(t.tv_sec * 1000 + t.tv_nsec / 1000000);
    }

    bool is_open() const noexcept { return open_.load(std::memory_order_acquire); }

    // The helper's.
    result open() noexcept
    {
        if (is_open()) return result::success;
        result r = parts_.open();
        if (r != result::success) return r;
        current in(parts_.device);
        if (!in) return in.state();
        if (!theirs_) r = parts_.device.driver().stream_create(&handle_, driver::stream_non_blocking);
        if (!parts_.device.check(r)) return r;
        result why{}; // without a word, events serve
        if (parts_.how != completion_kind::events)
            completion_.open(parts_.how, parts_.words.take(parts_.device, why));
        open_.store(true, std::memory_order_release);
        return r;
    }

    // There is no stream: the regions in the queue end with that, and the next one tries again.
    help give_up_queue(result why) noexcept
    {
        if (parts_.device.lost() != result::success) return help::finished;
        while (next()) {
            has_head_ = false;
            fail(why, "the device cannot be used");
            if (head_.what != command::kind::signal) continue;
            skipping_ = head_.goes_on;
            failed_.note(head_.number, std::exchange(failure_, {}));
            submitted_.store(head_.number, std::memory_order_release);
            completion_.skip(head_.number);
        }
        parts_.device.wake();
        return help::moved;
    }

    backend::sequence reached() noexcept
    {
        backend::sequence const device = completion_.reached();
        return std::min(device, transfers_.unfinished() - 1);
    }

    // An error shows in a query of any stream, so one query after a look at all of them serves for all.
    bool vouch_for_all() noexcept
    {
        for (stream* s : parts_.streams) s->candidate_ = s->reached();
        if (!healthy()) return false;
        for (stream* s : parts_.streams) s->vouched_ = s->candidate_;
        return true;
    }

    // Nothing of ours may get into a graph of the program's. With the context current.
    bool is_captured() noexcept
    {
        if (!theirs_) return false;
        auto status = driver::capture_status::none;
        result const r = parts_.device.driver().stream_is_capturing(handle_, &status);
        return parts_.device.check(r) && status != driver::capture_status::none;
    }

    // Sticky errors show in any call; a signal behind a fault may have been reached all the same. A stream of the program's is not
    // asked: that would end its capture.
    bool healthy() noexcept
    {
        driver::stream_handle ours = nullptr;
        if (is_open() && !theirs_)
            ours = handle_;
        else if (parts_.is_open())
            ours = parts_.memory.own_stream();
        current in(parts_.device);
        if (!in || ours == nullptr) return parts_.device.lost() == result::success;
        return parts_.device.answers(parts_.device.driver().stream_query(ours));
    }

    bool alone_in_flight() const noexcept
    {
        return is_open() && !queued_.load(std::memory_order_acquire) &&
               transfers_.unfinished() == transfers::none &&
               submitted_.load(std::memory_order_acquire) == confirmed_.load(std::memory_order_relaxed) + 1;
    }

    bool wake_at_tail() noexcept
    {
        current in(parts_.device);
        if (!in) return false;
        return parts_.device.check(parts_.device.driver().launch_host_func(
            handle_, [](void* c) { static_cast<context*>(c)->wake(); }, &parts_.device));
    }

    // Submitting: by the thread that enqueues, or by the helper, never both.

    [[gnu::hot]] error_code end_region(backend::sequence number, bool goes_on) noexcept
    {
        if (!is_open() || queued_.load(std::memory_order_acquire)) {
            std::lock_guard guard(mutex_);
            if (!is_open() || queued_.load(std::memory_order_relaxed))
                return move_to_queue(0, number, goes_on);
        }
        return submit(number, goes_on);
    }

    [[gnu::hot]] error_code submit(backend::sequence number, bool goes_on) noexcept
    {
        current in(parts_.device, calls::safe_in_capture);
        if (usable(in)) {
            if (theirs_ && is_captured()) {
                std::lock_guard guard(mutex_);
                return move_to_queue(0, number, goes_on);
            }
            meet_allocations();
            for (command& c : building_) {
                if (run(c, false) == help::finished) continue;
                std::lock_guard guard(mutex_);
                return move_to_queue(static_cast<std::size_t>(&c - building_.data()), number, goes_on);
            }
            finish_region(number, goes_on, false);
        }
        building_.clear();
        if (parts_.device.lost() != result::success) parts_.worker.call(*this); // wakes whoever sleeps
        return {};
    }

    // With mutex_ held. The region's commands from `first` on, and its signal.
    error_code move_to_queue(std::size_t first, backend::sequence number, bool goes_on) noexcept
    {
        try {
            queue_.reserve(building_.size() - first + 1);
        } catch (...) {
            (void)parts_.device.lose(result::out_of_memory);
        }
        if (parts_.device.lost() == result::success) {
            for (std::size_t i = first; i < building_.size(); ++i) queue_.push(building_[i]);
            command last;
            last.number = number;
            last.goes_on = goes_on;
            queue_.push(last);
            queued_.store(true, std::memory_order_release);
            parts_.worker.call(*this);
        }
        building_.clear();
        return {};
    }

    // The helper's next command. False: there is none, and commands go straight to the driver again.
    bool next() noexcept
    {
        if (has_head_) return true;
        std::lock_guard guard(mutex_);
        if (queue_.empty()) {
            queued_.store(false, std::memory_order_release);
            return false;
        }
        head_ = queue_.front();
        queue_.pop();
        has_head_ = true;
        return true;
    }

    bool usable(current& in) noexcept
    {
        if (in) return true;
        (void)parts_.device.lose(in.state()); // without a context no signal can be given
        return false;
    }

    void meet_allocations() noexcept
    {
        if (parts_.memory.joined(epoch_)) return;
        result const r = parts_.memory.join(handle_, epoch_);
        if (r != result::success) fail(r, "cuStreamWaitEvent");
    }

    // Whatever fails before a region's signal belongs to that region. Before its kernel, its data has not arrived.
    [[gnu::cold, gnu::noinline]] void fail(result r, char const* what, bool arrived = false) noexcept
    {
        if (!failure_.error) failure_ = {r, what, arrived};
    }

    [[gnu::hot]] help run(command& c, bool on_helper) noexcept
    {
        context& device = parts_.device;
        if (c.what == command::kind::signal) {
            finish_region(c.number, c.goes_on, on_helper);
            return help::finished;
        }
        if (device.lost() != result::success || failure_.error || skipping_) return help::finished;
        result r = result::success;
        help answer = help::finished;
        switch (c.what) {
        case command::kind::copy_in:
        case command::kind::copy_out:
            answer =
                transfers_.copy(c, handle_, submitted_.load(std::memory_order_relaxed) + 1, on_helper, r);
            if (r != result::success && c.what == command::kind::copy_in) fail(r, "cuMemcpyHtoDAsync");
            if (r != result::success && c.what == command::kind::copy_out) fail(r, "cuMemcpyDtoHAsync", true);
            break;
        case command::kind::copy_within:
            r = c.shape != nullptr
                    ? engine::copy_box_within(device.driver(), c.device, c.from, *c.shape, handle_)
                    : device.driver().memcpy_dtod_async(reinterpret_cast<driver::device_address>(c.device),
                                                        reinterpret_cast<driver::device_address>(c.from),
                                                        c.bytes, handle_);
            if (!device.check(r)) fail(r, "cuMemcpyDtoDAsync");
            break;
        case command::kind::copy_peer:
            r = device.driver().memcpy_peer_async(
                reinterpret_cast<driver::device_address>(c.device), device.handle(),
                reinterpret_cast<driver::device_address>(c.from), c.peer, c.bytes, handle_);
            if (r == result::success) break;
            (void)healthy(); // the fault may be the other device's
            fail(r, "cuMemcpyPeerAsync");
            break;
        case command::kind::fill:
            r = device.driver().memset_d8_async(reinterpret_cast<driver::device_address>(c.device), c.value,
                                                c.bytes, handle_);
            if (!device.check(r)) fail(r, "cuMemsetD8Async");
            break;
        case command::kind::launch:
            answer = launcher_.launch(c, handle_, failure_);
            break;
        case command::kind::begin_timing:
            if (c.call != nullptr && launcher_.waits_for(c)) return help::waits_for_notice;
            clock_.begin(handle_);
            break;
        case command::kind::end_timing:
            clock_.end(*c.timing, handle_);
            break;
        default:
            answer = run_wait(c);
        }
        return answer;
    }

    help run_wait(command const& c) noexcept
    {
        if (c.other->confirmed_.load(std::memory_order_acquire) >= c.number) return help::finished;
        if (c.other->submitted_.load(std::memory_order_acquire) < c.number) return help::waits_for_notice;
        if (c.other->is_captured()) return help::waits_for_device;
        result const r = c.other->hold_back(handle_, c.number);
        if (r != result::success) fail(r, "cuStreamWaitEvent");
        return help::finished;
    }

    // Makes a stream wait for a signal of this one.
    result hold_back(driver::stream_handle other, backend::sequence number) noexcept
    {
        if (!is_open()) return result::success; // nothing has got to the device
        return tail_.hold_back(other, number, handle_, submitted_);
    }

    [[gnu::hot]] void finish_region(backend::sequence number, bool goes_on, bool on_helper) noexcept
    {
        if (parts_.device.lost() != result::success) return;
        skipping_ = goes_on && (skipping_ || failure_.error);
        if (failure_.error) {
            transfers_.abandon(number, on_helper);
            failed_.note(number, std::exchange(failure_, {}));
        }
        result const r = completion_.record(handle_, number);
        if (r != result::success)
            return (void)parts_.device.lose(r); // nobody could tell when the region is done
        if (theirs_) tail_.stand_behind(number, handle_);
        submitted_.store(number, std::memory_order_release);
    }

    parts& parts_;
    driver::stream_handle handle_; // made by the helper, which then sets open_, or theirs
    bool const theirs_;
    std::atomic<bool> open_{false};
    completion completion_;
    transfers transfers_;
    omp_co::detail::failed_regions failed_;
    std::atomic<backend::sequence> submitted_{0}; ///< the last signal that the driver has
    std::atomic<backend::sequence> confirmed_{0}; ///< the last one that was reported
    std::atomic<backend::sequence> seen_{0};      ///< `submitted_` when somebody last asked

    std::mutex mutex_;
    ring<command> queue_;             // guarded by mutex_
    std::atomic<bool> queued_{false}; ///< the helper submits

    // Whoever submits.
    command head_;
    bool has_head_ = false;
    backend::failure failure_;
    bool skipping_ = false; ///< a region before this one failed
    region_clock clock_;
    std::uint64_t epoch_ = 0;
    launcher launcher_;

    // Whoever asks for completions.
    std::chrono::milliseconds last_news_{};
    backend::sequence candidate_ = 0; // for vouched_
    backend::sequence vouched_ = 0;   ///< the device was healthy after this was reached
    backend::sequence armed_for_ = 0;

    stream_tail tail_;
};

} // namespace omp_co::cuda::engine
