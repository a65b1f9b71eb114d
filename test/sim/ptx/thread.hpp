// SPDX-License-Identifier: BSL-1.0
// What handlers see while a kernel runs: the thread, its block, and memory in all its spaces.
#pragma once

#include "program.hpp"
#include "syntax.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace omp_co_sim::ptx {

enum class state : std::uint8_t { ready, at_barrier, at_warp_operation, exited, faulted };

/// One run of a kernel: what all its blocks share, and the block that runs now.
struct execution {
    program const* code = nullptr;
    memory* device = nullptr;
    std::byte const* parameters = nullptr;
    std::byte* shared = nullptr;
    std::size_t shared_bytes = 0;

    fault_kind failed = fault_kind::none;
    instruction const* failed_at = nullptr;
    thread* failed_thread = nullptr;
    std::uint64_t failed_address = 0;
    std::string failed_words; ///< what the kind alone does not say

    /// What bar.arrive has brought to each barrier of the block.
    std::array<std::uint32_t, 16> arrivals{};

    /// Allocations met lately.
    std::array<extent, 8> recent{};
    std::size_t oldest = 0;

    /// The bytes of device memory, or null.
    std::byte* global(std::uint64_t address, std::size_t bytes, access how)
    {
        for (extent const& e : recent) {
            std::uint64_t const inside = address - e.address;
            if (inside < e.size && bytes <= e.size - inside && (e.writable || how == access::read))
                return e.bytes + inside;
        }
        return ask(address, bytes, how);
    }
    std::byte* ask(std::uint64_t address, std::size_t bytes, access how);
};

struct thread {
    std::uint64_t* slots = nullptr;
    execution* in = nullptr;
    instruction const* pc = nullptr;
    std::byte* local = nullptr;
    ptx::state state = ptx::state::ready;
    std::uint64_t executed = 0; ///< instructions, counted by time slices
    std::uint64_t path = 0;     ///< tells chains of callers apart
    std::uint32_t barrier = 0;  ///< where it waits
    std::uint32_t expected = 0; ///< threads that the barrier waits for; 0: all of the block

    instruction const* fail(instruction const& at, fault_kind kind, std::uint64_t address = 0)
    {
        state = state::faulted;
        in->failed = kind;
        in->failed_at = &at;
        in->failed_thread = this;
        in->failed_address = address;
        return nullptr;
    }
};

/// Barrier operations, in instruction::mode.
namespace barrier_mode {
enum : std::uint32_t { sync, arrive, count, all, any };
}

/// The warp operation that no mask gathers: it is answered when nothing else in the warp can move.
void answer_active_mask(std::span<thread* const> group);

template <class T>
T get(thread const& t, std::uint32_t slot)
{
    if constexpr (std::is_same_v<T, float>)
        return std::bit_cast<float>(static_cast<std::uint32_t>(t.slots[slot]));
    else if constexpr (std::is_same_v<T, double>)
        return std::bit_cast<double>(t.slots[slot]);
    else
        return static_cast<T>(t.slots[slot]);
}

template <class T>
void set(thread& t, std::uint32_t slot, T value)
{
    if constexpr (std::is_same_v<T, float>)
        t.slots[slot] = std::bit_cast<std::uint32_t>(value);
    else if constexpr (std::is_same_v<T, double>)
        t.slots[slot] = std::bit_cast<std::uint64_t>(value);
    else if constexpr (std::is_signed_v<T>)
        t.slots[slot] = static_cast<std::uint64_t>(std::int64_t{value});
    else
        t.slots[slot] = value;
}

/// The bytes at `address` of a space; null when the thread has faulted for it.
template <space Space>
std::byte* resolve(thread& t, instruction const& i, std::uint64_t address, std::size_t bytes, access how)
{
    execution& in = *t.in;
    // These spaces have addresses of 32 bits, whose sum with an offset wraps.
    if constexpr (Space == space::shared || Space == space::local)
        address = static_cast<std::uint32_t>(address);
    if ((address & (bytes - 1)) != 0) [[unlikely]] {
        t.fail(i, fault_kind::misaligned_address, address);
        return nullptr;
    }
    if constexpr (Space == space::local || Space == space::kernel_parameter)
        if (how == access::atomic) {
            t.fail(i, fault_kind::invalid_address_space, address);
            return nullptr;
        }
    if constexpr (Space == space::generic) {
        switch (address & windows::mask) {
        case windows::shared:
            return resolve<space::shared>(t, i, address & ~windows::mask, bytes, how);
        case windows::local:
            return resolve<space::local>(t, i, address & ~windows::mask, bytes, how);
        case windows::parameters:
            return resolve<space::kernel_parameter>(t, i, address & ~windows::mask, bytes, how);
        default:
            return resolve<space::global>(t, i, address, bytes, how);
        }
    } else if constexpr (Space == space::shared) {
        if (bytes <= in.shared_bytes && address <= in.shared_bytes - bytes) return in.shared + address;
    } else if constexpr (Space == space::local) {
        std::size_t const size = in.code->local_bytes;
        if (bytes <= size && address <= size - bytes) return t.local + address;
    } else if constexpr (Space == space::kernel_parameter) {
        std::size_t const size = in.code->parameter_bytes;
        // The handler only reads: stores to this window are refused here.
        if (how == access::read && bytes <= size && address <= size - bytes)
            return const_cast<std::byte*>(in.parameters + address);
    } else {
        if (auto const p = in.global(address, bytes, how)) return p;
    }
    t.fail(i, fault_kind::illegal_address, address);
    return nullptr;
}

} // namespace omp_co_sim::ptx
