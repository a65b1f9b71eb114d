// SPDX-License-Identifier: BSL-1.0
// The three paths of the service and the query of one of them.
#include "routes.hpp"
#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>

namespace {

// The raw text: a number needs no percent-decoding.
std::optional<std::string_view> query_value(std::string_view query, std::string_view key)
{
    while (!query.empty()) {
        std::string_view const pair = query.substr(0, query.find('&'));
        query.remove_prefix(std::min(query.size(), pair.size() + 1));
        std::size_t const equals = pair.find('=');
        if (pair.substr(0, equals) != key) continue;
        return equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1);
    }
    return std::nullopt;
}

route blur_route(std::string_view query, unsigned max_radius)
{
    std::string const bounds = "a whole number from 0 to " + std::to_string(max_radius);
    std::optional<std::string_view> const text = query_value(query, "radius");
    if (!text) return reply::text(400, "radius is missing: write /blur?radius=N with " + bounds);

    unsigned radius = 0;
    auto const [end, error] = std::from_chars(text->data(), text->data() + text->size(), radius);
    bool const number = !text->empty() && end == text->data() + text->size();
    if (!number || error == std::errc::invalid_argument) return reply::text(400, "radius is not " + bounds);
    if (error != std::errc() || radius > max_radius)
        return reply::text(400, "radius is out of range: it is " + bounds);
    return blur_picture{radius};
}

route wrong_method(std::string_view allowed)
{
    reply r = reply::text(405, "this path takes " + std::string(allowed));
    r.allow = allowed;
    return r;
}

} // namespace

route find_route(std::string_view method, std::string_view target, unsigned max_radius)
{
    std::size_t const mark = target.find('?');
    std::string_view const path = target.substr(0, mark);
    std::string_view const query = mark == std::string_view::npos ? "" : target.substr(mark + 1);
    bool const get = method == "GET" || method == "HEAD";

    if (path == "/") return get ? route(show_page()) : wrong_method("GET, HEAD");
    if (path == "/stats") return get ? route(show_stats()) : wrong_method("GET, HEAD");
    if (path == "/blur") return method == "POST" ? blur_route(query, max_radius) : wrong_method("POST");
    return reply::text(404, "nothing here: try / or /blur or /stats");
}
