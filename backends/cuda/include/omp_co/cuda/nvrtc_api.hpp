// SPDX-License-Identifier: BSL-1.0
// NVRTC's functions, codes and errors: the compiler for CUDA C++ at run time, as of CUDA 11.2, without nvrtc.h.
#pragma once

#include <omp_co/detail/entry_point.hpp>
#include <omp_co/error.hpp>

#include <boost/system/error_category.hpp>
#include <boost/system/is_error_code_enum.hpp>
#include <cstddef>
#include <iterator>
#include <string>
#include <type_traits>

struct _nvrtcProgram;

namespace omp_co::cuda::nvrtc {

using program_handle = ::_nvrtcProgram*;

/// nvrtcResult.
enum class result : unsigned {
    success = 0,
    out_of_memory = 1,
    program_creation_failure = 2,
    invalid_input = 3,
    invalid_program = 4,
    invalid_option = 5,
    compilation = 6,
    builtin_operation_failure = 7,
    no_name_expressions_after_compilation = 8,
    no_lowered_names_before_compilation = 9,
    name_expression_not_valid = 10,
    internal_error = 11,
    time_file_write_failed = 12,
};

} // namespace omp_co::cuda::nvrtc

template <>
inline constexpr omp_co::cuda::nvrtc::result omp_co::detail::absent_answer<omp_co::cuda::nvrtc::result> =
    omp_co::cuda::nvrtc::result::internal_error;

namespace omp_co::cuda::nvrtc {

struct functions {
    template <class Signature>
    using function = detail::function<Signature>;

    functions() = default;
    functions(functions const&) = delete;
    functions& operator=(functions const&) = delete;

    detail::entry_list all;

    function<result(int*, int*)> version{all, "nvrtcVersion", 7000};
    function<result(int*)> get_num_supported_archs{all, "nvrtcGetNumSupportedArchs", 11020};
    function<result(int*)> get_supported_archs{all, "nvrtcGetSupportedArchs", 11020};
    function<result(program_handle*, char const*, char const*, int, char const* const*, char const* const*)>
        create_program{all, "nvrtcCreateProgram", 7000};
    function<result(program_handle*)> destroy_program{all, "nvrtcDestroyProgram", 7000};
    function<result(program_handle, int, char const* const*)> compile_program{all, "nvrtcCompileProgram",
                                                                              7000};
    function<result(program_handle, std::size_t*)> get_ptx_size{all, "nvrtcGetPTXSize", 7000};
    function<result(program_handle, char*)> get_ptx{all, "nvrtcGetPTX", 7000};
    function<result(program_handle, std::size_t*)> get_cubin_size{all, "nvrtcGetCUBINSize", 11010};
    function<result(program_handle, char*)> get_cubin{all, "nvrtcGetCUBIN", 11010};
    function<result(program_handle, std::size_t*)> get_program_log_size{all, "nvrtcGetProgramLogSize", 7000};
    function<result(program_handle, char*)> get_program_log{all, "nvrtcGetProgramLog", 7000};
    function<result(program_handle, char const*)> add_name_expression{all, "nvrtcAddNameExpression", 8000};
    function<result(program_handle, char const*, char const**)> get_lowered_name{all, "nvrtcGetLoweredName",
                                                                                 8000};
};

class result_category final : public boost::system::error_category {
public:
    constexpr result_category() noexcept : error_category(0x6f6d705f636f0003ULL) {}

    char const* name() const noexcept override { return "nvrtc"; }

    std::string message(int value) const override
    {
        static constexpr char const* words[]{
            "no error",
            "out of memory",
            "the program could not be created",
            "invalid input",
            "invalid program",
            "invalid option",
            "the source does not compile",
            "NVRTC's built-in functions could not be loaded",
            "a name expression was added after compilation",
            "a lowered name was asked for before compilation",
            "invalid name expression",
            "internal error",
            "the time file could not be written",
        };
        if (value >= 0 && static_cast<std::size_t>(value) < std::size(words)) return words[value];
        return "NVRTC error " + std::to_string(value);
    }

    error_condition default_error_condition(int value) const noexcept override
    {
        switch (static_cast<result>(value)) {
        case result::success:
            return {value, *this};
        case result::out_of_memory:
            return make_error_condition(errc::out_of_memory);
        case result::invalid_input:
        case result::invalid_program:
        case result::invalid_option:
            return make_error_condition(errc::invalid_argument);
        default:
            return make_error_condition(errc::kernel_unavailable);
        }
    }
};

inline constexpr result_category result_category_instance;

/// The category of NVRTC's codes: `error_code::value()` is an nvrtcResult. Equal across shared objects.
inline boost::system::error_category const& category() noexcept { return result_category_instance; }

inline error_code make_error_code(result r) noexcept { return {static_cast<int>(r), category()}; }

} // namespace omp_co::cuda::nvrtc

template <>
struct boost::system::is_error_code_enum<omp_co::cuda::nvrtc::result> : std::true_type {
};
