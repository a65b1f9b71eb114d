// SPDX-License-Identifier: BSL-1.0
// The initial device is there whatever a program did first: here, it set a default device.
#include "child_process.hpp"

#include <omp_co/omp_co.hpp>

int main()
{
    using child_process::check;
    omp_co::host::virtual_device own({.workers = 0});
    check(!omp_co::set_default_device(own), "the default device can be set first");
    int here = 0;
    auto const k = [](int* p) { *p += 1; };
    omp_co::sync_wait(omp_co::target(k, omp_co::tofrom(here), omp_co::if_(false)));
    omp_co::sync_wait(omp_co::target(omp_co::initial_device(), k, omp_co::tofrom(here)));
    omp_co::sync_wait(omp_co::target(k, omp_co::tofrom(here)));
    check(here == 3, "every region ran");
    check(omp_co::initial_device().name() != "no device", "the initial device has a name");
    check(omp_co::default_device() == own.get(), "and the default device is still the one that was set");
    return child_process::result();
}
