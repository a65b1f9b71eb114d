// SPDX-License-Identifier: BSL-1.0
// The figures as JSON for the page and as text for the terminal.
#include "stats.hpp"
#include <cstdarg>
#include <cstdio>

namespace {

constexpr std::size_t shown = 12;

[[gnu::format(printf, 2, 3)]] void append(std::string& text, char const* format, ...)
{
    char line[512];
    std::va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    text += line;
}

std::string quoted(std::string_view words)
{
    std::string text = "\"";
    for (char c : words) {
        if (c == '"' || c == '\\') text += '\\';
        text += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
    return text + '"';
}

using number = unsigned long long; // what %llu wants, whatever uint64_t is

} // namespace

service_stats::service_stats(omp_co::device device, histogram const& lateness_us)
    : device_(device), before_(device.statistics()), lateness_us_(lateness_us)
{
}

void service_stats::add(picture_record const& record)
{
    ++pictures_;
    recent_.push_front(record);
    if (recent_.size() > shown) recent_.pop_back();
}

std::uint64_t service_stats::regions() const { return device_.statistics().regions - before_.regions; }

std::uint64_t service_stats::bytes_moved() const
{
    omp_co::device_statistics const now = device_.statistics();
    return now.bytes_in + now.bytes_out - before_.bytes_in - before_.bytes_out;
}

std::string service_stats::json() const
{
    std::string text = "{\"device\":" + quoted(device_.name());
    append(text, ",\"requests\":%llu,\"pictures\":%llu,\"refused\":%llu,\"in_flight\":%zu", number{requests_},
           number{pictures_}, number{refused_}, in_flight_);
    append(text, ",\"regions\":%llu,\"bytes_moved\":%llu", number{regions()}, number{bytes_moved()});
    append(text, ",\"lateness_us\":{\"beats\":%llu,\"p50\":%llu,\"p99\":%llu,\"max\":%llu},\"recent\":[",
           number{lateness_us_.count()}, number{lateness_us_.quantile(0.50)},
           number{lateness_us_.quantile(0.99)}, number{lateness_us_.max()});
    char const* separator = "";
    for (picture_record const& r : recent_) {
        append(text, "%s{\"width\":%zu,\"height\":%zu,\"radius\":%u", separator, r.width, r.height, r.radius);
        append(text, ",\"total_ms\":%.2f,\"device_ms\":%.2f,\"bytes_moved\":%llu}", r.total_ms, r.device_ms,
               number{r.bytes_moved});
        separator = ",";
    }
    return text + "]}\n";
}

std::string service_stats::summary() const
{
    std::string text;
    append(text, "requests        %llu (%llu pictures, %llu refused)\n", number{requests_}, number{pictures_},
           number{refused_});
    append(text, "regions         %llu\n", number{regions()});
    append(text, "moved           %.1f MB to and from the device\n",
           static_cast<double>(bytes_moved()) / 1e6);
    append(text,
           "timer lateness  p50 %llu us, p99 %llu us, max %llu us (%llu beats of 1 ms in the same loop)\n",
           number{lateness_us_.quantile(0.50)}, number{lateness_us_.quantile(0.99)},
           number{lateness_us_.max()}, number{lateness_us_.count()});
    return text;
}
