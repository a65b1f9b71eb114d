// SPDX-License-Identifier: BSL-1.0
// Strict host devices: what AddressSanitizer reports of programs that forget a map or read what is stale, each in a process of
// its own, and that it has nothing to say of right ones.
#include "child_process.hpp"
#include "strict/mapping.hpp"
#include "strict/more.hpp"
#include "strict/wrong.hpp"

#include <omp_co/omp_co.hpp>

#include <algorithm>
#include <boost/system/system_error.hpp>
#include <cstdio>
#include <iterator>
#include <string>

int strict_test::global_data[100];

namespace {

using child_process::check;

/// How a device with these options cannot be made; empty if it can.
std::string refusal(omp_co::host::options const& o, omp_co::errc code)
{
    try {
        omp_co::host::virtual_device const device(o);
    } catch (boost::system::system_error const& e) {
        return e.code() == code ? e.what() : "another error: " + std::string(e.what());
    }
    return {};
}

int without_the_sanitizer()
{
    std::string const why = refusal({.strict = true}, omp_co::errc::not_supported);
    check(why.find("-fsanitize=address") != std::string::npos, "a strict device was made: " + why);
    if (child_process::failures != 0) return child_process::result();
    std::puts("skipped: strict host devices need a program built with AddressSanitizer");
    return child_process::skipped;
}

} // namespace

int main(int argc, char** argv)
{
    if (!omp_co::host::poison::available) return without_the_sanitizer();
    if (argc == 2) {
        for (strict_test::program const& w : strict_test::wrong_programs)
            if (std::string(argv[1]) == w.name) w.run();
        return 0;
    }
    std::string const why = refusal({.unified_memory = true, .strict = true}, omp_co::errc::invalid_argument);
    check(why.find("unified_memory") != std::string::npos, "a unified strict device was made: " + why);

    for (strict_test::program const& w : strict_test::wrong_programs) {
        child_process::outcome const o = child_process::rerun_and_listen({w.name});
        check(o.ending == "exit code 1", std::string(w.name) + ": ended with: " + o.ending + "\n" + o.said);
        check(o.said.find("AddressSanitizer: use-after-poison") != std::string::npos,
              std::string(w.name) + ": no report of a use after poison:\n" + o.said);
    }
    auto const run = [](strict_test::program const& right) {
        std::fprintf(stderr, "right: %s\n", right.name); // what a report below is about
        right.run();
    };
    std::for_each(std::begin(strict_test::right_mappings), std::end(strict_test::right_mappings), run);
    std::for_each(std::begin(strict_test::right_programs), std::end(strict_test::right_programs), run);
    return child_process::result();
}
