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

class offload_thread {
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
        static std::mutex starting;
        std::lock_guard guard(starting);
        offload_thread* the = instance().load();
        if (the == nullptr) {
            the = new offload_thread; // never deleted: a handler may still be on its way at exit
            instance().store(the, std::memory_order_release);
            registry::instance().at_close([](void* p) { static_cast<offload_thread*>(p)->stop(); }, the);
            static bool const once = [] {
                (void)pthread_atfork(nullptr, nullptr,
                                     [] { instance().store(nullptr); }); // a child starts its own
                return true;
            }();
            (void)once;
        }
        return the->loop_;
    }

    // What a handler throws has nobody above it here, and ends the program as in Asio's system_context.
    void run() noexcept { context_.run(); }

    void stop()
    {
        context_.stop();
        if (thread_.get_id() == std::this_thread::get_id())
            thread_.detach(); // exit() was called by a handler
        else
            thread_.join();
    }

    offload_context context_;
    loop& loop_;
    asio::executor_work_guard<asio::io_context::executor_type> guard_;
    std::thread thread_;
};

inline loop& offload_thread_loop() { return offload_thread::get_loop(); }

} // namespace omp_co::detail
