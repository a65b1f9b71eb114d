// SPDX-License-Identifier: BSL-1.0
// How the headers of backends make their devices known, and which one is the default.
#pragma once

#include <omp_co/detail/info.hpp>
#include <omp_co/detail/registry.hpp>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace omp_co::detail {

/// A backend's header defines one of these; a program knows the backends whose headers it includes.
struct backend_source {
    backend_source(backend_kind k, void (*f)(registry&)) noexcept : kind(k), discover(f), next(list())
    {
        list() = this;
    }

    static backend_source*& list() noexcept
    {
        static backend_source* first = nullptr;
        return first;
    }

    backend_kind kind;
    void (*discover)(registry&); ///< adds the backend's devices
    backend_source* next;
};

/// The value of an environment variable as a number of at most `most`; empty if it is not set. What cannot be
/// understood is noted in `bad`.
inline std::optional<unsigned> number_from_environment(char const* name, unsigned most, std::string& bad)
{
    char const* const text = std::getenv(name);
    if (text == nullptr || *text == '\0') return {};
    unsigned value = 0;
    char const* const end = text + std::strlen(text);
    auto const [stop, error] = std::from_chars(text, end, value);
    if (error == std::errc() && stop == end && value <= most) return value;
    bad += bad.empty() ? "" : "; ";
    bad += std::string(name) + "=" + text + ": a number from 0 to " + std::to_string(most) + " is expected";
    return {};
}

/// What is wrong with OMP_TARGET_OFFLOAD, if regions without a device are to run on the initial one, or not.
inline void note_offload_policy(bool runs_on_initial_device, std::string& bad)
{
    offload const policy = offload_policy();
    std::string what;
    if (policy == offload::unknown)
        what =
            std::getenv("OMP_TARGET_OFFLOAD") + std::string(": DEFAULT, MANDATORY or DISABLED is expected");
    if (policy == offload::mandatory && runs_on_initial_device)
        what = "MANDATORY: there is no device to offload to";
    if (what.empty()) return;
    bad += bad.empty() ? "" : "; ";
    bad += "OMP_TARGET_OFFLOAD=" + what;
}

/// What is wrong with OMP_CO_ASYNC.
inline void note_async(std::string& bad)
{
    char const* const text = std::getenv("OMP_CO_ASYNC");
    if (text == nullptr || *text == '\0' || std::string_view(text) == "0" || std::string_view(text) == "1")
        return;
    bad += bad.empty() ? "" : "; ";
    bad += std::string("OMP_CO_ASYNC=") + text + ": 0 (queues wait at every construct) or 1 is expected";
}

/// Finds the devices of all backends known here, accelerators first, and fixes the default device.
inline void discover(registry& devices)
{
    std::lock_guard guard(devices.discovery);
    for (backend_kind const kind : {backend_kind::cuda, backend_kind::hip, backend_kind::opencl,
                                    backend_kind::other, backend_kind::host}) {
        for (backend_source* s = backend_source::list(); s != nullptr; s = s->next) {
            auto& done = devices.discovered[static_cast<std::size_t>(kind)];
            if (s->kind != kind || done.exchange(true)) continue;
            std::size_t const before = devices.numbered().size();
            try {
                s->discover(devices);
            } catch (...) {
                if (devices.numbered().size() == before) done = false; // the next one tries again
                throw;
            }
        }
    }
    if (devices.default_device.load() != nullptr) return;
    std::vector<device_slot*> const all = devices.numbered();
    auto const most = static_cast<unsigned>(all.size());
    unsigned const wanted =
        number_from_environment("OMP_DEFAULT_DEVICE", most, devices.bad_environment).value_or(0);
    bool const disabled = devices.offload_disabled.load();
    device_slot* const chosen = wanted < most && !disabled ? all[wanted] : devices.initial_device.load();
    note_offload_policy(chosen->initial, devices.bad_environment);
    if (unsigned bits = 0; !read_info_bits(std::getenv("OMP_CO_INFO"), bits)) {
        devices.bad_environment += devices.bad_environment.empty() ? "" : "; ";
        devices.bad_environment +=
            std::string("OMP_CO_INFO=") + std::getenv("OMP_CO_INFO") +
            ": a sum of 0x1 (data clauses), 0x2 (mapped already), 0x4 (all that is mapped, on "
            "failure), 0x8 (changes) and 0x20 (copies), or 0xff, is expected";
    }
    if (bool races = false; !read_checks(std::getenv("OMP_CO_CHECK"), races)) {
        devices.bad_environment += devices.bad_environment.empty() ? "" : "; ";
        devices.bad_environment +=
            std::string("OMP_CO_CHECK=") + std::getenv("OMP_CO_CHECK") + ": races or none is expected";
    }
    note_async(devices.bad_environment);
    devices.environment_is_bad = !devices.bad_environment.empty();
    devices.set_default({chosen, chosen->generation});
}

/// Why the environment was refused; empty if all is well.
inline std::string environment_fault(registry& devices)
{
    std::lock_guard guard(devices.discovery);
    return devices.bad_environment;
}

} // namespace omp_co::detail
