// SPDX-License-Identifier: BSL-1.0
// OMP_CO_INFO: what regions ask for and what the data environment makes of it, a line each on stderr. The bits are those of
// LLVM's LIBOMPTARGET_INFO.
#pragma once

#include <omp_co/detail/data_environment.hpp>
#include <omp_co/detail/region.hpp>

#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace omp_co::detail {

enum info_bit : unsigned {
    info_arguments = 0x01, ///< the data clauses of each region
    info_exists = 0x02,    ///< data that is mapped already
    info_failure = 0x04,   ///< all that is mapped, when a region fails
    info_changed = 0x08,   ///< entries that begin, end, or change their count
    info_copies = 0x20,    ///< motions
    info_all = 0xFF,
};

/// A number in OMP_CO_INFO, decimal or with 0x; empty text: none. False: it is no such number.
inline bool read_info_bits(char const* text, unsigned& bits) noexcept
{
    bits = 0;
    if (text == nullptr || *text == '\0') return true;
    bool const hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    char const* const first = hexadecimal ? text + 2 : text;
    char const* const end = first + std::strlen(first);
    auto const [stop, error] = std::from_chars(first, end, bits, hexadecimal ? 16 : 10);
    if (error == std::errc() && stop == end && bits <= info_all) return true;
    bits = 0;
    return false;
}

inline std::atomic<unsigned>& info_bits() noexcept
{
    static std::atomic<unsigned> bits = [] {
        unsigned from_environment = 0;
        (void)read_info_bits(std::getenv("OMP_CO_INFO"), from_environment);
        return from_environment;
    }();
    return bits;
}

/// Speaks for one device, under its lock.
class info_writer {
public:
    info_writer(int device, region const& r) noexcept : device_(device), region_(r) {}

    /// A region was accepted: its table entries are as if it had run.
    void accepted(std::span<map_item const> items, std::uint64_t serial) const
    {
        unsigned const bits = info_bits().load(std::memory_order_relaxed);
        for (map_item const& item : items) {
            if (item.has(map_raw | map_attach_target)) continue;
            std::string const what = clause_text(item) + " " + to_string({item.begin(), item.end()});
            if ((bits & info_arguments) != 0) line(what);
            if (item.entry == nullptr) continue;
            present_entry const& e = *item.entry;
            bool const begins = e.opened == serial && item.has(map_created);
            if ((bits & info_exists) != 0 && !begins) line(what + ": mapped already, " + counts(e));
            if ((bits & info_changed) == 0 || !item.has(map_enter | map_exit)) continue;
            line(what + (begins ? ": mapped, " : ": ") + counts(e) + (e.live() ? "" : ", ends"));
        }
    }

    /// Its motions, before they are enqueued.
    void moves(std::span<map_item const> items) const
    {
        if ((info_bits().load(std::memory_order_relaxed) & info_copies) == 0) return;
        for (map_item const& item : items) {
            std::string const bytes = std::to_string(item.moved_bytes()) + " bytes " +
                                      (item.name == nullptr ? "" : "of " + std::string(item.name) + " ");
            if (item.has(map_copy_in))
                line("copies " + bytes + "to the device from " + address(item.host) + " to " +
                     address(item.device));
            if (item.has(map_copy_out))
                line("copies " + bytes + "from the device from " + address(item.device) + " to " +
                     address(item.host));
            if (item.has(map_within))
                line("copies " + bytes + "within the device from " + address(item.host) + " to " +
                     address(item.device));
            if (item.has(map_fill)) line("fills " + bytes + "at " + address(item.device));
        }
    }

    /// Nobody waited for the constructs of a queue, one of which failed.
    void queue_failed(error_code ec) const
    {
        line("a queue ended with an error that nobody was told: " + ec.message());
    }

    /// The region failed.
    void failed(present_table& table) const
    {
        if ((info_bits().load(std::memory_order_relaxed) & info_failure) == 0) return;
        line("failed: " + region_.error.message() + "; mapped are:");
        bool any = false;
        table.for_each([&](present_entry& e) {
            any = true;
            line("  " + (e.name == nullptr ? "" : std::string(e.name) + " ") + to_string(e.range) + " at " +
                 address(e.block) + ", " + counts(e));
        });
        if (!any) line("  nothing");
    }

private:
    static std::string address(void const* p)
    {
        char text[32];
        std::snprintf(text, sizeof text, "%p", p);
        return text;
    }

    static std::string counts(present_entry const& e)
    {
        std::string text =
            "count " + (e.count == infinite_count ? std::string("infinite") : std::to_string(e.count));
        if (e.holds != 0) text += ", held " + std::to_string(e.holds);
        return text;
    }

    // One call, so that lines of several threads do not mix.
    void line(std::string const& what) const
    {
        std::string text = "omp_co: ";
        text += device_ < 0 ? std::string("virtual device") : "device " + std::to_string(device_);
        if (!region_.name().empty()) (text += ", ") += region_.name();
        text += ": " + what + '\n';
        (void)std::fwrite(text.data(), 1, text.size(), stderr);
    }

    int device_;
    region const& region_;
};

/// Calls `f(writer)` if anything is to be said. Words never fail a region.
template <class F>
void inform(int device, region const& r, F f) noexcept
{
    if (info_bits().load(std::memory_order_relaxed) == 0) [[likely]]
        return;
    try {
        f(info_writer(device, r));
    } catch (...) { // no memory for words
    }
}

} // namespace omp_co::detail
