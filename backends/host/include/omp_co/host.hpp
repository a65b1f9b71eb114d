// SPDX-License-Identifier: BSL-1.0
// The host backend: the machine's own cores as devices.
#pragma once

#include <omp_co/device.hpp>
#include <omp_co/host/backend.hpp>
#include <omp_co/host/options.hpp>
#include <omp_co/host/variant.hpp>

#include <memory>
#include <vector>

namespace omp_co::host {

/// A host device of one's own, beside those of devices(): for tests, for a pool of workers of a certain size, or for
/// kernels that run in the call (`workers = 0`).
///
/// Destruction waits until its regions have retired; handles to it then answer device_lost.
class virtual_device {
public:
    /// Throws std::bad_alloc or std::system_error if the workers cannot be started; boost::system::system_error if it is to be
    /// strict and cannot be: errc::not_supported without AddressSanitizer, errc::invalid_argument with unified memory.
    explicit virtual_device(options const& o = {}) : device_(add(o)) {}
    virtual_device(virtual_device const&) = delete;
    virtual_device& operator=(virtual_device const&) = delete;

    ~virtual_device()
    {
        if (device_.slot() != nullptr)
            detail::registry::instance().remove(*device_.slot(), device_.generation());
    }

    operator device() const noexcept { return device_; }
    device get() const noexcept { return device_; }

private:
    // No device comes to be once the program is on its way out, or in a forked child.
    static device add(options const& o)
    {
        detail::registry& all = detail::registry::instance();
        if (all.forked() || all.closing()) return {};
        detail::device_slot& slot = all.add(std::make_unique<host_device>(o), false);
        return {&slot, slot.generation};
    }

    device device_;
};

/// The host devices among devices(): OMP_CO_HOST_DEVICES of them (default 1), each with OMP_CO_HOST_WORKERS workers.
inline std::vector<device> devices()
{
    std::vector<device> list;
    for (device const d : omp_co::devices())
        if (d.backend() == backend_kind::host) list.push_back(d);
    return list;
}

namespace detail {

inline void discover(omp_co::detail::registry& all)
{
    using omp_co::detail::number_from_environment;
    options o;
    o.workers = number_from_environment("OMP_CO_HOST_WORKERS", 1024, all.bad_environment).value_or(o.workers);
    unsigned const count =
        number_from_environment("OMP_CO_HOST_DEVICES", 64, all.bad_environment).value_or(1);
    std::vector<std::unique_ptr<host_device>> made; // all or none
    for (unsigned i = 0; i < count; ++i) made.push_back(std::make_unique<host_device>(o));
    options inline_options;
    inline_options.workers = 0;
    inline_options.unified_memory = true;
    all.initial_device = &all.add(std::make_unique<host_device>(inline_options), false, true);
    for (auto& each : made) all.add(std::move(each), true);
}

inline omp_co::detail::backend_source const source(backend_kind::host, &discover);

} // namespace detail
} // namespace omp_co::host
