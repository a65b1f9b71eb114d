// SPDX-License-Identifier: BSL-1.0
// A kernel with a variant for each kind of device.
#pragma once

#include <omp_co/detail/construct.hpp>
#include <omp_co/detail/kernel_state.hpp>

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace omp_co {

template <class Signature>
class kernel;

/// A kernel by name, with one variant a backend: `host::variant(callable)`, `cuda::source(text)`, `cuda::image(…)`, ….
/// `target` runs the variant for its device (OpenMP 5.2, 7.5 declare variant); where there is none, the region ends with
/// kernel_unavailable.
///
/// `Args` are the types that a device's code declares; a clause's value is converted to them. A host variant of a range
/// kernel takes the indices first, a device's variant computes them.
///
/// Copies share the variants, which are immutable. Thread safety: any. Lifetimes: a region keeps the variants alive from its
/// start on; until then the kernel must live, so `target` takes no temporary one.
template <class... Args>
class kernel<void(Args...)> {
    static_assert((std::is_trivially_copyable_v<std::remove_reference_t<Args>> && ...),
                  "omp_co: the parameters of a kernel travel to devices and must be trivially copyable");
    static_assert(((!std::is_reference_v<Args> ||
                    (std::is_lvalue_reference_v<Args> && !std::is_const_v<std::remove_reference_t<Args>>)) &&
                   ...),
                  "omp_co: a parameter of a kernel is a value, a pointer, or T& for a reduction");

public:
    /// Throws std::bad_alloc. Nothing is compiled or loaded before the first region on a device needs it.
    template <class... Variants>
    explicit kernel(std::string_view name, Variants const&... variants)
        : state_(new detail::kernel_state(name))
    {
        static_assert(sizeof...(Variants) > 0, "omp_co: a kernel needs a variant");
        (state_->add(variants.template bind<Args...>(std::string(name))), ...);
    }

    std::string_view name() const noexcept { return state_->name(); }

    /// Whether there is a variant for this kind of device.
    bool runs_on(backend_kind kind) const noexcept { return state_->variant(kind) != nullptr; }

    /// Compiles and loads the variant for `where`, so that no region has to wait for it. Completion signature:
    /// `void(error_code)`. Cancellation and thread safety as for target().
    auto prepare(device where) const noexcept
    {
        return detail::make_operation<detail::construct::target>(where, detail::preparation{state_.get()},
                                                                 range(0));
    }

    // What the rest of omp_co works with.
    detail::kernel_state const& state() const noexcept { return *state_; }

private:
    boost::intrusive_ptr<detail::kernel_state> state_;
};

} // namespace omp_co
