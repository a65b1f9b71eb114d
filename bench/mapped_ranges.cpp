// What a region costs when 100 or 100,000 ranges are mapped: a whole one with one mapped array, and the look-up in the data
// environment alone. It names one of the same 100 ranges, which lie among all; or, `.any`, any of them, and then what is
// measured is the memory behind the caches, of the table and of the data. Both sizes take turns.
// SPDX-License-Identifier: BSL-1.0
#include "arguments.hpp"
#include "report.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <omp_co/omp_co.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

namespace detail = omp_co::detail;

constexpr int few = 100;
constexpr int many = 100'000;
constexpr std::size_t range_size = 64;

/// Visits ranges at random: any of them, or 100 that lie among all.
class walk {
public:
    explicit walk(int size) : size_(static_cast<std::uint64_t>(size)) {}

    std::size_t next(bool any)
    {
        state_ = state_ * 6364136223846793005U + 1442695040888963407U;
        std::uint64_t const of = any ? size_ : few;
        return static_cast<std::size_t>((((state_ >> 32) * of) >> 32) * (size_ / of));
    }

private:
    std::uint64_t size_;
    std::uint64_t state_ = 1;
};

double ns_an_op(long ops, auto op)
{
    auto const begin = std::chrono::steady_clock::now();
    for (long i = 0; i < ops; ++i) op();
    auto const end = std::chrono::steady_clock::now();
    return std::chrono::duration<double, std::nano>(end - begin).count() / double(ops);
}

/// The data environment alone, as a region uses it.
class environment {
public:
    explicit environment(int size) : memory_(std::size_t(size) * range_size), walk_(size)
    {
        for (int i = 0; i < size; ++i) {
            detail::map_item item = asked(std::size_t(i), detail::map_enter);
            run(item);
        }
    }

    double measure(long ops, bool any)
    {
        return ns_an_op(ops, [&] {
            detail::map_item item = asked(walk_.next(any), detail::map_enter | detail::map_exit |
                                                               detail::map_to | detail::map_used);
            run(item);
            if (item.has(detail::map_copy_in)) throw std::logic_error("a resident range was copied");
        });
    }

private:
    detail::map_item asked(std::size_t range, std::uint32_t flags)
    {
        detail::map_item item;
        item.host = memory_.data() + range * range_size;
        item.bytes = range_size;
        item.flags = flags;
        return item;
    }

    void run(detail::map_item& item)
    {
        std::span<detail::map_item> const items(&item, 1);
        if (data_.check(items)) throw std::logic_error("refused");
        (void)data_.reserve(items);
        if (data_.needs_block(item)) item.device = item.host; // any address will do
        data_.apply(items, ++serial_);
        data_.for_each_conflict(items, serial_, [](auto&&...) {});
        ++clock_.accepted;
        data_.record(items, clock_, clock_.accepted, serial_);
        data_.resolve(items);
        clock_.retired = clock_.accepted;
        data_.retire(items, serial_, [](void*, std::size_t) {});
    }

    detail::data_environment data_;
    detail::stream_clock clock_;
    std::uint64_t serial_ = 0;
    std::vector<char> memory_;
    walk walk_;
};

/// Whole regions, run in the call that awaits them.
class regions {
public:
    explicit regions(int size) : device_({.workers = 0}), memory_(std::size_t(size) * range_size), walk_(size)
    {
        omp_co::device const dev = device_;
        for (std::size_t i = 0; i < std::size_t(size); ++i)
            omp_co::sync_wait(omp_co::target_enter_data(dev, omp_co::alloc(range(i))));
        if (dev.statistics().mapped_ranges != std::size_t(size)) throw std::logic_error("not mapped");
    }

    double measure(long ops, bool any)
    {
        omp_co::offload_context context;
        double ns = 0;
        auto all = [&]() -> boost::asio::awaitable<void> {
            auto const begin = std::chrono::steady_clock::now();
            for (long i = 0; i < ops; ++i) {
                auto const x = range(walk_.next(any));
                auto kernel = [](char* p) { ++*p; };
                omp_co::device const dev = device_;
                co_await omp_co::target(dev, kernel, omp_co::alloc(x));
            }
            auto const end = std::chrono::steady_clock::now();
            ns = std::chrono::duration<double, std::nano>(end - begin).count() / double(ops);
        };
        boost::asio::co_spawn(context.get_executor(), all(), boost::asio::detached);
        context.run();
        return ns;
    }

private:
    omp_co::array_section<char> range(std::size_t i)
    {
        return omp_co::section(memory_, i * range_size, range_size);
    }

    omp_co::host::virtual_device device_;
    std::vector<char> memory_;
    walk walk_;
};

template <class Subject>
void compare(std::string const& name, long ops, long rounds)
{
    Subject small(few);
    Subject large(many);
    std::vector<double> with_few;
    std::vector<double> with_many;
    std::vector<double> with_any;
    std::vector<double> ratios;
    for (long i = 0; i <= rounds; ++i) {
        double const a = small.measure(ops, false);
        double const b = large.measure(ops, false);
        double const c = large.measure(ops, true);
        if (i == 0) continue; // warms up
        with_few.push_back(a);
        with_many.push_back(b);
        with_any.push_back(c);
        ratios.push_back(b / a);
    }
    bench::print(name + "_100", bench::median(with_few), "ns/op");
    bench::print(name + "_100k", bench::median(with_many), "ns/op");
    bench::print(name + "_100k.any", bench::median(with_any), "ns/op");
    bench::print(name + "_ratio", bench::median(ratios), "x");
}

} // namespace

int main(int argc, char** argv)
try {
    bench::arguments arguments(argc, argv);
    long const ops = arguments.number("ops", 100'000);
    long const rounds = arguments.number("rounds", 7);
    arguments.refuse_unknown_keys();
    compare<environment>("look_up", ops, rounds);
    compare<regions>("region_among", ops, rounds);
    return 0;
} catch (std::exception const& e) {
    std::fprintf(stderr, "mapped_ranges: %s\n", e.what());
    return 1;
}
