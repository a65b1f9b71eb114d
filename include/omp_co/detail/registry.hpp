// SPDX-License-Identifier: BSL-1.0
// The devices and the sleepers of the process, and the calls that move regions along on any of them.
#pragma once

#include <omp_co/detail/device_core.hpp>
#include <omp_co/detail/device_list.hpp>
#include <omp_co/detail/group_tree.hpp>
#include <omp_co/detail/offload_policy.hpp>
#include <omp_co/detail/process_wide.hpp>
#include <omp_co/detail/sleepers.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <forward_list>
#include <memory>
#include <mutex>
#include <new>
#include <pthread.h>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace omp_co::detail {

/// What a backend's header leaves behind: how to find its devices.
struct backend_source;

class registry {
public:
    static registry& instance()
    {
        static registry& the = open();
        return the;
    }

    /// Whether this process is the child of one that used omp_co.
    bool forked() const noexcept { return forked_.load(std::memory_order_relaxed); }
    bool closing() const noexcept { return closing_.load(std::memory_order_relaxed); }

    /// Adds a device; its number is the next one, or -1 for a virtual device. Throws std::bad_alloc.
    device_slot& add(std::unique_ptr<backend::device> device, bool numbered, bool initial = false)
    {
        std::lock_guard guard(mutex_);
        device_slot& slot = free_slot();
        slot.kind.store(device->kind(), std::memory_order_relaxed);
        if (initial)
            slot.initial =
                true; // a slot that is used again never is, and handles of the last device may look
        auto core = std::make_unique<device_core>(slot, std::move(device), dependences_);
        core->device().set_wakeup({[](void* r) noexcept { static_cast<registry*>(r)->wake_all(); }, this});
        if (numbered) numbered_.push_back(&slot);
        device_lock lock(slot.mutex);
        slot.number = numbered ? static_cast<int>(numbered_.size()) - 1 : -1;
        ++slot.generation;
        slot.closing = false;
        slot.core = core.release();
        return slot;
    }

    /// Takes no new region for the device, waits until those it has have retired, then destroys it.
    void remove(device_slot& slot, std::uint32_t generation) noexcept
    {
        if (forked()) return; // its threads stayed with the parent
        std::unique_ptr<device_core> core;
        wait_until([&] {
            device_lock lock(slot.mutex);
            if (slot.core == nullptr || slot.generation != generation) return true;
            slot.closing = true;
            if (slot.in_flight.load(std::memory_order_acquire) != 0) return false;
            core.reset(std::exchange(slot.core, nullptr));
            return true;
        });
        if (core == nullptr) return;
        core.reset();
        std::lock_guard guard(mutex_);
        try {
            free_.push_back(&slot);
        } catch (...) { // the slot is not reused, then
        }
    }

    /// Makes a device the default one. A place, once it was the default, is kept: readers take no lock.
    void set_default(device_place place)
    {
        std::lock_guard guard(mutex_);
        for (device_place const& known : defaults_)
            if (known.slot == place.slot && known.generation == place.generation)
                return default_device.store(&known, std::memory_order_release);
        defaults_.push_front(place);
        default_device.store(&defaults_.front(), std::memory_order_release);
    }

    /// The devices with numbers, in their order.
    std::vector<device_slot*> numbered()
    {
        std::lock_guard guard(mutex_);
        return numbered_;
    }

    /// Dispatches a region. It goes to its owner when it has retired or was refused, maybe before this returns.
    [[gnu::hot]] void submit(region& r) noexcept
    {
        aftermath out;
        if (error_code const refused = try_submit(r, out)) refuse(r, refused, out);
        follow(out);
    }

    /// The same for a region that names what it depends on: once those have ended, or right behind them.
    void submit(region& r, std::span<dependence const> wishes) noexcept
    {
        aftermath out;
        if (forked()) {
            refuse(r, make_error_code(errc::forked), out);
        } else {
            switch (dependences_.enter(r, wishes)) {
            case dependence_graph::verdict::go:
                begin(r, out);
                break;
            case dependence_graph::verdict::deferred:
                break;
            case dependence_graph::verdict::out_of_memory:
                refuse(r, make_error_code(errc::out_of_memory), out);
            }
        }
        follow(out);
    }

    /// Has a region ask for device memory: when it goes to its owner, its item has the address.
    void allocate(region& r) noexcept
    {
        aftermath out;
        if (error_code const refused = try_allocate(r, out)) refuse(r, refused, out);
        follow(out);
    }

    /// Something that is no region of a device has ended: its successors' time has come.
    void end_dependent(region_order& order, error_code ec) noexcept
    {
        if (order.node == nullptr || forked()) return;
        // A chain of such must not go a level deeper with each link.
        if (aftermath* const outermost = following()) return dependences_.end(order, ec, *outermost);
        aftermath out;
        dependences_.end(order, ec, out);
        follow_on(out);
    }

    /// Gives a region that no device has to its owner, once it has ended, and lets its successors go.
    static void hand_over(region& r) noexcept
    {
        if (r.order != nullptr) instance().end_dependent(*r.order, r.error);
        region_list done;
        done.push(r);
        r.owner->completed(std::move(done));
    }

    /// Ends a region without effect if it is still deferred.
    void cancel_deferred(dependent& node, std::uint64_t id) noexcept
    {
        if (forked()) return;
        aftermath out;
        dependences_.cancel(node, id, out);
        follow(out);
    }
    template <class Predicate>
    void cancel_deferred_if(Predicate which) noexcept
    {
        if (forked()) return;
        aftermath out;
        dependences_.cancel_if(which, out);
        follow(out);
    }

    /// Whether programs are checked for regions that nothing orders.
    race_checker& races() noexcept { return dependences_.races(); }

    /// Gives two pairs of regions places on their devices, in an order that all such pairs keep. Of each pair the second one,
    /// right behind the first, is held until release_held. What is refused goes to its owner with an error.
    void submit_held(region& r, region& held, region& other, region& other_held) noexcept
    {
        aftermath out;
        {
            std::unique_lock guard(several_, std::defer_lock);
            if (!forked()) guard.lock(); // a child may find it locked by nobody
            place_pair(r, held, out);
            place_pair(other, other_held, out);
        }
        for (device_slot* const slot : {r.slot, other.slot}) {
            if (forked()) break; // that one too
            device_lock lock(slot->mutex);
            if (slot->core == nullptr) continue;
            slot->core->kick();
            slot->core->go_on(lock, out);
        }
        follow(out);
    }

    /// Lets a region that is held go, if it was not refused; its error, if any, is set before.
    void release_held(region& held) noexcept
    {
        if (held.stream == nullptr) return;
        aftermath out;
        {
            device_lock lock(held.slot->mutex);
            held.slot->core->release_held(held, lock, out);
        }
        follow(out);
    }

    /// Asks every device with regions in flight. False: another thread is at one of them.
    [[gnu::hot]] bool poll() noexcept
    {
        if (forked()) return true;
        aftermath out;
        bool complete = true;
        devices_.for_each_busy([&](device_slot& slot) {
            device_lock lock(slot.mutex, std::try_to_lock);
            if (!lock)
                complete = false;
            else if (slot.core != nullptr)
                slot.core->poll(lock, out);
        });
        follow(out);
        return complete;
    }

    /// Arms wake-ups on all devices with regions in flight. False: one cannot wake anybody.
    bool arm() noexcept
    {
        if (forked()) return true;
        bool armed = true;
        devices_.for_each_busy([&](device_slot& slot) {
            device_lock lock(slot.mutex);
            if (slot.core != nullptr) armed &= slot.core->arm();
        });
        return armed;
    }

    sleepers& who_sleeps() noexcept { return sleepers_; }
    void wake_all() noexcept { sleepers_.wake_all(); }

    /// Blocks the calling thread, moving all devices along, until `over()`.
    template <class Predicate>
    void wait_until(Predicate over) noexcept
    {
        auto const start = std::chrono::steady_clock::now();
        while (!over()) {
            poll();
            if (over()) return;
            if (std::chrono::steady_clock::now() - start < std::chrono::microseconds(50)) continue;
            blocked_thread self;
            sleepers_.add(self);
            self.armed = true;
            arm();
            poll();
            if (!over()) self.block(std::chrono::milliseconds(10));
            sleepers_.remove(self);
        }
    }

    group_tree& groups() noexcept { return groups_; }

    /// Blocks until no region of a task_group, or of one that was made in it, is in flight.
    void wait_for_group(void const* group) noexcept
    {
        if (forked()) return;
        wait_until([&] {
            auto const is_meant = [&](region const& r) { return groups_.is_within(r.group, group); };
            if (dependences_.any_of(is_meant)) return false;
            bool any = false;
            devices_.for_each_busy([&](device_slot& slot) {
                device_lock lock(slot.mutex);
                any = any || (slot.core != nullptr && slot.core->has_region(is_meant));
            });
            return !any;
        });
    }

    /// Runs `f(core)` under the device's lock; false if the device is gone.
    template <class F>
    bool with(device_slot& slot, std::uint32_t generation, F f)
    {
        if (forked()) return false;
        device_lock lock(slot.mutex);
        if (slot.core == nullptr || slot.generation != generation || slot.core->lost()) return false;
        f(*slot.core);
        return true;
    }

    /// What runs handlers on a thread of its own.
    class handler_thread {
    public:
        /// At exit, while devices still work: runs no handler from now on.
        virtual void stop_handlers() noexcept = 0;
        /// After that, when nothing is in flight: destroys the handlers that were not called.
        virtual void abandon_handlers() noexcept = 0;

    protected:
        ~handler_thread() = default;

    private:
        friend class registry;
        handler_thread* next_ = nullptr;
    };

    /// False: the program is on its way out already, so nobody is going to call it.
    bool at_close(handler_thread& t) noexcept
    {
        std::lock_guard guard(mutex_);
        if (closing()) return false;
        t.next_ = std::exchange(handler_threads_, &t);
        return true;
    }

    /// The program is on its way out: nothing new, what is in flight ends, and no thread of ours is left when
    /// static objects, and the drivers among them, are torn down. Runs at exit. Only the first call counts.
    void close() noexcept
    {
        if (forked()) return;
        handler_thread* threads = nullptr;
        {
            std::lock_guard guard(mutex_);
            if (closing_.exchange(true)) return;
            threads = handler_threads_;
        }
        for (handler_thread* t = threads; t != nullptr; t = t->next_) t->stop_handlers();
        devices_.for_each([this](device_slot& slot) {
            std::uint32_t generation = 0;
            {
                device_lock lock(slot.mutex);
                generation = slot.generation;
            }
            remove(slot, generation);
        });
        for (handler_thread* t = threads; t != nullptr; t = t->next_) t->abandon_handlers();
    }

    /// For whoever has just loaded a library that may bring exit handlers of its own: close() runs before those.
    static void close_first() noexcept
    {
        stay_loaded(reinterpret_cast<void const*>(&registry::close_first)); // or it would be run by dlclose
        (void)std::atexit([] { instance().close(); });
    }

    std::atomic<device_place const*> default_device{nullptr};
    std::atomic<device_slot*> initial_device{nullptr};
    std::array<std::atomic<bool>, 8> discovered{}; ///< by backend_kind
    std::mutex discovery;
    std::string bad_environment; ///< guarded by discovery: what could not be understood
    std::atomic<bool> environment_is_bad{false};
    std::atomic<bool> offload_disabled{
        false}; ///< OMP_TARGET_OFFLOAD=DISABLED: every region runs on the initial device

private:
    registry() = default;

    static registry& open()
    {
        stay_loaded(reinterpret_cast<void const*>(&registry::open));
        return *static_cast<registry*>(process_wide("omp_co.registry.0.1", [] {
            registry* const made = new registry;
            made->offload_disabled = offload_policy() == offload::disabled;
            current() = made;
            (void)pthread_atfork([] { current()->before_fork(); }, [] { current()->after_fork(); },
                                 [] {
                                     current()->forked_ = true;
                                     current()->after_fork();
                                 });
            (void)std::atexit([] { current()->close(); }); // not instance(): a child may be without it
            return made;
        }));
    }

    void before_fork() noexcept
    {
        discovery.lock();
        mutex_.lock();
        sleepers_.before_fork();
        groups_.before_fork();
    }

    void after_fork() noexcept
    {
        groups_.after_fork();
        sleepers_.after_fork();
        mutex_.unlock();
        discovery.unlock();
    }

    static registry*& current()
    {
        static registry* made = nullptr;
        return made;
    }

    device_slot& free_slot()
    {
        if (free_.empty()) return devices_.add();
        device_slot& slot = *free_.back();
        free_.pop_back();
        return slot;
    }

    // Regions that others wait for are part of something that was accepted.
    static bool is_fresh(region const& r) noexcept { return r.way != region::express; }

    error_code closed_to(region const& r) const noexcept
    {
        if (forked()) return make_error_code(errc::forked);
        return is_fresh(r) && closing() ? make_error_code(errc::shutting_down) : error_code();
    }

    // With its lock held.
    static bool takes(device_slot const& slot, region const& r) noexcept
    {
        return slot.core != nullptr && slot.generation == r.generation && !(is_fresh(r) && slot.closing);
    }

    [[gnu::hot]] error_code try_submit(region& r, aftermath& out) noexcept
    try {
        if (forked() || closing()) [[unlikely]]
            if (error_code const ec = closed_to(r)) return ec;
        device_slot& slot = *r.slot;
        std::unique_lock several(several_, std::defer_lock);
        if (r.item_count != 0 && devices_.any_busy_but(slot)) meet_other_devices(r, several);
        device_lock lock(slot.mutex);
        if (!takes(slot, r)) return make_error_code(errc::device_lost);
        if (error_code const ec = slot.core->place(r)) return ec;
        if (several.owns_lock()) several.unlock();
        slot.core->start(r, lock, out);
        return {};
    } catch (std::bad_alloc const&) {
        return make_error_code(errc::out_of_memory);
    }

    error_code try_allocate(region& r, aftermath& out) noexcept
    {
        if (error_code const ec = closed_to(r)) return ec;
        device_lock lock(r.slot->mutex);
        if (!takes(*r.slot, r)) return make_error_code(errc::device_lost);
        if (error_code const ec = r.slot->core->place_allocation(r)) return ec;
        r.slot->core->go_on(lock, out);
        return {};
    }

    void place_pair(region& r, region& held, aftermath& out) noexcept
    {
        error_code const ec = [&]() noexcept -> error_code {
            try {
                if (error_code const closed = closed_to(r)) return closed;
                device_slot& slot = *r.slot;
                device_lock lock(slot.mutex);
                if (!takes(slot, r)) return make_error_code(errc::device_lost);
                for (region* const each : {&r, &held})
                    if (error_code const refused = slot.core->place(*each)) return refused;
                return {};
            } catch (std::bad_alloc const&) {
                return make_error_code(errc::out_of_memory);
            }
        }();
        if (!ec) return;
        for (region* const each : {&r, &held}) {
            if (each->stream != nullptr) continue;
            each->fail(ec, {});
            out.done.push(*each);
        }
    }

    // Before any copy in, another device's pending copies out of the same host range count; before any copy out, its
    // data is no longer equal to the host's.
    // Whoever waits across devices is placed while nobody takes places on several.
    void meet_other_devices(region& r, std::unique_lock<std::mutex>& several)
    {
        devices_.for_each_busy([&](device_slot& slot) {
            if (&slot == r.slot) return;
            device_lock lock(slot.mutex);
            if (!several.owns_lock() && slot.pending_outs.load(std::memory_order_relaxed) != 0) {
                lock.unlock();
                several.lock();
                lock.lock();
            }
            if (slot.core == nullptr) return;
            bool const pending = slot.pending_outs.load(std::memory_order_relaxed) != 0;
            for (map_item const& item : r.maps()) {
                if (item.bytes == 0) continue;
                byte_range const range{item.begin(), item.host_end()};
                if (item.has(map_from) || item.writes_host_raw()) slot.core->host_changes(range);
                if (item.reads_host() && pending) slot.core->wait_for_copies_out(range, r);
            }
        });
    }

    void forget(region& r) noexcept
    {
        if (forked() || r.unmet.load() == 0) return;
        devices_.for_each([&](device_slot& slot) {
            device_lock lock(slot.mutex);
            if (slot.core != nullptr) slot.core->forget(r);
        });
    }

    void refuse(region& r, error_code ec, aftermath& out) noexcept
    {
        forget(r);
        r.fail(ec, {});
        if (r.order != nullptr && r.order->node != nullptr) dependences_.end(*r.order, r.error, out);
        out.done.push(r);
    }

    // A region whose time has come.
    void begin(region& r, aftermath& out) noexcept
    {
        if (r.order->on_host) return out.done.push(r);
        if (r.order->begin != nullptr) return r.order->begin(r);
        if (error_code const refused = try_submit(r, out)) refuse(r, refused, out);
    }

    // What happened on one device may let regions go on that are parked on another one, or are deferred.
    [[gnu::hot]] void follow(aftermath& out) noexcept
    {
        if (out.released.empty() && out.kicks.empty()) return deliver(out.done);
        follow_on(out);
    }

    [[gnu::noinline]] void follow_on(aftermath& out) noexcept
    {
        bool const outermost = following() == nullptr;
        if (outermost) following() = &out;
        do {
            if (!out.kicks.empty()) kick_others(out);
            for (; !out.released.empty(); kick_others(out)) {
                while (!out.released.empty()) begin(*out.released.pop(), out);
                wake_all(); // nobody may have armed the devices that they are on now
            }
            deliver(out.done);
        } while (!out.released.empty());
        if (outermost) following() = nullptr;
    }

    // What the calling thread is at.
    static aftermath*& following() noexcept
    {
        static thread_local constinit aftermath* the = nullptr;
        return the;
    }

    void kick_others(aftermath& out) noexcept
    {
        while (!out.kicks.empty()) {
            device_slot* const slot = out.kicks.back();
            out.kicks.pop_back();
            device_lock lock(slot->mutex);
            if (slot->core == nullptr) continue;
            slot->core->kick();
            slot->core->go_on(lock, out);
        }
    }

    static void deliver(region_list& done) noexcept
    {
        while (!done.empty()) {
            region_owner* const owner = done.front()->owner;
            region_list batch = done.pop_owner();
            if (owner != nullptr) {
                owner->completed(std::move(batch));
                continue;
            }
            while (!batch.empty()) {
                region& r = *batch.pop();
                r.end(r, ending::destroy);
            }
        }
    }

    std::atomic<bool> forked_{false};
    std::atomic<bool> closing_{false};
    device_list devices_;
    dependence_graph dependences_;
    group_tree groups_;
    std::mutex several_; // before any device's lock
    std::mutex mutex_;
    std::vector<device_slot*> numbered_;        // guarded by mutex_
    std::vector<device_slot*> free_;            // guarded by mutex_
    handler_thread* handler_threads_ = nullptr; // guarded by mutex_
    std::forward_list<device_place> defaults_;  // guarded by mutex_
    sleepers sleepers_;
};

/// Locks a mutex that may be older than a fork. Not locked: this is the child, and a thread that stayed with its parent was changing what
/// the mutex guards.
inline std::unique_lock<std::mutex> lock_unless_orphaned(std::mutex& m)
{
    if (!registry::instance().forked()) return std::unique_lock(m);
    std::unique_lock lock(m, std::try_to_lock);
    for (int tries = 0; !lock && tries < 1000; ++tries) { // the child's own threads are soon done
        std::this_thread::yield();
        (void)lock.try_lock();
    }
    return lock;
}

/// Why there is nothing behind a device's handle.
inline errc absent() noexcept { return registry::instance().forked() ? errc::forked : errc::device_lost; }

} // namespace omp_co::detail
