// SPDX-License-Identifier: BSL-1.0
// The library's own loop on a thread of its own, for handlers that bring no execution context. Started by the
// first one that needs it.
#pragma once

#include <omp_co/detail/loop.hpp>
#include <omp_co/offload_context.hpp>

#include <atomic>
#include <mutex>
#include <pthread.h>
#include <thread>

namespace omp_co::detail {

class offload_thread final : public registry::handler_thread {
public:
    static loop& get_loop()
    {
        offload_thread* the = instance().load(std::memory_order_acquire);
        return the != nullptr ? the->loop_ : start();
    }

private:
    offload_thread()
        : loop_(asio::use_service<loop>(context_)),
          guard_(context_.get_executor()),
          thread_([this] { run(); })
    {
    }

    static std::atomic<offload_thread*>& instance() noexcept
    {
        static std::atomic<offload_thread*> the{nullptr};
        return the;
    }

    static loop& start()
    {
        static bool const watched = watch_forks();
        static_cast<void>(watched);
        std::lock_guard guard(starting());
        offload_thread* the = instance().load();
        if (the == nullptr) {
            the = new offload_thread; // never deleted: a handler may still be on its way at exit
            instance().store(the, std::memory_order_release); // before abandon_handlers() takes it away
            if (!registry::instance().at_close(*the))
                the->thread_.detach(); // what is asked now is refused, and somebody has to say so
        }
        return the->loop_;
    }

    static std::mutex& starting() noexcept
    {
        static std::mutex the;
        return the;
    }

    // Behind the registry's own watch, whose locks are taken inside `starting`: a fork takes them in the same order.
    static bool watch_forks()
    {
        (void)registry::instance();
        (void)pthread_atfork([] { starting().lock(); }, [] { starting().unlock(); },
                             [] {
                                 instance().store(nullptr); // a child starts its own
                                 starting().unlock();
                             });
        return true;
    }

    // What a handler throws has nobody above it here, and ends the program as in Asio's system_context.
    void run() noexcept { context_.run(); }

    void stop_handlers() noexcept override
    {
        context_.stop();
        if (thread_.get_id() == std::this_thread::get_id())
            thread_.detach(); // exit() was called by a handler
        else
            thread_.join();
    }

    void abandon_handlers() noexcept override
    {
        static std::atomic<offload_thread*> ended{nullptr};
        ended.store(this);         // for leak checkers
        instance().store(nullptr); // who comes later gets another one
        loop_.abandon_handlers();
    }

    offload_context context_;
    loop& loop_;
    asio::executor_work_guard<asio::io_context::executor_type> guard_;
    std::thread thread_;
};

inline loop& offload_thread_loop() { return offload_thread::get_loop(); }

} // namespace omp_co::detail
