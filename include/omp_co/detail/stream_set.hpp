// SPDX-License-Identifier: BSL-1.0
// The streams of one device, and which of them a region gets.
#pragma once

#include <omp_co/backend.hpp>
#include <omp_co/detail/stream_queue.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace omp_co::detail {

/// Guarded by its device's lock.
class stream_set {
public:
    /// How many regions were accepted, and how many of them have not retired.
    struct traffic {
        std::uint64_t accepted;
        std::uint64_t in_flight;
    };

    explicit stream_set(backend::device& device) noexcept : device_(device), traits_(device.traits()) {}

    /// Whether pick() finds a stream for an ordinary region, and reserve() need not be called.
    bool has_one(traffic now) const noexcept
    {
        if (streams_.size() < traits_.concurrency || streams_.empty()) return false;
        return idle(*streams_.front()) || goes_on(*streams_.front(), now);
    }

    /// Makes sure that pick() finds a stream. Throws std::bad_alloc.
    error_code reserve(region::way_through way, traffic now)
    {
        if (way == region::ordinary) return enough(now) ? error_code() : add_ordinary();
        if (way == region::queued) return {};
        if (way == region::held) {
            reserve_place();
            return {};
        }
        if (express_ != nullptr) return {};
        error_code ec;
        std::unique_ptr<backend::stream> created = device_.create_stream(ec);
        if (created) express_ = std::make_unique<stream_queue>(std::move(created));
        return ec;
    }

    /// `followed`: the stream of unfinished work that the region must follow, if it is about to write what that wrote. Else
    /// the least loaded one.
    [[gnu::hot]] stream_queue& pick(region::way_through way, stream_queue* followed, traffic now) noexcept
    {
        if (way == region::held) return *places_.back();
        if (way == region::express) return *express_;
        if (followed != nullptr) return *followed;
        if (streams_.size() == 1 || idle(*streams_.front())) return *streams_.front();
        stream_queue& best = least_loaded(now);
        return goes_on(best, now) ? best : least_loaded_that_goes_on(now);
    }

    /// A stream for a queue alone; null, and why, if there is none. Throws std::bad_alloc.
    stream_queue* open_queue(error_code& ec)
    {
        auto const spare = std::find_if(queues_.begin(), queues_.end(),
                                        [](auto const& s) { return !s->ordered && idle(*s); });
        if (spare != queues_.end()) {
            (*spare)->ordered = true;
            return spare->get();
        }
        queues_.reserve(queues_.size() + 1);
        std::unique_ptr<backend::stream> created = device_.create_stream(ec);
        if (!created) return nullptr;
        queues_.push_back(std::make_unique<stream_queue>(std::move(created)));
        queues_.back()->ordered = true;
        return queues_.back().get();
    }

    /// The same on a stream of the program's, for this queue only. Throws std::bad_alloc.
    stream_queue* adopt(void* native, error_code& ec)
    {
        queues_.reserve(queues_.size() + 1);
        std::unique_ptr<backend::stream> adopted = device_.adopt_stream(native, ec);
        if (!adopted) return nullptr;
        auto const left = std::find_if(queues_.begin(), queues_.end(),
                                       [](auto const& s) { return s->adopted && s->commands == nullptr; });
        if (left != queues_.end()) { // by an earlier one, whose numbers go on
            (*left)->commands = std::move(adopted);
            return left->get();
        }
        queues_.push_back(std::make_unique<stream_queue>(std::move(adopted)));
        queues_.back()->ordered = queues_.back()->adopted = true;
        return queues_.back().get();
    }

    /// The queue is gone, and nothing of it is in flight. What was accepted so far may wait for a stream and name it.
    static void close_queue(stream_queue& s, std::uint64_t latest) noexcept
    {
        if (s.adopted)
            s.closed = latest + 1;
        else
            s.ordered = false;
    }

    /// Lets go of the program's streams whose queues are gone. `next`: the serial of the next region.
    void forget_closed(std::uint64_t next) noexcept
    {
        std::uint64_t const oldest = oldest_in_flight(next);
        for (auto const& s : queues_)
            if (s->closed != 0 && s->closed <= oldest) {
                s->commands.reset();
                s->closed = 0;
            }
    }

    /// Streams may be added meanwhile.
    template <class F>
    void for_each(F f)
    {
        for (std::size_t i = 0; i < streams_.size(); ++i) f(*streams_[i]);
        for (std::size_t i = 0; i < queues_.size(); ++i) f(*queues_[i]);
        for (std::size_t i = 0; i < places_.size(); ++i) f(*places_[i]);
        if (express_ != nullptr) f(*express_);
    }

    template <class F>
    bool any_of(F f) const
    {
        auto const one = [&](auto const& s) { return f(std::as_const(*s)); };
        return std::any_of(streams_.begin(), streams_.end(), one) ||
               std::any_of(queues_.begin(), queues_.end(), one) ||
               std::any_of(places_.begin(), places_.end(), one) || (express_ != nullptr && one(express_));
    }

    /// Whether a region is in flight of which `which(region)` is true.
    template <class Predicate>
    bool any_region(Predicate which) const
    {
        return any_of([&](stream_queue const& s) {
            if (s.current != nullptr && which(*s.current)) return true;
            for (region_list const* list : {&s.flying, &s.parked})
                for (region const* r = list->front(); r != nullptr; r = r->next)
                    if (which(*r)) return true;
            return false;
        });
    }

    static bool idle(stream_queue const& s) noexcept
    {
        return s.parked.empty() && s.flying.empty() && !s.enqueuing;
    }

private:
    // The serial of the first region that has not retired.
    std::uint64_t oldest_in_flight(std::uint64_t next) const noexcept
    {
        std::uint64_t oldest = next;
        (void)any_of([&](stream_queue const& s) {
            for (region const* const r :
                 std::initializer_list<region const*>{s.current, s.flying.front(), s.parked.front()})
                if (r != nullptr) oldest = std::min(oldest, r->serial);
            return false;
        });
        return oldest;
    }

    bool enough(traffic now) const noexcept
    {
        return streams_.size() >= traits_.concurrency &&
               std::any_of(streams_.begin(), streams_.end(), [&](auto const& s) { return goes_on(*s, now); });
    }

    // Until a region retires, no stream has less than the last one picked had: it goes round, and few streams are looked at.
    stream_queue& least_loaded(traffic now) noexcept
    {
        std::uint64_t const retired = now.accepted - now.in_flight;
        if (std::exchange(retired_, retired) != retired) least_ = 0;
        std::size_t best = picked_;
        std::uint64_t load = std::numeric_limits<std::uint64_t>::max();
        for (std::size_t i = 0, at = picked_; i < streams_.size() && load > least_; ++i) {
            at = at + 1 < streams_.size() ? at + 1 : 0;
            if (streams_[at]->load() >= load) continue;
            best = at;
            load = streams_[at]->load();
        }
        least_ = load;
        picked_ = best;
        return *streams_[best];
    }

    // The least loaded one of all if none does.
    [[gnu::noinline]] stream_queue& least_loaded_that_goes_on(traffic now) noexcept
    {
        stream_queue* best = nullptr;
        for (auto const& s : streams_)
            if (goes_on(*s, now) && (best == nullptr || s->load() < best->load())) best = s.get();
        return best != nullptr ? *best : least_loaded(now);
    }

    // Whether a region that is put there now is likely to be started soon.
    bool goes_on(stream_queue const& s, traffic now) const noexcept { return !stalled(s) && !stuck(s, now); }

    error_code add_ordinary()
    {
        if (streams_.size() >= traits_.max_streams) return {};
        streams_.reserve(streams_.size() + 1);
        error_code ec;
        std::unique_ptr<backend::stream> created = device_.create_stream(ec);
        if (!created) return streams_.empty() ? ec : error_code();
        streams_.push_back(std::make_unique<stream_queue>(std::move(created)));
        return {};
    }

    // The last one is free.
    void reserve_place()
    {
        auto const free =
            std::find_if(places_.begin(), places_.end(), [](auto const& s) { return idle(*s); });
        if (free == places_.end())
            places_.push_back(std::make_unique<stream_queue>(nullptr));
        else
            std::iter_swap(free, places_.end() - 1);
    }

    bool stalled(stream_queue const& s) const noexcept
    {
        return !s.parked.empty() || (s.enqueuing && traits_.inline_execution);
    }

    // Whether the kernel at the head has been overtaken by many more regions than were in flight.
    static bool stuck(stream_queue const& s, traffic now) noexcept
    {
        region const* const head = s.flying.front();
        return head != nullptr && now.accepted - head->serial > 4 * now.in_flight + 64;
    }

    backend::device& device_;
    backend::properties const& traits_;
    std::vector<std::unique_ptr<stream_queue>> streams_;
    std::vector<std::unique_ptr<stream_queue>> queues_;
    std::vector<std::unique_ptr<stream_queue>> places_; ///< of regions that are held
    std::unique_ptr<stream_queue> express_;             ///< of regions for which others wait that are held

    // Of least_loaded().
    std::size_t picked_ = 0;
    std::uint64_t least_ = 0;   ///< what that one had
    std::uint64_t retired_ = 0; ///< regions, at that time
};

} // namespace omp_co::detail
