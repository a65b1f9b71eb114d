// SPDX-License-Identifier: BSL-1.0
// The body of a function: statements, nested scopes with names of their own, labels that are known later.
#include "body.hpp"

#include "declarations.hpp"

#include <charconv>
#include <unordered_map>

namespace omp_co_sim::ptx {
namespace {

struct symbol {
    operand_kind kind = operand_kind::nothing; ///< reg, local_symbol or module_symbol
    std::uint32_t index = 0;
};

/// `.reg .b32 %r<100>;`: a hundred names at once.
struct register_family {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
};

struct scope {
    std::unordered_map<std::string_view, symbol> names;
    std::unordered_map<std::string_view, register_family> families;
    std::unordered_map<std::string_view, std::uint32_t> labels; ///< known or only used so far
    std::unordered_map<std::string_view, std::uint32_t> tables;
};

constexpr auto undefined_label = static_cast<std::size_t>(-1);

class body_parser {
public:
    body_parser(cursor& in, unit& u, function& f) : in_{in}, unit_{u}, function_{f} {}

    void run()
    {
        in_.expect('{');
        scopes_.emplace_back();
        for (std::uint32_t i = 0; i < function_.variables.size(); ++i)
            scopes_.back().names[function_.variables[i].name] = {operand_kind::local_symbol, i};
        while (!scopes_.empty()) element();
    }

private:
    void element()
    {
        if (in_.accept('{')) {
            scopes_.emplace_back();
            return;
        }
        if (in_.accept('}')) return close_scope();
        if (in_.peek().kind == token_kind::dotted) return directive();
        if (in_.peek().kind == token_kind::word && in_.peek(1).is(':')) return label();
        instruction();
    }

    void close_scope()
    {
        scope closed = std::move(scopes_.back());
        scopes_.pop_back();
        for (auto const& [name, index] : closed.labels) {
            if (function_.labels[index] != undefined_label) continue;
            if (scopes_.empty()) in_.fail("label '" + std::string{name} + "' is not defined");
            // Used here, defined further out: from now on the outer scope's, under the same index or its own.
            auto const [outer, is_new] = scopes_.back().labels.try_emplace(name, index);
            if (!is_new) aliases_.emplace_back(index, outer->second);
        }
        if (!scopes_.empty()) return;
        for (auto alias = aliases_.rbegin(); alias != aliases_.rend(); ++alias)
            function_.labels[alias->first] = function_.labels[alias->second];
        for (auto const target : function_.labels)
            if (target == undefined_label) in_.fail("a branch to a label that is not defined");
    }

    std::uint32_t label_index(std::string_view name)
    {
        for (auto s = scopes_.rbegin(); s != scopes_.rend(); ++s) {
            auto const found = s->labels.find(name);
            bool const here = s == scopes_.rbegin();
            if (found != s->labels.end() && (here || function_.labels[found->second] != undefined_label))
                return found->second;
        }
        auto const index = static_cast<std::uint32_t>(function_.labels.size());
        function_.labels.push_back(undefined_label);
        scopes_.back().labels.emplace(name, index);
        return index;
    }

    void label()
    {
        auto const name = in_.next().text;
        in_.expect(':');
        if (in_.accept(".branchtargets")) {
            branch_table table;
            do table.labels.push_back(label_index(in_.word("a label")));
            while (in_.accept(','));
            in_.expect(';');
            scopes_.back().tables.emplace(name, static_cast<std::uint32_t>(function_.tables.size()));
            function_.tables.push_back(std::move(table));
            return;
        }
        if (in_.peek().is(".calltargets") || in_.peek().is(".callprototype"))
            in_.fail("calls through pointers are not supported");
        auto const [place, is_new] =
            scopes_.back().labels.try_emplace(name, static_cast<std::uint32_t>(function_.labels.size()));
        if (is_new) function_.labels.push_back(undefined_label);
        if (function_.labels[place->second] != undefined_label)
            in_.fail("label '" + std::string{name} + "' is defined twice");
        function_.labels[place->second] = function_.body.size();
    }

    void directive()
    {
        auto const word = in_.next().text;
        if (word == ".reg") return registers();
        if (word == ".local") return variables(space::local);
        if (word == ".shared") return variables(space::shared);
        if (word == ".param") return variables(space::parameter);
        if (word == ".global") return variables(space::global);
        if (word == ".const") return variables(space::constant);
        if (word == ".loc") {
            int const line = in_.peek().line;
            while (in_.peek().line == line) in_.next();
            return;
        }
        if (word == ".pragma") return in_.skip_to(';');
        in_.fail("directive '" + std::string{word} + "' is not supported in a function");
    }

    void registers()
    {
        if (in_.accept(".v2") || in_.accept(".v4")) in_.fail("vector registers are not supported");
        if (in_.peek().kind != token_kind::dotted || !type_named(in_.peek().text))
            in_.fail("registers of this type are not supported" + in_.found());
        in_.next();
        do {
            auto const name = in_.word("a register");
            auto const first = function_.registers;
            if (!in_.accept('<')) {
                ++function_.registers;
                scopes_.back().names[name] = {operand_kind::reg, first};
                continue;
            }
            auto const count = static_cast<std::uint32_t>(in_.integer("a number of registers"));
            in_.expect('>');
            if (count > 1'000'000) in_.fail("too many registers");
            function_.registers += count;
            scopes_.back().families[name] = {first, count};
        } while (in_.accept(','));
        in_.expect(';');
    }

    void variables(space where)
    {
        for (declared const& d : parse_variables(in_, unit_, where, {})) {
            bool const outside = where == space::global || where == space::constant;
            auto& list = outside ? unit_.variables : function_.variables;
            scopes_.back().names[d.name] = {outside ? operand_kind::module_symbol
                                                    : operand_kind::local_symbol,
                                            static_cast<std::uint32_t>(list.size())};
            list.push_back(d);
        }
    }

    std::optional<symbol> find(std::string_view name) const
    {
        auto const digits = name.find_last_not_of("0123456789") + 1;
        std::uint32_t number = 0;
        bool const numbered =
            digits < name.size() && (name[digits] != '0' || digits + 1 == name.size()) &&
            std::from_chars(name.data() + digits, name.data() + name.size(), number).ec == std::errc{};
        for (auto s = scopes_.rbegin(); s != scopes_.rend(); ++s) {
            if (auto const found = s->names.find(name); found != s->names.end()) return found->second;
            if (!numbered) continue;
            auto const family = s->families.find(name.substr(0, digits));
            if (family != s->families.end() && number < family->second.count)
                return symbol{operand_kind::reg, family->second.first + number};
        }
        auto const outside = unit_.variable_named.find(name);
        if (outside != unit_.variable_named.end())
            return symbol{operand_kind::module_symbol, outside->second};
        return std::nullopt;
    }

    std::uint32_t register_named(std::string_view name) const
    {
        auto const found = find(name);
        if (!found || found->kind != operand_kind::reg)
            in_.fail("'" + std::string{name} + "' is not a register");
        return found->index;
    }

    void instruction()
    {
        statement s;
        s.line = in_.peek().line;
        if (in_.accept('@')) {
            s.guard_negated = in_.accept('!');
            s.guard = register_named(in_.word("a predicate"));
        }
        s.opcode = in_.word("an instruction");
        while (in_.peek().kind == token_kind::dotted) s.modifiers.push_back(in_.next().text.substr(1));
        bool const branch = s.opcode == "bra" || s.opcode == "brx";
        while (!in_.accept(';')) {
            s.operands.push_back(branch ? target_or_operand() : parse_operand());
            if (!in_.peek().is(';')) in_.expect(',');
        }
        function_.body.push_back(std::move(s));
    }

    operand target_or_operand()
    {
        auto const name = in_.peek().text;
        if (in_.peek().kind != token_kind::word || find(name)) return parse_operand();
        in_.next();
        operand o;
        o.name = name;
        for (auto s = scopes_.rbegin(); s != scopes_.rend(); ++s) {
            auto const table = s->tables.find(name);
            if (table == s->tables.end()) continue;
            o.kind = operand_kind::name;
            o.index = table->second;
            return o;
        }
        o.kind = operand_kind::label;
        o.index = label_index(name);
        return o;
    }

    operand parse_operand()
    {
        operand o;
        if (in_.accept('!')) {
            o = parse_operand();
            o.negated = true;
            return o;
        }
        if (in_.accept('[')) {
            o = scalar();
            o.address = true;
            in_.expect(']');
            return o;
        }
        if (in_.accept('{')) return list('}');
        if (in_.accept('(')) return list(')');
        o = scalar();
        if (in_.accept('|')) {
            auto const name = in_.word("a register");
            o.has_second = true;
            if (name != "_") o.second = register_named(name);
        }
        return o;
    }

    operand list(char close)
    {
        operand o;
        o.kind = operand_kind::list;
        while (!in_.accept(close)) {
            o.elements.push_back(parse_operand());
            if (!in_.peek().is(close)) in_.expect(',');
        }
        return o;
    }

    operand scalar()
    {
        operand o;
        token const t = in_.peek();
        if (t.kind == token_kind::float32 || t.kind == token_kind::float64) {
            o.kind = t.kind == token_kind::float32 ? operand_kind::float32 : operand_kind::float64;
            o.bits = in_.next().bits;
            return o;
        }
        if (t.kind != token_kind::word) {
            o.kind = operand_kind::bits;
            o.bits = in_.integer("an operand");
            return o;
        }
        in_.next();
        if (t.text == "_") return o;
        o.name = t.text;
        if (auto const found = find(t.text)) {
            o.kind = found->kind;
            o.index = found->index;
        } else if (t.text[0] == '%') {
            o.kind = operand_kind::special;
            if (in_.peek().kind == token_kind::dotted) {
                auto const part = in_.next().text;
                o.name = {t.text.data(), t.text.size() + part.size()};
            }
        } else {
            o.kind = operand_kind::name;
        }
        if (in_.accept('+')) o.offset = static_cast<std::int64_t>(in_.integer("an offset"));
        if (in_.peek().is('-')) o.offset = static_cast<std::int64_t>(in_.integer("an offset"));
        return o;
    }

    cursor& in_;
    unit& unit_;
    function& function_;
    std::vector<scope> scopes_;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> aliases_;
};

} // namespace

void parse_body(cursor& in, unit& u, function& f) { body_parser{in, u, f}.run(); }

} // namespace omp_co_sim::ptx
