// SPDX-License-Identifier: BSL-1.0
// Two ways into the library: regions handed straight to the registry, and operations with handlers and coroutines on
// contexts that are polled by hand.
#pragma once

#include "world.hpp"

#include <omp_co/omp_co.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

namespace omp_co_test::explorer {

namespace asio = boost::asio;

/// Regions without Asio. Completions are taken up once the call into the library is over.
class direct_front final : public omp_co::detail::region_owner {
public:
    explicit direct_front(world& w) : world_(w) {}
    direct_front(direct_front const&) = delete;
    direct_front& operator=(direct_front const&) = delete;
    ~direct_front() = default;

    void submit(request const& what)
    {
        auto* const made = new own_region;
        made->owner = this;
        job& j = world_.prepare(what, *made, made->data, no_context);
        made->who = &j;
        world::registry().submit(*made);
        world_.submitted(j);
        take_up();
    }

    void poll()
    {
        world::registry().poll();
        take_up();
    }

    void take_up()
    {
        world_.look();
        while (!done_.empty()) {
            auto* const r = static_cast<own_region*>(done_.pop());
            world_.leaving(*r);
            world_.finish(*r->who, r->error);
            delete r;
        }
        world_.look();
    }

    void completed(omp_co::detail::region_list&& done) noexcept override { done_.append(std::move(done)); }

private:
    struct own_region final : omp_co::detail::region {
        own_region() : region([](region&, omp_co::detail::ending) {}, nullptr) {}
        payload data;
        job* who = nullptr;
    };

    world& world_;
    omp_co::detail::region_list done_;
};

/// An operation like omp_co::target's whose clauses are chosen at run time.
class any_operation {
public:
    using payload_type = payload_of_operation;

    any_operation(world& w, request const& r, unsigned context, job** started)
        : world_(&w), request_(&r), context_(context), started_(started)
    {
    }

    template <asio::completion_token_for<void(error_code)> Token>
    auto operator()(Token&& token) const
    {
        return asio::async_initiate<Token, void(error_code)>(omp_co::detail::initiate_construct(), token, *this);
    }

    int kernel() const noexcept { return 0; }
    int clauses() const noexcept { return 0; }

    void dispatch(omp_co::detail::region& r, payload_type& p, omp_co::detail::loop& l) const
    {
        job& j = world_->prepare(*request_, r, p, context_);
        *started_ = &j;
        p.leave = std::exchange(r.end, &leave);
        p.home = world_;
        l.start(r);
        world_->submitted(j);
    }

private:
    // Between retirement and handler: the last look at the region.
    static void leave(omp_co::detail::region& r, omp_co::detail::ending how);

    world* world_;
    request const* request_;
    unsigned context_;
    job** started_;
};

} // namespace omp_co_test::explorer
