// SPDX-License-Identifier: BSL-1.0
// Source to PTX and to a device's own code by the NVRTC of this machine, and what is said when there is none.
#include "fakes.hpp"
#include "scoped_environment.hpp"

#include <omp_co/cuda/compile.hpp>

#include <boost/test/unit_test.hpp>
#include <boost/test/unit_test_suite.hpp>
#include <string>
#include <vector>

namespace {

namespace nvrtc = omp_co::cuda::nvrtc;
using nvrtc::image_kind;
using omp_co::errc;

/// By the library's usual names, whatever the environment says.
nvrtc::api const& compiler()
{
    static nvrtc::api const found = [] {
        scoped_environment const variable("OMP_CO_NVRTC_LIBRARY", "");
        std::vector<std::string> const names = nvrtc::library_names(0);
        return nvrtc::api(omp_co::detail::open_vendor_library("OMP_CO_NVRTC_LIBRARY", names));
    }();
    return found;
}

boost::test_tools::assertion_result there_is_nvrtc(boost::unit_test::test_unit_id)
{
    boost::test_tools::assertion_result answer(compiler().available());
    answer.message() << "no NVRTC on this machine: " << compiler().reason();
    return answer;
}

boost::unit_test::precondition const needs_nvrtc{there_is_nvrtc};

nvrtc::program saxpy()
{
    nvrtc::program p;
    p.name = "saxpy.cu";
    p.source = "extern \"C\" __global__ void saxpy(float a, float const* x, float* y, int n)\n"
               "{\n"
               "    int const i = blockIdx.x * blockDim.x + threadIdx.x;\n"
               "    if (i < n) y[i] += a * x[i];\n"
               "}\n";
    return p;
}

BOOST_AUTO_TEST_SUITE(cuda_nvrtc)

BOOST_AUTO_TEST_CASE(the_library_of_the_drivers_major_version_is_tried_first)
{
    using names = std::vector<std::string>;
    BOOST_TEST((nvrtc::library_names(0) ==
                names{"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"}));
    BOOST_TEST((nvrtc::library_names(12040) ==
                names{"libnvrtc.so.12", "libnvrtc.so.13", "libnvrtc.so.11.2", "libnvrtc.so"}));
    BOOST_TEST((nvrtc::library_names(11080) ==
                names{"libnvrtc.so.11.2", "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"}));
}

BOOST_AUTO_TEST_CASE(without_nvrtc_the_reason_tells_every_name_that_was_tried)
{
    std::string const names[]{"libomp_co_none.so.13", "libomp_co_none.so.12"};
    scoped_environment const variable("OMP_CO_NVRTC_LIBRARY", "");
    nvrtc::api const none(omp_co::detail::open_vendor_library("OMP_CO_NVRTC_LIBRARY", names));
    BOOST_TEST(!none.available());
    for (std::string const& n : names) BOOST_TEST(none.reason().find(n) != std::string::npos, none.reason());
    nvrtc::compilation const made = nvrtc::compile(none, saxpy(), image_kind::ptx, 90);
    BOOST_TEST((made.error == errc::kernel_unavailable));
    BOOST_TEST(made.log.find("no NVRTC") != std::string::npos, made.log);
}

BOOST_AUTO_TEST_CASE(a_library_that_is_not_nvrtc_is_refused)
{
    scoped_environment const variable("OMP_CO_NVRTC_LIBRARY", fakes_folder() + "/cuda_no_init.so");
    nvrtc::api const other(omp_co::detail::open_vendor_library("OMP_CO_NVRTC_LIBRARY", {}));
    BOOST_TEST(other.reason().find("lacks nvrtcVersion of CUDA 7.0") != std::string::npos, other.reason());
    scoped_environment const relative("OMP_CO_NVRTC_LIBRARY", "libnvrtc.so");
    nvrtc::api const none(omp_co::detail::open_vendor_library("OMP_CO_NVRTC_LIBRARY", {}));
    BOOST_TEST(none.reason().find("an absolute path is expected") != std::string::npos, none.reason());
}

BOOST_AUTO_TEST_CASE(codes_have_words_and_conditions)
{
    using nvrtc::result;
    BOOST_TEST((omp_co::error_code(result::compilation) == errc::kernel_unavailable));
    BOOST_TEST((omp_co::error_code(result::invalid_option) == errc::invalid_argument));
    BOOST_TEST((omp_co::error_code(result::out_of_memory) == errc::out_of_memory));
    BOOST_TEST(omp_co::error_code(result::compilation).message() == "the source does not compile");
    BOOST_TEST(omp_co::error_code(99, nvrtc::category()).message() == "NVRTC error 99");
    BOOST_TEST(!omp_co::error_code(result::success));
}

BOOST_AUTO_TEST_CASE(a_kernel_becomes_ptx, *needs_nvrtc)
{
    nvrtc::compilation const made = nvrtc::compile(compiler(), saxpy(), image_kind::ptx, 90);
    BOOST_TEST(!made.error, made.error.message() << ": " << made.log);
    BOOST_TEST(made.image.find(".target sm_90") != std::string::npos);
    BOOST_TEST(made.image.find(".entry saxpy") != std::string::npos);
    BOOST_TEST(made.image.find('\0') == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_kernel_becomes_a_devices_own_code, *needs_nvrtc)
{
    nvrtc::compilation const made = nvrtc::compile(compiler(), saxpy(), image_kind::cubin, 90);
    BOOST_TEST(!made.error, made.error.message() << ": " << made.log);
    BOOST_TEST(made.image.starts_with("\x7f"
                                      "ELF"));
    BOOST_TEST(made.image.find("saxpy") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_log_of_a_faulty_source_names_the_line, *needs_nvrtc)
{
    nvrtc::program faulty = saxpy();
    faulty.source = "extern \"C\" __global__ void f(int* p)\n{\n    *p = undeclared;\n}\n";
    nvrtc::compilation const made = nvrtc::compile(compiler(), faulty, image_kind::cubin, 90);
    BOOST_TEST((made.error == errc::kernel_unavailable));
    BOOST_TEST((made.error == omp_co::error_code(nvrtc::result::compilation)));
    BOOST_TEST(made.log.find("saxpy.cu(3)") != std::string::npos, made.log);
    BOOST_TEST(made.log.find("undeclared") != std::string::npos);
    BOOST_TEST(made.image.empty());
}

BOOST_AUTO_TEST_CASE(a_warning_is_in_the_log_of_a_success, *needs_nvrtc)
{
    nvrtc::program odd = saxpy();
    odd.source += "extern \"C\" __global__ void g() { int unused; }\n";
    nvrtc::compilation const made = nvrtc::compile(compiler(), odd, image_kind::ptx, 90);
    BOOST_TEST(!made.error);
    BOOST_TEST(made.log.find("unused") != std::string::npos, made.log);
}

BOOST_AUTO_TEST_CASE(an_option_that_does_not_exist_is_an_invalid_argument, *needs_nvrtc)
{
    nvrtc::program p = saxpy();
    p.options = {"--no-such-option"};
    nvrtc::compilation const made = nvrtc::compile(compiler(), p, image_kind::ptx, 90);
    BOOST_TEST((made.error == errc::invalid_argument), made.error.message());
    BOOST_TEST(made.log.find("no-such-option") != std::string::npos, made.log);
}

BOOST_AUTO_TEST_CASE(headers_options_and_name_expressions_are_honoured, *needs_nvrtc)
{
    nvrtc::program p;
    p.source = "#include <scale.hpp>\n"
               "template <class T> __global__ void scale(T* p) { *p *= factor * EXTRA; }\n";
    p.headers = {{"scale.hpp", "constexpr int factor = 3;\n"}};
    p.options = {"-DEXTRA=2"};
    p.name_expressions = {"scale<float>", "scale<double>"};
    nvrtc::compilation const made = nvrtc::compile(compiler(), p, image_kind::ptx, 90);
    BOOST_TEST(!made.error, made.error.message() << ": " << made.log);
    BOOST_REQUIRE(made.lowered_names.size() == 2U);
    BOOST_TEST(made.lowered_names[0] != made.lowered_names[1]);
    for (std::string const& n : made.lowered_names)
        BOOST_TEST(made.image.find(".entry " + n) != std::string::npos, n);
}

BOOST_AUTO_TEST_CASE(an_unknown_architecture_gets_no_own_code_but_ptx_of_an_older_one, *needs_nvrtc)
{
    nvrtc::compilation const own = nvrtc::compile(compiler(), saxpy(), image_kind::cubin, 9999);
    BOOST_TEST((own.error == errc::kernel_unavailable));
    BOOST_TEST(own.log.find("not for sm_9999") != std::string::npos, own.log);
    nvrtc::compilation const ptx = nvrtc::compile(compiler(), saxpy(), image_kind::ptx, 9999);
    BOOST_TEST(!ptx.error, ptx.log);
    nvrtc::compilation const none = nvrtc::compile(compiler(), saxpy(), image_kind::ptx, 10);
    BOOST_TEST((none.error == errc::kernel_unavailable));
    BOOST_TEST(none.log.find("not for sm_10") != std::string::npos, none.log);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
