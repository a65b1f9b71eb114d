// SPDX-License-Identifier: BSL-1.0
// What the driver's handles stand for.
#pragma once

#include "code.hpp"
#include "engine.hpp"
#include "limits.hpp"
#include "memory.hpp"
#include "settings.hpp"

#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace omp_co_sim {

struct context;

struct device {
    device(int number, settings const& s);

    int ordinal;
    std::size_t memory;
    std::size_t used = 0;
    device_addresses addresses;
    std::shared_ptr<fault_domain> domain = std::make_shared<fault_domain>();
    lane to_device{1};
    lane from_device{1};
    lane multiprocessors;
    std::shared_ptr<context> primary;
    unsigned primary_flags = 0;
    int primary_count = 0;
    std::shared_ptr<memory_pool> default_pool;
    std::shared_ptr<memory_pool> current_pool;
};

struct graph {
    CUgraph handle = nullptr;
    std::size_t nodes = 0;
};

/// One capture; several streams may take part.
struct capture {
    std::uint64_t id = 0;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    std::thread::id thread;
    bool invalid = false;
    std::shared_ptr<graph> recorded;
};

struct stream : std::enable_shared_from_this<stream> {
    CUstream handle = nullptr;
    std::weak_ptr<context> owner;
    device* where = nullptr;
    std::uint64_t number = 0;
    unsigned flags = 0;
    int priority = 0;
    bool legacy = false;
    std::shared_ptr<stream_queue> queue = std::make_shared<stream_queue>();
    std::shared_ptr<capture> capturing;
    bool began_capture = false;
    bool destroyed = false;
    std::size_t freed_later = 0; ///< bytes whose stream-ordered free has not been executed

    bool blocking() const { return !legacy && (flags & CU_STREAM_NON_BLOCKING) == 0; }
};

struct event {
    CUevent handle = nullptr;
    std::weak_ptr<context> owner;
    device* where = nullptr;
    unsigned flags = 0;
    std::shared_ptr<command> recorded; ///< null: never
    std::shared_ptr<capture> captured; ///< the last record was captured
};

struct context {
    CUcontext handle = nullptr;
    device* where = nullptr;
    bool primary = false;
    bool active = false;
    unsigned flags = 0;
    unsigned long long id = 0; ///< another one each time that it becomes active
    std::shared_ptr<stream> legacy;
    std::list<std::shared_ptr<stream>> streams; ///< all but the legacy one
    std::map<std::thread::id, std::shared_ptr<stream>> per_thread;
    std::set<int> peers;
};

struct module;

struct function {
    CUfunction handle = nullptr;
    std::weak_ptr<module> owner;
    std::size_t index = 0; ///< in the code's kernels
    int dynamic_shared = limits::shared_of_block;
    int carveout = -1;
};

struct module {
    CUmodule handle = nullptr;
    std::shared_ptr<context> owner;
    std::shared_ptr<code const> image;
    std::vector<std::shared_ptr<allocation>> globals;
    std::vector<std::uint64_t> addresses;
    std::map<std::size_t, std::shared_ptr<function>> functions;
    bool of_library = false;
};

struct library;

struct kernel {
    CUkernel handle = nullptr;
    std::weak_ptr<library> owner;
    std::size_t index = 0;
};

struct library {
    CUlibrary handle = nullptr;
    std::shared_ptr<code const> image;
    std::map<CUcontext, std::shared_ptr<module>> modules;
    std::map<std::size_t, std::shared_ptr<kernel>> kernels;
};

} // namespace omp_co_sim
