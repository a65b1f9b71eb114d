// SPDX-License-Identifier: BSL-1.0
// Connections: read a header, decide, read the body, answer; again while the client keeps the connection.
#include "http.hpp"
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <list>
#include <optional>
#include <string>
#include <utility>

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;
using boost::system::error_code;

namespace {

using namespace std::chrono_literals;

constexpr auto awaited = asio::as_tuple(asio::use_awaitable);
constexpr std::uint32_t header_bytes = 8 * 1024;
using parser_type = http::request_parser<http::string_body>;

// A malformed or oversized request deserves an answer; a client that left or fell silent does not get one.
std::optional<reply> reply_to(error_code error)
{
    if (error == http::error::body_limit) return reply::text(413, "the body is too large");
    if (error == http::error::header_limit) return reply::text(431, "the header is too large");
    if (error == http::error::end_of_stream || error == http::error::partial_message) return std::nullopt;
    if (error.category() == make_error_code(http::error::bad_method).category())
        return reply::text(400, "this is not HTTP: " + error.message());
    return std::nullopt;
}

// What the connection's coroutine does at the moment, for a server that wants to stop.
struct connection {
    beast::tcp_stream stream;
    bool idle = true;

    explicit connection(tcp::socket socket) : stream(std::move(socket)) {}
};

} // namespace

struct http_server::state : std::enable_shared_from_this<http_server::state> {
    state(asio::any_io_executor executor, image_service& s, tcp::endpoint const& where)
        : acceptor(executor, where), stop_deadline(executor), service(s)
    {
    }

    asio::awaitable<void> listen();
    asio::awaitable<void> close_late_connections();
    asio::awaitable<void> serve(std::list<connection>::iterator me);
    asio::awaitable<bool> exchange(connection& c, beast::flat_buffer& buffer);
    asio::awaitable<bool> send(connection& c, reply answer, bool keep, bool head);

    tcp::acceptor acceptor;
    asio::steady_timer stop_deadline;
    image_service& service;
    std::list<connection> connections;
    bool stopping = false;
};

asio::awaitable<void> http_server::state::listen()
{
    auto const self = shared_from_this();
    auto const executor = co_await asio::this_coro::executor;
    while (!stopping) {
        auto [error, socket] = co_await acceptor.async_accept(awaited);
        if (stopping) co_return;
        if (error) { // out of descriptors, or a client that left at once: others may still be served
            asio::steady_timer pause(executor, 20ms);
            co_await pause.async_wait(awaited);
            continue;
        }
        if (connections.size() >= service.bounds().connections) continue; // closes it
        connections.emplace_front(std::move(socket));
        asio::co_spawn(executor, serve(connections.begin()), asio::detached);
    }
}

asio::awaitable<void> http_server::state::serve(std::list<connection>::iterator me)
{
    auto const self = shared_from_this();
    error_code ignored;
    me->stream.socket().set_option(tcp::no_delay(true), ignored);
    beast::flat_buffer buffer;
    while (!stopping) {
        bool const more = co_await exchange(*me, buffer);
        if (!more) break;
    }
    connections.erase(me);
    if (connections.empty()) stop_deadline.cancel();
}

asio::awaitable<void> http_server::state::close_late_connections()
{
    auto const self = shared_from_this();
    if (connections.empty()) co_return; // the last one ended before this began
    stop_deadline.expires_after(service.bounds().stop);
    co_await stop_deadline.async_wait(awaited);
    for (connection& c : connections) c.stream.close();
}

// One request and its answer; false when the connection is to be closed.
asio::awaitable<bool> http_server::state::exchange(connection& c, beast::flat_buffer& buffer)
{
    limits const& bounds = service.bounds();
    parser_type parser;
    parser.header_limit(header_bytes);
    parser.body_limit(bounds.body_bytes);

    c.idle = true;
    c.stream.expires_after(bounds.idle);
    auto [header_error, header_size] = co_await http::async_read_header(c.stream, buffer, parser, awaited);
    c.idle = false;
    auto const& request = parser.get();
    bool const head = request.method() == http::verb::head;
    if (header_error) {
        std::optional<reply> refusal = reply_to(header_error);
        if (!refusal) co_return false;
        service.stats().count_request();
        co_return co_await send(c, std::move(*refusal), false, head);
    }

    service.stats().count_request();
    std::string_view const target(request.target().data(), request.target().size());
    std::string_view const method(request.method_string().data(), request.method_string().size());
    route where = find_route(method, target, bounds.radius);
    if (reply* refusal = std::get_if<reply>(&where)) {
        // A body that nobody will read cannot be told from the next request.
        bool const keep = request.keep_alive() && parser.is_done();
        co_return co_await send(c, std::move(*refusal), keep, head);
    }

    c.stream.expires_after(bounds.upload);
    if (!parser.is_done() && beast::iequals(request[http::field::expect], "100-continue")) {
        constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
        auto [error, size] = co_await asio::async_write(c.stream, asio::buffer(go_on), awaited);
        if (error) co_return false;
    }
    auto [body_error, body_size] = co_await http::async_read(c.stream, buffer, parser, awaited);
    if (body_error) {
        std::optional<reply> refusal = reply_to(body_error);
        if (!refusal) co_return false;
        co_return co_await send(c, std::move(*refusal), false, head);
    }

    reply answer = co_await service.answer(std::move(where), std::move(parser.get().body()));
    bool const keep = request.keep_alive() && !stopping;
    co_return co_await send(c, std::move(answer), keep, head);
}

asio::awaitable<bool> http_server::state::send(connection& c, reply answer, bool keep, bool head)
{
    if (answer.status >= 400) service.stats().count_refusal();

    http::response<http::string_body> response(static_cast<http::status>(answer.status), 11);
    response.set(http::field::content_type, answer.type);
    response.set(http::field::cache_control, "no-store");
    response.set("X-Content-Type-Options", "nosniff");
    response.set("Content-Security-Policy",
                 "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
                 "img-src blob: data:; connect-src 'self'");
    if (!answer.allow.empty()) response.set(http::field::allow, answer.allow);
    if (answer.status == 503) response.set(http::field::retry_after, "1");
    response.keep_alive(keep);
    response.content_length(answer.body.size());
    if (!head) response.body() = std::move(answer.body);

    c.stream.expires_after(service.bounds().reply);
    auto [error, size] = co_await http::async_write(c.stream, response, awaited);
    if (error) co_return false;
    if (keep) co_return true;

    // Closing while bytes of the client are unread resets the connection, and the answer may be lost with it:
    // wait, for a short while, until the client has read the answer and closes too.
    error_code ignored;
    c.stream.socket().shutdown(tcp::socket::shutdown_send, ignored);
    c.stream.expires_after(2s);
    std::string scratch(64 * 1024, '\0');
    for (error_code ended; !ended;) {
        auto [read_error, read] = co_await c.stream.async_read_some(asio::buffer(scratch), awaited);
        ended = read_error;
    }
    co_return false;
}

http_server::http_server(asio::any_io_executor executor, image_service& service, tcp::endpoint const& where)
    : state_(std::make_shared<state>(executor, service, where))
{
    asio::co_spawn(executor, state_->listen(), asio::detached);
}

http_server::~http_server() = default;

unsigned short http_server::port() const { return state_->acceptor.local_endpoint().port(); }

void http_server::stop()
{
    state_->stopping = true;
    error_code ignored;
    state_->acceptor.close(ignored);
    for (connection& c : state_->connections)
        if (c.idle) c.stream.cancel();
    if (!state_->connections.empty())
        asio::co_spawn(state_->acceptor.get_executor(), state_->close_late_connections(), asio::detached);
}
