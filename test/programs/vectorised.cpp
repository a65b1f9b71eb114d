// SPDX-License-Identifier: BSL-1.0
// The loop over a chunk of a range is vectorised like a loop that the user wrote: the compiler says so.
#include "child_process.hpp"

#include <cstdio>
#include <fstream>
#include <sstream>

namespace {

using child_process::check;

std::string const source = R"(
#include <omp_co/detail/host_kernel.hpp>

struct triad {
    template <class I>
    void operator()(I i, double* a, double const* b, double const* c, double s) const { a[i] = b[i] + s * c[i]; }
    template <class I>
    void operator()(I x, I, double* a, double const* b, double const* c, double s) const { a[x] = b[x] + s * c[x]; }
};

using namespace omp_co;
using out = map_clause<map_type::from, double>;
using in = map_clause<map_type::to, double const>;
using scale = firstprivate_clause<double>;

backend::kernel const* variants()
{
    static constexpr auto one = &detail::host_kernel_for<DIMENSIONS, triad, out, in, in, scale>;
    return one;
}
)";

std::string output_of(std::string const& command)
{
    std::string text;
    std::FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
    if (pipe == nullptr) return text;
    char line[512];
    while (std::fgets(line, sizeof line, pipe) != nullptr) text += line;
    (void)pclose(pipe);
    return text;
}

} // namespace

int main()
{
    if (std::system("g++ --version >/dev/null 2>&1") != 0) {
        std::puts("skipped: g++ is not installed");
        return child_process::skipped;
    }
    std::filesystem::path const root = std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();
    std::filesystem::path const headers = root / "include";
    if (!std::filesystem::exists(headers / "omp_co" / "detail" / "host_kernel.hpp")) {
        std::puts("skipped: the sources are not where this program was built from");
        return child_process::skipped;
    }
    char name[] = "/tmp/omp_co_vectorised_XXXXXX.cpp";
    int const file = mkstemps(name, 4);
    if (file < 0) return EXIT_FAILURE;
    (void)close(file);
    std::ofstream(name) << source;
    for (int dimensions : {1, 2}) {
        std::string const text =
            output_of("g++ -std=c++20 -O3 -S -o /dev/null -fopt-info-vec-optimized -DDIMENSIONS=" +
                      std::to_string(dimensions) + " -I'" + headers.string() + "' " + name);
        bool const said = text.find("host_kernel.hpp") != std::string::npos &&
                          text.find("loop vectorized") != std::string::npos;
        check(said, std::to_string(dimensions) + " dimensions: the compiler says \"" + text + "\"");
    }
    (void)std::remove(name);
    return child_process::result();
}
