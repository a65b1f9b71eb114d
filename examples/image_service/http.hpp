// SPDX-License-Identifier: BSL-1.0
// The HTTP of the service: one coroutine a connection, all on the loop's thread. Beast stays in http.cpp.
#pragma once
#include "service.hpp"
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <memory>

class http_server {
public:
    /// Listens at once; throws boost::system::system_error where it cannot. `service` must outlive the
    /// loop's run.
    http_server(boost::asio::any_io_executor executor, image_service& service,
                boost::asio::ip::tcp::endpoint const& where);
    http_server(http_server const&) = delete;
    http_server& operator=(http_server const&) = delete;
    ~http_server();

    unsigned short port() const;

    /// Accepts no more, closes idle connections and lets requests in flight end, for limits::stop at most.
    /// To be called on the loop's thread; the loop then runs out of the server's work.
    void stop();

private:
    struct state; // shared with the connections' coroutines
    std::shared_ptr<state> state_;
};
