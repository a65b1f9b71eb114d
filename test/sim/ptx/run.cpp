// SPDX-License-Identifier: BSL-1.0
// A launch: the grid block by block, faults in words.
#include "block.hpp"
#include "program.hpp"
#include "thread.hpp"

#include <cstdio>
#include <vector>

namespace omp_co_sim::ptx {
namespace {

std::string triple(std::array<std::uint64_t, 3> const& v)
{
    return "(" + std::to_string(v[0]) + "," + std::to_string(v[1]) + "," + std::to_string(v[2]) + ")";
}

std::string triple(thread const& t, std::uint32_t first)
{
    return triple({t.slots[first], t.slots[first + 1], t.slots[first + 2]});
}

fault described(execution const& e)
{
    fault out{e.failed, "kernel '" + e.code->kernel + "'", e.failed_address};
    auto const& from = e.code->origins[static_cast<std::size_t>(e.failed_at - e.code->code.data())];
    out.text += ", " + from.text + " (line " + std::to_string(from.line) + ")";
    out.text += ", block " + triple(*e.failed_thread, slots::ctaid_x);
    out.text +=
        ", thread " + triple(*e.failed_thread, slots::tid_x) + ": " + std::string{to_string(e.failed)};
    if (e.failed == fault_kind::illegal_address || e.failed == fault_kind::misaligned_address) {
        char number[24];
        std::snprintf(number, sizeof(number), " 0x%llx", static_cast<unsigned long long>(e.failed_address));
        out.text += number;
    }
    if (!e.failed_words.empty()) out.text += ": " + e.failed_words;
    return out;
}

fault refused(kernel const& k, std::string const& why)
{
    return {fault_kind::invalid_launch, "kernel '" + k.name + "': " + why, 0};
}

std::uint64_t count_of(std::array<unsigned, 3> const& v) { return std::uint64_t{v[0]} * v[1] * v[2]; }

std::string why_not(kernel const& k, launch const& l)
{
    if (count_of(l.grid) == 0 || count_of(l.block) == 0) return "an extent of the launch is zero";
    if (count_of(l.block) > 1024) return "more than 1024 threads in a block";
    if (l.parameters.size() < k.parameter_bytes) return "fewer bytes of parameters than the kernel takes";
    if (k.required_threads[0] != 0 && k.required_threads != l.block) return "the block differs from .reqntid";
    if (k.max_threads[0] != 0 && count_of(l.block) > count_of(k.max_threads))
        return "more threads than .maxntid";
    return {};
}

} // namespace

std::byte* execution::ask(std::uint64_t address, std::size_t bytes, access how)
{
    extent const e = device->around(address);
    if (e.bytes && e.size != 0) {
        recent[oldest++ % recent.size()] = e;
        std::uint64_t const inside = address - e.address;
        if (inside < e.size && bytes <= e.size - inside && (e.writable || how == access::read))
            return e.bytes + inside;
    }
    return device->at(address, bytes, how);
}

extent memory::around(std::uint64_t) { return {}; }

std::string_view to_string(fault_kind kind) noexcept
{
    switch (kind) {
    case fault_kind::none:
        return "no fault";
    case fault_kind::illegal_address:
        return "illegal address";
    case fault_kind::misaligned_address:
        return "misaligned address";
    case fault_kind::invalid_address_space:
        return "invalid address space";
    case fault_kind::illegal_instruction:
        return "illegal instruction";
    case fault_kind::trap:
        return "trap";
    case fault_kind::assertion:
        return "failed assertion";
    case fault_kind::deadlock:
        return "deadlock";
    case fault_kind::instruction_limit:
        return "instruction limit reached";
    case fault_kind::stopped:
        return "stopped";
    case fault_kind::invalid_launch:
        return "invalid launch";
    }
    return "unknown fault";
}

fault run(kernel const& k, launch const& l, memory& m, std::span<std::uint64_t const> global_addresses)
{
    if (auto const why = why_not(k, l); !why.empty()) return refused(k, why);
    program const& code = *k.code;
    std::vector<std::uint64_t> row(code.slot_count);
    for (auto const& c : code.constants) row[c.slot] = c.bits;
    for (auto const& g : code.global_addresses) {
        if (g.global >= global_addresses.size())
            return refused(k, "not every global variable has an address");
        row[g.slot] = global_addresses[g.global] + static_cast<std::uint64_t>(g.addend);
    }
    execution e;
    e.code = &code;
    e.device = &m;
    e.parameters = l.parameters.data();
    block threads{e, l, row.data()};
    for (unsigned z = 0; z < l.grid[2]; ++z)
        for (unsigned y = 0; y < l.grid[1]; ++y)
            for (unsigned x = 0; x < l.grid[0]; ++x)
                if (!threads.run({x, y, z})) return described(e);
    return {};
}

} // namespace omp_co_sim::ptx
