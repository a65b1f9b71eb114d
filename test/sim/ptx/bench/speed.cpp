// SPDX-License-Identifier: BSL-1.0
// How many instructions a second the interpreter runs: a loop in registers, saxpy, a tiled matrix product.
#include "../test/support.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

using namespace omp_co_sim::ptx;
using namespace omp_co_sim::ptx::test;

namespace {

std::string text_of(std::string const& path)
{
    std::ifstream in{path};
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

template <class F>
void measure(char const* name, double instructions, F f)
{
    auto const start = std::chrono::steady_clock::now();
    fault const result = f();
    std::chrono::duration<double> const took = std::chrono::steady_clock::now() - start;
    std::printf("%-10s %8.1f ms %8.1f million instructions/s %s\n", name, took.count() * 1e3,
                instructions / took.count() / 1e6, result.text.c_str());
}

} // namespace

int main(int, char** argv)
{
    std::string const folder = argv[1];
    device_memory m;
    loaded mix{m, text_of(folder + "/speed.80.ptx")};
    loaded basic{m, text_of(folder + "/basic.80.ptx")};
    array<unsigned> out{m, std::vector<unsigned>(4096)};
    measure("mix", 256.0 * 20000 * 10, [&] { return mix.run("mix", {{2, 1, 1}, {128, 1, 1}}, out, 20000u); });
    int const n = 1 << 20;
    array<float> x{m, std::vector<float>(n, 1)};
    array<float> y{m, std::vector<float>(n, 1)};
    measure("saxpy", 18.0 * n, [&] {
        return basic.run("saxpy", {{n / 256, 1, 1}, {256, 1, 1}}, n, 2.0f, x, y);
    });
    array<float> c{m, std::vector<float>(n)};
    measure("matmul", 256.0 * 256 * 16 * (16 * 3 + 20), [&] {
        return basic.run("matmul", {{16, 16, 1}, {16, 16, 1}}, x, y, c, 256);
    });
    measure("tiny x1000", 18.0 * 256 * 1000, [&] {
        for (int i = 0; i < 1000; ++i)
            if (auto const f = basic.run("saxpy", {{1, 1, 1}, {256, 1, 1}}, 256, 2.0f, x, y)) return f;
        return fault{};
    });
}
