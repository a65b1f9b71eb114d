// SPDX-License-Identifier: BSL-1.0
// Two ways into the library: regions handed straight to the registry, and operations with handlers and coroutines on
// contexts that are polled by hand.
#pragma once

#include "world.hpp"

#include <omp_co/omp_co.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <deque>
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
    using payload_type = payload;

    any_operation(world& w, request const& r, unsigned context, job** started)
        : world_(&w), request_(&r), context_(context), started_(started)
    {
    }

    template <asio::completion_token_for<void(error_code)> Token>
    auto operator()(Token&& token) const
    {
        return asio::async_initiate<Token, void(error_code)>(initiation(), token, *this);
    }

    void dispatch(omp_co::detail::region& r, payload_type& p, omp_co::detail::loop& l) const
    {
        job& j = world_->prepare(*request_, r, p, context_);
        *started_ = &j;
        j.end = std::exchange(r.end, &leave);
        current_world() = world_;
        l.start(r);
        world_->submitted(j);
    }

private:
    struct initiation {
        template <class Handler>
        void operator()(Handler&& h, any_operation const& op) const
        {
            omp_co::detail::initiate<payload_type>(
                std::forward<Handler>(h),
                [&](auto& state, omp_co::detail::loop& l) { op.dispatch(state, state.payload(), l); });
        }
    };

    static world*& current_world()
    {
        static world* the = nullptr;
        return the;
    }

    // Between retirement and handler: the last look at the region.
    static void leave(omp_co::detail::region& r, omp_co::detail::ending how)
    {
        if (job* const j = current_world()->leaving(r)) j->end(r, how);
    }

    world* world_;
    request const* request_;
    unsigned context_;
    job** started_;
};

/// Operations with handlers, and coroutines, on contexts that nobody else runs.
class loop_front {
public:
    loop_front(world& w, unsigned contexts) : world_(w)
    {
        for (unsigned i = 0; i < contexts; ++i) contexts_.push_back(std::make_unique<asio::io_context>());
    }
    loop_front(loop_front const&) = delete;
    loop_front& operator=(loop_front const&) = delete;
    ~loop_front() = default;

    void submit(request const& r, unsigned context)
    {
        auto const link = std::make_shared<running>(world_);
        running_.push_back({link, &links_.emplace_back(), context, false});
        asio::cancellation_signal& signal = running_.back().signal->signal;
        any_operation const operation(world_, r, context, &link->who);
        operation(
            asio::bind_cancellation_slot(signal.slot(), handler(link, contexts_[context]->get_executor())));
    }

    void spawn(std::vector<request> const& requests, unsigned context)
    {
        auto const link = std::make_shared<running>(world_);
        running_.push_back({link, &links_.emplace_back(), context, true});
        asio::cancellation_signal& signal = running_.back().signal->signal;
        asio::co_spawn(contexts_[context]->get_executor(), script(world_, requests, context, link),
                       asio::bind_cancellation_slot(signal.slot(), [](std::exception_ptr) {}));
    }

    void poll()
    {
        world::registry().poll();
        world_.look();
        for (auto const& c : contexts_) {
            c->restart();
            c->poll();
            world_.look();
        }
    }

    void cancel(unsigned index, unsigned kind)
    {
        std::erase_if(running_, [](entry const& e) { return e.link.expired(); });
        if (running_.empty()) return;
        constexpr asio::cancellation_type kinds[]{asio::cancellation_type::terminal,
                                                  asio::cancellation_type::partial,
                                                  asio::cancellation_type::total};
        entry const& e = running_[index % running_.size()];
        auto const link = e.link.lock();
        if (e.script) {
            link->cancelled = true;
        } else if (link->who != nullptr && !link->who->ended) {
            if (kinds[kind] != asio::cancellation_type::total) link->who->cancelled = true;
        }
        e.signal->signal.emit(kinds[kind]);
    }

    void destroy(unsigned context)
    {
        std::erase_if(running_, [&](entry const& e) { return e.context == context; });
        for (job* j : world_.active())
            if (j->context == context) j->may_vanish = true;
        world_.run_by_themselves(true);
        contexts_[context].reset();
        world_.run_by_themselves(false);
        world_.look();
        for (job* j : world_.active())
            if (j->context == context) world_.broken("a handler outlives its context");
        contexts_[context] = std::make_unique<asio::io_context>();
    }

    /// For a case that went wrong: nothing of it can be taken apart.
    void leak()
    {
        for (auto& c : contexts_) (void)c.release();
    }

private:
    /// Shared by a handler, or a coroutine's frame, and whoever cancels it.
    struct running {
        explicit running(world& w) : home(w) {}
        running(running const&) = delete;
        running& operator=(running const&) = delete;
        ~running()
        {
            if (who != nullptr) home.abandon(*who);
        }
        void finish(error_code ec)
        {
            home.look();
            who->perhaps_cancelled = cancelled;
            home.finish(*std::exchange(who, nullptr), ec);
        }
        world& home;
        job* who = nullptr;
        bool cancelled = false; ///< a script: it depends on how far it was
    };

    struct handler {
        using executor_type = asio::io_context::executor_type;
        handler(std::shared_ptr<running> l, executor_type e) : link(std::move(l)), ex(e) {}
        executor_type get_executor() const noexcept { return ex; }
        void operator()(error_code ec) { link->finish(ec); }
        std::shared_ptr<running> link;
        executor_type ex;
    };

    struct signal_box {
        asio::cancellation_signal signal;
    };
    struct entry {
        std::weak_ptr<running> link;
        signal_box* signal;
        unsigned context;
        bool script;
    };

    static asio::awaitable<void> script(world& w, std::vector<request> const& requests, unsigned context,
                                        std::shared_ptr<running> link)
    {
        constexpr auto token = asio::as_tuple(asio::use_awaitable);
        for (request const& r : requests) {
            any_operation operation(w, r, context, &link->who);
            auto const [ec] = co_await operation(token);
            link->finish(ec);
        }
    }

    world& world_;
    std::deque<signal_box> links_; // outlives the operations: their slots point here
    std::vector<std::unique_ptr<asio::io_context>> contexts_;
    std::vector<entry> running_;
};

} // namespace omp_co_test::explorer
