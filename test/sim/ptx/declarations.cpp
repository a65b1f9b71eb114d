// SPDX-License-Identifier: BSL-1.0
// Variable declarations: types, extents, alignment, initialisers with addresses.
#include "declarations.hpp"

#include <bit>
#include <cstring>

namespace omp_co_sim::ptx {
namespace {

struct shape {
    type element;
    std::size_t lanes = 1; ///< .v2, .v4
    std::size_t alignment = 0;
    bool managed = false;
    std::size_t bytes() const { return element.size * lanes; }
};

shape parse_shape(cursor& in)
{
    shape s;
    while (in.peek().kind == token_kind::dotted) {
        auto const word = in.peek().text;
        if (word == ".align") {
            in.next();
            s.alignment = static_cast<std::size_t>(in.integer("an alignment"));
            if (!std::has_single_bit(s.alignment)) in.fail("an alignment is a power of two");
            continue;
        }
        if (word == ".attribute") {
            in.next();
            in.expect('(');
            if (in.accept(".managed")) s.managed = true;
            in.skip_to(')');
            continue;
        }
        if (word == ".v2" || word == ".v4") {
            in.next();
            s.lanes = word == ".v2" ? 2 : 4;
            continue;
        }
        if (word == ".ptr") {
            in.next();
            while (in.accept(".global") || in.accept(".const") || in.accept(".shared") ||
                   in.accept(".local")) {
            }
            if (in.accept(".align")) in.integer("an alignment");
            continue;
        }
        auto const t = type_named(word);
        if (!t || t->kind == 'p') in.fail("variables of type " + std::string{word} + " are not supported");
        s.element = *t;
        in.next();
    }
    if (s.element.size == 0) in.fail("a declaration without a type" + in.found());
    if (s.alignment == 0) s.alignment = s.bytes();
    return s;
}

/// The extents after a name; an empty first one ([]) is 0.
std::vector<std::size_t> parse_extents(cursor& in)
{
    std::vector<std::size_t> out;
    while (in.accept('[')) {
        out.push_back(in.peek().is(']') ? 0 : static_cast<std::size_t>(in.integer("an extent")));
        in.expect(']');
    }
    return out;
}

class initialiser {
public:
    initialiser(cursor& in, unit const& u, variable& v, type element)
        : in_{in}, unit_{u}, out_{v}, element_{element}
    {
    }

    void fill(std::span<std::size_t const> extents, std::size_t offset)
    {
        if (!in_.accept('{')) {
            value(offset);
            return;
        }
        std::size_t stride = element_.size;
        for (std::size_t i = 1; i < extents.size(); ++i) stride *= extents[i];
        auto const inner = extents.empty() ? extents : extents.subspan(1);
        for (std::size_t at = offset; !in_.accept('}'); at += stride) {
            fill(inner, at);
            if (!in_.peek().is('}')) in_.expect(',');
        }
    }

private:
    void value(std::size_t offset)
    {
        if (offset + element_.size > out_.size) in_.fail("more initial values than the variable holds");
        token const& t = in_.peek();
        if (t.kind == token_kind::word) return address(offset, 0, element_.size);
        if (t.kind == token_kind::integer && in_.peek(1).is('(')) return masked(offset);
        store(offset, number());
    }

    std::uint64_t number()
    {
        bool const minus = in_.accept('-');
        token const t = in_.next();
        if (t.kind == token_kind::integer) return minus ? std::uint64_t{0} - t.bits : t.bits;
        bool const single = element_.kind == 'f' && element_.size == 4;
        auto bits = t.bits;
        if (t.kind == token_kind::float64 && single)
            bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
        if (t.kind != token_kind::float32 && t.kind != token_kind::float64)
            in_.fail("expected an initial value");
        if (minus) bits ^= std::uint64_t{1} << (8 * element_.size - 1);
        return bits;
    }

    void masked(std::size_t offset)
    {
        auto const mask = in_.next().bits;
        in_.expect('(');
        auto const shift = static_cast<unsigned>(std::countr_zero(mask));
        if (mask == 0 || (mask >> shift) != 0xff || shift % 8 != 0)
            in_.fail("a mask() initialiser chooses one byte of an address");
        address(offset, shift, 1);
        in_.expect(')');
    }

    void address(std::size_t offset, unsigned shift, std::size_t bytes)
    {
        auto name = in_.word("a variable");
        bool const wrapped = name == "generic" && in_.accept('(');
        if (wrapped) name = in_.word("a variable");
        if (unit_.function_named.contains(name))
            in_.fail("the address of function '" + std::string{name} + "' is not supported");
        auto const found = unit_.variable_named.find(name);
        if (found == unit_.variable_named.end()) in_.fail("'" + std::string{name} + "' is not declared");
        declared const& target = unit_.variables[found->second];
        if (target.external || (target.where != space::global && target.where != space::constant))
            in_.fail("the address of '" + std::string{name} + "' is not known");
        auto addend = offset_after();
        if (wrapped) {
            in_.expect(')');
            addend += offset_after();
        }
        out_.relocations.push_back({offset, target.global, addend, shift, static_cast<unsigned>(bytes)});
    }

    std::int64_t offset_after()
    {
        if (in_.accept('+')) return static_cast<std::int64_t>(in_.integer("an offset"));
        return in_.peek().is('-') ? static_cast<std::int64_t>(in_.integer("an offset")) : 0;
    }

    void store(std::size_t offset, std::uint64_t bits)
    {
        static_assert(std::endian::native == std::endian::little);
        std::memcpy(out_.initial.data() + offset, &bits, element_.size);
    }

    cursor& in_;
    unit const& unit_;
    variable& out_;
    type element_;
};

declared parse_one(cursor& in, unit& u, shape const& s, space where, linkage how)
{
    declared d;
    d.name = in.word("a name");
    d.where = where;
    d.alignment = s.alignment;
    auto extents = parse_extents(in);
    bool const open = !extents.empty() && extents[0] == 0;
    d.size = s.bytes();
    for (auto const n : extents) d.size *= n;
    if (where == space::shared && (open || (how.external && d.size == 0))) d.dynamic = true;
    d.external = how.external && !d.dynamic;
    if (where != space::global && where != space::constant) {
        if (in.peek().is('=')) in.fail("only .global and .const variables have initial values");
        return d;
    }
    if (open && !d.external) in.fail("an array without an extent");
    if (d.external) return d;
    d.global = u.globals.size();
    variable v{std::string{d.name},
               d.size,
               s.alignment,
               where == space::constant,
               s.managed,
               how.visible,
               std::vector<std::byte>(d.size),
               {}};
    if (s.lanes > 1) extents.push_back(s.lanes);
    if (in.accept('=')) initialiser{in, u, v, s.element}.fill(extents, 0);
    u.globals.push_back(std::move(v));
    return d;
}

} // namespace

std::optional<type> type_named(std::string_view dotted)
{
    struct row {
        std::string_view name;
        type what;
    };
    static constexpr row rows[] = {
        {".pred", {'p', 1}}, {".b8", {'b', 1}},    {".b16", {'b', 2}},    {".b32", {'b', 4}},
        {".b64", {'b', 8}},  {".u8", {'u', 1}},    {".u16", {'u', 2}},    {".u32", {'u', 4}},
        {".u64", {'u', 8}},  {".s8", {'s', 1}},    {".s16", {'s', 2}},    {".s32", {'s', 4}},
        {".s64", {'s', 8}},  {".f16", {'f', 2}},   {".f32", {'f', 4}},    {".f64", {'f', 8}},
        {".bf16", {'g', 2}}, {".f16x2", {'h', 4}}, {".bf16x2", {'k', 4}},
    };
    for (row const& r : rows)
        if (r.name == dotted) return r.what;
    return std::nullopt;
}

std::vector<declared> parse_variables(cursor& in, unit& u, space where, linkage how)
{
    shape const s = parse_shape(in);
    std::vector<declared> out;
    do out.push_back(parse_one(in, u, s, where, how));
    while (in.accept(','));
    in.expect(';');
    return out;
}

declared parse_parameter(cursor& in, space where)
{
    shape const s = parse_shape(in);
    declared d{in.word("a parameter's name"), where, s.bytes(), s.alignment};
    for (auto const n : parse_extents(in)) d.size *= n;
    return d;
}

} // namespace omp_co_sim::ptx
