// SPDX-License-Identifier: BSL-1.0
// The test program's entry, and the compiled kernels that it reads.
#define BOOST_TEST_MODULE ptx_interpreter
#include <boost/test/unit_test.hpp>

#include "support.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace {

// Without nvcc there are no compiled kernels, and nearly every case needs one.
struct skip_without_kernels {
    skip_without_kernels()
    {
        if (std::getenv("OMP_CO_SIM_PTX_FOLDER")) return;
        std::puts("skipped: OMP_CO_SIM_PTX_FOLDER names no folder of compiled kernels");
        std::exit(77);
    }
};
skip_without_kernels const skip;

} // namespace

namespace omp_co_sim::ptx::test {

std::string compiled(std::string const& name, int architecture)
{
    auto const folder = std::getenv("OMP_CO_SIM_PTX_FOLDER");
    std::ifstream in{std::string{folder ? folder : "."} + "/" + name + "." + std::to_string(architecture) +
                     ".ptx"};
    if (!in) throw std::runtime_error{"no PTX of " + name + ".cu: is OMP_CO_SIM_PTX_FOLDER set?"};
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

} // namespace omp_co_sim::ptx::test
