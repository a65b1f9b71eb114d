// SPDX-License-Identifier: BSL-1.0
// How a callable that runs on the host is kept until then.
#pragma once

#include <omp_co/detail/kernel_check.hpp>

#include <functional>
#include <type_traits>

namespace omp_co::detail {

/// A copy where that copies bytes, else a reference to an lvalue. g++ 12 destroys other temporaries twice in a co_await.
template <class F>
auto keep_callable(F& f) noexcept
{
    if constexpr (copied_as_bytes<std::remove_const_t<F>>)
        return f;
    else
        return std::ref(f);
}

/// Whether that is possible for an argument of this type.
template <class F>
concept can_be_kept = copied_as_bytes<std::remove_cvref_t<F>> || std::is_lvalue_reference_v<F>;

} // namespace omp_co::detail
