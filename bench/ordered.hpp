// Regions on one array, each behind the one before: in a queue, and by dependences that are all started at once.
// SPDX-License-Identifier: BSL-1.0
#pragma once
#include "checks.hpp"
#include "run_coroutines.hpp"
#include "sample.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/post.hpp>
#include <omp_co/omp_co.hpp>
#include <string>
#include <vector>

namespace bench {

/// Adds one to an element a region, on an array that is resident. Each of two rounds ends when the device is done, as a
/// `taskwait` ends it elsewhere: the first warms up, the second is measured.
class ordered {
public:
    ordered(omp_co::device dev, std::vector<float>& x, long warm_up, long measured)
        : dev_(dev), x_(x), rounds_{warm_up, measured}
    {
    }

    template <class Context>
    void run_in_queue(Context& context)
    {
        run_coroutines(context, 1, [&] { return in_queue(); });
    }

    template <class Context>
    void run_by_dependences(Context& context)
    {
        for (long n : rounds_) {
            from_ = sample::now();
            left_ = n;
            boost::asio::post(context, [&] { start_all(context.get_executor(), n); });
            context.run();
            context.restart();
            to_ = sample::now();
            require(left_ == 0 && failed_ == 0, "not all regions ended well");
        }
    }

    long total() const { return rounds_[0] + rounds_[1]; }
    void print(std::string const& name) const { print_span(name, from_, to_, rounds_[1]); }

private:
    /// Adds one to an element to which so many were added before; out of turn, far too much.
    struct add_in_turn {
        long i;
        void operator()(float* p) const { p[i & 63] += p[i & 63] == float(i >> 6) ? 1.f : 1e6f; }
    };

    struct retire {
        ordered* self;
        void operator()(boost::system::error_code ec) const
        {
            self->failed_ += ec ? 1 : 0;
            --self->left_;
        }
    };

    boost::asio::awaitable<void> in_queue()
    {
        omp_co::queue q(dev_);
        for (long n : rounds_) {
            from_ = sample::now();
            for (long end = next_ + n; next_ < end; ++next_)
                co_await omp_co::target(q, add_in_turn{next_}, omp_co::tofrom(x_));
            co_await q.synchronize();
            to_ = sample::now();
        }
    }

    template <class Executor>
    void start_all(Executor const& executor, long n)
    {
        auto token = boost::asio::bind_executor(executor, retire{this});
        for (long end = next_ + n; next_ < end; ++next_)
            omp_co::target(dev_, add_in_turn{next_}, omp_co::tofrom(x_), omp_co::depend_inout(x_))(token);
    }

    omp_co::device dev_;
    std::vector<float>& x_;
    long const rounds_[2];
    long next_ = 0, left_ = 0, failed_ = 0;
    sample from_, to_;
};

} // namespace bench
