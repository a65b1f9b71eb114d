// SPDX-License-Identifier: BSL-1.0
// Handles: numbers that are never used twice, so that one which was destroyed is known as such.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace omp_co_sim {

/// The living objects of one kind.
template <class Handle, class T>
class table {
public:
    /// `kind` keeps the handles of different tables apart.
    explicit table(std::uint64_t kind) : first_(0x0000'5100'0000'0000 | (kind << 36)), next_(first_) {}

    /// Gives the object its handle. `creator` is named in the list of leaks.
    void add(std::shared_ptr<T> const& object, std::string creator)
    {
        object->handle = reinterpret_cast<Handle>(next_);
        live_.emplace(next_, entry{object, std::move(creator)});
        next_ += step;
    }

    /// Null when there is none (any more).
    std::shared_ptr<T> find(Handle handle) const
    {
        auto const at = live_.find(number(handle));
        return at == live_.end() ? nullptr : at->second.object;
    }

    bool was(Handle handle) const
    {
        auto const n = number(handle);
        return n >= first_ && n < next_ && !live_.contains(n);
    }

    void remove(Handle handle) { live_.erase(number(handle)); }

    template <class Predicate>
    void remove_if(Predicate predicate)
    {
        std::erase_if(live_, [&](auto const& item) { return predicate(*item.second.object); });
    }

    template <class Visitor>
    void each(Visitor visitor) const
    {
        for (auto const& [n, e] : live_) visitor(e.object, e.creator);
    }

    void clear() { live_.clear(); }

private:
    struct entry {
        std::shared_ptr<T> object;
        std::string creator;
    };
    static constexpr std::uint64_t step = 16;
    static std::uint64_t number(Handle handle) { return reinterpret_cast<std::uint64_t>(handle); }

    std::uint64_t first_;
    std::uint64_t next_;
    std::unordered_map<std::uint64_t, entry> live_;
};

} // namespace omp_co_sim
