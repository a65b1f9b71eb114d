// SPDX-License-Identifier: BSL-1.0
// What the copies of a kernel object share, and how it looks as an operation's kernel.
#pragma once

#include <omp_co/backend.hpp>

#include <array>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace omp_co::detail {

class kernel_state : public boost::intrusive_ref_counter<kernel_state> {
public:
    explicit kernel_state(std::string_view name) : name_(name) {}

    std::string_view name() const noexcept { return name_; }

    backend::kernel const* variant(backend_kind kind) const noexcept
    {
        return variants_[static_cast<std::size_t>(kind)].get();
    }

    /// The first variant of its kind counts.
    void add(std::shared_ptr<backend::kernel const> k) noexcept
    {
        auto& place = variants_[static_cast<std::size_t>(k->kind)];
        if (place == nullptr) place = std::move(k);
    }

private:
    std::string name_;
    std::array<std::shared_ptr<backend::kernel const>, backend_kinds> variants_;
};

/// A kernel object in an operation: no count, so that the operation is trivial to copy.
template <class... Args>
struct kernel_reference {
    kernel_state const* state;
};

} // namespace omp_co::detail
