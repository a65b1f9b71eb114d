// SPDX-License-Identifier: BSL-1.0
// Device memory of the program's own in the present table: allocated by it (omp_target_alloc), or associated with host memory
// (omp_target_associate_ptr).
#pragma once

#include <omp_co/detail/present_table.hpp>
#include <omp_co/error.hpp>

#include <cstddef>
#include <cstdint>

namespace omp_co::detail {

class program_memory {
public:
    /// `latest`: serial of the region that was accepted last. `unified`: the device reads host memory.
    program_memory(present_table& table, std::uint64_t latest, bool unified) noexcept
        : table_(table), latest_(latest), unified_(unified)
    {
    }

    /// Puts allocated memory into the table. `on_host_too`: the program uses it on the host as well. Throws std::bad_alloc, and then the
    /// block is the caller's.
    void allocated(char* block, std::size_t bytes, bool on_host_too = false)
    {
        present_entry& e = table_.create();
        e.on_host_too = on_host_too;
        table_.insert_allocation(e, block, bytes);
    }

    /// Takes it out again: `free(block, bytes)` now, or when the last region retires that uses it or what is associated with it.
    /// False: `p` is not the beginning of such memory.
    template <class Free>
    bool deallocate(void* p, Free free) noexcept
    {
        present_entry* const e = table_.allocation_at(p);
        if (e == nullptr) return false;
        e->count = 0;
        table_.for_each_within(*e, [&](present_entry& associated) {
            if (associated.owns_block || associated.pending == 0) return;
            associated.keeps = e;
            ++e->pending;
        });
        if (e->pending != 0) return true;
        free(e->block, e->bytes());
        table_.remove(*e);
        return true;
    }

    /// Makes host memory count as mapped to device memory that is there, for ever. Throws std::bad_alloc.
    errc associate(byte_range host, char* device)
    {
        if (host.begin == nullptr || host.end <= host.begin || device == nullptr)
            return errc::invalid_argument;
        if (unified_) device = host.begin;
        for (present_entry* e = table_.first_overlap(host); e != nullptr; e = table_.next_overlap(e, host)) {
            if (!e->live()) continue;
            bool const same = e->count == infinite_count && e->block == device &&
                              e->range.begin == host.begin && e->range.end == host.end;
            return same ? errc{} : errc::invalid_argument;
        }
        table_.index_blocks();
        present_entry& e = table_.create();
        try {
            e.uses.reserve(table_.users_of(host) + 1);
        } catch (...) {
            table_.recycle(e);
            throw;
        }
        e.opened = latest_; // another number whenever a region has been accepted in between
        e.owns_block = false;
        e.count = infinite_count;
        table_.insert(e, host);
        table_.place(e, device);
        return {};
    }

    /// Ends that. False: `p` is not the beginning of associated memory, or it is held.
    bool disassociate(void const* p) noexcept
    {
        present_entry* const e = table_.holding(p);
        if (e == nullptr || e->count != infinite_count || e->holds != 0 || e->range.begin != p) return false;
        e->count = 0;
        if (e->pending == 0) table_.remove(*e);
        return true;
    }

private:
    present_table& table_;
    std::uint64_t latest_;
    bool unified_;
};

} // namespace omp_co::detail
