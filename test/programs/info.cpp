// SPDX-License-Identifier: BSL-1.0
// What OMP_CO_INFO lets omp_co say: read from stderr, line by line.
#include "child_process.hpp"
#include "support/said_by.hpp"

#include <omp_co/omp_co.hpp>

#include <cstdio>
#include <functional>
#include <regex>
#include <string>
#include <vector>

namespace {

using child_process::check;
using omp_co_test::said_by;

/// The lines are these, each a regular expression.
void expect(std::string const& what, std::vector<std::string> const& lines,
            std::vector<std::string> const& expected)
{
    bool same = lines.size() == expected.size();
    for (std::size_t i = 0; same && i < lines.size(); ++i)
        same = std::regex_match(lines[i], std::regex(expected[i]));
    if (same) return;
    std::string all;
    for (std::string const& l : lines) all += "\n  " + l;
    check(false, what + ":" + all);
}

std::string const range = R"(\[0x[0-9a-f]+, 0x[0-9a-f]+\) of 40 bytes)";

} // namespace

int main()
{
    omp_co::host::virtual_device owner({.workers = 1});
    omp_co::device const dev = owner;
    int x[10]{};
    auto const enter = [&] { omp_co::sync_wait(omp_co::target_enter_data(dev, omp_co::to(x))); };
    auto const leave = [&] { omp_co::sync_wait(omp_co::target_exit_data(dev, omp_co::from(x))); };
    auto const add = [&] {
        omp_co::sync_wait(omp_co::target(
            dev, [](int* p) { ++*p; }, omp_co::tofrom(x), omp_co::name("add")));
    };
    expect("nothing is said unasked", said_by(add), {});
    omp_co::set_info(0x01);
    expect("clauses", said_by(add), {"omp_co: virtual device, add: tofrom " + range});
    omp_co::set_info(0x08);
    expect("changes", said_by([&] {
               enter();
               enter();
               leave();
               leave();
           }),
           {"omp_co: virtual device: to " + range + ": mapped, count 1",
            "omp_co: virtual device: to " + range + ": count 2",
            "omp_co: virtual device: from " + range + ": count 1",
            "omp_co: virtual device: from " + range + ": count 0, ends"});
    omp_co::set_info(0x20);
    expect("copies", said_by(add),
           {"omp_co: virtual device, add: copies 40 bytes to the device from 0x[0-9a-f]+ to 0x[0-9a-f]+",
            "omp_co: virtual device, add: copies 40 bytes from the device from 0x[0-9a-f]+ to 0x[0-9a-f]+"});
    omp_co::set_info(0x02);
    enter();
    expect("mapped already", said_by(add),
           {"omp_co: virtual device, add: tofrom " + range + ": mapped already, count 1"});
    omp_co::set_info(0x04);
    auto const fail = [&] {
        try {
            omp_co::sync_wait(omp_co::target(
                dev, [](int*) { throw 1; }, omp_co::tofrom(x), omp_co::name("bad")));
            check(false, "the region does not fail");
        } catch (boost::system::system_error const&) {
        }
    };
    expect("a failure", said_by(fail),
           {"omp_co: virtual device, bad: failed: .*; mapped are:",
            "omp_co: virtual device, bad:   " + range + " at 0x[0-9a-f]+, count 1"});
    leave();
    omp_co::set_info(0x2f);
    auto const named = [&] {
        omp_co::sync_wait(omp_co::target_enter_data(dev, omp_co::to(x, omp_co::name("x"))));
        omp_co::sync_wait(
            omp_co::target_exit_data(dev, omp_co::from(omp_co::section(x, 0, 10).named("all of x"))));
    };
    std::string const moved = "from 0x[0-9a-f]+ to 0x[0-9a-f]+";
    expect("named data", said_by(named),
           {"omp_co: virtual device: to x " + range,
            "omp_co: virtual device: to x " + range + ": mapped, count 1",
            "omp_co: virtual device: copies 40 bytes of x to the device " + moved,
            "omp_co: virtual device: from all of x " + range,
            "omp_co: virtual device: from all of x " + range + ": mapped already, count 0",
            "omp_co: virtual device: from all of x " + range + ": count 0, ends",
            "omp_co: virtual device: copies 40 bytes of all of x from the device " + moved});
    omp_co::set_info(0x04);
    auto const fail_named = [&] {
        try {
            omp_co::sync_wait(omp_co::target(
                dev, [](int*) { throw 1; }, omp_co::tofrom(x)));
            check(false, "the region does not fail");
        } catch (boost::system::system_error const&) {
        }
    };
    omp_co::sync_wait(omp_co::target_enter_data(dev, omp_co::to(x, omp_co::name("x"))));
    expect("a failure with named data", said_by(fail_named),
           {"omp_co: virtual device: failed: .*; mapped are:",
            "omp_co: virtual device:   x " + range + " at 0x[0-9a-f]+, count 1"});
    omp_co::set_info(0);
    leave();
    check(x[0] == 4, "the regions' effects");
    return child_process::result();
}
