// SPDX-License-Identifier: BSL-1.0
// What omp_co reads from the environment, and what it says about values that make no sense.
#include "child_process.hpp"

#include <omp_co/omp_co.hpp>

#include <thread>

namespace {

using child_process::check;
using omp_co::errc;
using omp_co::error_code;

std::string const forms[] = {"devices", "default_device"};

/// The message that devices() or default_device() throws.
std::string message_of(std::string const& form)
{
    try {
        if (form == "devices") (void)omp_co::devices();
        else (void)omp_co::default_device();
        return "";
    } catch (boost::system::system_error const& e) {
        if (e.code() != errc::invalid_argument) return "not invalid_argument";
        return e.what();
    }
}

/// Every word that is expected occurs in `text`.
void check_words(std::string const& text, int count, char** words, std::string const& where)
{
    for (int i = 0; i < count; ++i)
        check(text.find(words[i]) != std::string::npos, where + " does not say " + words[i] + ": \"" + text + "\"");
}

// bad <words...>: the environment is refused, everywhere, in words.
int environment_is_refused(int count, char** words)
{
    omp_co::diagnostics why;
    error_code code;
    try {
        omp_co::sync_wait(omp_co::target([] {}, omp_co::explain(why)));
    } catch (boost::system::system_error const& e) {
        code = e.code();
    }
    check(code == errc::invalid_argument, "a construct ends with " + code.message());
    check_words(why.message(), count, words, "the construct's diagnostics");
    for (std::string const& form : forms) check_words(message_of(form), count, words, form);
    // What needs nothing from the environment works all the same.
    omp_co::host::virtual_device own({.workers = 1});
    int x = 1;
    omp_co::sync_wait(omp_co::target(own.get(), [](int* p) { ++*p; }, omp_co::tofrom(x)));
    check(x == 2, "a device of one's own works");
    return child_process::result();
}

// Every region runs here, whatever device it names, and nothing is moved.
int nothing_is_offloaded()
{
    omp_co::host::virtual_device own({.workers = 1});
    for (omp_co::device const d : {omp_co::default_device(), own.get()}) {
        int x = 1;
        std::thread::id where;
        omp_co::sync_wait(omp_co::target_enter_data(d, omp_co::to(x)));
        check(d == omp_co::initial_device() || !d.is_present(&x), "data is mapped");
        omp_co::sync_wait(omp_co::target(
            d,
            [](int* p, std::thread::id* t) {
                ++*p;
                *t = std::this_thread::get_id();
            },
            omp_co::tofrom(x), omp_co::from(where)));
        check(x == 2, "a region's effect");
        check(where == std::this_thread::get_id(), "a region runs elsewhere");
        omp_co::sync_wait(omp_co::target_exit_data(d, omp_co::from(x)));
        check(x == 2, "data was moved");
    }
    return child_process::result();
}

// good <devices> <default> <name of device 0>
int environment_is_followed(char** expected)
{
    std::size_t const count = std::stoul(expected[0]);
    int const number = std::stoi(expected[1]);
    std::vector<omp_co::device> const all = omp_co::devices();
    check(all.size() == count, "devices: " + std::to_string(all.size()));
    for (std::size_t i = 0; i < all.size(); ++i)
        check(all[i].number() == static_cast<int>(i), "a device's number is its position");
    check(omp_co::default_device().number() == number,
          "default device: " + std::to_string(omp_co::default_device().number()));
    check(omp_co::initial_device().number() == static_cast<int>(count), "the initial device's number");
    if (std::string(expected[2]) == "disabled") return nothing_is_offloaded();
    if (!all.empty()) check(all[0].name().find(expected[2]) != std::string::npos, "name: " + all[0].name());
    int x = 1;
    omp_co::sync_wait(omp_co::target([](int* p) { ++*p; }, omp_co::tofrom(x)));
    check(x == 2, "the default device works");
    for (omp_co::device const d : all) {
        omp_co::sync_wait(omp_co::target(d, [](int* p) { ++*p; }, omp_co::tofrom(x)));
        check(d.statistics().regions >= 1, "a device works");
    }
    return child_process::result();
}

void refused(std::vector<std::string> const& environment, std::vector<std::string> words)
{
    words.insert(words.begin(), "bad");
    std::string const ending = child_process::rerun(words, environment);
    check(ending.empty(), environment.front() + ": " + ending);
}

void followed(std::vector<std::string> const& environment, int devices, int number, std::string const& name)
{
    std::string const ending =
        child_process::rerun({"good", std::to_string(devices), std::to_string(number), name}, environment);
    check(ending.empty(), (environment.empty() ? "no variables" : environment.front()) + ": " + ending);
}

} // namespace

int main(int argc, char** argv)
{
    if (argc > 1 && std::string(argv[1]) == "bad") return environment_is_refused(argc - 2, argv + 2);
    if (argc == 5) return environment_is_followed(argv + 2);
    for (char const* name : {"OMP_CO_HOST_WORKERS", "OMP_CO_HOST_DEVICES", "OMP_DEFAULT_DEVICE",
                             "OMP_TARGET_OFFLOAD", "OMP_CO_INFO", "OMP_CO_ASYNC", "OMP_CO_CHECK"})
        (void)unsetenv(name);

    followed({}, 1, 0, "host");
    followed({"OMP_CO_HOST_WORKERS=3"}, 1, 0, "3 workers");
    followed({"OMP_CO_HOST_WORKERS=0"}, 1, 0, "inline");
    followed({"OMP_CO_HOST_WORKERS="}, 1, 0, "host"); // empty is not set
    followed({"OMP_CO_HOST_DEVICES=4"}, 4, 0, "host");
    followed({"OMP_CO_HOST_DEVICES=4", "OMP_DEFAULT_DEVICE=2", "OMP_CO_HOST_WORKERS=1"}, 4, 2, "1 worker");
    followed({"OMP_DEFAULT_DEVICE=0"}, 1, 0, "host");
    followed({"OMP_DEFAULT_DEVICE=1"}, 1, 1, "host"); // the initial device
    followed({"OMP_CO_HOST_DEVICES=0"}, 0, 0, "");    // nothing but the initial device

    followed({"OMP_TARGET_OFFLOAD=DEFAULT"}, 1, 0, "host");
    followed({"OMP_TARGET_OFFLOAD=mandatory", "OMP_CO_HOST_DEVICES=2"}, 2, 0, "host");
    followed({"OMP_TARGET_OFFLOAD=Disabled", "OMP_CO_HOST_DEVICES=2"}, 0, 0, "disabled");
    refused({"OMP_TARGET_OFFLOAD=MAYBE"}, {"OMP_TARGET_OFFLOAD=MAYBE", "DEFAULT", "MANDATORY", "DISABLED"});
    refused({"OMP_TARGET_OFFLOAD=MANDATORY", "OMP_CO_HOST_DEVICES=0"}, {"OMP_TARGET_OFFLOAD=MANDATORY", "no device"});

    refused({"OMP_CO_INFO=all"}, {"OMP_CO_INFO=all", "0x20", "copies"});
    refused({"OMP_CO_INFO=0x1000"}, {"OMP_CO_INFO=0x1000"});
    refused({"OMP_CO_ASYNC=yes"}, {"OMP_CO_ASYNC=yes", "0", "1"});
    refused({"OMP_CO_CHECK=everything"}, {"OMP_CO_CHECK=everything", "races", "none"});
    followed({"OMP_CO_ASYNC=1", "OMP_CO_CHECK=none"}, 1, 0, "host");
    refused({"OMP_CO_HOST_WORKERS=many"}, {"OMP_CO_HOST_WORKERS", "many", "number"});
    refused({"OMP_CO_HOST_WORKERS=-1"}, {"OMP_CO_HOST_WORKERS", "-1", "number"});
    refused({"OMP_CO_HOST_WORKERS=2x"}, {"OMP_CO_HOST_WORKERS", "2x", "number"});
    refused({"OMP_CO_HOST_WORKERS=99999999999999999999"}, {"OMP_CO_HOST_WORKERS", "99999999999999999999", "number"});
    refused({"OMP_CO_HOST_DEVICES=1.5"}, {"OMP_CO_HOST_DEVICES", "1.5", "number"});
    refused({"OMP_DEFAULT_DEVICE=gpu"}, {"OMP_DEFAULT_DEVICE", "gpu", "number"});
    refused({"OMP_DEFAULT_DEVICE=2"}, {"OMP_DEFAULT_DEVICE", "2", "1"}); // one device and the initial one
    refused({"OMP_CO_HOST_WORKERS=a", "OMP_CO_HOST_DEVICES=b"}, {"OMP_CO_HOST_WORKERS", "OMP_CO_HOST_DEVICES"});
    return child_process::result();
}
