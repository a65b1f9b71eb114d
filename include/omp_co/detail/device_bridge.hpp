// SPDX-License-Identifier: BSL-1.0
// A copy between two devices. It has a place in the order of both, from its initiation until the data is there.
#pragma once

#include <omp_co/detail/loop.hpp>
#include <omp_co/detail/recycler.hpp>
#include <omp_co/device.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <new>
#include <string_view>
#include <utility>

namespace omp_co::detail {

/// One motion, and of a box its shape.
struct raw_motion {
    device where;
    map_item item;
    backend::box shape;
};

/// On each device two regions are accepted, one right behind the other. The first is done when all that came before is. Then
/// the data is copied by regions that are in no order: directly where one device reads the other's memory or one of them has its memory
/// on the host, else through the host. The second one keeps later ones back until that is over.
class device_bridge final : public region_owner {
public:
    /// Ends `user`, which the loop has taken in, when all is over, and before that its place among what depends on it. `out` and `in` have no gaps on the host's side.
    static void start(region& user, raw_motion const& out, raw_motion const& in, std::size_t bytes) noexcept
    {
        device_bridge* made = nullptr;
        try {
            made = ::new (static_cast<void*>(recycling<device_bridge>().allocate(1)))
                device_bridge(user, out, in, bytes);
        } catch (std::bad_alloc const&) {
            user.fail(make_error_code(errc::out_of_memory), "no host memory for a copy between devices");
            return registry::hand_over(user);
        }
        made->take_places();
    }

private:
    struct side {
        explicit side(raw_motion const& m, std::uint32_t use) noexcept
            : motion(m), before(&never, m.where.slot()), behind(&never, m.where.slot())
        {
            for (map_item* const item : {&before_item, &behind_item}) {
                item->device = m.item.device;
                item->bytes = m.item.bytes;
                item->flags = map_raw | map_outside | use;
            }
            connect(before, before_item, m.where);
            connect(behind, behind_item, m.where);
            before.way = behind.way = region::held;
            behind.unmet.store(1, std::memory_order_relaxed);
        }

        raw_motion motion;
        map_item before_item;
        map_item behind_item;
        region before;
        region behind;
    };

    device_bridge(region& user, raw_motion const& out, raw_motion const& in, std::size_t bytes) noexcept
        : user_(user), from_(out, map_used), to_(in, map_written), work_(&never, nullptr), bytes_(bytes)
    {
        for (side* const s : {&from_, &to_})
            for (region* const r : {&s->before, &s->behind}) {
                r->owner = this;
                r->group = user.group;
            }
    }

    // Regions of a bridge go to their owner.
    static void never(region&, ending) noexcept {}

    static void connect(region& r, map_item& item, device where) noexcept
    {
        r.slot = where.slot();
        r.generation = where.generation();
        r.items = &item;
        r.item_count = 1;
    }

    void take_places() noexcept
    {
        registry::instance().submit_held(from_.before, from_.behind, to_.before, to_.behind);
        passed();
    }

    // Any thread; no lock of omp_co is held.
    void completed(region_list&& done) noexcept override
    {
        while (!done.empty()) {
            region& r = *done.pop();
            if (&r == &from_.before || &r == &to_.before)
                passed();
            else if (&r == &work_)
                go_on();
            else
                left(); // the last one ends this object
        }
    }

    // All places are taken, or refused, and both devices have come to them.
    void passed() noexcept
    {
        if (awaited_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
        for (region const* const r : {&from_.before, &from_.behind, &to_.before, &to_.behind})
            if (r->error) user_.fail(r->error, {});
        go_on();
    }

    void go_on() noexcept
    {
        if (work_.error && !user_.error) user_.error = work_.error; // it has told why
        int const now = step_++;
        if (now == 0 && !user_.error) {
            if (directly()) return;
            staging_.reset(new (std::nothrow) char[bytes_]);
            if (staging_ != nullptr) return copy(from_.motion, map_copy_out, staging_.get());
            user_.fail(make_error_code(errc::out_of_memory), "no host memory to copy through");
        }
        if (now == 1 && !user_.error && staging_ != nullptr)
            return copy(to_.motion, map_written | map_copy_in, staging_.get());
        staging_.reset();
        if (user_.error) to_.behind.fail(user_.error, {}); // what was to come never arrived
        registry::instance().release_held(from_.behind);
        registry::instance().release_held(to_.behind);
        left();
    }

    // Of two that both could it is the one that has a thread for it.
    bool directly() noexcept
    {
        backend::device* const source = device_of(from_);
        backend::device* const target = device_of(to_);
        if (source == nullptr || target == nullptr) return false; // who copies will say so
        bool const from_host =
            is_on_host(*source) && !(is_on_host(*target) && target->traits().inline_execution);
        if (!from_host && is_on_host(*target)) {
            from_.motion.shape.host = to_.motion.shape.device;
            copy(from_.motion, map_copy_out, to_.motion.item.device);
            return true;
        }
        backend::box const& shape = to_.motion.shape;
        bool const many = shape.row != 0 && shape.rows * shape.slices > most_rows;
        if (!from_host && (many || !target->reads(*source))) return false;
        to_.motion.shape.host = from_.motion.shape.device;
        copy(to_.motion, map_written | (from_host ? map_copy_in : map_from_device),
             from_.motion.item.device, source);
        return true;
    }

    // It stays as long as a place on it is held. Null: it is lost.
    static backend::device* device_of(side const& s) noexcept
    {
        backend::device* found = nullptr;
        (void)registry::instance().with(*s.before.slot, s.before.generation,
                                        [&](device_core& core) { found = &core.device(); });
        return found;
    }

    // A device that checks who uses its memory lets its own streams do so only.
    static bool is_on_host(backend::device& d) noexcept
    {
        return d.traits().host_accessible && d.watch() == nullptr;
    }

    void copy(raw_motion const& m, std::uint32_t how, void* other, backend::device* source = nullptr) noexcept
    {
        item_ = map_item();
        item_.device = m.item.device;
        item_.bytes = m.item.bytes;
        item_.host = other;
        item_.source = source;
        item_.flags = map_raw | map_unordered | how;
        if (m.shape.row != 0) item_.shape = &m.shape;
        std::destroy_at(&work_);
        std::construct_at(&work_, &never, nullptr);
        connect(work_, item_, m.where);
        work_.owner = this;
        work_.group = user_.group;
        work_.call_it(user_.name());
        work_.why = user_.why;
        work_.way = region::express;
        registry::instance().submit(work_);
    }

    void left() noexcept
    {
        if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) end();
    }

    void end() noexcept
    {
        if (to_.behind.error) user_.fail(to_.behind.error, {});
        region& user = user_;
        std::destroy_at(this);
        recycling<device_bridge>().deallocate(this, 1);
        registry::hand_over(user);
    }

    /// Each is a command of its own, and a stream takes so many.
    static constexpr std::size_t most_rows = 64;

    region& user_;
    side from_;
    side to_;
    map_item item_;
    region work_;
    std::size_t bytes_;
    std::unique_ptr<char[]> staging_;
    std::atomic<int> awaited_{3};
    std::atomic<int> left_{3};
    int step_ = 0;
};

} // namespace omp_co::detail
