// The command line of a bench program: `--key value` pairs and plain words.
// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace bench {

class arguments {
public:
    arguments(int argc, char** argv)
    {
        for (int i = 1; i < argc; ++i) {
            std::string word = argv[i];
            if (!word.starts_with("--")) {
                words_.push_back(word);
                continue;
            }
            if (i + 1 == argc) throw std::invalid_argument(word + " needs a value");
            pairs_.emplace_back(word.substr(2), argv[++i]);
        }
        for (auto const& [key, value] : pairs_) unused_.push_back(key);
    }

    std::string text(std::string const& key, std::string fallback = {})
    {
        std::erase(unused_, key);
        for (auto const& [name, value] : pairs_)
            if (name == key) return value;
        return fallback;
    }

    /// A positive whole number.
    long number(std::string const& key, long fallback)
    {
        std::string value = text(key);
        if (value.empty()) return fallback;
        std::size_t used = 0;
        long n = std::stol(value, &used);
        if (used != value.size() || n < 1)
            throw std::invalid_argument("--" + key + " must be a positive number");
        return n;
    }

    std::vector<std::string> const& words() const { return words_; }

    /// Call after the last key was asked for.
    void refuse_unknown_keys() const
    {
        if (!unused_.empty()) throw std::invalid_argument("unknown option --" + unused_.front());
    }

private:
    std::vector<std::pair<std::string, std::string>> pairs_;
    std::vector<std::string> words_, unused_;
};

} // namespace bench
