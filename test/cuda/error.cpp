// SPDX-License-Identifier: BSL-1.0
// The driver's codes: names, words and conditions.
#include <omp_co/cuda/error.hpp>

#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

namespace {

namespace cuda = omp_co::cuda;
using cuda::driver::result;
using omp_co::errc;

omp_co::error_code code_of(int value) { return {value, cuda::category()}; }

BOOST_AUTO_TEST_SUITE(cuda_error)

BOOST_AUTO_TEST_CASE(a_code_keeps_the_drivers_value_and_has_its_name)
{
    omp_co::error_code const code = result::illegal_address;
    BOOST_TEST(code.value() == 700);
    BOOST_TEST(code.category().name() == std::string("cuda"));
    BOOST_TEST(code.message().starts_with("CUDA_ERROR_ILLEGAL_ADDRESS"), code.message());
    BOOST_TEST(bool(code));
    BOOST_TEST(!omp_co::error_code(result::success));
    BOOST_TEST(code_of(123456).message().starts_with("CUDA error 123456"));
}

BOOST_AUTO_TEST_CASE(codes_equal_the_condition_that_they_mean_and_no_other)
{
    struct row {
        result code;
        errc meaning;
    };
    for (row const r :
         {row{result::out_of_memory, errc::out_of_memory}, row{result::invalid_value, errc::invalid_argument},
          row{result::invalid_handle, errc::invalid_argument},
          row{result::launch_out_of_resources, errc::invalid_argument},
          row{result::illegal_address, errc::device_lost}, row{result::launch_failed, errc::device_lost},
          row{result::assertion, errc::device_lost}, row{result::ecc_uncorrectable, errc::device_lost},
          row{result::context_is_destroyed, errc::device_lost},
          row{result::no_binary_for_gpu, errc::kernel_unavailable},
          row{result::unsupported_ptx_version, errc::kernel_unavailable},
          row{result::not_found, errc::kernel_unavailable}, row{result::no_device, errc::no_device},
          row{result::stub_library, errc::no_device}, row{result::not_supported, errc::not_supported},
          row{result::stream_capture_implicit, errc::not_supported},
          row{result::deinitialized, errc::shutting_down}}) {
        omp_co::error_code const code = r.code;
        for (int e = 1; e <= static_cast<int>(errc::shutting_down); ++e)
            BOOST_TEST((code == static_cast<errc>(e)) == (static_cast<errc>(e) == r.meaning),
                       code.message() << " and condition " << e);
    }
}

BOOST_AUTO_TEST_CASE(codes_without_a_condition_equal_none)
{
    for (result const r : {result::not_ready, result::unknown, result::operating_system, result::success})
        for (int e = 1; e <= static_cast<int>(errc::shutting_down); ++e)
            BOOST_TEST((omp_co::error_code(r) != static_cast<errc>(e)));
    BOOST_TEST((code_of(123456) != errc::device_lost));
}

BOOST_AUTO_TEST_CASE(every_sticky_code_loses_the_device)
{
    for (cuda::driver::result_name const& r : cuda::driver::result_names)
        if (cuda::driver::is_sticky(static_cast<result>(r.value)))
            BOOST_TEST((code_of(r.value) == errc::device_lost), r.name);
    BOOST_TEST(!cuda::driver::is_sticky(result::out_of_memory));
    BOOST_TEST(!cuda::driver::is_sticky(result::invalid_value));
    BOOST_TEST(!cuda::driver::is_sticky(result::not_ready));
}

BOOST_AUTO_TEST_CASE(codes_are_equal_whichever_shared_object_made_their_category)
{
    static cuda::driver::result_category const other;
    BOOST_TEST((omp_co::error_code(700, other) == omp_co::error_code(result::illegal_address)));
    BOOST_TEST((code_of(2) != omp_co::make_error_code(errc::out_of_memory))); // the code keeps its origin
}

BOOST_AUTO_TEST_CASE(the_drivers_own_words_follow_the_name)
{
    auto const name = [](result r, char const** text) {
        *text = "CUDA_ERROR_OF_THE_FUTURE";
        return static_cast<int>(r) == 4711 ? result::success : result::invalid_value;
    };
    auto const words = [](result r, char const** text) {
        *text = "its words";
        return r == result::unknown ? result::invalid_value : result::success;
    };
    BOOST_TEST(cuda::driver::describe(2, name, words) == "CUDA_ERROR_OUT_OF_MEMORY: its words");
    BOOST_TEST(cuda::driver::describe(4711, name, words) == "CUDA_ERROR_OF_THE_FUTURE: its words");
    BOOST_TEST(cuda::driver::describe(4712, name, words) == "CUDA error 4712: its words");
    BOOST_TEST(cuda::driver::describe(999, name, words) == "CUDA_ERROR_UNKNOWN");
}

#ifdef OMP_CO_TEST_CUDA_INCLUDE

// The enumeration of the codes in the toolkit's header, with its comments.
std::string codes_in_the_header()
{
    std::ifstream file(OMP_CO_TEST_CUDA_INCLUDE "/cuda.h");
    std::string const text{std::istreambuf_iterator<char>(file), {}};
    auto const begin = text.find("typedef enum cudaError_enum");
    return text.substr(begin, text.find("} CUresult;") - begin);
}

BOOST_AUTO_TEST_CASE(names_and_sticky_codes_are_those_of_the_toolkits_header)
{
    std::string const text = codes_in_the_header();
    std::regex const code("(CUDA_[A-Z0-9_]+)\\s*=\\s*([0-9]+)");
    std::set<int> seen;
    for (std::sregex_iterator m(text.begin(), text.end(), code), end; m != end; ++m) {
        int const value = std::stoi((*m)[2]);
        BOOST_TEST(seen.insert(value).second);
        char const* const name = cuda::driver::name_of(value);
        if (name != nullptr) BOOST_TEST(name == (*m)[1]); // a newer toolkit has more codes

        std::string comment = m->prefix();
        comment = std::regex_replace(comment, std::regex("[\\s*]+"), " ");
        bool const final_words =
            comment.find("process must be terminated and relaunched") != std::string::npos ||
            comment.find("context cannot be used anymore") != std::string::npos ||
            comment.find("an uncorrectable") != std::string::npos;
        BOOST_TEST(cuda::driver::is_sticky(static_cast<result>(value)) == final_words,
                   (*m)[1] << " is" << (final_words ? "" : " not") << " sticky by the header");
    }
    for (cuda::driver::result_name const& r : cuda::driver::result_names)
        BOOST_TEST(seen.count(r.value) == 1U, r.name);
}

#endif

BOOST_AUTO_TEST_SUITE_END()

} // namespace
