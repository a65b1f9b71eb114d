// SPDX-License-Identifier: BSL-1.0
// An HTTP service that blurs pictures on a device, several at a time, in one event loop. PNG coding has a small pool of its
// own, and kernels run on the device.
// usage: image_service [--address A] [--port N] [--device N]
#include "heartbeat.hpp"
#include "http.hpp"
#include "service.hpp"
#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/system/system_error.hpp>
#include <charconv>
#include <csignal>
#include <exception>
#include <iostream>
#include <omp_co/omp_co.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

namespace asio = boost::asio;
using tcp = asio::ip::tcp;

namespace {

struct usage_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct options {
    std::string address = "127.0.0.1";
    unsigned short port = 0; // any
    std::optional<int> device;
};

template <class Number>
Number number_of(std::string_view option, std::string_view text)
{
    Number value{};
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        throw usage_error(std::string(option) + ": not a number that fits: " + std::string(text));
    return value;
}

options parse(int argc, char** argv)
{
    options chosen;
    for (int k = 1; k < argc; k += 2) {
        std::string_view const option = argv[k];
        if (option != "--address" && option != "--port" && option != "--device")
            throw usage_error("unknown option " + std::string(option));
        if (k + 1 == argc) throw usage_error(std::string(option) + " needs a value");
        std::string_view const value = argv[k + 1];
        if (option == "--address") chosen.address = value;
        if (option == "--port") chosen.port = number_of<unsigned short>(option, value);
        if (option == "--device") chosen.device = number_of<int>(option, value);
    }
    return chosen;
}

omp_co::device pick_device(std::optional<int> number)
{
    if (!number) return omp_co::default_device();
    for (omp_co::device d : omp_co::devices())
        if (static_cast<int>(d.number()) == *number) return d;
    throw usage_error("there is no device " + std::to_string(*number));
}

void serve(options const& chosen)
{
    boost::system::error_code bad_address;
    auto const address = asio::ip::make_address(chosen.address, bad_address);
    if (bad_address) throw usage_error("not an address: " + chosen.address);

    omp_co::device const device = pick_device(chosen.device);
    asio::io_context io;
    asio::thread_pool codecs(std::max(1u, std::thread::hardware_concurrency() / 2));
    heartbeat beat(io.get_executor());
    image_service service(device, codecs, beat.lateness(), limits{});
    http_server server(io.get_executor(), service, tcp::endpoint(address, chosen.port));

    asio::signal_set signals(io, SIGINT, SIGTERM);
    signals.async_wait([&](boost::system::error_code, int) {
        server.stop();
        beat.stop();
    });

    std::string const host = address.is_v6() ? '[' + chosen.address + ']' : chosen.address;
    std::cout << "listening on http://" << host << ':' << server.port() << std::endl;
    io.run();
    std::cout << service.stats().summary() << std::flush;
}

} // namespace

int main(int argc, char** argv)
{
    try {
        serve(parse(argc, argv));
    } catch (usage_error const& e) {
        std::cerr << "image_service: " << e.what()
                  << "\nusage: image_service [--address A] [--port N] [--device N]\n";
        return 2;
    } catch (boost::system::system_error const& e) {
        std::cerr << "image_service: " << e.code().message() << '\n';
        return 1;
    } catch (std::exception const& e) {
        std::cerr << "image_service: " << e.what() << '\n';
        return 1;
    }
}
