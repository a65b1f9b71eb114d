// SPDX-License-Identifier: BSL-1.0
// What a request line asks for, decided before the body is read.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <variant>

struct reply {
    unsigned status = 500;
    std::string type;
    std::string body;
    std::string allow; // the methods, when the one that was used is not among them

    reply() = default;
    reply(unsigned code, std::string_view content_type, std::string content)
        : status(code), type(content_type), body(std::move(content))
    {
    }

    static reply text(unsigned code, std::string const& words)
    {
        return {code, "text/plain; charset=utf-8", words + '\n'};
    }
};

struct show_page {};
struct show_stats {};
struct blur_picture {
    unsigned radius;
};

/// A reply here is the refusal.
using route = std::variant<show_page, show_stats, blur_picture, reply>;

route find_route(std::string_view method, std::string_view target, unsigned max_radius);
