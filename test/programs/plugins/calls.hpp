// SPDX-License-Identifier: BSL-1.0
// The functions of a module. Each module compiles them for itself, hidden: what they share, they share at run time.
#pragma once

#include "plugin.hpp"

#include <boost/asio/use_future.hpp>
#include <omp_co/omp_co.hpp>

#include <stdexcept>

namespace {

namespace asio = boost::asio;

template <class F>
omp_co::error_code code_of(F f)
{
    try {
        f();
        return {};
    } catch (boost::system::system_error const& e) {
        return e.code();
    }
}

template <class Operation>
int run_to_end(Operation const& op)
{
    return code_of([&] { omp_co::sync_wait(op); }).value();
}

plugin_calls const calls{
    [] { return static_cast<int>(omp_co::devices().size()); },
    [] { return omp_co::default_device().number(); },
    [](int number) { (void)omp_co::set_default_device(omp_co::devices()[static_cast<std::size_t>(number)]); },
    [](int* data, int count) { return run_to_end(omp_co::target_enter_data(omp_co::to(omp_co::section(data, 0, count)))); },
    [](int* data, int count) { return run_to_end(omp_co::target_exit_data(omp_co::from(omp_co::section(data, 0, count)))); },
    [](int const* data) { return omp_co::default_device().is_present(data) ? 1 : 0; },
    [](int* data, int count) {
        return run_to_end(omp_co::target([](int i, int* p) { ++p[i]; }, omp_co::range(count),
                                         omp_co::tofrom(omp_co::section(data, 0, count))));
    },
    [] { return run_to_end(omp_co::target([] {})); },
    [](asio::io_context* loop, int* done) {
        omp_co::target([] {})(asio::bind_executor(loop->get_executor(), [done](omp_co::error_code) { ++*done; }));
    },
    [] {
        auto const ec = code_of([] { omp_co::sync_wait(omp_co::target([] { throw std::runtime_error("here"); })); });
        return ec == omp_co::errc::kernel_failed ? 1 : 0;
    },
    [] { return omp_co::make_error_code(omp_co::errc::forked) == omp_co::errc::forked ? 1 : 0; },
    [] { return code_of([] { omp_co::target([] {})(asio::use_future).get(); }).value(); },
};

} // namespace

extern "C" __attribute__((visibility("default"))) plugin_calls const* omp_co_test_plugin() { return &calls; }
