// SPDX-License-Identifier: BSL-1.0
// The scheduler inside a block: warp by warp, each thread until it waits, ends or has used its slice; then what waits
// together goes on together.
#include "block.hpp"

#include <algorithm>
#include <bit>
#include <string>

namespace omp_co_sim::ptx {
namespace {

constexpr std::size_t warp_size = 32;
constexpr std::uint64_t slice = 10'000; ///< instructions; others get their turn when one thread spins
constexpr auto garbage = std::byte{0xcd};

std::size_t count_of(std::array<unsigned, 3> const& extent)
{
    return std::size_t{extent[0]} * extent[1] * extent[2];
}

} // namespace

block::block(execution& in, launch const& l, std::uint64_t const* first_row)
    : in_{in},
      launch_{l},
      size_{count_of(l.block)},
      local_stride_{(in.code->local_bytes + 15) & ~std::size_t{15}},
      local_(size_ * local_stride_, garbage),
      shared_(in.code->static_shared_bytes + l.dynamic_shared_bytes, garbage),
      threads_(size_)
{
    auto const width = in.code->slot_count;
    rows_.reserve(size_ * width);
    for (std::size_t n = 0; n < size_; ++n) rows_.insert(rows_.end(), first_row, first_row + width);
    in_.shared = shared_.data();
    in_.shared_bytes = shared_.size();
    for (std::size_t n = 0; n < size_; ++n) {
        thread& t = threads_[n];
        t.slots = rows_.data() + n * width;
        t.in = &in_;
        t.local = local_.data() + n * local_stride_;
        auto const lane = static_cast<std::uint32_t>(n % warp_size);
        auto const bit = std::uint32_t{1} << lane;
        t.slots[slots::tid_x] = n % l.block[0];
        t.slots[slots::tid_y] = n / l.block[0] % l.block[1];
        t.slots[slots::tid_z] = n / l.block[0] / l.block[1];
        for (std::uint32_t d = 0; d < 3; ++d) {
            t.slots[slots::ntid_x + d] = l.block[d];
            t.slots[slots::nctaid_x + d] = l.grid[d];
        }
        t.slots[slots::laneid] = lane;
        t.slots[slots::warpid] = n / warp_size;
        t.slots[slots::nwarpid] = (size_ + warp_size - 1) / warp_size;
        t.slots[slots::lanemask_eq] = bit;
        t.slots[slots::lanemask_lt] = bit - 1;
        t.slots[slots::lanemask_le] = bit | (bit - 1);
        t.slots[slots::lanemask_ge] = static_cast<std::uint32_t>(~(bit - 1));
        t.slots[slots::lanemask_gt] = static_cast<std::uint32_t>(~(bit | (bit - 1)));
        t.slots[slots::dynamic_shared_size] = l.dynamic_shared_bytes;
        t.slots[slots::total_shared_size] = shared_.size();
    }
}

void block::start(std::array<unsigned, 3> index)
{
    in_.arrivals = {};
    for (thread& t : threads_) {
        t.pc = in_.code->code.data();
        t.state = state::ready;
        t.executed = 0;
        t.path = 0;
        for (std::uint32_t d = 0; d < 3; ++d) t.slots[slots::ctaid_x + d] = index[d];
    }
}

bool block::run(std::array<unsigned, 3> index)
{
    start(index);
    for (;;) {
        bool moved = false;
        for (std::size_t first = 0; first < size_; first += warp_size) {
            moved |= visit(first, std::min(warp_size, size_ - first));
            if (in_.failed != fault_kind::none) return false;
        }
        moved |= resolve_barriers();
        if (all_exited()) return true;
        if (moved) continue;
        report_deadlock();
        return false;
    }
}

bool block::visit(std::size_t first, std::size_t count)
{
    bool moved = false;
    do {
        for (std::size_t n = first; n < first + count; ++n) {
            if (threads_[n].state != state::ready) continue;
            moved = true;
            if (!run_slice(threads_[n])) return true;
        }
    } while (resolve_warp(first, count));
    return moved;
}

bool block::run_slice(thread& t)
{
    auto const* row = t.slots;
    instruction const* pc = t.pc;
    for (std::uint64_t left = slice; left != 0; --left) {
        if (row[pc->guard] != pc->wanted) {
            ++pc;
            continue;
        }
        pc = pc->run(t, *pc);
        if (!pc) return t.state != state::faulted;
    }
    t.pc = pc;
    t.executed += slice;
    if (launch_.stop && launch_.stop->load(std::memory_order_relaxed)) t.fail(*pc, fault_kind::stopped);
    if (launch_.instruction_limit != 0 && t.executed >= launch_.instruction_limit)
        t.fail(*pc, fault_kind::instruction_limit);
    return t.state != state::faulted;
}

bool block::resolve_warp(std::size_t first, std::size_t count)
{
    std::uint32_t alive = 0;
    bool ready = false;
    std::uint32_t waiting = 0;
    for (std::size_t n = 0; n < count; ++n) {
        auto const s = threads_[first + n].state;
        if (s != state::exited) alive |= std::uint32_t{1} << n;
        if (s == state::at_warp_operation) waiting |= std::uint32_t{1} << n;
        ready |= s == state::ready;
    }
    bool moved = false;
    // Two rounds: activemask is answered only when the first round has moved nobody and nobody else can move.
    for (bool const active : {false, true}) {
        if (active && (moved || ready)) break;
        for (std::uint32_t seen = 0; (waiting & ~seen) != 0;) {
            auto const lane = static_cast<std::size_t>(std::countr_zero(waiting & ~seen));
            thread const& one = threads_[first + lane];
            instruction const& at = *one.pc;
            auto const mask = get<std::uint32_t>(one, at.e);
            bool const is_active = at.together == answer_active_mask;
            std::array<thread*, warp_size> group{};
            std::size_t members = 0;
            std::uint32_t lanes = 0;
            for (std::size_t n = lane; n < count; ++n) {
                thread& t = threads_[first + n];
                if (!(waiting >> n & 1) || t.pc->together != at.together || t.pc->mode != at.mode) continue;
                if (is_active ? t.pc != &at || t.path != one.path : get<std::uint32_t>(t, t.pc->e) != mask)
                    continue;
                lanes |= std::uint32_t{1} << n;
                group[members++] = &t;
            }
            seen |= lanes;
            if (is_active != active || (!active && (mask & alive & ~lanes) != 0)) continue;
            at.together({group.data(), members});
            for (std::size_t n = 0; n < members; ++n) {
                group[n]->state = state::ready;
                ++group[n]->pc;
            }
            waiting &= ~lanes;
            moved = true;
            if (active) break;
        }
    }
    return moved;
}

bool block::resolve_barriers()
{
    bool moved = false;
    std::uint32_t exited = 0;
    std::array<std::uint32_t, 16> waiting{};
    std::array<thread const*, 16> one{};
    for (thread const& t : threads_) {
        if (t.state == state::exited) ++exited;
        if (t.state != state::at_barrier) continue;
        ++waiting[t.barrier];
        one[t.barrier] = &t;
    }
    for (std::size_t b = 0; b < waiting.size(); ++b) {
        if (waiting[b] == 0) continue;
        auto const expected = one[b]->expected;
        auto const here = waiting[b] + in_.arrivals[b];
        if (expected == 0 ? here + exited < size_ : here < expected) continue;
        std::uint32_t ones = 0;
        for (thread const& t : threads_)
            if (t.state == state::at_barrier && t.barrier == b) ones += t.slots[t.pc->c] != 0 ? 1 : 0;
        for (thread& t : threads_) {
            if (t.state != state::at_barrier || t.barrier != b) continue;
            auto const mode = t.pc->mode;
            if (mode == barrier_mode::count) set(t, t.pc->d, ones);
            if (mode == barrier_mode::all) set(t, t.pc->d, std::uint32_t{ones == waiting[b]});
            if (mode == barrier_mode::any) set(t, t.pc->d, std::uint32_t{ones != 0});
            t.state = state::ready;
            ++t.pc;
        }
        in_.arrivals[b] = 0;
        moved = true;
    }
    return moved;
}

bool block::all_exited() const
{
    return std::all_of(threads_.begin(), threads_.end(),
                       [](thread const& t) { return t.state == state::exited; });
}

void block::report_deadlock()
{
    std::size_t at_barriers = 0;
    std::size_t at_warp_operations = 0;
    thread* first = nullptr;
    for (thread& t : threads_) {
        at_barriers += t.state == state::at_barrier ? 1 : 0;
        at_warp_operations += t.state == state::at_warp_operation ? 1 : 0;
        if (!first && t.state != state::exited) first = &t;
    }
    in_.failed_words = std::to_string(at_barriers) + " threads wait at barriers, " +
                       std::to_string(at_warp_operations) + " at warp operations";
    first->fail(*first->pc, fault_kind::deadlock);
}

} // namespace omp_co_sim::ptx
