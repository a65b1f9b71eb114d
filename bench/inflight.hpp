// Many regions in flight on one thread at the same time, behind a first one that holds their stream.
// SPDX-License-Identifier: BSL-1.0
#pragma once
#include "checks.hpp"
#include "sample.hpp"

#include <atomic>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/post.hpp>
#include <omp_co/omp_co.hpp>
#include <thread>
#include <vector>

namespace bench {

class inflight {
public:
    /// `x` is resident on `dev`, which has one worker.
    inflight(omp_co::device dev, std::vector<float>& x, long regions) : dev_(dev), x_(x), regions_(regions) {}

    template <class Context>
    void run(Context& context)
    {
        started_ = released_ = false;
        left_ = regions_ + 1;
        boost::asio::post(context.get_executor(), [&] { submit(context.get_executor()); });
        context.run();
        context.restart();
        require(left_ == 0 && failed_ == 0, "regions in flight: not all ended well");
    }

    /// Heap bytes that one region holds while it is in flight. Only the first run tells: later ones find warm
    /// pools.
    double bytes_a_region() const { return double(held_bytes_) / double(regions_); }

    void print(std::string const& name) const { print_span(name, from_, to_, regions_); }
    double ns_a_region() const { return (to_.wall_ns - from_.wall_ns) / double(regions_); }

private:
    struct retire {
        inflight* self;
        void operator()(boost::system::error_code ec) const
        {
            self->failed_ += ec ? 1 : 0;
            if (--self->left_ == 0) self->to_ = sample::now();
        }
    };

    template <class Executor>
    void submit(Executor executor)
    {
        auto token = boost::asio::bind_executor(executor, retire{this});
        auto hold = [self = this](float*) {
            self->started_ = true;
            self->released_.wait(false);
        };
        omp_co::target(dev_, hold, omp_co::tofrom(x_))(token);
        while (!started_) std::this_thread::yield();
        std::int64_t before = heap_bytes();
        from_ = sample::now();
        for (long i = 0; i < regions_; ++i)
            omp_co::target(
                dev_, [i](float* p) { p[i & 63] += 1.f; }, omp_co::tofrom(x_))(token);
        held_bytes_ = heap_bytes() - before;
        std::size_t in_flight = dev_.statistics().in_flight;
        released_ = true;
        released_.notify_all();
        require(in_flight >= std::size_t(regions_), "regions in flight: only " + std::to_string(in_flight));
    }

    omp_co::device dev_;
    std::vector<float>& x_;
    long regions_, left_ = 0, failed_ = 0;
    std::int64_t held_bytes_ = 0;
    sample from_, to_;
    std::atomic<bool> started_{false}, released_{false};
};

} // namespace bench
