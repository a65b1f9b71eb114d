// SPDX-License-Identifier: BSL-1.0
// What the data clauses of a construct ask of the data environment: one map item a clause, and more for blocks, pointers
// that are joined, and types with a mapper.
#pragma once

#include <omp_co/detail/clause_traits.hpp>
#include <omp_co/detail/map_item.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <tuple>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

namespace omp_co::detail {

template <class Clause>
inline constexpr bool is_attach_clause = false;
template <class T>
inline constexpr bool is_attach_clause<attach_clause<T>> = true;

/// How many items a clause has before those of its mapper: a pointer, and what it points to, are two. The end of a data
/// region joins nothing.
template <construct Construct, class Clause>
inline constexpr std::size_t items_of = !clause_traits<Clause>::maps       ? 0
                                        : !is_attach_clause<Clause>        ? 1
                                        : Construct == construct::end_data ? 0
                                                                           : 2;

template <class Clause>
inline constexpr bool uses_mapper = false;
template <map_type Type, class T>
inline constexpr bool uses_mapper<map_clause<Type, T>> = has_mapper<T>;
template <class Clause>
inline constexpr bool uses_mapper<also_clause<Clause>> = uses_mapper<Clause>;

/// The two items that join a pointer to the `count` elements that it points to.
template <class T>
void make_attach_items(map_item* two, T** pointer, std::size_t count) noexcept
{
    two[0].host = pointer;
    two[0].bytes = sizeof(void*);
    two[0].flags = map_attach | map_used;
    two[1].host = const_cast<void*>(static_cast<void const volatile*>(*pointer));
    two[1].bytes = count * sizeof(T);
    two[1].flags = map_used | map_attach_target;
}

/// What a clause says; the rest is as it was made. Copying whole items would show in the cost of a region.
constexpr void set(map_item& item, map_item const& said) noexcept
{
    item.host = said.host;
    item.bytes = said.bytes;
    item.flags = said.flags;
    item.name = said.name;
}

/// The items that a clause has before those of its mapper.
template <construct Construct, class Clause>
void make_items(Clause const& c, [[maybe_unused]] map_item* first) noexcept
{
    if constexpr (items_of<Construct, Clause> == 2)
        make_attach_items(first, c.pointer(), c.count());
    else if constexpr (items_of<Construct, Clause> == 1)
        set(*first, make_item<Construct>(c));
}

/// As many items as the clauses say when the program is compiled.
template <construct Construct, class... Clauses>
class clause_items {
public:
    static constexpr std::size_t count = (std::size_t{0} + ... + items_of<Construct, Clauses>);

    explicit clause_items(std::tuple<Clauses...> const& c) noexcept
    {
        std::size_t item = 0;
        std::size_t box = 0;
        std::apply([&](Clauses const&... each) { (add(each, item, box), ...); }, c);
    }

    bool valid() const noexcept { return true; }

    /// Where they stay from now on.
    std::span<map_item> connect() noexcept
    {
        [[maybe_unused]] std::size_t item = 0;
        [[maybe_unused]] std::size_t box = 0;
        [[maybe_unused]] std::size_t join = 0;
        if constexpr (boxes != 0 || joins != 0) (connect_one<Clauses>(item, box, join), ...);
        return items_;
    }

private:
    static constexpr std::size_t boxes = (std::size_t{0} + ... + std::size_t{is_box_clause<Clauses>});
    static constexpr std::size_t joins = (std::size_t{0} + ... + std::size_t{is_attach_clause<Clauses>});

    template <class Clause>
    void add(Clause const& c, std::size_t& item, [[maybe_unused]] std::size_t& box) noexcept
    {
        make_items<Construct>(c, items_.data() + item);
        if constexpr (is_box_clause<Clause>) boxes_[box++] = c.memory().shape();
        item += items_of<Construct, Clause>;
    }

    template <class Clause>
    void connect_one(std::size_t& item, std::size_t& box, std::size_t& join) noexcept
    {
        if constexpr (is_box_clause<Clause>) items_[item].shape = &boxes_[box++];
        if constexpr (is_attach_clause<Clause> && Construct != construct::end_data)
            items_[item].attached = &joins_[join++];
        item += items_of<Construct, Clause>;
    }

    std::array<map_item, count> items_;
    [[no_unique_address]] std::array<backend::box, boxes> boxes_;
    [[no_unique_address]] std::array<attachment, joins> joins_;
};

/// As many items as the mappers of the clauses' types say when the construct starts.
template <construct Construct, class... Clauses>
requires(uses_mapper<Clauses> || ...) class clause_items<Construct, Clauses...> {
public:
    static constexpr std::size_t count = (std::size_t{0} + ... + items_of<Construct, Clauses>);

    /// Throws std::bad_alloc.
    explicit clause_items(std::tuple<Clauses...> const& c)
    {
        items_.resize(count);
        std::size_t item = 0;
        std::apply([&](Clauses const&... each) { (add(each, item), ...); }, c);
        std::apply([&](Clauses const&... each) { (add_members_of(each), ...); }, c);
        seen_.reset();
    }

    bool valid() const noexcept { return valid_; }

    std::span<map_item> connect() noexcept
    {
        std::size_t box = 0;
        std::size_t join = 0;
        for (map_item& item : items_) {
            if (item.has(map_attach)) item.attached = &joins_[join++];
            if (item.has(map_box)) item.shape = &boxes_[box++];
        }
        return items_;
    }

private:
    template <class Clause>
    void add(Clause const& c, std::size_t& item)
    {
        make_items<Construct>(c, items_.data() + item);
        if constexpr (uses_mapper<Clause>) items_[item].flags |= map_structure;
        if constexpr (items_of<Construct, Clause> == 2) joins_.emplace_back();
        if constexpr (is_box_clause<Clause>) {
            items_[item].flags |= map_box;
            boxes_.push_back(c.memory().shape());
        }
        item += items_of<Construct, Clause>;
    }

    template <class Clause>
    void add_members_of(Clause const& c)
    {
        if constexpr (requires { c.clause(); }) {
            add_members_of(c.clause());
        } else if constexpr (uses_mapper<Clause>) {
            std::uint32_t const flags = make_item<Construct>(c).flags;
            for (std::size_t i = 0; i < c.memory().size(); ++i) add_members(c.memory().data()[i], flags);
        }
    }

    template <class T>
    void add_members(T& object, std::uint32_t flags)
    {
        using value = std::remove_cv_t<T>;
        std::apply([&](auto const&... each) { (add_member(each, flags), ...); },
                   mapper<value>::members(const_cast<value&>(object)));
    }

    template <class T>
    void add_member(nested_member<T> const& m, std::uint32_t flags)
    {
        static_assert(has_mapper<T>, "omp_co: nested() names a member whose type has a mapper");
        add_members(*m.object(), flags);
    }

    template <class T>
    void add_member(pointee_member<T> const& m, std::uint32_t flags)
    {
        static_assert(std::is_trivially_copyable_v<T> || has_mapper<T>,
                      "omp_co: only trivially copyable elements can be copied to a device and back");
        valid_ = valid_ && m.valid();
        T* const first = *m.pointer();
        if (first == nullptr || m.count() == 0) return;
        void* const memory = const_cast<void*>(static_cast<void const volatile*>(first));
        if constexpr (has_mapper<T>)
            if (!first_visit(memory)) return join(m, flags);
        map_item item;
        item.host = memory;
        item.bytes = m.count() * sizeof(T);
        item.flags = std::is_const_v<T> ? flags & ~std::uint32_t{map_from | map_written} : flags;
        if constexpr (has_mapper<T>) item.flags |= map_structure;
        items_.push_back(item);
        join(m, flags);
        if constexpr (has_mapper<T>)
            for (std::size_t i = 0; i < m.count(); ++i) add_members(first[i], flags);
    }

    template <class T>
    void join(pointee_member<T> const& m, std::uint32_t flags)
    {
        if ((flags & map_enter) == 0) return;
        std::size_t const at = items_.size();
        items_.resize(at + 2);
        make_attach_items(&items_[at], m.pointer(), m.count());
        joins_.emplace_back();
    }

    // Lists may be closed to rings.
    bool first_visit(void const* object)
    {
        if (seen_ == nullptr) seen_ = std::make_unique<std::unordered_set<void const*>>();
        return seen_->insert(object).second;
    }

    std::vector<map_item> items_;
    std::vector<backend::box> boxes_;
    std::vector<attachment> joins_;
    std::unique_ptr<std::unordered_set<void const*>> seen_; // while it is built
    bool valid_ = true;
};

} // namespace omp_co::detail
