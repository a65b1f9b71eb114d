// SPDX-License-Identifier: BSL-1.0
// Says of each PTX file whether the interpreter takes it, and what is in it.
#include "../interpreter.hpp"

#include <cstdio>
#include <fstream>
#include <sstream>

using namespace omp_co_sim::ptx;

int main(int count, char** files)
{
    int refused = 0;
    for (int n = 1; n < count; ++n) {
        std::ifstream in{files[n]};
        std::ostringstream text;
        text << in.rdbuf();
        try {
            module const m = parse(text.str());
            std::printf("%s: %zu kernels, %zu globals\n", files[n], m.kernels().size(), m.globals().size());
        } catch (parse_error const& e) {
            std::printf("%s: %s\n", files[n], e.what());
            ++refused;
        }
    }
    return refused != 0;
}
