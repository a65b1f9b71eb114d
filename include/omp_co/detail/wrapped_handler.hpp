// SPDX-License-Identifier: BSL-1.0
// Handlers around handlers.
#pragma once

#include <omp_co/detail/asio.hpp>

namespace omp_co::detail {

/// A class of ours with a `handler` of type `omp_co_wrapped`. What that says of itself (its executor, allocator, slot) holds for the
/// one around it.
template <class Wrapper>
concept wraps_handler = requires(Wrapper const& w)
{
    typename Wrapper::omp_co_wrapped;
    w.handler;
};

} // namespace omp_co::detail

template <template <class, class> class Associator, omp_co::detail::wraps_handler Wrapper, class Default>
struct boost::asio::associator<Associator, Wrapper, Default>
    : Associator<typename Wrapper::omp_co_wrapped, Default> {
    using of_wrapped = Associator<typename Wrapper::omp_co_wrapped, Default>;

    static typename of_wrapped::type get(Wrapper const& w) noexcept { return of_wrapped::get(w.handler); }
    static auto get(Wrapper const& w, Default const& d) noexcept -> decltype(of_wrapped::get(w.handler, d))
    {
        return of_wrapped::get(w.handler, d);
    }
};
