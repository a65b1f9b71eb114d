// SPDX-License-Identifier: BSL-1.0
// The CUDA driver's error codes as boost::system codes, with the conditions that they mean.
#pragma once

#include <omp_co/cuda/driver_types.hpp>
#include <omp_co/cuda/result_names.hpp>
#include <omp_co/error.hpp>

#include <atomic>
#include <boost/system/error_category.hpp>
#include <boost/system/is_error_code_enum.hpp>
#include <optional>
#include <string>
#include <type_traits>

namespace omp_co::cuda::driver {

/// Errors after which the device's context answers every call with the same error until the process ends (the driver
/// API's words for them: "the process must be terminated and relaunched", or the like).
constexpr bool is_sticky(result r) noexcept
{
    switch (r) {
    case result::ecc_uncorrectable:
    case result::nvlink_uncorrectable:
    case result::contained:
    case result::illegal_address:
    case result::launch_timeout:
    case result::assertion:
    case result::hardware_stack_error:
    case result::illegal_instruction:
    case result::misaligned_address:
    case result::invalid_address_space:
    case result::invalid_pc:
    case result::launch_failed:
    case result::tensor_memory_leak:
    case result::mps_client_terminated:
    case result::external_device:
        return true;
    default:
        return false;
    }
}

/// What a code means for a user; empty where no condition says it. A context that somebody destroyed
/// (cudaDeviceReset) is as lost as a faulty one, though a new one could be made.
constexpr std::optional<errc> meaning_of(result r) noexcept
{
    if (is_sticky(r)) return errc::device_lost;
    switch (r) {
    case result::invalid_value:
    case result::invalid_handle:
    case result::launch_out_of_resources:
    case result::cooperative_launch_too_large:
    case result::invalid_cluster_size:
    case result::host_memory_already_registered:
    case result::host_memory_not_registered:
        return errc::invalid_argument;
    case result::out_of_memory:
        return errc::out_of_memory;
    case result::invalid_context:
    case result::context_is_destroyed:
        return errc::device_lost;
    case result::invalid_image:
    case result::no_binary_for_gpu:
    case result::invalid_ptx:
    case result::jit_compiler_not_found:
    case result::unsupported_ptx_version:
    case result::jit_compilation_disabled:
    case result::unsupported_devside_sync:
    case result::invalid_source:
    case result::file_not_found:
    case result::shared_object_symbol_not_found:
    case result::shared_object_init_failed:
    case result::not_found:
    case result::cdp_not_supported:
    case result::cdp_version_mismatch:
    case result::function_not_loaded:
        return errc::kernel_unavailable;
    case result::not_initialized:
    case result::stub_library:
    case result::device_unavailable:
    case result::no_device:
    case result::invalid_device:
    case result::device_not_licensed:
    case result::system_not_ready:
    case result::system_driver_mismatch:
    case result::compat_not_supported_on_device:
    case result::mps_connection_failed:
    case result::mps_rpc_failure:
    case result::mps_server_not_ready:
    case result::mps_max_clients_reached:
    case result::mps_max_connections_reached:
        return errc::no_device;
    case result::peer_access_unsupported:
    case result::too_many_peers:
    case result::not_permitted:
    case result::not_supported:
    case result::stream_capture_unsupported:
    case result::stream_capture_invalidated:
    case result::stream_capture_merge:
    case result::stream_capture_unmatched:
    case result::stream_capture_unjoined:
    case result::stream_capture_isolation:
    case result::stream_capture_implicit:
    case result::captured_event:
    case result::stream_capture_wrong_thread:
        return errc::not_supported;
    case result::deinitialized:
        return errc::shutting_down;
    default:
        return {};
    }
}

/// cuGetErrorName or cuGetErrorString.
using words_function = result (*)(result, char const**);

/// A code's name and, where the driver has them, its words.
inline std::string describe(int value, words_function name, words_function text)
{
    auto const ask = [value](words_function f) -> char const* {
        char const* answer = nullptr;
        if (f == nullptr || f(static_cast<result>(value), &answer) != result::success) return nullptr;
        return answer;
    };
    char const* known = name_of(value);
    if (known == nullptr) known = ask(name);
    std::string message = known != nullptr ? known : "CUDA error " + std::to_string(value);
    char const* const words = ask(text);
    if (words != nullptr) message.append(": ").append(words);
    return message;
}

/// Set once a driver is loaded.
inline std::atomic<words_function> driver_error_name = nullptr;
inline std::atomic<words_function> driver_error_string = nullptr;

class result_category final : public boost::system::error_category {
public:
    constexpr result_category() noexcept : error_category(0x6f6d705f636f0002ULL) {}

    char const* name() const noexcept override { return "cuda"; }

    std::string message(int value) const override
    {
        return describe(value, driver_error_name.load(std::memory_order_acquire),
                        driver_error_string.load(std::memory_order_acquire));
    }

    error_condition default_error_condition(int value) const noexcept override
    {
        std::optional<errc> const meaning = meaning_of(static_cast<result>(value));
        return meaning ? make_error_condition(*meaning) : error_condition(value, *this);
    }
};

inline constexpr result_category result_category_instance;

} // namespace omp_co::cuda::driver

namespace omp_co::cuda {

/// The category of the CUDA driver's codes: `error_code::value()` is a CUresult. Equal across shared objects.
inline boost::system::error_category const& category() noexcept { return driver::result_category_instance; }

namespace driver {

inline error_code make_error_code(result r) noexcept { return {static_cast<int>(r), cuda::category()}; }

} // namespace driver

} // namespace omp_co::cuda

template <>
struct boost::system::is_error_code_enum<omp_co::cuda::driver::result> : std::true_type {
};
