// SPDX-License-Identifier: BSL-1.0
// A CUDA device for one test, and what the simulator has to say about the way it was used.
#pragma once

#include "cuda_backend/kernels.hpp"
#include "cuda_backend/simulator.hpp"

#include <omp_co/cuda.hpp>
#include <omp_co/omp_co.hpp>

#include <boost/test/unit_test.hpp>
#include <initializer_list>
#include <memory>
#include <ostream>
#include <string>
#include <utility>

namespace cuda_test {

using omp_co::cuda::engine::completion_choice;

struct setting {
    char const* name;
    std::string value;
};

/// What differs between the devices that every behaviour is tried on.
struct variety {
    char const* name;
    completion_choice completion;
    bool write_value; ///< the device can
    bool pools;
    bool host = false;   ///< the host device, for comparison
    bool narrow = false; ///< the device writes words of 32 bits only

    friend std::ostream& operator<<(std::ostream& out, variety const& v) { return out << v.name; }
};

inline constexpr variety varieties[]{
    {"CUDA, automatic", completion_choice::automatic, true, true},
    {"CUDA, events", completion_choice::events, true, true},
    {"CUDA, no write-value", completion_choice::automatic, false, true},
    {"CUDA, no pools", completion_choice::automatic, true, false},
    {"CUDA, narrow words", completion_choice::write_value, true, true, false, true},
    {"host", completion_choice::automatic, true, true, true},
};

inline constexpr variety cuda_varieties[]{varieties[0], varieties[1], varieties[2], varieties[3],
                                          varieties[4]};

/// Resets the simulator, so one at a time, and no other device may be in use. Afterwards nothing has leaked and nothing was
/// misused, unless the test has said that it expects a fault. On the machine's own driver the settings do not count.
class bed {
public:
    explicit bed(variety const& v = varieties[0], std::initializer_list<setting> more = {})
    {
        if (simulator::present()) {
            simulator::reset();
            if (!v.write_value) simulator::set("WRITE_VALUE", "0");
            if (!v.pools) simulator::set("POOLS", "0");
            for (setting const& s : more) simulator::set(s.name, s.value.c_str());
        }
        auto const& d = omp_co::cuda::driver::table();
        BOOST_REQUIRE(d.init(0) == omp_co::cuda::driver::result::success);
        omp_co::detail::registry& all = omp_co::detail::registry::instance();
        if (v.host) {
            omp_co::host::options o;
            o.workers = 1;
            device_ = add(all, std::make_unique<omp_co::host::host_device>(o));
        } else {
            omp_co::cuda::engine::limits l = omp_co::cuda::engine::read_limits(d, 0);
            if (v.narrow || !v.write_value) l.write_value_64 = false;
            if (!v.pools) l.pools = false;
            device_ = add(all, std::make_unique<omp_co::cuda::engine::cuda_device>(d, 0, l, v.completion));
        }
    }
    bed(bed const&) = delete;
    bed& operator=(bed const&) = delete;

    ~bed()
    {
        close();
        if (reports_expected_ || !simulator::present()) return;
        for (std::string const& line : simulator::report())
            BOOST_TEST((line.starts_with("note:") ||
                        line.find("does not have stream memory operations") != std::string::npos),
                       "the simulator reports " << line);
    }

    /// Destroys the device now.
    void close()
    {
        if (device_.slot() == nullptr) return;
        omp_co::detail::registry::instance().remove(*device_.slot(), device_.generation());
        device_ = {};
    }

    void expect_reports() noexcept { reports_expected_ = true; }

    omp_co::device get() const noexcept { return device_; }
    operator omp_co::device() const noexcept { return device_; }
    omp_co::device_statistics now() const { return device_.statistics(); }

private:
    static omp_co::device add(omp_co::detail::registry& all, std::unique_ptr<omp_co::backend::device> d)
    {
        omp_co::detail::device_slot& slot = all.add(std::move(d), false);
        return {&slot, slot.generation};
    }

    omp_co::device device_;
    bool reports_expected_ = false;
};

/// Precondition of tests that need the simulator: what it models, its faults or its counts.
inline boost::test_tools::assertion_result simulated(boost::unit_test::test_unit_id)
{
    boost::test_tools::assertion_result holds(simulator::present());
    holds.message() << "needs the simulator";
    return holds;
}

inline omp_co::cuda::image const image{std::string_view(kernels_ptx)};

} // namespace cuda_test
