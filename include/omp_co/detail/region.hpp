// SPDX-License-Identifier: BSL-1.0
// One construct in flight: its clauses, its kernel, its place in a stream, and whom to tell.
#pragma once

#include <omp_co/backend.hpp>
#include <omp_co/detail/map_item.hpp>
#include <omp_co/diagnostics.hpp>

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace omp_co::detail {

struct region;
struct stream_queue;
struct device_slot;
struct region_order;

/// A singly linked queue of regions.
class region_list {
public:
    region_list() = default;
    region_list(region_list&& other) noexcept
        : first_(std::exchange(other.first_, nullptr)), last_(std::exchange(other.last_, nullptr))
    {
    }
    region_list& operator=(region_list&&) = delete;

    bool empty() const noexcept { return first_ == nullptr; }
    region* front() const noexcept { return first_; }
    inline void push(region& r) noexcept;
    inline region* pop() noexcept;
    inline void append(region_list&& other) noexcept;
    /// Takes the first one, which is there, and those behind it that have the same owner.
    inline region_list pop_owner() noexcept;

private:
    region* first_ = nullptr;
    region* last_ = nullptr;
};

/// Where regions go once they are done.
class region_owner {
public:
    /// Takes regions that are retired or were refused. Any thread; no lock of omp_co is held.
    virtual void completed(region_list&& done) noexcept = 0;

protected:
    ~region_owner() = default;
};

/// How a region ends: its handler runs, or is destroyed without running.
enum class ending { invoke, destroy };

/// A wait of a region for an earlier region of another stream. While the region is parked for it, until that one is enqueued or
/// retired, the stream lists it too.
struct stream_wait {
    stream_wait* next = nullptr;
    stream_queue* stream = nullptr;
    backend::sequence number = 0;
    stream_wait* next_parked = nullptr;
    region* parked = nullptr;
    bool until_retired = false;
    bool foreign = false; ///< the region is another device's, and not the owner of this
};

struct region {
    using end_function = void (*)(region&, ending);

    /// Through a stream that it shares; without commands, parked until all that it follows has retired and it is released;
    /// through a stream where nothing is ever parked for another region, without a place in the order; or through its queue's.
    enum way_through : unsigned char { ordinary, held, express, queued };

    region(end_function f, device_slot* s) noexcept : end(f), slot(s) {}

    region* next = nullptr;
    region* next_short = nullptr; ///< in the queue for memory
    end_function end;             ///< frees the region first, then invokes or destroys the handler
    device_slot* slot;
    region_owner* owner = nullptr; ///< null: nobody waits
    map_item* items = nullptr;
    std::uint32_t item_count = 0;
    std::uint32_t decided = 0; ///< the flags of all its items, once the data environment has decided
    std::uint32_t commands = 0;          ///< it has in the stream
    std::atomic<std::uint32_t> unmet{0}; ///< things it is parked for
    bool needs_memory = false;
    way_through way = ordinary;
    bool arrived = false;                ///< it failed after its copies in were done
    backend::invocation* call = nullptr; ///< null: no kernel
    stream_queue* stream = nullptr;
    stream_wait* waits = nullptr;
    backend::sequence number = 0;
    std::uint64_t serial = 0;
    std::uint32_t generation = 0; ///< of the device that was meant
    std::uint32_t name_length = 0;
    char const* name_text = nullptr;
    error_code error;
    void const* group = nullptr;   ///< the task_group whose member started it
    region_order* order = nullptr; ///< null: the device and the data alone decide when it runs
    diagnostics* why = nullptr;

    std::span<map_item> maps() noexcept { return {items, item_count}; }

    std::string_view name() const noexcept { return {name_text, name_length}; }

    /// The text outlives the region.
    void call_it(std::string_view text) noexcept
    {
        name_text = text.data();
        name_length = static_cast<std::uint32_t>(text.size());
    }

    /// Sets the first error and says why.
    void fail(error_code ec, std::string_view text) noexcept
    {
        if (error) return;
        error = ec;
        explain(text);
    }

    void explain(std::string_view text) noexcept
    {
        if (why == nullptr) return;
        try {
            std::string message(name());
            if (!message.empty()) message += ": ";
            message += error.message();
            if (!text.empty()) (message += ": ") += text;
            why->assign(std::move(message));
        } catch (...) {
            why->clear(); // no memory for words
        }
    }
};

inline void region_list::push(region& r) noexcept
{
    r.next = nullptr;
    (last_ == nullptr ? first_ : last_->next) = &r;
    last_ = &r;
}

inline region* region_list::pop() noexcept
{
    region* const r = first_;
    first_ = r->next;
    if (first_ == nullptr) last_ = nullptr;
    r->next = nullptr;
    return r;
}

inline region_list region_list::pop_owner() noexcept
{
    region* last = first_;
    while (last->next != nullptr && last->next->owner == first_->owner) last = last->next;
    region_list taken;
    taken.first_ = std::exchange(first_, std::exchange(last->next, nullptr));
    taken.last_ = last;
    if (first_ == nullptr) last_ = nullptr;
    return taken;
}

inline void region_list::append(region_list&& other) noexcept
{
    if (other.empty()) return;
    (last_ == nullptr ? first_ : last_->next) = other.first_;
    last_ = other.last_;
    other.first_ = other.last_ = nullptr;
}

} // namespace omp_co::detail
