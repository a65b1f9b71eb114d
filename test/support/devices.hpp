// SPDX-License-Identifier: BSL-1.0
// The host devices that a test runs on: every way in which they differ.
#pragma once

#include <omp_co/omp_co.hpp>

#include <array>
#include <memory>
#include <ostream>

namespace omp_co_test {

/// A device for one test; owns it if it is a virtual one.
class test_device {
public:
    explicit test_device(omp_co::host::options const& o)
        : own_(std::make_unique<omp_co::host::virtual_device>(o)), handle_(*own_)
    {
    }
    explicit test_device(omp_co::device d) : handle_(d) {}

    omp_co::device get() const noexcept { return handle_; }
    operator omp_co::device() const noexcept { return handle_; }

private:
    std::unique_ptr<omp_co::host::virtual_device> own_;
    omp_co::device handle_;
};

struct device_kind {
    char const* name;
    test_device (*make)();
    bool copies;       ///< device memory is apart from the host's
    bool asynchronous; ///< kernels run on other threads than the caller's

    friend std::ostream& operator<<(std::ostream& out, device_kind const& k) { return out << k.name; }
};

inline omp_co::host::options workers(unsigned n)
{
    omp_co::host::options o;
    o.workers = n;
    return o;
}

inline omp_co::host::options limited(unsigned n, std::size_t bytes)
{
    omp_co::host::options o = workers(n);
    o.memory = bytes;
    return o;
}

inline omp_co::host::options unified(unsigned n)
{
    omp_co::host::options o = workers(n);
    o.unified_memory = true;
    return o;
}

inline std::array<device_kind, 7> const device_kinds{{
    {"inline", [] { return test_device(workers(0)); }, true, false},
    {"one worker", [] { return test_device(workers(1)); }, true, true},
    {"two workers", [] { return test_device(workers(2)); }, true, true},
    {"unified", [] { return test_device(unified(1)); }, false, true},
    {"unified inline", [] { return test_device(unified(0)); }, false, false},
    {"default_device()", [] { return test_device(omp_co::default_device()); }, true, true},
    {"initial_device()", [] { return test_device(omp_co::initial_device()); }, false, false},
}};

/// Devices of one's own whose memory is apart, for what can be seen only there.
inline std::array<device_kind, 3> const copying_kinds{{device_kinds[0], device_kinds[1], device_kinds[2]}};

} // namespace omp_co_test
