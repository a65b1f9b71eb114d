// SPDX-License-Identifier: BSL-1.0
// Moves a device along until nothing is in flight. What a destroyed coroutine left to it has no loop that would.
#pragma once

#include "support/gate.hpp"

#include <omp_co/omp_co.hpp>

namespace omp_co_test {

/// False: something stays in flight.
inline bool settle(omp_co::device dev)
{
    return eventually([&] {
        if (dev.statistics().in_flight == 0) return true;
        omp_co::sync_wait(omp_co::target_update(dev));
        return dev.statistics().in_flight == 0;
    });
}

} // namespace omp_co_test
