// The task graphs of the graph benchmarks: who depends on whom, and the value that a task computes from its inputs.
// SPDX-License-Identifier: BSL-1.0
//
// Every program of the comparison includes this header, also as code of an OpenMP device: plain C++17, nothing of omp_co.
// The shapes are those of Task Bench (Slaughter et al., SC 2020): `steps` rows of `width` tasks, each of which depends on
// tasks of the row before.
#pragma once
#include <cstddef>
#include <cstdint>

namespace bench {

enum class pattern : int {
    trivial,        // no dependences
    chain,          // the same column
    stencil,        // the same column and its neighbours
    tree,           // rows halve down to one task and double again, over and over
    fft,            // the same column and its partner in a butterfly
    all_to_all,     // all columns
    random_nearest, // each of the five nearest columns with probability one half
    random,         // each column with probability one quarter
};

struct pattern_name {
    pattern kind;
    char const* name;
};

// What is measured. `random` is for checks of results only: its number of dependences grows with the width.
inline constexpr pattern_name patterns[] = {
    {pattern::trivial, "trivial"},
    {pattern::chain, "chain"},
    {pattern::stencil, "stencil"},
    {pattern::tree, "tree"},
    {pattern::fft, "fft"},
    {pattern::all_to_all, "all_to_all"},
    {pattern::random_nearest, "random_nearest"},
};

/// The width must be a power of two. Task (step, column) has the slot `step * width + column`, whatever its row's width.
struct graph {
    pattern kind = pattern::trivial;
    int width = 1;
    int steps = 1;
    std::uint64_t seed = 0;
};

inline std::uint64_t mix(std::uint64_t x)
{
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 29;
    x *= 0x9e3779b97f4a7c15u;
    return x ^ (x >> 31);
}

inline int log2_of(int power)
{
    int log = 0;
    while (power > 1) power >>= 1, ++log;
    return log;
}

/// The number of tasks of a row.
inline int row_width(pattern kind, int width, int step)
{
    if (kind != pattern::tree || width == 1) return width;
    int const levels = log2_of(width), level = step % (2 * levels);
    return level <= levels ? width >> level : 1 << (level - levels);
}

/// Calls `f(column)` for every task of the row before that task (step, column) depends on, in ascending order.
template <class F>
inline void for_each_input(pattern kind, int width, std::uint64_t seed, int step, int column, F&& f)
{
    if (step == 0) return;
    auto clipped = [&](int radius, auto&& chosen) {
        for (int c = column - radius; c <= column + radius; ++c)
            if (c >= 0 && c < width && chosen(c)) f(c);
    };
    auto draw = [=](int c) {
        return mix(seed ^ mix(std::uint64_t(step) << 40 ^ std::uint64_t(column) << 20 ^ std::uint64_t(c)));
    };
    switch (kind) {
    case pattern::trivial:
        return;
    case pattern::chain:
        return f(column);
    case pattern::stencil:
        return clipped(1, [](int) { return true; });
    case pattern::tree: {
        int const before = row_width(kind, width, step - 1);
        if (before <= row_width(kind, width, step)) return f(before == width ? column : column / 2);
        f(2 * column);
        return f(2 * column + 1);
    }
    case pattern::fft: {
        if (width == 1) return f(column);
        int const partner = column ^ (1 << ((step - 1) % log2_of(width)));
        f(column < partner ? column : partner);
        return f(column < partner ? partner : column);
    }
    case pattern::all_to_all:
        for (int c = 0; c < width; ++c) f(c);
        return;
    case pattern::random_nearest:
        return clipped(2, [&](int c) { return (draw(c) & 1) != 0; });
    case pattern::random:
        for (int c = 0; c < width; ++c)
            if ((draw(c) & 3) == 0) f(c);
        return;
    }
}

/// Work of a fixed length that no compiler shortens: every round needs the one before, so that what else runs on the core
/// hardly slows it down.
inline std::uint64_t busy(std::uint64_t x, long rounds)
{
    for (long k = 0; k < rounds; ++k) {
        x ^= x >> 29;
        x *= 0x9e3779b97f4a7c15u;
    }
    return x;
}

/// The kernel of task (step, column): its value from those of its inputs.
inline void run_task(pattern kind, int width, std::uint64_t seed, int step, int column, long rounds,
                     std::uint64_t* values)
{
    std::uint64_t value = mix(seed + (std::uint64_t(step) << 32) + std::uint64_t(column));
    if (step > 0) {
        std::uint64_t const* before = values + std::size_t(step - 1) * std::size_t(width);
        for_each_input(kind, width, seed, step, column, [&](int c) { value = mix(value ^ before[c]); });
    }
    values[std::size_t(step) * std::size_t(width) + std::size_t(column)] = busy(value, rounds);
}

/// Calls `f(step, column)` for all tasks, row by row.
template <class F>
void for_each_task(graph const& g, F&& f)
{
    for (int step = 0; step < g.steps; ++step)
        for (int column = 0, n = row_width(g.kind, g.width, step); column < n; ++column) f(step, column);
}

inline long tasks_of(graph const& g)
{
    long n = 0;
    for (int step = 0; step < g.steps; ++step) n += row_width(g.kind, g.width, step);
    return n;
}

inline std::size_t slots_of(graph const& g) { return std::size_t(g.width) * std::size_t(g.steps); }

inline std::size_t slot_of(graph const& g, int step, int column)
{
    return std::size_t(step) * std::size_t(g.width) + std::size_t(column);
}

/// The slots of the tasks that task (step, column) depends on. There is room for a row in `slots`.
inline int input_slots(graph const& g, int step, int column, std::size_t* slots)
{
    int count = 0;
    for_each_input(g.kind, g.width, g.seed, step, column,
                   [&](int c) { slots[count++] = slot_of(g, step - 1, c); });
    return count;
}

inline void run_serially(graph const& g, long rounds, std::uint64_t* values)
{
    for_each_task(
        g, [&](int step, int column) { run_task(g.kind, g.width, g.seed, step, column, rounds, values); });
}

} // namespace bench
