// SPDX-License-Identifier: BSL-1.0
// Handles: numbers that are never used twice, so that one which was destroyed is known as such.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>

namespace omp_co_sim {

/// The living objects of one kind. A place for each handle that was ever given: looking one up is what every call begins with.
template <class Handle, class T>
class table {
public:
    /// `kind` keeps the handles of different tables apart.
    explicit table(std::uint64_t kind) : first_(0x0000'5100'0000'0000 | (kind << 36)), base_(first_) {}

    /// Gives the object its handle. `creator` is named in the list of leaks.
    void add(std::shared_ptr<T> const& object, std::string creator)
    {
        object->handle = reinterpret_cast<Handle>(next());
        places_.push_back({object, std::move(creator)});
    }

    /// Null when there is none (any more). The answer changes when it is removed.
    std::shared_ptr<T> const& find(Handle handle) const
    {
        std::uint64_t const at = number(handle) - base_;
        return at % step != 0 || at / step >= places_.size() ? none_ : places_[at / step].object;
    }

    bool was(Handle handle) const
    {
        auto const n = number(handle);
        return n >= first_ && n < next() && !find(handle);
    }

    void remove(Handle handle)
    {
        if (find(handle)) remove(places_[(number(handle) - base_) / step]);
    }

    template <class Predicate>
    void remove_if(Predicate predicate)
    {
        for (place& p : places_)
            if (p.object && predicate(*p.object)) remove(p);
    }

    template <class Visitor>
    void each(Visitor visitor) const
    {
        for (place const& p : places_)
            if (p.object) visitor(p.object, p.creator);
    }

    void clear()
    {
        base_ = next();
        std::deque<place>().swap(places_);
    }

private:
    struct place {
        std::shared_ptr<T> object;
        std::string creator;
    };
    static constexpr std::uint64_t step = 16;
    static std::uint64_t number(Handle handle) { return reinterpret_cast<std::uint64_t>(handle); }
    std::uint64_t next() const { return base_ + places_.size() * step; }

    static void remove(place& p)
    {
        auto const last = std::exchange(p, {}); // its end may ask for others here
    }

    std::uint64_t first_;
    std::uint64_t base_; ///< of the first place: those before it went in clear()
    std::deque<place> places_;
    static inline std::shared_ptr<T> const none_;
};

} // namespace omp_co_sim
