// SPDX-License-Identifier: BSL-1.0
// Loads and stores in every state space.
#include "translator.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

namespace omp_co_sim::ptx {
namespace {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;

/// Strong accesses (volatile, relaxed, acquire, release) are seen whole and in order by other streams.
template <class T, bool Strong>
T read(std::byte* from)
{
    if constexpr (Strong) return std::atomic_ref<T>{*reinterpret_cast<T*>(from)}.load();
    T out;
    std::memcpy(&out, from, sizeof(T));
    return out;
}
template <class T, bool Strong>
void write(std::byte* to, T v)
{
    if constexpr (Strong)
        std::atomic_ref<T>{*reinterpret_cast<T*>(to)}.store(v);
    else
        std::memcpy(to, &v, sizeof(T));
}

/// d, b, c, e: the results; a: the address; mode: how many.
template <space Space, bool Strong>
struct load {
    template <class T>
    static instruction const* run(thread& t, instruction const& i)
    {
        u64 const address = t.slots[i.a] + static_cast<u64>(i.offset);
        std::size_t const count = i.mode;
        auto const bytes = resolve<Space>(t, i, address, sizeof(T) * count, access::read);
        if (!bytes) [[unlikely]]
            return nullptr;
        set(t, i.d, read<T, Strong>(bytes));
        if (count == 1) [[likely]]
            return &i + 1;
        set(t, i.b, read<T, Strong>(bytes + sizeof(T)));
        if (count == 2) return &i + 1;
        set(t, i.c, read<T, Strong>(bytes + 2 * sizeof(T)));
        set(t, i.e, read<T, Strong>(bytes + 3 * sizeof(T)));
        return &i + 1;
    }
};

/// a, b, c, e: the values; d: the address; mode: how many.
template <space Space, bool Strong>
struct store {
    template <class T>
    static instruction const* run(thread& t, instruction const& i)
    {
        u64 const address = t.slots[i.d] + static_cast<u64>(i.offset);
        std::size_t const count = i.mode;
        auto const bytes = resolve<Space>(t, i, address, sizeof(T) * count, access::write);
        if (!bytes) [[unlikely]]
            return nullptr;
        write<T, Strong>(bytes, get<T>(t, i.a));
        if (count == 1) [[likely]]
            return &i + 1;
        write<T, Strong>(bytes + sizeof(T), get<T>(t, i.b));
        if (count == 2) return &i + 1;
        write<T, Strong>(bytes + 2 * sizeof(T), get<T>(t, i.c));
        write<T, Strong>(bytes + 3 * sizeof(T), get<T>(t, i.e));
        return &i + 1;
    }
};

template <template <space, bool> class Access, bool Strong>
handler pick(space where, type t)
{
    // Only a load looks at the sign, to extend it; 64 bits have nothing to extend.
    auto const shape = t.size == 8 || t.kind != 's' ? plain(t) : t;
    switch (where) {
    case space::generic:
        return choose<Access<space::generic, Strong>, u8, u16, u32, u64, s8, s16, s32>(shape);
    case space::global:
    case space::constant:
        return choose<Access<space::global, Strong>, u8, u16, u32, u64, s8, s16, s32>(shape);
    case space::shared:
        return choose<Access<space::shared, Strong>, u8, u16, u32, u64, s8, s16, s32>(shape);
    case space::local:
        return choose<Access<space::local, Strong>, u8, u16, u32, u64, s8, s16, s32>(shape);
    default:
        return nullptr;
    }
}

/// The slots of a scalar or of a vector's elements.
template <class Slot>
std::size_t elements(translator& x, operand const& o, std::size_t expected, std::array<u32, 4>& out,
                     Slot slot)
{
    bool const vector = o.kind == operand_kind::list;
    std::size_t const count = vector ? o.elements.size() : 1;
    if (count != expected) x.fail("the vector's length differs from the modifier");
    for (std::size_t n = 0; n < count; ++n) out[n] = slot(vector ? o.elements[n] : o);
    return count;
}

std::size_t take_length(translator& x)
{
    if (x.take("v2")) return 2;
    return x.take("v4") ? 4 : 1;
}

void emit_load(translator& x)
{
    x.expect_operands(2, 2);
    bool const strong = take_strength(x);
    auto const named = take_space(x);
    take_cache_hints(x);
    auto const length = take_length(x);
    type const t = x.take_type();
    auto const from = x.address(1, named);
    std::array<u32, 4> to{};
    elements(x, x.at(0), length, to, [&](operand const& o) { return x.target(o); });
    auto const shape = t.size == 8 || t.kind != 's' ? plain(t) : t;
    auto const run =
        from.where == space::kernel_parameter
            ? choose<load<space::kernel_parameter, false>, u8, u16, u32, u64, s8, s16, s32>(shape)
        : strong ? pick<load, true>(from.where, t)
                 : pick<load, false>(from.where, t);
    x.emit(x.known(run), to[0], from.base, to[1], to[2], to[3], static_cast<u32>(length)).offset =
        from.offset;
}

void emit_store(translator& x)
{
    x.expect_operands(2, 2);
    bool const strong = take_strength(x);
    auto const named = take_space(x);
    take_cache_hints(x);
    auto const length = take_length(x);
    type const t = x.take_type();
    auto const to = x.address(0, named);
    if (to.where == space::kernel_parameter || to.where == space::constant) x.fail("this space is read only");
    std::array<u32, 4> from{};
    elements(x, x.at(1), length, from, [&](operand const& o) { return x.source(o, t); });
    auto const run = strong ? pick<store, true>(to.where, plain(t)) : pick<store, false>(to.where, plain(t));
    x.emit(x.known(run), to.base, from[0], from[1], from[2], from[3], static_cast<u32>(length)).offset =
        to.offset;
}

/// cp.async, done at once: mode bytes to shared d + offset from global a + b; c bytes of them are real, the rest zero.
instruction const* copy_to_shared(thread& t, instruction const& i)
{
    std::size_t const size = i.mode;
    std::size_t const real = std::min<std::size_t>(size, get<u32>(t, i.c));
    auto const to =
        resolve<space::shared>(t, i, t.slots[i.d] + static_cast<u64>(i.offset), size, access::write);
    if (!to) return nullptr;
    if (real != 0) {
        auto const from = resolve<space::global>(t, i, t.slots[i.a] + t.slots[i.b], size, access::read);
        if (!from) return nullptr;
        std::memcpy(to, from, real);
    }
    std::memset(to + real, 0, size - real);
    return &i + 1;
}

void emit_copy(translator& x)
{
    if (!x.take("async") || x.take("bulk")) x.fail("only cp.async of 4, 8 or 16 bytes is supported");
    if (x.take("commit_group") || x.take("wait_all") || x.take("wait_group")) return; // the copies are done
    take_cache_hints(x);
    if (!x.take("shared") && !x.take("shared::cta")) x.fail("needs .shared.global");
    if (!x.take("global")) x.fail("needs .shared.global");
    x.expect_operands(3, 4);
    auto const size = x.at(2).bits;
    if (x.at(2).kind != operand_kind::bits || (size != 4 && size != 8 && size != 16))
        x.fail("the size must be 4, 8 or 16");
    auto const to = x.address(0, space::shared);
    auto const from = x.address(1, space::global);
    auto const real = x.count() == 4 ? x.source(3, u32_type) : x.constant(size);
    auto const offset = x.constant(static_cast<u64>(from.offset));
    x.emit(copy_to_shared, to.base, from.base, offset, real, 0, static_cast<u32>(size)).offset = to.offset;
}

void emit_hint(translator& x)
{
    take_space(x);
    for (auto const level : {"L1", "L2"}) x.take(level);
    take_cache_hints(x);
}

} // namespace

space take_space(translator& x)
{
    struct row {
        std::string_view name;
        space where;
    };
    static constexpr row rows[] = {
        {"global", space::global},          {"const", space::constant},
        {"shared", space::shared},          {"local", space::local},
        {"param", space::parameter},        {"shared::cta", space::shared},
        {"param::entry", space::parameter}, {"param::func", space::parameter},
    };
    for (row const& r : rows)
        if (x.take(r.name)) return r.where;
    return space::generic;
}

void take_cache_hints(translator& x)
{
    while (!x.take_one_of({"ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", "L1::evict_normal",
                           "L1::evict_unchanged", "L1::evict_first", "L1::evict_last", "L1::no_allocate",
                           "L2::evict_normal", "L2::evict_first", "L2::evict_last", "L2::64B", "L2::128B",
                           "L2::256B"})
                .empty()) {
    }
}

bool take_strength(translator& x)
{
    if (x.take("weak")) return false;
    bool const strong =
        !x.take_one_of({"volatile", "relaxed", "acquire", "release", "acq_rel", "sc"}).empty();
    bool const scoped = !x.take_one_of({"cta", "cluster", "gpu", "sys"}).empty();
    return strong || scoped;
}

std::span<opcode_entry const> memory_opcodes()
{
    static constexpr opcode_entry table[] = {
        {"ld", emit_load}, {"ldu", emit_load},      {"st", emit_store},
        {"cp", emit_copy}, {"prefetch", emit_hint}, {"prefetchu", emit_hint},
    };
    return table;
}

} // namespace omp_co_sim::ptx
