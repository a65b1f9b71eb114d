// SPDX-License-Identifier: BSL-1.0
// Loading kernels and launching them: what is found, what is refused, and in which words.
#include "cuda_backend/bed.hpp"
#if defined(OMP_CO_HAS_CUDA_KERNELS) && OMP_CO_HAS_CUDA_KERNELS
#include "kernels.cu.hpp"
#endif
#include "support/outcome.hpp"

#include <array>
#include <boost/asio.hpp>
#include <cstdio>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

namespace kernels_on_devices_test {

using namespace cuda_test;
using omp_co::errc;
using omp_co_test::outcome;

using int_kernel = omp_co::kernel<void(int*)>;

bool says(omp_co::diagnostics const& why, char const* words)
{
    if (why.message().find(words) != std::string::npos) return true;
    BOOST_TEST_MESSAGE("it says: " << why.message());
    return false;
}

BOOST_AUTO_TEST_SUITE(kernels_on_devices)

BOOST_AUTO_TEST_CASE(a_kernel_that_the_image_does_not_have_is_named)
{
    bed const dev;
    int_kernel const k("no_such_kernel", image);
    int x = 1;
    for (int again = 0; again < 2; ++again) {
        omp_co::diagnostics why;
        auto const ec = outcome(omp_co::target(dev, k, omp_co::tofrom(x), omp_co::explain(why)));
        BOOST_TEST((ec == errc::kernel_unavailable));
        BOOST_TEST(says(why, "no kernel of this name"));
    }
    BOOST_TEST(x == 1);
    BOOST_TEST(simulator::called("cuModuleLoadDataEx", 1));
}

BOOST_AUTO_TEST_CASE(kernels_of_one_image_share_a_module)
{
    bed const dev;
    int x = 1;
    for (char const* name : {"increment", "team_sizes", "at_most_64"}) {
        std::array<int, 3> y{};
        int_kernel const k(name, image);
        BOOST_TEST(!outcome(omp_co::target(dev, k, omp_co::tofrom(y))));
    }
    int_kernel const other("anything", image.function("increment"));
    BOOST_TEST(!outcome(omp_co::target(dev, other, omp_co::tofrom(x))));
    BOOST_TEST(x == 2);
    BOOST_TEST(simulator::called("cuModuleLoadDataEx", 1));
}

BOOST_AUTO_TEST_CASE(an_image_comes_from_a_file_when_it_is_needed)
{
    bed const dev;
    std::string const path = "cuda_backend_kernels.ptx";
    int x = 1;
    omp_co::diagnostics why;
    int_kernel const missing("increment", omp_co::cuda::image::from_file(path));
    std::remove(path.c_str());
    BOOST_TEST((outcome(omp_co::target(dev, missing, omp_co::tofrom(x), omp_co::explain(why))) ==
                errc::kernel_unavailable));
    BOOST_TEST(says(why, path.c_str()));
    int_kernel const k("increment", omp_co::cuda::image::from_file(path));
    std::ofstream(path) << kernels_ptx;
    BOOST_TEST(!outcome(omp_co::target(dev, k, omp_co::tofrom(x))));
    BOOST_TEST(x == 2);
    std::remove(path.c_str());
}

BOOST_AUTO_TEST_CASE(what_is_no_image_is_refused)
{
    bed const dev;
    int_kernel const k("increment", omp_co::cuda::image(std::string_view(".version 7.0\nnonsense")));
    int x = 1;
    omp_co::diagnostics why;
    auto const ec = outcome(omp_co::target(dev, k, omp_co::tofrom(x), omp_co::explain(why)));
    BOOST_TEST((ec == errc::kernel_unavailable));
    BOOST_TEST(says(why, "was not loaded on"));
    BOOST_TEST(x == 1);
}

BOOST_AUTO_TEST_CASE(preparing_loads_without_running)
{
    bed const dev;
    int_kernel const k("increment", image);
    BOOST_TEST(!outcome(k.prepare(dev)));
    BOOST_TEST(simulator::called("cuModuleLoadDataEx", 1));
    BOOST_TEST(simulator::called("cuLaunchKernel", 0));
    int_kernel const none("no_such_kernel", image);
    BOOST_TEST((outcome(none.prepare(dev)) == errc::kernel_unavailable));
}

BOOST_AUTO_TEST_CASE(teams_have_the_shape_that_was_asked_for)
{
    bed const dev;
    int_kernel const k("team_sizes", image);
    std::array<int, 3> x{};
    BOOST_TEST(!outcome(
        omp_co::target(dev, k, omp_co::teams(omp_co::range(5), omp_co::range(16, 4)), omp_co::tofrom(x))));
    BOOST_TEST((x == std::array{5, 16, 4}));
}

BOOST_AUTO_TEST_CASE(a_kernel_that_allows_few_threads_gets_few)
{
    bed const dev;
    int_kernel const k("at_most_64", image);
    int x = 0;
    BOOST_TEST(!outcome(omp_co::target(dev, k, omp_co::range(1000), omp_co::tofrom(x))));
    BOOST_TEST(x == 64);
    omp_co::diagnostics why;
    BOOST_TEST((outcome(omp_co::target(dev, k, omp_co::teams(1, 128), omp_co::tofrom(x),
                                       omp_co::explain(why))) == errc::invalid_argument));
    BOOST_TEST(says(why, "max_threads_per_block of kernel at_most_64 = 64"));
}

BOOST_AUTO_TEST_CASE(teams_share_memory)
{
    bed const dev;
    int_kernel const k("reverse_team", image);
    std::vector<int> x(512);
    std::iota(x.begin(), x.end(), 0);
    BOOST_TEST(!outcome(omp_co::target(dev, k, omp_co::teams(2, 256, 256 * sizeof(int)), omp_co::tofrom(x))));
    BOOST_TEST(x[0] == 255);
    BOOST_TEST(x[511] == 256);
    // More than a block has without asking.
    BOOST_TEST(!outcome(omp_co::target(dev, k, omp_co::teams(2, 256, 60 << 10), omp_co::tofrom(x))));
    BOOST_TEST(x[0] == 0);
}

BOOST_AUTO_TEST_CASE(launches_over_a_limit_are_refused_with_its_name)
{
    bed const dev;
    int_kernel const k("increment", image);
    int x = 1;
    auto const refused = [&](auto teams, char const* limit) {
        omp_co::diagnostics why;
        auto const ec = outcome(omp_co::target(dev, k, teams, omp_co::tofrom(x), omp_co::explain(why)));
        BOOST_TEST((ec == errc::invalid_argument));
        BOOST_TEST(says(why, limit));
        BOOST_TEST(x == 1);
    };
    refused(omp_co::teams(1, 1025), "max_block_dim_x = 1024");
    refused(omp_co::teams(omp_co::range(1), omp_co::range(64, 32)), "max_threads_per_block = 1024");
    refused(omp_co::teams(omp_co::range(1), omp_co::range(1, 1, 65)), "max_block_dim_z = 64");
    refused(omp_co::teams(omp_co::range(1, 65536), omp_co::range(1)), "max_grid_dim_y = 65535");
    refused(omp_co::teams(std::size_t{1} << 31, 1), "max_grid_dim_x = 2147483647");
    refused(omp_co::teams(1, 1, 1 << 20), "max_shared_memory_per_block_optin");
    refused(omp_co::range(std::size_t{1} << 40), "4294967296 exceeds max_grid_dim_x = 2147483647");
    std::size_t const half = std::size_t{1} << 32; // bits of a size: the product is none
    refused(omp_co::range(half, half), "");
    refused(omp_co::range(half, half, 5), "");
    BOOST_TEST(!outcome(omp_co::target(dev, k, omp_co::range(half, half, 0), omp_co::tofrom(x))));
    BOOST_TEST(x == 1);
    BOOST_TEST(simulator::called("cuLaunchKernel", 0));
}

BOOST_AUTO_TEST_CASE(arguments_that_do_not_fit_are_refused)
{
    bed const dev;
    omp_co::kernel<void(int*, short)> const many("increment", image);
    omp_co::kernel<void(int)> const narrow("increment", image);
    int x = 1;
    omp_co::diagnostics why;
    BOOST_TEST((outcome(omp_co::target(dev, many, omp_co::tofrom(x), omp_co::firstprivate(short{1}),
                                       omp_co::explain(why))) == errc::invalid_argument));
    BOOST_TEST(says(why, "takes 1 parameters and was given 2 arguments"));
    BOOST_TEST((outcome(omp_co::target(dev, narrow, omp_co::firstprivate(1), omp_co::explain(why))) ==
                errc::invalid_argument));
    BOOST_TEST(says(why, "argument 1 has 4 bytes and the kernel's parameter 8"));
    BOOST_TEST(simulator::called("cuLaunchKernel", 0));
}

BOOST_AUTO_TEST_CASE(private_memory_is_refused)
{
    bed const dev;
    int_kernel const k("increment", image);
    omp_co::diagnostics why;
    BOOST_TEST((outcome(omp_co::target(dev, k, omp_co::private_<int>(4), omp_co::explain(why))) ==
                errc::not_supported));
    BOOST_TEST(says(why, "private_"));
}

#if defined(OMP_CO_HAS_CUDA_KERNELS) && OMP_CO_HAS_CUDA_KERNELS
BOOST_AUTO_TEST_CASE(kernels_that_the_build_embedded_run)
{
    bed const dev;
    int_kernel const k("increment", omp_co::cuda::image(kernels_cu));
    int x = 1;
    omp_co::diagnostics why;
    BOOST_TEST(!outcome(omp_co::target(dev, k, omp_co::tofrom(x), omp_co::explain(why))), why.message());
    BOOST_TEST(x == 2);
}
#endif

bool has_compiler()
{
    bool const found = omp_co::cuda::nvrtc::table().available();
    if (!found) BOOST_TEST_MESSAGE("skipped: " << omp_co::cuda::nvrtc::table().reason());
    return found;
}

BOOST_AUTO_TEST_CASE(source_is_compiled_once_for_a_device)
{
    if (!has_compiler()) return;
    omp_co::cuda::source const text(R"(
extern "C" __global__ void one(int* p) { *p += 1; }
extern "C" __global__ void two(int* p) { *p += 2; }
template <class T> __global__ void add(T* p) { *p += sizeof(T); }
namespace inner { __global__ void ten(int* p) { *p += 10; } }
__global__ void mangled(int* p) { *p += 100; }
)");
    bed const dev;
    int x = 0;
    for (char const* name : {"one", "two", "add<int>", "inner::ten", "mangled"}) {
        int_kernel const k(name, text);
        omp_co::diagnostics why;
        BOOST_TEST(!outcome(omp_co::target(dev, k, omp_co::tofrom(x), omp_co::explain(why))), why.message());
    }
    BOOST_TEST(x == 1 + 2 + 4 + 10 + 100);
}

BOOST_AUTO_TEST_CASE(source_that_does_not_compile_gives_the_log)
{
    if (!has_compiler()) return;
    bed const dev;
    int_kernel const k("bad",
                       omp_co::cuda::source("extern \"C\" __global__ void bad(int* p) { *p = nowhere; }"));
    int x = 1;
    omp_co::diagnostics why;
    BOOST_TEST((outcome(omp_co::target(dev, k, omp_co::tofrom(x), omp_co::explain(why))) ==
                errc::kernel_unavailable));
    BOOST_TEST(says(why, "nowhere"));
    BOOST_TEST(x == 1);
}

// With a time asked for too, which waits for the kernel by itself: it is not loaded again and again.
BOOST_AUTO_TEST_CASE(source_with_wrong_options_fails_a_region_that_is_timed)
{
    if (!has_compiler()) return;
    bed const dev;
    int_kernel const k("one", omp_co::cuda::source("extern \"C\" __global__ void one(int* p) { *p += 1; }",
                                                   {"--no-such-option"}));
    int x = 1;
    for (int i = 0; i < 2; ++i) {
        omp_co::diagnostics why;
        BOOST_TEST(!!outcome(omp_co::target(dev, k, omp_co::tofrom(x), omp_co::explain(why))));
        BOOST_TEST(!why.message().empty());
        BOOST_TEST(x == 1);
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace kernels_on_devices_test
