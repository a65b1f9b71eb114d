// SPDX-License-Identifier: BSL-1.0
// What an address is to the driver: with unified addressing each byte, on the host or a device, has one of its own.
#pragma once

#include <omp_co/cuda/backend.hpp>
#include <omp_co/device.hpp>

namespace omp_co::cuda {

/// Ordinary host memory; host memory that is page-locked; a device's memory; memory that moves to where it is used
/// (cudaMallocManaged).
enum class memory_kind : unsigned char { pageable, pinned, device, managed };

/// What the driver knows of an address.
struct place {
    memory_kind kind = memory_kind::pageable;
    omp_co::device owner;      ///< device memory: whose; none if it is no device of omp_co's
    void* on_device = nullptr; ///< the address by which kernels reach it; null: they cannot
};

/// Tells what an address of any library is, for instance whether it can be given to is_device_ptr() and on which device
/// (cuPointerGetAttribute). Memory that the driver does not know, and all memory where there is no driver, is pageable. Thread
/// safety: any. Makes no context and does not wait.
inline place where_is(void const* p)
{
    driver::api const& d = driver::table();
    auto const address = reinterpret_cast<driver::device_address>(p);
    place found;
    driver::memory_type type{};
    if (!d.available() || p == nullptr ||
        d.pointer_get_attribute(&type, driver::pointer_attribute::memory_type, address) !=
            driver::result::success)
        return found;
    unsigned managed = 0;
    (void)d.pointer_get_attribute(&managed, driver::pointer_attribute::is_managed, address);
    found.kind = managed != 0                        ? memory_kind::managed
                 : type == driver::memory_type::host ? memory_kind::pinned
                                                     : memory_kind::device;
    driver::device_address reached = 0;
    if (d.pointer_get_attribute(&reached, driver::pointer_attribute::device_pointer, address) ==
        driver::result::success)
        found.on_device = reinterpret_cast<void*>(reached);
    int ordinal = -1;
    if (found.kind != memory_kind::device ||
        d.pointer_get_attribute(&ordinal, driver::pointer_attribute::device_ordinal, address) !=
            driver::result::success)
        return found;
    for (omp_co::device const each : omp_co::devices()) {
        if (each.backend() != backend_kind::cuda) continue;
        bool mine = false;
        (void)omp_co::detail::registry::instance().with(
            *each.slot(), each.generation(), [&](omp_co::detail::device_core& core) {
                auto* const known = dynamic_cast<engine::cuda_device*>(&core.device());
                mine = known != nullptr && known->number() == ordinal;
            });
        if (mine) found.owner = each;
    }
    return found;
}

} // namespace omp_co::cuda
