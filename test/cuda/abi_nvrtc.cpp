// SPDX-License-Identifier: BSL-1.0
// NVRTC's declarations against the toolkit's nvrtc.h.
#include <omp_co/cuda/nvrtc_api.hpp>

#include <boost/test/unit_test.hpp>

#ifdef OMP_CO_TEST_CUDA_INCLUDE

#include "same_abi.hpp"

#include <iterator>
#include <nvrtc.h>
#include <set>
#include <string>
#include <type_traits>

namespace {

namespace nvrtc = omp_co::cuda::nvrtc;
using nvrtc::functions;

static_assert(std::is_same_v<nvrtc::program_handle, nvrtcProgram>);
static_assert(same_abi::same<nvrtc::result, nvrtcResult>);

static_assert([] {
    using enum nvrtc::result;
    return same_abi::equal(success, NVRTC_SUCCESS) &&
           same_abi::equal(out_of_memory, NVRTC_ERROR_OUT_OF_MEMORY) &&
           same_abi::equal(program_creation_failure, NVRTC_ERROR_PROGRAM_CREATION_FAILURE) &&
           same_abi::equal(invalid_input, NVRTC_ERROR_INVALID_INPUT) &&
           same_abi::equal(invalid_program, NVRTC_ERROR_INVALID_PROGRAM) &&
           same_abi::equal(invalid_option, NVRTC_ERROR_INVALID_OPTION) &&
           same_abi::equal(compilation, NVRTC_ERROR_COMPILATION) &&
           same_abi::equal(builtin_operation_failure, NVRTC_ERROR_BUILTIN_OPERATION_FAILURE) &&
           same_abi::equal(no_name_expressions_after_compilation,
                           NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION) &&
           same_abi::equal(no_lowered_names_before_compilation,
                           NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION) &&
           same_abi::equal(name_expression_not_valid, NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID) &&
           same_abi::equal(internal_error, NVRTC_ERROR_INTERNAL_ERROR) &&
           same_abi::equal(time_file_write_failed, NVRTC_ERROR_TIME_FILE_WRITE_FAILED);
}());

template <class Ours, class Exported>
consteval char const* pair(char const* symbol)
{
    static_assert(same_abi::same<typename Ours::signature, Exported>, "not the type of this symbol");
    return symbol;
}

constexpr char const* symbols[]{
    pair<decltype(functions::version), decltype(::nvrtcVersion)>("nvrtcVersion"),
    pair<decltype(functions::get_num_supported_archs), decltype(::nvrtcGetNumSupportedArchs)>(
        "nvrtcGetNumSupportedArchs"),
    pair<decltype(functions::get_supported_archs), decltype(::nvrtcGetSupportedArchs)>(
        "nvrtcGetSupportedArchs"),
    pair<decltype(functions::create_program), decltype(::nvrtcCreateProgram)>("nvrtcCreateProgram"),
    pair<decltype(functions::destroy_program), decltype(::nvrtcDestroyProgram)>("nvrtcDestroyProgram"),
    pair<decltype(functions::compile_program), decltype(::nvrtcCompileProgram)>("nvrtcCompileProgram"),
    pair<decltype(functions::get_ptx_size), decltype(::nvrtcGetPTXSize)>("nvrtcGetPTXSize"),
    pair<decltype(functions::get_ptx), decltype(::nvrtcGetPTX)>("nvrtcGetPTX"),
    pair<decltype(functions::get_cubin_size), decltype(::nvrtcGetCUBINSize)>("nvrtcGetCUBINSize"),
    pair<decltype(functions::get_cubin), decltype(::nvrtcGetCUBIN)>("nvrtcGetCUBIN"),
    pair<decltype(functions::get_program_log_size), decltype(::nvrtcGetProgramLogSize)>(
        "nvrtcGetProgramLogSize"),
    pair<decltype(functions::get_program_log), decltype(::nvrtcGetProgramLog)>("nvrtcGetProgramLog"),
    pair<decltype(functions::add_name_expression), decltype(::nvrtcAddNameExpression)>(
        "nvrtcAddNameExpression"),
    pair<decltype(functions::get_lowered_name), decltype(::nvrtcGetLoweredName)>("nvrtcGetLoweredName"),
};

BOOST_AUTO_TEST_SUITE(nvrtc_abi)

BOOST_AUTO_TEST_CASE(every_function_of_the_table_is_compared_with_the_toolkit)
{
    std::set<std::string> const compared(std::begin(symbols), std::end(symbols));
    functions const table;
    std::size_t count = 0;
    for (auto const* e = table.all.first; e != nullptr; e = e->next()) {
        ++count;
        BOOST_TEST(compared.count(e->symbol()) == 1U, e->symbol());
    }
    BOOST_TEST(count == compared.size());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace

#endif
