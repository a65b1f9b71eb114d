// SPDX-License-Identifier: BSL-1.0
// The module's own level: directives, variables, the heads of kernels and functions.
#include "body.hpp"
#include "cursor.hpp"
#include "declarations.hpp"
#include "syntax.hpp"

namespace omp_co_sim::ptx {
namespace {

class unit_parser {
public:
    explicit unit_parser(std::string_view text) : in_{tokens_of(text)} {}

    unit run()
    {
        while (!in_.at_end()) directive();
        if (out_.version.empty()) in_.fail("no .version: this is not PTX");
        return std::move(out_);
    }

private:
    void directive()
    {
        if (in_.accept(';')) return;
        if (in_.peek().kind != token_kind::dotted)
            in_.fail((out_.version.empty() ? "this is not PTX:" : "expected a directive") + in_.found());
        auto const word = in_.next().text;
        if (word == ".version") return version();
        if (word == ".target") return target();
        if (word == ".address_size") {
            if (in_.integer("32 or 64") != 64) in_.fail("only .address_size 64 is supported");
            return;
        }
        if (word == ".file") return skip_line();
        if (word == ".section") {
            in_.skip_to('{');
            return in_.skip_to('}');
        }
        if (word == ".pragma") return in_.skip_to(';');
        if (word == ".visible" || word == ".weak" || word == ".common") {
            linkage_.visible = true;
            return;
        }
        if (word == ".extern") {
            linkage_.external = true;
            return;
        }
        if (word == ".entry" || word == ".func")
            function_head(word == ".entry");
        else if (word == ".global")
            variables(space::global);
        else if (word == ".const")
            variables(space::constant);
        else if (word == ".shared")
            variables(space::shared);
        else
            in_.fail("directive '" + std::string{word} + "' is not supported");
        linkage_ = {};
    }

    void skip_line()
    {
        int const line = in_.peek().line;
        while (!in_.at_end() && in_.peek().line == line) in_.next();
    }

    void version()
    {
        // "9.0" is one token, a float; its text is what is wanted.
        out_.version = std::string{in_.next().text};
    }

    void target()
    {
        out_.target = std::string{in_.word("a target")};
        while (in_.accept(',')) in_.word("a target");
    }

    void variables(space where)
    {
        for (declared const& d : parse_variables(in_, out_, where, linkage_)) {
            auto const [place, is_new] =
                out_.variable_named.try_emplace(d.name, static_cast<std::uint32_t>(out_.variables.size()));
            if (is_new) {
                out_.variables.push_back(d);
                continue;
            }
            declared& before = out_.variables[place->second];
            if (!before.external && !d.external) in_.fail("'" + std::string{d.name} + "' is defined twice");
            if (before.external) before = d;
        }
    }

    void function_head(bool is_kernel)
    {
        function f;
        f.is_kernel = is_kernel;
        f.line = in_.peek().line;
        if (!is_kernel && in_.peek().is('(')) f.results = parameters(f, space::parameter);
        f.name = in_.word("a function's name");
        if (in_.peek().is('('))
            f.parameters = parameters(f, is_kernel ? space::kernel_parameter : space::parameter);
        attributes(f);
        f.has_body = in_.peek().is('{');
        auto const [place, is_new] = out_.function_named.try_emplace(f.name, out_.functions.size());
        if (is_new) out_.functions.emplace_back();
        if (!f.has_body) {
            in_.expect(';');
            if (is_new) out_.functions[place->second] = std::move(f);
            return;
        }
        if (out_.functions[place->second].has_body)
            in_.fail("'" + std::string{f.name} + "' is defined twice");
        out_.functions[place->second] = f;
        parse_body(in_, out_, f);
        out_.functions[place->second] = std::move(f);
    }

    std::vector<std::uint32_t> parameters(function& f, space where)
    {
        std::vector<std::uint32_t> out;
        in_.expect('(');
        while (!in_.accept(')')) {
            if (in_.peek().is(".reg")) in_.fail("parameters in registers are not supported");
            if (!in_.accept(".param")) in_.fail("expected .param" + in_.found());
            out.push_back(static_cast<std::uint32_t>(f.variables.size()));
            f.variables.push_back(parse_parameter(in_, where));
            if (!in_.peek().is(')')) in_.expect(',');
        }
        return out;
    }

    void attributes(function& f)
    {
        while (in_.peek().kind == token_kind::dotted) {
            auto const word = in_.next().text;
            if (word == ".maxntid")
                f.max_threads = extents();
            else if (word == ".reqntid")
                f.required_threads = extents();
            else if (word == ".minnctapersm" || word == ".maxnctapersm" || word == ".maxnreg")
                in_.integer("a number");
            else if (word == ".pragma")
                in_.skip_to(';');
            else if (word != ".noreturn")
                in_.fail("directive '" + std::string{word} + "' of a function is not supported");
        }
    }

    std::array<unsigned, 3> extents()
    {
        std::array<unsigned, 3> out{1, 1, 1};
        std::size_t i = 0;
        do {
            if (i == 3) in_.fail("more than three dimensions");
            out[i++] = static_cast<unsigned>(in_.integer("an extent"));
        } while (in_.accept(','));
        return out;
    }

    cursor in_;
    unit out_;
    linkage linkage_;
};

} // namespace

unit parse_unit(std::string_view text) { return unit_parser{text}.run(); }

} // namespace omp_co_sim::ptx
