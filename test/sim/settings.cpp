// SPDX-License-Identifier: BSL-1.0
// Reads the environment.
#include "settings.hpp"

#include <charconv>
#include <cstdlib>
#include <optional>

namespace omp_co_sim {
namespace {

template <class T>
std::optional<T> number(std::string_view text)
{
    T value{};
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::vector<std::string_view> split(std::string_view text, char separator)
{
    std::vector<std::string_view> parts;
    while (!text.empty()) {
        auto const end = text.find(separator);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) break;
        text.remove_prefix(end + 1);
    }
    return parts;
}

template <class T>
std::string assign(T& target, std::string_view value, T least, T most)
{
    auto const parsed = number<T>(value);
    if (!parsed || *parsed < least || *parsed > most)
        return "'" + std::string(value) + "' is no number in the allowed range";
    target = *parsed;
    return {};
}

std::string assign_flag(bool& target, std::string_view value)
{
    if (value != "0" && value != "1") return "'" + std::string(value) + "' is neither 0 nor 1";
    target = value == "1";
    return {};
}

std::string assign_faults(std::vector<fault_rule>& target, std::string_view value)
{
    std::vector<fault_rule> rules;
    for (auto const part : split(value, ',')) {
        auto const fields = split(part, ':');
        auto const nth = fields.size() == 3 ? number<unsigned long>(fields[1]) : std::nullopt;
        if (!nth || *nth == 0) return "'" + std::string(part) + "' is not function:n:error";
        auto const code = parse_error_code(fields[2]);
        if (code == CUDA_SUCCESS) return "'" + std::string(fields[2]) + "' is no error of the driver";
        rules.push_back({std::string(fields[0]), *nth, code});
    }
    target = std::move(rules);
    return {};
}

std::string assign_traps(std::vector<trap_rule>& target, std::string_view value)
{
    std::vector<trap_rule> rules;
    for (auto const part : split(value, ',')) {
        auto const fields = split(part, ':');
        auto const nth = fields.size() == 2 ? number<unsigned long>(fields[1]) : std::nullopt;
        if (!nth || *nth == 0) return "'" + std::string(part) + "' is not kernel:n";
        rules.push_back({std::string(fields[0]), *nth});
    }
    target = std::move(rules);
    return {};
}

constexpr double forever_us = 1e12;

std::string assign_times(time_table& target, std::string_view value)
{
    time_table times;
    for (auto const part : split(value, ',')) {
        auto const colon = part.rfind(':');
        double us = 0;
        auto const digits = colon == std::string_view::npos ? part : part.substr(colon + 1);
        if (auto problem = assign(us, digits, 0.0, forever_us); !problem.empty()) return problem;
        if (colon == std::string_view::npos)
            times.all = us;
        else
            times.by_name.emplace_back(part.substr(0, colon), us);
    }
    target = std::move(times);
    return {};
}

} // namespace

std::string settings::set(std::string_view name, std::string_view value)
{
    if (name == "DEVICES") return assign(devices, value, 0, 64);
    if (name == "MEMORY") return assign<std::size_t>(memory, value, 1, std::size_t{1} << 40);
    if (name == "BANDWIDTH") return assign(bandwidth, value, 0.0, 1e6);
    if (name == "LATENCY_US") return assign(latency_us, value, 0.0, forever_us);
    if (name == "DRIVER_VERSION") return assign(driver_version, value, 2000, 99990);
    if (name == "CC") return assign(compute_capability, value, 10, 199);
    if (name == "CONCURRENT_KERNELS") return assign(concurrent_kernels, value, 1, 1024);
    if (name == "THREADS") return assign(threads, value, 2, 256);
    if (name == "LOSE_HOST_FUNCTIONS") return assign<unsigned long>(lose_host_functions, value, 0, ~0UL);
    if (name == "WRITE_VALUE") return assign_flag(write_value, value);
    if (name == "POOLS") return assign_flag(pools, value);
    if (name == "FAULT") return assign_faults(faults, value);
    if (name == "TRAP") return assign_traps(traps, value);
    if (name == "REPORT") {
        report = value;
        return {};
    }
    if (name == "KERNEL_US") return assign_times(kernel_us, value);
    if (name == "CALL_US") return assign_times(call_us, value);
    return "there is no such setting";
}

settings settings::from_environment(std::string& problem)
{
    settings s;
    for (char const* name : {"DEVICES", "MEMORY", "KERNEL_US", "CALL_US", "BANDWIDTH", "LATENCY_US",
                             "DRIVER_VERSION", "CC", "CONCURRENT_KERNELS", "THREADS", "WRITE_VALUE", "POOLS",
                             "FAULT", "TRAP", "LOSE_HOST_FUNCTIONS", "REPORT"}) {
        std::string const variable = std::string("OMP_CO_SIM_") + name;
        char const* value = std::getenv(variable.c_str());
        if (!value) continue;
        if (auto const wrong = s.set(name, value); !wrong.empty()) problem += variable + ": " + wrong + "\n";
    }
    return s;
}

double time_table::of(std::string_view name) const
{
    double us = all;
    for (auto const& [named, time] : by_name)
        if (named == name) us = time;
    return us;
}

long long settings::kernel_time(std::string_view kernel) const
{
    return static_cast<long long>(kernel_us.of(kernel) * 1000);
}

} // namespace omp_co_sim
