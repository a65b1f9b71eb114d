// SPDX-License-Identifier: BSL-1.0
// The service in a thread of this process, against good, bad and slow clients.
#include "blur.hpp"
#include "heartbeat.hpp"
#include "http.hpp"
#include "png.hpp"
#include "service.hpp"
#include <algorithm>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <omp_co/omp_co.hpp>
#include <string>
#include <thread>
#include <vector>

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;

namespace {

#define CHECK(...)                                                                                           \
    do {                                                                                                     \
        if (!(__VA_ARGS__)) {                                                                                \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #__VA_ARGS__);                           \
            std::_Exit(1);                                                                                   \
        }                                                                                                    \
    } while (false)

limits short_limits()
{
    limits l;
    l.body_bytes = 1 << 20;
    l.pixels = 512 * 512;
    l.pixels_at_work = 40 * 256 * 256;
    l.idle = std::chrono::milliseconds(300);
    l.upload = std::chrono::milliseconds(300);
    return l;
}

class running_service {
public:
    explicit running_service(limits bounds)
        : beat_(io_.get_executor()),
          service_(omp_co::default_device(), codecs_, beat_.lateness(), bounds),
          server_(io_.get_executor(), service_, tcp::endpoint(asio::ip::make_address("127.0.0.1"), 0)),
          where_(asio::ip::make_address("127.0.0.1"), server_.port()),
          loop_([this] { io_.run(); })
    {
    }
    running_service(running_service const&) = delete;
    running_service& operator=(running_service const&) = delete;

    tcp::endpoint where() const { return where_; }

    // Returns when the loop has run out of work: a connection that is never closed would hang here.
    std::string stop()
    {
        asio::post(io_, [this] {
            server_.stop();
            beat_.stop();
        });
        loop_.join();
        return service_.stats().summary();
    }

private:
    asio::io_context io_;
    asio::thread_pool codecs_{2};
    heartbeat beat_;
    image_service service_;
    http_server server_;
    tcp::endpoint where_;
    std::jthread loop_;
};

using response = http::response<http::string_body>;

class client {
public:
    explicit client(tcp::endpoint where) : stream_(io_) { stream_.connect(where); }

    response ask(http::verb method, std::string const& target, std::string body = {})
    {
        http::request<http::string_body> request(method, target, 11);
        request.set(http::field::host, "localhost");
        request.body() = std::move(body);
        request.prepare_payload();
        boost::system::error_code ignored; // the service may answer, and close, before it has the body
        http::write(stream_, request, ignored);
        return read(method == http::verb::head);
    }

    void send_raw(std::string const& text) { asio::write(stream_.socket(), asio::buffer(text)); }

    response read(bool head = false)
    {
        http::response_parser<http::string_body> parser;
        parser.body_limit(16u << 20);
        parser.skip(head);
        http::read(stream_, buffer_, parser);
        return parser.release();
    }

    bool closed_by_peer()
    {
        char byte;
        boost::system::error_code error;
        asio::read(stream_.socket(), asio::buffer(&byte, 1), error);
        return error == asio::error::eof || error == asio::error::connection_reset;
    }

private:
    asio::io_context io_;
    beast::tcp_stream stream_;
    beast::flat_buffer buffer_;
};

response ask(tcp::endpoint where, http::verb method, std::string const& target, std::string body = {})
{
    return client(where).ask(method, target, std::move(body));
}

picture pattern(std::size_t width, std::size_t height, bool has_alpha)
{
    picture p;
    p.width = width;
    p.height = height;
    p.has_alpha = has_alpha;
    std::uint32_t state = 7;
    for (std::size_t k = 0; k < width * height; ++k) {
        state = state * 1664525u + 1013904223u;
        auto byte = [state](int shift) { return static_cast<std::uint8_t>(state >> shift); };
        p.pixels.push_back({byte(24), byte(16), byte(12), has_alpha ? byte(20) : std::uint8_t{255}});
    }
    return p;
}

picture constant(std::size_t width, std::size_t height, pixel colour)
{
    picture p;
    p.width = width;
    p.height = height;
    p.has_alpha = colour.alpha != 255;
    p.pixels.assign(width * height, colour);
    return p;
}

// The blur again, by its definition: one sum over the square.
bool agrees_with_definition(picture const& before, picture const& after, int radius)
{
    std::vector<float> const w = gaussian_weights(static_cast<unsigned>(radius));
    int const width = static_cast<int>(before.width), height = static_cast<int>(before.height);
    auto at = [&](picture const& p, int x, int y) {
        return p.pixels[static_cast<std::size_t>(y * width + x)];
    };
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            double red = 0, green = 0, blue = 0, alpha = 0;
            for (int v = -radius; v <= radius; ++v)
                for (int u = -radius; u <= radius; ++u) {
                    pixel const p =
                        at(before, std::clamp(x + u, 0, width - 1), std::clamp(y + v, 0, height - 1));
                    double const weight = static_cast<double>(w[static_cast<std::size_t>(u + radius)]) *
                                          static_cast<double>(w[static_cast<std::size_t>(v + radius)]) *
                                          p.alpha;
                    red += weight * p.red;
                    green += weight * p.green;
                    blue += weight * p.blue;
                    alpha += weight;
                }
            pixel const got = at(after, x, y);
            auto near = [](double expected, int value) { return std::abs(expected - value) < 1.01; };
            if (!near(red / alpha, got.red) || !near(green / alpha, got.green) ||
                !near(blue / alpha, got.blue) || !near(alpha, got.alpha))
                return false;
        }
    return true;
}

void good_requests(tcp::endpoint where)
{
    for (bool alpha : {false, true}) {
        picture const before = pattern(61, 43, alpha);
        std::string const file = encode_png(before);

        response untouched = ask(where, http::verb::post, "/blur?radius=0", file);
        CHECK(untouched.result_int() == 200 && untouched[http::field::content_type] == "image/png");
        picture const same = decode_png(untouched.body());
        CHECK(same.width == 61 && same.height == 43 && same.has_alpha == alpha);
        if (!alpha) CHECK(same.pixels == before.pixels);
        for (std::size_t k = 0; k < same.pixels.size(); ++k)
            CHECK(same.pixels[k] == before.pixels[k] || before.pixels[k].alpha == 0);

        for (int radius : {1, 5, 64}) {
            response const r = ask(where, http::verb::post, "/blur?radius=" + std::to_string(radius), file);
            CHECK(r.result_int() == 200);
            if (radius < 64) CHECK(agrees_with_definition(before, decode_png(r.body()), radius));
        }
    }
    for (pixel colour : {pixel{200, 30, 90, 255}, pixel{255, 255, 255, 255}, pixel{17, 130, 250, 90}}) {
        picture const flat = constant(120, 80, colour);
        response const r = ask(where, http::verb::post, "/blur?x=1&radius=9", encode_png(flat));
        CHECK(r.result_int() == 200 && decode_png(r.body()).pixels == flat.pixels);
    }
    picture const dot = constant(1, 1, {1, 2, 3, 255});
    response const one = ask(where, http::verb::post, "/blur?radius=64", encode_png(dot));
    CHECK(one.result_int() == 200 && decode_png(one.body()).pixels == dot.pixels);
}

std::string with_size(std::string file, std::uint32_t width, std::uint32_t height)
{
    for (std::size_t k = 0; k < 4; ++k) {
        file[16 + k] = static_cast<char>(width >> (24 - 8 * k));
        file[20 + k] = static_cast<char>(height >> (24 - 8 * k));
    }
    return file;
}

void bad_requests(tcp::endpoint where)
{
    std::string const file = encode_png(pattern(50, 40, false));
    auto status = [&](http::verb method, std::string const& target, std::string const& body) {
        response const r = ask(where, method, target, body);
        CHECK(r.result_int() < 400 || r.body().size() > 5); // says why
        return r.result_int();
    };
    auto post = [&](std::string const& target, std::string const& body) {
        return status(http::verb::post, target, body);
    };

    for (char const* radius :
         {"", "?", "?radius", "?radius=", "?radius=x", "?radius=-1", "?radius=65", "?radius=1.5",
          "?radius=7x", "?radius=%31", "?radius=99999999999999999999", "?diameter=4"})
        CHECK(post(std::string("/blur") + radius, file) == 400);

    CHECK(post("/blur?radius=3", "") == 400);
    CHECK(post("/blur?radius=3", "GIF89a, or so it says") == 415);
    CHECK(post("/blur?radius=3", file.substr(0, 8)) == 400);
    // Cut anywhere behind the signature, the last byte included.
    for (std::size_t cut : {20u, 33u, 60u, 2000u}) CHECK(post("/blur?radius=3", file.substr(0, cut)) == 400);
    CHECK(post("/blur?radius=3", file.substr(0, file.size() - 1)) == 400);
    std::string damaged = file;
    damaged[file.size() / 2] = static_cast<char>(damaged[file.size() / 2] ^ 0x10);
    CHECK(post("/blur?radius=3", damaged) == 400);

    CHECK(post("/blur?radius=3", with_size(file, 100'000, 100'000)) == 413);
    CHECK(post("/blur?radius=3", with_size(file, 0x7fffffff, 0x7fffffff)) == 413);
    CHECK(post("/blur?radius=3", with_size(file, 0xffffffff, 0xffffffff)) == 413);
    CHECK(post("/blur?radius=3", with_size(file, 0, 40)) == 400);
    CHECK(post("/blur?radius=3", with_size(file, 51, 40)) == 400); // the checksum says otherwise
    CHECK(post("/blur?radius=3", std::string(2 << 20, 'x')) == 413);

    response const get = ask(where, http::verb::get, "/blur?radius=3");
    CHECK(get.result_int() == 405 && get[http::field::allow] == "POST");
    CHECK(status(http::verb::put, "/blur?radius=3", file) == 405);
    CHECK(status(http::verb::post, "/", file) == 405);
    CHECK(status(http::verb::get, "/nowhere", "") == 404);
    CHECK(status(http::verb::post, "/blur/?radius=3", file) == 404);

    client nonsense(where);
    nonsense.send_raw("what is this?\r\n\r\n");
    CHECK(nonsense.read().result_int() == 400);
    client long_header(where);
    long_header.send_raw("GET / HTTP/1.1\r\nX: " + std::string(9000, 'x') + "\r\n\r\n");
    CHECK(long_header.read().result_int() == 431);
    client chunked(where);
    chunked.send_raw(
        "POST /blur?radius=3 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n200000\r\n");
    CHECK(chunked.read().result_int() == 413);
}

void connections(tcp::endpoint where)
{
    client kept(where);
    for (int k = 0; k < 3; ++k) {
        response const page = kept.ask(http::verb::get, "/");
        CHECK(page.result_int() == 200 && page.body().find("</html>") != std::string::npos &&
              page.keep_alive());
        CHECK(kept.ask(http::verb::get, "/nowhere").result_int() ==
              404); // an error keeps the connection, too
    }
    response const head = kept.ask(http::verb::head, "/");
    CHECK(head.result_int() == 200 && head.body().empty() &&
          std::stoul(head[http::field::content_length]) > 1000);
    response const stats = kept.ask(http::verb::get, "/stats");
    CHECK(stats[http::field::content_type] == "application/json" &&
          stats.body().find("\"p99\":") != std::string::npos);
    CHECK(kept.closed_by_peer()); // idle for too long

    client polite(where);
    std::string const file = encode_png(constant(8, 8, {9, 9, 9, 255}));
    polite.send_raw("POST /blur?radius=2 HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: " +
                    std::to_string(file.size()) + "\r\n\r\n");
    CHECK(polite.read().result_int() == 100);
    polite.send_raw(file);
    CHECK(polite.read().result_int() == 200);

    client half_header(where);
    half_header.send_raw("GET / HTTP/1.1\r\nHos");
    CHECK(half_header.closed_by_peer());
    client half_body(where);
    half_body.send_raw("POST /blur?radius=2 HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nonly this");
    CHECK(half_body.closed_by_peer());
}

void many_at_once(tcp::endpoint where)
{
    std::string const file = encode_png(pattern(256, 256, false));
    std::vector<std::jthread> clients;
    for (int k = 0; k < 20; ++k)
        clients.emplace_back([&, k] {
            response const r = ask(where, http::verb::post, "/blur?radius=" + std::to_string(k), file);
            CHECK(r.result_int() == 200);
            picture const p = decode_png(r.body());
            CHECK(p.width == 256 && p.height == 256);
        });
}

void stop_with_a_stalled_upload()
{
    limits patient;
    patient.stop = std::chrono::milliseconds(200);
    running_service service(patient);
    client stalled(service.where());
    stalled.send_raw(
        "POST /blur?radius=2 HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n");
    CHECK(stalled.read().result_int() == 100);
    auto const start = std::chrono::steady_clock::now();
    service.stop();
    CHECK(std::chrono::steady_clock::now() - start < patient.upload / 3);
    CHECK(stalled.closed_by_peer());
}

} // namespace

int main()
{
    running_service service(short_limits());
    good_requests(service.where());
    bad_requests(service.where());
    connections(service.where());
    many_at_once(service.where());

    client idle(service.where());
    CHECK(idle.ask(http::verb::get, "/").result_int() == 200);
    std::string const summary = service.stop(); // with a connection open
    CHECK(idle.closed_by_peer());
    CHECK(summary.find("33 pictures") != std::string::npos);
    stop_with_a_stalled_upload();
    std::fputs(summary.c_str(), stdout);
    std::puts("ok");
}
