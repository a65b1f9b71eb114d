// SPDX-License-Identifier: BSL-1.0
// The executors of a task_group's members and of a queue's users, and the way from a handler's executor to its context's own.
#pragma once

#include <omp_co/detail/asio.hpp>

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <type_traits>
#include <utility>

namespace omp_co::detail {

/// A queue, as far as executors know it.
struct any_queue : boost::intrusive_ref_counter<any_queue> {
    virtual ~any_queue() = default;
};

/// An executor that carries a mark: handlers keep it, and their operations find it.
template <class Inner, class Mark>
class marked_executor {
public:
    marked_executor(Inner inner, Mark mark) noexcept : inner_(std::move(inner)), mark_(std::move(mark)) {}

    Inner const& inner() const noexcept { return inner_; }
    Mark const& mark() const noexcept { return mark_; }

    template <class Property>
    requires asio::can_query<Inner const&, Property>::value decltype(auto) query(Property const& p) const
    {
        return asio::query(inner_, p);
    }

    template <class Property>
    requires asio::can_require<Inner const&, Property>::value auto require(Property const& p) const
    {
        return remarked(asio::require(inner_, p));
    }

    template <class Property>
    requires asio::can_prefer<Inner const&, Property>::value auto prefer(Property const& p) const
    {
        return remarked(asio::prefer(inner_, p));
    }

    template <class F>
    void execute(F&& f) const
    {
        inner_.execute(std::forward<F>(f));
    }

    friend bool operator==(marked_executor const& a, marked_executor const& b) noexcept
    {
        return a.mark_ == b.mark_ && a.inner_ == b.inner_;
    }

private:
    template <class Other>
    marked_executor<Other, Mark> remarked(Other other) const
    {
        return {std::move(other), mark_};
    }

    Inner inner_;
    Mark mark_;
};

/// Whose member a handler belongs to, so that a task_group can tell its regions from others.
struct group_mark {
    void const* group;
    friend bool operator==(group_mark, group_mark) noexcept = default;
};
using group_executor = marked_executor<asio::strand<asio::any_io_executor>, group_mark>;

/// The queue of the plain constructs of a handler.
class queue_mark {
public:
    explicit queue_mark(any_queue* q) noexcept : queue_(q) {}
    queue_mark(queue_mark const& other) noexcept
        : queue_(other.queue_) {} // intrusive_ptr's does not say noexcept
    queue_mark& operator=(queue_mark const&) = delete;

    any_queue* queue() const noexcept { return queue_.get(); }
    friend bool operator==(queue_mark const& a, queue_mark const& b) noexcept
    {
        return a.queue() == b.queue();
    }

private:
    boost::intrusive_ptr<any_queue> queue_;
};
using queue_executor = marked_executor<asio::any_io_executor, queue_mark>;

/// The first thing that `found(mark)` gives for the marks of this executor and of those within it, strands' too; null if there is
/// none.
template <class Executor, class Found>
auto find_in_marks(Executor const& ex, Found found) noexcept -> decltype(found(group_mark{}))
{
    if constexpr (std::is_same_v<Executor, group_executor> || std::is_same_v<Executor, queue_executor>) {
        if (auto const here = found(ex.mark())) return here;
        return find_in_marks(ex.inner(), found);
    } else if constexpr (std::is_same_v<Executor, asio::any_io_executor>) {
        if (auto const* const g = ex.template target<group_executor>()) return find_in_marks(*g, found);
        if (auto const* const q = ex.template target<queue_executor>()) return find_in_marks(*q, found);
        if (auto const* const s = ex.template target<asio::strand<asio::any_io_executor>>())
            return find_in_marks(*s, found);
        if (auto const* const s = ex.template target<asio::strand<group_executor>>())
            return find_in_marks(*s, found);
        if (auto const* const s = ex.template target<asio::strand<queue_executor>>())
            return find_in_marks(*s, found);
    } else if constexpr (std::is_same_v<Executor, asio::strand<asio::any_io_executor>> ||
                         std::is_same_v<Executor, asio::strand<group_executor>> ||
                         std::is_same_v<Executor, asio::strand<queue_executor>>) {
        return find_in_marks(ex.get_inner_executor(), found);
    }
    return nullptr;
}

/// The group whose member a handler with this executor belongs to, null if there is none.
template <class Executor>
void const* group_of(Executor const& ex) noexcept
{
    struct {
        void const* operator()(group_mark m) const noexcept { return m.group; }
        void const* operator()(queue_mark const&) const noexcept { return nullptr; }
    } const found;
    return find_in_marks(ex, found);
}

/// The queue that was bound to a handler's executor, null if there is none.
template <class Executor>
any_queue* queue_of(Executor const& ex) noexcept
{
    struct {
        any_queue* operator()(group_mark) const noexcept { return nullptr; }
        any_queue* operator()(queue_mark const& m) const noexcept { return m.queue(); }
    } const found;
    return find_in_marks(ex, found);
}

asio::any_io_executor base_executor(asio::any_io_executor const& ex);

/// The executor below strands, type-erased: a context's own, where it leads there; empty if it cannot be erased.
template <class Executor>
asio::any_io_executor base_executor(Executor const& ex)
{
    if constexpr (std::is_convertible_v<Executor, asio::any_io_executor>)
        return ex;
    else
        return {};
}

template <class Inner>
asio::any_io_executor base_executor(asio::strand<Inner> const& ex)
{
    return base_executor(ex.get_inner_executor());
}

inline asio::any_io_executor base_executor(group_executor const& ex)
{
    return base_executor(ex.inner().get_inner_executor());
}

inline asio::any_io_executor base_executor(queue_executor const& ex) { return base_executor(ex.inner()); }

inline asio::any_io_executor base_executor(asio::any_io_executor const& ex)
{
    if (auto const* s = ex.target<asio::strand<asio::io_context::executor_type>>())
        return s->get_inner_executor();
    if (auto const* s = ex.target<asio::strand<asio::thread_pool::executor_type>>())
        return s->get_inner_executor();
    if (auto const* s = ex.target<asio::strand<asio::any_io_executor>>())
        return base_executor(s->get_inner_executor());
    if (auto const* s = ex.target<asio::strand<queue_executor>>())
        return base_executor(s->get_inner_executor());
    if (auto const* g = ex.target<group_executor>()) return base_executor(*g);
    if (auto const* q = ex.target<queue_executor>()) return base_executor(*q);
    return ex;
}

} // namespace omp_co::detail
