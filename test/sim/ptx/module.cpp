// SPDX-License-Identifier: BSL-1.0
// From text to a module: every kernel is translated at once, so that what cannot run is known when it is loaded.
#include "syntax.hpp"
#include "translator.hpp"

#include <algorithm>
#include <cstring>

namespace omp_co_sim::ptx {
namespace {

kernel make_kernel(unit const& u, function const& f)
{
    auto code = std::make_shared<program>();
    translator{u, *code}.translate(f);
    kernel k;
    k.name = std::string{f.name};
    std::size_t offset = 0;
    for (auto const index : f.parameters) {
        declared const& d = f.variables[index];
        offset = (offset + d.alignment - 1) & ~(d.alignment - 1);
        k.parameters.push_back({std::string{d.name}, offset, d.size, d.alignment});
        offset += d.size;
    }
    k.parameter_bytes = offset;
    k.static_shared_bytes = code->static_shared_bytes;
    k.local_bytes = code->local_bytes;
    k.registers = f.registers;
    k.max_threads = f.max_threads;
    k.required_threads = f.required_threads;
    k.code = std::move(code);
    return k;
}

} // namespace

parse_error::parse_error(int line, std::string const& message)
    : std::runtime_error{"line " + std::to_string(line) + ": " + message}, line_{line}
{
}

kernel const* module::find_kernel(std::string_view name) const noexcept
{
    auto const found =
        std::find_if(kernels_.begin(), kernels_.end(), [&](kernel const& k) { return k.name == name; });
    return found == kernels_.end() ? nullptr : &*found;
}

variable const* module::find_global(std::string_view name) const noexcept
{
    auto const found =
        std::find_if(globals_.begin(), globals_.end(), [&](variable const& v) { return v.name == name; });
    return found == globals_.end() ? nullptr : &*found;
}

std::vector<std::byte> module::initial_bytes(std::size_t index,
                                             std::span<std::uint64_t const> addresses) const
{
    variable const& v = globals_.at(index);
    auto out = v.initial;
    for (relocation const& r : v.relocations) {
        auto const address = addresses[r.variable] + static_cast<std::uint64_t>(r.addend);
        auto const bits = address >> r.shift;
        std::memcpy(out.data() + r.offset, &bits, r.size);
    }
    return out;
}

module parse(std::string_view text)
{
    unit u = parse_unit(text);
    module m;
    m.version_ = u.version;
    m.target_ = u.target;
    for (function const& f : u.functions)
        if (f.is_kernel && f.has_body) m.kernels_.push_back(make_kernel(u, f));
    m.globals_ = std::move(u.globals);
    return m;
}

} // namespace omp_co_sim::ptx
