// SPDX-License-Identifier: BSL-1.0
// What the clauses of every operation say of its region: its name, and who hears why it failed.
#pragma once

#include <omp_co/clauses.hpp>
#include <omp_co/detail/dependences.hpp>
#include <omp_co/detail/region.hpp>
#include <omp_co/name.hpp>

#include <tuple>
#include <type_traits>

namespace omp_co::detail {

template <class Clause>
void describe(Clause const& c, region& r) noexcept
{
    if constexpr (std::is_base_of_v<name_clause, Clause>) r.call_it(c.text());
    if constexpr (std::is_same_v<Clause, explain_clause>) {
        r.why = c.target();
        if (r.why != nullptr) r.why->clear();
    }
}

template <class... Clauses>
void describe(std::tuple<Clauses...> const& clauses, region& r) noexcept
{
    std::apply([&](Clauses const&... each) { (describe(each, r), ...); }, clauses);
}

/// What the clauses name to depend on. Throws std::bad_alloc.
template <class... Clauses>
dependences gather_dependences(std::tuple<Clauses...> const& clauses, region_order& order)
{
    dependences all;
    std::apply([&](Clauses const&... each) { (all.take(each, order), ...); }, clauses);
    return all;
}

} // namespace omp_co::detail
