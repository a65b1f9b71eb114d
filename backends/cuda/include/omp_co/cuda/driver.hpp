// SPDX-License-Identifier: BSL-1.0
// The CUDA driver of this process: found at first use, or the reason why there is none.
#pragma once

#include <omp_co/cuda/driver_api.hpp>
#include <omp_co/cuda/error.hpp>
#include <omp_co/detail/vendor_library.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace omp_co::cuda::driver {

/// "11.4" for 11040.
inline std::string version_text(int version)
{
    return std::to_string(version / 1000) + '.' + std::to_string(version % 1000 / 10);
}

/// The driver's functions, found in one library. Where that does not work out, `available()` is false, `reason()` says
/// why, and every function answers `not_supported`. Immutable once constructed: any thread may use it.
class api : public functions {
public:
    /// CUDA 11.4: stream-ordered memory, unified identifiers and cuGetProcAddress are all there.
    static constexpr int oldest_version = 11040;

    explicit api(detail::vendor_library library) : library_(std::move(library))
    {
        reason_ = start();
        if (available()) return;
        for (detail::entry_point* e = all.first; e != nullptr; e = e->next()) e->set(nullptr);
    }

    /// Is there a driver with at least one device?
    bool available() const noexcept { return reason_.empty(); }

    /// Why there is no CUDA device here; empty if there is one.
    std::string const& reason() const noexcept { return reason_; }

    /// The newest CUDA that the driver supports, 1000 * major + 10 * minor; 0 if it has not said.
    int version() const noexcept { return version_; }
    int device_count() const noexcept { return device_count_; }

    /// The name or path by which the library was opened.
    std::string const& library() const noexcept { return library_.name; }

private:
    using code = detail::entry_point::code;
    using proc_address_1 = result (*)(char const*, void**, int, std::uint64_t);
    using proc_address_2 = result (*)(char const*, void**, int, std::uint64_t, proc_address_status*);

    std::string start()
    {
        if (library_.handle == nullptr) return library_.reason;
        for (detail::entry_point* e : {static_cast<detail::entry_point*>(&init),
                                       static_cast<detail::entry_point*>(&driver_get_version)}) {
            e->set(library_.find(e->symbol()));
            if (!*e) return library_.name + " is no CUDA driver: it has no " + e->symbol();
        }
        bool const knows_version = driver_get_version(&version_) == result::success;
        if (knows_version && version_ < oldest_version)
            return library_.name + " supports CUDA " + version_text(version_) + "; omp_co needs " +
                   version_text(oldest_version) + " or newer";
        result const answer = init(0);
        if (answer == result::stub_library)
            return library_.name + " is the toolkit's stub library, no driver (" + words_for(answer) + ")";
        if (answer == result::no_device)
            return library_.name + " finds no device (" + words_for(answer) + ")";
        if (answer != result::success) return library_.name + ": cuInit failed with " + words_for(answer);
        if (!knows_version) return library_.name + " does not tell its version";

        std::string missing = find_all();
        if (!missing.empty()) return missing;
        result const counted = device_get_count(&device_count_);
        if (counted != result::success)
            return library_.name + ": cuDeviceGetCount failed with " + words_for(counted);
        if (device_count_ <= 0) return library_.name + " finds no device";
        return {};
    }

    /// Finds every function; what is said if a required one is missing.
    std::string find_all()
    {
        auto const second = reinterpret_cast<proc_address_2>(library_.find("cuGetProcAddress_v2"));
        auto const first = reinterpret_cast<proc_address_1>(library_.find("cuGetProcAddress"));
        std::string missing;
        int more = 0;
        for (detail::entry_point* e = all.first; e != nullptr; e = e->next()) {
            e->set(find(*e, second, first));
            if (*e || !e->required()) continue;
            if (missing.empty())
                missing = library_.name + " (CUDA " + version_text(version_) + ") lacks " + e->symbol() +
                          " of CUDA " + version_text(e->version());
            else
                ++more;
        }
        if (more != 0) missing += " and " + std::to_string(more) + (more == 1 ? " other" : " others");
        return missing;
    }

    /// cuGetProcAddress chooses among the prototypes of one name by the version that it is asked for: a newer
    /// one than ours could have other parameters. The plain symbol table has them under names of their own.
    code find(detail::entry_point const& wanted, proc_address_2 second, proc_address_1 first) const
    {
        if (second == nullptr && first == nullptr) return library_.find(wanted.symbol());
        void* address = nullptr;
        std::string const name = wanted.base_name();
        auto status = proc_address_status::success;
        result const answer =
            second != nullptr
                ? second(name.c_str(), &address, wanted.version(), proc_address_legacy_stream, &status)
                : first(name.c_str(), &address, wanted.version(), proc_address_legacy_stream);
        if (answer != result::success || status != proc_address_status::success) return nullptr;
        return reinterpret_cast<code>(address);
    }

    std::string words_for(result r) const
    {
        return describe(static_cast<int>(r),
                        reinterpret_cast<words_function>(library_.find("cuGetErrorName")),
                        reinterpret_cast<words_function>(library_.find("cuGetErrorString")));
    }

    detail::vendor_library library_;
    std::string reason_;
    int version_ = 0;
    int device_count_ = 0;
};

/// The driver of this process, loaded by the first call: libcuda.so.1, or the file that `OMP_CO_CUDA_LIBRARY` names by
/// an absolute path. Any thread may call. Never destroyed, and nothing calls into it during static destruction.
inline api const& table()
{
    static api const* const loaded = [] {
        std::string const name[]{"libcuda.so.1"};
        auto made = std::make_unique<api>(detail::open_vendor_library("OMP_CO_CUDA_LIBRARY", name));
        if (made->available()) {
            driver_error_name.store(made->get_error_name.pointer(), std::memory_order_release);
            driver_error_string.store(made->get_error_string.pointer(), std::memory_order_release);
        }
        return made.release();
    }();
    return *loaded;
}

} // namespace omp_co::cuda::driver
