// SPDX-License-Identifier: BSL-1.0
// What heat and graph are told: --size 512 --check.
#pragma once
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <omp_co/device.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

struct usage_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Takes options away one after another; done() refuses those that nobody has asked for.
class command_line {
public:
    command_line(int argc, char** argv) : words_(argv + 1, argv + argc) {}

    bool flag(std::string_view option)
    {
        auto const at = std::find(words_.begin(), words_.end(), option);
        if (at == words_.end()) return false;
        words_.erase(at);
        return true;
    }

    std::string text(std::string_view option, std::string_view otherwise)
    {
        auto const at = std::find(words_.begin(), words_.end(), option);
        if (at == words_.end()) return std::string(otherwise);
        if (at + 1 == words_.end()) throw usage_error(std::string(option) + " needs a value");
        std::string const value(at[1]);
        words_.erase(at, at + 2);
        return value;
    }

    std::size_t number(std::string_view option, std::size_t otherwise, std::size_t least = 1,
                       std::size_t most = 1'000'000'000)
    {
        std::string const value = text(option, std::to_string(otherwise));
        std::size_t n = 0;
        auto const [end, error] = std::from_chars(value.data(), value.data() + value.size(), n);
        if (error != std::errc() || end != value.data() + value.size() || n < least || n > most)
            throw usage_error(std::string(option) + ": not a number from " + std::to_string(least) + " to " +
                              std::to_string(most) + ": " + value);
        return n;
    }

    /// The first devices, as many as --devices says; without it, all.
    std::vector<omp_co::device> devices()
    {
        std::vector<omp_co::device> list = omp_co::devices();
        if (list.empty()) throw usage_error("there is no device");
        list.resize(number("--devices", list.size(), 1, list.size()));
        return list;
    }

    void done() const
    {
        if (!words_.empty()) throw usage_error("what is " + std::string(words_.front()) + "?");
    }

private:
    std::vector<std::string_view> words_;
};
