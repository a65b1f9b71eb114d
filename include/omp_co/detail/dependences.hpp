// SPDX-License-Identifier: BSL-1.0
// What the depend clauses of a construct say, gathered when it starts.
#pragma once

#include <omp_co/depend.hpp>
#include <omp_co/detail/dependent.hpp>

#include <boost/container/small_vector.hpp>
#include <span>
#include <type_traits>

namespace omp_co::detail {

class dependences {
public:
    /// Throws std::bad_alloc. Other clauses say nothing.
    template <class Clause>
    void take(Clause const& c, region_order& order)
    {
        if constexpr (is_depend<Clause>) {
            order.goes_on |= c.goes_on();
            if constexpr (std::is_same_v<Clause, depend_all_clause>)
                order.everything = true;
            else
                for (void const* const address : c.addresses()) all_.push_back({address, c.type()});
        }
    }

    std::span<dependence const> all() const noexcept { return {all_.data(), all_.size()}; }

private:
    boost::container::small_vector<dependence, 8> all_;
};

} // namespace omp_co::detail
