// SPDX-License-Identifier: BSL-1.0
// NVRTC, the compiler for CUDA C++ at run time: found at first use, or the reason why there is none.
#pragma once

#include <omp_co/cuda/driver.hpp>
#include <omp_co/cuda/nvrtc_api.hpp>
#include <omp_co/detail/registry.hpp>
#include <omp_co/detail/vendor_library.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace omp_co::cuda::nvrtc {

/// NVRTC's functions, found in one library; `available()` and `reason()` as in `driver::api`. Immutable once
/// constructed: any thread may use it.
class api : public functions {
public:
    explicit api(detail::vendor_library library) : library_(std::move(library))
    {
        reason_ = start();
        if (available()) return;
        for (detail::entry_point* e = all.first; e != nullptr; e = e->next()) e->set(nullptr);
    }

    bool available() const noexcept { return reason_.empty(); }
    std::string const& reason() const noexcept { return reason_; }
    std::string const& library() const noexcept { return library_.name; }

    /// 1000 * major + 10 * minor.
    int release() const noexcept { return release_; }

    /// The compute capabilities (10 * major + minor) that it compiles for, ascending.
    std::vector<int> const& architectures() const noexcept { return architectures_; }

    bool knows(int architecture) const noexcept
    {
        return std::find(architectures_.begin(), architectures_.end(), architecture) != architectures_.end();
    }

    /// The newest architecture whose PTX a device of this one can run; 0 if there is none.
    int newest_up_to(int architecture) const noexcept
    {
        int best = 0;
        for (int const a : architectures_)
            if (a <= architecture) best = std::max(best, a);
        return best;
    }

private:
    std::string start()
    {
        if (library_.handle == nullptr) return library_.reason;
        for (detail::entry_point* e = all.first; e != nullptr; e = e->next()) {
            e->set(library_.find(e->symbol()));
            if (!*e)
                return library_.name + " lacks " + e->symbol() + " of CUDA " +
                       driver::version_text(e->version());
        }
        int major = 0;
        int minor = 0;
        if (version(&major, &minor) != result::success) return library_.name + " does not tell its version";
        release_ = 1000 * major + 10 * minor;
        int count = 0;
        if (get_num_supported_archs(&count) != result::success || count <= 0)
            return library_.name + " does not tell which devices it compiles for";
        architectures_.resize(static_cast<std::size_t>(count));
        if (get_supported_archs(architectures_.data()) != result::success)
            return library_.name + " does not tell which devices it compiles for";
        std::sort(architectures_.begin(), architectures_.end());
        return {};
    }

    detail::vendor_library library_;
    std::string reason_;
    std::vector<int> architectures_;
    int release_ = 0;
};

/// The libraries to try, in this order. The one of the driver's own major version comes first, since a driver may
/// refuse what a newer compiler makes. 0: there is no driver.
inline std::vector<std::string> library_names(int driver_version)
{
    std::vector<std::string> names{"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"};
    std::string const own = "libnvrtc.so." + std::to_string(driver_version / 1000);
    auto const at = std::find_if(names.begin(), names.end(),
                                 [&](std::string const& n) { return n == own || n.starts_with(own + '.'); });
    if (at != names.end()) std::rotate(names.begin(), at, at + 1);
    return names;
}

/// The NVRTC of this process, loaded by the first call, or the file that `OMP_CO_NVRTC_LIBRARY` names by an absolute
/// path. Any thread may call. Never destroyed.
inline api const& table()
{
    static api const* const loaded = [] {
        auto made = std::make_unique<api>(
            detail::open_vendor_library("OMP_CO_NVRTC_LIBRARY", library_names(driver::table().version())));
        detail::registry::close_first();
        return made.release();
    }();
    return *loaded;
}

} // namespace omp_co::cuda::nvrtc
