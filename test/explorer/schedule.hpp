// SPDX-License-Identifier: BSL-1.0
// What the explorer does in one case, as plain data: it can be generated from a seed, printed, and shortened. A step
// that makes no sense where it stands is passed over, so that any part of a schedule is a schedule.
#pragma once

#include "random.hpp"

#include <omp_co/data_clauses.hpp>
#include <omp_co/detail/construct.hpp>
#include <support/stepped_device.hpp>

#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

namespace omp_co_test::explorer {

using omp_co::map_type;
using omp_co::detail::construct;

/// Host memory is a row of 64-bit cells; what is mapped are runs of them.
inline constexpr unsigned cell_count = 32;
inline constexpr unsigned array_cells = 8;
using cell_mask = std::uint32_t;

constexpr cell_mask cells_of(unsigned first, unsigned count) noexcept
{
    return count == 0 ? 0U : (~cell_mask{0} >> (cell_count - count)) << first;
}

/// What a kernel does with the cells of one clause.
enum class touch : unsigned char {
    leave,
    read,      ///< goes into the kernel's digest
    hash,      ///< read, and replaced by what depends on all that was read so far
    overwrite, ///< replaced without being read
    add,       ///< the order of two does not matter
};

constexpr bool reads(touch t) noexcept { return t == touch::read || t == touch::hash; }
constexpr bool writes(touch t) noexcept
{
    return t == touch::hash || t == touch::overwrite || t == touch::add;
}

struct clause {
    map_type type;
    unsigned first;
    unsigned count;
    touch kernel = touch::leave;
    bool always = false;
    bool present = false;

    cell_mask cells() const noexcept { return cells_of(first, count); }
};

struct request {
    unsigned device;
    construct what;
    std::vector<clause> clauses;
};

enum class step_kind : unsigned char {
    submit,          ///< one region
    script,          ///< a coroutine that awaits its requests one after another
    advance,         ///< `amount` commands of stream `index` of `device`
    poll,            ///< ask the devices, then let the loops call their handlers
    write_host,      ///< the program writes `amount` cells from `index` on
    inject,          ///< `where` fails the `amount`th time
    lose,            ///< the device
    cancel,          ///< the `index`th of the operations in flight; `amount`: the kind
    destroy_context, ///< with all that is in flight in it
    remove_device,
    settle, ///< everything runs to its end
};

struct step {
    step_kind kind;
    std::vector<request> requests;
    unsigned device = 0;
    unsigned index = 0;
    unsigned amount = 1;
    fault where = fault::allocate;
};

struct schedule {
    std::vector<stepped_options> devices;
    unsigned contexts = 0; ///< 0: regions are submitted directly, without Asio
    std::vector<step> steps;
};

// As text.

inline char const* name_of(construct c)
{
    switch (c) {
    case construct::target:
        return "target";
    case construct::enter_data:
        return "enter_data";
    case construct::exit_data:
        return "exit_data";
    case construct::update:
        return "update";
    default:
        return "?";
    }
}

inline std::string to_text(request const& r)
{
    constexpr char const* types[]{"to", "from", "tofrom", "alloc", "release", "delete_"};
    constexpr char const* touches[]{"", " read", " hash", " overwrite", " add"};
    std::string text = "device " + std::to_string(r.device) + ": " + name_of(r.what);
    for (clause const& c : r.clauses) {
        text += std::string(" ") + types[static_cast<unsigned>(c.type)] + "(" + std::to_string(c.first) +
                "+" + std::to_string(c.count) + (c.always ? ", always" : "") +
                (c.present ? ", present" : "") + ")";
        text += touches[static_cast<unsigned>(c.kernel)];
    }
    return text;
}

inline std::string to_text(step const& s)
{
    std::string const device = "device " + std::to_string(s.device);
    switch (s.kind) {
    case step_kind::submit:
        return "submit " + to_text(s.requests[0]);
    case step_kind::script: {
        std::string text = "coroutine in context " + std::to_string(s.index);
        for (request const& r : s.requests) text += "\n        " + to_text(r);
        return text;
    }
    case step_kind::advance:
        return "advance " + device + " stream " + std::to_string(s.index) + " by " + std::to_string(s.amount);
    case step_kind::poll:
        return "poll";
    case step_kind::write_host:
        return "write host " + std::to_string(s.index) + "+" + std::to_string(s.amount);
    case step_kind::inject:
        return "inject " + device + " " + fault_names[static_cast<unsigned>(s.where)] + ", time " +
               std::to_string(s.amount);
    case step_kind::lose:
        return "lose " + device;
    case step_kind::cancel:
        return "cancel " + std::to_string(s.index) + ", kind " + std::to_string(s.amount);
    case step_kind::destroy_context:
        return "destroy context " + std::to_string(s.index);
    case step_kind::remove_device:
        return "remove " + device;
    case step_kind::settle:
        return "settle";
    }
    return {};
}

inline std::string to_text(schedule const& s)
{
    std::string text =
        s.contexts == 0 ? "  no context\n" : "  contexts: " + std::to_string(s.contexts) + "\n";
    for (stepped_options const& o : s.devices)
        text += "  device: streams " + std::to_string(o.streams) + " (" + std::to_string(o.concurrency) +
                ")" +
                (o.inline_execution ? ", inline"
                 : o.device_waits   ? ", waits"
                                    : ", no waits") +
                (o.memory != 0 ? ", memory " + std::to_string(o.memory) : "") +
                (o.command_limit != 0 ? ", commands " + std::to_string(o.command_limit) : "") + "\n";
    unsigned number = 0;
    for (step const& each : s.steps) text += "  " + std::to_string(++number) + ". " + to_text(each) + "\n";
    return text;
}

} // namespace omp_co_test::explorer
