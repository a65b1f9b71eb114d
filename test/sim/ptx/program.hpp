// SPDX-License-Identifier: BSL-1.0
// A kernel ready to run: instructions that know their handler and their operands' slots.
//
// Each thread has a row of 64-bit slots: a few fixed ones (special registers), the registers of the kernel and of every
// function that it calls, and the constants that instructions name. There is no recursion, so every function has
// slots, local memory and a return slot of its own, and a call is a jump. A narrower value lies in its slot extended
// to 64 bits (by its sign or by zeros); whoever reads it takes the low bits.
#pragma once

#include "interpreter.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace omp_co_sim::ptx {

struct thread;
struct instruction;

/// Runs one instruction and answers the next one; null when the thread stops here (thread::state says why).
using handler = instruction const* (*)(thread&, instruction const&);

/// Runs a warp operation for the threads that take part, in the order of their lanes; each stands at its instruction.
using warp_handler = void (*)(std::span<thread* const> group);

struct instruction {
    handler run = nullptr;
    warp_handler together = nullptr;
    std::int64_t offset = 0; ///< of an address, a branch target, a number of bytes
    std::uint32_t guard = 0; ///< the instruction runs when this slot holds `wanted`
    std::uint32_t wanted = 0;
    std::uint32_t d = 0; ///< slots
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    std::uint32_t c = 0;
    std::uint32_t e = 0;
    std::uint32_t mode = 0; ///< what the handler says
};

/// The slots that every program has.
namespace slots {
enum : std::uint32_t {
    zero, ///< also the guard of what always runs
    tid_x,
    tid_y,
    tid_z,
    ctaid_x,
    ctaid_y,
    ctaid_z,
    ntid_x,
    ntid_y,
    ntid_z,
    nctaid_x,
    nctaid_y,
    nctaid_z,
    laneid,
    warpid,
    nwarpid,
    lanemask_eq,
    lanemask_lt,
    lanemask_le,
    lanemask_gt,
    lanemask_ge,
    dynamic_shared_size,
    total_shared_size,
    carry,
    sink, ///< results that nobody wants
    first_free,
};
}

/// Generic addresses of what is not global: a window each in the upper 32 bits.
namespace windows {
inline constexpr std::uint64_t shared = 0xffff'0001'0000'0000;
inline constexpr std::uint64_t local = 0xffff'0002'0000'0000;
inline constexpr std::uint64_t parameters = 0xffff'0003'0000'0000;
inline constexpr std::uint64_t mask = 0xffff'ffff'0000'0000;
} // namespace windows

struct program {
    std::string kernel;
    std::vector<instruction> code;
    struct origin {
        std::string text;
        int line;
    };
    std::vector<origin> origins; ///< one for each instruction

    struct constant {
        std::uint32_t slot;
        std::uint64_t bits;
    };
    std::vector<constant> constants;
    struct global_address {
        std::uint32_t slot;
        std::size_t global;
        std::int64_t addend;
    };
    std::vector<global_address> global_addresses;
    std::vector<std::vector<std::uint32_t>> branch_tables;

    std::uint32_t slot_count = slots::first_free;
    std::size_t parameter_bytes = 0;
    std::size_t static_shared_bytes = 0; ///< dynamic shared memory begins here
    std::size_t local_bytes = 0;
};

} // namespace omp_co_sim::ptx
