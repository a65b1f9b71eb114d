// SPDX-License-Identifier: BSL-1.0
// What the modules in this folder offer: plain functions in a table, for nothing else of them is visible.
#pragma once

namespace boost::asio {
class io_context;
}

struct plugin_calls {
    int (*device_count)();
    int (*default_device)();
    void (*set_default_device)(int number);
    int (*enter)(int* data, int count);             // 0: done
    int (*exit)(int* data, int count);
    int (*is_present)(int const* data);
    int (*increment)(int* data, int count);
    int (*run)();
    void (*start_in)(boost::asio::io_context* loop, int* done);
    int (*kernel_that_throws)();                    // 1: errc::kernel_failed
    int (*codes_are_recognised)();              // 1: codes made here are recognised here
    int (*future_without_context)();                // 0: done
};

inline constexpr char const* plugin_entry = "omp_co_test_plugin";
