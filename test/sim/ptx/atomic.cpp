// SPDX-License-Identifier: BSL-1.0
// atom and red: real atomics on the memory of the host, since other streams run at the same time.
#include "translator.hpp"

#include <atomic>

namespace omp_co_sim::ptx {
namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

struct add {
    template <class T>
    static T of(T old, T v, T)
    {
        if constexpr (std::is_floating_point_v<T>)
            return old + v;
        else
            return static_cast<T>(static_cast<u64>(old) + static_cast<u64>(v));
    }
};
struct bit_and {
    template <class T>
    static T of(T old, T v, T)
    {
        return static_cast<T>(old & v);
    }
};
struct bit_or {
    template <class T>
    static T of(T old, T v, T)
    {
        return static_cast<T>(old | v);
    }
};
struct bit_xor {
    template <class T>
    static T of(T old, T v, T)
    {
        return static_cast<T>(old ^ v);
    }
};
struct least {
    template <class T>
    static T of(T old, T v, T)
    {
        return v < old ? v : old;
    }
};
struct greatest {
    template <class T>
    static T of(T old, T v, T)
    {
        return old < v ? v : old;
    }
};
struct exchange {
    template <class T>
    static T of(T, T v, T)
    {
        return v;
    }
};
struct increment {
    template <class T>
    static T of(T old, T limit, T)
    {
        return old >= limit ? T{0} : old + 1;
    }
};
struct decrement {
    template <class T>
    static T of(T old, T limit, T)
    {
        return old == 0 || old > limit ? limit : old - 1;
    }
};
struct compare_and_swap {
    template <class T>
    static T of(T old, T expected, T v)
    {
        return old == expected ? v : old;
    }
};

std::byte* resolve_any(space where, thread& t, instruction const& i, u64 address, std::size_t bytes)
{
    switch (where) {
    case space::global:
        return resolve<space::global>(t, i, address, bytes, access::atomic);
    case space::shared:
        return resolve<space::shared>(t, i, address, bytes, access::atomic);
    default:
        return resolve<space::generic>(t, i, address, bytes, access::atomic);
    }
}

/// d: the old value, a: the address, b and c: operands, mode: the space.
template <class Op>
struct atomically {
    template <class T>
    static instruction const* run(thread& t, instruction const& i)
    {
        u64 const address = t.slots[i.a] + static_cast<u64>(i.offset);
        auto const bytes = resolve_any(static_cast<space>(i.mode), t, i, address, sizeof(T));
        if (!bytes) [[unlikely]]
            return nullptr;
        std::atomic_ref<T> place{*reinterpret_cast<T*>(bytes)};
        T const b = get<T>(t, i.b);
        T const c = get<T>(t, i.c);
        T old = place.load(std::memory_order_relaxed);
        while (!place.compare_exchange_weak(old, Op::of(old, b, c))) {
        }
        set(t, i.d, old);
        return &i + 1;
    }
};

handler pick(translator& x, type t)
{
    struct row {
        std::string_view name;
        handler run;
    };
    type const bits = plain(t);
    row const rows[] = {
        {"add", choose<atomically<add>, u32, u64, float, double>(t.kind == 's' ? bits : t)},
        {"and", choose<atomically<bit_and>, u32, u64>(bits)},
        {"or", choose<atomically<bit_or>, u32, u64>(bits)},
        {"xor", choose<atomically<bit_xor>, u32, u64>(bits)},
        {"min", choose<atomically<least>, u32, u64, s32, s64>(t)},
        {"max", choose<atomically<greatest>, u32, u64, s32, s64>(t)},
        {"exch", choose<atomically<exchange>, u32, u64>(bits)},
        {"inc", choose<atomically<increment>, u32>(t)},
        {"dec", choose<atomically<decrement>, u32>(t)},
        {"cas", choose<atomically<compare_and_swap>, u16, u32, u64>(bits)},
    };
    for (row const& r : rows)
        if (x.take(r.name)) return r.run;
    x.fail("this operation is not supported");
}

void emit(translator& x, bool wants_old)
{
    take_strength(x);
    auto const where = take_space(x);
    if (where != space::generic && where != space::global && where != space::shared)
        x.fail("needs global or shared memory");
    take_cache_hints(x);
    x.take("noftz");
    type const t = x.take_type();
    std::size_t const first = wants_old ? 1 : 0;
    x.expect_operands(first + 2, first + 3);
    bool const swaps = x.count() == first + 3;
    auto const run = pick(x, t);
    if (swaps != (run == choose<atomically<compare_and_swap>, u16, u32, u64>(plain(t))) || !run)
        x.fail("not supported with these operands or this type");
    auto const at = x.address(first, where);
    auto const b = x.source(first + 1, t);
    auto const c = swaps ? x.source(first + 2, t) : u32{slots::zero};
    auto const d = wants_old ? x.target(0) : u32{slots::sink};
    x.emit(x.known(run), d, at.base, b, c, 0, static_cast<u32>(where)).offset = at.offset;
}

void emit_atom(translator& x) { emit(x, true); }
void emit_red(translator& x) { emit(x, false); }

} // namespace

std::span<opcode_entry const> atomic_opcodes()
{
    static constexpr opcode_entry table[] = {{"atom", emit_atom}, {"red", emit_red}};
    return table;
}

} // namespace omp_co_sim::ptx
