// SPDX-License-Identifier: BSL-1.0
// Which task_group was made by a member of which other one.
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>

namespace omp_co::detail {

/// Any thread. Groups are addresses here, and none is looked into: a region may name one that is gone.
class group_tree {
public:
    group_tree() = default;
    group_tree(group_tree const&) = delete;
    group_tree& operator=(group_tree const&) = delete;

    /// Throws std::bad_alloc.
    void add(void const* group, void const* outer)
    {
        std::lock_guard guard(mutex_);
        outer_[group] = outer;
        size_.store(outer_.size(), std::memory_order_release);
    }

    void remove(void const* group) noexcept
    {
        std::lock_guard guard(mutex_);
        outer_.erase(group);
        size_.store(outer_.size(), std::memory_order_release);
    }

    /// A child must not find the lock taken by a thread that it does not have.
    void before_fork() noexcept { mutex_.lock(); }
    void after_fork() noexcept { mutex_.unlock(); }

    /// Whether `group`, null if there is none, is `outer` or was made in it.
    bool is_within(void const* group, void const* outer) const noexcept
    {
        if (group == outer) return true;
        if (group == nullptr || size_.load(std::memory_order_acquire) == 0) return false;
        std::lock_guard guard(mutex_);
        for (std::size_t steps = outer_.size(); steps != 0; --steps) {
            auto const at = outer_.find(group);
            if (at == outer_.end()) return false;
            group = at->second;
            if (group == outer) return true;
        }
        return false;
    }

private:
    mutable std::mutex mutex_;                 // behind any other
    std::map<void const*, void const*> outer_; // guarded by mutex_; of the groups that have one
    std::atomic<std::size_t> size_{0};
};

} // namespace omp_co::detail
