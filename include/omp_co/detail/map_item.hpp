// SPDX-License-Identifier: BSL-1.0
// One data clause at run time: what was asked for, and what the data environment decided.
#pragma once

#include <omp_co/backend.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace omp_co::detail {

struct present_entry;

/// What a data clause asks for. A construct fixes which halves apply: `target` enters and exits, `enter data`
/// enters, `exit data` exits, `update` only moves.
enum map_flag : std::uint32_t {
    map_to = 1U << 0,      ///< host to device
    map_from = 1U << 1,    ///< device to host
    map_enter = 1U << 2,   ///< counts up
    map_exit = 1U << 3,    ///< counts down
    map_remove = 1U << 4,  ///< the exit half sets the count to zero
    map_always = 1U << 5,  ///< moves whatever the count is
    map_present = 1U << 6, ///< absent data is an error
    map_update = 1U << 7,  ///< moves, counts nothing
    map_written = 1U << 8, ///< the kernel may write it
    map_used = 1U << 9,    ///< a kernel uses it
    map_device =
        1U << 10, ///< `host` is a device address: what it points to is ordered, not counted and not moved

    map_raw = 1U << 11,    ///< both addresses are given; only order is the data environment's business
    map_within = 1U << 12, ///< raw: `host` is a device address, copied from
    map_fill = 1U << 13,   ///< raw: the bytes become what `leader` says
    map_attach = 1U << 14, ///< a pointer, which is joined to what the next item names
    map_attach_target = 1U << 15,

    // decided by the data environment
    map_copy_in = 1U << 16,
    map_copy_out = 1U << 17,
    map_created = 1U << 18, ///< this clause brought its entry to life

    map_box = 1U << 19,  ///< has a shape
    map_hold = 1U << 20, ///< counts apart

    map_outside = 1U << 21,     ///< raw: a motion of which only the place in the order is this region's
    map_unordered = 1U << 22,   ///< raw: another region has the place for it
    map_from_device = 1U << 23, ///< raw: `host` is an address on the device `source`, copied from
    map_structure = 1U << 24,   ///< of a type whose mapper reads it on the host
    map_allocation = 1U << 25,  ///< alone in its region: memory for the program, whose address `device` gets
    map_disjoint =
        1U << 26, ///< decided by the data environment: no entry overlaps what this clause brought to life
    map_undoable = 1U << 27, ///< the same: `dropped` is given back if the region is skipped
};

/// A pointer on the device that points to mapped data: its place on the host, and what it points to.
struct attachment_record {
    char* at = nullptr;
    present_entry* pointee = nullptr;
    std::uint64_t opened = 0; ///< when what it points to was mapped
    std::ptrdiff_t offset = 0;
    attachment_record* next = nullptr; ///< an earlier one of the same entry
};

/// What a region needs to join a pointer. Lives as long as the region.
struct attachment {
    void* value = nullptr; ///< the device's pointer
    std::unique_ptr<attachment_record> record;
};

/// A data clause of one region. Lives as long as the region.
struct map_item {
    void* host = nullptr;  ///< begin of the host range
    std::size_t bytes = 0; ///< its length; 0 looks up only
    std::uint32_t flags = 0;
    std::uint32_t leader = 0;            ///< index of the item whose new entry this one shares
    backend::box const* shape = nullptr; ///< null: all of the range moves
    union {
        attachment* attached = nullptr; ///< of a pointer that is joined
        backend::device* source;        ///< of a copy from another device
        std::uint64_t dropped;          ///< by how much the end of a mapping has lowered the count
    };
    attachment_record const* joined = nullptr; ///< pointers that motions leave alone
    present_entry* entry = nullptr;            ///< null: absent, or nothing to do
    void* device = nullptr;                    ///< the device address; what the kernel's argument reads
    char const* name = nullptr;                ///< what messages call the data

    bool has(std::uint32_t flag) const noexcept { return (flags & flag) != 0; }
    char* begin() const noexcept { return static_cast<char*>(host); }
    /// Below begin() if that is no range, but one that goes beyond the last address.
    char* end() const noexcept
    {
        return reinterpret_cast<char*>(reinterpret_cast<std::uintptr_t>(host) + bytes);
    }
    /// All of the range moves, between the host and the device.
    bool is_plain() const noexcept
    {
        return shape == nullptr && joined == nullptr && !has(map_within | map_fill | map_from_device);
    }
    /// Whether it may copy from host memory of the program, and whether it is a copy into it with no entry that tells. What is in no
    /// order comes behind nobody's copies.
    bool reads_host() const noexcept
    {
        if (bytes == 0 || has(map_attach | map_unordered)) return false;
        return has(map_to) || (has(map_raw) && has(map_copy_in) && !has(map_from_device));
    }
    bool writes_host_raw() const noexcept
    {
        constexpr std::uint32_t both = map_raw | map_copy_out;
        return (flags & both) == both && bytes != 0;
    }
    /// How far it reaches on the host.
    char* host_end() const noexcept
    {
        return has(map_raw) && shape != nullptr ? begin() + shape->reach(shape->host) : end();
    }
    std::size_t moved_bytes() const noexcept { return shape == nullptr ? bytes : shape->bytes(); }
};

/// The clause as its user wrote it, for messages.
inline char const* clause_name(std::uint32_t flags) noexcept
{
    if ((flags & map_remove) != 0) return "delete_";
    std::uint32_t const direction = flags & (map_to | map_from);
    if (direction == (map_to | map_from)) return "tofrom";
    if (direction == map_to) return "to";
    if (direction == map_from) return "from";
    return (flags & map_enter) != 0 ? "alloc" : "release";
}

/// The same with the name of the data.
inline std::string clause_text(map_item const& item)
{
    std::string text = item.has(map_attach) ? "attach" : clause_name(item.flags);
    if (item.name != nullptr) (text += ' ') += item.name;
    return text;
}

} // namespace omp_co::detail
