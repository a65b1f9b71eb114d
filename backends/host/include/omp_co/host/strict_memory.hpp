// SPDX-License-Identifier: BSL-1.0
// What a strict device knows of memory: what is mapped, what of it is outdated on the host, and which memory is its own. It keeps
// hidden what must not be touched: outdated host memory; while no kernel runs, the device's memory; while one runs, host
// memory that is mapped, or that the kernel's closure and arguments point to.
#pragma once

#include <omp_co/detail/host_kernel.hpp>
#include <omp_co/host/range_set.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <vector>

namespace omp_co::host {

/// Any thread.
class strict_memory final : public backend::host_watch {
public:
    strict_memory() = default;
    strict_memory(strict_memory const&) = delete;
    strict_memory& operator=(strict_memory const&) = delete;

    /// What is still mapped is an ordinary part of the host's memory again.
    ~strict_memory() { outdated_.for_each(poison::show); }

    /// What is hidden holds for the whole process: kernels of strict devices, and their copies, take turns. A kernel may have
    /// another one run inside.
    static std::recursive_mutex& turn()
    {
        static std::recursive_mutex& one =
            *new std::recursive_mutex; // static devices outlive other static objects
        return one;
    }

    /// A block of device memory. False: the host has no memory for the note.
    bool add_block(void* block, std::size_t bytes) noexcept
    {
        std::lock_guard const guard(mutex_);
        memory_range const r{static_cast<char*>(block), static_cast<char*>(block) + bytes};
        try {
            blocks_.emplace(r.begin, r.end);
        } catch (...) {
            return false;
        }
        if (kernels_ == 0) poison::hide(r);
        return true;
    }

    void remove_block(void* block) noexcept
    {
        std::lock_guard const guard(mutex_);
        auto const it = blocks_.find(static_cast<char*>(block));
        poison::show({it->first, it->second});
        blocks_.erase(it);
    }

    void mapped(void* host, void* device, std::size_t bytes) noexcept override
    {
        std::lock_guard const guard(mutex_);
        char* const begin = static_cast<char*>(host);
        try {
            mappings_[begin] = {begin + bytes, static_cast<char*>(device)};
        } catch (...) { // then it is not hidden
        }
    }

    void unmapped(void* host) noexcept override
    {
        std::lock_guard const guard(mutex_);
        auto const it = mappings_.find(static_cast<char*>(host));
        if (it == mappings_.end()) return;
        outdated_.remove({it->first, it->second.end}, poison::show);
        mappings_.erase(it);
    }

    void outdated(void* host, std::size_t bytes) noexcept override
    {
        std::lock_guard const guard(mutex_);
        memory_range const r{static_cast<char*>(host), static_cast<char*>(host) + bytes};
        try {
            outdated_.add(r);
            poison::hide(r);
        } catch (...) { // then it is not hidden
        }
    }

    void renewed(void* host, std::size_t bytes) noexcept override
    {
        std::lock_guard const guard(mutex_);
        char* const begin = static_cast<char*>(host);
        outdated_.remove({begin, begin + bytes}, poison::show);
    }

    /// Before a copy, either way, between `host` and `device`: if they are each other's copies they are about to be equal.
    void copying(void const* host, void const* device, std::size_t bytes) noexcept
    {
        std::lock_guard const guard(mutex_);
        char* const begin = static_cast<char*>(const_cast<void*>(host));
        auto it = mappings_.upper_bound(begin);
        if (it == mappings_.begin()) return;
        --it;
        bool const same =
            begin + bytes <= it->second.end && it->second.device + (begin - it->first) == device;
        if (same) outdated_.remove({begin, begin + bytes}, poison::show);
    }

    /// Opens a part of the device's memory for a copy. The turn is the caller's.
    void open(void const* device, std::size_t bytes) noexcept
    {
        std::lock_guard const guard(mutex_);
        if (kernels_ == 0) poison::show(part_of_block(device, bytes));
    }
    void close(void const* device, std::size_t bytes) noexcept
    {
        std::lock_guard const guard(mutex_);
        if (kernels_ == 0) poison::hide(part_of_block(device, bytes));
    }

    /// The kernel has the device's memory from now on. The turn is the caller's.
    void enter_kernel() noexcept
    {
        std::lock_guard const guard(mutex_);
        if (kernels_++ == 0)
            for (auto const& [begin, end] : blocks_) poison::show({begin, end});
    }
    void leave_kernel() noexcept
    {
        std::lock_guard const guard(mutex_);
        if (--kernels_ == 0)
            for (auto const& [begin, end] : blocks_) poison::hide({begin, end});
    }

    /// What of host memory a kernel must not touch, and may touch as things are. Throws std::bad_alloc.
    std::vector<memory_range> forbidden_to(backend::invocation const& call) const
    {
        std::lock_guard const guard(mutex_);
        std::vector<memory_range> all;
        for (auto const& [begin, m] : mappings_) all.push_back({begin, m.end});
        auto const& kernel = *static_cast<omp_co::detail::host_kernel const*>(call.what);
        void const* const closure = kernel.own_closure != nullptr ? kernel.own_closure : call.closure;
        add_objects(all, closure, kernel.closure_bytes);
        for (unsigned i = 0; i < call.argument_count; ++i)
            if ((call.private_arguments >> i & 1U) == 0)
                add_objects(all, call.arguments[i], call.argument_sizes[i]);
        std::erase_if(all, [&](memory_range r) { return is_needed(r, call, closure); });
        std::vector<memory_range> open;
        for (memory_range const r : all) poison::for_each_open(r, [&](memory_range p) { open.push_back(p); });
        return open;
    }

private:
    struct mapping {
        char* end = nullptr;
        char* device = nullptr;
    };

    memory_range block_at(char* p) const noexcept
    {
        auto it = blocks_.upper_bound(p);
        if (it == blocks_.begin()) return {};
        --it;
        memory_range const block{it->first, it->second};
        return block.holds(p) ? block : memory_range();
    }

    // Whole granules: what is hidden again must not leave some of its last bytes open.
    memory_range part_of_block(void const* device, std::size_t bytes) const noexcept
    {
        char* const begin = static_cast<char*>(const_cast<void*>(device));
        memory_range const block = block_at(begin);
        if (block.empty() || bytes == 0) return {};
        std::size_t const before = static_cast<std::size_t>(begin - block.begin) % poison::granule;
        return {begin - before, std::min(poison::next_granule(begin + bytes - 1), block.end)};
    }

    // The objects that the words in these bytes point to, unless it is memory of the device.
    void add_objects(std::vector<memory_range>& all, void const* bytes, std::size_t count) const
    {
        char const* const end = static_cast<char const*>(bytes) + count;
        auto const misaligned = reinterpret_cast<std::uintptr_t>(bytes) % alignof(void*);
        char const* at =
            static_cast<char const*>(bytes) + (misaligned == 0 ? 0 : alignof(void*) - misaligned);
        for (; at + sizeof(char*) <= end; at += sizeof(char*)) {
            char* p = nullptr;
            std::memcpy(&p, at, sizeof p);
            if (p == nullptr || !block_at(p).empty()) continue;
            memory_range const object = poison::object_at(p);
            bool const on_device = std::any_of(mappings_.begin(), mappings_.end(), [&](auto const& m) {
                char* const device = m.second.device;
                return object.overlaps({device, device + (m.second.end - m.first)});
            });
            if (!object.empty() && !on_device) all.push_back(object);
        }
    }

    // Whether omp_co itself reads there while the kernel runs.
    static bool is_needed(memory_range r, backend::invocation const& call, void const* closure) noexcept
    {
        if (r.holds(&call) || r.holds(closure) || r.holds(call.what) || r.holds(call.arguments)) return true;
        if (call.reduce != nullptr && (r.holds(call.reduce) || r.holds(call.reduce->context))) return true;
        return std::any_of(call.arguments, call.arguments + call.argument_count,
                           [&](void const* argument) { return r.holds(argument); });
    }

    mutable std::mutex mutex_;
    std::map<char*, mapping> mappings_; // by where they begin on the host
    std::map<char*, char*> blocks_;
    range_set outdated_;
    unsigned kernels_ = 0; // that run
};

/// The time in which a kernel runs. What it hides was open before, and is open again afterwards.
class kernel_window {
public:
    /// Throws std::bad_alloc.
    kernel_window(strict_memory& memory, backend::invocation const& call)
        : turn_(strict_memory::turn()), memory_(memory), hidden_(memory.forbidden_to(call))
    {
        memory_.enter_kernel();
        for (memory_range const r : hidden_) poison::hide(r);
    }
    kernel_window(kernel_window const&) = delete;
    kernel_window& operator=(kernel_window const&) = delete;
    ~kernel_window()
    {
        for (memory_range const r : hidden_) poison::show(r);
        memory_.leave_kernel();
    }

private:
    std::lock_guard<std::recursive_mutex> turn_;
    strict_memory& memory_;
    std::vector<memory_range> hidden_;
};

} // namespace omp_co::host
