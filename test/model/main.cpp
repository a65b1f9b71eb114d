// SPDX-License-Identifier: BSL-1.0
// Holds the data environment against the reference model for as long as one likes; the sequences are those of
// test/data_environment/random_sequences.cpp.
#include "data_environment/seeds.hpp"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>

namespace {

constexpr char const* usage =
    "Use: model [--seconds N] [--seed N]\n\n"
    "  --seconds N  plays random sequences for N seconds (10), each from a new seed\n"
    "  --seed N     plays the sequence of one seed\n\n"
    "Exit code: 0 if all agree with the reference model, 1 if one does not, 2 for a wrong argument.\n";

bool read(char const* text, std::uint64_t& number)
{
    char* end = nullptr;
    number = std::strtoull(text, &end, 0);
    return *text >= '0' && *text <= '9' && *end == '\0';
}

bool agrees(std::uint64_t seed)
{
    std::string const report = model::play_seed(seed);
    if (report.empty()) return true;
    std::fprintf(stderr, "%s  model --seed %llu plays it again\n", report.c_str(),
                 static_cast<unsigned long long>(seed));
    return false;
}

} // namespace

int main(int argc, char** argv)
{
    std::uint64_t seconds = 10;
    std::uint64_t seed = 0;
    bool one = false;
    for (int i = 1; i < argc; i += 2) {
        bool const names_seed = std::strcmp(argv[i], "--seed") == 0;
        bool const known = names_seed || std::strcmp(argv[i], "--seconds") == 0;
        if (!known || i + 1 == argc || !read(argv[i + 1], names_seed ? seed : seconds)) {
            std::fputs(usage, stderr);
            return 2;
        }
        one = one || names_seed;
    }
    if (one) return agrees(seed) ? 0 : 1;

    std::uint64_t const first = (std::uint64_t{std::random_device()()} << 32) + std::random_device()();
    auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    std::uint64_t played = 0;
    do {
        if (!agrees(first + played)) return 1;
        ++played;
    } while (std::chrono::steady_clock::now() < end);
    std::printf("%llu sequences from seed %llu on agree with the reference model\n",
                static_cast<unsigned long long>(played), static_cast<unsigned long long>(first));
    return 0;
}
