// SPDX-License-Identifier: BSL-1.0
// Both programs' main(): the named cases or all of them, each one's output under a line `== name`; --list: their names.
#include "cases.hpp"

int main(int count, char** arguments)
{
    using oracle::listed_case;
    if (count == 2 && std::strcmp(arguments[1], "--list") == 0) {
        for (listed_case const* c = listed_case::first; c != nullptr; c = c->next) std::puts(c->name);
        return 0;
    }
    int ran = 0;
    for (listed_case const* c = listed_case::first; c != nullptr; c = c->next) {
        bool wanted = count == 1;
        for (int i = 1; i < count; ++i) wanted = wanted || std::strcmp(arguments[i], c->name) == 0;
        if (!wanted) continue;
        std::printf("== %s\n", c->name);
        c->run();
        std::fflush(stdout);
        ++ran;
    }
    if (count > 1 && ran != count - 1) {
        std::fputs("oracle: no such case; --list names them\n", stderr);
        return 2;
    }
    return 0;
}
